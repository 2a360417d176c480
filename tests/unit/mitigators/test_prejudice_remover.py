"""Prejudice remover: its loss by hand, its gradient by finite differences, its limits."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.linear_model import LogisticRegression

from isonomy.errors import InputError, UnknownName
from isonomy.mitigators import PrejudiceRemover
from isonomy.mitigators.prejudice_remover import Objective


def case(
    n: int = 60, groups: int = 2, zeros: float = 0.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    s = rng.integers(0, groups, n)
    X = rng.normal(size=(n, 4)) + 0.7 * s[:, None]
    X[rng.random(X.shape) < zeros] = 0.0
    y = (X[:, 0] + rng.normal(size=n) > 0.4).astype(int)
    return X, y, s


def by_hand(
    flat: np.ndarray, X: np.ndarray, y: np.ndarray, s: np.ndarray, w: np.ndarray, eta: float
) -> float:
    """The loss as the paper writes it, row by row."""
    table = flat.reshape(s.max() + 1, -1)
    z = [x @ table[g, :-1] + table[g, -1] for x, g in zip(X, s, strict=True)]
    p = 1 / (1 + np.exp(-np.array(z)))
    overall = (w @ p) / w.sum()
    total = 0.5 * flat @ flat
    for g in range(len(table)):
        mine = s == g
        share = (w[mine] @ p[mine]) / w[mine].sum()
        for pi, yi, wi in zip(p[mine], y[mine], w[mine], strict=True):
            total -= wi * np.log(pi if yi else 1 - pi)
            total += wi * eta * pi * np.log(share / overall)
            total += wi * eta * (1 - pi) * np.log((1 - share) / (1 - overall))
    return float(total)


@pytest.mark.parametrize("zeros", [0.0, 0.9], ids=["dense", "compressed"])
@pytest.mark.parametrize("groups", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_loss_is_the_papers_and_gradient_is_its_derivative(
    zeros: float, groups: int, weighted: bool
) -> None:
    X, y, s = case(groups=groups, zeros=zeros)
    w = np.random.default_rng(4).integers(1, 4, len(y)).astype(float) if weighted else None
    problem = Objective(X, y, s, w, eta=7.0, kind="exact")
    assert problem.compressed == (zeros > 0.5)
    flat = np.random.default_rng(5).normal(size=groups * 5)
    expected = by_hand(flat, X, y, s, np.ones(len(y)) if w is None else w, 7.0)
    assert problem.value(flat) == pytest.approx(expected, rel=1e-12)
    slope = approx_fprime(flat, problem.value, 1e-7)
    np.testing.assert_allclose(problem.gradient(flat), slope, rtol=1e-4, atol=1e-4)


def test_reference_gradient_is_off_by_the_term_the_fact_sheet_names() -> None:
    X, y, s = case()
    flat = np.random.default_rng(5).normal(size=10)
    exact = Objective(X, y, s, None, eta=7.0, kind="exact").gradient(flat)
    reference = Objective(X, y, s, None, eta=7.0, kind="reference").gradient(flat)
    table = flat.reshape(2, 5)
    ones = np.column_stack([X, np.ones(len(X))])
    p = 1 / (1 + np.exp(-(ones * table[s]).sum(axis=1)))
    r = p.mean()
    mean = ((p * (1 - p))[:, None] * ones).mean(axis=0)
    extra = [-7.0 * p[s == g].size * (p[s == g].mean() - r) / (r * (1 - r)) * mean for g in (0, 1)]
    np.testing.assert_allclose(reference - exact, np.concatenate(extra), rtol=1e-10, atol=1e-10)
    assert np.abs(reference - exact).max() > 0.1


def test_without_penalty_it_is_one_logistic_regression_per_group() -> None:
    X, y, s = case(n=200)
    model = PrejudiceRemover(eta=0.0, scale=False).fit(X, y, sensitive_features=s)
    ones = np.column_stack([X, np.ones(len(X))])
    for g in (0, 1):
        plain = LogisticRegression(fit_intercept=False, tol=1e-8, max_iter=1000)
        plain.fit(ones[s == g], y[s == g])
        np.testing.assert_allclose(model.coef_[g], plain.coef_[0, :-1], atol=2e-3)
        assert model.intercept_[g] == pytest.approx(plain.coef_[0, -1], abs=2e-3)


def test_the_more_penalty_the_smaller_the_gap_of_mean_probabilities() -> None:
    X, y, s = case(n=400, groups=3)
    gaps = []
    for eta in (0.0, 1.0, 5.0, 50.0):
        model = PrejudiceRemover(eta=eta).fit(X, y, sensitive_features=s)
        p = model.predict_proba(X, sensitive_features=s)[:, 1]
        gaps.append(np.ptp([p[s == g].mean() for g in range(3)]))
        assert model.converged_
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] < 0.05 * gaps[0]


def test_the_minimum_does_not_depend_on_the_start() -> None:
    from scipy.optimize import minimize

    X, y, s = case(n=300)
    model = PrejudiceRemover(eta=25.0, scale=False).fit(X, y, sensitive_features=s)
    problem = Objective(X, y, s, None, eta=25.0, kind="exact")
    from_zero = minimize(problem.both, np.zeros(10), jac=True, method="BFGS")
    found = np.column_stack([model.coef_, model.intercept_]).ravel()
    assert problem.value(found) == pytest.approx(from_zero.fun, rel=1e-6)


def test_whole_weights_are_repeated_rows() -> None:
    X, y, s = case(n=120)
    w = np.random.default_rng(6).integers(1, 4, len(y))
    options = {"eta": 3.0, "scale": False}
    weighted = PrejudiceRemover(**options).fit(X, y, sensitive_features=s, sample_weight=w)
    again = np.repeat(np.arange(len(y)), w)
    repeated = PrejudiceRemover(**options).fit(X[again], y[again], sensitive_features=s[again])
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=2e-3)


def test_a_group_with_one_label_only_is_served() -> None:
    X, y, s = case(n=200)
    y[s == 0] = 0
    model = PrejudiceRemover(eta=1.0).fit(X, y, sensitive_features=s)
    p = model.predict_proba(X, sensitive_features=s)[:, 1]
    assert p[s == 0].mean() < p[s == 1].mean()


def test_protected_columns_are_left_out_and_scale_does_not_matter() -> None:
    X, y, s = case(n=200)
    with_group = np.column_stack([s, X])
    asked = PrejudiceRemover(sensitive_columns=[0])
    model = asked.fit(with_group, y, sensitive_features=s)
    assert model.coef_.shape == (2, 4)
    before = model.predict_proba(with_group, sensitive_features=s)
    larger = with_group * np.array([1.0, 1000.0, 1.0, 0.01, 1.0]) + 5.0
    larger[:, 0] = s
    model = asked.fit(larger, y, sensitive_features=s)
    np.testing.assert_allclose(model.predict_proba(larger, sensitive_features=s), before, atol=1e-4)


def test_what_cannot_be_is_refused() -> None:
    X, y, s = case()
    with pytest.raises(InputError, match="eta must be at least 0; got -1"):
        PrejudiceRemover(eta=-1.0).fit(X, y, sensitive_features=s)
    with pytest.raises(UnknownName, match="did you mean 'exact'"):
        PrejudiceRemover(gradient="exakt").fit(X, y, sensitive_features=s)
