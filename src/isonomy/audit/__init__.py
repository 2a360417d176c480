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
from isonomy.audit.planning import Plan, Power, power
from isonomy.audit.run import audit, audit_counts, audit_file
from isonomy.audit.scan_result import Departure, Scan
from isonomy.audit.scanned import scan, scan_counts, scan_file
from isonomy.audit.selections import SelectionAudit, audit_selections, audit_selections_file
from isonomy.audit.standing import ModelPair, ModelsAudit, Standing
from isonomy.audit.traits import Trait
from isonomy.audit.unexamined import looks_protected, unexamined_columns
from isonomy.audit.who_pays import GroupChange, Levelling, WhoPays, changes_by_group, who_pays

__all__ = [
    "Audit",
    "ColumnGuess",
    "ConditionalGap",
    "DEFAULT_METRICS",
    "DEFAULT_THRESHOLDS",
    "Departure",
    "FEWEST_ROWS",
    "Finding",
    "GroupChange",
    "GroupRate",
    "Levelling",
    "ModelPair",
    "ModelsAudit",
    "Move",
    "OverTime",
    "PeriodGap",
    "Plan",
    "Power",
    "Scan",
    "SelectionAudit",
    "Standing",
    "TrainedModels",
    "Trait",
    "WhoPays",
    "audit",
    "audit_counts",
    "audit_counts_over_time",
    "audit_file",
    "audit_file_over_time",
    "audit_models",
    "audit_over_time",
    "audit_selections",
    "audit_selections_file",
    "changes_by_group",
    "declared_model",
    "guess_columns",
    "looks_protected",
    "power",
    "privileged_groups",
    "read_declared",
    "scan",
    "scan_counts",
    "scan_file",
    "train_models",
    "unexamined_columns",
    "who_pays",
]

callable_room(__name__)
