"""Tails of counterfactual discrimination (Monjezi et al.): tables, figures and claims.

The authors' runs are not public. What is printed is transcribed and its claims are recounted
(``findings``); tables and figures are functions of a result frame of our own runs
(``isonomy study run monjezi_2025``), with the printed cells beside them. The paper says too little
of its encoding and of its fits for cells to agree: what can be compared is which way they point.

References
----------
Monjezi, Trivedi, Kreinovich and Tizpaz-Niari 2025, Fairness Testing through Extreme Value Theory,
ICSE; arXiv:2501.11597v1.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from isonomy._names import base_name, parse_name
from isonomy.errors import InputError
from isonomy.papers.monjezi_2025 import printed
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
    results_of,
    task_of,
)
from isonomy.papers.monjezi_2025.claims import PUBLISHED, Results, sentences
from isonomy.papers.monjezi_2025.example import fig1, fig2, table1
from isonomy.papers.monjezi_2025.generated import fig3, run_generators, table3
from isonomy.papers.monjezi_2025.printed import printed_two, two_decimals
from isonomy.papers.table import PaperTable, Recipe

__all__ = [
    "METHODS",
    "MODELS",
    "TABLES",
    "TASKS",
    "about_runs",
    "fig1",
    "fig2",
    "fig3",
    "findings",
    "parts_of",
    "minimax_hours",
    "printed_results",
    "run_generators",
    "table1",
    "table3",
    "table4",
    "table5",
    "table6",
    "table7",
    "wins",
]

# ---------------------------------------------------------------------- RQ2


def table4(frame: pd.DataFrame, *, reading: Reading = "as_published") -> PaperTable:
    """Give Table IV: both groups' tails for every model and task, ACD, CVaR and ECD.

    Parameters
    ----------
    frame : DataFrame
        A result frame with tails.
    reading : {"as_published", "corrected"}
        As published: location, scale and shape of an extreme value law of the 50 largest values,
        the type by its shape, ECD the difference of locations. Corrected: scale and shape of
        peaks over a threshold, the level of 1,000 queries in the place of the location, the type
        by the 95 % limits of the shape, ECD the difference of levels.
    """
    groups, cases = groups_of(frame), cases_of(frame)
    published = reading == "as_published"
    columns = {
        "N": groups["N"].astype(int),
        "mu" if published else "level 1000": groups["mu" if published else "level 1000"],
        "sigma": groups["sigma" if published else "scale"],
        "xi": groups["xi" if published else "shape"],
        "+/-": groups["+/-"] if published else (groups["high"] - groups["low"]) / 2,
        "tau": groups["tau"],
        "type": groups["type" if published else "evidence"],
        "B": groups["B"].astype(int),
        "distinct": groups["distinct"].astype(int),
        "CV": groups["CV" if published else "residual CV"].map({1.0: "pass", 0.0: "fail"}),
    }
    data = pd.DataFrame(columns)
    ecd = cases["ECD" if published else "ECD 1000"]
    for name, values in (("ACD", cases["ACD"]), ("CVaR", cases["CVaR"]), ("ECD", ecd)):
        data.insert(1, name, values.reindex(_cases(data)).to_numpy())
    data = data[
        ["N", "ACD", "CVaR", "ECD", *[c for c in data if c not in ("N", "ACD", "CVaR", "ECD")]]
    ]
    theirs = None
    if published:
        text = printed.groups()[["mu", "sigma", "xi", "+/-", "tau", "type"]]
        own = printed.cases().reindex(_cases(text))
        theirs = pd.concat([own.set_axis(text.index), text], axis=1)
        theirs = printed_two(theirs).reindex(data.index).fillna("")
    none = int((data["type"] == "none").sum())
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
    if none:
        notes.append(
            f"{none} of {len(data)} tails have too few different values among the 50 largest, or "
            "one that too many share: no law is fitted, and the location is the quantile of them "
            "that a location is."
        )
    notes += _missing(frame, cases)
    return PaperTable(
        "table4",
        "Tails of counterfactual discrimination by group, " + reading.replace("_", " "),
        data,
        len(data),
        "tails",
        tuple(notes),
        theirs,
        two_decimals,
    )


def _cases(groups: pd.DataFrame) -> pd.MultiIndex:
    """Give the case of each group."""
    model, task = (groups.index.get_level_values(name) for name in ("model", "task"))
    return pd.MultiIndex.from_arrays([model, task], names=["model", "task"])


def _missing(frame: pd.DataFrame, cases: pd.DataFrame) -> list[str]:
    """Say which tasks and models a frame does not hold, and why where it was tried."""
    told: dict[str, str] = {}
    bad = frame[(frame["status"] != "ok").to_numpy()]
    tried = bad[["dataset", "attributes", "model", "reason"]].astype(str).drop_duplicates()
    for dataset, attributes, model, reason in tried.itertuples(index=False):
        told.setdefault(task_of(dataset, attributes) or "", reason)
        told.setdefault(model, reason)
    out = []
    for word, names, level in (("parts_of", [*TASKS], "task"), ("run", [*MODELS], "model")):
        absent = [name for name in names if name not in cases.index.get_level_values(level)]
        why = [f"{name} ({told[name]})" if name in told else name for name in absent]
        out += [f"Not {word}: {'; '.join(why)}."] if why else []
    return out


# ---------------------------------------------------------------------- RQ3 and RQ4


def _methods(
    frame: pd.DataFrame, name: str, title: str, methods: Sequence[str], reading: Reading
) -> PaperTable:
    every, outcomes = mitigated_of(frame, reading), outcomes_of(frame, reading)
    there = [m for m in methods if m in every.index.get_level_values("method")]
    if not there:
        raise InputError(
            f"The frame must hold runs of {' or '.join(methods)}; it holds neither: run the study "
            "with these methods."
        )
    labels = [*AVERAGE_METRICS, "ECD"]
    ours, theirs = {}, {}
    for method in there:
        mine = _of(every, method)
        text = printed_two(_of(printed.mitigated(), method))
        for label in labels:
            ours[method, label] = mine[label]
            theirs[method, label] = text[label].reindex(mine.index).fillna("")
        if outcomes is not None:
            ours[method, "ECD won"] = _of(outcomes, method)["ECD"]
    data = pd.DataFrame(ours)
    order = pd.MultiIndex.from_product([MODELS, TASKS], names=["model", "task"])
    data = data.reindex([row for row in order if row in data.index])
    notes = ["Acc loss above 0 is a gain. All other numbers are sizes, means over the repeats."]
    if outcomes is None:
        notes.append("No Scott-Knott ranks: they need two runs of each case or more.")
    shown = pd.DataFrame(theirs).reindex(data.index).fillna("")
    return PaperTable(name, title, data, len(data), "cases", tuple(notes), shown, two_decimals)


def _of(frame: pd.DataFrame, method: str) -> pd.DataFrame:
    return frame[frame.index.get_level_values("method") == method].droplevel("method")


def table5(frame: pd.DataFrame, *, reading: Reading = "as_published") -> PaperTable:
    """Give Table V: exponentiated gradient and Fair-SMOTE, averages and tails."""
    title = "Exponentiated gradient and Fair-SMOTE: averages and the tail"
    return _methods(frame, "table5", title, ("EG", "Fair-SMOTE"), reading)


def table6(frame: pd.DataFrame, *, reading: Reading = "as_published") -> PaperTable:
    """Give Table VI: STEALTH and MAAT, averages and tails."""
    title = "STEALTH and MAAT: averages and the tail"
    return _methods(frame, "table6", title, ("STEALTH", "MAAT"), reading)


def table7(frame: pd.DataFrame, *, reading: Reading = "as_published") -> PaperTable:
    """Give Table VII: MiniMax and ECD-Fair, averages and tails."""
    title = "MiniMax and ECD-Fair: averages and the tail"
    return _methods(frame, "table7", title, ("MiniMax", "ECD-Fair"), reading)


def wins(frame: pd.DataFrame, *, reading: Reading = "as_published") -> PaperTable:
    """Give how often each method wins, ties and loses against the original model, by metric.

    Scott-Knott ranks of all methods of a case over its runs, with Cliff's delta and a bootstrap.
    As published, by the script that software engineers share, which takes the upper of two middle
    values for the median of many and so can part methods that are equal.
    """
    outcomes = outcomes_of(frame, reading)
    if outcomes is None:
        raise InputError("Ranks need at least two runs of a case; the frame has one of each.")
    cells: dict[tuple[str, str], dict[str, int]] = {}
    for metric in outcomes.columns:
        words = outcomes[metric].dropna()
        counts = words.groupby([words.index.get_level_values("method"), words]).size()
        for method in METHODS:
            for word in ("win", "tie", "loss"):
                cells.setdefault((str(metric), word), {})[method] = int(
                    counts.get((method, word), 0)
                )
    data = pd.DataFrame(cells)
    data = data[data.sum(axis=1) > 0]
    return PaperTable(
        "wins",
        "Wins, ties and losses against the original model",
        data,
        int(outcomes.groupby(["model", "task"]).ngroups),
        "cases (model, task)",
    )


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
    names = runs["mitigator"].astype(str)
    played = names.map(_rounds_of)
    mine = runs.assign(per_round=runs["cpu"] / played, seconds=runs["cpu"])
    mine = mine[played.notna() & (runs["status"] == "ok")]
    found = mine.groupby(["dataset", "attributes", "model"], observed=True)[
        ["seconds", "per_round"]
    ].mean()
    hours = found["per_round"] * rounds * repeats / 3600
    return pd.DataFrame({"seconds": found["seconds"], "hours": hours}).reset_index()


def _rounds_of(mitigator: str) -> float:
    if base_name(mitigator) != METHODS["MiniMax"]:
        return np.nan
    return float(parse_name(mitigator)[1].get("rounds", _ROUNDS))


_ROUNDS = 200
"""As in monjezi_2025.toml."""


def about_runs(table: str, runs: pd.DataFrame) -> list[str]:
    """Say what a run's times tell about a table: for Table VII, what 2,000 rounds would take."""
    if table != "table7" or not len(found := minimax_hours(runs)):
        return []
    columns = (found[name].tolist() for name in ("dataset", "attributes", "model", "hours"))
    shown = ", ".join(
        f"{model} on {task_of(dataset, attributes) or dataset} {hours:.2g} h"
        for dataset, attributes, model, hours in zip(*columns, strict=True)
    )
    total = f"{found['hours'].sum():,.2g} hours of CPU"
    told = f"The published 2,000 rounds of MiniMax would take about {total} for 20 repeats of these"
    return [f"{told} cases, by the times of this run: {shown}."]


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


def printed_results() -> Results:
    """Give the numbers of the printed tables, as the claims are counted on them.

    Examples
    --------
    >>> results = printed_results()
    >>> results.types.value_counts().to_dict()
    {'III': 62, 'I': 14, 'II': 4}
    """
    groups = printed.groups()
    mu = groups["mu"].astype(float)
    cases = printed.cases().astype(float)
    cases["locations"] = mu.xs(2, level="group") - mu.xs(1, level="group")
    mitigated = printed.mitigated().replace("NV", np.nan).astype(float)
    return Results(cases, groups["type"], mitigated, None, printed.generators().astype(float))


def findings(ours: pd.DataFrame | None = None, *, reading: Reading = "corrected") -> PaperTable:
    """Give every counted claim of RQ1 to RQ4: as published, recounted in print, and from our runs.

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
            "as published": PUBLISHED,
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
    models = {str(name) for name in frame["model"].unique()}
    names = {str(name) for name in frame["mitigator"].unique()}
    parts = set()
    if GENERATOR in models:
        parts.add("generators")
    if ORIGINAL in names:
        parts.add("original runs")
    if names & set(METHODS.values()):
        parts.add("runs")
    return frozenset(parts)


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
