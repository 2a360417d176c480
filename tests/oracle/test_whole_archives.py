"""Folders of the shape of the three whole archives of several attributes, with made-up numbers.

Only a part of each archive lies beside the repository. The readers must take the whole of it, and
every printed cell must then be one that is compared.
"""

from collections.abc import Iterable
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from isonomy.papers import PAPERS, read_published
from isonomy.papers.icse24_multi.reader import _of_both

MODELS = ("lr", "rf", "svm", "dl")
FIVE = ["accuracy", "recall", "precision", "f1score", "mcc"]
WORST = ["wcspd", "wcaod", "wceod"]
AVERAGE = ["avespd", "aveaod", "aveeod"]
GAPS = ["spd", "aod", "eod"]

pytestmark = pytest.mark.slow


class Folder:
    def __init__(self, place: Path) -> None:
        self.place, self.rng, self.files = place, np.random.default_rng(0), 0

    def write(self, name: str, rows: Iterable[str], runs: int = 20, *, mean: bool = False) -> None:
        rows = [*rows]
        values = self.rng.uniform(0.1, 0.9, (len(rows), runs))
        if mean:
            values = np.column_stack([values, values.mean(axis=1)])
        lines = ("\t".join([k, *(f"{v:.6f}" for v in row)]) for k, row in zip(rows, values, strict=True))  # fmt: skip
        (self.place / name).write_text("\n".join(lines) + "\n")
        self.files += 1


def models_of(method: str, own: tuple[str, ...]) -> tuple[str, ...]:
    return ("lr",) if method in own else MODELS


def test_icse24(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    both = {"adult": ("sex", "race"), "compas": ("sex", "race"), "default": ("sex", "age")}
    both |= {"mep1": ("sex", "race"), "mep2": ("sex", "race")}
    methods = [
        "default",
        "rew",
        "dir",
        "eop",
        "ceo1",
        "ceo2",
        "ceo3",
        "roc1",
        "roc2",
        "roc3",
        "fairsmote",
        "fairmask",
        "maat",
    ]
    own = ("adv", "pr", "meta1", "meta2")
    for (dataset, attributes), method in product(both.items(), [*methods, *own]):
        for model in models_of(method, own):
            for attribute in attributes:
                name = f"{method}_{model}_{dataset}_{attribute}.txt"
                folder.write(name, [*FIVE, *GAPS, *(f"{gap}2" for gap in GAPS)])
            label = "defaul" if (dataset, method) == ("default", "rew") else dataset
            rows = dict.fromkeys([*FIVE, *_of_both(attributes)])
            folder.write(f"{method}_{model}_{label}_multi.txt", rows)
    for dataset, model in product(both, MODELS):
        folder.write(f"{dataset}_{model}_baseline", [*FIVE, *GAPS], 11)
    assert folder.files == 560 + 280 + 20
    frame = read_published("icse24", tmp_path)
    assert frame["dataset"].nunique() == 5
    cells = {"table5": 22, "table6": 10, "table7": 22, "table8": 33, "table9": 240, "fig1": 55, "fig2": 396}  # fmt: skip
    for name, count in cells.items():
        assert len(PAPERS["icse24"].make(name, frame).compare()) == count, name


def test_fairhome(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    methods = [
        "origin",
        "rew",
        "eop",
        "fairsmote",
        "maat",
        "fairmask",
        "fairhome",
        "fairhome1",
        "fairhome2",
        "fairhome3",
    ]
    own = ("adv", "gry")
    for dataset in ("adult", "default", "german", "mep1", "mep2", "compas_new"):
        three = dataset == "compas_new"
        gaps = [f"{gap}{i}" for i in range(3 if three else 2) for gap in GAPS]
        for method in (*methods, *own, *(("fairhome4", "fairhome5") if three else ())):
            for model in models_of(method, own):
                rows = [*FIVE, *gaps, *WORST, *AVERAGE]
                folder.write(f"{method}_{model}_{dataset}.txt", rows, mean=True)
        for model in MODELS:
            folder.write(f"{dataset}_{model}_baseline", [*FIVE, *WORST, *AVERAGE], 11)
    assert folder.files == 210 + 50 + 24
    frame = read_published("fairhome", tmp_path)
    assert frame["dataset"].nunique() == 6
    for name, count in {
        "table2": 528,
        "table3": 44,
        "table4": 96,
        "table5": 49,
        "fig2": 40,
    }.items():
        assert len(PAPERS["fairhome"].make(name, frame).compare()) == count, name


def test_zerosum(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    tasks = ["adult_sex", "adult_race", "compas_sex", "compas_race", "german_sex", "german_age", "bank_age", "mep_RACE"]  # fmt: skip
    methods = ["origin", "rew", "eop", "fairsmote", "maat", "fairmask", "mirrorfair", "mirrorfairu"]
    single = [*methods, "ltdd", "naivebase"]
    sides = [f"{rate}{side}" for rate in ("sr", "fpr", "tpr") for side in "pu"]
    groups = [f"{rate}{a}{b}" for rate in ("sr", "fpr", "tpr") for a in "01" for b in "01"]
    for task, method in product(tasks, [*single, "adv"]):
        for model in models_of(method, ("adv",)):
            folder.write(f"{method}_{model}_{task}.txt", [*FIVE, *sides, *GAPS], mean=True)
    assert folder.files == 328
    for dataset, method in product(("adult", "compas", "german"), [*methods, "adv"]):
        for model in models_of(method, ("adv",)):
            folder.write(f"{method}_{model}_{dataset}_multi.txt", [*FIVE, *groups, *WORST], mean=True)  # fmt: skip
    assert folder.files == 328 + 99
    frame = read_published("zerosum", tmp_path)
    assert frame["dataset"].nunique() == 5
    for name in ("table2", "table3"):
        assert len(PAPERS["zerosum"].make(name, frame).compare()) == 144, name
