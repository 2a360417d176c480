"""Does a benchmark promise what it keeps, of splits that share rows? Simulated with known truth.

Populations with Gaussian features and real logistic regressions on splits of 70 / 30. The truth is
what a model trained on so many rows shows of the whole population on average over training sets,
computed exactly: a linear score of Gaussian features is Gaussian. The figures of
`docs/how-to/benchmark.md` are these.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy.special import expit, ndtr

from isonomy.benchmark import judge_benchmark
from isonomy.benchmark.cases import MORE_SPLITS
from isonomy.benchmark.change import gap_change, performance_change, signed_gap
from isonomy.metrics import JointCounts
from isonomy.stats import (
    cliffs_delta_interval,
    pairs_over_splits,
    selection_bias,
    split_mean,
    wilcoxon,
)
from isonomy.store import Record

Array = np.ndarray[Any, Any]
SPD = "statistical_parity_difference"
HOW = {"test_share": 0.3, "confidence": 0.95}


@dataclass(frozen=True)
class World:
    """Features all moved by ``shift`` in the privileged group, which also gains ``bonus``."""

    shift: float
    bonus: float
    features: int = 3
    weight: float = 0.6
    share: float = 0.6  # of the privileged group

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Array, Array]:
        s = (rng.uniform(size=n) < self.share).astype(float)
        x = rng.normal(size=(n, self.features)) + self.shift * s[:, None]
        chance = expit(self.weight * x.sum(axis=1) + self.bonus * s - 0.3)
        y = (rng.uniform(size=n) < chance).astype(int)
        return np.column_stack([np.ones(n), x, s]), y

    def truth(self, beta: Array) -> tuple[Array, Array]:
        """Accuracy and gap in the population of linear scores ``beta[..., 1 + features + 1]``."""
        # evenly and closely: all slopes being equal, labels turn within a tenth of a deviation
        at = np.linspace(-8.0, 8.0, 641)
        mass = np.exp(-(at**2) / 2)
        mass = mass / mass.sum()
        slope = beta[..., 1:-1]
        size = np.sqrt((slope**2).sum(axis=-1) + 1e-12)
        # the part of the features that labels follow, and the score given it
        along = slope.sum(axis=-1) / np.sqrt(self.features)
        across = np.sqrt(np.maximum(size**2 - along**2, 1e-12))
        accuracy, rates = 0.0, []
        for s, share in ((0, 1 - self.share), (1, self.share)):
            middle = beta[..., 0] + beta[..., -1] * s + self.shift * s * slope.sum(axis=-1)
            rates.append(ndtr(middle / size))
            level = np.sqrt(self.features) * at + self.features * self.shift * s
            good = expit(self.weight * level + self.bonus * s - 0.3)
            above = ndtr((middle[..., None] + along[..., None] * at) / across[..., None])
            accuracy = accuracy + share * ((good * above + (1 - good) * (1 - above)) @ mass)
        return accuracy, rates[0] - rates[1]


def newton(X: Array, y: Array, weights: Array, start: Array, steps: int) -> Array:
    """Fit logistic regressions, one per row of weights, with a light ridge."""
    beta = np.broadcast_to(start, (len(weights), X.shape[1])).copy()
    pairs = (X[:, :, None] * X[:, None, :]).reshape(len(X), -1)
    ridge = np.eye(X.shape[1])
    for _ in range(steps):
        p = expit(beta @ X.T)
        slope = (weights * (y - p)) @ X - beta
        bend = ((weights * p * (1 - p)) @ pairs).reshape(-1, *ridge.shape) + ridge
        beta += np.linalg.solve(bend, slope[..., None])[..., 0]
    return beta


def fitted(X: Array, y: Array, weights: Array) -> Array:
    whole = newton(X, y, np.ones((1, len(y))), np.zeros(X.shape[1]), 6)
    return newton(X, y, weights, whole[0], 3)


def models(X: Array, y: Array, train: Array) -> dict[str, Array]:
    """The original model, one without the attribute, one reweighed: coefficients by split."""
    rows, s = train.astype(float), X[:, -1]
    blind = fitted(X[:, :-1], y, rows)
    weights = np.zeros_like(rows)
    for cell in ((s == a) & (y == b) for a in (0, 1) for b in (0, 1)):
        a, b = s[cell][0], y[cell][0]
        alone = (rows @ (s == a)) * (rows @ (y == b)) / rows.sum(axis=1)
        weights += rows * cell * (alone / (rows @ cell))[:, None]
    return {
        "unmitigated": fitted(X, y, rows),
        "suppression": np.column_stack([blind, np.zeros(len(blind))]),
        "reweighing": fitted(X, y, weights),
    }


def splits(n: int, repeats: int, rng: np.random.Generator) -> Array:
    """Training rows of each split, as a mask."""
    order = rng.permuted(np.tile(np.arange(n), (repeats, 1)), axis=1)
    return order < int(0.7 * n)


def joint_counts(y: Array, s: Array, base: Array, predicted: Array, test: Array) -> JointCounts:
    code = 8 * s.astype(int) + 4 * y + 2 * base + predicted
    cells = np.stack([np.bincount(c[t], minlength=16) for c, t in zip(code, test, strict=True)])
    return JointCounts(
        n=cells.reshape(-1, 2, 2, 2, 2).astype(float),
        attributes=("s",),
        groups=((0,), (1,)),
        classes=(0, 1),
        favorable=(1,),
        privileged={"s": (1,)},
    )


def datasets(
    world: World, n: int, repeats: int, count: int, seed: int, *, alone: int = 0
) -> Iterator[dict[str, tuple[JointCounts, tuple[Array, Array]]]]:
    """Yield per data set and method the counts of its splits, and the truth of its models.

    With ``alone`` the original model has so many splits besides, as a benchmark gives it.
    """
    rng = np.random.default_rng(seed)
    for _ in range(count):
        X, y = world.draw(n, rng)
        every = splits(n, max(repeats, alone), rng)
        train, s = every[:repeats], X[:, -1]
        out = {}
        base = None
        for name, beta in models(X, y, train).items():
            label = (beta @ X.T > 0).astype(int)
            base = label if base is None else base
            out[name] = joint_counts(y, s, base, label, ~train), world.truth(beta)
        if alone:
            beta = fitted(X, y, every.astype(float))
            label = (beta @ X.T > 0).astype(int)
            out[MORE_SPLITS] = joint_counts(y, s, label, label, ~every), world.truth(beta)
        yield out


def coverage(world: World, n: int, repeats: int, count: int, seed: int = 0) -> dict[str, float]:
    """How often intervals of the changes hold the truth, and of the original's signed gap."""
    found: dict[str, list[tuple[float, float]]] = {}
    truths: dict[str, list[float]] = {}
    for data in datasets(world, n, repeats, count, seed):
        original, (first_y, first_x) = data["unmitigated"]
        gap, _ = signed_gap(original, SPD, **HOW)
        found.setdefault("gap", []).append((gap.low, gap.high))
        truths.setdefault("gap", []).append(float(first_x.mean()))
        for name in ("suppression", "reweighing"):
            joint, (y, x) = data[name]
            accuracies = [
                np.trace(c.n.sum(axis=-3), axis1=-2, axis2=-1) / c.n.sum(axis=(-1, -2, -3))
                for c in (joint.base, joint.method)
            ]
            change, _ = performance_change(*accuracies, **HOW)
            found.setdefault(f"accuracy, {name}", []).append((change.low, change.high))
            truths.setdefault(f"accuracy, {name}", []).append(float((y - first_y).mean()))
            change, _ = gap_change(joint, SPD, **HOW)
            found.setdefault(f"bias, {name}", []).append((change.low, change.high))
            truths.setdefault(f"after, {name}", []).append(float(x.mean()))
    out = {}
    for name, limits in found.items():
        if name.startswith("bias"):
            after = abs(np.mean(truths[name.replace("bias", "after")]))
            truth = after - abs(np.mean(truths["gap"]))
        else:
            truth = np.mean(truths[name])
        low, high = np.array(limits).T
        out[name] = float(np.mean((low <= truth) & (truth <= high)))
    return out


BIASED, FAIR = World(0.4, 0.8), World(0.0, 0.0)
# as German credit: 57 columns, a minority of a fifth
WIDE = World(0.03, 0.5, features=55, weight=0.16, share=0.8)
WIDE_FAIR = World(0.0, 0.0, features=55, weight=0.16, share=0.8)
WORLDS = {"biased": BIASED, "fair": FAIR, "57 columns": WIDE, "57 columns, fair": WIDE_FAIR}


def error(share: float, count: int) -> float:
    """Three standard errors of a simulated share."""
    return 3 * float(np.sqrt(share * (1 - share) / count))


def test_the_truth_is_what_many_fresh_rows_show() -> None:
    # equal slopes: every label turns at one score, where a coarse sum over scores would be off
    beta = np.array([0.0, 0.6, 0.6, 0.6, 0.8]) + np.linspace(-0.6, 0.0, 13)[:, None] * np.eye(5)[0]
    X, y = BIASED.draw(400_000, np.random.default_rng(9))
    label, s = beta @ X.T > 0, X[:, -1]
    accuracy, gap = BIASED.truth(beta)
    np.testing.assert_allclose(accuracy, (label == y).mean(axis=1), atol=3 * 0.5 / 632)
    rates = [label[:, s == g].mean(axis=1) for g in (0, 1)]
    np.testing.assert_allclose(gap, rates[0] - rates[1], atol=3 * 0.5 / 300)


def test_intervals_hold_the_population_at_ten_repeats() -> None:
    for name, held in coverage(BIASED, 400, 10, 50).items():
        assert held >= 0.93 - error(0.93, 50), name


@pytest.mark.slow
@pytest.mark.parametrize(
    ("world", "n"),
    [("biased", 500), ("biased", 2000), ("fair", 500), ("fair", 2000), ("57 columns", 1000)],
)
@pytest.mark.parametrize("repeats", [10, 50])
def test_intervals_hold_the_population(
    world: str, n: int, repeats: int, record_rate: Callable[..., None]
) -> None:
    count = 200 if world == "57 columns" and repeats == 50 else 300
    if (n, repeats) == (2000, 50):  # nearest to failing: 200 data sets did not tell
        count = 1500
    reached = coverage(WORLDS[world], n, repeats, count, seed=n + repeats)
    for name, rate in reached.items():
        record_rate(
            room="benchmark",
            verdict="interval",
            promise="holds the truth in >= 93 %",
            setting=f"{'change in ' * (name != 'gap')}{name}, {world}, {n} rows, {repeats} splits",
            rate=rate,
            samples=count,
        )
        assert rate >= 0.93 - error(0.93, count) / 3, (name, rate)


# ---------------------------------------------------------------------- is there a bias at all?


def test_a_fair_population_is_seldom_said_to_be_biased() -> None:
    said = [
        signed_gap(data["unmitigated"][0], SPD, **HOW)[0].shown
        for data in datasets(FAIR, 400, 10, 50, seed=1)
    ]
    assert np.mean(said) <= 0.05 + error(0.05, 50)
    found = [
        signed_gap(data["unmitigated"][0], SPD, **HOW)[0].shown
        for data in datasets(BIASED, 400, 10, 10, seed=2)
    ]
    assert np.mean(found) > 0.5  # a gap of 0.4 is found most of the time, of 400 rows too


def records(data: dict[str, Any]) -> list[Record]:
    return [
        Record("b", "d", "s", "lr", name, k, rows=str(k), counts=_one(joint, k))
        for name, (joint, _) in data.items()
        for k in range(joint.shape[0])
    ]


def _one(joint: JointCounts, k: int) -> JointCounts:
    return joint.map_cells(lambda cells: cells[k])


def recommended(world: World, n: int, repeats: int, count: int, seed: int) -> tuple[float, float]:
    """How often a bias is shown, and how often a method is recommended."""
    shown, chosen = [], []
    for data in datasets(world, n, repeats, count, seed, alone=100):
        shown.append(signed_gap(data[MORE_SPLITS][0], SPD, **HOW)[0].shown)
        # nothing is ever recommended where no bias is shown: the rest need not be judged
        judged = shown[-1] and judge_benchmark(records(data), resamples=200)
        chosen.append(bool(judged and judged.recommendation.method))
    return float(np.mean(shown)), float(np.mean(chosen))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("world", "repeats", "count"),
    [("fair", 10, 200), ("fair", 50, 200), ("57 columns, fair", 10, 200)],
)
def test_nothing_is_recommended_of_fair_populations(
    world: str, repeats: int, count: int, record_rate: Callable[..., None]
) -> None:
    _, chosen = recommended(WORLDS[world], 1000, repeats, count, seed=3)
    record_rate(
        room="benchmark",
        verdict="a method is recommended",
        promise="wrong in <= 5 %",
        setting=f"no bias, {world}, 1000 rows, {repeats} splits",
        rate=chosen,
        samples=count,
    )
    assert chosen <= 0.05


@pytest.mark.slow
@pytest.mark.parametrize("world", ["biased", "57 columns"])
def test_something_is_recommended_of_biased_populations(
    world: str, record_rate: Callable[..., None]
) -> None:
    count = 50
    shown, chosen = recommended(WORLDS[world], 1000, 10, count, seed=4)
    for verdict, rate in (("a bias is shown", shown), ("a method is recommended", chosen)):
        record_rate(
            room="benchmark",
            verdict=f"{verdict} (power)",
            promise="none",
            setting=f"{world}, 1000 rows, 10 splits",
            rate=rate,
            samples=count,
        )
    assert shown > (0.9 if world == "biased" else 0.3)


# ---------------------------------------------------------------------- methods against each other


def equal_methods(n: int, repeats: int, count: int, seed: int) -> Array:
    """The advantage of eight methods, each of which ignores another of eight equal features.

    Accuracy less half the gap: ``[data set, repeat, method]``.
    """
    world = World(0.3, 0.5, features=8, weight=0.4)
    rng = np.random.default_rng(seed)
    out = np.empty((count, repeats, 8))
    for d in range(count):
        X, y = world.draw(n, rng)
        train = splits(n, repeats, rng)
        test, s = (~train).astype(float), X[:, -1]
        for k in range(8):
            kept = np.delete(X, k + 1, axis=1)
            label = kept @ fitted(kept, y, train.astype(float)).T > 0
            right = (test * (y == label.T)).sum(axis=1) / test.sum(axis=1)
            rates = [(test * label.T) @ (s == g) / (test @ (s == g)) for g in (0, 1)]
            out[d, :, k] = right - 0.5 * (rates[1] - rates[0])
    return out


def rates_of(runs: Array) -> tuple[float, float]:
    """How often the first two differ, and how often some method differs from the best."""
    two = split_mean(runs[..., 0] - runs[..., 1], test_share=0.3).pvalue < 0.05
    best = []
    for table in runs:
        p = pairs_over_splits(table, test_share=0.3)[int(table.mean(axis=0).argmax())]
        best.append(bool((p < 0.05).any()))
    return float(two.mean()), float(np.mean(best))


def test_equal_methods_seldom_differ() -> None:
    two, best = rates_of(equal_methods(300, 10, 30, seed=5))
    assert two <= 0.05 + error(0.05, 30)
    assert best <= 0.05 + error(0.05, 30)


@pytest.fixture(scope="module")
def equal() -> Array:
    return equal_methods(500, 50, 150, seed=6)


@pytest.mark.slow
@pytest.mark.parametrize("repeats", [10, 50])
def test_equal_methods_seldom_differ_and_the_best_is_not_flattered(
    equal: Array, repeats: int, record_rate: Callable[..., None]
) -> None:
    runs, count = equal[:, :repeats], len(equal)
    two, best = rates_of(runs)
    setting = f"equal methods, 500 rows, {repeats} splits"
    how = {"room": "benchmark", "promise": "wrong in <= 5 %", "samples": count}
    record_rate(verdict="the two differ", setting=f"two {setting}", rate=two, **how)
    record_rate(verdict="differs from the winner", setting=f"some of 8 {setting}", rate=best, **how)
    assert two <= 0.05 + error(0.05, count) / 3
    assert best <= 0.05 + error(0.05, count) / 3
    for lead in (0.02, 0.04, 0.08):
        # what allowing for shared rows costs: how often a true lead of the first is found
        apart = runs[..., 0] + lead - runs[..., 1]
        new = split_mean(apart, test_share=0.3).pvalue < 0.05
        old = wilcoxon(apart).pvalue < 0.05
        for verdict, tested in (
            ("the two differ", new),
            ("the two differ, by Wilcoxon's test", old),
        ):
            record_rate(
                **how | {"promise": "none"},
                verdict=f"{verdict} (power)",
                setting=f"a true lead of {lead}, 500 rows, {repeats} splits",
                rate=float(tested.mean()),
            )
    # the methods are equal: how far the best lies above the mean of all, before and after
    raw, less, held = [], [], []
    for table in runs:
        k = int(table.mean(axis=0).argmax())
        luck = selection_bias(table, table[..., None], test_share=0.3)[0]
        found = split_mean(table[:, k] - table.mean(axis=1), test_share=0.3)
        raw.append(found.mean)
        less.append(found.mean - luck)
        held.append(found.low - luck <= 0 <= found.high - luck)
    record_rate(
        room="benchmark",
        verdict="numbers of the winner",
        promise="hold the truth in >= 93 %",
        setting=f"best of 8 {setting}",
        rate=float(np.mean(held)),
        samples=count,
    )
    # never flattering; too strict by a third of the luck, as the tests above are
    assert -np.mean(raw) / 2 < np.mean(less) <= 0
    assert np.mean(held) >= 0.93


# ---------------------------------------------------------------------- Cliff's delta


@pytest.mark.parametrize("shift", [0.0, 0.8, 2.0])
def test_the_interval_of_cliffs_delta_holds_the_truth(shift: float) -> None:
    rng = np.random.default_rng(7)
    a, b = rng.normal(shift, size=(4000, 15)), rng.normal(size=(4000, 15))
    low, high = cliffs_delta_interval(a, b)
    truth = 2 * ndtr(shift / np.sqrt(2)) - 1
    assert np.mean((low <= truth) & (truth <= high)) >= 0.94
