"""Statistics of whole studies: our one call against SciPy's loop and against plain loops.

Where the peer would take minutes a sample of its cells is timed and scaled; the note says so.
"""

import random

import numpy as np
from scipy import stats as scipy_stats
from table import Row, faster, under
from timing import cpu_seconds

__all__ = ["TITLE", "rows"]

TITLE = "Part 7: statistics"
TESTS, RUNS = 14_070, 50


def _loop_delta(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Cliff's delta as it is mostly written: every pair of values."""
    out = []
    for x, y in zip(a.tolist(), b.tolist(), strict=True):
        more = less = 0
        for p in x:
            for q in y:
                more += p > q
                less += p < q
        out.append((more - less) / (len(x) * len(y)))
    return np.array(out)


def _loop_scott_knott(runs: dict[str, list[float]], resamples: int) -> dict[str, int]:
    """Group by the published recursion with lists, its bootstrap value by value."""
    rng = random.Random(0)

    def middle(values: list[float]) -> float:
        return sorted(values)[len(values) // 2]

    def welch(low: list[float], high: list[float]) -> float:
        means = [sum(s) / len(s) for s in (low, high)]
        spread = sum(
            sum((v - m) ** 2 for v in s) / (len(s) - 1) / len(s)
            for s, m in zip((low, high), means, strict=True)
        )
        return (means[1] - means[0]) / (spread**0.5 if spread else 1.0)

    def differ(low: list[float], high: list[float]) -> bool:
        if abs(_loop_delta(np.array([low]), np.array([high]))[0]) > 0.147:
            return True
        observed = welch(low, high)
        centre = (sum(low) + sum(high)) / (len(low) + len(high))
        moved = [[v - sum(s) / len(s) + centre for v in s] for s in (low, high)]
        above = sum(
            welch(*(rng.choices(s, k=len(s)) for s in moved)) > observed for _ in range(resamples)
        )
        return above / resamples < 0.05

    rows = sorted(runs.items(), key=lambda row: middle(row[1]))
    ranks: dict[str, int] = {}

    def cut(some: list[tuple[str, list[float]]], rank: int) -> int:
        def pooled(part: list[tuple[str, list[float]]]) -> list[float]:
            return [v for _, values in part for v in values]

        best, where, whole = 0.0, None, middle(pooled(some))
        for j in range(1, len(some)):
            low, high = pooled(some[:j]), pooled(some[j:])
            share = len(low) / (len(low) + len(high))
            worth = share * (middle(low) - whole) ** 2 + (1 - share) * (middle(high) - whole) ** 2
            if worth > best and differ(low, high):
                best, where = worth, j
        if where is None:
            ranks.update({name: rank for name, _ in some})
            return rank
        return cut(some[where:], cut(some[:where], rank) + 1)

    cut(rows, 1)
    return ranks


def _tests() -> list[Row]:
    from isonomy.stats import cliffs_delta, mann_whitney, wilcoxon

    rng = np.random.default_rng(0)
    a, b = (rng.normal(size=(TESTS, RUNS)).round(3) for _ in range(2))
    out = []
    some = 500
    for name, ours_call, peer_call, limit in (
        ("Mann-Whitney tests of 50 against 50", mann_whitney, scipy_stats.mannwhitneyu, 200),
        ("Wilcoxon tests of 50 pairs", wilcoxon, scipy_stats.wilcoxon, None),
    ):
        ours, result = cpu_seconds(lambda call=ours_call: call(a, b))
        peer, expected = cpu_seconds(
            lambda call=peer_call: [
                call(x, y).pvalue for x, y in zip(a[:some], b[:some], strict=True)
            ],
            repeat=1,
        )
        np.testing.assert_allclose(result.pvalue[:some], expected, rtol=1e-9)
        note = f"equal p-values; the peer's time from {some} tests, scaled"
        job = f"{TESTS:,} {name}"
        loop = 1000 * peer * TESTS / some
        out.append(under(job, "SciPy, pair by pair", 1000 * ours, loop, limit, "ms", note))
        if limit:
            whole, expected = cpu_seconds(lambda: scipy_stats.mannwhitneyu(a, b, axis=-1), repeat=2)
            np.testing.assert_allclose(result.pvalue, expected.pvalue, rtol=1e-9)
            out.append(
                faster(job, "SciPy, one call (axis=-1)", ours, whole, None, "equal p-values")
            )
    ours, result = cpu_seconds(lambda: cliffs_delta(a, b))
    peer, expected = cpu_seconds(lambda: _loop_delta(a[:100], b[:100]), repeat=1)
    np.testing.assert_allclose(result[:100], expected, atol=1e-15)
    note = "equal; the peer's time from 100 pairs, scaled"
    out.append(faster(f"{TESTS:,} Cliff's deltas", "our loop", ours, peer * TESTS / 100, 20, note))
    return out


def _groups() -> list[Row]:
    from isonomy.stats import friedman_nemenyi, scott_knott, scott_knott_esd

    rng = np.random.default_rng(1)
    runs = {f"m{k}": rng.normal(k // 4, 1.0, RUNS) for k in range(17)}
    lists = {name: values.tolist() for name, values in runs.items()}
    ours, found = cpu_seconds(lambda: scott_knott(runs))
    peer, expected = cpu_seconds(lambda: _loop_scott_knott(lists, 500), repeat=1)
    same = sum(found[name] == rank for name, rank in expected.items())
    out = [
        faster(
            "Scott-Knott as published, 17 methods of 50 runs",
            "our loop",
            ours,
            peer,
            10,
            f"{same} of 17 ranks the same (other random numbers)",
        )
    ]
    for name, call in (
        ("Scott-Knott corrected", lambda: scott_knott(runs, protocol="corrected")),
        ("Scott-Knott ESD, nonparametric", lambda: scott_knott_esd(runs)),
        (
            "Friedman and Nemenyi, 56 blocks",
            lambda: friedman_nemenyi(rng.normal(size=(56, 17)) + np.arange(17) / 9),
        ),
    ):
        took, _ = cpu_seconds(call)
        out.append(under(f"{name}, 17 methods", "-", 1000 * took, None, None, "ms", "no peer here"))
    return out


def _intervals() -> list[Row]:
    from isonomy.stats import bootstrap

    x = np.random.default_rng(2).normal(size=(1000, RUNS))
    ours, found = cpu_seconds(lambda: bootstrap(x, random_state=0), repeat=2)

    def peer_call() -> list[float]:
        return [
            scipy_stats.bootstrap(
                (row,), np.mean, n_resamples=2000, rng=np.random.default_rng(0)
            ).confidence_interval.low
            for row in x[:20]
        ]

    peer, expected = cpu_seconds(peer_call, repeat=1)
    np.testing.assert_allclose(found.low[:20], expected, rtol=1e-9)
    note = "equal draws, equal ends; the peer's time from 20 samples, scaled"
    job = "1,000 BCa intervals of a mean of 50, 2,000 resamples"
    return [faster(job, "SciPy bootstrap, sample by sample", ours, peer * 50, 10, note)]


def rows() -> list[Row]:
    return [*_tests(), *_groups(), *_intervals()]
