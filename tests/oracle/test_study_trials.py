"""Trials of the papers' studies against what the authors published, and through their tables."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from isonomy.papers import load_study, read_published
from isonomy.papers.cells import compare_cells, same_part
from isonomy.papers.chen_2022 import tables as chen_2022
from isonomy.papers.chen_2022.cases import PERFORMANCE
from isonomy.papers.chen_2022.reader import read_chen
from isonomy.papers.fairea_2021 import tables as fairea_2021
from isonomy.store import Record, records_frame, wide
from isonomy.study import Study, Task, keys, plan, run_trial
from tests.registry import real

EXACT = (
    "unmitigated",
    "reweighing",
    "calibrated_equalized_odds(cost=fnr)",
    "calibrated_equalized_odds(cost=fpr)",
    "calibrated_equalized_odds(cost=weighted)",
    "equalized_odds",
    "disparate_impact_remover",
    "prejudice_remover(eta=25)",
    "learning_fair_representations",
)
"""Methods whose seeds 0 to 2 on German equal the published ones in all 15 metrics.

Other seeds and tasks are listed in benchmarks/fidelity.md; random methods cannot be replayed.
"""


@pytest.fixture(scope="module")
def german() -> Study:
    real("german")
    return load_study("chen_2022").with_(tasks=["german/sex"])


@pytest.fixture(scope="module")
def runs(german: Study) -> list[Record]:
    """Seeds 0 to 2 of everything that runs with logistic regression."""
    study = german.with_(models=["lr"], repeats=3)
    return [record for trial in plan(study) for record in run_trial(study, trial)]


@pytest.fixture(scope="module")
def published(shared: Path) -> pd.DataFrame:
    folder = shared / "published" / "chen"
    if not (folder / "Results").is_dir():
        pytest.skip("the authors' archive of the 17-method study is not beside the repository")
    frame = read_chen(folder)
    keep = (frame["dataset"] == "german") & (frame["attributes"] == "sex")
    return frame[(keep & (frame["model"] == "lr")).to_numpy()]


@pytest.mark.parametrize("method", EXACT)
def test_seeds_of_german_equal_the_published_ones(
    runs: list[Record], published: pd.DataFrame, method: str
) -> None:
    metrics = [*PERFORMANCE.values(), *chen_2022.BIAS.values()]
    ours, theirs = (
        wide(frame[(frame["mitigator"] == method).to_numpy()], metrics)
        .sort_values("repeat")[metrics]
        .to_numpy()[:3]
        for frame in (records_frame(runs), published)
    )
    equal = (np.abs(ours - theirs) < 2e-6).all(axis=1)
    assert equal.all(), np.abs(ours - theirs).max(axis=1)


def test_nothing_of_the_study_failed(runs: list[Record], german: Study) -> None:
    assert {(r.status, r.reason) for r in runs if r.status != "ok"} == set()
    expected = {label for _, m in german.rows(Task("german", "sex")) for label in m.labels}
    assert {r.mitigator for r in runs} == expected


def test_op_has_its_own_rows_and_its_own_original_model(runs: list[Record]) -> None:
    first = {r.mitigator: r for r in runs if r.repeat == 0}
    op, rw, base = (
        first[m]
        for m in ("optimized_preprocessing", "reweighing", "mutation(strategy=majority, degree=0)")
    )
    assert (op.preparation, op.splitter) == ("coarse", "aif360")
    assert (rw.preparation, rw.splitter) == ("chen", "chen")
    assert op.rows == base.rows != rw.rows  # German's coarse set has all its rows


def test_every_chen_table_comes_out_of_our_own_runs(runs: list[Record]) -> None:
    frame = records_frame(runs)
    for name, recipe in chen_2022.TABLES.items():
        options = {"task": "German-Sex"} if name == "fig7" else {}
        made = recipe.make(frame, **options)
        # three runs are too few for any difference to be significant, and the table says so
        assert made.cases > 0 or any("Too few runs" in note for note in made.notes), name
    # 17 methods x 15 trade-offs x 3 runs of one model on one task
    assert chen_2022.fig8(frame).cases == 17 * 15 * 3


@pytest.mark.slow
def test_chen_regions_of_three_models(german: Study) -> None:
    study = german.with_(models=["lr", "rf", "svm"], repeats=2)
    frame = records_frame(r for trial in plan(study) for r in run_trial(study, trial))
    fig8 = chen_2022.fig8(frame)
    # 17 methods x 3 models x 15 trade-offs x 2 runs
    assert fig8.cases == 17 * 3 * 15 * 2
    assert fig8.data.loc["a"].index.tolist() == [*chen_2022.METHODS]
    np.testing.assert_allclose(fig8.data.loc[("c", "German-Sex")].sum(), 1)


def test_fairea_tables_come_out_of_our_own_runs() -> None:
    real("german")
    study = load_study("fairea_2021").with_(tasks=["german/sex"], repeats=2)
    records = [r for trial in plan(study) for r in run_trial(study, trial)]
    assert {(r.mitigator, r.reason) for r in records if r.status != "ok"} == set()
    frame = records_frame(records)
    for name, recipe in fairea_2021.TABLES.items():
        assert recipe.make(frame).title, name
    table = fairea_2021.table4(frame)
    assert set(table.data.index) >= {"LFR", "OP", "RW", "AD", "EO", "ROC_SPD", "Mean"}
    np.testing.assert_allclose(table.data.loc["EO", "SPD"].sum(), 1)
    off = "adversarial_debiasing(adversary_loss_weight=0)"
    mine = [r for r in records if r.model == off]
    assert {r.mitigator for r in mine if "mutation" not in r.mitigator} == {
        "unmitigated",
        "adversarial_debiasing(adversary_loss_weight=0.1)",
    }


OF_FORESTS = (
    "unmitigated",
    "reject_option(metric=spd)",
    "calibrated_equalized_odds(cost=fnr)",
    "equalized_odds",
    "disparate_impact_remover",
)


OF_SCORES = (
    "reweighing",
    "reject_option(metric=spd)",
    "calibrated_equalized_odds(cost=fnr)",
    "equalized_odds",
)


@pytest.mark.parametrize(
    ("paper", "task", "model", "methods", "repeats"),
    [
        ("chen_2022", "german/sex", "rf", OF_FORESTS, 10),
        # with weights a last bit away, or with the primal, seed 0 of age is not equal
        ("chen_2022", "german/age", "svm", (*OF_FORESTS, "reweighing"), 10),
        ("fairea_2021", "german/sex", "dt", OF_SCORES, 10),
        # labels of the margin; Platt's scores cannot be replayed
        ("fairea_2021", "german/sex", "svm", ("equalized_odds",), 5),
        # the library's release of the time, and its labels 1 and 2
        ("fairea_2021", "german/sex", "lr", ("learning_fair_representations",), 2),
        # leaves that are divided evenly
        ("fairea_2021", "compas/sex", "dt", ("equalized_odds",), 1),
    ],
)
def test_runs_replay_the_stream_of_the_split(
    paper: str, task: str, model: str, methods: tuple[str, ...], repeats: int, shared: Path
) -> None:
    """With a seed of their own instead, forests and trees equal no published run."""
    real(task.partition("/")[0])
    folder = shared / "published" / paper.partition("_")[0]
    if not folder.is_dir():
        pytest.skip("the authors' archives are not beside the repository")
    published = read_published(paper, folder)
    if model not in set(published["model"]):
        pytest.skip(f"the part of the authors' archive at hand holds no runs of {model}")
    study = load_study(paper).with_(tasks=[task], models=[model], repeats=repeats)
    records = [
        record
        for trial in plan(study)
        for record in run_trial(
            study, trial, [key for key, row in keys(study, trial).items() if row[1] in methods]
        )
    ]
    ours = records_frame(records)
    cells = compare_cells(ours, same_part(published, ours))
    assert sorted(cells["mitigator"].unique()) == sorted(methods)
    assert set(cells["runs"]) == {repeats}
    assert (cells["equal_runs"] == 1).all()
