"""The answers of the zero-sum study: as published, recomputed, ours.

References
----------
Chen, Li, Zhang, Sarro and Liu 2025, Is Bias Mitigation a Zero-Sum Game?, FSE.
"""

import pandas as pd

from isonomy.papers.table import ABSENT, PaperTable
from isonomy.papers.zerosum_2025.tables import printed, table2

_RATES = {"sr": "selection rate", "tp": "TPR", "fp": "FPR"}


def _counted(cases: pd.DataFrame) -> dict[str, str]:
    """Return the paper's answers with the numbers of Table 2."""
    cases = cases.astype(float)

    def share(label: str, move: str) -> float:
        every = sum(cases[f"{label}_{m}"].sum() for m in ("in", "tie", "de"))
        return float(cases[f"{label}_{move}"].sum() / every)

    out = {
        f"RQ1 {name}": f"falls significantly for the privileged in {share(f'{rate}p', 'de'):.0%} of "
        f"the cases, rises for the unprivileged in {share(f'{rate}u', 'in'):.0%}"
        for rate, name in _RATES.items()
    }
    taken = cases["srp_de"] > cases["sru_in"]
    out["RQ1 who pays"] = (
        f"{taken.sum()} of {len(cases)} methods take from the privileged in more cases than they give "
        "to the unprivileged (selection rate)"
    )
    return out


def findings(published: pd.DataFrame | None = None, ours: pd.DataFrame | None = None) -> PaperTable:
    """Make the paper's answers: its scripts' outputs, recomputed, and ours.

    Parameters
    ----------
    published, ours : DataFrame, optional
        Result frames: the authors' files and our own runs.
    """
    theirs = _counted(printed("table2"))
    said, cases = {"as published (the authors' outputs)": theirs}, 0
    for side, frame in {"recomputed": published, "ours": ours}.items():
        if frame is None:
            said[side] = dict.fromkeys(theirs, ABSENT[side])
            continue
        made = table2(frame)
        said[side], cases = _counted(made.data), made.cases
    return PaperTable(
        "findings",
        "The paper's answers",
        pd.DataFrame(said),
        cases,
        "cases (task, model, rate, method)",
        (
            "Where the runs are a part of the study (8 tasks, 4 models, 20 runs), so are the findings.",
        ),
    )
