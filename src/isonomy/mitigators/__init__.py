"""What we change: flat, one file per method; the stage is a class attribute."""

from isonomy.mitigators.adversarial_debiasing import AdversarialDebiasing
from isonomy.mitigators.base import (
    MITIGATORS,
    BaseMitigator,
    InProcessor,
    PostProcessor,
    PreProcessor,
    make_mitigator,
)
from isonomy.mitigators.calibrated_equalized_odds import CalibratedEqualizedOdds
from isonomy.mitigators.disparate_impact_remover import DisparateImpactRemover
from isonomy.mitigators.equalized_odds import EqualizedOdds
from isonomy.mitigators.fairness_constrained_thresholds import FairnessConstrainedThresholds
from isonomy.mitigators.learning_fair_representations import LearningFairRepresentations
from isonomy.mitigators.meta_fair_classifier import MetaFairClassifier
from isonomy.mitigators.optimized_preprocessing import OptimizedPreprocessing
from isonomy.mitigators.prejudice_remover import PrejudiceRemover
from isonomy.mitigators.reject_option import RejectOption
from isonomy.mitigators.reweighing import Reweighing
from isonomy.mitigators.suppression import Suppression
from isonomy.mitigators.unmitigated import Unmitigated

__all__ = [
    "AdversarialDebiasing",
    "BaseMitigator",
    "CalibratedEqualizedOdds",
    "DisparateImpactRemover",
    "EqualizedOdds",
    "FairnessConstrainedThresholds",
    "InProcessor",
    "LearningFairRepresentations",
    "MITIGATORS",
    "MetaFairClassifier",
    "OptimizedPreprocessing",
    "PostProcessor",
    "PreProcessor",
    "PrejudiceRemover",
    "RejectOption",
    "Reweighing",
    "Suppression",
    "Unmitigated",
    "make_mitigator",
]
