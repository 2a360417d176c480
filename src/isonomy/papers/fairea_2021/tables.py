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
    CORRECTED,
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
from isonomy.papers.fairea_2021.figures import fig4, fig5, fig6
from isonomy.papers.judge import TASK
from isonomy.papers.printed import read_printed
from isonomy.papers.table import PaperTable, Reading, Recipe, decimals, percent
from isonomy.tradeoff.regions import REGIONS, Rule

printed = partial(read_printed, __file__)

# rows that the authors' own files do not give (fact sheet: recomputed independently)
_NOT_REPRODUCED = {("table4", "AD"), ("table5", "DT")}
_CASES = "mitigation cases (runs x gaps)"


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
    if CORRECTED in notes:
        return PaperTable(
            name, title, data, len(cases) * len(GAPS), _CASES, tuple(notes), None, percent
        )
    theirs.loc[[counts.get(str(row)) != whole[str(row)] for row in theirs.index]] = ""
    table = PaperTable(
        name,
        title,
        data,
        len(cases) * len(GAPS),
        _CASES,
        (*([said] if short else []), *notes),
        theirs,
        percent,
    )
    return _with_verdicts(table, frame)


def table4(
    frame: pd.DataFrame, *, rule: Rule = "paper", reading: Reading = "as_published"
) -> PaperTable:
    """Make Table 4: the share of each method's cases in each region.

    Parameters
    ----------
    frame : DataFrame
        A result frame.
    rule : {"paper", "code"}
        Whose regions; the paper's tables follow "paper".
    reading : {"as_published", "corrected"}
        What is corrected is said below the table.

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
    cases, notes = judged_cases(frame, rule, reading)
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
    if reading == "as_published":
        notes += _constant_note(cases)
    return _region_table(frame, "table4", title, cases, groups, data, whole, notes)


def table5(
    frame: pd.DataFrame, *, rule: Rule = "paper", reading: Reading = "as_published"
) -> PaperTable:
    """Make Table 5: the share of cases in each region, by model and by task."""
    cases, notes = judged_cases(frame, rule, reading)
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


JUDGED = frozenset({"runs", "baselines"})
_SWEPT = frozenset({"sweeps", "baselines"})
TABLES: dict[str, Recipe] = {
    "table4": Recipe(table4, "shares of the regions, by method", JUDGED),
    "table5": Recipe(table5, "shares of the regions, by model and by task", JUDGED),
    "table6": Recipe(table6, "areas of pre- and post-processing methods", JUDGED, 0.02),
    "table7": Recipe(
        table7, "areas of in-processing", frozenset({"in-processing runs", "baselines"}), 0.02
    ),
    "fig4": Recipe(fig4, "accuracy and bias by parameter, PR and AD", _SWEPT, 0.01),
    "fig5": Recipe(fig5, "area by parameter and its turning point", _SWEPT, 0.02),
    "fig6": Recipe(fig6, "three mutation strategies", frozenset({"three strategies"}), 0.01),
}
"""What can be recomputed, by name."""
