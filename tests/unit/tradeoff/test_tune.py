import numpy as np
import pytest

from isonomy.data import load, make_splits, prepare
from isonomy.errors import InputError, NotApplicable
from isonomy.mitigators import FairnessConstrainedThresholds, PrejudiceRemover, make_mitigator
from isonomy.search import Real
from isonomy.tradeoff import Candidate, JsonLinesCache, tune


@pytest.fixture(scope="module")
def rows():
    data = load("synthetic", n=2500)
    ready = prepare(data, attribute="group", split=make_splits(data)[0])
    return ready.X_train, ready.y_train, {"group": ready.s_train}


class Counting(FairnessConstrainedThresholds):
    """Count how often the base model is fitted and the rule learnt."""

    fits = 0
    rules = 0

    def _fit(self, X, y, s, w):
        type(self).fits += 1
        super()._fit(X, y, s, w)

    def fit_scores(self, *args):
        type(self).rules += 1
        super().fit_scores(*args)


class Idle(FairnessConstrainedThresholds):
    """From a tolerance of one half on, leave every prediction as it was."""

    def adjust(self, scores, labels, s):
        return labels if self.tolerance > 0.5 else super().adjust(scores, labels, s)


TOLERANCES = [0.0, 0.02, 0.05, 0.1, 0.2]


def test_a_sweep_gives_a_curve_and_a_choice(rows) -> None:
    X, y, s = rows
    seen = []
    found = tune(
        FairnessConstrainedThresholds(privileged=1),
        {"tolerance": TOLERANCES},
        X,
        y,
        sensitive_features=s,
        progress=lambda done, total: seen.append((done, total)),
    )
    assert seen == [(k, 5) for k in range(1, 6)]
    assert found.curve["tolerance"].tolist() == TOLERANCES
    assert found.curve["status"].eq("ok").all()
    best = found.curve["objective"].idxmax()
    assert found.chosen == {"tolerance": TOLERANCES[best]}
    assert found.mitigator.tolerance == found.chosen["tolerance"]
    line = found.baseline
    for row in found.curve.itertuples():
        assert line.region(row.performance, row.bias) == row.region
    inner = 0 < best < 4
    assert (found.turning_point is not None) == inner
    assert "<table" in found._repr_html_()
    assert found.settings["validation_rows"] == round(0.3 * y.size)


def test_settings_that_change_nothing_are_no_good_trade_off(rows) -> None:
    """The point of the original model lies above the mutated ones by a rounding: it was "good"."""
    X, y, s = rows
    method = Idle(privileged=1)
    found = tune(method, {"tolerance": [0.8, 0.9, 1.0]}, X, y, sensitive_features=s)
    assert found.curve["region"].isna().all()
    assert found.curve["reason"].str.contains("changed no prediction").all()
    assert found.curve["objective"].eq(0.0).all()
    assert found.notes == ("The chosen setting changed no prediction: none did better than that.",)
    mixed = tune(method, {"tolerance": [0.0, 1.0]}, X, y, sensitive_features=s).curve
    assert mixed["region"].isna().tolist() == [False, True]


def test_words_have_no_range_to_widen(rows) -> None:
    X, y, s = rows
    words = {"metric": ["spd", "eod"]}
    found = tune(make_mitigator("reject_option", privileged=1), words, X, y, sensitive_features=s)
    assert found.chosen is not None
    assert not any("turning point" in note for note in found.notes)


def test_settings_of_a_post_processor_share_one_fit_and_give_what_separate_fits_give(rows) -> None:
    X, y, s = rows
    found = tune(Counting(privileged=1), {"tolerance": TOLERANCES}, X, y, sensitive_features=s)
    assert Counting.fits == 1
    assert Counting.rules == 1 + len(TOLERANCES)
    for tolerance, performance in zip(TOLERANCES, found.curve["performance"], strict=True):
        alone = tune(
            FairnessConstrainedThresholds(privileged=1),
            {"tolerance": [tolerance], "random_state": [0]},  # not shared: the seed is turned
            X,
            y,
            sensitive_features=s,
        )
        assert alone.curve["performance"].iloc[0] == performance


def test_a_constraint_on_performance(rows) -> None:
    X, y, s = rows
    options = {"space": {"tolerance": TOLERANCES}, "X": X, "y": y, "sensitive_features": s}
    free = tune("fairness_constrained_thresholds", **options)
    allowed = float(np.sort(free.baseline.performance[0] - free.curve["performance"])[1])
    bound = tune("fairness_constrained_thresholds", max_loss=allowed, **options)
    assert bound.curve["feasible"].sum() == 2
    chosen = bound.curve[bound.curve["tolerance"] == bound.chosen["tolerance"]].iloc[0]
    assert chosen["feasible"]
    none = tune("fairness_constrained_thresholds", min_performance=1.0, **options)
    assert none.chosen is None
    assert "No setting is feasible" in none.notes[0]


def test_objectives(rows) -> None:
    X, y, s = rows
    options = {"space": {"tolerance": TOLERANCES}, "X": X, "y": y, "sensitive_features": s}
    pair = tune("fairness_constrained_thresholds", objective=("accuracy", "eod"), **options)
    assert pair.settings["objective"] == "accuracy - eod"

    def fairest(candidate: Candidate) -> float:
        assert candidate.joint.shape == (1,)
        return -candidate.bias

    own = tune("fairness_constrained_thresholds", objective=fairest, **options)
    assert own.chosen["tolerance"] == TOLERANCES[own.curve["bias"].idxmin()]
    with pytest.raises(InputError, match="objective must be"):
        tune("fairness_constrained_thresholds", objective="areas", **options)


def test_the_area_is_refused_where_the_baseline_fails(rows) -> None:
    X, y, s = rows
    with pytest.raises(NotApplicable, match="cannot be the objective"):
        tune(
            "fairness_constrained_thresholds",
            {"tolerance": [0.1]},
            X,
            y,
            sensitive_features=s,
            performance="macro_precision",
        )


def test_resuming_does_nothing_twice(rows, tmp_path) -> None:
    X, y, s = rows
    file = tmp_path / "sweep.jsonl"
    Counting.fits = 0
    options = {"X": X, "y": y, "sensitive_features": s}
    first = tune(
        Counting(privileged=1), {"tolerance": TOLERANCES[:3]}, cache=JsonLinesCache(file), **options
    )
    assert len(JsonLinesCache(file)) == 3
    with file.open("a") as out:
        out.write('{"key": "cut o')  # what a kill leaves
    Counting.rules = 0
    again = tune(
        Counting(privileged=1), {"tolerance": TOLERANCES}, cache=JsonLinesCache(file), **options
    )
    assert Counting.rules == 1 + 2  # one fit for the two that were missing
    assert again.curve["performance"].tolist()[:3] == first.curve["performance"].tolist()
    assert len(JsonLinesCache(file)) == 5
    tune(
        Counting(privileged=1),
        {"tolerance": TOLERANCES},
        cache=JsonLinesCache(file),
        objective=("accuracy", "spd"),  # another objective needs no new fit
        **options,
    )
    assert Counting.rules == 3
    tune(
        Counting(privileged=1),
        {"tolerance": [0.0]},
        cache=JsonLinesCache(file),
        repeats=2,
        **options,
    )
    assert Counting.rules > 3  # other splits do


def test_in_processing_with_itself_as_the_original(rows) -> None:
    X, y, s = rows
    found = tune(
        PrejudiceRemover(privileged=1),
        {"eta": [0.0, 5.0]},
        X,
        y,
        sensitive_features=s,
        original={"eta": 0.0},
        repeats=2,
    )
    first = found.curve.iloc[0]
    assert first["performance"] == pytest.approx(found.baseline.performance[0], abs=1e-12)
    assert first["bias"] == pytest.approx(found.baseline.bias[0], abs=1e-12)
    assert found.settings["repeats"] == 2


def test_search_over_a_continuous_space(rows) -> None:
    X, y, s = rows
    found = tune(
        "fairness_constrained_thresholds",
        {"tolerance": Real(0.0, 0.3)},
        X,
        y,
        sensitive_features=s,
        budget=6,
    )
    assert len(found.curve) == 6
    assert found.settings["strategy"] == "random"


def test_optuna(rows) -> None:
    pytest.importorskip("optuna", reason="needs the extra optuna")
    X, y, s = rows
    found = tune(
        "fairness_constrained_thresholds",
        {"tolerance": Real(0.0, 0.3), "objective": ["accuracy", "balanced_accuracy"]},
        X,
        y,
        sensitive_features=s,
        strategy="optuna",
        budget=8,
    )
    assert len(found.curve) == 8
    assert set(found.chosen) == {"tolerance", "objective"}


def test_failures_are_rows_with_reasons(rows) -> None:
    X, y, s = rows
    found = tune(
        "fairness_constrained_thresholds", {"tolerance": [0.1, 7.0]}, X, y, sensitive_features=s
    )
    assert found.curve["status"].tolist() == ["ok", "failed"]
    assert "tolerance must lie" in found.curve["reason"].iloc[1]
    assert "1 of 2 settings failed" in " ".join(found.notes)
    with pytest.raises(NotApplicable, match="failed at every setting"):
        tune("fairness_constrained_thresholds", {"tolerance": [7.0]}, X, y, sensitive_features=s)


def test_messages(rows) -> None:
    X, y, s = rows
    with pytest.raises(LookupError, match="did you mean 'tolerance'"):
        tune("fairness_constrained_thresholds", {"tolerence": [1]}, X, y, sensitive_features=s)
    with pytest.raises(InputError, match="at least one parameter"):
        tune("reweighing", {}, X, y, sensitive_features=s)
    with pytest.raises(InputError, match="validation must be"):
        tune(
            "fairness_constrained_thresholds",
            {"tolerance": [0.1]},
            X,
            y,
            sensitive_features=s,
            validation=1.5,
        )


def test_a_parameter_of_another_type_is_a_failed_setting(rows) -> None:
    X, y, s = rows
    space = {"bounds": [0.05, (-0.1, 0.1)]}
    result = tune("reject_option", space, X, y, sensitive_features=s)
    assert result.curve["status"].tolist() == ["failed", "ok"]
    assert any("the first said: bounds must be two numbers; got 0.05." in n for n in result.notes)
