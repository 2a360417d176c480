"""The numbers of one group against known laws, by hand, and in degenerate cases."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from isonomy.counterfactual import conditional_value_at_risk, extremes, extremes_difference
from isonomy.counterfactual.extremes import tail_size
from isonomy.data.synthetic import BiasedTruth
from isonomy.errors import InputError
from isonomy.tails import peaks_over_threshold, tail_test

TRUTH = BiasedTruth()
HORIZONS = (500, 1000, 2000)


def draw(n: int, seed: int) -> np.ndarray:
    return np.asarray(TRUTH.quantile(np.random.default_rng(seed).random(n)))


def test_conditional_value_at_risk_by_hand() -> None:
    values = [0.0] * 15 + [1.0, 2.0, 3.0, 4.0, 5.0]
    assert conditional_value_at_risk(values, quantile=0.9).value == pytest.approx(4.5)
    # three eighths of 20 rows are 7.5: seven whole rows and half of the next
    assert conditional_value_at_risk(values, quantile=0.625).value == pytest.approx(15 / 7.5)
    with pytest.raises(InputError, match="quantile"):
        conditional_value_at_risk(values, quantile=1.0)


def test_conditional_value_at_risk_interval_covers() -> None:
    level = TRUTH.quantile(0.95)
    grid = TRUTH.quantile(0.95 + 0.05 * (np.arange(100_000) + 0.5) / 100_000)
    exact = float(np.mean(grid))
    assert level < exact
    found = [conditional_value_at_risk(draw(1500, seed)) for seed in range(300)]
    share = np.mean([e.low <= exact <= e.high for e in found])
    assert 0.91 <= share <= 0.98  # four standard errors of 300 trials around 0.95


def test_mean_and_levels_of_a_known_tail() -> None:
    x = draw(50_000, 0)
    found = extremes(x, k=2000)
    assert found.acd.low < TRUTH.mean_exposure < found.acd.high
    for m in HORIZONS:
        true = TRUTH.quantile(1 - 1 / m)
        assert found.levels[m].low < true < found.levels[m].high
        assert abs(found.levels[m].value - true) < 0.01
    assert found.fit is not None
    assert abs(float(found.fit.shape) - TRUTH.tail_shape) < 4 * float(found.fit.se[1])


@pytest.mark.slow
def test_levels_cover_the_known_tail() -> None:
    hits = np.zeros(3)
    trials = 400
    for seed in range(trials):
        found = extremes(draw(3000, seed + 100), resamples=1)
        hits += [
            found.levels[m].low <= TRUTH.quantile(1 - 1 / m) <= found.levels[m].high
            for m in HORIZONS
        ]
    # 95 per cent meant; three standard errors of 400 trials are 0.033
    assert (hits / trials >= 0.917).all(), hits


def test_differences_are_those_of_the_tail_test() -> None:
    a, b = draw(4000, 1), 0.6 * draw(9000, 2)
    found = extremes_difference(extremes(a, k=200), extremes(b, k=200))
    test = tail_test(
        peaks_over_threshold(a, k=200, upper=1.0),
        peaks_over_threshold(b, k=200, upper=1.0),
        horizon=1000,
    )
    assert found[1000].value == pytest.approx(test.difference)
    assert found[1000].low == pytest.approx(test.low, abs=1e-6)
    assert found[1000].high == pytest.approx(test.high, abs=1e-6)
    assert found["acd"].value == pytest.approx(a.mean() - b.mean())


def test_the_location_is_the_papers() -> None:
    x = draw(5000, 3)
    found = extremes(x)
    paper = peaks_over_threshold(x, k=50, protocol="as_published")
    assert found.location.value == pytest.approx(paper.location)
    assert found.location.low < found.location.value < found.location.high


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (np.zeros(500), "does not use it"),
        (np.full(500, 0.3), "same value, 0.3"),
        (np.repeat([0.0, 0.3], 250), "0.3"),
        (np.linspace(0, 1, 30), "at least 40 rows; this group has 30"),
        (-1e-16 * np.arange(500), "but for rounding"),
    ],
)
def test_degenerate_tails_are_named_not_fitted(values: np.ndarray, said: str) -> None:
    found = extremes(values)
    assert found.fit is None
    assert said in found.reason
    for level in found.levels.values():
        assert level.value <= found.largest
        if found.rows < 40:  # all horizons are longer than that
            assert np.isnan([level.low, level.high]).all()
        else:
            assert level.low <= level.value <= level.high or level.low == level.high


def test_a_step_of_a_stump_gives_the_levels_observed() -> None:
    values = np.repeat([0.0, 0.3], [900, 100])
    found = extremes(values)
    assert found.attained == 100
    assert {m: e.value for m, e in found.levels.items()} == dict.fromkeys(HORIZONS, 0.3)
    assert found.location.value == 0.3


def test_few_values_without_a_likelihood_maximum_are_not_fitted() -> None:
    short = 1.0 - 0.5 * np.linspace(0.0, 1.0, 80) ** 2  # shape -2: it ends abruptly
    found = extremes(0.5 * short, resamples=99)
    assert found.fit is None
    assert "no maximum" in found.reason
    assert all(np.isnan(level.high) for level in found.levels.values())  # nothing beyond is known
    many = extremes(0.5 * (1.0 - 0.5 * np.linspace(0.0, 1.0, 400) ** 2), resamples=99)
    assert many.fit is not None
    assert not many.fit.converged


def test_few_values_at_risk_have_no_interval() -> None:
    found = conditional_value_at_risk(np.arange(99.0))
    assert np.isnan([found.low, found.high]).all()
    found = conditional_value_at_risk(np.arange(100.0))
    assert found.low < found.value < found.high
    assert found == conditional_value_at_risk(np.arange(100.0))
    assert np.isnan(conditional_value_at_risk(np.arange(100.0), resamples=0).high)
    same = conditional_value_at_risk(np.ones(200))
    assert (same.low, same.value, same.high) == (1.0, 1.0, 1.0)


def test_tail_size() -> None:
    assert tail_size(97) == 24  # half of the rows, as in the paper, is not a tail
    assert tail_size(25_700) == 52
    assert tail_size(25_700, (2000,)) == 50


def test_seeds_and_no_resamples() -> None:
    x = draw(3000, 4)
    assert extremes(x, random_state=1).location == extremes(x, random_state=1).location
    assert extremes(x, random_state=1).location != extremes(x, random_state=2).location
    bare = extremes(x, resamples=0)
    assert np.isnan(bare.location.low)
    assert bare.levels[500].value == extremes(x).levels[500].value


def test_a_chosen_threshold_whose_tail_is_degenerate(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.append(np.linspace(0.0, 0.3, 397), [0.31] * 3)
    chosen = SimpleNamespace(k=20)
    assert extremes(values, resamples=0).fit is not None  # 3 of 50 are no attained maximum ...
    module = sys.modules[extremes.__module__]  # the package gives the function under its name
    monkeypatch.setattr(module, "choose_threshold", lambda x, random_state: chosen)
    found = extremes(values, k="auto", resamples=0)  # ... 3 of 20 are
    assert found.fit is None
    assert "attained by 3 of 20" in found.reason
