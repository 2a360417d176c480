"""What the tables of the study of several attributes are made of: its names, its runs, its cases."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from isonomy.papers.changes import everywhere
from isonomy.papers.judge import Curves, curves_of, runs_of
from isonomy.papers.subgroups import GAPS, PERFORMANCE, WORST, size_of
from isonomy.papers.table import Reading
from isonomy.store.record import magnitude

DATASETS: dict[str, str] = {
    "adult": "adult",
    "compas": "compas",
    "default": "default_credit",
    "mep1": "meps",
    "mep2": "meps(panel=21)",
}
"""The five datasets by the paper's label."""

ATTRIBUTES: dict[str, tuple[str, ...]] = {
    name: ("sex", "age") if label == "default" else ("sex", "race")
    for label, name in DATASETS.items()
}
"""The two protected attributes of each dataset."""

METHODS: dict[str, str] = {
    "rw": "reweighing",
    "dir": "disparate_impact_remover",
    "meta": "meta_fair_classifier(constraint=fdr)",
    "adv": "adversarial_debiasing",
    "pr": "prejudice_remover",
    "eop": "equalized_odds",
    "ceo": "calibrated_equalized_odds(cost=fnr)",
    "roc": "reject_option(metric=spd)",
    "fairsmote": "fair_smote",
    "maat": "maat",
    "fairmask": "fair_mask",
}
"""The eleven methods of the tables by the paper's label; of three variants the first was taken."""

OWN_MODEL = tuple(METHODS[label] for label in ("meta", "adv", "pr"))
"""They bring their own model: one set of runs is counted beside every model."""

MODELS: tuple[str, ...] = ("lr", "rf", "svm", "dl")
"""The four base models."""

RUNS = 20
"""How often the study ran everything."""

SIZES: dict[str, str] = {short: magnitude(gap) for short, gap in GAPS.items()}
"""The gaps of the attribute under test by the paper's label."""

PAIRS: tuple[tuple[str, str], ...] = tuple((gap, score) for gap in WORST for score in PERFORMANCE)
"""The fifteen trade-offs."""

_SWAPPED = {"precision": "recall", "recall": "precision"}


def scores(reading: Reading) -> dict[str, str]:
    """Return the performance metrics of runs of several attributes as an analysis reads them.

    Examples
    --------
    >>> scores("as_published")["precision"], scores("corrected")["precision"]
    ('macro_recall(zero_division=0)', 'macro_precision(zero_division=0)')
    """
    if reading == "corrected":
        return PERFORMANCE
    return {label: PERFORMANCE[_SWAPPED.get(label, label)] for label in PERFORMANCE}


@dataclass(frozen=True, eq=False)
class Runs:
    """The runs of a frame: of one attribute and of several, and the mutation baselines."""

    frame: pd.DataFrame

    def _part(self, *, several: bool) -> pd.DataFrame:
        joined = self.frame["attributes"].astype(str).str.contains("+", regex=False).to_numpy()
        known = self.frame["dataset"].isin([*ATTRIBUTES]).to_numpy()
        part: pd.DataFrame = self.frame[(joined == several) & known]
        return part

    @cached_property
    def single(self) -> pd.DataFrame:
        """Runs of one attribute, with the gaps of the other one under the paper's labels."""
        both = sorted({a for names in ATTRIBUTES.values() for a in names})
        part = self._part(several=False)
        held = {*map(str, part["metric"].unique())}
        others = {
            (gap, a): name
            for gap in GAPS
            for a in both
            if {(name := size_of(gap, a)), name.strip("|")} & held
        }
        metrics = [*PERFORMANCE.values(), *SIZES.values(), *others.values()]
        runs = everywhere(runs_of(part, metrics), OWN_MODEL)
        attribute, dataset = runs["attributes"].to_numpy(), runs["dataset"].to_numpy()
        for gap in GAPS:
            values = np.full(len(runs), np.nan)
            for (of, a), name in others.items():
                is_other = [a in ATTRIBUTES[d] and a != own for d, own in zip(dataset, attribute, strict=True)]  # fmt: skip
                if of == gap:
                    values = np.where(is_other, runs[name], values)
            runs[f"{gap}2"] = values
        return runs

    @cached_property
    def several(self) -> pd.DataFrame:
        """Runs of both attributes at once."""
        metrics = [*PERFORMANCE.values(), *WORST.values()]
        return everywhere(runs_of(self._part(several=True), metrics), OWN_MODEL)

    @cached_property
    def curves(self) -> Curves:
        """The mutation baselines of the worst cases."""
        return curves_of(self.frame, [*PERFORMANCE.values(), *WORST.values()])
