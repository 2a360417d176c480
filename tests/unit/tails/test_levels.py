"""Profile limits against slow, independent optimisation; the other intervals by hand."""

from pathlib import Path

import numpy as np
import pytest
from scipy import optimize, stats

from isonomy.errors import InputError, UnknownName
from isonomy.tails import (
    fit_gev,
    fit_gpd,
    gev_quantile,
    gpd_logpdf,
    gpd_quantile,
    peaks_over_threshold,
)

CUT = stats.chi2.ppf(0.95, 1)


def excesses(shape: float, size: int = 60) -> np.ndarray:
    return gpd_quantile(np.random.default_rng(int(100 + 10 * shape)).random(size), 2.0, shape)


def nll(y: np.ndarray, scale: float, shape: float) -> float:
    value = -gpd_logpdf(y, scale, shape).sum()
    return float(value) if np.isfinite(value) else 1e10


def least(f, low: float, high: float) -> tuple[float, float]:
    """Give the smallest value on an interval, and where, on a grid and then by Brent."""
    grid = np.linspace(low, high, 400)
    best = int(np.argmin([f(x) for x in grid]))
    ends = grid[max(best - 1, 0)], grid[min(best + 1, 399)]
    found = optimize.minimize_scalar(f, bounds=ends, method="bounded", options={"xatol": 1e-12})
    return float(found.fun), float(found.x)


@pytest.mark.parametrize("shape", [-0.3, 0.0, 0.3])
def test_plain_limits_of_shape_and_scale(shape: float) -> None:
    y = excesses(shape)
    fit = fit_gpd(y)
    for end in fit.interval("shape", method="profile_plain"):
        value, _ = least(lambda s, end=end: nll(y, np.exp(s), end), -3, 4)
        assert 2 * (value - fit.nll) == pytest.approx(CUT, rel=1e-5)
    for end in fit.interval("scale", method="profile_plain"):
        value, _ = least(lambda xi, end=end: nll(y, end, xi), -0.99, 3)
        assert 2 * (value - fit.nll) == pytest.approx(CUT, rel=1e-5)


@pytest.mark.parametrize("shape", [-0.3, 0.0, 0.3])
def test_plain_limits_of_a_level_and_of_the_end(shape: float) -> None:
    y = excesses(shape)
    fit = fit_gpd(y)

    def at_level(r: float, xi: float) -> float:
        return nll(y, r / float(gpd_quantile(1 - 1 / 500, 1.0, xi)), xi)

    for end in fit.interval("return_level", horizon=500, method="profile_plain"):
        value, _ = least(lambda xi, end=end: at_level(end, xi), -0.99, 3)
        assert 2 * (value - fit.nll) == pytest.approx(CUT, rel=1e-4)
    low, high = fit.interval("endpoint", method="profile_plain")
    for end in (low, high):
        if np.isfinite(end):
            value, _ = least(lambda xi, end=end: nll(y, -xi * end, xi), -0.99, -1e-3)
            assert 2 * (value - fit.nll) == pytest.approx(CUT, rel=1e-4)
    assert low > y.max()


def test_an_estimated_share_of_exceedances_widens_the_level() -> None:
    x = np.random.default_rng(3).exponential(size=600)
    fit = peaks_over_threshold(x, k=50)
    known = fit_gpd(fit.sample, threshold=fit.threshold)
    low, high = fit.interval("return_level", horizon=3000, method="profile_plain")
    narrow = known.interval("return_level", horizon=3000 * 50 / 600, method="profile_plain")
    assert low < narrow.low
    assert high > narrow.high

    def loss(at: np.ndarray, r: float) -> float:
        xi, share = at[0], 1 / (1 + np.exp(-at[1]))
        unit = float(gpd_quantile(1 - 1 / (3000 * share), 1.0, xi))
        return nll(fit.sample, r / unit, xi) - 50 * np.log(share) - 550 * np.log1p(-share)

    least_share = -50 * np.log(50 / 600) - 550 * np.log1p(-50 / 600)
    for end in (low, high):
        found = optimize.minimize(
            loss,
            [fit.shape, np.log(50 / 550)],
            args=(end - fit.threshold,),
            method="Nelder-Mead",
            options={"xatol": 1e-9, "fatol": 1e-11, "maxiter": 4000},
        )
        assert 2 * (found.fun - fit.nll - least_share) == pytest.approx(CUT, rel=1e-4)


def modified_root(y: np.ndarray, fit, at: tuple[float, float], along: np.ndarray) -> float:
    """Give r* by the tangent exponential model with numerical derivatives throughout."""
    hat = np.array([np.log(fit.scale), fit.shape])
    step = 1e-5

    def density(theta: np.ndarray, points: np.ndarray) -> np.ndarray:
        return gpd_logpdf(points, np.exp(theta[0]), theta[1])

    def pivot(theta: np.ndarray, points: np.ndarray) -> np.ndarray:
        return stats.genpareto.logsf(points, theta[1], scale=np.exp(theta[0]))

    unit = np.eye(2) * step
    by_y = (pivot(hat, y + step) - pivot(hat, y - step)) / (2 * step)
    carry = [-(pivot(hat + u, y) - pivot(hat - u, y)) / (2 * step) / by_y for u in unit]

    def phi(theta: np.ndarray) -> np.ndarray:
        slope = (density(theta, y + step) - density(theta, y - step)) / (2 * step)
        return np.array([(v * slope).sum() for v in carry])

    def total(theta: np.ndarray) -> float:
        return -float(density(theta, y).sum())

    wide = np.eye(2) * 1e-4
    jacobian = np.stack([(phi(hat + w) - phi(hat - w)) / 2e-4 for w in wide], axis=1)
    information = np.array(
        [
            [
                (total(hat + a + b) - total(hat + a - b) - total(hat - a + b) + total(hat - a - b))
                / 4e-8
                for a in wide
            ]
            for b in wide
        ]
    )
    there = np.array(at)
    turn = (phi(there + 1e-4 * along) - phi(there - 1e-4 * along)) / 2e-4
    # along a straight line: exact where the nuisance parameter is a coordinate
    bend = (total(there + 1e-4 * along) - 2 * total(there) + total(there - 1e-4 * along)) / 1e-8
    gap = phi(hat) - phi(there)
    q = abs(gap[0] * turn[1] - gap[1] * turn[0]) / abs(np.linalg.det(jacobian))
    q *= np.sqrt(np.linalg.det(information) / bend)
    root = np.sqrt(2 * (total(there) - total(hat)))
    return float(root + np.log(q / root) / root)


@pytest.mark.parametrize("shape", [-0.2, 0.25])
def test_corrected_limits_are_where_the_modified_root_is_1_96(shape: float) -> None:
    y = excesses(shape)
    fit = fit_gpd(y)
    for end in fit.interval("shape"):
        _, s = least(lambda s, end=end: nll(y, np.exp(s), end), -3, 4)
        star = modified_root(y, fit, (s, end), np.array([1.0, 0.0]))
        assert star == pytest.approx(1.959964, abs=2e-3)
    for end in fit.interval("scale"):
        _, xi = least(lambda xi, end=end: nll(y, end, xi), -0.99, 3)
        star = modified_root(y, fit, (np.log(end), xi), np.array([0.0, 1.0]))
        assert star == pytest.approx(1.959964, abs=2e-3)


def test_the_correction_vanishes_in_large_samples() -> None:
    y = gpd_quantile(np.random.default_rng(5).random(20000), 1.0, 0.1)
    fit = fit_gpd(y)
    for what, horizon in (("shape", None), ("scale", None), ("return_level", 1e5)):
        plain = fit.interval(what, horizon=horizon, method="profile_plain")
        corrected = fit.interval(what, horizon=horizon)
        delta = fit.interval(what, horizon=horizon, method="delta")
        width = plain.high - plain.low
        assert corrected == pytest.approx(plain, abs=0.03 * width)
        assert delta == pytest.approx(plain, abs=0.06 * width)


def test_a_batch_of_intervals_equals_one_by_one() -> None:
    rng = np.random.default_rng(6)
    y = gpd_quantile(rng.random((8, 50)), 1.0, rng.uniform(-0.4, 0.4, (8, 1)))
    many = fit_gpd(y)
    for what, horizon in (
        ("shape", None),
        ("scale", None),
        ("endpoint", None),
        ("return_level", 300),
    ):
        low, high = many.interval(what, horizon=horizon)
        for row in range(8):
            one = fit_gpd(y[row]).interval(what, horizon=horizon)
            assert (one.low, one.high) == pytest.approx((low[row], high[row]), rel=1e-5)


def test_limits_widen_with_the_level_and_hold_the_estimate() -> None:
    fit = fit_gpd(excesses(0.1))
    for what, horizon in (("shape", None), ("scale", None), ("return_level", 300)):
        inner = fit.interval(what, horizon=horizon, confidence=0.8)
        outer = fit.interval(what, horizon=horizon, confidence=0.99)
        assert outer.low < inner.low < inner.high < outer.high


def test_delta_method_of_the_reference_gev(shared: Path) -> None:
    path = shared / "data" / "evt" / "evt_top50.csv"
    if not path.is_file():
        pytest.skip("needs evt_top50.csv in shared/data/evt beside the repository")
    fit = fit_gev(np.loadtxt(path, skiprows=1))
    for horizon, se in ((500, 28.670597), (1000, 50.842337), (2000, 88.730815)):
        low, high = fit.interval("return_level", horizon=horizon, method="delta")
        assert (high - low) / (2 * 1.959963985) == pytest.approx(se, rel=1e-6)


def test_gev_profile_limits() -> None:
    x = gev_quantile(np.random.default_rng(8).random(60), 1.0, 2.0, 0.1)
    fit = fit_gev(x)

    def loss(at: np.ndarray, held: int, value: float) -> float:
        theta = np.insert(at, held, value)
        out = -stats.genextreme.logpdf(x, -theta[2], theta[0], np.exp(theta[1])).sum()
        return float(out) if np.isfinite(out) else 1e10

    hat = np.array([fit.location, np.log(fit.scale), fit.shape])
    for held, what in enumerate(("location", "scale", "shape")):
        for end in fit.interval(what):
            value = np.log(end) if what == "scale" else end
            found = optimize.minimize(
                loss,
                np.delete(hat, held),
                args=(held, value),
                method="Nelder-Mead",
                options={"xatol": 1e-9, "fatol": 1e-11, "maxiter": 4000},
            )
            assert 2 * (found.fun - fit.nll) == pytest.approx(CUT, rel=1e-5)
    low, high = fit.interval("return_level", horizon=100)
    assert low < fit.return_level(100) < high

    def at_level(at: np.ndarray, level: float) -> float:
        unit = float(gev_quantile(0.99, 0.0, 1.0, at[1]))
        return loss(np.array([level - np.exp(at[0]) * unit, at[0]]), 2, at[1])

    for end in (low, high):
        found = optimize.minimize(
            at_level,
            [hat[1], 0.0],  # a Gumbel law allows every value
            args=(end,),
            method="Nelder-Mead",
            options={"xatol": 1e-9, "fatol": 1e-11, "maxiter": 4000},
        )
        assert 2 * (found.fun - fit.nll) == pytest.approx(CUT, rel=1e-5)


def test_a_level_near_the_threshold_is_bounded_by_order_statistics() -> None:
    x = np.random.default_rng(9).exponential(size=1000)
    fit = peaks_over_threshold(x, k=50)
    ordered = np.sort(x)[::-1]
    low, high = fit.interval("return_level", horizon=20)
    # exceedances of the level are Binomial(1000, 1/20): 50 on average
    above = stats.binom(1000, 1 / 20)
    assert high == ordered[int(above.ppf(0.025)) - 1]
    assert low == ordered[int(above.isf(0.025))]
    bare = fit_gpd(fit.sample, threshold=fit.threshold, n=1000)
    assert np.isnan(bare.interval("return_level", horizon=20).low)  # it lies below what is known
    assert bare.interval("return_level", horizon=20).high == pytest.approx(high)


def test_bounds_cut_intervals_off() -> None:
    rng = np.random.default_rng(10)
    y = gpd_quantile(rng.random((40, 50)), 0.3, -0.25)
    y = y[y.max(axis=1) < 1.0]
    fit = fit_gpd(y, upper=1.0)
    for what, horizon in (("endpoint", None), ("return_level", 1000)):
        low, high = fit.interval(what, horizon=horizon)
        assert (high <= 1.0).all()
        assert (low < high).all()
    low, high = fit.interval("shape")
    assert (high > 0.0).any()  # the bound is none of the law's
    assert (low < high).all()


def test_bootstrap_interval() -> None:
    # two ways to mend the root of the likelihood ratio, the one by calculus, the other by drawing:
    # both move the limits of the plain profile the same way
    fit = fit_gpd(excesses(-0.1, 60))
    for what, horizon in (("shape", None), ("scale", None), ("return_level", 600)):
        plain = fit.interval(what, horizon=horizon, method="profile_plain")
        corrected = fit.interval(what, horizon=horizon)
        drawn = fit.interval(what, horizon=horizon, method="bootstrap", resamples=1999)
        assert np.sign(corrected.high - plain.high) == np.sign(drawn.high - plain.high)
        assert list(drawn) == pytest.approx(
            list(corrected), abs=0.25 * (corrected.high - corrected.low)
        )
    large = peaks_over_threshold(np.random.default_rng(4).exponential(size=3000), k=600)
    corrected = large.interval("return_level", horizon=20_000)
    drawn = large.interval("return_level", horizon=20_000, method="bootstrap", resamples=1999)
    assert list(drawn) == pytest.approx(
        list(corrected), abs=0.06 * (corrected.high - corrected.low)
    )
    drawn = fit.interval("return_level", horizon=1000, method="bootstrap", resamples=499)
    again = fit.interval("return_level", horizon=1000, method="bootstrap", resamples=499)
    assert drawn == again
    other = fit.interval("return_level", horizon=1000, method="bootstrap", random_state=1)
    assert other != drawn
    maxima = fit_gev(gev_quantile(np.random.default_rng(2).random(100), 0.0, 1.0, -0.2))
    low, high = maxima.interval("endpoint", method="bootstrap", resamples=199)
    assert low < maxima.endpoint() < high


def test_an_abrupt_end_lies_above_the_largest_value() -> None:
    y = gpd_quantile(np.random.default_rng(11).random(50), 2.0, -2.0)
    fit = fit_gpd(y)
    assert not fit.converged
    low, high = fit.interval("endpoint")
    assert y.max() <= low < 1.0 < high < 1.1  # the true end is 1
    for method in ("profile", "bootstrap"):
        inside = fit.interval("shape", method=method)
        assert inside.low < inside.high < 0


def test_limits_belong_to_the_likelihood_whatever_the_estimator() -> None:
    y, x = excesses(0.2), gev_quantile(np.random.default_rng(3).random(60), 0.0, 1.0, 0.1)
    for method in ("moments", "zhang_stephens"):
        other = fit_gpd(y, method=method)
        assert list(other.interval("shape")) == pytest.approx(list(fit_gpd(y).interval("shape")))
    low, high = fit_gev(x, method="moments").interval("location")
    assert [low, high] == pytest.approx(list(fit_gev(x).interval("location")))


def test_bad_requests_get_one_sentence() -> None:
    fit = fit_gpd(excesses(0.1))
    with pytest.raises(UnknownName, match="did you mean 'shape'"):
        fit.interval("shap")
    with pytest.raises(UnknownName, match="interval method"):
        fit.interval("shape", method="wald")
    with pytest.raises(InputError, match="needs horizon="):
        fit.interval("return_level")
    with pytest.raises(InputError, match="confidence must lie"):
        fit.interval("shape", confidence=95)
    with pytest.raises(InputError, match="chosen, not estimated"):
        fit.interval("location")
    published = peaks_over_threshold(
        np.random.default_rng(1).exponential(size=500), protocol="as_published"
    )
    with pytest.raises(InputError, match="delta or bootstrap interval only"):
        published.interval("return_level", horizon=1000)
    low, high = published.interval("return_level", horizon=1000, method="delta")
    assert low < published.return_level(1000) < high
    with pytest.raises(InputError, match="no profile interval here"):
        published.interval("endpoint")


def test_degenerate_samples_have_no_interval() -> None:
    fit = fit_gpd(np.stack([np.ones(20), np.arange(1.0, 21.0)]))
    low, high = fit.interval("shape")
    assert np.isnan([low[0], high[0]]).all()
    assert np.isfinite([low[1], high[1]]).all()


def test_the_delta_method_knows_no_end_at_infinity() -> None:
    heavy = fit_gpd(gpd_quantile((np.arange(50) + 0.5) / 50, 1.0, 0.2))
    assert heavy.endpoint() == np.inf
    assert np.isnan(heavy.interval("endpoint", method="delta")).all()
