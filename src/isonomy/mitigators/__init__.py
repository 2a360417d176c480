"""What we change: flat, one file per method; the stage is a class attribute.

Files are imported when their names are first used, so that importing the room stays fast.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from isonomy.mitigators.adversarial_debiasing import AdversarialDebiasing
    from isonomy.mitigators.base import MITIGATORS, BaseMitigator, make_mitigator
    from isonomy.mitigators.calibrated_equalized_odds import CalibratedEqualizedOdds
    from isonomy.mitigators.disparate_impact_remover import DisparateImpactRemover
    from isonomy.mitigators.ecd_fair import EcdFair
    from isonomy.mitigators.equalized_odds import EqualizedOdds
    from isonomy.mitigators.exponentiated_gradient import ExponentiatedGradient
    from isonomy.mitigators.fair_mask import FairMask
    from isonomy.mitigators.fair_smote import FairSmote
    from isonomy.mitigators.fairhome import FairHome
    from isonomy.mitigators.fairness_constrained_thresholds import FairnessConstrainedThresholds
    from isonomy.mitigators.fairway import Fairway
    from isonomy.mitigators.gerry_fair import GerryFair
    from isonomy.mitigators.grid_search import GridSearch
    from isonomy.mitigators.learning_fair_representations import LearningFairRepresentations
    from isonomy.mitigators.ltdd import Ltdd
    from isonomy.mitigators.maat import Maat
    from isonomy.mitigators.meta_fair_classifier import MetaFairClassifier
    from isonomy.mitigators.minimax import Minimax
    from isonomy.mitigators.mirror_fair import MirrorFair
    from isonomy.mitigators.optimized_preprocessing import OptimizedPreprocessing
    from isonomy.mitigators.prejudice_remover import PrejudiceRemover
    from isonomy.mitigators.reject_option import RejectOption
    from isonomy.mitigators.reweighing import Reweighing
    from isonomy.mitigators.stages import InProcessor, PostProcessor, PreProcessor
    from isonomy.mitigators.stealth import Stealth
    from isonomy.mitigators.suppression import Suppression
    from isonomy.mitigators.unmitigated import Unmitigated

__all__ = [
    "AdversarialDebiasing",
    "BaseMitigator",
    "CalibratedEqualizedOdds",
    "DisparateImpactRemover",
    "EcdFair",
    "EqualizedOdds",
    "ExponentiatedGradient",
    "FairHome",
    "FairMask",
    "FairSmote",
    "FairnessConstrainedThresholds",
    "Fairway",
    "GerryFair",
    "GridSearch",
    "InProcessor",
    "LearningFairRepresentations",
    "Ltdd",
    "MITIGATORS",
    "Maat",
    "MetaFairClassifier",
    "Minimax",
    "MirrorFair",
    "OptimizedPreprocessing",
    "PostProcessor",
    "PreProcessor",
    "PrejudiceRemover",
    "RejectOption",
    "Reweighing",
    "Stealth",
    "Suppression",
    "Unmitigated",
    "make_mitigator",
]

_SHARED = {
    **dict.fromkeys(("BaseMitigator", "MITIGATORS", "make_mitigator"), "base"),
    **dict.fromkeys(("InProcessor", "PostProcessor", "PreProcessor"), "stages"),
}


def __getattr__(name: str) -> Any:
    from isonomy._registry import files_of

    files = files_of(__name__)
    if name in files:
        return importlib.import_module(f"{__name__}.{name}")
    if name in __all__:  # a class is called like its file
        by_class = {file.replace("_", ""): file for file in files}
        file = _SHARED.get(name) or by_class[name.lower()]
        globals()[name] = getattr(importlib.import_module(f"{__name__}.{file}"), name)
        return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
