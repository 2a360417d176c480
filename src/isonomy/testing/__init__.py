"""Contracts that our own mitigators, datasets, papers, results and stores keep, and that a plug-in can test."""

from isonomy.testing.dataset import DATASET_CHECKS, check_dataset
from isonomy.testing.metric import METRIC_CHECKS, check_metric
from isonomy.testing.mitigator import MITIGATOR_CHECKS, check_mitigator
from isonomy.testing.paper import PAPER_CHECKS, check_paper
from isonomy.testing.results import check_results
from isonomy.testing.store import STORE_CHECKS, check_store

__all__ = [
    "DATASET_CHECKS",
    "METRIC_CHECKS",
    "MITIGATOR_CHECKS",
    "PAPER_CHECKS",
    "STORE_CHECKS",
    "check_dataset",
    "check_metric",
    "check_mitigator",
    "check_paper",
    "check_results",
    "check_store",
]
