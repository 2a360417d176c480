"""Laws that Table IV of Monjezi et al. (2025) may mean, each by hand."""

import numpy as np
import pytest

from isonomy.papers.monjezi_2025.laws import law_of_blocks, law_of_largest, law_of_peaks
from isonomy.tails import gpd_quantile


def test_laws_are_of_the_largest_values_of_blocks_or_of_peaks() -> None:
    """Exponential values: the largest of a block of n has location log n and shape 0."""
    rng = np.random.default_rng(0)
    cd = rng.exponential(size=40_000)
    blocks = law_of_blocks(cd, 50)
    assert blocks.location == pytest.approx(np.log(50), abs=0.15)
    assert blocks.shape == pytest.approx(0, abs=0.08)
    tail = gpd_quantile((np.arange(40_000) + 0.5) / 40_000, 1.0, 0.0)
    implied = law_of_peaks(tail, 1000)
    assert implied.location == pytest.approx(np.log(1000), abs=0.1)
    mean = law_of_peaks(tail, None)
    assert mean.location == pytest.approx(mean.threshold + 1, abs=0.1)  # without memory
    top = np.sort(cd)[::-1]
    for k in (25, 50, 100):
        law = law_of_largest(cd, k)
        assert law.threshold == top[k]
        assert top[k] < law.location < top[0]


def test_where_no_law_can_be_fitted_there_is_a_location_at_most() -> None:
    steps = np.repeat([0.0, 0.2, 0.4], [900, 30, 20])
    law = law_of_largest(steps, 50)
    assert law.location == 0.2
    assert np.isnan([law.scale, law.shape]).all()
    assert law_of_largest(np.ones(300), 50).location == 1
    assert np.isnan(law_of_largest(np.ones(50), 50).location)
    assert np.isnan(law_of_blocks(steps, 365).location)  # two blocks
    assert np.isnan(law_of_peaks(np.ones(300), None).location)
    # one in 1,000 of 60,000 is below a threshold that 50 exceed
    assert np.isnan(law_of_peaks(np.random.default_rng(0).normal(size=60_000), 1000).location)
