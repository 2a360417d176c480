"""Successive elimination: who may be dropped, by whom, at what level, and what is run then."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import t as student

import isonomy
from isonomy.benchmark.eliminate import leaders, looks, without
from isonomy.mitigators import MITIGATORS
from isonomy.store import Store
from isonomy.study import Study, plan


def test_the_p_value_is_the_corrected_resampled_t_test_by_hand() -> None:
    rng = np.random.default_rng(1)
    table = rng.normal([0.0, 1.0, 3.0], 0.5, size=(6, 3))
    by, lead, p = leaders(table, [True, True, True], looks=2)
    apart = table[:, 2] - table[:, 0]
    error = np.sqrt(apart.var(ddof=1) * (1 / 6 + 3 / 7))
    assert by[0] == 2
    assert lead[0] == pytest.approx(apart.mean())
    assert p[0] == pytest.approx(student.sf(apart.mean() / error, 5) * 2 * 2)
    assert p[2] == 1.0  # nobody leads the first


def test_only_eligible_methods_lead() -> None:
    table = np.random.default_rng(0).normal([0.0, 5.0, 9.0], 0.1, size=(6, 3))
    by, _, p = leaders(table, [True, True, False])
    assert by[0] == 1
    assert p[0] < 0.05
    assert p[1] == p[2] == 1.0
    assert (leaders(table, [False] * 3)[2] == 1.0).all()
    # one split shows nothing
    assert (leaders(table[:1], [True] * 3)[2] == 1.0).all()


def test_a_study_without_a_method_runs_it_elsewhere() -> None:
    study = Study(
        "two", ["german/sex", "german/age"], ["lr", "nb"], ["unmitigated", "reweighing"], repeats=3
    )
    less = without(study, [("sex", "lr", "reweighing"), ("age", "nb", "reweighing")])
    ran = {
        (trial.attributes, model, method.label)
        for trial in plan(less)
        for model, method in less.rows(trial.task)
    }
    assert len(ran) == 6
    assert ("sex", "lr", "reweighing") not in ran
    assert ("sex", "nb", "reweighing") in ran
    assert without(study, []) == study


@pytest.fixture
def costly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a method that does nothing for parity count as costly."""
    monkeypatch.setattr(MITIGATORS["fair_mask"], "costly", True)
    monkeypatch.setattr(MITIGATORS["reweighing"], "costly", False)


@pytest.mark.usefixtures("costly")
def test_a_beaten_method_is_not_run_to_the_end_unless_asked_for(tmp_path: Path) -> None:
    options: dict[str, Any] = {
        "sensitive_features": "group",
        "methods": ["fairness_constrained_thresholds", "fair_mask"],
        "repeats": 7,
        "tune": False,
        "resamples": 100,
        "backend": "serial",
        "folder": tmp_path,
    }
    seen: list[tuple[int, int]] = []
    result = isonomy.benchmark(
        "synthetic(n=8000)", progress=lambda *now: seen.append(now), **options
    )
    assert seen == [(k, 7) for k in range(8)]
    frame = result.frame().set_index("method")
    assert frame.loc["fair_mask", "word"] == "dropped"
    assert "fairness_constrained_thresholds keeps" in frame.loc["fair_mask", "reason"]
    assert result.recommendation.method == "fairness_constrained_thresholds"

    def splits() -> int:
        runs = Store.open(tmp_path / "store").records()
        return sum(r.mitigator == "fair_mask" for r in runs)

    assert splits() in looks(7)
    again = isonomy.benchmark("synthetic(n=8000)", **options)  # nothing is left to run
    assert (
        again.frame().set_index("method").loc["fair_mask", "reason"]
        == frame.loc["fair_mask", "reason"]
    )
    whole = isonomy.benchmark("synthetic(n=8000)", keep_all=True, **options)
    assert splits() == 7
    assert "dropped" not in set(whole.frame()["word"])


def test_a_quick_benchmark_names_what_it_leaves_out() -> None:
    planned = isonomy.benchmark.plan_benchmark(
        "synthetic(n=400)",
        sensitive_features="group",
        methods=["all", "minimax(rounds=5)"],
        quick=True,
    )
    labels = {method.label for method in planned.study.methods}
    assert "reweighing" in labels
    assert "minimax(rounds=5)" in labels  # it was named
    assert not {"fairway", "ecd_fair(budget=40)"} & labels
    (note,) = (n for n in planned.notes if "many fits" in n)
    assert "fairway" in note
    assert "ecd_fair" in note
