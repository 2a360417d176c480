"""Part 6: the mutation baseline, regions and areas, against loops over rows.

The reference procedure overwrites rows of an array and calls scikit-learn's metric functions for each
mutation; the second loop overwrites rows too, but counts its eight cells once and computes all metrics from
them. Both are our own words for the published procedure; fits are on neither side's clock.
"""

import subprocess
import sys

import numpy as np
import peers
from sklearn import metrics as sk
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from table import Row, faster, under
from timing import cpu_seconds

from isonomy.data import load, make_splits, prepare, rows_of
from isonomy.metrics import Counts, JointCounts
from isonomy.tradeoff import Baseline, judge_counts, mutation_values, place

__all__ = ["TITLE", "rows"]

TITLE = "Part 6: was it worth it"
DEGREES = np.arange(11) / 10
REPETITIONS = 50
METRICS = {  # the baseline files' names, in their order, and ours
    "SPD": "statistical_parity_difference",
    "AOD": "average_absolute_odds_difference",
    "EOD": "equal_opportunity_difference",
    "ERD": "error_rate_difference",
    "Acc": "accuracy",
    "Mac-P": "macro_precision(zero_division=0)",
    "Mac-R": "macro_recall(zero_division=0)",
    "Mac-F1": "macro_f1(zero_division=0)",
    "MCC": "mcc(zero_division=0)",
}
FAIRNESS = 4  # the first metrics of METRICS
# Recorded CPU seconds of the reference repositories (10 degrees, one strategy).
REPOSITORY = "repositories 3.75 s (Fairea, three metrics) and 8.5 s (Chen), recorded"


def mutations(predicted: np.ndarray, label: int):  # type: ignore[no-untyped-def]
    """Give every mutated copy of the predictions, degree by degree, as the reference does."""
    state = np.random.RandomState(0)
    n = len(predicted)
    for degree in DEGREES:
        for _ in range(REPETITIONS):
            k = int(n * degree)
            new = state.choice([0, 1], k, p=[1.0 - label, float(label)])
            at = state.choice(n, k, replace=False)
            mutated = predicted.copy()
            mutated[at] = new
            yield mutated


def with_functions(y: np.ndarray, predicted: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Measure each mutation with scikit-learn's metric functions, groups by masks."""
    values = []
    for mutated in mutations(predicted, 0):
        rates = []
        for group in (0, 1):
            mine = s == group
            tn, fp, fn, tp = sk.confusion_matrix(y[mine], mutated[mine], labels=[0, 1]).ravel()
            size = tn + fp + fn + tp
            rates.append([(tp + fp) / size, tp / (tp + fn), fp / (fp + tn), (fp + fn) / size])
        spd, tpr, fpr, error = np.abs(np.subtract(*rates))
        precision = sk.precision_score(y, mutated, average="macro", zero_division=0)
        values.append(
            [
                spd,
                (tpr + fpr) / 2,
                tpr,
                error,
                sk.accuracy_score(y, mutated),
                precision,
                sk.recall_score(y, mutated, average="macro", zero_division=0),
                sk.f1_score(y, mutated, average="macro", zero_division=0),
                sk.matthews_corrcoef(y, mutated),
            ]
        )
    return np.array(values).reshape(DEGREES.size, REPETITIONS, -1).mean(axis=1)


def with_counts(y: np.ndarray, predicted: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Count the eight cells of each mutation once and compute all metrics from them."""
    cell = s * 4 + y * 2
    values = []
    for mutated in mutations(predicted, 0):
        c = np.bincount(cell + mutated, minlength=8).astype(float).reshape(2, 2, 2)
        size = c.sum(axis=(1, 2))
        select = c[:, :, 1].sum(axis=1) / size
        tpr, fpr = c[:, 1, 1] / c[:, 1].sum(axis=1), c[:, 0, 1] / c[:, 0].sum(axis=1)
        error = (c[:, 0, 1] + c[:, 1, 0]) / size
        (tn, fp), (fn, tp) = c.sum(axis=0)
        n = tn + fp + fn + tp
        p1, p0 = tp / (tp + fp) if tp + fp else 0.0, tn / (tn + fn) if tn + fn else 0.0
        r1, r0 = tp / (tp + fn), tn / (tn + fp)
        f1, f0 = 2 * tp / (2 * tp + fp + fn), 2 * tn / (2 * tn + fp + fn)
        below = np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
        gap = abs(tpr[0] - tpr[1])
        values.append(
            [
                abs(select[0] - select[1]),
                (gap + abs(fpr[0] - fpr[1])) / 2,
                gap,
                abs(error[0] - error[1]),
                (tp + tn) / n,
                (p1 + p0) / 2,
                (r1 + r0) / 2,
                (f1 + f0) / 2,
                (tp * tn - fp * fn) / below if below else 0.0,
            ]
        )
    return np.array(values).reshape(DEGREES.size, REPETITIONS, -1).mean(axis=1)


def ours(y: np.ndarray, predicted: np.ndarray, s: np.ndarray) -> np.ndarray:
    """From labels, as a user has them: counting the rows is on our clock."""
    counts = Counts.from_labels(
        y, predicted, sensitive_features={"sex": s}, favorable=1, privileged=1
    )
    drawn = mutation_values(counts, METRICS.values(), repetitions=REPETITIONS)
    values = np.stack([drawn[name] for name in METRICS.values()], axis=-1)
    values[..., :FAIRNESS] = np.abs(values[..., :FAIRNESS])  # differences: their ideal is 0
    return values.mean(axis=0)


def _adult() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels, predictions and groups of one test split of Adult."""
    data = load("adult")
    split = make_splits(data, splitter="aif360", rows=rows_of(data, "chen"))[0]
    ready = prepare(data, "chen", attribute="sex", split=split)
    model = LogisticRegression(max_iter=1000).fit(ready.X_train, ready.y_train)
    predicted = model.predict(ready.X_test)
    return tuple(np.asarray(v, dtype=np.int64) for v in (ready.y_test, predicted, ready.s_test))  # type: ignore[return-value]


def _baseline() -> list[Row]:
    arrays = _adult()
    n = arrays[0].size
    quick, mine = cpu_seconds(lambda: ours(*arrays), repeat=9)
    job = f"baseline of one split of Adult ({n:,} rows): 11 degrees × 50 repetitions × 9 metrics"
    out = []
    for peer, call, floor in (
        ("our loop over arrays, scikit-learn's functions", with_functions, 2000),
        ("our loop over arrays, counting cells", with_counts, 100),
    ):
        slow, theirs = cpu_seconds(
            lambda call=call: call(*arrays), repeat=1 if call is with_functions else 3
        )
        apart = np.abs(mine - theirs)[1:-1].max()
        note = f"means of 50 draws differ by {apart:.1e} at most; {REPOSITORY}"
        out.append(faster(job, peer, quick, slow, floor, note))
    return out


def _holisticai() -> list[Row]:
    """Holisticai's narrow case: split, scale, fit and mutate to either label, all on both clocks.

    One feature, the score of a fitted model, so that the fit inside the call is as small as can be.
    """
    data = load("adult")
    split = make_splits(data, splitter="aif360", rows=rows_of(data, "chen"))[0]
    ready = prepare(data, "chen", attribute="sex", split=split)
    model = LogisticRegression(max_iter=1000).fit(ready.X_train, ready.y_train)
    both = np.concatenate([ready.X_train, ready.X_test])
    x = model.decision_function(both)[:, None]
    y = np.concatenate([ready.y_train, ready.y_test]).astype(np.int64)
    s = np.concatenate([ready.s_train, ready.s_test]).astype(np.int64)
    even = len(y) // 10 * 10  # its test set has int(0.3 n) rows only then
    x, y, s = x[:even], y[:even], s[:even]
    try:
        slow, theirs = peers.measure(
            "holisticai", "fairea", {"x": x, "y": y, "s": s}, repeat=1, repetitions=REPETITIONS
        )
    except (RuntimeError, subprocess.CalledProcessError) as error:
        print(f"holisticai could not be measured: {error}", file=sys.stderr)
        return []

    def same() -> dict[int, Baseline]:
        parts = train_test_split(x, y, s, test_size=0.3, random_state=0)
        x_train, x_test, y_train, y_test, _, s_test = parts
        fitted = make_pipeline(StandardScaler(), LogisticRegression()).fit(x_train, y_train)
        counts = Counts.from_labels(
            y_test, fitted.predict(x_test), sensitive_features=s_test, favorable=1, privileged=1
        )
        return {
            label: Baseline.from_counts(counts, strategy=label, repetitions=REPETITIONS)
            for label in (0, 1)
        }

    quick, mine = cpu_seconds(same, repeat=5)
    apart = np.abs(mine[0].performance - theirs["accuracy"]).max()
    note = f"fit and split on both clocks; accuracies differ by {apart:.1e} at most (other splits)"
    job = f"holisticai's whole call on {int(0.3 * even):,} test rows, both labels, SPD and accuracy"
    return [faster(job, "holisticai 1.0.14 Fairea", quick, slow, 100, note)]


def _regions() -> Row:
    """As many points and baselines as Figure 8 of Chen 2022 has: 703,500 and 840."""
    rng = np.random.default_rng(0)
    bias = np.sort(rng.uniform(size=(840, 11)), axis=1)[:, ::-1]
    performance = np.sort(rng.uniform(size=(840, 11)), axis=1)[:, ::-1]
    y = rng.uniform(-0.2, 1.2, size=(840, 838))
    x = rng.uniform(0.0, 1.2, size=(840, 838))
    seconds, placed = cpu_seconds(
        lambda: place(y, x, performance[:, None], bias[:, None]), repeat=5
    )
    good = np.isfinite(placed.area).mean()
    note = f"840 baselines; {good:.0%} of the points are good and have an area"
    job = f"regions and areas of {placed.region.size:,} points"
    return under(job, "-", 1e3 * seconds, None, 500, "ms", note)


def _verdict() -> Row:
    rng = np.random.default_rng(1)
    y, base, s = _adult()
    other = np.where(rng.uniform(size=y.size) < 0.02, y, base)
    joint = JointCounts.from_labels(
        y, base, other, sensitive_features={"sex": s}, favorable=1, privileged=1
    )
    seconds, verdict = cpu_seconds(lambda: judge_counts(joint, resamples=1000), repeat=3)
    note = f"{verdict.region}, each resample with its own baseline of 50 mutations per degree"
    return under("verdict with 1,000 paired resamples", "-", 1e3 * seconds, None, None, "ms", note)


def rows() -> list[Row]:
    """Measure every line of this part."""
    return [*_baseline(), *_holisticai(), _regions(), _verdict()]
