"""The results of Biswas and Rajan (ESEC/FSE 2020), as their repository lays them out."""

import io
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from isonomy._arrays import Floats
from isonomy.papers.archive import PUBLISHED, File, list_files, numbers, refuse_empty
from isonomy.papers.biswas_2020.tables import BEFORE, LOGARITHMS, METHODS, METRICS
from isonomy.papers.biswas_2020.workbook import read_sheet
from isonomy.store.record import Block

ARCHIVE = "the Kaggle study's files (src/models/*/res/*/1.csv, artifact-result.xlsx)"
"""What a folder of the authors' files holds."""

_MITIGATORS = (BEFORE, *METHODS.values())
_MEANS = tuple(METRICS.values())
_RUN = tuple(LOGARITHMS.get(metric, metric) for metric in _MEANS)
_TASKS = {
    "german": ("GC", "sex"),
    "adult": ("AC", "race"),
    "bank": ("BM", "age"),
    "home": ("HC", "sex"),
    "titanic": ("TM", "Sex"),
}
_DATASETS = {task: task for task in _TASKS} | {"home": "home_credit"}  # the names of our own study
_NAMES = {prefix: (task, attribute) for task, (prefix, attribute) in _TASKS.items()}
_FILE = re.compile(r"(?P<task>[a-z]+)/res/[a-z]+(?P<model>\d+)/(?P<run>\d+)\.csv$")
_ALL = re.compile(r"(?P<task>[a-z]+)/all_model\.csv$")


def read_biswas(folder: str | Path) -> pd.DataFrame:
    """Read the results of Biswas and Rajan: 40 Kaggle models and seven methods.

    There are three layers, distinguished by ``study``: ``biswas_2020:published`` are the single runs
    as shipped, ``biswas_2020:all_model`` their aggregates by the authors' script,
    ``biswas_2020:paper`` the ten-run means behind the paper (``artifact-result.xlsx``). The last two hold logarithms of
    disparate impact and consistency and have no repeat.

    References
    ----------
    Biswas and Rajan 2020, Do the Machine Learning Models on a Crowd Sourced Platform Exhibit
    Bias? An Empirical Study on Model Fairness, ESEC/FSE.
    """
    blocks: list[Block] = []
    for file in list_files(folder):
        path = file.whole.as_posix()
        if (match := _FILE.search(path)) and match["task"] in _TASKS:
            blocks += _run(file, match["task"], match["model"], int(match["run"]) - 1)
        elif (match := _ALL.search(path)) and match["task"] in _TASKS:
            blocks += _table(file, match["task"])
        elif file.name == "artifact-result.xlsx":
            blocks += _workbook(file)
    return refuse_empty(blocks, folder, ARCHIVE)


def _run(file: File, task: str, number: str, repeat: int) -> Iterator[Block]:
    prefix, attribute = _TASKS[task]
    values = _csv(file).to_numpy(dtype=np.float64)
    reason = ""
    if len(values) > len(_MITIGATORS):
        reason = f"the file has {len(values)} rows; the last method ran more than once"
    for mitigator, row in zip(_MITIGATORS, values, strict=False):
        for undefined in (False, True):
            selected = np.isfinite(row) != undefined
            if selected.any():
                # a rate over nothing, or a ratio to a rate of 0: as the authors' files have it
                why = "0 in the denominator" if undefined else ""
                yield Block(
                    f"biswas_2020{PUBLISHED}",
                    _DATASETS[task],
                    attribute,
                    f"{prefix}{number}",
                    mitigator,
                    tuple(np.array(_RUN)[selected].tolist()),
                    row[selected, None],
                    range(repeat, repeat + 1),
                    reason="; ".join(filter(None, (reason, why))),
                )


def _csv(file: File) -> pd.DataFrame:
    return pd.read_csv(io.BytesIO(file.read()))


def _table(file: File, task: str) -> Iterator[Block]:
    prefix, attribute = _TASKS[task]
    table = _csv(file)
    # the eight blocks of nine metrics are separated by empty columns named like a method
    metrics = set(table.columns[1:10])
    columns = [c for c in table.columns if c.split(".")[0] in metrics]
    rows = table[columns].to_numpy(dtype=np.float64)
    for number, row in zip(table["Model"].astype(int), rows, strict=True):
        yield from _means("biswas_2020:all_model", task, attribute, f"{prefix}{number}", row)


def _workbook(file: File) -> Iterator[Block]:
    wanted = len(_MITIGATORS) * len(_MEANS)
    for row in read_sheet(file.read(), "all-result").values():
        name = str(row.get("B", ""))
        prefix = name[:2]
        if prefix in _NAMES:
            task, attribute = _NAMES[prefix]
            values = [v for column, v in row.items() if column not in {"A", "B"}]
            means = numbers(file, map(str, values[:wanted]))
            yield from _means("biswas_2020:paper", task, attribute, name.split("-")[0], means)


def _means(study: str, task: str, attribute: str, model: str, row: Floats) -> Iterator[Block]:
    values = row.reshape(len(_MITIGATORS), len(_MEANS))
    for mitigator, means in zip(_MITIGATORS, values, strict=True):
        place = (study, _DATASETS[task], attribute, model, mitigator)
        yield Block(*place, _MEANS, means[:, None], None)
