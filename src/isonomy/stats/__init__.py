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
    standardized_difference,
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
from isonomy.stats.stratified import (
    breslow_day,
    mantel_haenszel_odds,
    mantel_haenszel_ratio,
    mantel_haenszel_test,
)
from isonomy.stats.tests import mann_whitney, runs_needed, smallest_pvalue, spearman, wilcoxon
from isonomy.stats.two_by_two import (
    deviations,
    fisher_exact,
    katz_interval,
    koopman_interval,
    more_to_reach,
    odds_ratio,
    shortfall,
    survives_more,
)
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
    "breslow_day",
    "cliffs_delta",
    "cliffs_delta_interval",
    "cohens_d",
    "corrected_calibration_error",
    "deviations",
    "difference_interval",
    "effect_class",
    "fisher_exact",
    "friedman",
    "friedman_nemenyi",
    "hedges_g",
    "holm",
    "hypervolume",
    "jeffreys_interval",
    "katz_interval",
    "knee",
    "koopman_interval",
    "largest_difference",
    "logistic_calibration",
    "mann_whitney",
    "mantel_haenszel",
    "mantel_haenszel_odds",
    "mantel_haenszel_ratio",
    "mantel_haenszel_test",
    "many_to_one_critical",
    "mean_ranks",
    "more_to_reach",
    "odds_ratio",
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
    "shortfall",
    "smallest_pvalue",
    "spearman",
    "spiegelhalter_z",
    "split_mean",
    "split_weights",
    "standardized_difference",
    "survives_more",
    "wilcoxon",
    "wilson_interval",
    "win_tie_loss",
]
