"""A benchmark aims its methods at the metrics that decide, and tunes the cheap ones."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from isonomy.benchmark import benchmark, plan_benchmark
from isonomy.errors import InputError, UnknownName
from isonomy.mitigators import MITIGATORS
from isonomy.study import Method, Study
from isonomy.study.plan import keys, plan


def methods(**how: Any) -> dict[str, Method]:
    made = plan_benchmark("synthetic(n=400)", sensitive_features="group", **how)
    return {m.label: m for m in made.study.methods}


def test_methods_are_aimed_at_the_metrics_that_decide() -> None:
    aimed = methods(fairness="eod", performance="balanced_accuracy")
    assert aimed["reject_option"].mitigator == (
        "reject_option(metric=eod, objective=balanced_accuracy)"
    )
    assert aimed["exponentiated_gradient"].mitigator.endswith("(constraint=equal_opportunity)")
    assert methods()["meta_fair_classifier"].mitigator == "meta_fair_classifier(constraint=sr)"
    own = methods(fairness="eod", methods="reject_option(metric=spd, bounds=(-0.1, 0.1))")
    (label,) = [name for name in own if name.startswith("reject")]
    assert own[label].mitigator.startswith("reject_option(metric=spd, bounds=(-0.1, 0.1)")
    assert own[label].tune == ()


def test_cheap_methods_are_tuned_unless_all_or_none_are_asked_for() -> None:
    def tuned(**how: Any) -> set[str]:
        return {label for label, m in methods(**how).items() if m.tune}

    assert tuned() == {name for name, kind in MITIGATORS.items() if kind.cheap_to_tune}
    assert tuned(tune=True) == {name for name, kind in MITIGATORS.items() if kind.strength_values}
    assert tuned(tune=False) == set()


def test_notes_say_what_is_tuned_and_what_nobody_can_aim_at() -> None:
    made = plan_benchmark(
        "synthetic(n=400)",
        sensitive_features="group",
        methods="prejudice_remover",
        fairness="false_omission_rate_difference",
    )
    assert any("eta 5, 25, 100" in note and "--no-tune" in note for note in made.notes)
    assert any("No method can aim at false_omission" in note for note in made.notes)
    with pytest.raises(UnknownName):
        methods(fairness="nonsense")


def test_tuned_and_untuned_runs_have_keys_of_their_own() -> None:
    one, other = (
        plan_benchmark(
            "synthetic(n=400)", sensitive_features="group", methods="maat", tune=tune
        ).study
        for tune in (None, False)
    )
    (trial, *_) = plan(one)
    mine = {key for key, (_, label) in keys(one, trial).items() if label == "maat"}
    assert not mine & keys(other, trial).keys()


def test_results_show_aims_and_chosen_settings() -> None:
    found = benchmark(
        "synthetic(n=600)",
        sensitive_features="group",
        methods=["maat", "reject_option"],
        fairness="equal_opportunity_difference",
        repeats=2,
        resamples=50,
        backend="serial",
    )
    rows = found.frame().set_index("method")
    assert rows.loc["maat", "on_target"] == False  # noqa: E712 - a NumPy bool
    assert rows.loc["reject_option", "aim"] == "equal opportunity"
    assert "objective=accuracy" in rows.loc["reject_option", "settings"]
    by_name = {m["method"]: m for m in found.to_dict()["sections"][0]["methods"]}
    assert by_name["maat"]["on_target"] is False
    assert by_name["maat"]["settings"].startswith("weight=")


def test_attributes_may_be_mitigated_together(tmp_path: Path) -> None:
    plan = plan_benchmark("compas", sensitive_features=["sex + race", "sex"], methods=["rw"])
    assert [str(task) for task in plan.study.tasks] == ["compas/sex+race", "compas/sex"]
    rng = np.random.default_rng(0)
    table = pd.DataFrame({c: rng.integers(0, 2, 200) for c in ("y", "a", "b", "x")})
    own = plan_benchmark(
        table, sensitive_features="a+b", label="y", methods=["rw"], folder=tmp_path
    )
    assert own.study.tasks[0].names == ("a", "b")
    assert own.study.sources[0].load().attributes == ("a", "b")
    for wrong in ("a+", "a+a"):
        with pytest.raises(InputError, match="each once"):
            plan_benchmark(table, sensitive_features=wrong, label="y", folder=tmp_path)
    few = table.assign(b=np.arange(200) < 12)
    with pytest.raises(InputError, match=r"privileged side of 'a\+b' has"):
        plan_benchmark(few, sensitive_features="a+b", label="y", privileged={"a": 1, "b": True}, folder=tmp_path)  # fmt: skip


def test_a_favorable_label_of_zero_is_a_label(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"sex": ["f", "m"] * 100, "x": rng.normal(size=200)})
    table["default"] = rng.integers(2, size=200)
    made = plan_benchmark(
        table, sensitive_features="sex", label="default", favorable=0, folder=tmp_path
    )
    assert made.study.sources[0].load().favorable == (0,)
    with pytest.raises(InputError, match="'favorable' must be left out"):
        plan_benchmark("synthetic(n=400)", sensitive_features="group", favorable=0)


def test_a_number_that_is_mostly_its_smallest_has_no_quarters(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"sex": ["f", "m"] * 100, "y": rng.integers(2, size=200)})
    table["age"] = [0] * 170 + list(range(1, 31))
    made = plan_benchmark(table, sensitive_features="sex", label="y", folder=tmp_path)
    assert "age looks protected and is not examined: it has 31 values." in made.notes


def test_a_method_is_a_name_and_not_an_object() -> None:
    with pytest.raises(InputError, match=r"methods must be names.*LogisticRegression"):
        methods(methods=[LogisticRegression()])


def test_columns_may_be_numbered(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.integers(0, 2, (300, 3)))
    made = plan_benchmark(table, label=2, sensitive_features=0, folder=tmp_path)
    assert [str(task) for task in made.study.tasks] == ["data/0"]


def test_base_learners_are_names_texts_or_objects() -> None:
    def plan_of(models: Any) -> Study:
        return plan_benchmark(
            "german", sensitive_features="age", methods=["reweighing"], models=models
        ).study

    assert (plan_of("lr").models, plan_of("lr").own_models) == (("lr",), ())
    one = plan_of(make_pipeline(StandardScaler(), LogisticRegression(C=3)))
    assert one.models == ("LogisticRegression",)
    assert "C=3" in one.own_models[0].text
    some = plan_of(["nb", "dt(max_depth=3)", RandomForestClassifier(5), "sklearn.svm.SVC"])
    assert some.models == ("nb", "dt(max_depth=3)", "RandomForestClassifier", "sklearn.svm.SVC")
    assert [own.name for own in some.own_models] == list(some.models[1:])
    assert "random_state=None" in some.own_models[0].text  # each split brings its own
    named = plan_of({"small": RandomForestClassifier(5), "large": RandomForestClassifier(50)})
    assert named.models == ("small", "large")
    for models, sentence in (
        ([RandomForestClassifier(5), RandomForestClassifier(50)], "two are called 'RandomForest"),
        ({"lr": LogisticRegression()}, "'lr' is one of ours"),
        ("rff", r"no model 'rff'; did you mean 'rf'\? .* in Python: models=\{name: classifier\}"),
        ("mymodule.Mine", r"got 'mymodule.Mine'\. Other classifiers are passed in Python"),
        ("rf(depth=3)", "no parameter of rf 'depth'; did you mean 'max_depth'"),
        (LinearRegression(), "must be a classifier"),
    ):
        with pytest.raises(InputError, match=sentence):
            plan_of(models)
