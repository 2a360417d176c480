"""ECD-Fair: a learner whose tails and accuracy are known by hand, and what is kept and resumed."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import GaussianNB

from isonomy.errors import InputError, NotApplicable, UnknownName
from isonomy.mitigators import EcdFair
from isonomy.mitigators._parfait import FAMILIES, family_of
from isonomy.mitigators.ecd_fair import extreme
from isonomy.models import make_model, with_scores
from isonomy.search import Choice, JsonLinesCache

TILTS = [0.2, 0.3, 0.1, 0.05, 0.0]


class Tilted(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Scores a row by its second column, plus ``tilt`` where the first is 1: nothing is learnt."""

    fits = 0

    def __init__(self, tilt: float = 0.2) -> None:
        self.tilt = tilt

    def fit(self, X: Any, y: Any) -> "Tilted":
        type(self).fits += 1
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        p = np.asarray(X)[:, 1] + self.tilt * np.asarray(X)[:, 0]
        return np.column_stack([1 - p, p])

    def predict(self, X: Any) -> np.ndarray:
        return self.classes_[(self.predict_proba(X)[:, 1] > 0.5).astype(int)]


@pytest.fixture
def rows() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels follow a tilt of 0.2; each step below it costs about a tenth of the privileged."""
    s = np.arange(2000) % 2
    x = np.tile(np.repeat(np.linspace(0.005, 0.695, 1000), 2), 1)
    y = (x + 0.2 * s > 0.5).astype(int)
    return np.column_stack([s, x]), y, s


def search(**options: Any) -> EcdFair:
    options = {"sensitive_columns": [0], "strategy": "grid", "budget": 5, **options}
    return EcdFair(Tilted(), space={"tilt": Choice(TILTS)}, **options)


@pytest.mark.parametrize("metric", ["acd", "cvar", "max", "ecd"])
def test_the_value_is_the_difference_of_the_extremes_by_hand(metric: str, rows: Any) -> None:
    """Putting a row in the other group adds the tilt to the unprivileged, takes it from others."""
    X, y, s = rows
    model = search(metric=metric, slack=1.0).fit(X, y, sensitive_features=s)
    trials = model.trials_
    assert trials["value"].tolist() == pytest.approx([0.4, 0.4, 0.6, 0.2, 0.1, 0.0])
    assert model.best_ == {"tilt": 0.0}
    assert model.reference_value_ == pytest.approx(0.4)
    assert model.value_ == pytest.approx(0.0)


def test_accuracy_decides_what_is_allowed(rows: Any) -> None:
    X, y, s = rows
    # between tilt 0.1 and 0.2 lie 0.1 / 0.69 of the privileged half: 7.2 % of all rows
    model = search(metric="acd", slack=0.08).fit(X, y, sensitive_features=s)
    assert model.best_ == {"tilt": 0.1}
    assert model.trials_["accepted"].tolist() == [True, True, True, True, False, False]
    assert math.isinf(model.trials_["value"].iloc[-1])
    assert model.accuracy_ == pytest.approx(1 - 0.1 / 0.69 / 2, abs=0.02)
    strict = search(metric="acd", slack=0.0).fit(X, y, sensitive_features=s)
    assert strict.best_ in ({}, {"tilt": 0.2})
    assert strict.value_ == strict.reference_value_


def test_the_larger_of_two_extremes_is_another_goal(rows: Any) -> None:
    """The privileged lose by the swap, so the larger extreme is the unprivileged's alone."""
    X, y, s = rows
    model = search(metric="max", compare="larger", slack=1.0).fit(X, y, sensitive_features=s)
    assert model.trials_["value"].tolist() == pytest.approx([0.2, 0.2, 0.3, 0.1, 0.05, 0.0])


def test_a_stopped_search_resumes_without_fitting_again(tmp_path: Path, rows: Any) -> None:
    X, y, s = rows
    cache = JsonLinesCache(tmp_path / "ecd.jsonl")
    first = search(metric="acd", slack=0.08, cache=cache).fit(X, y, sensitive_features=s)
    before = Tilted.fits
    again = search(metric="acd", slack=0.08, cache=JsonLinesCache(tmp_path / "ecd.jsonl"))
    again.fit(X, y, sensitive_features=s)
    assert Tilted.fits == before + 1  # the model itself is not kept, so the best one is fitted
    assert again.trials_.equals(first.trials_)
    np.testing.assert_array_equal(again.predict(X), first.predict(X))
    # another goal on the same rows is another search
    search(metric="cvar", slack=0.08, cache=JsonLinesCache(tmp_path / "ecd.jsonl")).fit(
        X, y, sensitive_features=s
    )
    assert Tilted.fits == before + 1 + 6


def test_a_cache_of_a_smaller_slack_does_not_refuse_for_a_larger_one(
    tmp_path: Path, rows: Any
) -> None:
    X, y, s = rows
    cache = JsonLinesCache(tmp_path / "ecd.jsonl")
    small = search(metric="acd", slack=0.08, cache=cache).fit(X, y, sensitive_features=s)
    assert small.best_ == {"tilt": 0.1}
    large = search(metric="acd", slack=1.0, cache=cache).fit(X, y, sensitive_features=s)
    fresh = search(metric="acd", slack=1.0).fit(X, y, sensitive_features=s)
    assert large.best_ == fresh.best_ == {"tilt": 0.0}
    assert large.trials_.equals(fresh.trials_)


def test_extremes_are_taken_from_the_rows_asked_for(rows: Any) -> None:
    """A learner that knows the rows it was fitted on treats them otherwise."""

    class Remembering(Tilted):
        def fit(self, X: Any, y: Any) -> "Remembering":
            super().fit(X, y)
            self.seen_ = set(np.asarray(X)[:, 1].tolist())
            return self

        def predict_proba(self, X: Any) -> np.ndarray:
            new = np.array([x not in self.seen_ for x in np.asarray(X)[:, 1]])
            p = np.asarray(X)[:, 1] + self.tilt * np.asarray(X)[:, 0] * np.where(new, 1.0, 0.5)
            return np.column_stack([1 - p, p])

    X, y, s = rows
    X = X + np.column_stack([np.zeros(len(X)), np.arange(len(X)) * 1e-9])  # no two rows alike
    values = {}
    for where in ("held_out", "all"):
        model = EcdFair(
            Remembering(), space={"tilt": Choice([0.2])}, metric="acd", measure_on=where,
            sensitive_columns=[0], strategy="grid", budget=1,
        ).fit(X, y, sensitive_features=s)  # fmt: skip
        values[where] = model.reference_value_
    assert values["held_out"] == pytest.approx(0.4)
    assert values["all"] == pytest.approx(0.4 * 0.25 + 0.2 * 0.75, abs=1e-3)


def test_no_time_means_the_reference_and_one_more(rows: Any) -> None:
    X, y, s = rows
    model = search(seconds=0.0, strategy="random").fit(X, y, sensitive_features=s)
    assert len(model.trials_) == 2


def test_extremes_by_hand() -> None:
    cd = np.repeat([0.0, 0.1, 0.3], [60, 35, 5])
    assert extreme(cd, "acd") == pytest.approx(0.05)
    assert extreme(cd, "cvar") == pytest.approx(0.3)
    assert extreme(cd, "max") == 0.3
    # three distinct values are no tail: the largest is all there is to say
    assert extreme(cd) == 0.3
    rng = np.random.default_rng(0)
    uniform = rng.uniform(size=20_000)
    assert extreme(uniform, horizon=1000) == pytest.approx(0.999, abs=0.0005)
    assert extreme(uniform, protocol="as_published") == pytest.approx(1.0, abs=0.003)
    with pytest.raises(UnknownName):
        extreme(cd, "min")


@pytest.mark.parametrize("name", ["lr", "svm", "rf", "dt"])
@pytest.mark.parametrize("strategy", ["random", "mutation", "guided"])
def test_every_learner_and_strategy(name: str, strategy: str) -> None:
    rng = np.random.default_rng(3)
    s = np.arange(200) % 2
    X = np.column_stack([s, rng.normal(size=(200, 2))])
    y = (X[:, 1] + 0.5 * s + rng.normal(size=200) > 0.3).astype(int)
    model = EcdFair(make_model(name), strategy=strategy, budget=4, sensitive_columns=[0])
    model.fit(X, y, sensitive_features=s)
    assert model.value_ <= model.reference_value_
    assert len(model.search_.history) == 4
    assert set(model.best_) <= set(family_of(with_scores(make_model(name))).family.corrected)


def test_a_network_has_a_space_of_our_own() -> None:
    tuned = family_of(make_model("dnn"))
    assert tuned.family.name == "dnn"
    model = tuned.configure({**tuned.family.corrected.default, "hidden": (16,), "l2": 0.01})
    assert model[-1].hidden == (16,)
    assert tuned.family.corrected.default["hidden"] == (64, 32, 16, 8, 4)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.name)
def test_every_drawn_configuration_can_be_set(family: Any) -> None:
    rng = np.random.default_rng(0)
    learner = family.learner()
    for space in (family.published, family.corrected):
        for _ in range(40):
            config = space.draw(rng)
            made = family_of(learner).configure(config)
            if hasattr(made, "_parameter_constraints"):
                made._validate_params()


def test_what_it_cannot_do_is_said(rows: Any) -> None:
    X, y, s = rows
    with pytest.raises(NotApplicable, match="space"):
        EcdFair(GaussianNB(), sensitive_columns=[0]).fit(X, y, sensitive_features=s)
    with pytest.raises(NotApplicable, match="sensitive_columns"):
        EcdFair().fit(X[:, 1:], y, sensitive_features=s)
    with pytest.raises(NotApplicable, match="belongs to several"):
        EcdFair(sensitive_columns=[0]).fit(np.round(X), y, sensitive_features=np.roll(s, 1) * y + s)
    for wrong in (
        {"metric": "median"},
        {"compare": "smaller"},
        {"measure_on": "test"},
        {"validation": 1.0},
        {"slack": -0.1},
        {"horizon": 0},
        {"strategy": "luck"},
    ):
        with pytest.raises(InputError):
            search(**wrong).fit(X, y, sensitive_features=s)


def test_equal_settings_are_fitted_once(rows: Any) -> None:
    X, y, s = rows
    options: dict[str, Any] = {
        "space": {"tilt": Choice([0.1, 0.2])},
        "strategy": "mutation",
        "budget": 12,
        "sensitive_columns": [0],
        "metric": "acd",
        "slack": 1.0,
        "random_state": 1,
    }
    Tilted.fits = 0
    once = EcdFair(Tilted(), **options).fit(X, y, sensitive_features=s)
    fits = Tilted.fits
    assert len(once.trials_) > fits == 3  # the learner as it was passed, and both settings
    Tilted.fits = 0
    every = EcdFair(Tilted(), **options, protocol="as_published").fit(X, y, sensitive_features=s)
    assert Tilted.fits == len(every.trials_)
    for trials in (once.trials_, every.trials_):
        expected = {0.1: 0.2, 0.2: 0.4}
        values = trials["tilt"].map(expected).fillna(0.4)
        np.testing.assert_allclose(trials["value"], values)
    assert once.best_ == every.best_ == {"tilt": 0.1}


def test_a_penalty_of_none_has_no_strength() -> None:
    tuned = family_of(make_model("lr"))
    weak, strong = ({"penalty": "none", "C": c, "fit_intercept": True} for c in (0.1, 10.0))
    assert tuned.settings(weak) == tuned.settings(strong)
    assert tuned.settings(weak) != tuned.settings(weak | {"penalty": "l2"})
