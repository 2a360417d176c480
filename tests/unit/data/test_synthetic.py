"""make_biased: what is said to be known is so."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from isonomy.data import BiasedTruth, make_biased
from isonomy.errors import InputError

N = 200_000


@pytest.fixture(scope="module")
def drawn() -> tuple[BiasedTruth, object]:
    truth = BiasedTruth(base_rates=(0.35, 0.55), tail_shape=-0.3, tail_probability=0.05)
    return truth, make_biased(N, truth=truth, random_state=11)


def test_base_rates_are_those_asked_for(drawn) -> None:
    truth, data = drawn
    s, y = data.s01("group"), data.y01
    for group, rate in enumerate(truth.base_rates):
        n = (s == group).sum()
        error = np.sqrt(rate * (1 - rate) / n)
        assert abs(y[s == group].mean() - rate) < 4 * error
    assert abs(s.mean() - 0.6) < 4 * np.sqrt(0.24 / N)


def test_score_is_the_probability_of_the_label(drawn) -> None:
    truth, data = drawn
    score = truth.score(data.X)
    assert score.min() >= 0
    assert score.max() <= 1
    bins = np.digitize(score, np.quantile(score, np.linspace(0, 1, 21)[1:-1]))
    for b in range(20):
        inside = bins == b
        error = np.sqrt(0.25 / inside.sum())
        assert abs(data.y01[inside].mean() - score[inside].mean()) < 4.5 * error


def test_effect_is_what_flipping_the_group_does_to_the_score(drawn) -> None:
    truth, data = drawn
    X = data.X.head(500)
    other = X.assign(group=np.where(X["group"] == "privileged", "unprivileged", "privileged"))
    np.testing.assert_allclose(truth.effect(X), truth.score(other) - truth.score(X), atol=1e-15)
    assert (np.sign(truth.effect(X)) == np.where(X["group"] == "privileged", -1, 1)).all()


def test_the_tail_is_the_generalised_pareto_law(drawn) -> None:
    truth, data = drawn
    exposure = data.X["exposure"].to_numpy()
    beyond = exposure[exposure > truth.threshold] - truth.threshold
    assert abs(len(beyond) / N - 0.05) < 4 * np.sqrt(0.05 * 0.95 / N)
    law = stats.genpareto(truth.tail_shape, scale=truth.tail_scale)
    assert stats.kstest(beyond, law.cdf).pvalue > 1e-3
    assert exposure.max() < truth.endpoint
    np.testing.assert_allclose(truth.survival(0.1), 0.05 * law.sf(0.1 - truth.threshold))
    np.testing.assert_allclose(
        truth.mean_exposure, exposure.mean(), atol=4 * exposure.std() / N**0.5
    )


def test_quantile_undoes_survival() -> None:
    truth = BiasedTruth()
    q = np.linspace(0.01, 0.999, 50)
    np.testing.assert_allclose(1 - truth.survival(truth.quantile(q)), q)
    assert truth.quantile(1.0) == pytest.approx(truth.endpoint)
    assert truth.survival(truth.endpoint + 0.1) == 0
    assert truth.survival(-1.0) == 1


def test_draws_repeat_and_leave_the_global_stream_alone() -> None:
    state = np.random.get_state()[1].copy()
    pd.testing.assert_frame_equal(make_biased(50).frame(), make_biased(50).frame())
    assert not make_biased(50).X.equals(make_biased(50, random_state=1).X)
    assert (np.random.get_state()[1] == state).all()


@pytest.mark.parametrize(
    ("law", "words"),
    [
        ({"tail_shape": 0.1}, "negative shape"),
        ({"base_rates": (0.02, 0.5)}, "leave room"),
        ({"privileged_share": 1.0}, "between 0 and 1"),
        ({"n": 1}, "n must be at least 2"),
    ],
)
def test_refusals(law: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        make_biased(**law)
