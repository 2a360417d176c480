"""Fits of one learner on the same rows: as good as fits from scratch, and counted as fits."""

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from isonomy.mitigators import _refits
from isonomy.mitigators._refits import Refits
from isonomy.models import fit_model, metered_fits

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 4))
Y = (X[:, 0] - X[:, 1] + RNG.normal(size=300) > 0).astype(int)
NOISE = RNG.normal(size=300)
WEIGHTS = [np.ones(300), RNG.uniform(0.1, 3.0, 300), np.where(X[:, 2] > 0, 0.0, 5.0)]


@pytest.mark.parametrize(
    "options", [{}, {"C": 0.01}, {"C": 1e6}, {"fit_intercept": False}], ids=str
)
def test_every_refit_is_the_fit_from_scratch(options: dict[str, Any]) -> None:
    learner = LogisticRegression(tol=1e-9, max_iter=5000, **options)
    refits = Refits(learner, X)
    for labels in (Y, 1 - Y, (X[:, 3] + NOISE > 1).astype(int)):
        for weight in WEIGHTS:
            ours, said = refits.fit(labels, weight)
            cold = LogisticRegression(**learner.get_params()).fit(X, labels, weight)
            found = np.append(ours.coef_, ours.intercept_)
            np.testing.assert_allclose(
                found, np.append(cold.coef_, cold.intercept_), atol=1e-5, rtol=1e-4
            )
            np.testing.assert_array_equal(said, ours.predict(X))
            assert ours is not learner


def test_a_refit_near_the_last_one_takes_no_new_hessian(monkeypatch: pytest.MonkeyPatch) -> None:
    factored: list[int] = []
    monkeypatch.setattr(
        _refits, "cho_factor", lambda h, **k: factored.append(1) or real(h, **k)
    )  # fmt: skip
    refits = Refits(LogisticRegression(), X)
    refits.fit(Y, np.ones(300))
    first = len(factored)
    for k in range(20):
        refits.fit(Y, 1.0 + 0.01 * k * (X[:, 2] > 0))
    assert first >= 1
    assert len(factored) == first


real = _refits.cho_factor


@pytest.mark.parametrize(
    "learner",
    [
        DecisionTreeClassifier(max_depth=3, random_state=0),
        LogisticRegression(C=np.inf),
        LogisticRegression(class_weight="balanced"),
        LogisticRegression(solver="newton-cholesky"),
    ],
    ids=str,
)
def test_other_learners_are_fitted_as_always(learner: Any) -> None:
    ours, said = Refits(learner, X).fit(Y, WEIGHTS[1])
    cold = type(learner)(**learner.get_params()).fit(X, Y, WEIGHTS[1])
    np.testing.assert_array_equal(ours.predict_proba(X), cold.predict_proba(X))
    np.testing.assert_array_equal(said, cold.predict(X))


def test_classes_that_a_plane_separates_are_fitted_too() -> None:
    labels = (X[:, 0] > 0).astype(int)
    ours, said = Refits(LogisticRegression(C=1e8), X).fit(labels, np.ones(300))
    np.testing.assert_array_equal(said, labels)
    np.testing.assert_array_equal(ours.predict(X), labels)


@pytest.mark.parametrize("C", [1.0, 1e4, 1e8])
def test_no_refit_of_separable_classes_is_worse_than_the_learners_own(C: float) -> None:
    learner = LogisticRegression(C=C, max_iter=1000)
    rng = np.random.default_rng(1)
    for _ in range(5):
        labels = (X @ rng.normal(size=4) > 0).astype(int)
        refits = Refits(learner, X)
        for _ in range(6):
            weight = rng.uniform(0.1, 3.0, len(X))
            ours, own = refits.fit(labels, weight)[0], fit_model(learner, X, labels, weight)
            assert loss(ours, labels, weight) <= loss(own, labels, weight) * (1 + 1e-6)


def loss(model: Any, labels: Any, weight: Any) -> float:
    """Return the penalised loss that a fit minimises."""
    logit = model.decision_function(X)
    errors = np.logaddexp(0.0, logit) - labels * logit
    return float(weight @ errors + (model.coef_**2).sum() / (2 * model.C))


def test_each_refit_is_metered() -> None:
    with metered_fits() as meter:
        refits = Refits(LogisticRegression(), X)
        for weight in WEIGHTS:
            refits.fit(Y, weight)
    assert meter.fits == len(WEIGHTS)


def test_where_no_row_has_curvature_the_learner_is_fitted_as_always() -> None:
    rows = 100.0 * RNG.choice([-1.0, 1.0], size=(200, 1))
    labels = (rows[:, 0] > 0).astype(int)
    learner = LogisticRegression()
    refits = Refits(learner, rows)
    refits.fit(labels, np.ones(200))
    # from the fit before, every probability is 0 or 1: Newton's method has no Hessian
    ours, said = refits.fit(1 - labels, np.ones(200))
    np.testing.assert_array_equal(said, 1 - labels)
    cold = LogisticRegression().fit(rows, 1 - labels, np.ones(200))
    np.testing.assert_array_equal(ours.coef_, cold.coef_)


def test_weights_of_zero_are_refused_as_by_the_learner() -> None:
    with pytest.raises(ValueError, match="at least one non-zero"):
        Refits(LogisticRegression(), X).fit(Y, np.zeros(300))
