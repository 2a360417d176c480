"""Levels of a tail are drawn as the fit gives them."""

from collections.abc import Iterator

import numpy as np
import pytest
from matplotlib import pyplot as plt

from isonomy.errors import InputError
from isonomy.tails import fit_gev, fit_gpd, peaks_over_threshold


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    plt.close("all")


def test_levels_and_their_limits_are_those_of_the_fit() -> None:
    sample = np.random.default_rng(0).exponential(size=1000)
    fit = peaks_over_threshold(sample, k=100)
    levels = fit.levels([50, 5000])
    for row in levels.to_dict("records"):
        low, high = fit.interval("return_level", horizon=row["horizon"])
        assert (row["low"], row["high"]) == (low, high)
        assert low < row["level"] == fit.return_level(row["horizon"]) < high
    ax = fit.plot([50, 500, 5000])
    fitted = next(line for line in ax.lines if line.get_label() == "fitted level")
    np.testing.assert_allclose(fitted.get_ydata(), fit.return_level([50, 500, 5000]))
    observed = next(line for line in ax.lines if line.get_label() == "observed")
    assert observed.get_ydata()[0] == sample.max()
    assert observed.get_xdata()[0] == 2000  # the largest of 1,000
    ax.figure.savefig("/dev/null", format="png")


def test_maxima_come_in_blocks() -> None:
    fit = fit_gev(np.random.default_rng(1).gumbel(size=60))
    ax = fit.plot()
    assert ax.get_xlabel() == "blocks"
    assert (fit.levels()["horizon"] > 1).all()


def test_a_batch_has_no_levels_of_its_own() -> None:
    fit = fit_gpd(np.random.default_rng(2).exponential(size=(3, 50)))
    with pytest.raises(InputError, match="take one of them"):
        fit.levels()
