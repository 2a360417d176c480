"""Equalised odds: closed form, linear program, flips."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from sklearn.linear_model import LogisticRegression

from isonomy.errors import InputError, NotApplicable, UnknownName
from isonomy.mitigators import EqualizedOdds
from isonomy.mitigators.equalized_odds import _flips, closed_form, linear_program, one_confusion

LABELS = np.array([1, 1, 0, 0, 1, 0, 0, 0])
Y = np.array([1, 1, 0, 0, 1, 1, 0, 0])
S = np.array([1, 1, 1, 1, 0, 0, 0, 0])


def learn(rule, labels=LABELS, y=Y, s=S, w=None):
    rule.fit_scores(labels.astype(float), labels, y, s, w)
    return rule


def whole_program(fpr, tpr, share):
    """The program in all probabilities, two for each group: what the two points stand for."""
    g = len(fpr)
    equal = np.zeros((2 * (g - 1), 2 * g))
    for k in range(1, g):
        for row, r in ((2 * k - 2, tpr), (2 * k - 1, fpr)):
            equal[row, :2] = r[0], 1 - r[0]
            equal[row, 2 * k : 2 * k + 2] = -r[k], r[k] - 1
    gain = np.zeros(2 * g)
    gain[0] = (1 - share) * fpr[0] - share * tpr[0]
    gain[1] = (1 - share) * (1 - fpr[0]) - share * (1 - tpr[0])
    found = linprog(gain, A_eq=equal, b_eq=np.zeros(len(equal)), bounds=(0, 1))
    return found.fun


rate = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.25, 0.5, 1.0]))
pairs = st.lists(st.tuples(rate, rate), min_size=2, max_size=5)


@settings(max_examples=60, deadline=None)
@given(pairs=pairs, share=st.floats(0.05, 0.95))
@example(pairs=[(0.5, 1.0), (0.75, 0.6875), (0.8125, 0.5)], share=0.5625)
def test_closed_form_linear_program_and_the_whole_program_agree(pairs, share) -> None:
    # HiGHS takes numbers below 1e-9 for nothing; rates of real rows are never that small.
    fpr, tpr = np.round(np.array(pairs), 6).T
    solvers = [linear_program] + ([closed_form] if len(fpr) == 2 else [])
    best = -whole_program(fpr, tpr, share)
    for solve in solvers:
        x, z = solve(fpr, tpr, share)
        assert share * z - (1 - share) * x == pytest.approx(best, abs=1e-8)
        keep, turn = _flips(x, z, fpr, tpr)
        assert ((keep >= 0) & (keep <= 1) & (turn >= 0) & (turn <= 1)).all() or (
            np.abs(tpr - fpr).min() < 1e-5  # nearly useless labels magnify the solver's tolerance
        )
        np.testing.assert_allclose(fpr * keep + (1 - fpr) * turn, x, atol=1e-8)
        np.testing.assert_allclose(tpr * keep + (1 - tpr) * turn, z, atol=1e-8)


def test_by_hand() -> None:
    # privileged (0, 1), unprivileged (0, 1/2): the privileged lose half of their favourable labels
    rule = learn(EqualizedOdds())
    assert rule.keep_.tolist() == [1.0, 0.5]
    assert rule.turn_.tolist() == [0.0, 0.0]
    assert (rule.false_positive_rate_, rule.true_positive_rate_) == (0.0, 0.5)


def test_a_crossing_by_hand() -> None:
    # boundaries (0,0)-(0.2,0.6)-(1,1) and (0,0)-(0.5,0.9)-(1,1): the first rises by 3 and then
    # by 1/2, the second by 9/5; 1.8 x = 0.6 + (x - 0.2) / 2 at x = 5/13
    x, z = closed_form(np.array([0.2, 0.5]), np.array([0.6, 0.9]), 0.5)
    assert (x, z) == pytest.approx((5 / 13, 9 / 13))


def test_labels_worse_than_chance_are_turned() -> None:
    labels = np.array([1, 1, 0, 0, 0, 0, 1, 1])
    rule = learn(EqualizedOdds(), labels)
    np.testing.assert_array_equal(rule.adjust(None, labels, S), Y)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), groups=st.integers(2, 5), weighted=st.booleans())
def test_expected_rates_are_equal_in_any_number_of_groups(seed, groups, weighted) -> None:
    rng = np.random.default_rng(seed)
    n = 40 * groups
    s, y = np.arange(n) % groups, (np.arange(n) // groups) % 2
    labels = np.where(rng.random(n) < 0.6 + 0.08 * s, y, 1 - y)
    w = rng.integers(1, 5, n).astype(float) if weighted else None
    rule = learn(EqualizedOdds(), labels, y, s, w)
    p, one = rule.adjust_scores(None, labels, s), np.ones(n) if w is None else w
    for true, aim in ((0, rule.false_positive_rate_), (1, rule.true_positive_rate_)):
        for g in range(groups):
            rows = (s == g) & (y == true)
            assert np.average(p[rows], weights=one[rows]) == pytest.approx(aim, abs=1e-9)


def test_the_accuracy_objective_is_at_least_as_accurate() -> None:
    rng = np.random.default_rng(0)
    s, y = rng.integers(0, 2, 500), (rng.random(500) < 0.15).astype(int)
    labels = np.where(rng.random(500) < np.where(s == 1, 0.8, 0.6), y, 1 - y)

    def right(rule):
        p = learn(rule, labels, y, s).adjust_scores(None, labels, s)
        return np.where(y == 1, p, 1 - p).mean()

    plain, balanced = right(EqualizedOdds()), right(EqualizedOdds(objective="balanced"))
    assert plain > balanced + 0.05  # few favourable labels: saying no is right more often


@pytest.mark.parametrize("protocol", ["corrected", "as_published"])
def test_probabilities_are_the_frequencies_of_the_labels(protocol: str) -> None:
    rule = learn(EqualizedOdds(protocol=protocol, random_state=3))
    frequency = rule.adjust(None, np.repeat(LABELS, 20_000), np.repeat(S, 20_000))
    p = rule.adjust_scores(None, LABELS, S)
    assert np.abs(frequency.reshape(8, -1).mean(axis=1) - p).max() < 4 * np.sqrt(0.25 / 20_000)


def test_the_published_rule_never_flips_a_single_row() -> None:
    published = learn(EqualizedOdds(protocol="as_published"))
    one = np.array([1])
    assert published.keep_[1] == 0.5
    assert published.adjust(None, one, one).tolist() == [1]
    seeds = [learn(EqualizedOdds(random_state=i)).adjust(None, one, one)[0] for i in range(40)]
    assert 0 < np.mean(seeds) < 1


def test_labels_that_say_nothing_are_flipped_least() -> None:
    # all unprivileged are refused: only the diagonal is left, and refusing all is the best of it
    labels = np.array([1, 1, 0, 0, 0, 0, 0, 0])
    mostly_not = np.array([1, 1, 0, 0, 1, 0, 0, 0])
    rule = learn(EqualizedOdds(), labels, mostly_not)
    assert rule.adjust_scores(None, labels, S).tolist() == [0.0] * 8
    mostly = np.array([1, 1, 1, 0, 1, 1, 1, 0])
    rule = learn(EqualizedOdds(), np.array([1, 1, 0, 0, 1, 1, 1, 1]), mostly)
    assert rule.adjust_scores(None, np.ones(8), S).tolist() == [1.0] * 8


def test_refusals() -> None:
    with pytest.raises(UnknownName, match="did you mean 'accuracy'"):
        learn(EqualizedOdds(objective="acuracy"))
    with pytest.raises(InputError, match="group 0 lacks one"):
        learn(EqualizedOdds(), y=np.array([1, 1, 0, 0, 0, 0, 0, 0]))
    with pytest.raises(NotApplicable, match="two groups and there are 3"):
        learn(EqualizedOdds(protocol="as_published"), s=np.array([1, 1, 2, 2, 0, 0, 0, 0]))


def classes_case(n: int = 6000, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    s = rng.integers(0, 3, n)
    skill = rng.normal(size=n) + 0.6 * s
    y = np.digitize(skill + rng.normal(0, 1, n), [0.2, 1.2])
    return np.column_stack([skill, s == 1, s == 2]), np.array(["low", "middle", "top"])[y], s


def confusions(y: np.ndarray, labels: np.ndarray, s: np.ndarray) -> np.ndarray:
    names = np.unique(y)
    return np.array([
        [[((labels == b) & (y == t) & (s == g)).sum() / ((y == t) & (s == g)).sum() for b in names]
         for t in names] for g in np.unique(s)
    ])  # fmt: skip


def test_more_classes_get_one_confusion_matrix_in_all_groups() -> None:
    X, y, s = classes_case(20_000)
    plain = LogisticRegression().fit(X, y)
    before = np.ptp(confusions(y, plain.predict(X), s), axis=0).max()
    rule = EqualizedOdds(LogisticRegression(), fit_on="train").fit(X, y, sensitive_features=s)
    labels = rule.predict(X, sensitive_features=s)
    after = np.ptp(confusions(y, labels, s), axis=0).max()
    assert before > 0.3
    assert after < 0.05  # what is drawn; in expectation it is none
    share = rule.predict_proba(X, sensitive_features=s)
    names = np.unique(y)
    expected = np.array([
        [share[(y == t) & (s == g)].mean(axis=0) for t in names] for g in range(3)
    ])  # fmt: skip
    np.testing.assert_allclose(np.ptp(expected, axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(expected[0], rule.confusion_, atol=1e-6)
    np.testing.assert_allclose(share.sum(axis=1), 1)
    # much better than one label for everybody
    assert (labels == y).mean() > max((y == name).mean() for name in names) + 0.05


def test_of_two_classes_both_programs_agree() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        rates = rng.dirichlet([1, 1], size=(3, 2))
        share = rng.uniform(0.2, 0.8)
        x, z = linear_program(rates[:, 0, 1], rates[:, 1, 1], share)
        _, confusion = one_confusion(rates, np.array([1 - share, share]), np.full((3, 2), 1 / 6))
        found = share * confusion[1, 1] + (1 - share) * confusion[0, 0]
        assert found == pytest.approx(share * z + (1 - share) * (1 - x), abs=1e-6)


def test_more_classes_are_refused_as_published() -> None:
    X, y, s = classes_case(600)
    with pytest.raises(NotApplicable, match="takes two classes and there are 3"):
        EqualizedOdds(protocol="as_published").fit(X, y, sensitive_features=s == 1)
