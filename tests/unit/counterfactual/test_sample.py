"""Tail sample search: Algorithm 1 as printed, the corrected plan, and rows inside the domain."""

import numpy as np
import pandas as pd
import pytest

from isonomy.counterfactual import Domain, tail_sample_search
from isonomy.data import make_biased
from isonomy.data.synthetic import BiasedTruth
from isonomy.errors import InputError, UnknownName

TRUTH = BiasedTruth()
GROUP = "unprivileged"


def test_coefficients_are_those_of_the_protocol() -> None:
    data = make_biased(3000)
    mine = np.sort(TRUTH.effect(data.X)[data.X["group"] == GROUP])[::-1]
    for protocol, shift in (("as_published", 0), ("corrected", 1)):
        found = tail_sample_search(
            TRUTH.score, data.X, "group", group=GROUP, protocol=protocol, synthetic=0
        )
        slow = [
            np.std(mine[:k], ddof=1) / np.mean(mine[:k] - shift * mine[k]) for k in range(10, 51)
        ]
        assert np.allclose(found.cv, slow)


def test_corrected_plan_is_fixed_beforehand() -> None:
    data = make_biased(800)
    real = int((data.X["group"] == GROUP).sum())
    found = tail_sample_search(TRUTH.score, data.X, "group", group=GROUP)
    assert found.stopped == "plan"
    assert int(found.synthetic.sum()) == 1000 - real
    assert found.rounds == 1
    assert not found.synthetic[:real].any()
    assert np.allclose(found.cd[:real], TRUTH.effect(data.X)[data.X["group"] == GROUP])
    many = tail_sample_search(TRUTH.score, make_biased(6000).X, "group", group=GROUP)
    assert not many.synthetic.any()
    asked = tail_sample_search(TRUTH.score, data.X, "group", group=GROUP, synthetic=25)
    assert int(asked.synthetic.sum()) == 25


def test_generated_rows_are_of_the_group_and_in_the_domain() -> None:
    data = make_biased(600)
    mine = data.X[data.X["group"] == GROUP]
    for generator in ("independent", "bootstrap_noise"):
        found = tail_sample_search(
            TRUTH.score, data.X, "group", group=GROUP, generator=generator
        )  # fmt: skip
        assert (found.X["group"] == GROUP).all()
        assert Domain(mine, fixed=["group"]).contains(found.X).all()
        assert found.X["region"].dtype == data.X["region"].dtype
        assert np.allclose(found.cd, TRUTH.effect(found.X))
        assert 0 <= found.synthetic_extremes() <= 50
        assert found.generator in found.sentence()


def test_arrays_with_one_hot_columns() -> None:
    rng = np.random.default_rng(2)
    n = 300
    s = rng.integers(0, 2, n)
    X = np.column_stack([s, np.eye(3)[rng.integers(3, size=n)], rng.normal(size=n)])
    found = tail_sample_search(
        lambda X: 0.5 + 0.1 * X[:, 0] * X[:, 2], X, {"s": s}, group=0, columns=0,
        one_hot=[[1, 2, 3]],
    )  # fmt: skip
    assert np.array_equal(found.X[:, 1:4].sum(axis=1), np.ones(len(found.X)))
    assert (found.X[:, 0] == 0).all()


def test_as_published_stops_at_once_where_the_test_passes() -> None:
    data = make_biased(3000)
    found = tail_sample_search(
        TRUTH.score, data.X, "group", group=GROUP, protocol="as_published"
    )  # fmt: skip
    assert (found.stopped, found.rounds, found.passed) == ("passed", 0, True)


def test_as_published_goes_on_in_steps_of_m_and_times_out() -> None:
    X = pd.DataFrame({"sex": ["f", "m"] * 100, "z": np.linspace(0, 1, 200)})
    top = X["z"].iloc[-2]

    def one_in_all(X: pd.DataFrame) -> np.ndarray:
        return np.where((X["z"] == top) & (X["sex"] == "m"), 0.9, 0.5)

    found = tail_sample_search(
        one_in_all, X, "sex", group="f", protocol="as_published", m=7, timeout=0.3
    )  # fmt: skip
    assert found.stopped == "timeout"
    assert not found.passed
    assert int(found.synthetic.sum()) == 7 * found.rounds > 0


def test_as_published_fills_up_a_group_of_fewer_than_k_max() -> None:
    data = make_biased(90)
    found = tail_sample_search(
        TRUTH.score, data.X, "group", group=GROUP, protocol="as_published", m=40
    )  # fmt: skip
    assert found.rounds >= 1
    assert found.passed
    assert not found.passed_real


def test_seeds_and_errors() -> None:
    data = make_biased(300)
    a, b, c = (
        tail_sample_search(TRUTH.score, data.X, "group", group=GROUP, random_state=s).cd
        for s in (1, 1, 2)
    )
    assert np.array_equal(a, b)
    assert not np.array_equal(a, c)
    with pytest.raises(UnknownName, match="protocol"):
        tail_sample_search(TRUTH.score, data.X, "group", group=GROUP, protocol="printed")
    with pytest.raises(UnknownName, match="group"):
        tail_sample_search(TRUTH.score, data.X, "group", group="unprivilegedd")
    with pytest.raises(InputError, match="k_min"):
        tail_sample_search(TRUTH.score, data.X, "group", group=GROUP, k_min=60)
