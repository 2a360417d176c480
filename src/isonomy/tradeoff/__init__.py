"""Was it worth it: the mutation baseline, the regions, the frontier and tuning."""

from isonomy.tradeoff.baseline import CHEN_BASELINE, Baseline, baselines, bias_of, mutation_values
from isonomy.tradeoff.regions import REGIONS, area, classify, normalise, place, region_names

__all__ = [
    "Baseline",
    "CHEN_BASELINE",
    "REGIONS",
    "area",
    "baselines",
    "bias_of",
    "classify",
    "mutation_values",
    "normalise",
    "place",
    "region_names",
]
