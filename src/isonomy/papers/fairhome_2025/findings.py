"""The answers of the FairHOME study: as published, recomputed, ours.

References
----------
Chen, Li, Zhang, Sarro and Liu 2025, Diversity Drives Fairness: Ensemble of Higher Order Mutants for
Intersectional Fairness of Machine Learning Software, ICSE.
"""

import pandas as pd

from isonomy.papers.fairhome_2025.tables import printed, table3, table4, table5
from isonomy.papers.table import ABSENT, PaperTable

_ASKED = ("RQ1 fairness", "RQ1 performance", "RQ2 next best", "RQ2 cases")
_BIAS, _PERFORMANCE = slice(0, 6), slice(6, None)


def _number(text: pd.Series) -> "pd.Series[float]":
    return text.str.rstrip("%").astype(float)


def _counted(means: pd.DataFrame, methods: pd.DataFrame, cases: pd.DataFrame) -> dict[str, str]:
    """Return the paper's sentences with the numbers of Tables III, IV and V."""
    ours, cost = _number(means["relac"].iloc[_BIAS]), _number(means["relac"].iloc[_PERFORMANCE])
    columns = [c for c in methods if str(c).endswith("relac")]
    by_method = methods[columns].apply(_number).mean(axis=1).drop("fairhome")
    wins = cases.loc["Overall"].str.split("/", expand=True).astype(int).sum()
    best = str(by_method.idxmin())
    return {
        "RQ1 fairness": f"FairHOME changes intersectional bias by {ours.mean():.1f}% on average",
        "RQ1 performance": f"FairHOME changes performance by {cost.max():z.1f}% to {cost.min():z.1f}%",
        "RQ2 next best": f"the next best method ({best}) changes bias by {by_method[best]:.1f}%, "
        f"{by_method[best] - ours.mean():.1f} points less",
        "RQ2 cases": f"significantly less bias than another method in {wins[0] / wins.sum():.0%} of "
        f"{wins.sum():,} cases, more in {wins[2] / wins.sum():.0%}",
    }


def findings(published: pd.DataFrame | None = None, ours: pd.DataFrame | None = None) -> PaperTable:
    """Make the paper's answers: its scripts' outputs, recomputed, and ours.

    Parameters
    ----------
    published, ours : DataFrame, optional
        Result frames: the authors' files and our own runs.
    """
    theirs = _counted(*(printed(name) for name in ("table3", "table4", "table5")))
    said, cases = {"as published (the authors' outputs)": theirs}, 0
    for side, frame in {"recomputed": published, "ours": ours}.items():
        if frame is None:
            said[side] = dict.fromkeys(_ASKED, ABSENT[side])
            continue
        made = [make(frame) for make in (table3, table4, table5)]
        said[side], cases = _counted(*(one.data for one in made)), made[1].cases
    return PaperTable(
        "findings",
        "The paper's answers",
        pd.DataFrame(said),
        cases,
        "cases (dataset, model, metric, method)",
        ("Where the runs are a part of the study (6 datasets, 4 models), so are the findings.",),
    )
