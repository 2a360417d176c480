"""Who is hurt: counterfactual pairs, their extremes, and the search for worse ones."""

from isonomy.counterfactual.blackbox import CommandModel, load_function, load_model
from isonomy.counterfactual.domain import Domain
from isonomy.counterfactual.flip import Attribute, Flips, flip
from isonomy.counterfactual.pairs import Pairs, score_pairs
from isonomy.counterfactual.scores import Scorer
from isonomy.counterfactual.seek import Found, seek_tail

__all__ = [
    "Attribute",
    "CommandModel",
    "Domain",
    "Flips",
    "Found",
    "Pairs",
    "Scorer",
    "flip",
    "load_function",
    "load_model",
    "score_pairs",
    "seek_tail",
]
