"""The tail-seeking search: inside the domain, never below its start, the same for one seed."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from isonomy.counterfactual import Domain, score_pairs, seek_tail


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    n = 400
    return pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "job": rng.choice(list("abcd"), n),
            "hours": rng.integers(10, 60, n),
            "pay": rng.normal(size=n),
        }
    )


@pytest.fixture(scope="module")
def forest(people: pd.DataFrame):
    rng = np.random.default_rng(4)
    y = (people["pay"] + (people["sex"] == "m") * (people["hours"] > 35) + rng.normal(size=400)) > 0
    encode = make_column_transformer(
        (OneHotEncoder(), ["sex", "job"]), remainder="passthrough"
    )  # fmt: skip
    return make_pipeline(encode, RandomForestClassifier(20, random_state=0)).fit(people, y)


def test_never_less_than_the_start_and_inside_the_domain(people: pd.DataFrame, forest) -> None:
    found = seek_tail(forest, people, "sex", starts=4, rounds=6)
    assert (found.cd >= found.start_cd).all()
    assert found.cd.max() > found.start_cd.max()  # a forest of 20 trees has something to find
    assert Domain(people).contains(found.X).all()
    assert found.X["hours"].dtype == people["hours"].dtype
    again = score_pairs(forest, found.X, "sex")
    assert np.allclose(again.cd, found.cd)
    begun = score_pairs(forest, people, "sex").cd
    assert np.allclose(begun[found.start], found.start_cd)
    # the attribute itself is never moved by the search
    assert found.X["sex"].tolist() == people["sex"].iloc[found.start].tolist()


def test_seeds(people: pd.DataFrame, forest) -> None:
    first, second = (
        seek_tail(forest, people, "sex", starts=2, rounds=4, random_state=7) for _ in range(2)
    )
    pd.testing.assert_frame_equal(first.frame(), second.frame())
    assert first.queries == second.queries


def test_limits_are_kept(people: pd.DataFrame, forest) -> None:
    found = seek_tail(
        forest, people, "sex", starts=3, rounds=8, max_changes=1, fixed=["job"], queries=5_000
    )
    assert all(len(c) <= 1 for c in found.changes)
    assert not any("job" in c for c in found.changes)
    assert 0 < found.queries <= 5_000
    assert found.calls <= 2 * found.rounds


def test_changes_say_what_was_done(people: pd.DataFrame, forest) -> None:
    found = seek_tail(forest, people, "sex", starts=2, rounds=4)
    for i, changes in enumerate(found.changes):
        before, after = people.iloc[found.start[i]], found.X.iloc[i]
        assert {c for c in people.columns if before[c] != after[c]} == set(changes)
        for column, (old, new) in changes.items():
            assert (before[column], after[column]) == (old, new)


def test_reaches_the_analytic_maximum_of_a_logistic_regression() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": rng.integers(0, 2, 300), "z": rng.normal(3, 0.4, 300)})
    X.loc[0, "z"], X.loc[1, "z"] = -4.0, 5.0
    model = LogisticRegression()
    model.classes_, model.n_features_in_ = np.array([0, 1]), 2
    model.coef_, model.intercept_ = np.array([[1.2, 1.0]]), np.array([0.0])
    exact = np.tanh(1.2 / 4)
    begun = score_pairs(model, X.to_numpy(), {"sex": X["sex"]}, columns=0).cd.max()
    found = seek_tail(model, X.to_numpy(), {"sex": X["sex"]}, columns=0, starts=3)
    assert begun < 0.7 * exact
    assert exact - 1e-4 < found.largest(0) <= exact + 1e-12
