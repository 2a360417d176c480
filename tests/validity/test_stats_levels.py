"""Do tests reject as often as they say, and intervals hold the truth? By simulation.

The figures of `docs/guide/8-statistics.md` are checked here to stay what it says.
"""

from collections.abc import Callable

import numpy as np
import pytest

from isonomy.stats import (
    Ranking,
    benjamini_hochberg,
    bootstrap,
    bootstrap_difference,
    cliffs_delta,
    cohens_d,
    friedman,
    friedman_nemenyi,
    holm,
    mann_whitney,
    scott_knott,
    scott_knott_esd,
    wilcoxon,
)


def draws(kind: str, size: tuple[int, ...], seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if kind == "ties":
        return rng.integers(0, 6, size=size).astype(float)
    return rng.normal(size=size) if kind == "normal" else rng.exponential(size=size)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["normal", "skewed", "ties"])
@pytest.mark.parametrize("n", [10, 20, 50])
def test_rank_tests_keep_their_level(n: int, kind: str) -> None:
    a, b = draws(kind, (2, 20_000, n), seed=n)
    error = 3 * np.sqrt(0.05 * 0.95 / 20_000)
    for test in (mann_whitney, wilcoxon):
        reached = float((test(a, b).pvalue < 0.05).mean())
        # discrete statistics stay below; none may exceed by more than chance and the
        # approximation's own error, which is below half a point
        assert 0.035 <= reached <= 0.05 + error + 0.004


@pytest.mark.slow
def test_friedman_keeps_its_level_and_the_sharper_one_is_sharper() -> None:
    found = friedman(draws("normal", (20_000, 12, 5), seed=1))
    plain, sharp = (found.pvalue < 0.05).mean(), (found.f_pvalue < 0.05).mean()
    assert 0.035 <= plain <= sharp <= 0.058


@pytest.mark.slow
def test_many_tests_keep_the_level_of_all() -> None:
    a, b = draws("normal", (2, 2000, 20, 15), seed=2)
    p = mann_whitney(a, b).pvalue
    # twenty tests where nothing differs: two in three studies find "something" unadjusted
    assert (p < 0.05).any(axis=1).mean() > 0.55
    for rule in (holm, benjamini_hochberg):
        assert (rule(p, axis=1) < 0.05).any(axis=1).mean() <= 0.065
    # where half differ, the expected share of false discoveries stays below the level
    a[:, :10] += 1.2
    rejected = benjamini_hochberg(mann_whitney(a, b).pvalue, axis=1) < 0.05
    false = rejected[:, 10:].sum(axis=1) / np.maximum(rejected.sum(axis=1), 1)
    assert 0.015 <= false.mean() <= 0.05
    assert rejected[:, :10].mean() > 0.7


# share of studies in which ten treatments that do not differ are put in two groups or more, as
# the guide prints it: 20 runs, 50 runs
PUBLISHED: dict[str, tuple[float, float]] = {
    "published": (0.94, 0.86),
    "corrected": (0.05, 0.05),
    "nonparametric": (1.00, 0.96),
    "parametric": (1.00, 0.99),
    "original": (0.06, 0.06),
}
RULES: dict[str, Callable[[np.ndarray, int], Ranking]] = {
    "published": lambda x, r: scott_knott(x, random_state=r),
    "corrected": lambda x, r: scott_knott(x, protocol="corrected", random_state=r),
    "nonparametric": lambda x, r: scott_knott_esd(x, version="nonparametric"),
    "parametric": lambda x, r: scott_knott_esd(x, version="parametric"),
    "original": lambda x, r: scott_knott_esd(x, version="original"),
}


@pytest.mark.slow
@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("name", PUBLISHED)
def test_groups_of_equal_treatments_as_the_guide_prints(name: str, which: int) -> None:
    rng = np.random.default_rng(which)
    studies = 400
    parted = [
        len(RULES[name](rng.normal(size=((20, 50)[which], 10)), r).groups) > 1
        for r in range(studies)
    ]
    expected = PUBLISHED[name][which]
    error = 3 * np.sqrt(max(expected * (1 - expected), 0.005) / studies)
    assert np.mean(parted) == pytest.approx(expected, abs=error + 0.005)


@pytest.mark.slow
def test_nemenyi_keeps_its_level() -> None:
    rng = np.random.default_rng(5)
    found = [friedman_nemenyi(rng.normal(size=(20, 10))) for _ in range(1000)]
    wide = np.mean([f.mean_ranks[-1] - f.mean_ranks[0] >= f.critical_difference for f in found])
    assert 0.025 <= wide <= 0.065


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "delta", "d"),  # how often chance alone looks more than negligible, as the guide prints
    [(10, 0.58, 0.66), (20, 0.43, 0.53), (50, 0.21, 0.32)],
)
def test_effects_of_chance_as_the_guide_prints(n: int, delta: float, d: float) -> None:
    a, b = draws("normal", (2, 20_000, n), seed=n)
    assert (np.abs(cliffs_delta(a, b)) >= 0.147).mean() == pytest.approx(delta, abs=0.015)
    assert (np.abs(cohens_d(a, b)) >= 0.2).mean() == pytest.approx(d, abs=0.015)


# coverage of 95 % intervals of a mean, as the guide prints it: percentile, BCa, studentized
COVERAGE = {
    ("normal", 10): (0.90, 0.90, 0.95),
    ("normal", 20): (0.93, 0.93, 0.95),
    ("normal", 50): (0.94, 0.94, 0.95),
    ("skewed", 10): (0.86, 0.87, 0.93),
    ("skewed", 20): (0.90, 0.91, 0.95),
    ("skewed", 50): (0.93, 0.94, 0.95),
}


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "n"), COVERAGE)
def test_intervals_cover_as_the_guide_prints(kind: str, n: int) -> None:
    x = draws(kind, (60, 100, n), seed=n)
    truth = 0.0 if kind == "normal" else 1.0
    for method, expected in zip(
        ("percentile", "bca", "studentized"), COVERAGE[kind, n], strict=True
    ):
        held = []
        for seed, cells in enumerate(x):  # positions are shared within a call, not between them
            found = bootstrap(cells, method=method, resamples=1000, random_state=seed)
            held.append((found.low <= truth) & (truth <= found.high))
        assert np.mean(held) == pytest.approx(expected, abs=0.015)


@pytest.mark.slow
@pytest.mark.parametrize("paired", [True, False])
def test_differences_cover(paired: bool) -> None:
    rng = np.random.default_rng(3)
    shared = rng.normal(size=(40, 100, 30)) if paired else 0.0
    a = shared + rng.normal(0.4, 1.0, size=(40, 100, 30))
    b = shared + rng.normal(0.0, 1.0, size=(40, 100, 30))
    held = []
    for seed in range(40):
        found = bootstrap_difference(
            a[seed], b[seed], paired=paired, method="studentized", resamples=800, random_state=seed
        )
        held.append((found.low <= 0.4) & (found.high >= 0.4))
    assert 0.935 <= np.mean(held) <= 0.965
