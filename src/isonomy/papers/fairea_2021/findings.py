"""Fairea's four answers: as published, recomputed, from our runs, and corrected.

References
----------
Hort, Zhang, Sarro and Harman 2021, Fairea: A Model Behaviour Mutation Approach to Benchmarking
Bias Mitigation Methods, ESEC/FSE.
"""

import pandas as pd

from isonomy.papers.fairea_2021.cases import (
    CORRECTED,
    GAPS,
    IN,
    METHODS,
    MODELS,
    assess,
    judged_cases,
    shares,
)
from isonomy.papers.fairea_2021.figures import fig5, strictness
from isonomy.papers.judge import TASK
from isonomy.papers.printed import read_printed
from isonomy.papers.table import ABSENT, PaperTable, Reading, percent

_ABOUT_HALF = 0.4
_TURN = "a turning point"
_UNTESTED = "these runs cannot tell"
_NOT_REPRODUCED = (
    "Rows of the paper that do not reproduce from the authors' own files: AD under SPD in Table 4 "
    "(two cells), DT in Table 5."
)

Answer = tuple[str, bool | None]


def _answers(frame: pd.DataFrame, reading: Reading = "as_published") -> dict[str, Answer]:
    """Return each answer, and whether these runs show what the paper says; None if they cannot."""
    cases, _ = judged_cases(frame, "paper", reading)
    lose, poor, *_ = shares(cases[[*GAPS]].to_numpy().ravel())
    models = sorted(set(cases["model"]) & set(MODELS.values()))
    rq1 = (
        f"{percent(lose + poor)} of {len(cases) * len(GAPS):,} cases ({', '.join(models)}): "
        f"{percent(lose)} lose-lose, {percent(poor)} poor trade-off"
    )
    judged = assess(frame)
    good = judged[judged["mitigator"].isin([*METHODS.values()]) & (judged["region"] == "good")]
    spd = good[(good["gap"] == "SPD") & (good["model"] == "lr")]
    spd = spd[(spd["dataset"] == "adult") & (spd["attributes"] == "sex")].set_index("mitigator")
    rq2, better = "LR Adult-Sex under SPD is not held", None
    pair = [METHODS["EO"], METHODS["CO_fnr"]]
    if set(pair) <= set(spd.index):
        eo, co = (float(spd["area"][name]) for name in pair)
        better = eo > co
        rq2 = (
            f"EO is {100 * (eo / co - 1):.1f}% better than CO_fnr on LR Adult-Sex under SPD "
            f"({eo:.3f} against {co:.3f}; the paper's 71.4% is the ratio of the rounded areas)"
        )
    swept = fig5(frame).notes
    once = [_TURN in note and "rises again" not in note for note in swept if " under " in note]
    below, points = strictness(frame)
    rq4 = f"{below} of {points} points of the other strategies lie on or below the majority's line"
    return {
        "RQ1": (rq1, lose + poor >= _ABOUT_HALF if len(cases) else None),
        "RQ2": (f"{rq2}; {_best_methods(judged)}", better),
        "RQ3": (
            "; ".join(note.rstrip(".") for note in swept) or "no sweep is held",
            all(once) if once else None,
        ),
        "RQ4": (rq4, below == points if points else None),
    }


def _best_methods(judged: pd.DataFrame) -> str:
    """Return which method has the largest area most often on Adult and on German (LR)."""
    label_of = {name: label for label, name in METHODS.items() if label not in IN}
    good = judged[judged["mitigator"].isin([*label_of]) & (judged["region"] == "good")]
    words = []
    for dataset in ("adult", "german"):
        if not (judged["dataset"] == dataset).any():
            words.append(f"{dataset} is not held")
            continue
        of_dataset = good[(good["dataset"] == dataset) & (good["area"] >= 0.0005)]
        if of_dataset.empty:
            words.append(f"no method is good on {dataset}")
            continue
        keys = [*TASK, "gap"]
        best = of_dataset.loc[of_dataset.groupby(keys)["area"].idxmax(), "mitigator"].map(label_of)
        counts = best.value_counts()
        wins = ", ".join(f"{m} {n}" for m, n in counts.items())
        words.append(f"best on {dataset}, of {len(best)} columns with a good one: {wins}")
    return "; ".join(words)


def findings(published: pd.DataFrame | None = None, ours: pd.DataFrame | None = None) -> PaperTable:
    """Make the paper's four answers: as published, recomputed, from our runs, and corrected.

    Parameters
    ----------
    published, ours : DataFrame, optional
        Result frames: the authors' files and our own runs. The authors' are corrected where given.
    """
    sides = {"recomputed": published, "ours": ours}
    data = read_printed(__file__, "findings")
    notes = [_NOT_REPRODUCED]
    for side, frame in sides.items():
        data[side] = ABSENT[side]
        if frame is not None:
            data[side] = pd.Series({name: said for name, (said, _) in _answers(frame).items()})
    side, whole = ("recomputed", published) if published is not None else ("ours", ours)
    if whole is not None:
        corrected = _answers(whole, "corrected")
        # only RQ1 counts single runs
        data["corrected"] = [
            said if said != data.loc[name, side] else f"as {side}"
            for name, (said, _) in corrected.items()
        ]
        data["survives"] = [
            f"open: {_UNTESTED}" if holds is None else "yes" if holds else "no"
            for _, holds in corrected.values()
        ]
        notes.append(
            f"{CORRECTED} It is made of the column {side}'s runs. An answer survives if 40% or "
            "more of the cases are lose-lose or poor (RQ1), EO is better than CO_fnr (RQ2), every "
            "curve has one turning point (RQ3), no point lies above the line (RQ4)."
        )
    cases = [len(judged_cases(f, "paper")[0]) * len(GAPS) for f in sides.values() if f is not None]
    return PaperTable(
        "findings",
        "The paper's four answers",
        data,
        sum(cases),
        "mitigation cases",
        tuple(notes),
    )
