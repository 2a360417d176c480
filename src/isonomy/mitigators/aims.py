"""What a mitigator is asked to aim at: the fairness and performance metrics that decide.

Each class declares ``aims`` and ``objectives``: for a goal, the parameters that make it the
method's own. Whoever ranks methods by a pair of metrics sets each of them to that pair first.
"""

from isonomy._names import format_name, parse_name
from isonomy.metrics import get_metric
from isonomy.mitigators.base import MITIGATORS, make_mitigator

GOALS: dict[str, tuple[str, ...]] = {
    "demographic_parity": (
        "statistical_parity_difference",
        "disparate_impact",
        "log_disparate_impact",
    ),
    "equal_opportunity": (
        "equal_opportunity_difference",
        "true_positive_rate_ratio",
        "false_negative_rate_difference",
        "false_negative_rate_ratio",
    ),
    "predictive_equality": ("false_positive_rate_difference", "false_positive_rate_ratio"),
    "equalized_odds": (
        "average_odds_difference",
        "average_absolute_odds_difference",
        "equalized_odds_difference",
        "equalized_odds_ratio",
    ),
    "error_rate_parity": (
        "error_rate_difference",
        "error_rate_ratio",
        "accuracy_difference",
        "accuracy_ratio",
    ),
    "predictive_parity": (
        "precision_difference",
        "precision_ratio",
        "false_discovery_rate_difference",
        "false_discovery_rate_ratio",
    ),
}
"""What groups may be made to have in common, with the fairness metrics that are ideal then."""

GOAL_OF = {metric: goal for goal, metrics in GOALS.items() for metric in metrics}
"""The goal behind a fairness metric; a metric that is not listed has none."""


def aim_at(spec: str, *, fairness: str, performance: str = "accuracy") -> str:
    """Set a mitigator to a pair of metrics, as far as it declares that it can.

    Parameters
    ----------
    spec : str
        A mitigator with its variant in brackets; parameters named there stay as they are.
    fairness, performance : str
        The metrics that decide.

    Returns
    -------
    str
        The mitigator with the parameters that aim it at the pair.

    Examples
    --------
    >>> aim_at("reject_option", fairness="equal_opportunity_difference")
    'reject_option(metric=eod, objective=accuracy)'
    >>> aim_at("reject_option(metric=spd)", fairness="equal_opportunity_difference")
    'reject_option(metric=spd, objective=accuracy)'
    >>> aim_at("reweighing", fairness="equal_opportunity_difference")
    'reweighing'
    """
    name, named = parse_name(spec)
    method = MITIGATORS[name]
    goal = GOAL_OF.get(get_metric(fairness).name, "")
    parameters = {
        **method.aims.get(goal, {}),
        **method.objectives.get(get_metric(performance).name, {}),
    }
    return format_name(name, {**named, **{k: v for k, v in parameters.items() if k not in named}})


def goals_of(spec: str) -> tuple[str, ...]:
    """Return the goals that a mitigator, as it is written, aims at.

    Examples
    --------
    >>> goals_of("reject_option(metric=eod)"), goals_of("suppression")
    (('equal_opportunity',), ())
    """
    method = make_mitigator(spec)
    return tuple(
        goal
        for goal, parameters in method.aims.items()
        if all(getattr(method, name) == value for name, value in parameters.items())
    )
