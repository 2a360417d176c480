"""Networks of a trial fitted ahead: faster, and nothing else."""

from dataclasses import replace
from typing import Any

import pytest

from isonomy.store.record import Record
from isonomy.study import Study, Trial, run_trial, trial
from isonomy.study.plan import keys

pytestmark = pytest.mark.torch

TRIAL = Trial("synthetic(n=300)", "group", 0)


def study(protocol: str = "as_published", **more: Any) -> Study:
    return Study(
        "networks",
        ["synthetic(n=300)/group"],
        ["dl3", "lr"],
        [
            "unmitigated",
            "reweighing",
            "disparate_impact_remover",
            "learning_fair_representations",
            "fair_smote",
            "equalized_odds",
            "fairway",
            "mutation",
        ],
        protocol=protocol,
        recipe="chen",
        **more,
    )


@pytest.fixture(autouse=True)
def _torch() -> None:
    pytest.importorskip("torch", reason="the extra torch is not installed")


def results(records: list[Record]) -> dict[tuple[str, str], Record]:
    """Give the records by model and method, without what they cost."""
    return {
        (r.model, r.mitigator): replace(r, seconds=0.0, cpu=0.0, fit_cpu=0.0, counts=None)
        for r in records
    }


@pytest.mark.parametrize("protocol", ["as_published", "corrected"])
def test_a_record_is_the_same_without_it_and_by_itself(
    protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = study(protocol)
    asked: list[Any] = []
    fit_ahead = trial.fit_ahead

    def heard(rows: Any) -> Any:
        asked.extend(found := fit_ahead(rows))
        return found

    monkeypatch.setattr(trial, "fit_ahead", heard)
    together = run_trial(given, TRIAL)
    assert {r.status for r in together} <= {"ok", "skipped"}
    assert [method.label for _, method in asked] == [
        "unmitigated",
        "reweighing",
        "disparate_impact_remover",
        "learning_fair_representations",
        "fair_smote",
    ]
    assert {model for model, _ in asked} == {"dl3"}
    by_name = {name: key for key, name in keys(given, TRIAL).items()}
    single = run_trial(given, TRIAL, only=[by_name["dl3", "fair_smote"]])
    assert results(single)["dl3", "fair_smote"] == results(together)["dl3", "fair_smote"]
    monkeypatch.setattr(trial, "fit_ahead", lambda rows: [])
    assert repr(results(run_trial(given, TRIAL))) == repr(results(together))


def test_its_time_is_charged_to_those_who_asked() -> None:
    records = {(r.model, r.mitigator): r for r in run_trial(study(), TRIAL)}
    network = [records["dl3", name].fit_cpu for name in ("unmitigated", "reweighing", "fair_smote")]
    assert min(network) > 0
    assert records["dl3", "equalized_odds"].fit_cpu == 0


def test_a_network_that_cannot_be_fitted_fails_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """One fit that fails ahead leaves all to their own turns; only its own record says so."""
    from isonomy.mitigators import Reweighing

    resample = Reweighing.resample

    def one_class(self: Any, X: Any, y: Any, s: Any, w: Any = None) -> Any:
        X, y, s, w = resample(self, X, y, s, w)
        return X, y * 0, s, w

    monkeypatch.setattr(Reweighing, "resample", one_class)
    records = {(r.model, r.mitigator): r for r in run_trial(study(), TRIAL)}
    broken = records["dl3", "reweighing"]
    assert broken.status == "failed"
    assert "at least two classes" in broken.reason
    assert records["dl3", "unmitigated"].status == records["dl3", "fair_smote"].status == "ok"
