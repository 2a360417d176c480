"""Who is hurt: counterfactual pairs, their extremes, and the search for worse ones."""

from isonomy.counterfactual.generate import (
    GENERATORS,
    BaseGenerator,
    BootstrapNoise,
    Independent,
    make_generator,
)
from isonomy.counterfactual.quality import Quality, mds_points, quality

__all__ = [
    "BaseGenerator",
    "BootstrapNoise",
    "GENERATORS",
    "Independent",
    "Quality",
    "make_generator",
    "mds_points",
    "quality",
]
