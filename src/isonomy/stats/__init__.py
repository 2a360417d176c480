"""Is it real: arrays in, numbers out; nothing here knows of fairness."""

from isonomy.stats.blocks import CriticalDifference, Friedman, friedman, friedman_nemenyi
from isonomy.stats.calibration import (
    corrected_calibration_error,
    logistic_calibration,
    spiegelhalter_z,
)
from isonomy.stats.effects import (
    a12,
    cliffs_delta,
    cliffs_delta_interval,
    cohens_d,
    effect_class,
    hedges_g,
)
from isonomy.stats.esd import scott_knott_esd
from isonomy.stats.intervals import percentile_interval, wilson_interval
from isonomy.stats.multiple import benjamini_hochberg, benjamini_yekutieli, holm
from isonomy.stats.pareto import hypervolume, knee, pareto
from isonomy.stats.proportions import (
    difference_interval,
    jeffreys_interval,
    mantel_haenszel,
    partial_pooling,
    ratio_interval,
)
from isonomy.stats.ranking import Ranking, scott_knott
from isonomy.stats.ranks import mean_ranks, rank
from isonomy.stats.resample import Interval, bootstrap, bootstrap_difference
from isonomy.stats.resplits import (
    SplitMean,
    pairs_over_splits,
    scott_knott_paired,
    selection_bias,
    split_mean,
    split_weights,
)
from isonomy.stats.simultaneous import (
    largest_difference,
    many_to_one_critical,
    range_critical,
)
from isonomy.stats.tests import mann_whitney, runs_needed, smallest_pvalue, spearman, wilcoxon
from isonomy.stats.wins import WinTieLoss, win_tie_loss

__all__ = [
    "CriticalDifference",
    "Friedman",
    "Interval",
    "Ranking",
    "SplitMean",
    "WinTieLoss",
    "a12",
    "benjamini_hochberg",
    "benjamini_yekutieli",
    "bootstrap",
    "bootstrap_difference",
    "cliffs_delta",
    "cliffs_delta_interval",
    "cohens_d",
    "corrected_calibration_error",
    "difference_interval",
    "effect_class",
    "friedman",
    "friedman_nemenyi",
    "hedges_g",
    "holm",
    "hypervolume",
    "jeffreys_interval",
    "knee",
    "largest_difference",
    "logistic_calibration",
    "mann_whitney",
    "mantel_haenszel",
    "many_to_one_critical",
    "mean_ranks",
    "pairs_over_splits",
    "pareto",
    "partial_pooling",
    "percentile_interval",
    "range_critical",
    "rank",
    "ratio_interval",
    "runs_needed",
    "scott_knott",
    "scott_knott_esd",
    "scott_knott_paired",
    "selection_bias",
    "smallest_pvalue",
    "spearman",
    "spiegelhalter_z",
    "split_mean",
    "split_weights",
    "wilcoxon",
    "wilson_interval",
    "win_tie_loss",
]
