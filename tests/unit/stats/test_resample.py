"""Bootstrap intervals against SciPy draw by draw, and where they are undefined."""

import warnings

import numpy as np
import pytest
from scipy import stats as scipy_stats

from isonomy.errors import InputError
from isonomy.stats import bootstrap, bootstrap_difference


def difference(x, y, axis):
    return x.mean(axis=axis) - y.mean(axis=axis)


@pytest.mark.parametrize("method", ["percentile", "basic", "bca"])
@pytest.mark.parametrize("statistic", ["mean", "median"])
def test_one_sample_equals_scipy(method: str, statistic: str) -> None:
    x = np.random.default_rng(3).exponential(size=(5, 31))
    ours = bootstrap(x, statistic, method=method, resamples=800, random_state=9)
    expected = scipy_stats.bootstrap(
        (x,),
        getattr(np, statistic),
        n_resamples=800,
        axis=-1,
        method=method,
        rng=np.random.default_rng(9),
    )
    np.testing.assert_allclose(ours.low, expected.confidence_interval.low, rtol=1e-10)
    np.testing.assert_allclose(ours.high, expected.confidence_interval.high, rtol=1e-10)
    np.testing.assert_allclose(ours.standard_error, expected.standard_error, rtol=1e-10)
    assert not ours.reason.any()


@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("named", [True, False])
def test_differences_equal_scipy(method: str, paired: bool, named: bool) -> None:
    rng = np.random.default_rng(4)
    a, b = rng.exponential(size=(4, 25)), rng.normal(size=(4, 25 if paired else 18))
    ours = bootstrap_difference(
        a,
        b,
        "mean" if named else np.mean,
        paired=paired,
        method=method,
        resamples=600,
        random_state=1,
    )
    expected = scipy_stats.bootstrap(
        (a, b),
        difference,
        n_resamples=600,
        axis=-1,
        paired=paired,
        method=method,
        rng=np.random.default_rng(1),
    )
    np.testing.assert_allclose(ours.low, expected.confidence_interval.low, rtol=1e-9)
    np.testing.assert_allclose(ours.high, expected.confidence_interval.high, rtol=1e-9)
    np.testing.assert_allclose(ours.estimate, a.mean(-1) - b.mean(-1))


def test_studentized_by_its_definition() -> None:
    x = np.random.default_rng(0).exponential(size=15)
    ours = bootstrap(x, method="studentized", resamples=500, random_state=2)
    place = np.random.default_rng(2).integers(0, 15, size=(500, 15))
    drawn = x[place]
    t = (drawn.mean(1) - x.mean()) / (drawn.std(1, ddof=1) / np.sqrt(15))
    error = x.std(ddof=1) / np.sqrt(15)
    assert ours.low == pytest.approx(x.mean() - error * np.quantile(t, 0.975))
    assert ours.high == pytest.approx(x.mean() - error * np.quantile(t, 0.025))


def test_studentized_difference_by_its_definition() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.exponential(size=12), rng.normal(size=9)
    ours = bootstrap_difference(
        a, b, paired=False, method="studentized", resamples=400, random_state=2
    )
    draw = np.random.default_rng(2)
    p, q = a[draw.integers(0, 12, size=(400, 12))], b[draw.integers(0, 9, size=(400, 9))]
    errors = np.sqrt(p.var(1, ddof=1) / 12 + q.var(1, ddof=1) / 9)
    t = (p.mean(1) - q.mean(1) - (a.mean() - b.mean())) / errors
    error = np.sqrt(a.var(ddof=1) / 12 + b.var(ddof=1) / 9)
    assert ours.low == pytest.approx(a.mean() - b.mean() - error * np.quantile(t, 0.975))


def test_chunks_do_not_change_a_paired_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.random.default_rng(1).normal(size=(3, 20))
    whole = [bootstrap(x, s, resamples=300) for s in ("mean", "median")]
    monkeypatch.setattr("isonomy.stats.resample._CELLS", 1000)
    for one, s in zip(whole, ("mean", "median"), strict=True):
        again = bootstrap(x, s, resamples=300)
        np.testing.assert_allclose(again.low, one.low)


def test_pairs_cancel_what_they_share() -> None:
    rng = np.random.default_rng(6)
    split = rng.normal(0, 5, 30)
    a, b = split + rng.normal(0.5, 0.1, 30), split + rng.normal(0, 0.1, 30)
    paired, apart = (bootstrap_difference(a, b, paired=p) for p in (True, False))
    assert paired.low > 0
    assert apart.low < 0 < apart.high


def test_holes_and_constants() -> None:
    x = np.random.default_rng(2).normal(size=(4, 12))
    x[1, 3] = np.nan
    x[2] = 0.5
    x[3, 1:] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = bootstrap(x)
        left = bootstrap(x, nan="omit")
    assert found.reason.tolist() == [
        "",
        "a value is NaN",
        "the resamples do not vary",
        "a value is NaN",
    ]
    assert left.reason[3] == "fewer than two values are left"
    alone = bootstrap(np.delete(x[1], 3))
    assert left.low[1] == pytest.approx(float(alone.low))
    assert np.isnan(found.low[1])
    assert bootstrap(x[2], method="percentile").low == 0.5
    paired = bootstrap_difference(x[0], x[1], paired=True, nan="omit")
    expected = bootstrap(np.delete(x[0] - x[1], 3))
    assert paired.high == pytest.approx(float(expected.high))


def test_infinite_values_have_no_interval_of_their_mean() -> None:
    x = np.array([1.0, 2.0, np.inf, 4.0, 5.0])
    for method in ("percentile", "bca", "studentized"):
        found = bootstrap(x, method=method, resamples=200)
        assert found.estimate == np.inf
        assert np.isnan(found.low)
        assert found.reason == "the statistic is infinite"
    assert bootstrap(x, "median", method="percentile", resamples=200).low < 5


def test_a_statistic_of_ones_own() -> None:
    x = np.random.default_rng(8).normal(size=(2, 3, 40))
    found = bootstrap(x, lambda v, axis: np.std(v, axis=axis, ddof=1), resamples=400)
    assert found.low.shape == (2, 3)
    assert ((found.low < found.estimate) & (found.estimate < found.high)).all()


def test_what_cannot_be_used() -> None:
    with pytest.raises(InputError, match="two values or more"):
        bootstrap([1.0])
    with pytest.raises(InputError, match="one length"):
        bootstrap_difference([1.0, 2.0], [1.0, 2.0, 3.0], paired=True)
    with pytest.raises(InputError, match="standard error"):
        bootstrap([1.0, 2.0], "median", method="studentized")
    with pytest.raises(InputError, match="at least 100; got"):
        bootstrap([1.0, 2.0], resamples=10)
    with pytest.raises(InputError, match="bootstrap method"):
        bootstrap([1.0, 2.0], method="bc")
