"""Rows like these: generators of synthetic rows, and how good what they draw is."""

from isonomy.generators.ctgan import Ctgan
from isonomy.generators.generate import (
    GENERATORS,
    BaseGenerator,
    BootstrapNoise,
    Independent,
    make_generator,
)
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
