"""MirrorFair: every rule row by row, the misplaced bracket, several attributes, who is lifted."""

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from isonomy.errors import UnknownName
from isonomy.mitigators import MirrorFair
from isonomy.mitigators.mirror_fair import scenario_of


def case(seed: int = 0, n: int = 600) -> tuple[np.ndarray, np.ndarray, pd.DataFrame]:
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, 2, (n, 2)), rng.normal(size=(n, 2))])
    y = (X[:, 2] + 0.8 * X[:, 0] + 0.5 * X[:, 1] + rng.normal(0, 1, n) > 0.8).astype(int)
    return X, y, pd.DataFrame(X[:, :2], columns=["sex", "race"])


def mirrors(X: np.ndarray, y: np.ndarray, columns: list[int]) -> np.ndarray:
    """The probabilities of the model, then of a mirror for each column."""
    out = [LogisticRegression(random_state=0).fit(X, y).predict_proba(X)[:, 1]]
    for column in columns:
        moved = X.copy()
        moved[:, column] = 1 - moved[:, column]
        out.append(LogisticRegression(random_state=0).fit(moved, y).predict_proba(X)[:, 1])
    return np.array(out)


@pytest.mark.parametrize("scenario", ["shifted", "mixed", "close"])
@pytest.mark.parametrize("lift", [True, False])
@pytest.mark.parametrize("protocol", ["as_published", "corrected"])
def test_row_by_row(scenario: str, lift: bool, protocol: str) -> None:
    X, y, s = case()
    method = MirrorFair(
        LogisticRegression(random_state=0), scenario=scenario, lift=lift, protocol=protocol,
        sensitive_columns=[0],
    ).fit(X, y, sensitive_features=s["sex"])  # fmt: skip
    expected, unsure = [], 0
    for p, q, sex in zip(*mirrors(X, y, [0]), s["sex"], strict=True):
        score = (p + q) / 2
        if sex == 0 and not (min(p, q) >= 0.55 or max(p, q) < 0.45):
            unsure += 1
            if scenario == "mixed":
                score = max(p, q) if lift else min(p, q)
            elif scenario == "shifted" and not lift:
                score = min(p, q)
            elif scenario == "close" and lift:
                published = max(round(p, 1), round(q), 1)  # the bracket of the released code
                score = (
                    published
                    if protocol == "as_published"
                    else max(int(10 * v + 0.5) for v in (p, q)) / 10
                )
        expected.append(score)
    assert unsure > 20
    found = method.predict_proba(X, sensitive_features=s["sex"])[:, 1]
    np.testing.assert_allclose(found, expected, atol=1e-9)
    labels = method.predict(X, sensitive_features=s["sex"])
    np.testing.assert_array_equal(labels, np.array(expected) >= 0.5)


def test_the_bracket_changes_scores_and_no_label() -> None:
    X, y, s = case()
    base, scores, labels = LogisticRegression(random_state=0), {}, {}
    for protocol in ("as_published", "corrected"):
        method = MirrorFair(
            base, protocol=protocol, scenario="close", lift=True, sensitive_columns=[0]
        ).fit(X, y, sensitive_features=s["sex"])
        scores[protocol] = method.predict_proba(X, sensitive_features=s["sex"])[:, 1]
        labels[protocol] = method.predict(X, sensitive_features=s["sex"])
    assert (scores["as_published"] != scores["corrected"]).sum() > 20
    np.testing.assert_array_equal(labels["as_published"], labels["corrected"])


def test_several_attributes_row_by_row() -> None:
    X, y, s = case(1)
    method = MirrorFair(LogisticRegression(random_state=0), sensitive_columns=[0, 1])
    method.fit(X, y, sensitive_features=s)
    each = mirrors(X, y, [0, 1])
    low = (s == 0).all(axis=1).to_numpy()
    sure = (each >= 0.55).all(axis=0) | (each < 0.45).all(axis=0)
    expected = np.where(low & ~sure, each.max(axis=0), each.mean(axis=0))
    found = method.predict_proba(X, sensitive_features=s)[:, 1]
    np.testing.assert_allclose(found, expected, atol=1e-9)
    assert (low & ~sure).sum() > 10


def test_where_the_scenario_is_chosen() -> None:
    X, y, s = case(2)
    base = LogisticRegression(random_state=0)
    published = MirrorFair(base, protocol="as_published", sensitive_columns=[0])
    published.fit(X, y, sensitive_features=s["sex"])
    assert published.scenario_ is None  # the rows to predict decide
    found = scenario_of(mirrors(X, y, [0])[:, s["sex"] == 0])
    named = MirrorFair(base, protocol="as_published", scenario=found, sensitive_columns=[0])
    named.fit(X, y, sensitive_features=s["sex"])
    np.testing.assert_array_equal(
        published.predict_proba(X, sensitive_features=s["sex"]),
        named.predict_proba(X, sensitive_features=s["sex"]),
    )
    corrected = MirrorFair(base, sensitive_columns=[0]).fit(X, y, sensitive_features=s["sex"])
    assert corrected.scenario_ in {"shifted", "mixed", "close"}
    with pytest.raises(UnknownName, match="scenario"):
        MirrorFair(scenario="far").fit(X, y, sensitive_features=s["sex"])


@pytest.mark.parametrize(
    ("apart", "scenario"),
    [((0.01, 0.02), "close"), ((0.06, 0.07), "shifted"), ((0.01, 0.2), "mixed"), ((), "mixed")],
)
def test_scenarios(apart: tuple[float, ...], scenario: str) -> None:
    p = np.full(len(apart), 0.5)
    assert scenario_of(np.array([p, p + np.array(apart)])) == scenario


def test_the_better_off_are_not_lifted_where_they_are_the_unprivileged() -> None:
    X, y, s = case(3)
    base = LogisticRegression(random_state=0)
    worse, better = (
        MirrorFair(base, privileged=p, scenario="mixed", sensitive_columns=[0])
        .fit(X, y, sensitive_features=s["sex"])
        .predict(X, sensitive_features=s["sex"])
        for p in (1, 0)
    )
    plain = mirrors(X, y, [0]).mean(axis=0) >= 0.5
    assert worse[s["sex"] == 0].mean() > plain[s["sex"] == 0].mean()
    assert better[s["sex"] == 1].mean() < plain[s["sex"] == 1].mean()


def test_a_learner_without_probabilities_is_calibrated_twice_as_published() -> None:
    X, y, s = case(4)
    for protocol, depth in (("as_published", 2), ("corrected", 1)):
        method = MirrorFair(LinearSVC(), protocol=protocol, sensitive_columns=[0])
        method.fit(X, y, sensitive_features=s["sex"])
        inner, found = method.estimators_[1], 0
        while isinstance(inner, CalibratedClassifierCV):
            inner, found = inner.estimator, found + 1
        assert found == depth, protocol
