"""What the study of forty Kaggle models costs: all CPU, and the part inside the learners' fits.

    python benchmarks/run.py forty_models       from the runs in out/biswas_2020 and
                                                out/biswas_2020_corrected, else in results/
    isonomy study run biswas_2020               makes them: 8 rows of every model

Every record says what it cost. A model's mean cost per repeat times ten is the whole study's, also
where some repeats are missing; without a stored run one repeat is run here (about 10 minutes). Home
Credit's eight models are counted where their file is.
"""

import tempfile
from pathlib import Path

import pandas as pd
from table import Row, within

__all__ = ["TITLE", "rows"]

TITLE = "Part 12: forty Kaggle models"
RATIO = 1.3
REPEATS = 10
ROWS = 8
OUT = Path(__file__).resolve().parents[1] / "out"
RESULTS = OUT.parent / "results"


def _costs(study: str) -> pd.DataFrame:
    """Return the CPU of each model and repeat, and the part of it in fits."""
    from isonomy.papers import load_study
    from isonomy.store import Store
    from isonomy.study import Results, run

    folder, file = OUT / study, RESULTS / f"{study}.parquet"
    store = Results.open(file) if file.exists() else None
    if (folder / "store.json").exists():
        store = Store.open(folder)
    elif store is None:
        folder = Path(tempfile.mkdtemp()) / study
        run(load_study(study).with_(repeats=1), folder)
        store = Store.open(folder)
    return store.query(
        "select dataset, model, repeat, sum(cpu) cpu, sum(fit_cpu) fits from runs group by all "
        f"having count(*) = {ROWS} and count(*) filter (status = 'ok') > 0"
    )


def rows() -> list[Row]:
    out = []
    for study, word, floor in (
        ("biswas_2020", "as published", RATIO),
        ("biswas_2020_corrected", "corrected", None),
    ):
        costs = _costs(study)
        each = costs.groupby(["dataset", "model"])[["cpu", "fits"]].mean()
        for dataset, part in each.groupby(level="dataset"):
            cpu, fits = part.sum()
            job = f"{word}: {len(part)} models of {dataset}, one repeat"
            out.append(within(job, "their fits", cpu, fits))
        cpu, fits = REPEATS * each.sum()
        repeats = costs.groupby("model")["repeat"].nunique()
        note = (
            f"from {len(costs)} stored runs of a model ({ROWS} rows each, {repeats.min()} to "
            f"{repeats.max()} repeats)"
        )
        job = f"{word}: {len(each)} models, {REPEATS} repeats, {ROWS} rows"
        out.append(within(job, "their fits", cpu, fits, floor, note))
    return out
