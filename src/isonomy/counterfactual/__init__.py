"""Who is hurt: counterfactual pairs, their extremes, and the search for worse ones."""

from isonomy.counterfactual.blackbox import CommandModel, load_function, load_model
from isonomy.counterfactual.domain import Domain
from isonomy.counterfactual.ecd import counterfactual_discrimination
from isonomy.counterfactual.extremes import (
    Estimate,
    Extremes,
    conditional_value_at_risk,
    extremes,
    extremes_difference,
)
from isonomy.counterfactual.flip import Attribute, Flips, flip
from isonomy.counterfactual.linear import ExactMaximum, exact_maximum
from isonomy.counterfactual.pairs import Pairs, score_pairs
from isonomy.counterfactual.report import EcdReport, GroupReport
from isonomy.counterfactual.scores import Scorer
from isonomy.counterfactual.search import TailSample, tail_sample_search
from isonomy.counterfactual.seek import Found, seek_tail

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
    "counterfactual_discrimination",
    "exact_maximum",
    "extremes",
    "extremes_difference",
    "flip",
    "load_function",
    "load_model",
    "score_pairs",
    "seek_tail",
    "tail_sample_search",
]
