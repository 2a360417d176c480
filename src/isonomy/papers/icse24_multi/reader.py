"""The results of Chen et al. (ICSE 2024), as their repository lays them out."""

import re
from pathlib import Path

import pandas as pd

from isonomy.papers.archive import (
    PUBLISHED,
    File,
    curve_blocks,
    list_files,
    named_rows,
    refuse_empty,
    run_block,
)
from isonomy.papers.icse24_multi.cases import ATTRIBUTES, DATASETS, METHODS, RUNS, SIZES
from isonomy.papers.subgroups import GAPS, PERFORMANCE, WORST, of_group, size_of
from isonomy.store.record import Block

ARCHIVE = "the ICSE'24 study's result files (such as rew_lr_adult_multi.txt)"
"""What a folder of the authors' files holds."""

_STUDY = f"icse24_multi{PUBLISHED}"
_SHORT = {"rw": "rew", "meta": "meta1", "ceo": "ceo1", "roc": "roc1"}
_LABELS = DATASETS | {"defaul": DATASETS["default"]}  # cut short
_METHODS = {
    "default": "unmitigated",
    **{_SHORT.get(label, label): name for label, name in METHODS.items()},
    # variants that the tables do not use
    "meta2": "meta_fair_classifier(constraint=sr)",
    "ceo2": "calibrated_equalized_odds(cost=fpr)",
    "ceo3": "calibrated_equalized_odds(cost=weighted)",
    "roc2": "reject_option(metric=aod)",
    "roc3": "reject_option(metric=eod)",
}
_FILE = re.compile(
    rf"^({'|'.join(_METHODS)})_(lr|rf|svm|dl)_({'|'.join(_LABELS)})_(sex|race|age|multi)\.txt$"
)
_CURVE = re.compile(rf"^({'|'.join(_LABELS)})_(lr|rf|svm|dl)_baseline$")
_BASELINE = PERFORMANCE | {short: WORST[f"wc{short}"] for short in GAPS}
# what the files list of a group under the name of a gap
_RATES = {
    "spd": "selection_rate",
    "aod": "true_positive_rate+false_positive_rate",
    "eod": "true_positive_rate",
}


def read_icse24(folder: str | Path) -> pd.DataFrame:
    """Read the results of Chen et al.: runs of one and of two attributes, and their baselines.

    Files of two attributes name recall before precision, and are read by their names. AD, PR and
    Meta were run once, beside ``lr``. Side 1 of an attribute is the one that the study calls
    privileged.

    References
    ----------
    Chen, Zhang, Sarro and Harman 2024, Fairness Improvement with Multiple Protected Attributes:
    How Far Are We?, ICSE.
    """
    blocks: list[Block] = []
    for file in list_files(folder):
        if match := _FILE.match(file.name):
            blocks.append(_runs(file, match))
        elif match := _CURVE.match(file.name):
            dataset = _LABELS[match[1]]
            place = (_STUDY, dataset, "+".join(ATTRIBUTES[dataset]), match[2])
            blocks += curve_blocks(place, "majority", *named_rows(file, _BASELINE))
    return refuse_empty(blocks, folder, ARCHIVE)


def _runs(file: File, match: re.Match[str]) -> Block:
    dataset, attribute = _LABELS[match[3]], match[4]
    names = _of_both(ATTRIBUTES[dataset])
    attributes = "+".join(ATTRIBUTES[dataset])
    if attribute != "multi":
        (other,) = (a for a in ATTRIBUTES[dataset] if a != attribute)
        attributes = attribute
        names = PERFORMANCE | SIZES | {f"{short}2": size_of(short, other) for short in GAPS}
    return run_block(file, names, (_STUDY, dataset, attributes, match[2], _METHODS[match[1]]), RUNS)


def _of_both(attributes: tuple[str, ...]) -> dict[str, str]:
    names = PERFORMANCE | WORST
    for short, rate in _RATES.items():
        for i, attribute in enumerate(attributes):
            names |= {f"{short}{i}-{side}": of_group(rate, [attribute], side) for side in "01"}
            names[f"{short}{i}"] = size_of(short, attribute)
        names |= {
            f"wc{short}-{a}{b}": of_group(rate, attributes, (a, b)) for a in "01" for b in "01"
        }
    return names
