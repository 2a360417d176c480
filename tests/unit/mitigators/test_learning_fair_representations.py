"""Learning fair representations: the objective by its formula, its gradient, its two modes."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.spatial.distance import cdist
from scipy.special import softmax

from isonomy.errors import DegenerateOutputWarning, InputError
from isonomy.mitigators import LearningFairRepresentations
from isonomy.mitigators.learning_fair_representations import objective


def plain(parameters, X, y, s, k, Ax, Ay, Az, w) -> float:
    """The objective as the paper's code writes it, groups apart."""
    scores, V = parameters[:k], parameters[k:].reshape(k, -1)
    M = softmax(-cdist(X, V), axis=1)
    p = M @ scores
    error = ((X - M @ V) ** 2).mean(axis=1)
    loss = -(y * np.log(p) + (1 - y) * np.log(1 - p))
    rebuild = sum(np.average(error[s == g], weights=w[s == g]) for g in (0, 1))
    share = [np.average(M[s == g], axis=0, weights=w[s == g]) for g in (0, 1)]
    return Ax * rebuild + Ay * np.average(loss, weights=w) + Az * np.abs(share[0] - share[1]).mean()


def case(seed: int, density: float) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    n, d, k = 40, 6, 3
    X = rng.random((n, d)) * (rng.random((n, d)) < density)
    s, y, w = rng.integers(0, 2, n), rng.integers(0, 2, n), rng.uniform(0.5, 2, n)
    start = np.concatenate([rng.uniform(0.1, 0.9, k), rng.normal(size=k * d)])
    return X, y, s, w, start


@pytest.mark.parametrize("density", [1.0, 0.2], ids=["dense", "sparse"])
def test_objective_is_the_formula(density: float) -> None:
    X, y, s, w, start = case(0, density)
    for weight in (None, w):
        ours, _ = objective(X, y, s, 3, 0.5, 1.5, 4.0, weight)(start)
        theirs = plain(start, X, y, s, 3, 0.5, 1.5, 4.0, np.ones(40) if weight is None else w)
        assert ours == pytest.approx(theirs, rel=1e-12)


@pytest.mark.parametrize("density", [1.0, 0.2], ids=["dense", "sparse"])
@pytest.mark.parametrize("terms", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0.01, 1, 50)])
@pytest.mark.parametrize("smooth", [0.0, 0.01])
def test_gradient_is_the_slope(
    terms: tuple[float, float, float], density: float, smooth: float
) -> None:
    X, y, s, w, start = case(1, density)
    loss = objective(X, y, s, 3, *terms, w, smooth)
    _, gradient = loss(start)
    slope = approx_fprime(start, lambda p: loss(p)[0], 1e-7)
    np.testing.assert_allclose(gradient, slope, atol=2e-6 * (1 + max(terms)))


def test_a_prototype_on_a_row_has_a_finite_gradient() -> None:
    X, y, s, w, start = case(2, 1.0)
    start[3:9] = X[0]
    value, gradient = objective(X, y, s, 3, w=w)(start)
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()


def test_published_budget_ends_the_search_early() -> None:
    rng = np.random.default_rng(3)
    s = rng.integers(0, 2, 300)
    X = np.c_[s, rng.random((300, 40))]
    y = (X[:, 1] + 0.3 * s > 0.6).astype(int)
    published = LearningFairRepresentations(protocol="as_published")
    published.resample(X, y, s)
    parameters = 5 * (41 + 1)
    assert 5000 / (parameters + 1) < published.evaluations_ < 5000 / (parameters + 1) + 22
    converged = LearningFairRepresentations()
    converged.resample(X, y, s)
    assert converged.evaluations_ > published.evaluations_
    assert converged.objective_ < published.objective_


def test_published_start_is_the_legacy_stream() -> None:
    """A RandomState goes on from where it stands, as the study's global numbers did."""
    X = np.random.default_rng(0).random((50, 3))
    s, y = np.arange(50) % 2, np.arange(50) % 3 % 2
    a, b = np.random.RandomState(4), np.random.RandomState(4)
    b.uniform(size=7)
    first, second = (
        LearningFairRepresentations(protocol="as_published", random_state=r) for r in (a, b)
    )
    first.resample(X, y, s)
    second.resample(X, y, s)
    assert not np.array_equal(first.prototypes_, second.prototypes_)


def test_scale_of_the_columns_does_not_matter_when_corrected() -> None:
    rng = np.random.default_rng(5)
    s = rng.integers(0, 2, 200)
    X = rng.random((200, 3))
    y = (X[:, 0] > 0.5).astype(int)
    stretch, shift = np.array([1000.0, 1.0, 0.01]), np.array([5.0, 0.0, -3.0])
    plain, stretched = LearningFairRepresentations(Az=1), LearningFairRepresentations(Az=1)
    T, *_ = plain.resample(X, y, s)
    U, *_ = stretched.resample(X * stretch + shift, y, s)
    np.testing.assert_allclose((U - shift) / stretch, T, atol=1e-4)


def test_parity_term_brings_the_groups_together() -> None:
    rng = np.random.default_rng(6)
    s = rng.integers(0, 2, 400)
    X = np.c_[s, rng.random((400, 3)) + 0.4 * s[:, None]]
    y = (X[:, 1] > 0.7).astype(int)
    gaps = []
    for Az in (0.0, 50.0):
        T, *_ = LearningFairRepresentations(Az=Az).resample(X, y, s)
        gaps.append(np.abs(T[s == 0].mean(axis=0) - T[s == 1].mean(axis=0)).max())
    assert gaps[1] < 0.2 * gaps[0]


def test_collapse_to_one_class_is_a_warning() -> None:
    rng = np.random.default_rng(7)
    s = np.arange(200) % 2
    X = np.c_[s, rng.random((200, 2))]
    y = (rng.random(200) < 0.2).astype(int)
    with pytest.warns(DegenerateOutputWarning, match="weaken the mitigation"):
        LearningFairRepresentations(Ax=1.0).fit(X, y, sensitive_features=s)


def test_one_prototype_is_refused() -> None:
    with pytest.raises(InputError, match="prototypes, must be at least 2; got 1"):
        LearningFairRepresentations(k=1).resample(np.eye(4), np.arange(4) % 2, np.arange(4) % 2)


def test_what_predict_reads_is_declared_by_the_parameters() -> None:
    """Before any fit, and not by what a fit writes into the object."""
    assert LearningFairRepresentations.needs_sensitive_at_predict is False
    assert LearningFairRepresentations().needs_sensitive_at_predict is False
    first = LearningFairRepresentations(protocol="as_published", release="0.3")
    assert first.needs_sensitive_at_predict is True
    assert "needs_sensitive_at_predict" not in vars(first)
