"""Was it worth it: the mutation baseline, the regions, the frontier and tuning."""

from isonomy.tradeoff.regions import REGIONS, area, classify, normalise, place, region_names

__all__ = ["REGIONS", "area", "classify", "normalise", "place", "region_names"]
