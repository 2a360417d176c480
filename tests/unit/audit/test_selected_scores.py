"""Scores of groups: mean differences and best shares, by hand and beside SciPy."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from isonomy.audit import audit_selections
from isonomy.stats import cohens_d


@pytest.fixture(scope="module")
def drawn() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(2)
    group = np.repeat(["a", "b"], [70, 130])
    return rng.normal(0, 1, 200) - 0.4 * (group == "a"), group


def test_mean_differences_are_those_of_all_scores(drawn: tuple[np.ndarray, np.ndarray]) -> None:
    score, group = drawn
    found = audit_selections(
        score > 0, sensitive_features={"g": group}, score=score, favorable=True, reference="b"
    )
    (row,) = found.scores.to_dict("records")
    a, b = score[group == "a"], score[group == "b"]
    assert row["smd"] == pytest.approx((a.mean() - b.mean()) / score.std(ddof=1))
    assert row["smd_pooled"] == pytest.approx(float(cohens_d(a, b, variance="pooled")))
    assert row["p_value"] == pytest.approx(stats.ttest_ind(a, b, equal_var=False).pvalue)
    assert row["low"] < row["smd"] < row["high"]


def test_whole_weights_are_repeated_means(drawn: tuple[np.ndarray, np.ndarray]) -> None:
    score, group = drawn
    weight = np.full(score.size, 3.0)
    plain, heavy = (
        audit_selections(
            score > 0, sensitive_features={"g": group}, score=score, favorable=True, sample_weight=w
        ).scores
        for w in (None, weight)
    )
    pd.testing.assert_frame_equal(plain, heavy)


def test_best_shares_by_hand() -> None:
    score = np.arange(20.0)
    group = np.array(["a", "b"] * 10)  # b holds the odd ones, which are larger
    found = audit_selections(
        score >= 10, sensitive_features={"g": group}, score=score, favorable=True
    )
    table = found.cutoffs
    assert table["percent"].unique().tolist() == list(range(10, 101, 10))
    ten = table[table["percent"] == 10]  # the best two: 19 (b) and 18 (a)
    assert ten["cut"].unique() == [18]
    assert ten["selected"].tolist() == [1, 1]
    assert ten["ratio"].tolist() == [1, 1]
    ties = audit_selections(
        score >= 10, sensitive_features={"g": group}, score=np.minimum(score, 15), favorable=True
    ).cutoffs
    assert ties["selected_share"].iloc[0] == 0.25  # five share the best score


def test_equal_scores_have_no_deviation() -> None:
    found = audit_selections(
        [1, 0] * 50, sensitive_features={"g": ["a", "a", "b", "b"] * 25}, score=np.ones(100)
    )
    (row,) = found.scores.to_dict("records")
    assert np.isnan(row["smd"])
    assert "equal" in row["reason"]
