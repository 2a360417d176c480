"""The report: known tails, exact maxima, calls, intersections, degenerate models, plain data."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from isonomy.counterfactual import tail
from isonomy.data import make_biased
from isonomy.data.synthetic import BiasedTruth
from isonomy.errors import InputError, UnknownName

TRUTH = BiasedTruth()


class Counting:
    """A model that counts how often it is asked."""

    def __init__(self, model) -> None:
        self.model, self.calls, self.classes_ = model, 0, model.classes_

    def predict_proba(self, X):
        self.calls += 1
        return self.model.predict_proba(X)


@pytest.fixture(scope="module")
def biased():
    return make_biased(12_000, random_state=3)


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    n = 2000
    return pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "race": rng.choice(["a", "b", "c"], n),
            "skill": rng.normal(size=n),
            "role": rng.choice(["wife", "husband", "single"], n),
        }
    )


@pytest.fixture(scope="module")
def logistic(people: pd.DataFrame):
    rng = np.random.default_rng(1)
    odds = people["skill"] + 0.8 * (people["sex"] == "m") + 0.6 * (people["race"] == "a")
    y = np.where(rng.random(len(people)) < 1 / (1 + np.exp(-odds)), "yes", "no")
    encode = make_column_transformer(
        (OneHotEncoder(), ["sex", "race", "role"]), (StandardScaler(), ["skill"])
    )
    return make_pipeline(encode, LogisticRegression()).fit(people, y)


def test_the_known_tail_of_make_biased(biased) -> None:
    report = tail(TRUTH.score, biased.X, "group", privileged="privileged", k=400)
    assert np.allclose(report.cd, TRUTH.effect(biased.X))
    low = report.group("unprivileged").extremes
    assert low.acd.low < TRUTH.mean_exposure < low.acd.high
    for m in (500, 1000, 2000):
        assert low.levels[m].low < TRUTH.quantile(1 - 1 / m) < low.levels[m].high
    assert low.largest < TRUTH.endpoint
    gap = report.differences["unprivileged"]["acd"]
    assert gap.low < 2 * TRUTH.mean_exposure < gap.high
    high = report.group("privileged").extremes
    assert high.largest <= 0
    assert any("No member of privileged is disadvantaged" in note for note in report.notes)


def test_at_most_three_calls(people: pd.DataFrame, logistic) -> None:
    for attribute in ("sex", "race", ["sex", "race"]):
        model = Counting(logistic)
        report = tail(model, people, attribute, favorable="yes", resamples=0)
        assert model.calls == report.calls <= 3


def test_the_exact_maximum_bounds_what_is_observed(people: pd.DataFrame, logistic) -> None:
    report = tail(logistic, people, "sex", favorable="yes")
    coef = logistic[-1].coef_[0]
    women, men = report.groups
    assert women.exact is not None
    assert women.exact.anywhere == pytest.approx(np.tanh((coef[1] - coef[0]) / 4))
    assert women.extremes.largest <= women.exact.on_domain + 1e-12
    assert women.extremes.largest == pytest.approx(women.exact.anywhere, abs=1e-3)
    assert men.exact is not None
    assert men.exact.anywhere == 0.0
    assert men.extremes.largest < 0


def test_no_level_passes_the_exact_maximum() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": rng.integers(0, 2, 800), "skill": rng.gamma(2, 0.8, 800)})
    odds = X["skill"] + 1.5 * X["sex"] - 3
    y = (rng.random(800) < 1 / (1 + np.exp(-odds))).astype(int)
    model = LogisticRegression().fit(X, y)
    report = tail(model, X, "sex", resamples=100)
    for part in report.groups:
        assert part.exact is not None
        for level in part.extremes.levels.values():
            assert level.value <= level.high <= part.exact.anywhere + 1e-9
    assert report.groups[1].exact.anywhere == 0
    assert any("levels of 1, or their limits, are cut off at its exact" in n for n in report.notes)


def test_several_groups_and_intersections(people: pd.DataFrame, logistic) -> None:
    report = tail(
        logistic,
        people,
        ["sex", "race"],
        favorable="yes",
        privileged={"sex": "m", "race": "a"},
        resamples=0,
    )
    assert [g.name for g in report.groups] == [
        "f & a", "f & b", "f & c", "m & a", "m & b", "m & c",
    ]  # fmt: skip
    assert [g.privileged for g in report.groups].index(True) == 3
    assert set(report.differences) == {g.group for g in report.groups if not g.privileged}
    # nobody gains by leaving the group that the model scores highest
    best = report.group(("m", "a")).extremes
    assert best.largest < 0
    one = tail(
        logistic, people, "race", favorable="yes", groups=["a", "b"], privileged="a", resamples=0
    )
    assert len(one.groups) == 2
    assert one.rows.size == people["race"].isin(["a", "b"]).sum()
    assert any("left out" in note for note in one.notes)


def test_against_one_group(people: pd.DataFrame, logistic) -> None:
    best = tail(logistic, people, "race", favorable="yes", resamples=0)
    one = tail(logistic, people, "race", favorable="yes", against="b", resamples=0)
    mine = (people["race"] == "c").to_numpy()
    assert (one.cd[mine] <= best.cd[mine] + 1e-12).all()
    assert not np.allclose(one.cd[mine], best.cd[mine])


def test_companions(people: pd.DataFrame, logistic) -> None:
    rules = {"role": {"m": {"wife": "husband"}, "f": {"husband": "wife"}}}
    alone = tail(logistic, people, "sex", favorable="yes", resamples=0)
    together = tail(logistic, people, "sex", favorable="yes", companions=rules, resamples=0)
    single = (people["role"] == "single").to_numpy()
    assert np.allclose(alone.cd[single], together.cd[single])
    assert not np.allclose(alone.cd[~single], together.cd[~single])
    # the step is no longer one constant, so there is no one analytic maximum
    assert together.groups[0].exact is None


def test_worst_individuals(people: pd.DataFrame, logistic) -> None:
    report = tail(logistic, people, "sex", favorable="yes", worst=5)
    first = report.worst.iloc[0]
    assert len(report.worst) == 5
    assert first["cd"] == report.cd.max()
    assert first["cd"] == pytest.approx(first["counterfactual_score"] - first["score"])
    row = people.iloc[[first["row"]]]
    assert logistic.predict_proba(row)[0, 1] == pytest.approx(first["score"])
    assert first["skill"] == row["skill"].iloc[0]


def test_what_matters_most_is_said_in_words(people: pd.DataFrame, logistic) -> None:
    report = tail(logistic, people, "sex", privileged="m", favorable="yes")
    woman = report.group("f").extremes
    level = woman.levels[1000]
    (sentence,) = report.sentences()
    assert sentence == (
        f"On average, belonging to f costs a person {woman.acd.value:.3f} of the score; at worst "
        f"{woman.largest:.3f} in these {woman.rows:,} rows, and {level.value:.3f} ({level.low:.3f} "
        f"to {level.high:.3f}) is to be expected once in 1,000 people."
    )


def test_a_group_that_is_a_code_is_named_with_its_attribute() -> None:
    X = pd.DataFrame({"female": [0, 1] * 300, "skill": np.linspace(0.2, 0.8, 600)})
    report = tail(lambda X: X["skill"] - 0.1 * X["female"] * X["skill"], X, "female")
    assert report.sentences()[0].startswith("On average, belonging to female = 1 costs")


def test_flip_rate(people: pd.DataFrame, logistic) -> None:
    report = tail(logistic, people, "sex", favorable="yes")
    other = people.assign(sex=np.where(people["sex"] == "m", "f", "m"))
    changed = logistic.predict(people) != logistic.predict(other)
    for g in report.groups:
        assert g.flip_rate.value == pytest.approx(changed[people["sex"] == g.group].mean())


def test_a_constant_model_gets_a_sentence(people: pd.DataFrame) -> None:
    y = (people["skill"] > 0).astype(int)
    model = DummyClassifier(strategy="prior").fit(people, y)
    report = tail(model, people, "sex")
    for g in report.groups:
        assert g.extremes.fit is None
        assert g.tail == "none fitted"
        assert "gives every row the score" in g.sentence


def test_a_stump_gets_a_sentence(people: pd.DataFrame) -> None:
    numbers = people.assign(sex=(people["sex"] == "m") * 1)[["sex", "skill"]]
    y = numbers["sex"] ^ (np.random.default_rng(2).random(len(numbers)) < 0.2)
    model = DecisionTreeClassifier(max_depth=1).fit(numbers, y)
    report = tail(model, numbers, "sex")
    women, men = report.groups
    assert women.extremes.fit is None
    assert "same value" in women.sentence
    assert women.extremes.attained == women.extremes.rows
    assert women.extremes.levels[1000].value == women.extremes.largest > 0
    assert men.extremes.largest < 0


def test_a_model_that_does_not_use_the_attribute(people: pd.DataFrame) -> None:
    report = tail(
        lambda X: 1 / (1 + np.exp(-X["skill"])), people, "sex"
    )  # fmt: skip
    assert all("does not use it" in g.sentence for g in report.groups)


def test_mitigators_are_asked_as_they_are_used() -> None:
    from isonomy.data import make_splits, prepare
    from isonomy.mitigators import make_mitigator
    from isonomy.models import make_model

    data = make_biased(2000)
    ready = prepare(data, attribute="group", split=make_splits(data)[0])
    place = ready.sensitive_column
    s = {"group": ready.s_test}
    for name in ("suppression", "equalized_odds"):
        method = make_mitigator(
            name, make_model("lr"), privileged=1, favorable=1, sensitive_columns=place
        )
        method.fit(ready.X_train, ready.y_train, sensitive_features={"group": ready.s_train})
        report = tail(
            method, ready.X_test, s, columns=place, resamples=0
        )  # fmt: skip
        told = {"sensitive_features": s} if method.needs_sensitive_at_predict else {}
        asis = method.predict_proba(ready.X_test, **told)[:, 1]
        other = {"sensitive_features": {"group": 1 - ready.s_test}} if told else {}
        flipped = method.predict_proba(ready.flipped(ready.X_test), **other)[:, 1]
        assert np.allclose(report.cd, flipped - asis)
        # one method does not see the attribute at all, the other sees nothing else but the score
        assert (np.abs(report.cd).max() == 0) == (name == "suppression")


def test_one_row_and_few_rows() -> None:
    X = pd.DataFrame({"s": ["a"] + ["b"] * 60, "z": np.linspace(0, 1, 61)})
    report = tail(
        lambda X: 0.3 * X["z"] + 0.2 * X["z"] * (X["s"] == "a"), X, "s"
    )  # fmt: skip
    alone = report.group("a")
    assert "this group has 1" in alone.sentence
    level = alone.extremes.levels[2000]
    assert level.value == alone.extremes.largest
    assert np.isnan([level.low, level.high]).all()  # one row says nothing of one in 2,000
    assert any("not supported for a" in note for note in report.notes)
    # 15 evenly spaced values: their likelihood has no maximum, and they are too few to show an end
    assert report.group("b").extremes.fit is None
    assert "no maximum" in report.group("b").sentence
    json.dumps(report.to_dict(), allow_nan=False)


def test_frame_plain_data_and_html(people: pd.DataFrame, logistic) -> None:
    report = tail(logistic, people, "sex", favorable="yes")
    frame = report.frame()
    assert frame["group"].tolist() == ["f", "m"]
    assert frame["acd"].tolist() == [g.extremes.acd.value for g in report.groups]
    assert {"level_500", "level_500_low", "ecd", "exact", "largest", "tail"} <= set(frame.columns)
    text = json.dumps(report.to_dict(), allow_nan=False)
    assert json.loads(text)["groups"][0]["ecd"] == frame["ecd"].iloc[0]
    assert "<table" in report._repr_html_()
    assert "EcdReport('sex'" in repr(report)


def test_errors(people: pd.DataFrame, logistic) -> None:
    with pytest.raises(UnknownName, match="did you mean 'sex'"):
        tail(logistic, people, "sx", favorable="yes")
    with pytest.raises(InputError, match="Some groups must be privileged"):
        tail(logistic, people, "sex", favorable="yes", privileged=["f", "m"])
    with pytest.raises(InputError, match="Horizons"):
        tail(logistic, people, "sex", favorable="yes", horizons=[])


def test_the_label_change_shown_is_that_of_the_group_shown() -> None:
    """A third group turns the decision around, but is not the one that would serve best."""
    X = pd.DataFrame({"race": list("abc") * 20, "skill": np.linspace(0.0, 0.02, 60)})
    shift = {"a": 0.55, "b": 0.7, "c": 0.3}
    report = tail(
        lambda X: X["race"].map(shift).to_numpy() + X["skill"].to_numpy(), X, "race", resamples=0,
        worst=60,
    )  # fmt: skip
    of_a = report.worst[report.worst["group"] == "a"]
    assert (of_a["counterfactual"] == "b").all()
    assert not of_a["label_changes"].any()
    assert report.group("a").flip_rate.value == 1.0  # some other group would change it
    assert report.worst.loc[report.worst["group"] == "c", "label_changes"].all()
