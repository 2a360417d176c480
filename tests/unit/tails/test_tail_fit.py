"""A fitted tail: its levels by hand, its bound, how it shows itself."""

import numpy as np
import pytest
from scipy import stats

from isonomy.errors import InputError
from isonomy.tails import fit_gev, fit_gpd, gev_quantile, gpd_quantile, peaks_over_threshold


def test_a_bound_cuts_levels_off_and_leaves_the_fit_free() -> None:
    # a law that must end at the bound understates a tail that is heavy below it
    rng = np.random.default_rng(17)
    y = gpd_quantile(rng.random((200, 50)), 0.1, 0.0)
    free, capped = fit_gpd(y), fit_gpd(y, upper=1.0)
    np.testing.assert_array_equal(capped.shape, free.shape)
    np.testing.assert_array_equal(capped.nll, free.nll)
    assert (free.endpoint() > 1.0).any()
    np.testing.assert_array_equal(capped.endpoint(), np.minimum(free.endpoint(), 1.0))
    np.testing.assert_array_equal(capped.return_level(1e6), np.minimum(free.return_level(1e6), 1.0))


def test_return_levels_by_hand() -> None:
    values = np.concatenate([np.zeros(900), np.linspace(1, 2, 100)])
    fit = peaks_over_threshold(values, k=50)
    m = np.array([100.0, 5000.0])
    by_hand = fit.threshold + fit.scale / fit.shape * ((m * 50 / 1000) ** fit.shape - 1)
    assert fit.return_level(m) == pytest.approx(by_hand, rel=1e-12)
    location, scale, shape = fit.maximum(5000)
    assert location == pytest.approx(by_hand[1])
    assert scale == pytest.approx(fit.scale * 250**fit.shape)
    assert shape == fit.shape
    # the chance that 5,000 queries stay below x, from both laws
    x = fit.quantile(0.99)
    poisson = np.exp(-5000 * 50 / 1000 * (1 - fit.cdf(x)))
    assert stats.genextreme.cdf(x, -shape, location, scale) == pytest.approx(poisson, rel=1e-9)


def test_maxima_of_blocks_by_hand() -> None:
    fit = fit_gev(gev_quantile((np.arange(200) + 0.5) / 200, 1.0, 2.0, 0.1))
    level = fit.return_level(100)
    assert fit.cdf(level) == pytest.approx(0.99)
    location, scale, _ = fit.maximum(100)
    assert stats.genextreme.cdf(6.0, -fit.shape, location, scale) == pytest.approx(
        fit.cdf(6.0) ** 100, rel=1e-9
    )
    with pytest.raises(InputError, match="greater than 1"):
        fit.return_level(1)


def test_shows_itself() -> None:
    fit = fit_gpd(np.random.default_rng(21).exponential(size=50))
    assert repr(fit).startswith("<TailFit gpd scale")
    assert "scale" in fit._repr_html_()
    assert repr(fit_gpd(np.ones(20))).startswith("<TailFit gpd, degenerate: all 20 values equal 1")
    assert "batch" not in repr(fit_gpd(np.random.default_rng(0).exponential(size=(2, 30))))
