"""Generators of synthetic rows, and the quality of what they draw."""

from isonomy.generators.base import GENERATORS, BaseGenerator, make_generator
from isonomy.generators.bootstrap_noise import BootstrapNoise
from isonomy.generators.ctgan import Ctgan
from isonomy.generators.independent import Independent
from isonomy.generators.quality import Quality, mds_points, quality
from isonomy.generators.tvae import Tvae

__all__ = [
    "BaseGenerator",
    "BootstrapNoise",
    "Ctgan",
    "GENERATORS",
    "Independent",
    "Quality",
    "Tvae",
    "make_generator",
    "mds_points",
    "quality",
]
