"""Tail fits: thousands of small samples against SciPy, one after the other."""

import numpy as np
from scipy import stats
from table import Row, faster, under
from timing import cpu_seconds

from isonomy.tails import fit_gev, fit_gpd, gev_quantile, gpd_quantile, tail_test

__all__ = ["TITLE", "rows"]

TITLE = "Part 8: how bad can it get"
FITS, POINTS, SAMPLE = 1000, 50, 20


def rows() -> list[Row]:
    rng = np.random.default_rng(0)
    shape = rng.uniform(-0.4, 0.5, size=(FITS, 1))
    excesses = gpd_quantile(rng.random((FITS, POINTS)), 1.0, shape)
    maxima = gev_quantile(rng.random((FITS, POINTS)), 0.0, 1.0, shape)
    out = []
    jobs = (
        ("GPD", excesses, fit_gpd, lambda x: stats.genpareto.fit(x, floc=0), 0.1),
        ("GEV", maxima, fit_gev, stats.genextreme.fit, 0.4),
    )
    for name, data, ours, peer, limit in jobs:
        seconds, fit = cpu_seconds(lambda ours=ours, data=data: ours(data))
        with np.errstate(all="ignore"):
            peer(data[0])  # SciPy's first call pays for caches of its own
            slow, found = cpu_seconds(
                lambda peer=peer, data=data: [peer(x) for x in data[:SAMPLE]], repeat=1
            )
        slow *= FITS / SAMPLE
        worse = sum(
            fit.nll[i] > _peer_nll(name, data[i], theta) + 1e-9 for i, theta in enumerate(found)
        )
        note = (
            f"{fit.converged.mean():.1%} converged; SciPy from {SAMPLE} fits; "
            f"our likelihood worse in {worse} of them"
        )
        job = f"{FITS:,} {name} fits of {POINTS} points"
        out.append(faster(job, "SciPy", seconds, slow, None, note))
        cap = f"at most {limit:g} s of CPU"
        out.append(under(f"{job}, {cap}", "-", 1e3 * seconds, None, 1e3 * limit, "ms"))
    fit = fit_gpd(excesses)
    seconds, _ = cpu_seconds(lambda: fit.interval("return_level", horizon=500), repeat=2)
    job = f"{FITS:,} corrected profile intervals of a return level"
    out.append(under(job, "-", 1e3 * seconds, None, None, "ms"))
    one, other = fit_gpd(excesses[0]), fit_gpd(excesses[1])
    seconds, _ = cpu_seconds(lambda: tail_test(one, other, horizon=500), repeat=3)
    out.append(under("one tail_test with its p-value", "-", 1e3 * seconds, None, None, "ms"))
    return out


def _peer_nll(name: str, x: np.ndarray, theta: tuple[float, ...]) -> float:
    with np.errstate(all="ignore"):
        law = stats.genpareto if name == "GPD" else stats.genextreme
        return float(-law.logpdf(x, *theta).sum())
