"""The three stages: what a method gets for nothing, and what it must bring."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression

from isonomy.errors import DegenerateOutputWarning, InputError, NotApplicable, UnknownName
from isonomy.mitigators import InProcessor, PostProcessor, PreProcessor
from isonomy.mitigators.stages import strata

X = np.array([[0.0, 0], [1, 0], [2, 1], [3, 1], [4, 0], [5, 1], [6, 0], [7, 1]])
Y = np.array([0, 0, 1, 0, 1, 0, 1, 1])
S = X[:, 1].astype(int)


class Drops(PreProcessor):
    name, label, version = "drops", "drops", "1"

    def resample(self, X, y, s, w=None):  # type: ignore[no-untyped-def]
        keep = y == 1
        return X[keep], y[keep], s[keep], None

    def transform(self, X, s=None):  # type: ignore[no-untyped-def]
        return X * 0


class Tie(InProcessor):
    name, label, version = "tie", "tie", "1"

    def fit_model(self, X, y, s, w=None):  # type: ignore[no-untyped-def]
        pass

    def predict_scores(self, X, s=None):  # type: ignore[no-untyped-def]
        return np.where(X[:, 0] < 4, 0.5, 0.6)


class Watches(PostProcessor):
    name, label, version = "watches", "watches", "1"

    def fit_scores(self, scores, labels, y, s, w=None):  # type: ignore[no-untyped-def]
        self.scores_, self.y_ = scores, y

    def adjust(self, scores, labels, s):  # type: ignore[no-untyped-def]
        return 1 - labels


def test_a_pre_processor_changes_nothing_by_itself() -> None:
    stage = PreProcessor()
    given = stage.resample(X, Y, S, None)
    assert given[0] is X
    assert given[1] is Y
    assert stage.transform(X) is X


def test_a_class_that_resampling_lost_keeps_its_column() -> None:
    with pytest.warns(DegenerateOutputWarning, match="for every training row"):
        fitted = Drops(DummyClassifier()).fit(X, Y, sensitive_features=S)
    np.testing.assert_array_equal(fitted.predict_proba(X), np.tile([0.0, 1.0], (8, 1)))


def test_a_score_of_one_half_is_unfavourable() -> None:
    fitted = Tie().fit(X, Y, sensitive_features=S)
    assert fitted.predict(X).tolist() == [0] * 4 + [1] * 4


def test_a_stage_without_its_part_says_so() -> None:
    with pytest.raises(NotImplementedError):
        InProcessor().fit_model(X, Y, S)
    with pytest.raises(NotImplementedError):
        PostProcessor().adjust(Y.astype(float), Y, S)


@pytest.mark.parametrize("fit_on", ["train", "out_of_fold", "validation"])
def test_where_the_rule_is_learnt(fit_on: str) -> None:
    many, labels, groups = (np.tile(a, (20, 1) if a.ndim == 2 else 20) for a in (X, Y, S))
    fitted = Watches(LogisticRegression(), fit_on=fit_on).fit(
        many, labels, sensitive_features=groups
    )
    own = fitted.estimator_.predict_proba(many)[:, 1]
    assert len(fitted.scores_) == (48 if fit_on == "validation" else 160)
    # only out of fold do a row's scores come from models that never saw it
    assert (len(own) == len(fitted.scores_) and np.allclose(own, fitted.scores_)) == (
        fit_on == "train"
    )
    assert (
        fitted.predict(many, sensitive_features=groups) == 1 - fitted.estimator_.predict(many)
    ).all()


def test_a_given_model_is_used_as_it_is() -> None:
    model = LogisticRegression().fit(X, Y)
    fitted = Watches(model, fit_on="given").fit(X, Y, sensitive_features=S)
    assert fitted.estimator_ is model
    with pytest.raises(InputError, match="needs an estimator that is fitted already"):
        Watches(fit_on="given").fit(X, Y, sensitive_features=S)
    with pytest.raises(UnknownName, match="fit_on"):
        Watches(model, fit_on="trian").fit(X, Y, sensitive_features=S)


def test_strata_fall_back_to_classes_where_a_cell_is_too_small() -> None:
    y, s = np.array([0, 0, 1, 1, 1, 1]), np.array([0, 0, 0, 0, 0, 1])
    assert strata(y, s, 1).tolist() == [0, 0, 1, 1, 1, 3]
    assert strata(y, s, 2).tolist() == y.tolist()


def test_a_given_model_without_probabilities_is_refused() -> None:
    from sklearn.svm import LinearSVC

    model = LinearSVC().fit(X, Y)
    with pytest.raises(NotApplicable, match="needs probabilities"):
        Watches(model, fit_on="given").fit(X, Y, sensitive_features=S)
