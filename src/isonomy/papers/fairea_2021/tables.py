"""Fairea (ESEC/FSE 2021): its tables and figures as functions of a result frame.

The frame may hold the authors' files (``read_fairea``) or our own runs: runs of each method with
accuracy, |SPD| and the average absolute odds difference, and the mutation baselines of the models.
The paper prints the average odds difference with its signs; the authors' code, and so every
number they published, has the absolute one, which is what stands here under AOD.

References
----------
Hort, Zhang, Sarro and Harman 2021, Fairea: A Model Behaviour Mutation Approach to Benchmarking
Bias Mitigation Methods, ESEC/FSE.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from isonomy._names import base_name, parse_name
from isonomy.papers.archive import BASELINE, PUBLISHED
from isonomy.papers.fairea_2021.cases import (
    GAPS,
    IN,
    METHODS,
    MODELS,
    RUNS,
    SWEEPS,
    TASKS,
    assess,
    judged_cases,
    shares,
    usable,
)
from isonomy.papers.fairea_2021.figures import fig4, fig5, fig6, strictness
from isonomy.papers.judge import TASK
from isonomy.papers.printed import read_printed
from isonomy.papers.table import ABSENT, PaperTable, Recipe, decimals, percent
from isonomy.tradeoff.regions import REGIONS, Rule

printed = partial(read_printed, __file__)

# rows that the authors' own files do not give (fact sheet: recomputed independently)
_NOT_REPRODUCED = {("table4", "AD"), ("table5", "DT")}


def _constant_note(cases: pd.DataFrame) -> list[str]:
    """Return a note on how many cases are constant predictors, which the regions call good or win-win."""
    constant = cases[cases["constant"]]
    if constant.empty:
        return []
    won, of = (
        int((part[[*GAPS]] == REGIONS.index("win-win")).to_numpy().sum())
        for part in (constant, cases)
    )
    return [
        (
            f"{len(constant)} runs have no bias because they predict one class; {won} of the {of} "
            "win-win cases are such runs, less accurate than any point of the baseline."
        )
    ]


def _with_verdicts(table: PaperTable, frame: pd.DataFrame) -> PaperTable:
    """Add how many cells equal the print, and name every row that does not."""
    compared = table.compare()
    notes = table.agreement()[:1]
    authors = frame["study"].astype(str).str.endswith(PUBLISHED).all()
    for row, cells in compared[~compared["agrees"].astype(bool)].groupby("row", sort=False):
        differences = ", ".join(
            f"{c.column} {c.recomputed} (printed {c.printed})" for c in cells.itertuples()
        )
        why = "differs from the print"
        if (table.name, row) in _NOT_REPRODUCED:
            why = "the paper's row does not reproduce from the authors' own files"
            why += "" if authors else " either"
        notes.append(f"{row}: {why}: {differences}.")
    return replace(table, notes=(*notes, *table.notes))


def _region_table(
    frame: pd.DataFrame,
    name: str,
    title: str,
    cases: pd.DataFrame,
    groups: dict[str, pd.DataFrame],
    data: pd.DataFrame,
    whole: dict[str, int],
    notes: Sequence[str],
) -> PaperTable:
    """Finish a table of shares; printed rows are compared where all their runs are held."""
    counts = {label: len(part) for label, part in groups.items()}
    short = [f"{row} {n} of {whole[row]}" for row, n in counts.items() if n != whole[row]]
    said = (
        f"Runs held: {', '.join(short)}; the paper's rows rest on all, so these are not compared."
    )
    theirs = printed(name, header=data.columns.nlevels)
    theirs.loc[[counts.get(str(row)) != whole[str(row)] for row in theirs.index]] = ""
    table = PaperTable(
        name,
        title,
        data,
        len(cases) * len(GAPS),
        "mitigation cases (runs x gaps)",
        (*([said] if short else []), *notes),
        theirs,
        percent,
    )
    return _with_verdicts(table, frame)


def table4(frame: pd.DataFrame, *, rule: Rule = "paper") -> PaperTable:
    """Make Table 4: the share of each method's cases in each region.

    Parameters
    ----------
    frame : DataFrame
        A result frame.
    rule : {"paper", "code"}
        Whose regions; the paper's tables follow "paper".

    Examples
    --------
    >>> from isonomy.store import Record, records_frame
    >>> gaps = lambda acc, gap: {"accuracy": acc, GAPS["SPD"]: gap, GAPS["AOD"]: gap}
    >>> line = [
    ...     Record("demo", "adult", "sex", "lr", f"mutation(degree={d})", None, gaps(a, g))
    ...     for d, a, g in ((0, 0.9, 0.2), (1, 0.5, 0.0))
    ... ]
    >>> runs = [
    ...     Record("demo", "adult", "sex", "lr", "reweighing", i, gaps(a, 0.1))
    ...     for i, a in enumerate((0.8, 0.6))
    ... ]
    >>> table4(records_frame(line + runs)).text().loc["RW", "SPD"].tolist()
    ['0%', '50%', '0%', '50%', '0%']
    """
    cases, notes = judged_cases(frame, rule)
    groups = {m: cases[cases["method"] == m] for m in METHODS}
    groups = {m: part for m, part in groups.items() if len(part)} | {"Mean": cases}
    rows = {
        label: [share for gap in GAPS for share in shares(part[gap].to_numpy())]
        for label, part in groups.items()
    }
    columns = pd.MultiIndex.from_product([GAPS, REGIONS])
    data = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    whole = dict.fromkeys(METHODS, 14 * RUNS) | {"PR": 2 * RUNS, "AD": 5 * RUNS}
    whole["Mean"] = sum(whole.values())
    title = "Share of mitigation cases in each region, by method"
    notes += _constant_note(cases)
    return _region_table(frame, "table4", title, cases, groups, data, whole, notes)


def table5(frame: pd.DataFrame, *, rule: Rule = "paper") -> PaperTable:
    """Make Table 5: the share of cases in each region, by model and by task."""
    cases, notes = judged_cases(frame, rule)
    groups = {
        label: cases[(cases["model"] == model) & ~cases["method"].isin(IN)]
        for label, model in MODELS.items()
    } | {
        label: cases[(cases["dataset"] == dataset) & (cases["attributes"] == attribute)]
        for label, (dataset, attribute) in TASKS.items()
    }
    groups = {label: part for label, part in groups.items() if len(part)}
    rows = {label: shares(part[[*GAPS]].to_numpy().ravel()) for label, part in groups.items()}
    data = pd.DataFrame.from_dict(rows, orient="index", columns=pd.Index(REGIONS))
    ten = (len(METHODS) - len(IN)) * RUNS
    whole = {"LR": 5 * ten, "DT": 4 * ten, "SVM": 5 * ten}
    whole |= {task: 3 * ten + (2 if "Adult" in task else 1) * RUNS for task in TASKS}
    whole["German-Sex"] -= ten
    title = "Share of mitigation cases in each region, by model and by task"
    return _region_table(frame, "table5", title, cases, groups, data, whole, notes)


def _area_table(
    frame: pd.DataFrame,
    name: str,
    title: str,
    judged: pd.DataFrame,
    methods: Sequence[str],
    places: dict[object, tuple[str, ...]],
    notes: Sequence[str] = (),
) -> PaperTable:
    """Make (gap, method) by places of a judged frame: the area, else the region's word.

    Printed cells of which the frame holds no runs are not compared.
    """
    cell = np.where(judged["region"] == "good", judged["area"].astype(object), judged["region"])
    place = pd.MultiIndex.from_frame(judged[["gap", "mitigator", *TASK]])
    cells = pd.Series(cell, index=place, dtype=object).to_dict()
    rows = [(gap, method) for gap in GAPS for method in methods]
    data = pd.DataFrame(
        [[cells.get((gap, METHODS[m], *at), "NA") for at in places.values()] for gap, m in rows],
        index=pd.MultiIndex.from_tuples(rows),
        dtype=object,
    )
    theirs = None
    if places:
        data.columns = pd.Index(places)
        absent = data == "NA"
        theirs = printed(name, index=2, header=data.columns.nlevels).reindex(columns=data.columns)
        # a column that the print does not have comes as numbers, all missing
        theirs = theirs.astype(object).fillna("").mask(absent & (theirs != "NA"), "")
        theirs = theirs.mask(absent.all(axis=1), "", axis=0)
    unit = "runs x gaps, averaged by cell"
    total = int(judged["runs"].sum())
    table = PaperTable(name, title, data, total, unit, tuple(notes), theirs, decimals(3))
    return _with_verdicts(table, frame)


def table6(frame: pd.DataFrame, *, rule: Rule = "paper") -> PaperTable:
    """Make Table 6: areas of the pre- and post-processing methods, by model and task."""
    methods = [m for m in METHODS if m not in IN]
    judged = assess(frame, rule=rule)
    judged = judged[judged["mitigator"].isin([METHODS[m] for m in methods])]
    present = set(judged[list(TASK)].itertuples(index=False, name=None))
    every = {
        (label, task): (*place, model)
        for label, model in MODELS.items()
        for task, place in TASKS.items()
    }
    places: dict[object, tuple[str, ...]] = {k: v for k, v in every.items() if v in present}
    title = "Trade-off of pre- and post-processing methods: area where good, else the region"
    return _area_table(frame, "table6", title, judged, methods, places, usable(frame)[1])


def table7(frame: pd.DataFrame, *, rule: Rule = "paper") -> PaperTable:
    """Make Table 7: areas of the two in-processing methods, by task."""
    judged = assess(frame, rule=rule)
    # each brings its own model, so the task alone names a column
    judged = judged[judged["mitigator"].isin([METHODS[m] for m in IN])].assign(model="own")
    places: dict[object, tuple[str, ...]] = {t: (*place, "own") for t, place in TASKS.items()}
    title = "Trade-off of in-processing methods: area where good, else the region"
    return _area_table(frame, "table7", title, judged, IN, places)


# ---------------------------------------------------------------------- findings


def _answers(frame: pd.DataFrame) -> dict[str, str]:
    cases, _ = judged_cases(frame, "paper")
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
    rq2 = "LR Adult-Sex under SPD is not held"
    pair = [METHODS["EO"], METHODS["CO_fnr"]]
    if set(pair) <= set(spd.index):
        eo, co = (spd["area"].astype(float)[name] for name in pair)
        rq2 = (
            f"EO is {100 * (eo / co - 1):.1f}% better than CO_fnr on LR Adult-Sex under SPD "
            f"({eo:.3f} against {co:.3f}; the paper's 71.4% is the ratio of the rounded areas)"
        )
    return {
        "RQ1": rq1,
        "RQ2": f"{rq2}; {_best_methods(judged)}",
        "RQ3": "; ".join(note.rstrip(".") for note in fig5(frame).notes) or "no sweep is held",
        "RQ4": "{} of {} points of the other strategies lie on or below the majority's line".format(
            *strictness(frame)
        ),
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
    """Make the paper's four answers: as published, recomputed from its files, and from our runs.

    Parameters
    ----------
    published, ours : DataFrame, optional
        Result frames: the authors' files and our own runs.
    """
    sides = {"recomputed": published, "ours": ours}
    data = printed("findings")
    for side, frame in sides.items():
        data[side] = ABSENT[side] if frame is None else pd.Series(_answers(frame))
    cases = [len(judged_cases(f, "paper")[0]) * len(GAPS) for f in sides.values() if f is not None]
    return PaperTable(
        "findings",
        "The paper's four answers",
        data,
        sum(cases),
        "mitigation cases",
        (
            "Rows of the paper that do not reproduce from the authors' own files: AD under SPD in Table 4 (two cells), DT in Table 5.",
        ),
    )


def parts_of(frame: pd.DataFrame) -> frozenset[str]:
    """Return the parts that a frame holds: runs, own-model runs, sweeps, baselines, strategies."""
    names = {str(name) for name in frame["mitigator"].unique()}
    models = {str(name) for name in frame["model"].unique()}
    inside = {METHODS[m] for m in IN}
    strategies = {parse_name(n)[1].get("strategy") for n in names if n.startswith(BASELINE)}
    parts = {
        "runs": names & ({*METHODS.values()} - inside),
        "in-processing runs": names & inside,
        "sweeps": {base_name(name) for name in names} & {name for name, _ in SWEEPS.values()},
        "baselines": strategies,
        "three strategies": {"random", "minority"} <= strategies and models & {*MODELS.values()},
    }
    return frozenset(part for part, present in parts.items() if present)


_JUDGED = frozenset({"runs", "baselines"})
_SWEPT = frozenset({"sweeps", "baselines"})
TABLES: dict[str, Recipe] = {
    "table4": Recipe(table4, "shares of the regions, by method", _JUDGED),
    "table5": Recipe(table5, "shares of the regions, by model and by task", _JUDGED),
    "table6": Recipe(table6, "areas of pre- and post-processing methods", _JUDGED, 0.02),
    "table7": Recipe(
        table7, "areas of in-processing", frozenset({"in-processing runs", "baselines"}), 0.02
    ),
    "fig4": Recipe(fig4, "accuracy and bias by parameter, PR and AD", _SWEPT, 0.01),
    "fig5": Recipe(fig5, "area by parameter and its turning point", _SWEPT, 0.02),
    "fig6": Recipe(fig6, "three mutation strategies", frozenset({"three strategies"}), 0.01),
    "findings": Recipe(findings, "the paper's four answers", _JUDGED, 0.0),
}
"""What can be recomputed, by name."""
