"""Group thresholds: exact optima, checked by programs and by trying everything."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from isonomy.errors import InputError, NotApplicable, UnknownName
from isonomy.mitigators import FairnessConstrainedThresholds
from isonomy.mitigators._hulls import concave_hull

SIMPLE = ["demographic_parity", "equal_opportunity", "predictive_equality"]
ALL = [*SIMPLE, "equalized_odds"]


def case(seed, groups=2, n=40, digits=2, weighted=False):
    rng = np.random.default_rng(seed)
    s, y = np.arange(n) % groups, (np.arange(n) // groups) % 2
    scores = np.round(np.clip(rng.normal(0.35 + 0.25 * y + 0.08 * s, 0.2), 0, 1), digits)
    w = rng.integers(1, 4, n).astype(float) if weighted else None
    return scores, y, s, w


def learn(data, **options):
    scores, y, s, w = data
    rule = FairnessConstrainedThresholds(**options)
    rule.fit_scores(scores, (scores > 0.5).astype(int), y, s, w)
    return rule


def rates_of(p, y, s, w):
    """Selection, true positive and false positive rate of each group."""
    w = np.ones(len(y)) if w is None else w
    mean = lambda rows: np.average(p[rows], weights=w[rows])  # noqa: E731
    return np.array(
        [[mean(s == g), mean((s == g) & (y == 1)), mean((s == g) & (y == 0))] for g in np.unique(s)]
    )


COLUMNS = {
    "demographic_parity": [0],
    "equal_opportunity": [1],
    "predictive_equality": [2],
    "equalized_odds": [1, 2],
}


def worth(p, y, w, objective="accuracy"):
    w = np.ones(len(y)) if w is None else w
    right = np.where(y == 1, p, 1 - p)
    if objective == "accuracy":
        return np.average(right, weights=w)
    return np.mean([np.average(right[y == k], weights=w[y == k]) for k in (0, 1)])


def program(data, constraint, tolerance, objective):
    """Any probability of the favourable label that rises with the score, by a linear program."""
    scores, y, s, w = data
    w = np.ones(len(y)) if w is None else w
    points = [(g, t) for g in np.unique(s) for t in [-1.0, *np.unique(scores[s == g])]]
    # unknowns: the probability of each threshold of each group, then the least rates
    picks = np.array([(s == g) & (scores > t) for g, t in points]) * w
    value = [
        pick[y == 1].sum() / w[y == 1].sum() - pick[y == 0].sum() / w[y == 0].sum()
        if objective != "accuracy"
        else (pick[y == 1].sum() - pick[y == 0].sum()) / w.sum()
        for pick in picks
    ]
    rows, limits = [], []
    columns = COLUMNS[constraint]
    for k, c in enumerate(columns):
        within = [np.ones(len(y), bool), y == 1, y == 0][c]
        for g in np.unique(s):
            own = [
                pick[within].sum() / w[within & (s == g)].sum() if h == g else 0.0
                for (h, _), pick in zip(points, picks, strict=True)
            ]
            least = [-1.0 if j == k else 0.0 for j in range(len(columns))]
            rows += [own + least, [-v for v in own + least]]
            limits += [tolerance, 0.0]
    equal = [[float(h == g) for h, _ in points] + [0.0] * len(columns) for g in np.unique(s)]
    found = linprog(
        [-v for v in value] + [0.0] * len(columns),
        A_ub=rows,
        b_ub=limits,
        A_eq=equal,
        b_eq=np.ones(len(equal)),
        bounds=(0, 1),
    )
    if objective == "accuracy":
        return -found.fun + w[y == 0].sum() / w.sum()
    return -found.fun / 2 + 0.5


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    groups=st.integers(2, 4),
    constraint=st.sampled_from(ALL),
    tolerance=st.sampled_from([0.0, 0.03, 0.2]),
    objective=st.sampled_from(["accuracy", "balanced_accuracy"]),
    weighted=st.booleans(),
)
def test_the_lottery_is_the_optimum_of_the_whole_program(
    seed, groups, constraint, tolerance, objective, weighted
) -> None:
    data = scores, y, s, w = case(seed, groups, weighted=weighted)
    rule = learn(data, constraint=constraint, tolerance=tolerance, objective=objective)
    p = rule.adjust_scores(scores, None, s)
    spread = np.ptp(rates_of(p, y, s, w)[:, COLUMNS[constraint]], axis=0)
    assert (spread <= tolerance + 1e-7).all()  # what HiGHS calls feasible
    assert worth(p, y, w, objective) == pytest.approx(rule.objective_, abs=1e-9)
    best = program(data, constraint, tolerance, objective)
    assert rule.objective_ == pytest.approx(best, abs=1e-7)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    groups=st.integers(2, 3),
    constraint=st.sampled_from(ALL),
    tolerance=st.sampled_from([0.0, 0.05, 0.2]),
)
def test_single_thresholds_are_the_best_of_all_combinations(
    seed, groups, constraint, tolerance
) -> None:
    if constraint == "equalized_odds":
        groups = 2
    data = scores, y, s, w = case(seed, groups, n=24, digits=1)
    rule = learn(data, constraint=constraint, tolerance=tolerance, randomize=False)
    best = -1.0
    options = [[-1.0, *np.unique(scores[s == g])] for g in range(groups)]
    for chosen in itertools.product(*options):
        p = (scores > np.array(chosen)[s]).astype(float)
        spread = np.ptp(rates_of(p, y, s, w)[:, COLUMNS[constraint]], axis=0)
        if (spread <= tolerance + 1e-9).all():
            best = max(best, worth(p, y, w))
    assert rule.objective_ == pytest.approx(best, abs=1e-12)
    labels = rule.adjust(scores, None, s)
    assert worth(labels, y, w) == pytest.approx(best, abs=1e-12)
    np.testing.assert_array_equal(rule.adjust_scores(scores, None, s) > 0.5, labels == 1)


def test_by_hand() -> None:
    # privileged: 0.8+ 0.6- 0.4-, unprivileged: 0.7+ 0.5+ 0.3-. One of three and two of three are
    # the groups' own best rates; between them each row more is right for the one and wrong for
    # the other, so that any common rate in between is right for five of six rows.
    scores = np.array([0.8, 0.6, 0.4, 0.7, 0.5, 0.3])
    y, s = np.array([1, 0, 0, 1, 1, 0]), np.array([1, 1, 1, 0, 0, 0])
    rule = learn((scores, y, s, None))
    assert rule.objective_ == pytest.approx(5 / 6)
    assert learn((scores, y, s, None), tolerance=1 / 3).objective_ == pytest.approx(1.0)
    assert learn((scores, y, s, None), tolerance=1 / 6).objective_ == pytest.approx(5.5 / 6)
    # equal true positive rates cost nothing here: both groups' favourable rows are on top
    assert learn((scores, y, s, None), constraint="equal_opportunity").objective_ == 1.0


def stack_hull(x, y):
    """The usual hull, point by point."""
    kept = []
    for i in range(len(x)):
        while len(kept) > 1:
            a, b = kept[-2:]
            if (y[b] - y[a]) * (x[i] - x[b]) > (y[i] - y[b]) * (x[b] - x[a]):
                break
            kept.pop()
        kept.append(i)
    return kept


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=60))
def test_the_hull_is_the_usual_one(steps) -> None:
    # equal points would leave a choice of position, so that every step moves
    steps = [step for step in steps if step != (0, 0)] or [(1, 1)]
    x, y = np.cumsum([(0, 0), *steps], axis=0).T.astype(float)
    np.testing.assert_array_equal(concave_hull(x, y), stack_hull(x, y))


def test_neighbouring_floats_are_told_apart() -> None:
    low = 0.5
    high = np.nextafter(low, 1)
    scores, y = np.array([high, low, high, low]), np.array([1, 0, 1, 0])
    rule = learn((scores, y, np.array([1, 1, 0, 0]), None), randomize=False)
    np.testing.assert_array_equal(rule.adjust(scores, None, np.array([1, 1, 0, 0])), y)


def test_probabilities_are_the_frequencies_of_the_labels() -> None:
    scores, _, s, _ = data = case(3)
    rule = learn(data, constraint="equalized_odds", random_state=5)
    p = rule.adjust_scores(scores, None, s)
    assert ((p > 0) & (p < 1)).any()
    labels = rule.adjust(np.repeat(scores, 5000), None, np.repeat(s, 5000))
    assert np.abs(labels.reshape(-1, 5000).mean(axis=1) - p).max() < 4.5 * np.sqrt(0.25 / 5000)


def test_refusals() -> None:
    data = case(0)
    with pytest.raises(UnknownName, match="did you mean 'equalized_odds'"):
        learn(data, constraint="equal_odds")
    with pytest.raises(UnknownName, match="did you mean 'accuracy'"):
        learn(data, objective="acc")
    with pytest.raises(InputError, match=r"tolerance must lie in \[0, 1\]"):
        learn(data, tolerance=-0.1)
    with pytest.raises(NotApplicable, match="randomize=True"):
        learn(case(0, 3), constraint="equalized_odds", randomize=False)
