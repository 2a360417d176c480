"""A mitigator around a learner by name, by text, or as an object."""

import pytest
from sklearn.tree import DecisionTreeClassifier

from isonomy.data import load
from isonomy.errors import UnknownName
from isonomy.tradeoff.compare import judge_mitigator, train_and_test


def test_a_learner_is_a_name_a_text_or_an_object() -> None:
    data = load("synthetic", n=300)

    def learner(model: object) -> object:
        return train_and_test(data, "group", "reweighing", model=model)[0].estimator

    mine = DecisionTreeClassifier(max_depth=2)
    assert learner(mine) is mine
    assert learner("dt(max_depth=4)").get_params()["max_depth"] == 4  # type: ignore[attr-defined]
    path = "sklearn.tree.DecisionTreeClassifier(max_depth=3)"
    assert learner(path).get_params()["max_depth"] == 3  # type: ignore[attr-defined]
    with pytest.raises(UnknownName, match="no model 'dtt'; did you mean 'dt'"):
        learner("dtt")


def test_the_learner_of_a_model_of_its_own_is_the_original_without_a_warning() -> None:
    mitigator, train, test = train_and_test(
        load("synthetic", n=400), "group", "meta_fair_classifier"
    )
    assert mitigator.estimator is not None
    verdict = judge_mitigator(mitigator, **train, **test, frontier=False, resamples=20)
    assert verdict.bias >= 0
