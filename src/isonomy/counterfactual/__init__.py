"""Who is hurt: counterfactual pairs, their extremes, and the search for worse ones."""

from isonomy.counterfactual.blackbox import CommandModel, load_function, load_model
from isonomy.counterfactual.ctgan import Ctgan
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
from isonomy.counterfactual.generate import (
    GENERATORS,
    BaseGenerator,
    BootstrapNoise,
    Independent,
    make_generator,
)
from isonomy.counterfactual.linear import ExactMaximum, exact_maximum
from isonomy.counterfactual.pairs import Pairs, score_pairs
from isonomy.counterfactual.quality import Quality, mds_points, quality
from isonomy.counterfactual.report import EcdReport, GroupReport
from isonomy.counterfactual.scores import Scorer
from isonomy.counterfactual.search import TailSample, tail_sample_search
from isonomy.counterfactual.seek import Found, seek_tail
from isonomy.counterfactual.tvae import Tvae

__all__ = [
    "Attribute",
    "BaseGenerator",
    "BootstrapNoise",
    "CommandModel",
    "Ctgan",
    "Domain",
    "EcdReport",
    "Estimate",
    "ExactMaximum",
    "Extremes",
    "Flips",
    "Found",
    "GENERATORS",
    "GroupReport",
    "Independent",
    "Pairs",
    "Quality",
    "Scorer",
    "TailSample",
    "Tvae",
    "conditional_value_at_risk",
    "counterfactual_discrimination",
    "exact_maximum",
    "extremes",
    "extremes_difference",
    "flip",
    "load_function",
    "load_model",
    "make_generator",
    "mds_points",
    "quality",
    "score_pairs",
    "seek_tail",
    "tail_sample_search",
]
