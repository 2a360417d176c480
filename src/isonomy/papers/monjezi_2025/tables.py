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
from isonomy.papers.monjezi_2025.example import EXAMPLE, fig1, fig2, table1
from isonomy.papers.monjezi_2025.findings import findings
from isonomy.papers.monjezi_2025.generated import fig3, table3
from isonomy.papers.monjezi_2025.names import (
    GENERATOR,
    METHODS,
    MODELS,
    ORIGINAL,
    TASKS,
    task_of,
    tasks_of,
)
from isonomy.papers.monjezi_2025.nearest import readings
from isonomy.papers.monjezi_2025.outcomes import (
    AVERAGE_METRICS,
    AVERAGED,
    mitigated_of,
    outcomes_of,
)
from isonomy.papers.monjezi_2025.readings import READING
from isonomy.papers.monjezi_2025.table4 import generated, missing_runs, table4
from isonomy.papers.monjezi_2025.transcript import printed, printed_two, two_decimals
from isonomy.papers.table import PaperTable, Reading, Recipe

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
        if values[AVERAGED].notna().any():
            ours[method, AVERAGED] = values[AVERAGED]
        if outcomes is not None:
            ours[method, "ECD won"] = _of(outcomes, method)["ECD"]
    data = pd.DataFrame(ours)
    order = pd.MultiIndex.from_product([MODELS, TASKS], names=["model", "task"])
    data = data.reindex(order[order.isin(data.index)])
    notes = ["Acc loss above 0 is a gain. All other numbers are sizes, means over the repeats."]
    if any(label == AVERAGED for _, label in ours):
        notes.append(
            "The models of EG and MiniMax vote: where flipping the attribute changes a vote, a score "
            "jumps by the weight of the model. ECD averaged is that of the mean of their "
            "probabilities (scores=probabilities), from the same fits."
        )
    models = [m for m in MODELS if m in pd.DataFrame(theirs).index.get_level_values("model")]
    notes += missing_runs(frame, data, models)
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


def _runs_of(methods: tuple[str, ...]) -> str:
    return f"runs of {' or '.join(methods)}"


def parts_of(frame: pd.DataFrame) -> frozenset[str]:
    """Return the parts that a frame holds: original runs, runs of two methods, generators, ..."""
    done = frame[(frame["status"] == "ok").to_numpy()]
    cases = done[["dataset", "attributes", "mitigator"]].astype(str).drop_duplicates()
    kinds = {*map(base_name, cases["mitigator"])}
    original = cases["mitigator"] == ORIGINAL
    splits = done["repeat"][(done["mitigator"] == ORIGINAL).to_numpy()].unique()
    present = {
        "generators": (frame["model"] == GENERATOR).any(),
        "generated rows": frame["metric"].astype(str).str.startswith("searched_rows").any(),
        "readings": cases["mitigator"].str.startswith(f"{READING}(").any(),
        "original runs": original.any(),
        _EXAMPLE: EXAMPLE in tasks_of(cases[original]),
        _TWICE: len(splits) > 1,
        "runs": kinds & {*METHODS.values()},
    }
    for _, methods in _METHOD_TABLES.values():
        present[_runs_of(methods)] = kinds & {METHODS[method] for method in methods}
    return frozenset(name for name, there in present.items() if there)


_EXAMPLE = f"original runs on {EXAMPLE}"
_TWICE = "two original runs of a case"
_ORIGINAL = frozenset({"original runs"})
_ONE_CASE = frozenset({_EXAMPLE})
_GENERATED = frozenset({"generators"})
_EXTENDED = frozenset({"original runs", "generated rows"})
_READ = frozenset({"readings"})
_PAIRS = {
    name: frozenset({"original runs", _runs_of(methods)})
    for name, (_, methods) in _METHOD_TABLES.items()
}
TABLES: dict[str, Recipe] = {
    "table1": Recipe(table1, "return levels of the original and the mitigated model", _ONE_CASE),
    "table3": Recipe(table3, "quality of generated rows", _GENERATED),
    "table4": Recipe(table4, "tails by model, task and group", _ORIGINAL),
    "generated": Recipe(generated, "Table IV with Algorithm 1's generated rows", _EXTENDED),
    "readings": Recipe(readings, "which reading of the paper comes nearest to Table IV", _READ),
    "table5": Recipe(table5, "exponentiated gradient and Fair-SMOTE", _PAIRS["table5"]),
    "table6": Recipe(table6, "STEALTH and MAAT", _PAIRS["table6"]),
    "table7": Recipe(table7, "MiniMax and ECD-Fair", _PAIRS["table7"]),
    "fig1": Recipe(fig1, "counterfactual discrimination of both groups", _ONE_CASE),
    "fig2": Recipe(fig2, "densities of the extreme value laws", _ONE_CASE),
    "fig3": Recipe(fig3, "real and generated rows in the plane", _GENERATED),
    "wins": Recipe(
        wins, "wins, ties and losses against the original model", frozenset({"runs", _TWICE})
    ),
    "findings": Recipe(findings, "the paper's counted claims", _ORIGINAL),
}
"""What can be recomputed, by name."""
