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

import numpy as np
import pandas as pd

from isonomy._names import base_name, parse_name
from isonomy.papers.archive import BASELINE, PUBLISHED
from isonomy.papers.fairea_2021 import printed
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
from isonomy.papers.table import PaperTable, Recipe, areas, percent
from isonomy.tradeoff.regions import REGIONS, Rule

__all__ = [
    "GAPS",
    "METHODS",
    "TABLES",
    "TASKS",
    "assess",
    "fig4",
    "fig5",
    "fig6",
    "findings",
    "parts_of",
    "table4",
    "table5",
    "table6",
    "table7",
]

# rows that the authors' own files do not give (fact sheet: recomputed independently)
_NOT_REPRODUCED = {("table4", "AD"), ("table5", "DT")}


def _constant_note(cases: pd.DataFrame) -> list[str]:
    """Say how many cases are constant predictors, which the regions call good or win-win."""
    constant = cases[cases["constant"]]
    if constant.empty:
        return []
    won, of = (
        int((part[[*GAPS]] == REGIONS.index("win-win")).to_numpy().sum())
        for part in (constant, cases)
    )
    told = f"{len(constant)} runs have no bias because they predict one class; {won} of the {of} "
    return [f"{told}win-win cases are such runs, less accurate than any point of the baseline."]


def _kept_rows(table: pd.DataFrame, cases: dict[str, int], whole: dict[str, int]) -> pd.DataFrame:
    """Blank the printed rows whose cases the frame does not hold in full."""
    out = table.copy()
    for row in out.index:
        if cases.get(str(row)) != whole.get(str(row)):
            out.loc[row] = ""
    return out


def _verdicts(table: PaperTable, frame: pd.DataFrame) -> PaperTable:
    """Add how many cells equal the print, and name every row that does not."""
    compared = table.compare()
    if compared.empty:
        return table
    agrees = compared["agrees"].astype(bool)
    notes = [
        f"{int(agrees.sum())} of {len(compared)} cells that can be compared equal the paper's."
    ]
    theirs = frame["study"].astype(str).str.endswith(PUBLISHED).all()
    for row, cells in compared[~agrees].groupby("row", sort=False):
        told = ", ".join(
            f"{c.column} {c.recomputed} (printed {c.printed})" for c in cells.itertuples()
        )
        why = "differs from the print"
        if (table.name, row) in _NOT_REPRODUCED:
            why = "the paper's row does not reproduce from the authors' own files"
            why += "" if theirs else " either"
        notes.append(f"{row}: {why}: {told}.")
    return replace(table, notes=(*notes, *table.notes))


def table4(frame: pd.DataFrame, *, rule: Rule = "paper") -> PaperTable:
    """Give Table 4: the share of each method's cases in each region.

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
    held = [m for m in METHODS if (cases["method"] == m).any()]
    rows, counts = {}, {}
    for name in [*held, "Mean"]:
        mine = cases if name == "Mean" else cases[cases["method"] == name]
        rows[name] = [share for gap in GAPS for share in shares(mine[gap].to_numpy())]
        counts[name] = len(mine)
    columns = pd.MultiIndex.from_product([GAPS, REGIONS])
    data = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    whole = dict.fromkeys(METHODS, 14 * RUNS) | {"PR": 2 * RUNS, "AD": 5 * RUNS}
    whole["Mean"] = sum(whole.values())
    short = [f"{m} {counts[m]} of {whole[m]}" for m in held if counts[m] != whole[m]]
    if short:
        notes.append(
            f"Cases held: {', '.join(short)}; the paper's rows rest on all, so these are not compared."
        )
    return _verdicts(
        PaperTable(
            "table4",
            "Share of mitigation cases in each region, by method",
            data,
            len(cases) * len(GAPS),
            "mitigation cases (runs x gaps)",
            (*notes, *_constant_note(cases)),
            _kept_rows(printed.table4(), counts, whole),
            percent,
        ),
        frame,
    )


def table5(frame: pd.DataFrame, *, rule: Rule = "paper") -> PaperTable:
    """Give Table 5: the share of cases in each region, by model and by task."""
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
    counts = {label: len(part) for label, part in groups.items()}
    ten = (len(METHODS) - len(IN)) * RUNS
    whole = {"LR": 5 * ten, "DT": 4 * ten, "SVM": 5 * ten}
    whole |= {task: 3 * ten + (2 if "Adult" in task else 1) * RUNS for task in TASKS}
    whole["German-Sex"] -= ten
    short = [f"{row} {counts[row]} of {whole[row]}" for row in groups if counts[row] != whole[row]]
    if short:
        notes.append(f"Runs held: {', '.join(short)}; these rows are not compared.")
    return _verdicts(
        PaperTable(
            "table5",
            "Share of mitigation cases in each region, by model and by task",
            data,
            len(cases) * len(GAPS),
            "mitigation cases (runs x gaps)",
            tuple(notes),
            _kept_rows(printed.table5(), counts, whole),
            percent,
        ),
        frame,
    )


def _area_table(
    judged: pd.DataFrame, methods: Sequence[str], columns: Sequence[tuple[str, str, str]]
) -> pd.DataFrame:
    """Lay (gap, method) against (dataset, attribute, model): the area, else the region's word."""
    cell = np.where(judged["region"] == "good", judged["area"].astype(object), judged["region"])
    place = pd.MultiIndex.from_frame(judged[["gap", "mitigator", *TASK]])
    cells = pd.Series(cell, index=place, dtype=object).to_dict()
    rows = [(gap, method) for gap in GAPS for method in methods]
    return pd.DataFrame(
        [
            [cells.get((gap, METHODS[method], *column), "NA") for column in columns]
            for gap, method in rows
        ],
        index=pd.MultiIndex.from_tuples(rows),
        dtype=object,
    )


def _kept_cells(table: pd.DataFrame, data: pd.DataFrame) -> pd.DataFrame:
    """Blank the printed cells of which the frame holds no runs."""
    absent = data == "NA"
    unheld = absent.all(axis=1)
    # a column that the print does not have comes as numbers, all missing
    return (
        table.astype(object).fillna("").mask(absent & (table != "NA"), "").mask(unheld, "", axis=0)
    )


def table6(frame: pd.DataFrame, *, rule: Rule = "paper") -> PaperTable:
    """Give Table 6: areas of the pre- and post-processing methods, by model and task."""
    judged = assess(frame, rule=rule)
    _, notes = usable(frame)
    methods = [m for m in METHODS if m not in IN]
    judged = judged[judged["mitigator"].isin([METHODS[m] for m in methods])]
    held = set(zip(judged["model"], judged["dataset"], judged["attributes"], strict=True))
    wanted = [
        (label, task, (*TASKS[task], model))
        for label, model in MODELS.items()
        for task in TASKS
        if (model, *TASKS[task]) in held
    ]
    data = _area_table(judged, methods, [place for *_, place in wanted])
    columns = pd.MultiIndex.from_tuples([(label, task) for label, task, _ in wanted])
    data.columns = columns if wanted else data.columns
    return _verdicts(
        PaperTable(
            "table6",
            "Trade-off of pre- and post-processing methods: area where good, else the region",
            data,
            int(judged["runs"].sum()),
            "runs x gaps, averaged by cell",
            tuple(notes),
            _kept_cells(printed.table6().reindex(columns=columns), data) if wanted else None,
            areas,
        ),
        frame,
    )


def table7(frame: pd.DataFrame, *, rule: Rule = "paper") -> PaperTable:
    """Give Table 7: areas of the two in-processing methods, by task."""
    judged = assess(frame, rule=rule)
    judged = judged[judged["mitigator"].isin([METHODS[m] for m in IN])]
    # each brings its own model, so the task alone names a column
    judged = judged.assign(model="own")
    data = _area_table(judged, IN, [(*place, "own") for place in TASKS.values()])
    data.columns = pd.Index(TASKS)
    return _verdicts(
        PaperTable(
            "table7",
            "Trade-off of in-processing methods: area where good, else the region",
            data,
            int(judged["runs"].sum()),
            "runs x gaps, averaged by cell",
            (),
            _kept_cells(printed.table7(), data),
            areas,
        ),
        frame,
    )


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
    """Say which method has the largest area most often on Adult and on German (LR)."""
    label_of = {name: label for label, name in METHODS.items() if label not in IN}
    good = judged[judged["mitigator"].isin([*label_of]) & (judged["region"] == "good")]
    words = []
    for dataset in ("adult", "german"):
        mine = good[(good["dataset"] == dataset) & (good["area"] >= 0.0005)]
        if mine.empty:
            words.append(f"no method is good on {dataset}")
            continue
        keys = [*TASK, "gap"]
        best = mine.loc[mine.groupby(keys)["area"].idxmax(), "mitigator"].map(label_of)
        counts = best.value_counts()
        told = ", ".join(f"{m} {n}" for m, n in counts.items())
        words.append(f"best on {dataset}, of {len(best)} columns with a good one: {told}")
    return "; ".join(words)


def findings(published: pd.DataFrame | None = None, ours: pd.DataFrame | None = None) -> PaperTable:
    """Give the paper's four answers: as published, recomputed from its files, and from our runs.

    Parameters
    ----------
    published, ours : DataFrame, optional
        Result frames: the authors' files and our own runs.
    """
    sides = {"recomputed": published, "ours": ours}
    answers = {
        side: _answers(frame)
        if frame is not None
        else dict.fromkeys(printed.ANSWERS, "not yet run")
        for side, frame in sides.items()
    }
    data = pd.DataFrame({"as published": printed.ANSWERS} | answers)
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
    names = [str(name) for name in frame["mitigator"].unique()]
    models = {str(name) for name in frame["model"].unique()}
    parts = set()
    outside = {METHODS[m] for m in METHODS if m not in IN}
    if outside & set(names):
        parts.add("runs")
    if {METHODS[m] for m in IN} & set(names):
        parts.add("in-processing runs")
    swept = {base_name(name) for name in names} & {name for name, _ in SWEEPS.values()}
    if swept:
        parts.add("sweeps")
    strategies = {parse_name(n)[1].get("strategy") for n in names if n.startswith(BASELINE)}
    if strategies:
        parts.add("baselines")
    if {"random", "minority"} <= strategies and models & set(MODELS.values()):
        parts.add("three strategies")
    return frozenset(parts)


TABLES: dict[str, Recipe] = {
    name: Recipe(make, title, frozenset(needs), close)
    for name, make, title, needs, close in (
        ("table4", table4, "shares of the regions, by method", {"runs", "baselines"}, 0.05),
        (
            "table5",
            table5,
            "shares of the regions, by model and by task",
            {"runs", "baselines"},
            0.05,
        ),
        (
            "table6",
            table6,
            "areas of pre- and post-processing methods",
            {"runs", "baselines"},
            0.02,
        ),
        ("table7", table7, "areas of in-processing", {"in-processing runs", "baselines"}, 0.02),
        ("fig4", fig4, "accuracy and bias by parameter, PR and AD", {"sweeps", "baselines"}, 0.01),
        ("fig5", fig5, "area by parameter and its turning point", {"sweeps", "baselines"}, 0.02),
        ("fig6", fig6, "three mutation strategies", {"three strategies"}, 0.01),
        ("findings", findings, "the paper's four answers", {"runs", "baselines"}, 0.0),
    )
}
"""What can be recomputed, by name."""
