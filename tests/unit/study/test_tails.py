"""What a trial measures of tails, against the same done by hand."""

from dataclasses import replace

import numpy as np
import pytest

from isonomy.counterfactual import tail_sample_search
from isonomy.counterfactual.extremes import extremes
from isonomy.data import load, make_splits, prepare
from isonomy.errors import UnknownName
from isonomy.mitigators import Reweighing
from isonomy.models import make_model
from isonomy.papers.monjezi_2025.cases import type_by_limits
from isonomy.study import Study, Trial, keys, run_trial
from isonomy.study.generated import one_hot_columns
from isonomy.study.tails import HORIZONS, SIDES, side_metrics, tail_metrics
from isonomy.tails import gpd_quantile

NAME = "synthetic(n=1500)"


@pytest.fixture(scope="module")
def study() -> Study:
    return Study(
        "demo",
        [f"{NAME}/group"],
        ["lr", "svm"],
        ["unmitigated", "reweighing"],
        preparation="evt",
        splitter="evt",
        recipe="evt",
        tails=True,
    )


def test_differences_are_unprivileged_less_privileged() -> None:
    rng = np.random.default_rng(0)
    high, low = rng.normal(0.1, 0.02, 3000), rng.normal(0.0, 0.02, 800)
    told = tail_metrics(low, high)
    assert told["acd"] == pytest.approx(high.mean() - low.mean())
    assert told["cd_max_unprivileged"] == high.max()
    assert told["cd_rows_privileged"] == 800
    assert told["ecd"] == told["gev_location_unprivileged"] - told["gev_location_privileged"]
    assert told["ecd_1000"] == told["level_1000_unprivileged"] - told["level_1000_privileged"]
    assert told["ecd_1000"] == pytest.approx(0.1, abs=0.02)
    assert told["tail_threshold_unprivileged"] == np.sort(high)[-51]
    assert {name.rsplit("_", 1)[1] for name in told if name[:3] in ("gev", "gpd", "lev")} == {
        *SIDES
    }


def test_a_group_whose_values_are_steps_has_no_law_but_a_location() -> None:
    steps = np.repeat([0.0, 0.2, 0.4], [900, 30, 20])
    told = side_metrics(steps)
    assert np.isnan([told["gev_shape"], told["gpd_shape"], told["gpd_low"]]).all()
    assert told["tail_distinct"] == 2
    # 18.4 of the 50 largest lie below the location: still the lower step
    assert told["gev_location"] == 0.2
    assert [told[f"level_{m}"] for m in HORIZONS] == [0.4, 0.4, 0.4]


def test_a_trial_measures_what_a_model_says_of_all_rows_and_their_counterfactuals(
    study: Study,
) -> None:
    records = {(r.model, r.mitigator): r for r in run_trial(study, Trial(NAME, "group", 0))}
    assert {r.status for r in records.values()} == {"ok"}
    data = load(NAME)
    split = make_splits(data, 1, 0, splitter="evt")[0]
    ready = prepare(data, "evt", attribute="group", split=split)
    parts = [ready.train, ready.validation, ready.test]
    X = np.concatenate([p.X for p in parts])
    s = np.concatenate([p.s for p in parts])
    assert len(X) == len(data)
    fitted = {
        "unmitigated": make_model("lr", "evt").fit(ready.X_train, ready.y_train),
        "reweighing": Reweighing(make_model("lr", "evt"), privileged=1, favorable=1).fit(
            ready.X_train, ready.y_train, sensitive_features=ready.s_train
        ),
    }
    for name, model in fitted.items():
        cd = model.predict_proba(ready.flipped(X))[:, 1] - model.predict_proba(X)[:, 1]
        by_hand = extremes(cd[s == 0], resamples=0)
        metrics = records["lr", name].metrics
        assert metrics["cd_mean_unprivileged"] == pytest.approx(by_hand.acd.value, abs=1e-9)
        assert metrics["level_1000_unprivileged"] == pytest.approx(by_hand.levels[1000].value)
        accuracy = np.mean(model.predict(ready.X_test) == ready.y_test)
        assert metrics["accuracy"] == pytest.approx(accuracy)


def test_tails_are_another_key_and_travel_with_the_file(study: Study) -> None:
    trial = Trial(NAME, "group", 0)
    assert not keys(study, trial).keys() & keys(study.with_(tails=False), trial).keys()
    assert Study.from_toml(study.toml()) == study


def test_joined_splits_have_the_same_test_rows() -> None:
    data = load(NAME)
    apart = make_splits(data, 3, 5, splitter="evt")
    joined = make_splits(data, 3, 5, splitter="evt_joined")
    for a, b in zip(apart, joined, strict=True):
        np.testing.assert_array_equal(a.test, b.test)
        np.testing.assert_array_equal(np.concatenate([a.train, a.validation]), b.train)
        assert b.validation is None


@pytest.mark.parametrize(("shape", "kind"), [(0.0, "I"), (0.4, "II"), (-0.5, "III")])
def test_the_type_of_a_bounded_tail_is_what_its_values_say(shape: float, kind: str) -> None:
    values = gpd_quantile((np.arange(3000) + 0.5) / 3000, 0.01, shape)
    told = side_metrics(values)
    assert told["gpd_shape"] == pytest.approx(shape, abs=0.1)  # fitted without the bound
    assert type_by_limits(told["gpd_low"], told["gpd_high"]) == kind


def test_a_mixture_is_measured_by_its_votes_and_by_the_mean_of_probabilities() -> None:
    plain = Study(
        "demo",
        [f"{NAME}/group"],
        ["lr"],
        ["unmitigated", "minimax(rounds=4)", "minimax(rounds=4, scores=probabilities)"],
        preparation="evt",
        splitter="evt",
        recipe="evt",
        tails=True,
    )
    original, votes, soft = (
        r.metrics for r in run_trial(plain, Trial(NAME, "group", 0), only=None)
    )
    assert "averaged_ecd" not in original
    assert "averaged_ecd" not in soft
    for name in ("ecd", "ecd_1000", "acd", "cd_max_unprivileged"):
        assert votes[f"averaged_{name}"] == pytest.approx(soft[name], abs=1e-12)
    assert votes["cd_max_unprivileged"] > votes["averaged_cd_max_unprivileged"]
    assert votes["accuracy"] == soft["accuracy"]


def test_small_groups_are_given_rows_by_the_test_or_by_the_plan(study: Study) -> None:
    """600 rows: the unprivileged are fewer than 1,000, and their real values pass the test."""
    name = "synthetic(n=600)"
    small = study.with_(
        tasks=[f"{name}/group"],
        models=["lr"],
        methods=["unmitigated"],
        tail_generator="independent",
    )
    [record] = run_trial(small, Trial(name, "group", 0))
    told = record.metrics
    rows = told["cd_rows_unprivileged"]
    assert told["searched_rows_unprivileged"] == 0
    assert "searched_ecd" not in told
    assert told["planned_rows_unprivileged"] == 1000 - rows
    assert told["planned_cd_rows_unprivileged"] == 1000
    assert told["planned_cd_max_unprivileged"] >= told["cd_max_unprivileged"]
    assert 0 < told["planned_extremes_unprivileged"] <= 50
    assert (
        keys(small, Trial(name, "group", 0))
        .keys()
        .isdisjoint(keys(small.with_(tail_generator=""), Trial(name, "group", 0)))
    )
    assert Study.from_toml(small.toml()) == small
    with pytest.raises(UnknownName):
        small.with_(tail_generator="gan")


def test_algorithm_one_adds_rows_until_the_test_passes() -> None:
    """One value of 0.4 among zeros: the coefficient of variation is far above 1."""
    rng = np.random.default_rng(0)
    X = np.column_stack([np.arange(400) % 2, rng.normal(size=400)])

    def score(rows: np.ndarray) -> np.ndarray:
        # only rows beyond 2.2 are disadvantaged: too few for the test, more of them among many
        return 0.5 - 0.4 * ((rows[:, 0] == 0) & (rows[:, 1] > 2.2))

    options = {
        "group": 0,
        "columns": [0],
        "protocol": "as_published",
        "generator": "bootstrap_noise",
    }
    found = tail_sample_search(score, X, X[:, 0], **options)
    assert not found.passed_real
    assert found.passed
    assert found.stopped == "passed"
    assert found.synthetic.sum() % 500 == 0
    cut = tail_sample_search(score, X, X[:, 0], **options, most=500)
    assert cut.synthetic.sum() == 500
    assert cut.stopped == ("passed" if cut.passed else "most")


def test_columns_that_encode_one_thing_are_found_by_their_names() -> None:
    data = load("synthetic(n=200)")
    split = make_splits(data, 1, 0, splitter="evt")[0]
    ready = prepare(data, "evt", attribute="group", split=split)
    names = ("age", "job=a", "job=b", "flag=yes", "group")
    assert one_hot_columns(replace(ready, feature_names=names)) == [[1, 2]]
