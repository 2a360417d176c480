"""The contract of a mitigator finds declarations that are not true."""

from typing import Any

import numpy as np
import pytest

from isonomy.mitigators import (
    BaseMitigator,
    EqualizedOdds,
    InProcessor,
    PostProcessor,
    PrejudiceRemover,
    PreProcessor,
    Reweighing,
    Suppression,
)
from isonomy.models import fit_model
from isonomy.testing import MITIGATOR_CHECKS, check_mitigator

LEARNER = MITIGATOR_CHECKS["depends_on_the_learner_as_declared"]


class Boosted(PreProcessor):
    """Weights the rows that the base learner gets wrong."""

    name = "boosted"

    def resample(self, X: Any, y: Any, s: Any, w: Any = None) -> Any:
        """Return the rows with new weights."""
        right = fit_model(self.base_learner(), X, y).predict(X) == y  # type: ignore[attr-defined]
        return X, y, s, np.where(right, 1.0, 5.0)


class BoostedInSecret(Boosted):
    """The same, declared to share its rows."""

    transform_uses_estimator = False


class Relabelled(Reweighing):
    """More than a model of reweighed rows, declared to be no more."""

    transform_uses_estimator = False

    def _fit(self, X: Any, y: Any, s: Any, w: Any) -> None:
        super()._fit(X, y, s, w)
        self.estimator_ = fit_model(self.base_learner(), X, 1 - y)


class AsksTheModel(PostProcessor):
    """Looks at the learner behind the scores."""

    name = "asks_the_model"
    rule_uses_estimator = False

    def fit_scores(self, scores: Any, labels: Any, y: Any, s: Any, w: Any = None) -> None:
        """Remember what kind of learner it is."""
        self.shift_ = 1 if "Tree" in type(self.estimator).__name__ else 0

    def adjust(self, scores: Any, labels: Any, s: Any) -> Any:
        """Return the labels, turned for a tree."""
        return labels ^ self.shift_


class BorrowsAModel(InProcessor):
    """A base learner, declared to be a model of its own."""

    name = "borrows_a_model"
    uses_estimator = False

    def fit_model(self, X: Any, y: Any, s: Any, w: Any = None) -> None:
        """Fit the base learner."""
        self.model_: Any = fit_model(self.base_learner(), X, y, w)

    def predict_scores(self, X: Any, s: Any = None) -> Any:
        """Return its probabilities."""
        return self.model_.predict_proba(X)[:, 1]


class Dice(BorrowsAModel):
    """Draws lots without saying so."""

    uses_estimator = True

    def predict_scores(self, X: Any, s: Any = None) -> Any:
        """Return random numbers."""
        return np.random.default_rng(self.random_state).random(len(X))


class UnknownOption(Suppression):
    """Lets datasets set what it does not have."""

    dataset_options = {"strength": {"german": 1.0}}  # noqa: RUF012


@pytest.mark.parametrize(
    ("kind", "check"),
    [
        (BoostedInSecret, "depends_on_the_learner_as_declared"),
        (Relabelled, "depends_on_the_learner_as_declared"),
        (AsksTheModel, "depends_on_the_learner_as_declared"),
        (BorrowsAModel, "depends_on_the_learner_as_declared"),
        (Dice, "draws_as_declared"),
        (UnknownOption, "describes_itself"),
    ],
)
def test_a_false_declaration_is_found(kind: type[BaseMitigator], check: str) -> None:
    with pytest.raises(AssertionError):
        MITIGATOR_CHECKS[check](kind())


@pytest.mark.parametrize("kind", [Boosted, Reweighing, EqualizedOdds, PrejudiceRemover])
def test_a_true_one_passes(kind: type[BaseMitigator]) -> None:
    LEARNER(kind())


def test_new_code_inherits_no_declaration() -> None:
    class Stronger(Reweighing):
        def resample(self, *args: Any) -> Any:
            return super().resample(*args)

    class Renamed(Reweighing):
        label = "RW2"

    class OwnModel(PrejudiceRemover):
        def fit_model(self, *args: Any) -> None:
            super().fit_model(*args)

    assert Stronger.transform_uses_estimator
    assert not Renamed.transform_uses_estimator
    assert OwnModel.uses_estimator


def test_the_whole_contract() -> None:
    check_mitigator(Suppression())
