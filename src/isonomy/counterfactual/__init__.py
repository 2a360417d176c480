"""Who is hurt: counterfactual pairs, their extremes, and the search for worse ones."""

from isonomy.counterfactual.generate import (
    GENERATORS,
    BaseGenerator,
    BootstrapNoise,
    Independent,
    make_generator,
)

__all__ = ["BaseGenerator", "BootstrapNoise", "GENERATORS", "Independent", "make_generator"]
