"""Win, tie and loss: by hand and pair by pair with SciPy."""

import numpy as np
import pytest
from scipy import stats as scipy_stats

from isonomy.errors import InputError
from isonomy.stats import win_tie_loss


def test_plain_numbers_by_hand() -> None:
    values = [[3.0, 2.0, 2.0], [1.0, 5.0, np.nan], [4.0, 4.0, 1.0]]
    found = win_tie_loss(values, labels="abc", test=None)
    assert found.wins.tolist() == [[0, 1, 2], [1, 0, 1], [0, 0, 0]]
    assert found.ties.tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    assert found.undefined.tolist() == [[0, 0, 1], [0, 0, 1], [1, 1, 0]]
    assert (found.wins + found.losses + found.ties + found.undefined)[0, 1] == 3
    table = found.frame()
    assert table["treatment"].tolist() == ["a", "b", "c"]
    assert table["win"].tolist() == [3, 2, 0]
    beside = found.frame(reference="c")
    assert beside[["treatment", "win", "tie", "loss"]].to_numpy().tolist() == [
        ["a", 2, 0, 0],
        ["b", 1, 1, 0],
    ]


def test_equal_infinities_tie() -> None:
    found = win_tie_loss([[np.inf, np.inf], [np.inf, 1.0]], labels="ab", test=None)
    assert found.ties.tolist() == [[0, 1], [1, 0]]
    assert found.wins.tolist() == [[0, 1], [0, 0]]


def test_smaller_may_win() -> None:
    ranks = [[1, 2], [1, 1], [2, 1], [1, 3]]
    found = win_tie_loss(ranks, labels=["new", "old"], test=None, larger_is_better=False)
    assert found.frame(reference="old").to_dict("records") == [
        {"treatment": "new", "win": 2, "tie": 1, "loss": 1, "undefined": 0}
    ]


@pytest.mark.parametrize("test", ["mann_whitney", "wilcoxon"])
@pytest.mark.parametrize("negligible", [0.0, 0.3])
def test_significant_wins_equal_scipy(test: str, negligible: float) -> None:
    rng = np.random.default_rng(2)
    values = rng.normal(size=(6, 4, 20)) + 0.5 * np.arange(4)[None, :, None]
    found = win_tie_loss(values, test=test, negligible=negligible)
    for i in range(4):
        for j in range(4):
            wins = 0
            for block in values:
                a, b = block[i], block[j]
                if i == j:
                    continue
                call = scipy_stats.mannwhitneyu if test == "mann_whitney" else scipy_stats.wilcoxon
                delta = np.sign(a[:, None] - b).mean()
                up = (
                    delta > 0
                    if test == "mann_whitney"
                    else scipy_stats.wilcoxon(a, b, alternative="greater").pvalue < 0.5
                )
                wins += bool(call(a, b).pvalue < 0.05 and abs(delta) >= negligible and up)
            assert found.wins[i, j] == wins
    assert 0 < found.wins.sum() < 6 * 6


def test_adjusting_makes_wins_rarer_never_reversed() -> None:
    values = np.random.default_rng(5).normal(size=(20, 5, 12)) + 0.4 * np.arange(5)[:, None]
    plain = win_tie_loss(values)
    for adjust in ("holm", "benjamini_hochberg"):
        strict = win_tie_loss(values, adjust=adjust)
        assert (strict.wins <= plain.wins).all()
        assert strict.wins.sum() < plain.wins.sum()
        assert adjust in strict.rule
    assert "<table" in plain._repr_html_()


def test_undefined_runs_are_counted_apart() -> None:
    values = np.random.default_rng(1).normal(size=(3, 2, 9))
    values[1, 0, 4] = np.nan
    found = win_tie_loss(values)
    assert found.undefined.tolist() == [[0, 1], [1, 0]]


def test_what_cannot_be_used() -> None:
    with pytest.raises(InputError, match="blocks, treatments, runs"):
        win_tie_loss(np.ones((2, 3)))
    with pytest.raises(InputError, match=r"\(blocks, treatments\) here"):
        win_tie_loss(np.ones((2, 3, 4)), test=None)
    with pytest.raises(InputError, match="no treatment 'd'"):
        win_tie_loss(np.ones((2, 3)), labels="abc", test=None).frame("d")
    with pytest.raises(InputError, match="no test"):
        win_tie_loss(np.ones((2, 3, 4)), test="t")
