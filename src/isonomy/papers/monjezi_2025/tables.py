"""Tails of counterfactual discrimination (Monjezi et al.): tables, figures and claims.

The authors' runs are not public. The printed numbers are transcribed and their claims recounted
(``findings``); tables and figures are functions of a result frame of our own runs
(``isonomy study run monjezi_2025``), with the printed cells beside them. The paper says too little
about its encoding and its fits for cells to agree: only directions and sizes can be compared.

References
----------
Monjezi, Trivedi, Kreinovich and Tizpaz-Niari 2025, Fairness Testing through Extreme Value Theory,
ICSE; arXiv:2501.11597v1.
"""

from functools import partial

import numpy as np
import pandas as pd

from isonomy._names import base_name, parse_name
from isonomy.errors import InputError
from isonomy.papers.monjezi_2025.cases import (
    AVERAGE_METRICS,
    GENERATOR,
    METHODS,
    MODELS,
    ORIGINAL,
    TASKS,
    Reading,
    cases_of,
    groups_of,
    mitigated_of,
    outcomes_of,
    printed,
    printed_results,
    printed_two,
    results_of,
    task_of,
    two_decimals,
)
from isonomy.papers.monjezi_2025.claims import Results, claims, sentences
from isonomy.papers.monjezi_2025.example import fig1, fig2, table1
from isonomy.papers.monjezi_2025.generated import fig3, table3
from isonomy.papers.table import PaperTable, Recipe

# ---------------------------------------------------------------------- RQ2

_GROUP_COLUMNS = {
    "mu": ("gev_location", "level_1000"),
    "sigma": ("gev_scale", "gpd_scale"),
    "xi": ("gev_shape", "gpd_shape"),
    "+/-": ("gev_error", "gpd_error"),
    "tau": ("tail_threshold", "tail_threshold"),
    "type": ("type", "evidence"),
    "B": ("tail_horizon", "tail_horizon"),
    "distinct": ("tail_distinct", "tail_distinct"),
    "CV": ("cv_raw", "cv_residual"),
}
"""Of Table IV: what a column holds as published, and corrected."""


def table4(frame: pd.DataFrame, *, reading: Reading = "as_published") -> PaperTable:
    """Return Table IV: both groups' tails for every model and task, ACD, CVaR and ECD.

    Parameters
    ----------
    frame : DataFrame
        A result frame with tails.
    reading : {"as_published", "corrected"}
        As published: location, scale and shape of an extreme value law of the 50 largest values,
        the type by its shape, ECD the difference of locations. Corrected: scale and shape of
        peaks over a threshold, the level of 1,000 queries in place of the location, the type
        by the 95 % limits of the shape, ECD the difference of levels.
    """
    published = reading == "as_published"
    groups, cases = groups_of(frame), cases_of(frame)
    columns = [pair[not published] for pair in _GROUP_COLUMNS.values()]
    data = groups[["cd_rows", *columns]].set_axis(["N", *_GROUP_COLUMNS], axis=1)
    if not published:
        data = data.rename(columns={"mu": "level 1000"})
    data["CV"] = data["CV"].map({1.0: "pass", 0.0: "fail"})
    data = data.astype({"N": int, "B": int, "distinct": int})
    ecd = "ECD" if published else "ECD 1000"
    for place, (label, name) in enumerate({"ACD": "ACD", "CVaR": "CVaR", "ECD": ecd}.items(), 1):
        data.insert(place, label, cases[name].reindex(data.droplevel("group").index).to_numpy())
    theirs = None
    if published:
        text = printed("table4_groups").rename(index=int, level="group")
        theirs = text.join(printed("table4_cases"))[
            ["ACD", "CVaR", "ECD", "mu", "sigma", "xi", "+/-", "tau", "type"]
        ]
        theirs = printed_two(theirs).reindex(data.index).fillna("")
    notes = [
        "Group 1 is the privileged one. N counts real rows only: none were generated.",
        (
            "CVaR (the mean of the largest 5 %, unprivileged less privileged) and the horizon B "
            "(isonomy.tails.diagnose) are ours; the paper defines neither."
        ),
        (
            "Labels of the groups look exchanged in the print for German, Heart, Student and MEPS: "
            "expect the other sign there."
        ),
    ]
    if none := int((data["type"] == "none").sum()):
        notes.append(
            f"{none} of {len(data)} tails have too few different values among the 50 largest, or "
            "one that too many share: no law is fitted, and the location is the quantile of them "
            "that a location is."
        )
    title = "Tails of counterfactual discrimination by group, " + reading.replace("_", " ")
    notes += _missing(frame, cases)
    return PaperTable("table4", title, data, len(data), "tails", tuple(notes), theirs, two_decimals)


def _missing(frame: pd.DataFrame, cases: pd.DataFrame) -> list[str]:
    """Return notes on the tasks and models that a frame lacks, with the reason where they failed."""
    reasons: dict[str, str] = {}
    failed = frame[(frame["status"] != "ok").to_numpy()]
    failed = failed[["dataset", "attributes", "model", "reason"]].astype(str).drop_duplicates()
    for dataset, attributes, model, reason in failed.itertuples(index=False):
        reasons.setdefault(task_of(dataset, attributes) or "", reason)
        reasons.setdefault(model, reason)
    notes = []
    for words, names, level in (
        ("Tasks without runs", TASKS, "task"),
        ("Not run", MODELS, "model"),
    ):
        absent = [name for name in names if name not in cases.index.get_level_values(level)]
        listed = [f"{name} ({reasons[name]})" if name in reasons else name for name in absent]
        notes += [f"{words}: {'; '.join(listed)}."] if listed else []
    return notes


# ---------------------------------------------------------------------- RQ3 and RQ4

_METHOD_TABLES = {
    "table5": ("Exponentiated gradient and Fair-SMOTE", ("EG", "Fair-SMOTE")),
    "table6": ("STEALTH and MAAT", ("STEALTH", "MAAT")),
    "table7": ("MiniMax and ECD-Fair", ("MiniMax", "ECD-Fair")),
}


def _method_table(
    name: str, frame: pd.DataFrame, *, reading: Reading = "as_published"
) -> PaperTable:
    """Return Table V, VI or VII: averages and tails of two methods."""
    title, methods = _METHOD_TABLES[name]
    every, outcomes = mitigated_of(frame, reading), outcomes_of(frame, reading)
    present = [m for m in methods if m in every.index.get_level_values("method")]
    if not present:
        raise InputError(
            f"The frame must hold runs of {' or '.join(methods)}; it holds neither: run the study "
            "with these methods."
        )
    ours, theirs = {}, {}
    for method in present:
        values, text = _of(every, method), printed_two(_of(printed("tables5_to_7"), method))
        for label in (*AVERAGE_METRICS, "ECD"):
            ours[method, label] = values[label]
            theirs[method, label] = text[label]
        if outcomes is not None:
            ours[method, "ECD won"] = _of(outcomes, method)["ECD"]
    data = pd.DataFrame(ours)
    order = pd.MultiIndex.from_product([MODELS, TASKS], names=["model", "task"])
    data = data.reindex(order[order.isin(data.index)])
    notes = ["Acc loss above 0 is a gain. All other numbers are sizes, means over the repeats."]
    if outcomes is None:
        notes.append("No Scott-Knott ranks: they need two runs of each case or more.")
    return PaperTable(
        name,
        f"{title}: averages and the tail",
        data,
        len(data),
        "cases",
        tuple(notes),
        pd.DataFrame(theirs).reindex(data.index).fillna(""),
        two_decimals,
    )


def _of(frame: pd.DataFrame, method: str) -> pd.DataFrame:
    return frame[frame.index.get_level_values("method") == method].droplevel("method")


table5 = partial(_method_table, "table5")
table6 = partial(_method_table, "table6")
table7 = partial(_method_table, "table7")


def wins(frame: pd.DataFrame, *, reading: Reading = "as_published") -> PaperTable:
    """Return how often each method wins, ties and loses against the original model, by metric.

    Scott-Knott ranks of all methods of a case over its runs, with Cliff's delta and a bootstrap.
    As published, by the script that software engineers share, which takes the upper of two middle
    values for the median and so can separate methods that are equal.
    """
    outcomes = outcomes_of(frame, reading)
    if outcomes is None:
        raise InputError("Ranks need at least two runs of a case; the frame has one of each.")
    long = outcomes.reset_index().melt(["method", "model", "task"], var_name="metric")
    counts = long.groupby(["method", "metric", "value"]).size().unstack(["metric", "value"])  # noqa: PD010
    columns = pd.MultiIndex.from_product([outcomes.columns, ["win", "tie", "loss"]])
    rows = [method for method in METHODS if method in counts.index]
    data = counts.reindex(index=pd.Index(rows), columns=columns).fillna(0).astype(int)
    title = "Wins, ties and losses against the original model"
    number = outcomes.droplevel("method").index.nunique()
    return PaperTable("wins", title, data, number, "cases (model, task)")


def minimax_hours(runs: pd.DataFrame, *, rounds: int = 2000, repeats: int = 20) -> pd.DataFrame:
    """Estimate what MiniMax would take with the published number of rounds, from a shorter run.

    A round is a fit, so time grows with their number; a game that ends early is not foreseen.

    Parameters
    ----------
    runs : DataFrame
        One row per record with ``cpu``: ``Store.runs()``.
    rounds, repeats : int
        What to estimate for.

    Returns
    -------
    DataFrame
        By (dataset, attributes, model): mean seconds of a run that was made, and hours of CPU for
        the repeats asked for. Empty where no run of MiniMax was made.

    Examples
    --------
    >>> runs = pd.DataFrame(
    ...     {"dataset": ["adult"], "attributes": ["sex"], "model": ["lr"], "mitigator": ["minimax"],
    ...      "status": ["ok"], "cpu": [36.0]}
    ... )
    >>> float(minimax_hours(runs)["hours"].iloc[0])
    2.0
    """
    played = runs["mitigator"].astype(str).map(_rounds_of)
    table = runs.assign(hours=runs["cpu"] / played * rounds * repeats / 3600, seconds=runs["cpu"])
    table = table[played.notna() & (runs["status"] == "ok")]
    by_case = table.groupby(["dataset", "attributes", "model"], observed=True)
    return by_case[["seconds", "hours"]].mean().reset_index()


_ROUNDS = 200
"""As in study.toml."""


def _rounds_of(mitigator: str) -> float:
    if base_name(mitigator) != METHODS["MiniMax"]:
        return np.nan
    return float(parse_name(mitigator)[1].get("rounds", _ROUNDS))


def about_runs(table: str, runs: pd.DataFrame) -> list[str]:
    """Return notes on a table from the times of its runs: for Table VII, the time of 2,000 rounds."""
    if table != "table7" or not len(result := minimax_hours(runs)):
        return []
    cases = ", ".join(
        f"{model} on {task_of(dataset, attributes) or dataset} {hours:.2g} h"
        for dataset, attributes, model, _, hours in result.to_numpy().tolist()
    )
    total = f"{result['hours'].sum():,.2g} hours of CPU for 20 repeats of these cases"
    start = f"The published 2,000 rounds of MiniMax would take about {total}"
    return [f"{start}, by the times of this run: {cases}."]


# ---------------------------------------------------------------------- claims

_FINDING_NOTES = (
    (
        "Discrimination is a difference of 0.05 or more: with this reading (the text says "
        "'exceeding') the paper's counts of ECD, ACD and ECD above ACD come out."
    ),
    (
        "19 cases of ECD follow from its column, where LR on Compas (-.06) and RF on Adult sex "
        "(-.18) have the wrong sign; the printed locations give 21."
    ),
    (
        "The text gives Fair-SMOTE 9 cases of AOD up to 0.05 and its table 19; STEALTH's mean ECD "
        "is 0.04 in the text and 0.030 in the table."
    ),
    (
        "27 of the 80 tails have a shape of -0.5 or less, where the errors of the fit are not "
        "valid, 17 of them -1 or less, where the likelihood has no maximum; the paper counts them "
        "as type III."
    ),
)
_OUR_NOTES: dict[Reading, str] = {
    "corrected": (
        "Ours: types by the 95 % limits of the shape of peaks over a threshold, ECD as the "
        "difference of the levels of 1,000 queries; a tail with too few different values has no "
        "type."
    ),
    "as_published": (
        "Ours: types by the shape of an extreme value law of the 50 largest values (about 0.45 too "
        "high for a tail), ECD as the difference of its locations."
    ),
}


def findings(ours: pd.DataFrame | None = None, *, reading: Reading = "corrected") -> PaperTable:
    """Return every counted claim of RQ1 to RQ4: as published, recounted in print, and from our runs.

    Parameters
    ----------
    ours : DataFrame, optional
        The result frame of our runs; without one the last column says "not yet run".
    reading : {"corrected", "as_published"}
        How our runs are read: ECD and types as in ``table4``, ranks as in ``wins``.

    Examples
    --------
    >>> findings().data.loc["RQ3 AOD at most .05", "recounted in the printed tables"]
    'EG 32 of 40, STEALTH 22 of 40, MAAT 22 of 40, Fair-SMOTE 19 of 40'
    """
    results = Results() if ours is None else results_of(ours, reading)
    data = pd.DataFrame(
        {
            "as published": claims()["statement"],
            "recounted in the printed tables": sentences(printed_results()),
            "ours": sentences(results),
        }
    )
    notes = list(_FINDING_NOTES)
    if ours is not None and results.cases is not None:
        notes += [_OUR_NOTES[reading], *_missing(ours, results.cases)]
    title = "The paper's counted claims"
    return PaperTable("findings", title, data, len(data), "claims", tuple(notes))


def parts_of(frame: pd.DataFrame) -> frozenset[str]:
    """Return the parts that a frame holds: original runs, runs, generators."""
    present = {
        "generators": (frame["model"] == GENERATOR).any(),
        "original runs": (frame["mitigator"] == ORIGINAL).any(),
        "runs": frame["mitigator"].isin([*METHODS.values()]).any(),
    }
    return frozenset(name for name, there in present.items() if there)


_ORIGINAL = frozenset({"original runs"})
_BOTH = frozenset({"original runs", "runs"})
_GENERATED = frozenset({"generators"})
TABLES: dict[str, Recipe] = {
    "table1": Recipe(table1, "return levels of the original and the mitigated model", _ORIGINAL),
    "table3": Recipe(table3, "quality of generated rows", _GENERATED),
    "table4": Recipe(table4, "tails by model, task and group", _ORIGINAL),
    "table5": Recipe(table5, "exponentiated gradient and Fair-SMOTE", _BOTH),
    "table6": Recipe(table6, "STEALTH and MAAT", _BOTH),
    "table7": Recipe(table7, "MiniMax and ECD-Fair", _BOTH),
    "fig1": Recipe(fig1, "counterfactual discrimination of both groups", _ORIGINAL),
    "fig2": Recipe(fig2, "densities of the extreme value laws", _ORIGINAL),
    "fig3": Recipe(fig3, "real and generated rows in the plane", _GENERATED),
    "wins": Recipe(wins, "wins, ties and losses against the original model", _BOTH),
    "findings": Recipe(findings, "the paper's counted claims", _ORIGINAL),
}
"""What can be recomputed, by name."""
