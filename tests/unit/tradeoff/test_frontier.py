import numpy as np
import pytest

from isonomy.errors import InputError, NotApplicable
from isonomy.metrics import Counts, get_metric
from isonomy.tradeoff import post_processing_frontier


def scored(n: int = 4000, seed: int = 0):
    rng = np.random.default_rng(seed)
    s = rng.integers(0, 2, n)
    score = np.clip(rng.beta(2, 3, n) + 0.15 * s, 0, 1)
    y = (rng.uniform(size=n) < score).astype(int)
    return y, score, s


@pytest.mark.parametrize("fairness", ["spd", "eod", "aaod"])
def test_frontier_falls_to_no_bias_and_starts_at_the_best_threshold(fairness: str) -> None:
    y, score, s = scored()
    line = post_processing_frontier(y, score, sensitive_features=s, privileged=1, fairness=fairness)
    assert line.same_rows
    assert line.bias[0] == pytest.approx(0, abs=1e-9)
    assert (np.diff(line.performance) >= -1e-9).all()
    # without a constraint each group has its most accurate threshold
    best = 0.0
    for group in (0, 1):
        cuts = np.append(np.unique(score[s == group]), 2)
        mine, labels = score[s == group], y[s == group]
        best += max(((mine >= c) == labels).sum() for c in cuts)
    assert line.performance[-1] == pytest.approx(best / y.size)


def test_no_single_pair_of_thresholds_beats_the_frontier() -> None:
    y, score, s = scored(600)
    line = post_processing_frontier(
        y, score, sensitive_features=s, privileged=1, tolerances=np.linspace(0, 1, 201)
    )
    rng = np.random.default_rng(2)
    for a, b in rng.uniform(size=(300, 2)):
        counts = Counts.from_labels(
            y, (score > np.where(s == 1, a, b)).astype(int), sensitive_features=s, privileged=1
        )
        bias = abs(get_metric("spd")(counts))
        assert get_metric("accuracy")(counts) <= line.performance_at(bias) + 6e-3  # steps of 0.005


def test_thresholds_chosen_on_other_rows() -> None:
    y, score, s = scored(seed=1)
    other = scored(seed=2)
    line = post_processing_frontier(
        y, score, sensitive_features=s, privileged=1, fit=(other[0], other[1], other[2])
    )
    flattered = post_processing_frontier(y, score, sensitive_features=s, privileged=1)
    assert not line.same_rows
    assert line.performance[-1] <= flattered.performance[-1]
    assert 0 < line.bias[0] < 0.05


def test_many_groups_and_text_labels() -> None:
    rng = np.random.default_rng(3)
    y, score, s = scored()
    race = rng.choice(["a", "b", None], s.size).astype(object)
    line = post_processing_frontier(
        np.where(y == 1, "yes", "no"),
        score,
        sensitive_features={"sex": s, "race": race},
        favorable="yes",
    )
    assert line.bias[0] == pytest.approx(0, abs=1e-9)
    assert np.isnan(line.performance_at(-0.1))
    assert line.frame().shape == (21, 4)
    assert "<table" in line._repr_html_()


def test_messages() -> None:
    y, score, s = scored(200)
    with pytest.raises(NotApplicable, match="cannot be held to"):
        post_processing_frontier(y, score, sensitive_features=s, fairness="erd")
    with pytest.raises(NotApplicable, match="performance metric of counts"):
        post_processing_frontier(y, score, sensitive_features=s, performance="spd")
    with pytest.raises(InputError, match="finite"):
        post_processing_frontier(y, score * np.nan, sensitive_features=s)
    with pytest.raises(InputError, match="same groups"):
        post_processing_frontier(y, score, sensitive_features=s, fit=(y, score, s + 3))
