"""The results of Chen et al. (ICSE 2025), as their repository lays them out."""

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
from isonomy.papers.fairhome_2025.cases import ATTRIBUTES, BIAS, DATASETS, METHODS, METRICS, RUNS
from isonomy.papers.subgroups import GAPS, PERFORMANCE, size_of
from isonomy.store.record import Block

ARCHIVE = "FairHOME's result files (such as fairhome_lr_adult.txt)"
"""What a folder of the authors' files holds."""

_STUDY = f"fairhome_2025{PUBLISHED}"
_LABELS = DATASETS | {"defaul": DATASETS["default"]}  # cut short
_METHODS = {
    "origin": "unmitigated",
    **METHODS,
    # the paper's own variants, by their number
    **{f"fairhome{i}": f"fairhome(variant={i})" for i in range(1, 6)},
}
_FILE = re.compile(rf"^({'|'.join(_METHODS)})_(lr|rf|svm|dl)_({'|'.join(_LABELS)})\.txt$")
_CURVE = re.compile(rf"^({'|'.join(_LABELS)})_(lr|rf|svm|dl)_baseline$")


def read_fairhome(folder: str | Path) -> pd.DataFrame:
    """Read the results of Chen et al.: runs of all protected attributes at once, and their baselines.

    AD and GRY were run once, beside ``lr``.

    References
    ----------
    Chen, Li, Zhang, Sarro and Liu 2025, Diversity Drives Fairness: Ensemble of Higher Order Mutants
    for Intersectional Fairness of Machine Learning Software, ICSE.
    """
    blocks: list[Block] = []
    for file in list_files(folder):
        if match := _FILE.match(file.name):
            dataset = _LABELS[match[3]]
            own = {
                f"{short}{i}": size_of(short, attribute)
                for i, attribute in enumerate(ATTRIBUTES[dataset])
                for short in GAPS
            }
            place = (_STUDY, dataset, "+".join(ATTRIBUTES[dataset]), match[2], _METHODS[match[1]])
            blocks.append(run_block(file, METRICS | own, place, RUNS))
        elif match := _CURVE.match(file.name):
            dataset = _LABELS[match[1]]
            line = (_STUDY, dataset, "+".join(ATTRIBUTES[dataset]), match[2])
            blocks += curve_blocks(line, "majority", *named_rows(file, PERFORMANCE | BIAS))
    return refuse_empty(blocks, folder, ARCHIVE)
