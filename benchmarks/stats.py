"""Statistics of whole studies: our calls against SciPy's own vectorised ones (``axis=-1``).

Most of ours are SciPy's with a reason per cell, so the ratio shows what that costs.
"""

import numpy as np
from scipy import stats as scipy_stats
from table import Row, faster, under
from timing import cpu_seconds

__all__ = ["TITLE", "rows"]

TITLE = "Part 7: statistics"
TESTS, RUNS = 14_070, 50
PEER = "SciPy, one call (axis=-1)"


def _tests() -> list[Row]:
    from isonomy.stats import cliffs_delta, mann_whitney, wilcoxon

    rng = np.random.default_rng(0)
    a, b = (rng.normal(size=(TESTS, RUNS)).round(3) for _ in range(2))
    job = f"{TESTS:,} Mann-Whitney tests of {RUNS} against {RUNS}"
    ours, result = cpu_seconds(lambda: mann_whitney(a, b))
    peer, expected = cpu_seconds(lambda: scipy_stats.mannwhitneyu(a, b, axis=-1))
    np.testing.assert_allclose(result.pvalue, expected.pvalue, rtol=1e-9)
    out = [
        under(f"{job}, at most 200 ms", "-", 1000 * ours, None, 200, "ms"),
        faster(job, PEER, ours, peer, None, "equal p-values"),
    ]
    ours, delta = cpu_seconds(lambda: cliffs_delta(a, b))
    np.testing.assert_allclose(delta, 2 * expected.statistic / RUNS**2 - 1, atol=1e-12)
    out.append(faster(f"{TESTS:,} Cliff's deltas", f"{PEER}, from U", ours, peer, None, "equal"))
    ours, result = cpu_seconds(lambda: wilcoxon(a, b))
    peer, expected = cpu_seconds(
        lambda: scipy_stats.wilcoxon(a, b, axis=-1, correction=False, method="asymptotic")
    )
    # SciPy takes one method for the whole table, we the exact one in cells without ties
    ordered = np.sort(np.abs(a - b), axis=-1)
    tied = (np.diff(ordered, axis=-1) == 0).any(axis=-1) | (ordered[:, 0] == 0)
    np.testing.assert_allclose(result.pvalue[tied], expected.pvalue[tied], rtol=1e-9)
    note = f"equal p-values in the {tied.sum():,} cells with ties, exact ones in the others"
    out.append(faster(f"{TESTS:,} Wilcoxon tests of {RUNS} pairs", PEER, ours, peer, None, note))
    return out


def _groups() -> list[Row]:
    from isonomy.stats import friedman_nemenyi, scott_knott, scott_knott_esd

    rng = np.random.default_rng(1)
    runs = {f"m{k}": rng.normal(k // 4, 1.0, RUNS) for k in range(17)}
    blocks = rng.normal(size=(56, 17)) + np.arange(17) / 9
    out = []
    for name, call in (
        ("Scott-Knott as published", lambda: scott_knott(runs)),
        ("Scott-Knott corrected", lambda: scott_knott(runs, protocol="corrected")),
        ("Scott-Knott ESD, nonparametric", lambda: scott_knott_esd(runs)),
        ("Friedman and Nemenyi, 56 blocks", lambda: friedman_nemenyi(blocks)),
    ):
        took, _ = cpu_seconds(call)
        out.append(under(f"{name}, 17 methods", "-", 1000 * took, None, None, "ms", "no peer here"))
    return out


def _intervals() -> list[Row]:
    from isonomy.stats import bootstrap

    x = np.random.default_rng(2).normal(size=(1000, RUNS))
    ours, result = cpu_seconds(lambda: bootstrap(x, random_state=0), repeat=2)
    peer, expected = cpu_seconds(
        lambda: (
            scipy_stats.bootstrap(
                (x,), np.mean, axis=-1, n_resamples=2000, batch=80, rng=np.random.default_rng(0)
            ).confidence_interval.low
        ),
        repeat=2,
    )
    np.testing.assert_allclose(result.low, expected, rtol=1e-9)
    job = f"1,000 BCa intervals of a mean of {RUNS}, 2,000 resamples"
    return [faster(job, PEER, ours, peer, None, "equal draws, equal ends")]


def rows() -> list[Row]:
    return [*_tests(), *_groups(), *_intervals()]
