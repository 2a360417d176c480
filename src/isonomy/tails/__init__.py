"""How bad can it get: extreme value theory on plain arrays; nothing here knows of fairness."""

from isonomy.tails.choose import ThresholdChoice, choose_threshold, mean_excess, stability
from isonomy.tails.compare import TailTest, tail_test
from isonomy.tails.diagnose import Diagnosis, diagnose, published_type
from isonomy.tails.estimate import fit_gev, fit_gpd
from isonomy.tails.fit import TailFit
from isonomy.tails.gev import gev_cdf, gev_logpdf, gev_quantile
from isonomy.tails.goodness import Goodness, goodness
from isonomy.tails.gpd import gpd_cdf, gpd_logpdf, gpd_quantile
from isonomy.tails.intervals import Interval
from isonomy.tails.nested import NestedTest, nested_test
from isonomy.tails.threshold import peaks_over_threshold
from isonomy.tails.variation import CvTest, MultipleCvTest, cv_test, multiple_cv_test, residual_cv

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
    "residual_cv",
    "stability",
    "tail_test",
]
