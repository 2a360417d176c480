"""Was it worth it: the mutation baseline, the regions, the frontier and tuning."""

from isonomy.metrics import bias_of
from isonomy.search import Cache, JsonLinesCache
from isonomy.stats import hypervolume, knee, pareto
from isonomy.tradeoff.baseline import Baseline, baselines, mutation_values
from isonomy.tradeoff.compare import judge_mitigator, train_and_test
from isonomy.tradeoff.frontier import Frontier, post_processing_frontier
from isonomy.tradeoff.regions import REGIONS, area, classify, normalise, place, region_names
from isonomy.tradeoff.tune import Candidate, Tuning, tune
from isonomy.tradeoff.verdict import TradeOff, judge, judge_counts

__all__ = [
    "Baseline",
    "Cache",
    "Candidate",
    "Frontier",
    "JsonLinesCache",
    "REGIONS",
    "TradeOff",
    "Tuning",
    "area",
    "baselines",
    "bias_of",
    "classify",
    "hypervolume",
    "judge",
    "judge_counts",
    "judge_mitigator",
    "knee",
    "mutation_values",
    "normalise",
    "pareto",
    "place",
    "post_processing_frontier",
    "region_names",
    "train_and_test",
    "tune",
]
