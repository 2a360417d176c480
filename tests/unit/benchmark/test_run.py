"""The headline in one call: names, frames and datasets, and the room that is called."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import isonomy
from isonomy.benchmark.cases import MORE_SPLITS
from isonomy.benchmark.plan import more_splits, plan_benchmark
from isonomy.errors import InputError
from isonomy.metrics import METRICS
from isonomy.store import Store
from isonomy.study.run import study_of

FEW: dict[str, Any] = {"methods": "reweighing", "resamples": 50, "backend": "serial"}


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    n = 400
    sex, skill = rng.choice(["f", "m"], n), rng.normal(size=n)
    hired = skill + (sex == "m") + rng.normal(size=n) > 0.5
    return pd.DataFrame(
        {"sex": sex, "skill": skill, "age": rng.integers(18, 80, n), "y": hired * 1}
    )


def test_a_frame_and_a_dataset_give_the_same_methods(people: pd.DataFrame) -> None:
    frame = isonomy.benchmark(people, label="y", sensitive_features="sex", repeats=2, **FEW)
    assert frame.frame()["method"].tolist() == ["reweighing"]
    assert set(frame.sections[0].verdicts[0].others) == {"age (quarter)"}
    data = isonomy.Dataset.from_frame(
        people, label="y", sensitive_features=["sex"], privileged={"sex": "m"}, name="data"
    )
    whole = isonomy.benchmark(data, sensitive_features="sex", repeats=2, **FEW)
    assert whole.sections[0].baseline.bias[0] == pytest.approx(frame.sections[0].baseline.bias[0])


def test_a_folder_goes_on_and_progress_counts_what_was_done(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    for repeats in (1, 2):
        isonomy.benchmark(
            "synthetic(n=400)",
            sensitive_features="group",
            repeats=repeats,
            folder=tmp_path / "runs",
            progress=lambda done, total: seen.append((done, total)),
            **FEW,
        )
    assert seen == [(0, 1), (1, 1), (1, 2), (2, 2)]


def test_the_original_model_alone_runs_on_more_splits(tmp_path: Path) -> None:
    result = isonomy.benchmark(
        "synthetic(n=400)", sensitive_features="group", repeats=6, folder=tmp_path, **FEW
    )
    (section,) = result.sections
    assert (section.repeats, section.gap.splits) == (6, 100)
    store = Store.open(tmp_path / "store")
    assert study_of(store).repeats == 6  # the store is of the benchmark, whatever ran last
    # the same rows, and nearly the same model: medians and levels are those of all rows
    counts = {(r.mitigator, r.repeat): r for r in store.records()}
    first, alone = (counts[name, 0] for name in ("unmitigated", MORE_SPLITS))
    assert first.rows == alone.rows
    accuracy = METRICS["accuracy"](alone.counts.base)
    assert accuracy == pytest.approx(first.metrics["accuracy"], abs=0.02)
    assert not alone.metrics  # its counts are read, and nothing else
    # few repeats compare nothing, and many rows need no more splits
    plan = plan_benchmark("synthetic(n=400)", sensitive_features="group", repeats=5)
    assert more_splits(plan) is None
    plan = plan_benchmark("synthetic(n=400)", sensitive_features="group", repeats=10)
    assert more_splits(replace(plan, rows=50_000)) is None


def test_what_a_dataset_declares_is_not_said_again(people: pd.DataFrame) -> None:
    with pytest.raises(InputError, match="must be left out"):
        isonomy.benchmark("synthetic", label="y", sensitive_features="group")
    with pytest.raises(InputError, match="column to predict must be named"):
        isonomy.benchmark(people, sensitive_features="sex")


def test_the_room_can_be_called_whatever_was_imported_first() -> None:
    code = "import isonomy; import isonomy.benchmark.plan; print(callable(isonomy.benchmark))"
    code += "; import isonomy.audit.judge as j; print(callable(isonomy.audit), j.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True", "isonomy.audit.judge"]


def test_a_pipeline_of_ones_own_is_run_continued_and_never_mixed(
    people: pd.DataFrame, tmp_path: Path
) -> None:
    ask: dict[str, Any] = {"label": "y", "sensitive_features": "sex", "repeats": 2, **FEW}
    mine = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000, random_state=0))
    own = isonomy.benchmark(people, models=mine, folder=tmp_path, **ask)
    named = isonomy.benchmark(people, models="lr", **ask)
    assert own.sections[0].model == "LogisticRegression"
    first, other = (result.sections[0].baseline for result in (own, named))
    assert (first.performance[0], first.bias[0]) == (other.performance[0], other.bias[0])
    assert not hasattr(mine[-1], "coef_")  # a clone was fitted
    seen: list[tuple[int, int]] = []
    again = isonomy.benchmark(
        people, models=mine, folder=tmp_path, progress=lambda *now: seen.append(now), **ask
    )
    assert seen == [(2, 2)]
    assert again.frame().equals(own.frame())
    with pytest.raises(InputError, match="under another one"):
        isonomy.benchmark(
            people, models=clone(mine).set_params(logisticregression__C=9), folder=tmp_path, **ask
        )
