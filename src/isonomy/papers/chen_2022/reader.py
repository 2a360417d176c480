"""The results of Chen et al. (TOSEM 2023), as their repository lays them out."""

import re
from pathlib import Path

import pandas as pd

from isonomy.papers.archive import (
    PUBLISHED,
    curve_blocks,
    list_files,
    named_rows,
    refuse_empty,
    run_block,
)
from isonomy.papers.chen_2022.cases import BIAS, METHODS, NAMES
from isonomy.store.record import Block

ARCHIVE = "Chen's result files (such as rw_lr_adult_sex.txt)"
"""What a folder of the authors' files holds."""

_STUDY = f"chen_2022{PUBLISHED}"

_PREFIXES = (
    "op lfr rw dir pr ad mfc1 mfc2 roc1 roc2 roc3 ceo1 ceo2 ceo3 eo fairway fairsmote"  # as METHODS
)
_METHODS = {"default": "unmitigated", **dict(zip(_PREFIXES.split(), METHODS.values(), strict=True))}
_SIDES = {"1": "F", "0": "UnF", "_macro": "Mac"}
_METRICS = {
    "accuracy": "accuracy",
    "mcc": NAMES["MCC"],
    **{label.lower(): metric for label, metric in BIAS.items()},
    **{
        f"{rate}{digit}": NAMES[f"{side}-{short}"]
        for rate, short in (("recall", "R"), ("precision", "P"), ("f1score", "F1"))
        for digit, side in _SIDES.items()
    },
}
_BASELINE = {label: NAMES[label] for label in (*BIAS, "Acc", "Mac-P", "Mac-R", "Mac-F1", "MCC")}
_DATASETS = {"mep": "meps"}
_REPEATS = 50
_FILE = re.compile(r"^([a-z0-9]+)_([a-z0-9]+)_([a-z]+)_([A-Za-z]+)\.txt$")
_CURVE = re.compile(r"^([a-z]+)_([a-z0-9]+)_([A-Za-z]+)_baseline$")


def read_chen(folder: str | Path) -> pd.DataFrame:
    """Read the results of Chen et al.: 17 methods' runs and the mutation baselines.

    Undefined precisions and the like were counted as 0 (``zero_division=0``). PR, AD, MFC and
    Fairway bring their own model and were run beside ``lr`` only; their rows say ``lr``.

    References
    ----------
    Chen, Zhang, Sarro and Harman 2023, A Comprehensive Empirical Study of Bias Mitigation Methods
    for Machine Learning Classifiers, TOSEM 32(4).
    """
    blocks: list[Block] = []
    for file in list_files(folder):
        if (match := _FILE.match(file.name)) and match[1] in _METHODS:
            dataset = _DATASETS.get(match[3], match[3])
            place = (_STUDY, dataset, match[4].lower(), match[2], _METHODS[match[1]])
            blocks.append(run_block(file, _METRICS, place, _REPEATS))
        elif match := _CURVE.match(file.name):
            names, values = named_rows(file, _BASELINE)
            line = (_STUDY, _DATASETS.get(match[1], match[1]), match[3].lower(), match[2])
            blocks += curve_blocks(line, "majority", names, values)
    return refuse_empty(blocks, folder, ARCHIVE)
