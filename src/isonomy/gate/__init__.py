"""Gates: one policy and one decision behind the command line, pytest, pre-commit, CI and MLflow."""

from isonomy.gate.decision import EXIT_CODES, decide, overall
from isonomy.gate.faces import annotations, to_junit, to_markdown
from isonomy.gate.passing import DEFAULT_METRICS, first_policy, passing_policy
from isonomy.gate.policy import Accepted, Columns, Earlier, Policy
from isonomy.gate.result import Check, Outcome
from isonomy.gate.run import assert_fair, check
from isonomy.gate.tracking import log_mlflow

__all__ = [
    "Accepted",
    "Check",
    "Columns",
    "DEFAULT_METRICS",
    "EXIT_CODES",
    "Earlier",
    "Outcome",
    "Policy",
    "annotations",
    "assert_fair",
    "check",
    "decide",
    "first_policy",
    "log_mlflow",
    "overall",
    "passing_policy",
    "to_junit",
    "to_markdown",
]
