"""What we measure: one small tensor of counts, and every metric as a line over it."""

from isonomy.metrics import gaps, individual, performance, scores, selection, subgroups
from isonomy.metrics.counts import Counts
from isonomy.metrics.gaps import COMPARISONS
from isonomy.metrics.individual import Neighbours, neighbours
from isonomy.metrics.joint import JointCounts
from isonomy.metrics.metric import METRICS, Metric, add_metric, bias_of, gap_of, get_metric
from isonomy.metrics.performance import ZERO_DIVISION_METRICS
from isonomy.metrics.rates import RATES, Rate
from isonomy.metrics.scorer import Scorer, scorer
from isonomy.metrics.scores import ScoreTable

__all__ = [
    "COMPARISONS",
    "Counts",
    "JointCounts",
    "METRICS",
    "Metric",
    "Neighbours",
    "RATES",
    "Rate",
    "ScoreTable",
    "Scorer",
    "ZERO_DIVISION_METRICS",
    "add_metric",
    "bias_of",
    "gap_of",
    "gaps",
    "get_metric",
    "individual",
    "neighbours",
    "performance",
    "scorer",
    "scores",
    "selection",
    "subgroups",
]
