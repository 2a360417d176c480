"""Reject option: two thresholds, found by sorting once."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isonomy.errors import InputError, UnknownName, UnmetConstraintWarning
from isonomy.mitigators import RejectOption
from isonomy.mitigators._post import recentre

SCORES = np.array([0.9, 0.7, 0.6, 0.4, 0.6, 0.45, 0.3, 0.2])
Y = np.array([1, 1, 0, 0, 1, 1, 0, 0])
S = np.array([1, 1, 1, 1, 0, 0, 0, 0])


def learn(rule, scores=SCORES, y=Y, s=S, w=None):
    rule.fit_scores(scores, (scores > 0.5).astype(int), y, s, w)
    return rule


def slow_search(scores, y, s, w, metric, bounds, nt, nm):
    """The published search as it is written down: a loop over the grid, rows counted each time."""
    found = []
    for t in np.linspace(0.01, 0.99, nt):
        for m in np.linspace(0, t if t <= 0.5 else 1 - t, nm):
            p = np.where(s == 1, scores > t + m, scores > t - m)

            def rate(rows, p=p):
                return w[rows & p].sum() / w[rows].sum()

            spd = rate(s == 0) - rate(s == 1)
            tpr = rate((s == 0) & (y == 1)) - rate((s == 1) & (y == 1))
            fpr = rate((s == 0) & (y == 0)) - rate((s == 1) & (y == 0))
            value = {"spd": spd, "eod": tpr, "aod": 0.5 * (fpr + tpr)}[metric]
            balanced = 0.5 * (rate(y == 1) + w[(y == 0) & ~p].sum() / w[y == 0].sum())
            found.append((t, m, value, balanced))
    grid = np.array(found)
    ok = (grid[:, 2] >= bounds[0]) & (grid[:, 2] <= bounds[1])
    if ok.any():
        return grid[np.flatnonzero(ok)[np.argmax(grid[ok, 3])]]
    return grid[np.argmin(grid[:, 2])]


cases = st.integers(0, 10_000)


@settings(max_examples=60, deadline=None)
@given(seed=cases, metric=st.sampled_from(["spd", "aod", "eod"]), weighted=st.booleans())
def test_the_fast_search_is_the_slow_one(seed: int, metric: str, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 60))
    y, s = np.arange(n) % 2, (np.arange(n) // 2) % 2
    scores = np.round(rng.random(n), int(rng.integers(1, 4)))
    w = rng.integers(1, 4, n).astype(float) if weighted else np.ones(n)
    bounds = tuple(sorted(rng.normal(0, 0.1, 2)))
    rule = RejectOption(
        metric=metric, bounds=bounds, n_thresholds=13, n_margins=7, protocol="as_published"
    )
    learn(rule, scores, y, s, w if weighted else None)
    t, m, value, balanced = slow_search(scores, y, s, w, metric, bounds, 13, 7)
    assert (rule.threshold_, rule.margin_) == (t, m)
    assert (rule.disparity_, rule.balanced_accuracy_) == pytest.approx((value, balanced), abs=1e-15)


def test_by_hand() -> None:
    # Privileged 0.9 0.7 | 0.6 0.4, unprivileged 0.6 0.45 | 0.3 0.2: every threshold in
    # [0.6, 0.7) for the one and [0.3, 0.45) for the other separates the labels.
    rule = learn(RejectOption())
    assert rule.feasible_
    assert rule.balanced_accuracy_ == 1.0
    assert rule.disparity_ == 0.0
    assert 0.6 <= rule.threshold_ + rule.margin_ < 0.7
    assert 0.3 <= rule.threshold_ - rule.margin_ < 0.45
    np.testing.assert_array_equal(rule.adjust(SCORES, Y, S), Y)


def test_a_score_on_the_threshold_is_unfavourable() -> None:
    rule = learn(RejectOption())
    on = np.array([rule.threshold_ + rule.margin_, rule.threshold_ - rule.margin_])
    assert rule.adjust(on, None, np.array([1, 0])).tolist() == [0, 0]
    above = np.nextafter(on, 1)
    assert rule.adjust(above, None, np.array([1, 0])).tolist() == [1, 1]


def test_where_nothing_is_feasible_the_published_rule_takes_the_most_negative() -> None:
    # Both groups' rates can differ by nothing but multiples of 1/4, so bounds between two of
    # them cannot be met; the nearest disparity is what was meant.
    bounds = (0.1, 0.2)
    published = learn(RejectOption(bounds=bounds, protocol="as_published"))
    assert not published.feasible_
    assert published.disparity_ == -0.5
    with pytest.warns(UnmetConstraintWarning, match="nearest disparity is 0.25"):
        corrected = learn(RejectOption(bounds=bounds))
    assert corrected.disparity_ == 0.25


def test_ties_are_broken_by_the_smaller_disparity() -> None:
    # Margins 0, 1/6, 1/3, 1/2 around 1/2: from 0 to 1/6 one false positive moves from the
    # privileged to the unprivileged; as accurate, and both rates are then 2 of 4.
    scores = np.array([0.9, 0.9, 0.1, 0.55, 0.9, 0.05, 0.1, 0.4])
    options = {"low": 0.5, "high": 0.5, "n_thresholds": 1, "n_margins": 4, "bounds": (-1, 1)}
    published = learn(RejectOption(**options, protocol="as_published"), scores)
    corrected = learn(RejectOption(**options), scores)
    assert published.balanced_accuracy_ == corrected.balanced_accuracy_
    assert (published.margin_, published.disparity_) == (0.0, -0.5)
    assert (corrected.margin_, corrected.disparity_) == (pytest.approx(1 / 6), 0.0)


@pytest.mark.parametrize("metric", ["spd", "aod", "eod"])
def test_the_disparity_keeps_away_from_its_bounds(metric: str) -> None:
    rng = np.random.default_rng(5)
    s = rng.integers(0, 2, 6000)
    scores = rng.beta(2 + s, 3 - s)
    y = (rng.random(6000) < scores).astype(int)
    published = learn(RejectOption(metric=metric, protocol="as_published"), scores, y, s)
    corrected = learn(RejectOption(metric=metric), scores, y, s)
    assert corrected.safe_
    labels = corrected.adjust(scores, None, s)
    rows = {"spd": y >= 0, "eod": y == 1, "aod": y >= 0}[metric]
    n, rate = np.array(
        [[(rows & (s == g)).sum(), labels[rows & (s == g)].mean()] for g in (0, 1)]
    ).T
    if metric != "aod":
        error = np.sqrt((rate * (1 - rate) / n).sum())
        assert 0.05 - abs(corrected.disparity_) > 1.95 * error
    assert abs(published.disparity_) > abs(corrected.disparity_)


def test_few_rows_have_as_much_of_a_margin_as_leaves_a_choice() -> None:
    rng = np.random.default_rng(5)
    s = rng.integers(0, 2, 300)
    scores = rng.beta(2 + s, 3 - s)
    y = (rng.random(300) < scores).astype(int)
    rule = learn(RejectOption(), scores, y, s)
    assert not rule.safe_
    assert abs(rule.disparity_) <= 0.01
    assert rule.balanced_accuracy_ > 0.6


@settings(max_examples=60, deadline=None)
@given(seed=cases)
def test_whole_weights_are_repeated_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores, w = rng.random(24), rng.integers(1, 4, 24)
    y, s = np.arange(24) % 2, (np.arange(24) // 2) % 2
    # bounds so wide that the margin of safety, which rests on the number of rows, has room
    one = learn(RejectOption(metric="aod", bounds=(-9, 9)), scores, y, s, w.astype(float))
    many = learn(
        RejectOption(metric="aod", bounds=(-9, 9)), *(np.repeat(a, w) for a in (scores, y, s))
    )
    assert (one.threshold_, one.margin_) == (many.threshold_, many.margin_)


@settings(max_examples=60, deadline=None)
@given(
    scores=st.lists(st.floats(0, 1), min_size=1, max_size=20),
    threshold=st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.5, 1.0])),
)
def test_moved_scores_agree_with_the_rule_and_keep_their_order(
    scores: list[float], threshold: float
) -> None:
    p = np.array([*scores, threshold])
    moved = recentre(p, np.full(len(p), threshold))
    assert ((moved > 0.5) == (p > threshold)).all()
    assert ((moved >= 0) & (moved <= 1)).all()
    assert (np.diff(moved[np.argsort(p)]) >= 0).all()


def test_refusals() -> None:
    with pytest.raises(UnknownName, match="did you mean 'spd'"):
        learn(RejectOption(metric="spdd"))
    with pytest.raises(InputError, match="low <= high"):
        learn(RejectOption(low=0.9, high=0.1))
    with pytest.raises(InputError, match="'unprivileged' lacks one"):
        learn(RejectOption(metric="eod"), y=np.array([1, 1, 0, 0, 0, 0, 0, 0]))
    # the rates of favourable predictions do not need the labels of each group
    learn(RejectOption(metric="spd", bounds=(-1, 1)), y=np.array([1, 1, 0, 0, 0, 0, 0, 0]))


def test_the_objective_is_what_is_made_large() -> None:
    """Rare favourable labels: the best balanced accuracy gives away accuracy, and is not asked for."""
    rng = np.random.default_rng(0)
    s = rng.integers(0, 2, 4000)
    y = (rng.uniform(size=4000) < 0.1 + 0.05 * s).astype(int)
    scores = np.clip(0.1 + 0.25 * y + rng.normal(0, 0.12, 4000), 0, 1)
    rules = {name: RejectOption(objective=name) for name in ("accuracy", "balanced_accuracy")}
    right = {}
    for name, rule in rules.items():
        rule.fit_scores(scores, (scores > 0.5).astype(int), y, s)
        assert abs(rule.disparity_) <= 0.05
        right[name] = float((rule.adjust(scores, y, s) == y).mean())
    assert right["accuracy"] > right["balanced_accuracy"] + 0.02
    assert rules["balanced_accuracy"].balanced_accuracy_ > rules["accuracy"].balanced_accuracy_
    with pytest.raises(InputError, match="objective"):
        RejectOption(objective="mcc").fit_scores(scores, y, y, s)
