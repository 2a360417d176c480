"""Predictions in, disparities out, each with an interval and a verdict."""

from isonomy._registry import callable_room
from isonomy.audit.declared import TrainedModels, declared_model, read_declared, train_models
from isonomy.audit.findings import Audit, ConditionalGap, Finding, GroupRate
from isonomy.audit.guesses import ColumnGuess, guess_columns
from isonomy.audit.judge import DEFAULT_METRICS, DEFAULT_THRESHOLDS, FEWEST_ROWS
from isonomy.audit.models import audit_models, privileged_groups
from isonomy.audit.moves import Move
from isonomy.audit.over_time import (
    audit_counts_over_time,
    audit_file_over_time,
    audit_over_time,
)
from isonomy.audit.over_time_result import OverTime
from isonomy.audit.period_gaps import PeriodGap
from isonomy.audit.run import audit, audit_counts, audit_file
from isonomy.audit.selections import SelectionAudit, audit_selections, audit_selections_file
from isonomy.audit.standing import ModelPair, ModelsAudit, Standing
from isonomy.audit.traits import Trait
from isonomy.audit.unexamined import looks_protected, unexamined_columns

__all__ = [
    "Audit",
    "ColumnGuess",
    "ConditionalGap",
    "DEFAULT_METRICS",
    "DEFAULT_THRESHOLDS",
    "FEWEST_ROWS",
    "Finding",
    "GroupRate",
    "ModelPair",
    "ModelsAudit",
    "Move",
    "OverTime",
    "PeriodGap",
    "SelectionAudit",
    "Standing",
    "TrainedModels",
    "Trait",
    "audit",
    "audit_counts",
    "audit_counts_over_time",
    "audit_file",
    "audit_file_over_time",
    "audit_models",
    "audit_over_time",
    "audit_selections",
    "audit_selections_file",
    "declared_model",
    "guess_columns",
    "looks_protected",
    "privileged_groups",
    "read_declared",
    "train_models",
    "unexamined_columns",
]

callable_room(__name__)
