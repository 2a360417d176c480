"""A trial shares work and changes nothing by it; what breaks is a row with its reason."""

import re
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_info, threadpool_limits

from isonomy.errors import IsonomyWarning, MissingExtra, NotApplicable
from isonomy.metrics import get_metric
from isonomy.mitigators import (
    MITIGATORS,
    PostProcessor,
    PrejudiceRemover,
    PreProcessor,
    RejectOption,
    Reweighing,
)
from isonomy.models import FitMeter, fit_model, make_model, metered_fits
from isonomy.store import Record, Store
from isonomy.store.record import TIME
from isonomy.study import Method, Source, Study, Trial, keys, measure, run_trial
from isonomy.study.workbench import Workbench

PROTOCOLS = {
    "corrected": {"protocol": "corrected"},
    "as_published": {"protocol": "as_published", "recipe": "chen", "splitter": "chen"},
}
CHEAPER = {
    "ecd_fair": "ecd_fair(budget=3)",
    "exponentiated_gradient": "exponentiated_gradient(max_iter=5)",
    "minimax": "minimax(rounds=20)",
}
VARIANTS = (
    *(CHEAPER.get(name, name) for name in MITIGATORS),
    "calibrated_equalized_odds(cost=fnr)",
    "equalized_odds(fit_on=validation)",
    "fair_smote(situation_model=same)",
    "reject_option(fit_on=train)",
)


def study(jobs: Source, methods: list[Any], **changes: Any) -> Study:
    fields = {"models": ["lr"], "tasks": ["jobs/sex"], "sources": [jobs], **changes}
    return Study("s", methods=tuple(methods), **fields)


def by_row(records: list[Record]) -> dict[tuple[str, str], Record]:
    return {(r.model, r.mitigator): r for r in records}


def content(record: Record) -> Any:
    """Everything of a record but time and host, comparable with ==."""
    plain = {k: v for k, v in vars(record).items() if k not in (*TIME, "counts", "metrics")}
    cells = None if record.counts is None else record.counts.n.tolist()
    return plain, cells, {k: repr(v) for k, v in record.metrics.items()}


def labels_of(workbench: Workbench, method: Method, model: str) -> Any:
    """What the mitigator gives by itself: fit, predict, nothing shared."""
    kind = MITIGATORS[method.mitigator.partition("(")[0]]
    alone = workbench.make(method, model if kind.uses_estimator else None)
    X, X_test = workbench.tables(alone)
    alone.fit(X, workbench.y, sensitive_features=workbench.s, sample_weight=workbench.w)
    return alone.predict(X_test, sensitive_features=workbench.s_test)


# Sharing.


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("mitigator", VARIANTS)
def test_sharing_changes_no_prediction(jobs: Source, mitigator: str, protocol: str) -> None:
    """Twice each: the first model to ask fills what is shared, the others take it."""
    shares = issubclass(MITIGATORS[mitigator.partition("(")[0]], PreProcessor | PostProcessor)
    models = ["lr", "svm"] if shares else ["lr"]
    given = study(jobs, [mitigator], models=models, **PROTOCOLS[protocol])
    workbench = Workbench(given, Trial("jobs", "sex", 2), given.preparation, given.splitter)
    before = [workbench.X.copy(), workbench.X_test.copy()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model in given.models:
            try:
                expected = labels_of(workbench, given.methods[0], model)
            except NotApplicable as error:
                with pytest.raises(NotApplicable, match=re.escape(str(error))):
                    workbench.run(given.methods[0], model)
                continue
            for _ in models:
                found = workbench.run(given.methods[0], model)
                np.testing.assert_array_equal(found.labels, expected)
    np.testing.assert_array_equal(workbench.X, before[0])
    np.testing.assert_array_equal(workbench.X_test, before[1])


@pytest.mark.parametrize(("protocol", "tree"), [("corrected", "dt"), ("as_published", "rf")])
def test_sharing_in_the_order_of_a_trial_changes_no_prediction(
    jobs: Source, protocol: str, tree: str
) -> None:
    methods = [
        "unmitigated",
        "reweighing",
        "disparate_impact_remover",
        "fair_smote",
        "reject_option(metric=spd)",
        "calibrated_equalized_odds(cost=fpr)",
        "equalized_odds",
        "prejudice_remover",
    ]
    given = study(jobs, methods, models=[tree, "svm"], **PROTOCOLS[protocol])
    trial = Trial("jobs", "sex", 0)
    records = by_row(run_trial(given, trial))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model, method in given.rows(trial.task):
            workbench = Workbench(
                given, trial, given.preparation, given.splitter
            )  # nothing done yet
            expected = labels_of(workbench, method, model)
            counts = records[model, method.label].counts
            assert counts is not None
            found = counts.method.overall()
            assert found.tolist() == _confusion(workbench.y_test, expected), (model, method.label)


def _confusion(y: Any, labels: Any) -> list[list[float]]:
    return [[float(((y == a) & (labels == b)).sum()) for b in (0, 1)] for a in (0, 1)]


def test_each_base_model_is_fitted_once(jobs: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    posts = [f"reject_option(metric={m})" for m in ("spd", "aod", "eod")]
    published = PROTOCOLS["as_published"]
    with metered_fits() as outer:
        run_trial(
            study(jobs, ["unmitigated", *posts, "equalized_odds", "mutation"], **published),
            Trial("jobs", "sex", 0),
        )
    assert outer.fits == 0  # a trial has a meter of its own
    seen: list[FitMeter] = []
    monkeypatch.setattr(
        "isonomy.study.trial._Run",
        lambda *args: seen.append(args[-1]) or _Run(*args),  # type: ignore[func-returns-value]
    )
    run_trial(
        study(jobs, ["unmitigated", *posts, "equalized_odds", "mutation"], **published),
        Trial("jobs", "sex", 0),
    )
    assert [meter.fits for meter in seen] == [1]


from isonomy.study.trial import _Run  # noqa: E402 - the original, for the test above


def test_a_transform_is_learnt_once_for_all_models(
    jobs: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []
    resample = Reweighing.resample

    def counted(self: Reweighing, *args: Any) -> Any:
        calls.append(1)
        return resample(self, *args)

    monkeypatch.setattr(Reweighing, "resample", counted)
    given = study(jobs, ["unmitigated", "reweighing"], models=["lr", "dt", "nb", "svm"])
    assert len(run_trial(given, Trial("jobs", "sex", 0))) == 8
    assert len(calls) == 1


class Boosted(PreProcessor):
    """A plug-in whose rows depend on the learner: it weighs what that gets wrong."""

    name = "boosted"

    def resample(self, X: Any, y: Any, s: Any, w: Any = None) -> Any:
        model: Any = fit_model(self.base_learner(), X, y, w)
        return X, y, s, np.where(model.predict(X) == y, 1.0, 5.0)


class Contrary(Reweighing):
    """A plug-in that inherits a shared transform and fits something else."""

    name = "contrary"

    def _fit(self, X: Any, y: Any, s: Any, w: Any) -> None:
        super()._fit(X, y, s, w)
        self.estimator_ = fit_model(self.base_learner(), X, self.decode(1 - y), w)


class Borrowed(PrejudiceRemover):
    """A plug-in that inherits from a method with its own model and uses the learner."""

    name = "borrowed"

    def fit_model(self, X: Any, y: Any, s: Any, w: Any = None) -> None:
        self.model_: Any = fit_model(self.base_learner(), X, y, w)

    def predict_scores(self, X: Any, s: Any = None) -> Any:
        return self.model_.predict_proba(X)[:, 1]


class Informed(RejectOption):
    """A plug-in that inherits a rule on scores and looks at the learner besides."""

    name = "informed"

    def fit_scores(self, scores: Any, labels: Any, y: Any, s: Any, w: Any = None) -> None:
        super().fit_scores(scores, labels, y, s, w)
        self.threshold_ = 0.3 if isinstance(self.estimator_, DecisionTreeClassifier) else 0.7


@pytest.mark.parametrize("kind", [Boosted, Contrary, Borrowed, Informed])
def test_a_plug_in_that_declares_nothing_shares_nothing(
    jobs: Source, monkeypatch: pytest.MonkeyPatch, kind: Any
) -> None:
    monkeypatch.setitem(MITIGATORS._items, kind.name, kind)
    given = study(jobs, ["reweighing", kind.name], models=["dt", "nb"])
    trial = Trial("jobs", "sex", 0)
    workbench = Workbench(given, trial, given.preparation, given.splitter)
    labels = {}
    for model, method in given.rows(trial.task):
        labels[model, method.label] = workbench.run(method, model).labels
        expected = labels_of(workbench, method, model)
        np.testing.assert_array_equal(labels[model, method.label], expected)
    assert (labels["dt", kind.name] != labels["nb", kind.name]).any()


def test_a_method_with_its_own_model_runs_once_and_stands_beside_every_model(jobs: Source) -> None:
    own = {"mitigator": "fairway", "learner": "lr"}
    given = study(jobs, ["unmitigated", "prejudice_remover", own], models=["lr", "dt"])
    records = by_row(run_trial(given, Trial("jobs", "sex", 0)))
    for label in ("prejudice_remover", "fairway"):
        one, other = (records[m, label] for m in ("lr", "dt"))
        assert one.metrics["accuracy"] == other.metrics["accuracy"]
        assert one.counts is not None
        assert other.counts is not None
        # joined to another original model
        base = records["dt", "unmitigated"].counts
        assert base is not None
        assert other.counts.base.n.tolist() == base.method.n.tolist()
        assert one.counts.base.n.tolist() != other.counts.base.n.tolist()
    assert records["dt", "fairway"].fit_cpu == 0


# Determinism.


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_same_trial_gives_the_same_records_whole_or_in_part(
    jobs: Source, protocol: str
) -> None:
    methods = [
        "unmitigated",
        "learning_fair_representations",
        "reweighing",
        "adversarial_debiasing(n_epochs=2)",
        "fair_smote",
        "reject_option",
        "equalized_odds",
        "mutation",
    ]
    given = study(jobs, methods, models=["lr", "svm"], **PROTOCOLS[protocol])
    trial = Trial("jobs", "sex", 1)
    whole = run_trial(given, trial)
    again = run_trial(given, trial)
    assert [content(r) for r in whole] == [content(r) for r in again]
    assert [r.key for r in whole] == [*keys(given, trial)]
    expected = {r.key: content(r) for r in whole}
    for only in ([r.key for r in whole[1::3]], [r.key for r in whole[::-1][:4]]):
        part = run_trial(given, trial, only)
        assert {r.key for r in part} == set(only)
        assert {r.key: content(r) for r in part} == {k: expected[k] for k in only}
    assert run_trial(given, trial, only=[]) == []


def test_repeats_meet_other_rows_and_methods_the_same(jobs: Source) -> None:
    given = study(jobs, ["unmitigated", "reweighing"], repeats=2)
    one, two = (run_trial(given, Trial("jobs", "sex", r)) for r in (0, 1))
    assert len({r.rows for r in one}) == 1
    assert one[0].rows != two[0].rows


def test_a_trial_uses_one_thread_and_gives_the_others_back(
    jobs: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    resample = Reweighing.resample

    def watched(self: Reweighing, *args: Any) -> Any:
        seen.extend(pool["num_threads"] for pool in threadpool_info())
        return resample(self, *args)

    monkeypatch.setattr(Reweighing, "resample", watched)
    with threadpool_limits(2):
        before = [pool["num_threads"] for pool in threadpool_info()]
        run_trial(study(jobs, ["reweighing"]), Trial("jobs", "sex", 0))
        assert [pool["num_threads"] for pool in threadpool_info()] == before
    assert set(seen) == {1}


# What a record holds.


@pytest.fixture(scope="module")
def plain(jobs: Source) -> tuple[Record, pd.DataFrame]:
    """An unmitigated run, and its test rows with labels and predictions, made by hand."""
    given = study(jobs, ["unmitigated"])
    trial = Trial("jobs", "sex", 0)
    (record,) = run_trial(given, trial)
    workbench = Workbench(given, trial, "default", "holdout")
    model = fit_model(make_model("lr"), workbench.X, workbench.y)
    table = jobs.load().frame().iloc[workbench.ready.test.rows]
    table = table.assign(
        y=(table["hired"] == "yes").astype(int),
        pred=model.predict(workbench.X_test),
        score=model.predict_proba(workbench.X_test)[:, 1],
    )
    return record, table


def test_metrics_are_those_of_the_rows(plain: tuple[Record, pd.DataFrame]) -> None:
    record, table = plain
    m = record.metrics
    right = table["y"] == table["pred"]
    rate = table.groupby("sex")["pred"].mean()
    assert m["accuracy"] == pytest.approx(right.mean())
    assert m["statistical_parity_difference"] == pytest.approx(rate["f"] - rate["m"])
    assert m["error_rate_difference"] == pytest.approx(
        (~right)[table["sex"] == "f"].mean() - (~right)[table["sex"] == "m"].mean()
    )
    assert m["brier_score"] == pytest.approx(((table["score"] - table["y"]) ** 2).mean())
    assert 0 < m["consistency"] <= 1
    assert m["roc_auc"] > 0.5
    assert "macro_precision(zero_division=0)" in m
    assert {"theil_index", "generalized_entropy", "mcc(zero_division=0)"} <= m.keys()
    assert "flip_rate" not in m  # needs pairs, which are not at hand


def test_counts_hold_every_protected_attribute(plain: tuple[Record, pd.DataFrame]) -> None:
    record, table = plain
    counts = record.counts
    assert counts is not None
    assert counts.attributes == ("sex", "origin")
    assert counts.n.sum() == len(table)
    assert counts.changed() == 0
    cell = counts.groups.index(("f", "b"))
    mine = table[(table["sex"] == "f") & (table["origin"] == "b")]
    assert counts.n[cell, 1, 1, 1] == ((mine["y"] == 1) & (mine["pred"] == 1)).sum()
    # the attribute nobody asked about
    gap = get_metric("spd")(measure.tested(counts, "origin"))
    known = table[table["origin"].notna()]
    rate = known.groupby(known["origin"] == "a")["pred"].mean()
    assert gap == pytest.approx(rate[False] - rate[True])


def test_counts_are_joint_with_the_original_prediction(jobs: Source) -> None:
    given = study(jobs, ["unmitigated", "reject_option(metric=spd)"])
    base, changed = run_trial(given, Trial("jobs", "sex", 0))
    assert base.counts is not None
    assert changed.counts is not None
    assert changed.counts.base.n.tolist() == base.counts.method.n.tolist()
    assert changed.counts.changed() > 0
    assert base.counts.groups == changed.counts.groups


def test_the_cost_of_a_trial_is_the_sum_of_its_records(jobs: Source) -> None:
    import time

    started = time.process_time()
    records = run_trial(study(jobs, ["unmitigated", "reweighing"]), Trial("jobs", "sex", 0))
    spent = time.process_time() - started
    total = sum(r.cpu for r in records)
    assert 0 < sum(r.fit_cpu for r in records) < total <= spent
    assert all(r.host for r in records)
    assert all(r.seconds > 0 for r in records)


# A user's file, several attributes, weights.


def test_several_attributes_make_intersectional_groups(jobs: Source) -> None:
    given = study(jobs, ["unmitigated", "reweighing", "reject_option"], tasks=["jobs/sex+origin"])
    records = run_trial(given, Trial("jobs", "sex+origin", 0))
    assert [r.status for r in records] == ["ok"] * 3
    workbench = Workbench(given, Trial("jobs", "sex+origin", 0), "default", "holdout")
    assert len(workbench.y) + len(workbench.y_test) == 397  # rows of unknown origin are left out
    expected = labels_of(workbench, given.methods[1], "lr")
    assert records[1].counts is not None
    assert records[1].counts.method.overall().tolist() == _confusion(workbench.y_test, expected)


def test_weights_are_used_to_fit_and_to_count(jobs: Source) -> None:
    heavy = replace(jobs, weight="weight", drop=())
    given = study(heavy, ["unmitigated"])
    (record,) = run_trial(given, Trial("jobs", "sex", 0))
    (bare,) = run_trial(given.with_(weighted=False), Trial("jobs", "sex", 0))
    assert record.counts is not None
    assert record.counts.w is not None
    assert bare.counts is not None
    assert bare.counts.w is None
    assert record.counts.n.sum() == bare.counts.n.sum()
    assert record.metrics["accuracy"] != bare.metrics["accuracy"]


# Failures.


def test_what_breaks_is_a_row_and_the_others_go_on(
    jobs: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: Any, *args: Any) -> Any:
        raise ZeroDivisionError("split\nby zero")

    monkeypatch.setattr(Reweighing, "resample", broken)
    methods = ["unmitigated", "reweighing", "optimized_preprocessing", "equalized_odds"]
    records = run_trial(study(jobs, methods), Trial("jobs", "sex", 0))
    assert [r.status for r in records] == ["ok", "failed", "skipped", "ok"]
    assert records[1].reason == "ZeroDivisionError: split by zero"
    assert records[1].metrics == {}
    assert "combinations" in records[2].reason
    assert records[2].key


def test_a_model_that_cannot_be_made_fails_its_own_rows(
    jobs: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    from isonomy import models

    def missing(_: Any) -> Any:
        raise ImportError("needs a library")

    given = study(jobs, ["unmitigated", "reweighing", "mutation"], models=["lr", "nb"])
    keys(given, Trial("jobs", "sex", 0))  # known while the library was there
    monkeypatch.setitem(models.MODELS, "nb", missing)
    records = run_trial(given, Trial("jobs", "sex", 0))
    status = {(r.model, r.status) for r in records}
    assert status == {("lr", "ok"), ("nb", "failed")}
    assert {r.reason for r in records if r.model == "nb"} == {"ImportError: needs a library"}


def test_a_model_whose_extra_is_not_installed_is_skipped(
    jobs: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    from isonomy import models

    def missing(_: Any) -> Any:
        raise MissingExtra("nb needs torch, which is not installed.")

    given = study(jobs, ["unmitigated", "reweighing"], models=["lr", "nb"])
    keys(given, Trial("jobs", "sex", 0))
    monkeypatch.setitem(models.MODELS, "nb", missing)
    records = run_trial(given, Trial("jobs", "sex", 0))
    assert {(r.model, r.status) for r in records} == {("lr", "ok"), ("nb", "skipped")}
    reasons = {r.reason for r in records if r.model == "nb"}
    assert reasons == {"nb needs torch, which is not installed."}


def test_data_that_cannot_be_had_fails_every_row(jobs: Source) -> None:
    gone = replace(jobs, path=str(Path(jobs.path).with_name("gone.csv")))
    records = run_trial(study(gone, ["unmitigated", "reweighing"]), Trial("jobs", "sex", 0))
    assert [r.status for r in records] == ["failed"] * 2
    assert "must exist" in records[0].reason


def test_undefined_metrics_say_why(jobs: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule that refuses everybody leaves rates over nothing: NaN, and 0 only where so named."""
    refuse = "isonomy.mitigators.equalized_odds.EqualizedOdds.adjust"
    monkeypatch.setattr(refuse, lambda self, scores, labels, s: np.zeros_like(labels))
    (record,) = run_trial(study(jobs, ["equalized_odds"]), Trial("jobs", "sex", 0))
    assert record.status == "ok"
    assert np.isnan(record.metrics["favorable_precision"])
    assert record.metrics["favorable_precision(zero_division=0)"] == 0
    assert record.metrics["statistical_parity_difference"] == 0
    assert "no row has the prediction 1" in record.reason


# The mutation baseline.


def test_a_baseline_starts_at_the_original_model_and_ends_at_a_constant(jobs: Source) -> None:
    given = study(jobs, ["unmitigated", "mutation(strategy=majority, repetitions=20)"])
    records = run_trial(given, Trial("jobs", "sex", 0))
    first, points = records[0], records[1:]
    assert [p.mitigator for p in points] == [*given.methods[1].labels]
    for name in ("accuracy", "statistical_parity_difference", "mcc(zero_division=0)"):
        assert points[0].metrics[name] == pytest.approx(first.metrics[name], abs=1e-12)
    size = abs(first.metrics["statistical_parity_difference"])
    assert points[0].metrics["|statistical_parity_difference|"] == pytest.approx(size)
    assert points[-1].metrics["|statistical_parity_difference|"] == 0
    assert first.counts is not None
    labels = first.counts.method.overall().sum(axis=1)
    assert points[-1].metrics["accuracy"] == pytest.approx(labels.max() / labels.sum())
    assert points[0].counts is not None
    assert points[1].counts is None


def test_strategies_differ_in_what_they_write(jobs: Source) -> None:
    given = study(jobs, [f"mutation(strategy={s})" for s in ("majority", "minority", "random")])
    records = run_trial(given, Trial("jobs", "sex", 0))
    ends = [r.metrics["accuracy"] for r in records if "degree=1)" in r.mitigator]
    majority, minority, random = ends
    assert majority + minority == pytest.approx(1)
    assert minority < random < majority


# Metering.


def test_a_meter_counts_outer_fits_only_and_leaves_nothing_behind() -> None:
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 2

    class Nested(type(make_model("nb"))):  # type: ignore[misc]
        def fit(self, X: Any, y: Any) -> Any:
            fit_model(make_model("nb"), X, y)
            return super().fit(X, y)

    with metered_fits() as meter:
        fit_model(Nested(), X, y)
        with metered_fits() as inner:
            fit_model(make_model("nb"), X, y)
        with pytest.raises(ValueError, match="NaN"):
            fit_model(make_model("nb"), X * np.nan, y)
    fit_model(make_model("nb"), X, y)
    assert (meter.fits, inner.fits) == (2, 1)
    assert meter.cpu > 0


def test_warnings_of_methods_do_not_leave_the_trial(jobs: Source) -> None:
    given = study(jobs, ["calibrated_equalized_odds(cost=fpr)"])
    with warnings.catch_warnings():
        warnings.simplefilter("error", IsonomyWarning)
        assert run_trial(given, Trial("jobs", "sex", 0))[0].status == "ok"


class Grumbling(Reweighing):
    """Reweighing that warns, in the part that all models share."""

    name = "grumbling"
    transform_uses_estimator = False

    def resample(self, X: Any, y: Any, s: Any, w: Any = None) -> Any:
        warnings.warn("grumbling  said\nthis.", IsonomyWarning, stacklevel=2)
        return super().resample(X, y, s, w)


def test_warnings_of_methods_are_in_their_records_shared_or_not(
    jobs: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(MITIGATORS._items, "grumbling", Grumbling)
    given = study(jobs, ["unmitigated", "grumbling"], models=["lr", "nb"])
    records = run_trial(given, Trial("jobs", "sex", 0))
    assert {(r.mitigator, r.warnings) for r in records} == {
        ("unmitigated", ""),
        ("grumbling", "grumbling said this."),
    }
    last = run_trial(given, Trial("jobs", "sex", 0), [records[-1].key])
    assert last[0].warnings == "grumbling said this."


def test_a_baseline_may_weigh_its_gaps_alone(jobs: Source) -> None:
    """As published for MEPS: survey weights in the gaps, none in performance or in the fit."""
    heavy = replace(jobs, weight="weight", drop=())
    plain, gaps = (f"mutation(strategy=majority, weights={w})" for w in ("none", "gaps"))
    points = [
        run_trial(study(heavy, [m], weighted=False), Trial("jobs", "sex", 0))[0]
        for m in (plain, gaps)
    ]
    bare, weighed = (p.metrics for p in points)
    assert weighed["accuracy"] == bare["accuracy"]
    assert weighed["statistical_parity_difference"] != bare["statistical_parity_difference"]
    workbench = Workbench(
        study(heavy, ["unmitigated"], weighted=False), Trial("jobs", "sex", 0), "default", "holdout"
    )
    labels, weight, s = workbench.base("lr").labels, workbench.ready.test.weight, workbench.s_test
    assert weight is not None
    rate = [np.average(labels[s == g], weights=weight[s == g]) for g in (0, 1)]
    assert weighed["statistical_parity_difference"] == pytest.approx(rate[0] - rate[1])


def test_counts_alone_are_the_same_counts_under_the_same_keys(jobs: Source, tmp_path: Path) -> None:
    whole = study(jobs, ["unmitigated", "reweighing"])
    bare = whole.with_(counts_only=True)
    assert Study.from_toml(bare.toml()) == bare
    assert "counts_only" not in whole.toml()
    trial = Trial("jobs", "sex", 0)
    assert keys(bare, trial) == keys(whole, trial)
    full, counted = run_trial(whole, trial), run_trial(bare, trial)
    for one, other in zip(full, counted, strict=True):
        assert one.metrics
        assert not other.metrics
        np.testing.assert_array_equal(one.counts.n, other.counts.n)
    store = Store.create(tmp_path / "store", "s")
    with store.writer() as writer:
        writer.append(counted)
    assert store.score(["accuracy"]) == 2
    found = {r.mitigator: r.metrics["accuracy"] for r in store.records()}
    assert found == {r.mitigator: r.metrics["accuracy"] for r in full}
