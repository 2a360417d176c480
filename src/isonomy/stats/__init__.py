"""Is it real: arrays in, numbers out; nothing here knows of fairness."""

from isonomy.stats.effects import cohens_d
from isonomy.stats.intervals import percentile_interval, wilson_interval
from isonomy.stats.ranks import rank
from isonomy.stats.tests import mann_whitney, spearman

__all__ = [
    "cohens_d",
    "mann_whitney",
    "percentile_interval",
    "rank",
    "spearman",
    "wilson_interval",
]
