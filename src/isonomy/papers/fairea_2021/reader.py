"""The results of Fairea (ESEC/FSE 2021), as its repository lays them out."""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from isonomy._arrays import Floats
from isonomy.errors import InputError
from isonomy.papers.archive import PUBLISHED, File, curve_blocks, list_files, numbers, refuse_empty
from isonomy.papers.fairea_2021.cases import GAPS, IN, METHODS, SWEEPS
from isonomy.store.record import Block

ARCHIVE = "Fairea's result files (such as rew_lr_adult_sex_0_50.txt)"
"""What a folder of the authors' files holds."""

_STUDY = f"fairea_2021{PUBLISHED}"

_OUTSIDE = [name for label, name in METHODS.items() if label not in IN]
_PREFIXES = ("lfr", "op", "rew", "co1", "co2", "co3", "roc1", "roc2", "roc3", "eo")
_METHODS = dict(zip(_PREFIXES, _OUTSIDE, strict=True))
_RUN = re.compile(
    rf"^(?P<method>{'|'.join(_METHODS)})_(?P<model>lr|dt|svm)_"
    r"(?P<dataset>[a-z]+)_(?P<attribute>[a-z]+)(_.*)?\.txt$"
)
_SWEEP = re.compile(r"^(?P<sweep>eta|weights)_(?P<dataset>[a-z]+)_(?P<attribute>[a-z]+)\.txt$")
_BASELINE = re.compile(r"^((?P<model>lr|dt|svm)_)?(?P<dataset>[a-z]+)_(?P<attribute>[a-z]+)\.txt$")
_HEADINGS = {"Accuracy": "accuracy", **GAPS, "Theil": "theil_index"}
_COLUMNS = tuple(_HEADINGS[heading] for heading in ("SPD", "Accuracy", "AOD", "Theil"))
_SWEPT = dict(
    zip(("eta", "weights"), ("{}({}={{}})".format(*s) for s in SWEEPS.values()), strict=True)
)
_SWITCHED_OFF = {
    "prejudice": _SWEPT["eta"].format(0),
    "adversarial": _SWEPT["weights"].format(0),
}


def read_fairea(folder: str | Path) -> pd.DataFrame:
    """Read the results of Fairea: runs, parameter sweeps and mutation baselines.

    The two in-processing methods bring their own model; its name is the method switched off
    (``prejudice_remover(eta=0)``), which is what the study mutated for their baseline. A baseline
    row is a mean over 50 splits x 50 mutations and has no repeat. Which line of a baseline file is
    which strategy follows from the accuracy at 100 %, as the paper defines it.

    References
    ----------
    Hort, Zhang, Sarro and Harman 2021, Fairea: A Model Behaviour Mutation Approach to
    Benchmarking Bias Mitigation Methods, ESEC/FSE.
    """
    blocks: list[Block] = []
    for file in list_files(folder):
        if match := _RUN.match(file.name):
            name = _METHODS[match["method"]]
            blocks.append(_runs(file, file.lines(), match, match["model"], name))
        elif match := _SWEEP.match(file.name):
            blocks += _sweep(file, match)
        elif match := _BASELINE.match(file.name):
            folder_name = file.whole.parent.name
            own = [m for word, m in _SWITCHED_OFF.items() if word in folder_name]
            model = match["model"] or (own[0] if own else None)
            if model is not None:
                blocks += _baseline(file, match["dataset"], match["attribute"], model)
    return refuse_empty(blocks, folder, ARCHIVE)


def _runs(file: File, lines: list[str], match: re.Match[str], model: str, mitigator: str) -> Block:
    rows = [line.split() for line in lines]
    columns = {len(row) for row in rows}
    if len(columns) != 1 or not columns <= {3, 4}:
        raise InputError(
            f"{file.path} must hold lines of 3 or 4 numbers; it has lines of "
            f"{', '.join(map(str, sorted(columns)))}."
        )
    values = numbers(file, (word for row in rows for word in row)).reshape(len(rows), -1).T
    task = match["dataset"], match["attribute"]
    metrics = _COLUMNS[: len(values)]
    return Block(_STUDY, *task, model, mitigator, metrics, values, range(len(rows)))


def _sweep(file: File, match: re.Match[str]) -> Iterator[Block]:
    lines = file.lines()
    starts = [i for i, line in enumerate(lines) if len(line.split()) == 1]
    name = _SWEPT[match["sweep"]]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        value = float(numbers(file, [lines[start]])[0])
        swept = name.format(f"{value:g}")
        yield _runs(file, lines[start + 1 : end], match, name.format(0), swept)


def _baseline(file: File, dataset: str, attribute: str, model: str) -> Iterator[Block]:
    curves: dict[str, list[Floats]] = {}
    metric = ""
    for line in file.lines():
        if line.strip() in _HEADINGS:
            metric = _HEADINGS[line.strip()]
        elif metric:
            curves.setdefault(metric, []).append(numbers(file, line.split()))
    if "accuracy" not in curves or len({len(c) for c in curves.values()}) != 1:
        raise InputError(
            f"{file.path} must hold as many baselines of each metric, accuracy among them."
        )
    best_first = np.argsort([-curve[-1] for curve in curves["accuracy"]], kind="stable")
    words = {1: ("majority",), 2: ("majority", "minority"), 3: ("majority", "random", "minority")}
    for strategy, line_number in zip(words[len(best_first)], best_first, strict=True):
        values = np.array([lines[line_number] for lines in curves.values()])
        place = (_STUDY, dataset, attribute, model)
        yield from curve_blocks(place, strategy, tuple(curves), values)
