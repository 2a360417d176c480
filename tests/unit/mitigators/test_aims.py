"""A method is set to the metrics that decide, as far as it says that it can."""

import pytest

from isonomy.errors import UnknownName
from isonomy.metrics import METRICS
from isonomy.mitigators import MITIGATORS
from isonomy.mitigators.aims import GOAL_OF, aim_at, goals_of

EOD = "equal_opportunity_difference"


def test_every_metric_with_a_goal_exists_and_compares_groups() -> None:
    assert {METRICS[name].kind for name in GOAL_OF} == {"group"}


@pytest.mark.parametrize(
    ("spec", "aimed"),
    [
        ("exponentiated_gradient", "exponentiated_gradient(constraint=equal_opportunity)"),
        ("meta_fair_classifier(tau=0.9)", "meta_fair_classifier(tau=0.9, constraint=tpr)"),
        ("calibrated_equalized_odds", "calibrated_equalized_odds(cost=fnr)"),
        ("equalized_odds", "equalized_odds(objective=accuracy)"),
        ("prejudice_remover", "prejudice_remover"),  # parity is all that it can
        ("reject_option(metric=spd)", "reject_option(metric=spd, objective=accuracy)"),
    ],
)
def test_what_is_set(spec: str, aimed: str) -> None:
    assert aim_at(spec, fairness=EOD) == aimed


def test_the_performance_that_decides_is_the_objective() -> None:
    spec = "fairness_constrained_thresholds"
    balanced = aim_at(spec, fairness="spd", performance="balanced_accuracy")
    assert balanced == f"{spec}(constraint=demographic_parity, objective=balanced_accuracy)"
    other = aim_at(spec, fairness="spd", performance="mcc")
    assert other == f"{spec}(constraint=demographic_parity)"


def test_a_metric_that_nobody_can_aim_at_changes_nothing() -> None:
    for name in MITIGATORS:
        goal_free = aim_at(name, fairness="false_omission_rate_difference", performance="mcc")
        assert goal_free == name
    with pytest.raises(UnknownName):
        aim_at("reweighing", fairness="nonsense")


def test_goals_of_what_is_written() -> None:
    assert goals_of("adversarial_debiasing(target=statistical_parity)") == ("demographic_parity",)
    assert goals_of("fairhome") == ()
    assert set(goals_of("equalized_odds")) == {
        "equal_opportunity",
        "predictive_equality",
        "equalized_odds",
    }
