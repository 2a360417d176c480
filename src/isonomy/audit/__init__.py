"""Predictions in, disparities out, each with an interval and a verdict."""

from isonomy._registry import callable_room
from isonomy.audit.findings import Audit, ConditionalGap, Finding, GroupRate
from isonomy.audit.judge import DEFAULT_METRICS, DEFAULT_THRESHOLDS, FEWEST_ROWS
from isonomy.audit.run import audit, audit_counts, audit_file
from isonomy.audit.unexamined import looks_protected

__all__ = [
    "Audit",
    "ConditionalGap",
    "DEFAULT_METRICS",
    "DEFAULT_THRESHOLDS",
    "FEWEST_ROWS",
    "Finding",
    "GroupRate",
    "audit",
    "audit_counts",
    "audit_file",
    "looks_protected",
]

callable_room(__name__)
