"""Is it real: arrays in, numbers out; nothing here knows of fairness."""

from isonomy.stats.effects import a12, cliffs_delta, cohens_d, effect_class, hedges_g
from isonomy.stats.intervals import percentile_interval, wilson_interval
from isonomy.stats.multiple import benjamini_hochberg, benjamini_yekutieli, holm
from isonomy.stats.paired import wilcoxon
from isonomy.stats.ranks import mean_ranks, rank
from isonomy.stats.tests import mann_whitney, spearman

__all__ = [
    "a12",
    "benjamini_hochberg",
    "benjamini_yekutieli",
    "cliffs_delta",
    "cohens_d",
    "effect_class",
    "hedges_g",
    "holm",
    "mann_whitney",
    "mean_ranks",
    "percentile_interval",
    "rank",
    "spearman",
    "wilcoxon",
    "wilson_interval",
]
