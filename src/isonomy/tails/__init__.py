"""How bad can it get: extreme value theory on plain arrays; nothing here knows of fairness."""

from isonomy.tails.compare import TailTest, tail_test
from isonomy.tails.fit import TailFit, fit_gev, fit_gpd
from isonomy.tails.gev import gev_cdf, gev_logpdf, gev_quantile
from isonomy.tails.gpd import gpd_cdf, gpd_logpdf, gpd_quantile
from isonomy.tails.intervals import Interval
from isonomy.tails.nested import NestedTest, nested_test
from isonomy.tails.threshold import peaks_over_threshold

__all__ = [
    "Interval",
    "NestedTest",
    "TailFit",
    "TailTest",
    "fit_gev",
    "fit_gpd",
    "gev_cdf",
    "gev_logpdf",
    "gev_quantile",
    "gpd_cdf",
    "gpd_logpdf",
    "gpd_quantile",
    "nested_test",
    "peaks_over_threshold",
    "tail_test",
]
