"""scikit-learn's metadata routing: enabling it is the one line that it takes."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from sklearn import config_context
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from isonomy.mitigators import (
    EqualizedOdds,
    PrejudiceRemover,
    RejectOption,
    Reweighing,
)

pytestmark = pytest.mark.filterwarnings("ignore::isonomy.errors.IsonomyWarning")
STAGES: list[Any] = [Reweighing(), PrejudiceRemover(eta=1.0), RejectOption(), EqualizedOdds()]
BY_STAGE = pytest.mark.parametrize("model", STAGES, ids=lambda m: m.name)


@pytest.fixture(autouse=True)
def routing() -> Iterator[None]:
    with config_context(enable_metadata_routing=True):
        yield


@pytest.fixture
def rows() -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    s = np.arange(300) % 2
    X = np.column_stack([s, rng.normal(size=(300, 2))])
    return X, (X[:, 1] + s + rng.normal(size=300) > 0.5).astype(int), s


@BY_STAGE
def test_cross_validate(model: Any, rows: Any) -> None:
    X, y, s = rows
    found = cross_validate(model, X, y, cv=3, params={"sensitive_features": s})
    assert (found["test_score"] > 0.5).all()


@BY_STAGE
def test_grid_search(model: Any, rows: Any) -> None:
    X, y, s = rows
    search = GridSearchCV(model, {"random_state": [0, 1]}, cv=3, error_score="raise")
    search.fit(X, y, sensitive_features=s)
    assert search.best_score_ > 0.5
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


@BY_STAGE
def test_pipeline(model: Any, rows: Any) -> None:
    X, y, s = rows
    pipe = make_pipeline(StandardScaler(), model).fit(X, y, sensitive_features=s)
    assert (pipe.predict(X, sensitive_features=s) == y).mean() > 0.5
    assert pipe.score(X, y, sensitive_features=s) > 0.5


@pytest.mark.parametrize(
    "model",
    [Reweighing(), RejectOption(sensitive_columns=0)],
    ids=lambda m: m.name,
)
def test_calibration(model: Any, rows: Any) -> None:
    """It predicts without metadata: a method that needs the group then reads it from X."""
    X, y, s = rows
    calibrated = CalibratedClassifierCV(model, cv=3).fit(X, y, sensitive_features=s)
    chance = calibrated.predict_proba(X)
    assert np.isfinite(chance).all()
    assert (calibrated.predict(X) == y).mean() > 0.5


def test_without_the_attribute_the_sentence_is_heard(rows: Any) -> None:
    X, y, _ = rows
    with pytest.raises(ValueError, match="needs the protected attribute: pass sensitive_features"):
        cross_validate(Reweighing(), X, y, cv=3)
