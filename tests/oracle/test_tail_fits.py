"""Our tail fits against fits in high precision and R's evd 2.3 (fgev, fpot).

The numbers were computed once, outside the package; the three vectors lie beside the checkout.
"""

from pathlib import Path

import numpy as np
import pytest

from isonomy.tails import fit_gev, fit_gpd, peaks_over_threshold


def vector(shared: Path, name: str) -> np.ndarray:
    path = shared / "data" / "evt" / f"evt_{name}.csv"
    if not path.is_file():
        pytest.skip(f"needs {path.name} in shared/data/evt beside the repository")
    return np.loadtxt(path, skiprows=1)


def test_gev_of_the_fifty_largest_equals_the_exact_fit(shared: Path) -> None:
    fit = fit_gev(vector(shared, "top50"))
    exact = [2.84340941324, 0.351437462441, 0.627078000642]
    assert fit.converged
    assert [fit.location, fit.scale, fit.shape] == pytest.approx(exact, rel=1e-8)
    assert fit.se == pytest.approx([0.0651486503, 0.0654637073, 0.2278787646], rel=1e-8)
    assert fit.nll == pytest.approx(43.6118544683, rel=1e-10)
    levels = [29.87087261, 44.90403476, 68.11870667]
    assert fit.return_level([500, 1000, 2000]) == pytest.approx(levels, rel=1e-8)


def test_gev_by_l_moments(shared: Path) -> None:
    fit = fit_gev(vector(shared, "top50"), method="moments")
    assert [fit.location, fit.scale, fit.shape] == pytest.approx(
        [2.89466133, 0.43030830, 0.32313925], rel=1e-6
    )


def test_gev_of_forty_block_maxima_equals_r(shared: Path) -> None:
    fit = fit_gev(vector(shared, "blockmax40"))
    assert [fit.location, fit.scale, fit.shape] == pytest.approx(
        [2.7006837665, 0.8352327303, 0.0652342542], rel=1e-4
    )
    assert fit.se == pytest.approx([0.15072867, 0.11295724, 0.13074865], rel=1e-4)
    assert fit.nll == pytest.approx(57.5250786293, rel=1e-10)
    levels = [9.1000775, 9.9889641, 10.9186528]
    assert fit.return_level([500, 1000, 2000]) == pytest.approx(levels, rel=1e-4)


def test_gpd_of_fifty_excesses_equals_r(shared: Path) -> None:
    fit = peaks_over_threshold(vector(shared, "full2000"), k=50)
    assert fit.threshold == pytest.approx(2.4880849241, rel=1e-10)
    assert (fit.k, fit.n) == (50, 2000)
    assert [fit.scale, fit.shape] == pytest.approx([0.8068111938, 0.0559170965], rel=1e-4)
    assert fit.se == pytest.approx([0.17210970, 0.15990034], rel=1e-4)
    assert fit.nll == pytest.approx(42.0625736004, rel=1e-10)
    levels = [6.0161745, 6.9601919, 7.7071462]
    assert fit.return_level([2000, 5000, 10000]) == pytest.approx(levels, rel=1e-4)
    again = fit_gpd(fit.sample, threshold=fit.threshold, n=2000)
    assert again.scale == fit.scale


def test_the_paper_mode_is_a_gev_on_the_fifty_largest(shared: Path) -> None:
    fit = peaks_over_threshold(vector(shared, "full2000"), k=50, protocol="as_published")
    exact = [2.84340941324, 0.351437462441, 0.627078000642]
    assert [fit.location, fit.scale, fit.shape] == pytest.approx(exact, rel=1e-8)
    excess_scale = exact[1] + exact[2] * (fit.threshold - exact[0])
    by_hand = fit.threshold + excess_scale / exact[2] * (50.0 ** exact[2] - 1.0)
    assert fit.return_level(2000) == pytest.approx(by_hand, rel=1e-8)
