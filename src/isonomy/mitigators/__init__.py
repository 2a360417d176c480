"""What we change: flat, one file per method; the stage is a class attribute."""

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
from isonomy.mitigators.grid_search import GridSearch
from isonomy.mitigators.learning_fair_representations import LearningFairRepresentations
from isonomy.mitigators.maat import Maat
from isonomy.mitigators.meta_fair_classifier import MetaFairClassifier
from isonomy.mitigators.minimax import Minimax
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
    "GridSearch",
    "InProcessor",
    "LearningFairRepresentations",
    "MITIGATORS",
    "Maat",
    "MetaFairClassifier",
    "Minimax",
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
