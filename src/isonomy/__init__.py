"""Audit a classifier, mitigate its bias, judge the trade-off, test the tail.

The names below are imported when they are first used, so that ``import isonomy`` stays fast. The
rooms hold more: ``isonomy.mitigators`` every mitigation method, ``isonomy.metrics`` every metric,
``isonomy.stats`` and ``isonomy.tails`` the statistics.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from isonomy.audit import (
        Audit,
        OverTime,
        Power,
        Scan,
        audit,
        audit_counts,
        audit_file,
        audit_file_over_time,
        audit_models,
        audit_over_time,
        audit_selections,
        power,
        scan,
    )
    from isonomy.benchmark import Benchmark, benchmark
    from isonomy.counterfactual import tail
    from isonomy.data import (
        DATASETS,
        Dataset,
        dataset_from,
        load,
        make_biased,
        make_splits,
        prepare,
    )
    from isonomy.gate import Check, Policy, assert_fair, check
    from isonomy.metrics import METRICS, Counts, JointCounts, Metric, get_metric, scorer
    from isonomy.mitigators import MITIGATORS, make_mitigator
    from isonomy.models import make_model
    from isonomy.papers import PAPERS, load_study
    from isonomy.store import Record, Store
    from isonomy.study import Study, run
    from isonomy.tradeoff import Baseline, TradeOff, judge, tune

__version__ = "0.1.0.dev0"

_PUBLIC = {
    "audit": (
        "Audit OverTime Power Scan audit_counts audit_file audit_file_over_time audit_models audit_over_time "
        "audit_selections power scan"
    ),
    "benchmark": "Benchmark",
    "counterfactual": "tail",
    "data": "DATASETS Dataset dataset_from load make_biased make_splits prepare",
    "gate": "Check Policy assert_fair check",
    "metrics": "Counts JointCounts METRICS Metric get_metric scorer",
    "mitigators": "MITIGATORS make_mitigator",
    "models": "make_model",
    "papers": "PAPERS load_study",
    "store": "Record Store",
    "study": "Study run",
    "tradeoff": "Baseline TradeOff judge tune",
}
_ROOM_OF = {name: room for room, names in _PUBLIC.items() for name in names.split()}
# Rooms that are called like the function of the same name in them.
_CALLABLE_ROOMS = ("audit", "benchmark")
_ROOMS = (
    *("counterfactual", "data", "errors", "gate", "generators", "metrics", "mitigators", "models"),
    *("networks", "papers", "plots", "report", "search", "stats", "store", "study", "tails"),
    *("templates", "testing", "tradeoff"),
)

__all__ = [
    "Audit",
    "Baseline",
    "Benchmark",
    "Check",
    "Counts",
    "DATASETS",
    "Dataset",
    "JointCounts",
    "METRICS",
    "MITIGATORS",
    "Metric",
    "OverTime",
    "PAPERS",
    "Policy",
    "Power",
    "Record",
    "Scan",
    "Store",
    "Study",
    "TradeOff",
    "__version__",
    "assert_fair",
    "audit",
    "audit_counts",
    "audit_file",
    "audit_file_over_time",
    "audit_models",
    "audit_over_time",
    "audit_selections",
    "benchmark",
    "check",
    "dataset_from",
    "get_metric",
    "judge",
    "load",
    "load_study",
    "make_biased",
    "make_mitigator",
    "make_model",
    "make_splits",
    "power",
    "prepare",
    "run",
    "scan",
    "scorer",
    "tail",
    "tune",
]


def __getattr__(name: str) -> Any:
    if name in _ROOM_OF:
        value = getattr(importlib.import_module(f"isonomy.{_ROOM_OF[name]}"), name)
        globals()[name] = value
        return value
    if name in (*_CALLABLE_ROOMS, *_ROOMS):
        return importlib.import_module(f"isonomy.{name}")
    raise AttributeError(f"module 'isonomy' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_ROOMS})
