"""The readers on the authors' own files, where they lie beside the repository."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from isonomy.papers import read_published
from isonomy.store import wide


def archive(shared: Path, study: str) -> pd.DataFrame:
    folder = shared / "published" / study
    if not folder.is_dir():
        pytest.skip(f"needs the archive of {study} in shared/published beside the repository")
    return read_published(study, folder)


def test_fairea_holds_the_shipped_part(shared: Path) -> None:
    frame = archive(shared, "fairea")
    assert (frame["reason"] == "").all()
    runs = wide(frame[frame["repeat"].notna()])
    assert np.isfinite(runs["accuracy"]).all()
    own = runs["model"].str.contains("(", regex=False)
    # two models x five tasks x ten methods x 50 runs
    assert (~own).sum() == 2 * 5 * 10 * 50
    # eta: 16 values for sex and 18 for race; weights: 20 values for five tasks
    assert own.sum() == (16 + 18) * 50 + 5 * 20 * 50
    curves = wide(frame[frame["repeat"].isna()], ["accuracy"])
    # 11 degrees x (10 baselines x 3 strategies + 7 x 2)
    assert len(curves) == 11 * (10 * 3 + 7 * 2)
    ends = curves[curves["mitigator"] == "mutation(strategy=majority, degree=1)"]
    by_task = ends.groupby("dataset", observed=True)["accuracy"].agg(["min", "max"]).round(4)
    assert by_task.loc["adult"].tolist() == [0.7515, 0.7515]
    assert by_task.loc["compas"].tolist() == [0.5446, 0.5446]
    assert by_task.loc["german"].tolist() == [0.7037, 0.7037]


def test_chen_holds_588_files_and_42_baselines(shared: Path) -> None:
    frame = archive(shared, "chen")
    runs = frame[frame["repeat"].notna()]
    assert len(runs) == 588 * 15 * 50
    assert len(frame) - len(runs) == 42 * 9 * 11
    assert frame["value"].notna().all()
    cell = runs[
        (runs["mitigator"] == "adversarial_debiasing")
        & (runs["dataset"] == "adult")
        & (runs["attributes"] == "race")
        & (runs["metric"] == "favorable_f1(zero_division=0)")
    ]
    assert cell["value"].iloc[:2].tolist() == [0.641784, 0.660836]


def test_biswas_aggregates_follow_from_the_runs_by_the_authors_rule(shared: Path) -> None:
    # ln DI and ln CNT per run; not finite -> the unmitigated value; three decimals. The fact
    # sheet's finding holds here too: titanic's aggregates belong to other runs than those shipped.
    frame = archive(shared, "biswas")
    layer = dict(iter(frame.groupby("study", observed=True)))
    runs, means = wide(layer["biswas_2020:published"]), wide(layer["biswas_2020:all_model"])
    keys = ["dataset", "model", "mitigator"]
    with np.errstate(divide="ignore"):
        runs["log_disparate_impact"] = np.log(runs["disparate_impact"])
        runs["ln(consistency)"] = np.log(runs["consistency"])
    metrics = [c for c in means.columns[6:] if c in runs]
    assert len(metrics) == 9
    ours = runs.set_index(keys)[metrics].astype(float).replace([np.inf, -np.inf], np.nan)
    theirs = means.set_index(keys)[metrics].astype(float).reindex(ours.index)
    base = ours.xs("unmitigated", level="mitigator").reindex(ours.index.droplevel("mitigator"))
    filled = ours.where(ours.notna(), base.set_axis(ours.index)).round(8).round(3)
    same = (filled - theirs).abs() < 1e-9
    by_task = same.groupby(level="dataset", observed=True).sum().sum(axis=1)
    others = by_task.drop("titanic")  # whichever of german, adult, bank, home_credit a folder holds
    assert len(others) >= 3
    assert (others == 576).all()
    assert by_task["titanic"] == 576 - 561


def test_biswas_paper_layer_is_forty_models_and_eight_rows(shared: Path) -> None:
    frame = archive(shared, "biswas")
    paper = wide(frame[frame["study"] == "biswas_2020:paper"])
    assert paper["model"].nunique() == 40
    assert len(paper) == 40 * 8
    gc4 = paper[(paper["model"] == "GC4") & (paper["mitigator"] == "unmitigated")].iloc[0]
    assert gc4["accuracy"] == 0.753
    assert gc4["theil_index"] == 0.153
