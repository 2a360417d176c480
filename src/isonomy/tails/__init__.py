"""How bad can it get: extreme value theory on plain arrays; nothing here knows of fairness."""

from isonomy.tails.compare import TailTest, tail_test
from isonomy.tails.diagnose import (
    Diagnosis,
    Goodness,
    NestedTest,
    diagnose,
    goodness,
    nested_test,
    published_type,
)
from isonomy.tails.fit import fit_gev, fit_gpd, peaks_over_threshold
from isonomy.tails.laws import gev_cdf, gev_logpdf, gev_quantile, gpd_cdf, gpd_logpdf, gpd_quantile
from isonomy.tails.levels import Interval
from isonomy.tails.tail_fit import TailFit
from isonomy.tails.threshold import (
    CvTest,
    MultipleCvTest,
    ThresholdChoice,
    choose_threshold,
    cv_test,
    mean_excess,
    multiple_cv_test,
    stability,
)

__all__ = [
    "CvTest",
    "Diagnosis",
    "Goodness",
    "Interval",
    "MultipleCvTest",
    "NestedTest",
    "TailFit",
    "TailTest",
    "ThresholdChoice",
    "choose_threshold",
    "cv_test",
    "diagnose",
    "fit_gev",
    "fit_gpd",
    "gev_cdf",
    "gev_logpdf",
    "gev_quantile",
    "goodness",
    "gpd_cdf",
    "gpd_logpdf",
    "gpd_quantile",
    "mean_excess",
    "multiple_cv_test",
    "nested_test",
    "peaks_over_threshold",
    "published_type",
    "stability",
    "tail_test",
]
