"""MAAT: the sample's closed form, the samples, the weights and several attributes."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.svm import LinearSVC

from isonomy.data import make_splits, prepare, rows_of
from isonomy.errors import InputError, NotApplicable
from isonomy.mitigators import Maat
from isonomy.mitigators.maat import wae_removed
from tests.registry import real


def case(seed=0, n=600, groups=2):
    rng = np.random.default_rng(seed)
    s = rng.integers(0, groups, n)
    X = np.column_stack([s, rng.normal(size=(n, 2))])
    y = (X[:, 1] + 0.6 * s + rng.normal(0, 0.5, n) > 0.5).astype(int)
    return X, y, s


def quadratic(zz, zo, oz, oo):
    """Give the smaller root of the released code's equation, and what it removes elsewhere."""
    a = zo + oo
    b = -(zz * zo + 2 * zz * oo + oz * oo)
    c = (zz + oz) * (zz * oo - zo * oz)
    x = (-b - np.sqrt(b * b - 4 * a * c)) / (2 * a)
    return x, (zo + oo) / (zz + oz) * x


def test_worked_numbers() -> None:
    """10,000 and 1,200 of one group, 14,000 and 6,500 of the other."""
    removed = wae_removed([[10_000, 1_200], [14_000, 6_500]])
    assert removed[0, 0] == pytest.approx(2351.22, abs=0.005)
    assert removed[1, 1] == pytest.approx(4303.57, abs=0.005)
    assert removed[0, 1] == removed[1, 0] == 0
    left = np.array([[10_000, 1_200], [14_000, 6_500]]) - removed
    rate = left[:, 1] / left.sum(axis=1)
    np.testing.assert_allclose(rate, 0.1356, atol=5e-5)
    assert rate[0] == pytest.approx(rate[1], rel=1e-15)
    np.testing.assert_allclose(removed.sum(axis=1) / [11_200, 20_500], 0.2099, atol=5e-5)
    x, y = quadratic(10_000, 14_000, 1_200, 6_500)
    np.testing.assert_allclose([removed[0, 0], removed[1, 1]], [x, y], rtol=1e-13)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(1, 10**6), min_size=4, max_size=4))
def test_the_closed_form_is_the_root_of_the_equation(cells) -> None:
    zz, zo, oz, oo = cells
    if zz * oo < zo * oz:  # the other group is better off: the released code swaps the roles
        zz, zo, oz, oo = zo, zz, oo, oz
    removed = wae_removed([[zz, oz], [zo, oo]])
    x, y = quadratic(*map(float, (zz, zo, oz, oo)))
    # The root loses digits to cancellation, the closed form does not.
    np.testing.assert_allclose([removed[0, 0], removed[1, 1]], [x, y], rtol=1e-6, atol=1e-3)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 10**5), st.integers(1, 10**5)), min_size=2, max_size=6))
def test_every_group_loses_one_share_and_ends_at_one_rate(cells) -> None:
    n = np.array(cells, dtype=float)
    removed = wae_removed(n)
    assert (removed >= 0).all()
    assert (removed <= n * (1 + 1e-12)).all()
    share = removed.sum(axis=1) / n.sum(axis=1)
    np.testing.assert_allclose(share, share[0], rtol=1e-10, atol=1e-15)
    left = n - removed
    rate = left[:, 1] / left.sum(axis=1)
    np.testing.assert_allclose(rate, rate[0], rtol=1e-8)


@pytest.mark.parametrize("groups", [2, 3])
def test_the_sample_is_even_and_loses_only_what_it_must(groups: int) -> None:
    X, y, s = case(1, 3000, groups)
    method = Maat().fit(X, y, sensitive_features=s)
    (rows,) = method.samples_
    assert len(np.unique(rows)) == len(rows)
    rates = [y[rows][s[rows] == g].mean() for g in range(groups)]
    assert np.ptp(rates) < 0.002
    left = np.bincount(s[rows] * 2 + y[rows]).reshape(-1, 2)
    before = np.bincount(s * 2 + y).reshape(-1, 2)
    np.testing.assert_array_equal(left, np.rint(before - wae_removed(before)))


def test_as_published_cuts_sizes_and_refuses_the_other_direction() -> None:
    X, y, s = case(2, 1001)
    method = Maat(protocol="as_published", privileged=1).fit(X, y, sensitive_features=s)
    (rows,) = method.samples_
    before = np.bincount(s * 2 + y).reshape(-1, 2)
    left = np.bincount(s[rows] * 2 + y[rows]).reshape(-1, 2)
    np.testing.assert_array_equal(left, np.floor(before - wae_removed(before)))
    assert all(isinstance(m, Pipeline) for m in method.estimators_)
    with pytest.raises(NotApplicable, match="corrected"):
        Maat(protocol="as_published", privileged=0).fit(X, y, sensitive_features=s)
    turned = Maat(privileged=0).fit(X, y, sensitive_features=s)
    before = np.bincount(s[turned.samples_[0]] * 2 + y[turned.samples_[0]]).reshape(-1, 2)
    assert np.ptp(before[:, 1] / before.sum(axis=1)) < 0.01


@pytest.mark.parametrize("weight", [0.0, 0.3, 1.0, None])
def test_the_weighted_mean_decides(weight) -> None:
    X, y, s = case(3)
    base = LogisticRegression(random_state=0)
    method = Maat(base, weight=weight).fit(X, y, sensitive_features=s)
    (rows,) = method.samples_
    first = LogisticRegression(random_state=0).fit(X, y).predict_proba(X)[:, 1]
    second = LogisticRegression(random_state=0).fit(X[rows], y[rows]).predict_proba(X)[:, 1]
    w = 0.5 if weight is None else weight
    mean = w * first + (1 - w) * second
    np.testing.assert_allclose(method.predict_proba(X)[:, 1], mean)
    np.testing.assert_array_equal(method.predict(X), mean >= 0.5)


def test_a_wrong_weight_and_a_group_of_one_label_are_refused() -> None:
    X, y, s = case(4)
    with pytest.raises(InputError, match="between 0 and 1"):
        Maat(weight=1.5).fit(X, y, sensitive_features=s)
    y[s == 0] = 0
    with pytest.raises(NotApplicable, match=f"first has {(s == 0).sum()} rows"):
        Maat().fit(X, y, sensitive_features=s)


def test_a_learner_without_probabilities_is_calibrated() -> None:
    X, y, s = case(5)
    method = Maat(LinearSVC(random_state=0)).fit(X, y, sensitive_features=s)
    assert method.predict_proba(X).shape == (len(y), 2)


def test_weights_count_in_the_rates() -> None:
    X, y, s = case(6, 4000)
    w = np.where((s == 0) & (y == 1), 3.0, 1.0)
    method = Maat().fit(X, y, sensitive_features=s, sample_weight=w)
    (rows,) = method.samples_
    rates = [np.average(y[rows][s[rows] == g], weights=w[rows][s[rows] == g]) for g in (0, 1)]
    assert np.ptp(rates) < 0.002


def test_sex_and_race_on_adult() -> None:
    """One fairness model for each attribute; each sample is even in its own attribute."""
    data = real("adult")
    split = make_splits(data, splitter="chen", rows=rows_of(data, "chen"))[0]
    ready = prepare(data, "chen", attribute="sex", split=split)
    columns = [ready.columns[a] for a in ("sex", "race")]
    X, y = ready.X_train, ready.y_train.astype(int)
    both = pd.DataFrame(X[:, columns], columns=["sex", "race"])
    method = Maat(sensitive_columns=columns).fit(X, y, sensitive_features=both)
    assert len(method.estimators_) == 3
    np.testing.assert_allclose(method.weights_, 1 / 3)
    for attribute, rows in zip(["sex", "race"], method.samples_, strict=True):
        held = both[attribute].to_numpy()[rows]
        assert abs(y[rows][held == 0].mean() - y[rows][held == 1].mean()) < 0.001
    test = ready.X_test[:, columns]
    alone = LogisticRegression(max_iter=1000).fit(X, y).predict(ready.X_test)
    mine = method.predict(ready.X_test)
    for at in (0, 1):
        gap = [abs(p[test[:, at] == 0].mean() - p[test[:, at] == 1].mean()) for p in (alone, mine)]
        assert gap[1] < gap[0]


def test_another_weight_needs_no_other_fit() -> None:
    X, y, s = case()
    for weight in (None, 0.0, 0.25, 1.0):
        fitted = Maat(weight=weight).fit(X, y, sensitive_features=s)
        free = Maat().fit(X, y, sensitive_features=s).set_params(weight=weight)
        np.testing.assert_array_equal(free.predict_proba(X), fitted.predict_proba(X))
        np.testing.assert_array_equal(free.weights_, fitted.weights_)

    class Own(Maat):
        def _fit(self, X, y, s, w):
            super()._fit(X, y, s, w)

    assert Maat.free_after_fit == ("weight",)
    assert Own.free_after_fit == ()  # new code may read it in the fit


def test_from_the_old_stream_rows_are_drawn_as_pandas_draws_them() -> None:
    """As in the released code: unfavourable rows of the worse-off first, then the others."""
    X, y, s = case(3)
    method = Maat(protocol="as_published", privileged=1, random_state=np.random.RandomState(5))
    method.fit(X, y, sensitive_features=s)
    stream, rows = np.random.RandomState(5), pd.DataFrame({"y": y, "s": s})
    zz, zo, oz, oo = (rows[(rows["y"] == a) & (rows["s"] == b)] for a in (0, 1) for b in (0, 1))
    x, other = quadratic(len(zz), len(zo), len(oz), len(oo))
    first = zz.sample(int(len(zz) - x), random_state=stream)
    last = oo.sample(int(len(oo) - other), random_state=stream)
    expected = np.concatenate([part.index for part in (first, zo, oz, last)])
    np.testing.assert_array_equal(method.samples_[0], expected)
