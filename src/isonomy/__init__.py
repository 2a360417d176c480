"""Audit a classifier, mitigate its bias, judge the trade-off, test the tail."""

from isonomy.audit import Audit, audit, audit_counts, audit_file
from isonomy.data import Dataset, load, make_biased, make_splits, prepare
from isonomy.metrics import METRICS, Counts, Metric, get_metric

__version__ = "0.1.0.dev0"

__all__ = [
    "Audit",
    "Counts",
    "Dataset",
    "METRICS",
    "Metric",
    "__version__",
    "audit",
    "audit_counts",
    "audit_file",
    "get_metric",
    "load",
    "make_biased",
    "make_splits",
    "prepare",
]
