"""Meta fair classifier: densities, the reference's search, and the dual against a linear program."""

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import multivariate_normal

from isonomy.errors import InputError, NotApplicable, UnknownName, UnmetConstraintWarning
from isonomy.mitigators import MetaFairClassifier
from isonomy.mitigators.meta_fair_classifier import (
    CELLS,
    CONSTRAINTS,
    Gaussian,
    descend,
    dual,
    minimise,
)


def people(n: int = 400) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(2)
    s = rng.integers(0, 2, n)
    X = rng.normal(size=(n, 3)) + 0.8 * s[:, None]
    y = (X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=n) > 0.9).astype(int)
    return X, y, s


def problem(seed: int = 3, n: int = 300) -> tuple[np.ndarray, np.ndarray]:
    """Posteriors of a made-up model as the unconstrained rule and four terms."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet([2.0, 3.0, 1.0, 2.0], n)
    groups = p[:, :2] + p[:, 2:]
    return p[:, 2] + p[:, 3] - 0.5, np.hstack([groups / groups.mean(axis=0), groups])


@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize("drop", [True, False])
def test_posterior_is_the_ratio_of_scipys_densities(plain: bool, drop: bool) -> None:
    X, y, s = people()
    gaussian = Gaussian.learn(X, y, s, None, drop=drop)
    table = np.column_stack([X, 2 * y - 1, s])
    normal = multivariate_normal(table.mean(axis=0), np.cov(table, rowvar=False))
    cells = [np.column_stack([X, np.tile(c, (len(X), 1))]) for c in CELLS]
    density = np.column_stack([normal.pdf(c) for c in cells])
    expected = density / density.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(gaussian.posterior(X, plain=plain), expected, rtol=1e-9)


def test_logarithms_serve_rows_whose_densities_vanish() -> None:
    X, y, s = people()
    gaussian = Gaussian.learn(X, y, s, None, drop=True)
    far = X[:1] * 1e3
    assert np.isnan(gaussian.posterior(far, plain=True)).all()
    np.testing.assert_allclose(gaussian.posterior(far, plain=False).sum(axis=1), 1.0)


def test_a_group_told_by_the_features_is_known_only_when_corrected() -> None:
    X, y, s = people()
    told = np.column_stack([X, s])
    own = np.arange(len(s)), s
    for drop, least in ((True, 0.0), (False, 0.999)):
        p = Gaussian.learn(told, y, s, None, drop=drop).posterior(told, plain=False)
        group = (p[:, :2] + p[:, 2:])[own]
        assert group.min() >= least
        assert (group.min() < 0.5) == drop


def test_draws_are_those_of_numpys_legacy_generator() -> None:
    X, y, s = people()
    gaussian = Gaussian.learn(X, y, s, None, drop=True)
    drawn = gaussian.draw(np.random.RandomState(5), 20)
    expected = np.random.RandomState(5).multivariate_normal(
        X.mean(axis=0), np.cov(X, rowvar=False), 20
    )
    np.testing.assert_allclose(drawn, expected, rtol=1e-10)


def literal(
    base: np.ndarray, terms: np.ndarray, a: float, b: float, fractional: bool
) -> np.ndarray:
    """The reference's search in plain loops, with the list that it forgets to copy."""
    columns = [terms[:, 0], terms[:, 1]]
    if fractional:
        columns = [c - a * z for c, z in zip(columns, terms[:, 2:].T, strict=True)] + [
            -c + b * z for c, z in zip(columns, terms[:, 2:].T, strict=True)
        ]
    lowest, kept = 2.0**32, [0.0] * len(columns)
    for i in range(1, 10):
        params = [float(i if fractional else i - 5)] * len(columns)
        for k in range(1, 50):
            t = base + sum(p * c for p, c in zip(params, columns, strict=True))
            grad = [float(np.mean(c * t / np.sqrt(t**2 + 1e-4))) for c in columns]
            if not fractional:
                grad = [
                    g - b + (b - a) / 2 + (b - a) * p / (2 * np.sqrt(p**2 + 1e-4))
                    for g, p in zip(grad, params, strict=True)
                ]
            for j in range(len(params)):
                params[j] -= grad[j] / k
            t = base + sum(p * c for p, c in zip(params, columns, strict=True))
            value = np.abs(t).mean()
            if not fractional:
                value += sum(-b * p + (b - a) * max(p, 0.0) for p in params)
            if value < lowest:
                lowest, kept = value, params
    if not fractional:
        return np.array([*kept, 0.0, 0.0])
    u, v = np.array(kept[:2]), np.array(kept[2:])
    return np.concatenate([u - v, b * v - a * u])


@pytest.mark.parametrize("fractional", [True, False])
def test_all_starts_at_once_give_what_the_references_loops_give(fractional: bool) -> None:
    low = np.array([0.0, 0.3, 0.6])
    high = np.minimum(1.0, (low + 0.01) / 0.8)
    given = [problem(seed, 20) for seed in range(3)]
    rules = descend(
        np.array([g[0] for g in given]), np.array([g[1] for g in given]), low, high, fractional
    )
    for rule, (base, terms), a, b in zip(rules, given, low, high, strict=True):
        np.testing.assert_allclose(rule, literal(base, terms, a, b, fractional), rtol=1e-9)


def test_points_without_density_leave_the_unconstrained_rule() -> None:
    _, terms = problem(0, 20)
    rules = descend(
        np.full((1, 20), np.nan), terms[None], np.array([0.1]), np.array([0.2]), fractional=True
    )
    np.testing.assert_array_equal(rules, np.zeros((1, 4)))


@pytest.mark.parametrize("fractional", [True, False])
def test_derivatives_of_the_dual(fractional: bool) -> None:
    base, terms = problem()
    weight = np.random.default_rng(1).uniform(size=len(base))
    a, b = np.array([[0.3]]), np.array([[0.5]])
    x, h = np.array([[0.05, -0.08]]), 1e-5

    def at(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return dual(x, base, terms, weight, a, b, fractional, 0.05)

    _, grad, hess = at(x)
    for j, e in enumerate(np.eye(2) * h):
        up, down = at(x + e), at(x - e)
        assert grad[0, j] == pytest.approx((up[0][0] - down[0][0]) / (2 * h), rel=1e-6)
        second = (up[1][0] - down[1][0]) / (2 * h)
        np.testing.assert_allclose(hess[0, j : j + 2], second, rtol=1e-6)


@pytest.mark.parametrize("fractional", [True, False])
def test_the_dual_reaches_the_optimum_of_the_linear_program(fractional: bool) -> None:
    """Strong duality: the best randomised rule within the bounds has the value of the dual."""
    base, terms = problem()
    n = len(base)
    bounds = [(0.2, 0.25), (0.45, 0.5), (0.7, 0.9)]
    low, high = (np.array(v) for v in zip(*bounds, strict=True))
    rules = minimise(base, terms, np.full(n, 1 / n), low, high, fractional)
    for rule, (a, b) in zip(rules, bounds, strict=True):
        number, size = terms[:, :2], terms[:, 2:] if fractional else np.ones((n, 2))
        if fractional:
            upper, limit = (
                np.vstack([(number - b * size).T, (a * size - number).T]) / n,
                np.zeros(4),
            )
        else:
            upper, limit = np.vstack([number.T, -number.T]) / n, np.array([b, b, -a, -a])
        best = linprog(-base / n, A_ub=upper, b_ub=limit, bounds=(0, 1))
        t = base + terms @ rule
        reached = np.maximum(t, 0).mean()
        if not fractional:
            lower = np.maximum(rule[:2], 0)
            reached += float((b * (lower - rule[:2]) - a * lower).sum())
        assert reached == pytest.approx(-best.fun, abs=1e-3)
        assert reached >= -best.fun - 1e-9  # a dual is never below


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_the_ratio_asked_for_is_reached(constraint: str) -> None:
    X, y, s = people(1500)
    model = MetaFairClassifier(constraint=constraint, tau=0.9).fit(X, y, sensitive_features=s)
    labels = model.predict(X)
    given = {"sr": y >= 0, "tpr": y == 1, "fpr": y == 0}.get(constraint, labels == 1)
    event = {"fdr": y == 0, "ppr": y == 1}.get(constraint, labels == 1)
    rates = [event[given & (s == g)].mean() for g in (0, 1)]
    assert min(rates) / max(rates) == pytest.approx(model.ratio_)
    assert model.ratio_ >= 0.9
    assert model.score(X, y) > 0.6


def test_a_ratio_out_of_reach_is_said_and_leaves_the_unconstrained_rule() -> None:
    rng = np.random.default_rng(0)
    s = np.arange(400) % 2
    X = rng.normal(size=(400, 2))
    # Nobody of group 0 is favourable, so that all discoveries among them are false.
    y = ((X[:, 0] + 0.3 * rng.normal(size=400) > 0) & (s == 1)).astype(int)
    asked = MetaFairClassifier(constraint="ppr", tau=0.9)
    with pytest.warns(UnmetConstraintWarning, match="no rule with a ratio of the groups' ppr"):
        model = asked.fit(X, y, sensitive_features=s)
    assert np.isnan(model.ratio_)
    np.testing.assert_array_equal(model.rule_, np.zeros(4))
    with pytest.raises(NotApplicable, match="a group has none of that label"):
        asked.set_params(constraint="tpr").fit(X, y, sensitive_features=s)


def test_rows_of_no_weight_are_as_if_absent() -> None:
    X, y, s = people(500)
    inside = (np.abs(X - X.mean(axis=0)) < 1).all(axis=1)
    w = np.ones(len(y))
    w[np.flatnonzero(inside)[:40]] = 0.0
    kept = w > 0
    asked = MetaFairClassifier(constraint="sr")
    weighted = asked.fit(X, y, sensitive_features=s, sample_weight=w).predict_proba(X)
    absent = asked.fit(X[kept], y[kept], sensitive_features=s[kept]).predict_proba(X)
    np.testing.assert_allclose(weighted, absent, atol=1e-6)


def test_what_cannot_be_is_refused() -> None:
    X, y, s = people()
    with pytest.raises(InputError, match="tau must be above 0 and at most 1; got 0"):
        MetaFairClassifier(tau=0).fit(X, y, sensitive_features=s)
    with pytest.raises(UnknownName, match="constraint 'srr'; did you mean 'sr'"):
        MetaFairClassifier(constraint="srr").fit(X, y, sensitive_features=s)
    with pytest.raises(NotApplicable, match="fdr and sr only; got 'tpr'"):
        MetaFairClassifier(constraint="tpr", protocol="as_published").fit(
            X, y, sensitive_features=s
        )


def lenders(n: int = 1500) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Nine of ten good labels, and few errors to be made equal, as in Boston's mortgages."""
    rng = np.random.default_rng(0)
    s = (rng.random(n) < 0.85).astype(int)
    X = np.column_stack([rng.normal(size=(n, 4)) + 0.3 * s[:, None], s])
    y = (1.2 * X[:, :4].sum(axis=1) + 1.3 * s + rng.logistic(size=n) > -2).astype(int)
    return X, y, s


def test_errors_are_not_made_equal_by_more_of_them() -> None:
    X, y, s = lenders()
    # the rule that was kept before denies the good and grants the bad: 8 % of labels are right
    with pytest.warns(UnmetConstraintWarning, match="as accurate as one label for all"):
        model = MetaFairClassifier(constraint="fdr").fit(X, y, sensitive_features=s)
    assert model.score(X, y) > y.mean()
    assert np.isnan(model.ratio_)


def test_rates_of_favourable_predictions_unless_a_constraint_is_named() -> None:
    X, y, s = lenders()
    model = MetaFairClassifier().fit(X, y, sensitive_features=s)
    assert model.constraint_ == "sr"
    assert model.score(X, y) > y.mean()
    published = MetaFairClassifier(protocol="as_published").fit(X, y, sensitive_features=s)
    named = MetaFairClassifier(constraint="fdr", protocol="as_published")
    named.fit(X, y, sensitive_features=s)
    assert published.constraint_ == "fdr"
    np.testing.assert_array_equal(published.rule_, named.rule_)
