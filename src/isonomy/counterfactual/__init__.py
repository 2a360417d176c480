"""Counterfactual pairs, their extremes, and the search for worse ones."""

from isonomy.counterfactual.blackbox import CommandModel, load_function, load_model, load_models
from isonomy.counterfactual.domain import Domain
from isonomy.counterfactual.ecd import tail
from isonomy.counterfactual.extremes import (
    Estimate,
    Extremes,
    conditional_value_at_risk,
    extremes,
    extremes_difference,
)
from isonomy.counterfactual.flip import Attribute, Flips, flip
from isonomy.counterfactual.linear import ExactMaximum, exact_maximum
from isonomy.counterfactual.pairs import Pairs, Scorer, score_pairs
from isonomy.counterfactual.report import EcdReport, GroupReport
from isonomy.counterfactual.sample import TailSample, tail_sample_search
from isonomy.counterfactual.seek import Found, seek_tail
from isonomy.counterfactual.views import model_table, tail_reports

__all__ = [
    "Attribute",
    "CommandModel",
    "Domain",
    "EcdReport",
    "Estimate",
    "ExactMaximum",
    "Extremes",
    "Flips",
    "Found",
    "GroupReport",
    "Pairs",
    "Scorer",
    "TailSample",
    "conditional_value_at_risk",
    "exact_maximum",
    "extremes",
    "extremes_difference",
    "flip",
    "load_function",
    "load_model",
    "load_models",
    "model_table",
    "score_pairs",
    "seek_tail",
    "tail",
    "tail_reports",
    "tail_sample_search",
]
