"""The analytic maximum of logistic regression: tanh(|b|/4), anywhere and on the domain."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler

from isonomy.counterfactual import Domain, score_pairs
from isonomy.counterfactual.linear import exact_maximum


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    n = 500
    return pd.DataFrame(
        {
            "race": rng.choice(["a", "b", "c"], n),
            "job": rng.choice(["x", "y"], n),
            "pay": rng.normal(size=n),
            "hours": rng.integers(0, 50, n),
        }
    )


@pytest.fixture(scope="module")
def y(people: pd.DataFrame) -> np.ndarray:
    rng = np.random.default_rng(6)
    odds = people["pay"] + people["race"].map({"a": -1.0, "b": 0.0, "c": 0.7})
    return (rng.random(len(people)) < expit(odds)).astype(int)


def fitted(people: pd.DataFrame, y: np.ndarray):
    encode = make_column_transformer(
        (OneHotEncoder(), ["race", "job"]), (StandardScaler(), ["pay", "hours"])
    )
    return make_pipeline(encode, LogisticRegression()).fit(people, y)


def test_a_pipeline_with_scaler_and_one_hot(people: pd.DataFrame, y: np.ndarray) -> None:
    model = fitted(people, y)
    pairs = score_pairs(model, people, "race")
    found = exact_maximum(model, people, pairs, domain=Domain(people, fixed=["race"]))
    b = dict(zip("abc", model[-1].coef_[0][:3], strict=True))
    assert found is not None
    for g, name in enumerate("abc"):
        step = max(b[h] - b[name] for h in "abc" if h != name)
        assert np.isclose(found[g].step, step)
        assert np.isclose(found[g].anywhere, np.tanh(step / 4) if step > 0 else 0.0)
        assert pairs.cd[pairs.codes == g].max() <= found[g].on_domain + 1e-12
        if step > 0:
            assert found[g].on_domain <= found[g].anywhere + 1e-12


def test_the_domain_by_brute_force(people: pd.DataFrame, y: np.ndarray) -> None:
    model = fitted(people, y)
    # an intercept that keeps the whole domain away from the best place, -b/2
    model[-1].intercept_ = np.array([9.0])
    pairs = score_pairs(model, people, "race", groups=["a", "c"])
    kept = people[people["race"] != "b"]
    found = exact_maximum(model, kept, pairs, domain=Domain(kept, fixed=["race"]))
    assert found is not None
    pay = np.linspace(kept["pay"].min(), kept["pay"].max(), 60)
    hours = np.linspace(kept["hours"].min(), kept["hours"].max(), 60)
    grid = pd.MultiIndex.from_product(
        [["a", "c"], ["x", "y"], pay, hours], names=["race", "job", "pay", "hours"]
    ).to_frame(index=False)
    every = score_pairs(model, grid, "race")
    for g in (0, 1):
        assert np.isclose(every.cd[every.codes == g].max(), found[g].on_domain, atol=1e-9)
    assert found[0].on_domain < 0.5 * found[0].anywhere


def test_the_other_label_is_favourable(people: pd.DataFrame, y: np.ndarray) -> None:
    model = fitted(people, y)
    pairs = score_pairs(model, people, "race", favorable=0)
    domain = Domain(people, fixed=["race"])
    found = exact_maximum(model, people, pairs, domain=domain, favorable_at=0)
    b = model[-1].coef_[0][:3]
    assert found is not None
    assert np.isclose(found[2].step, b[2] - b[0])
    assert pairs.cd[pairs.codes == 2].max() <= found[2].on_domain + 1e-12


def test_what_is_not_linear_is_found_out(people: pd.DataFrame, y: np.ndarray) -> None:
    encode = make_column_transformer((OneHotEncoder(), ["race"]), remainder="drop")
    numbers = make_column_transformer(
        (OneHotEncoder(), ["race", "job"]), (StandardScaler(), ["pay", "hours"])
    )
    product = make_pipeline(numbers, PolynomialFeatures(2), LogisticRegression(max_iter=2000))
    product.fit(people, y)
    assert exact_maximum(product, people, score_pairs(product, people, "race")) is None
    forest = make_pipeline(encode, RandomForestClassifier(5, random_state=0)).fit(people, y)
    assert exact_maximum(forest, people, score_pairs(forest, people, "race")) is None


def test_categories_are_combined_not_bridged() -> None:
    # the log-odds of categories leave gaps: nothing may be claimed inside them
    grid = pd.MultiIndex.from_product(
        [[0, 1], [0, 1], [0, 1, 2]], names=["sex", "job", "town"]
    ).to_frame(index=False)
    people = pd.concat([grid] * 5, ignore_index=True).astype({"job": object, "town": object})
    encode = make_column_transformer(
        (OneHotEncoder(categories=[[0, 1], [0, 1, 2]]), ["job", "town"]), remainder="passthrough"
    )
    model = make_pipeline(encode, LogisticRegression()).fit(people, people["sex"])
    model[-1].coef_ = np.array([[0.0, 9.0, 0.0, 1.0, 2.5, 1.6]])
    model[-1].intercept_ = np.array([-6.0])
    pairs = score_pairs(model, people, "sex")
    found = exact_maximum(model, people, pairs, domain=Domain(people, fixed=["sex"]))
    assert found is not None
    for g in (0, 1):  # every combination was observed
        assert found[g].on_domain == pytest.approx(pairs.cd[pairs.codes == g].max(), abs=1e-12)
        assert found[g].attained
    assert found[0].on_domain < 0.8 * found[0].anywhere


def test_too_many_combinations_are_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(8)
    X = rng.integers(0, 2, (300, 9)).astype(float)
    model = LogisticRegression().fit(X, rng.random(300) < expit(X.sum(axis=1) - 4))
    pairs = score_pairs(model, X, X[:, 0], columns=[0])
    domain = Domain(X, fixed=[0])
    exact = exact_maximum(model, X, pairs, domain=domain)
    monkeypatch.setattr("isonomy.counterfactual.linear.MOST_SUMS", 8)
    bound = exact_maximum(model, X, pairs, domain=domain)
    assert exact is not None
    assert bound is not None
    for g in (0, 1):
        assert exact[g].attained
        assert not bound[g].attained
        assert pairs.cd[pairs.codes == g].max() <= exact[g].on_domain + 1e-12
        assert exact[g].on_domain <= bound[g].on_domain + 1e-12
