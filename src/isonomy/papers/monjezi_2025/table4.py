"""Table IV: the tails of both groups, from real rows and with the rows that Algorithm 1 adds."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from isonomy._names import base_name
from isonomy.counterfactual.extremes import ROUNDING
from isonomy.papers.monjezi_2025.cases import Rows, cases_of, groups_of
from isonomy.papers.monjezi_2025.names import METHODS, MODELS, ORIGINAL, TASKS, task_of
from isonomy.papers.monjezi_2025.transcript import printed, printed_two, two_decimals
from isonomy.papers.table import PaperTable, Reading

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
"""What a column holds as published, and corrected."""

_PRINTED = ["ACD", "CVaR", "ECD", "mu", "sigma", "xi", "+/-", "tau", "type"]
_NOTES = (
    (
        "CVaR (the mean of the largest 5 %, unprivileged less privileged) and the horizon B "
        "(isonomy.tails.diagnose) are ours; the paper defines neither."
    ),
    (
        "Labels of the groups look exchanged in the print for German, Heart, Student and MEPS: "
        "expect the other sign there."
    ),
)


def table4(frame: pd.DataFrame, *, reading: Reading = "as_published") -> PaperTable:
    """Return Table IV: both groups' tails for every model and task, ACD, CVaR and ECD.

    Real rows only; :func:`generated` sets those of Algorithm 1 beside them.

    Parameters
    ----------
    frame : DataFrame
        A result frame with tails.
    reading : {"as_published", "corrected"}
        As published: location, scale and shape of an extreme value law of the 50 largest values,
        the type by its shape, ECD the difference of locations. Corrected: scale and shape of
        peaks over a threshold, the level of 1,000 queries in place of the location, the type
        by the 95 % limits of the shape, ECD the difference of levels. A group that nobody is
        disadvantaged in has neither type nor horizon.
    """
    published = reading == "as_published"
    data = _numbers(frame, reading, "real")
    theirs = None
    if published:
        theirs = printed_two(_in_print()[_PRINTED]).reindex(data.index).fillna("")
    notes = ["Group 1 is the privileged one. N counts real rows.", *_NOTES, *_without(frame, data)]
    notes += missing_runs(frame, data)
    title = "Tails of counterfactual discrimination by group, " + reading.replace("_", " ")
    return PaperTable("table4", title, data, len(data), "tails", tuple(notes), theirs, two_decimals)


def generated(frame: pd.DataFrame, *, reading: Reading = "as_published") -> PaperTable:
    """Return Table IV from real rows and with generated ones, side by side.

    Parameters
    ----------
    frame : DataFrame
        A result frame with tails, of a study that names a generator.
    reading : {"as_published", "corrected"}
        As published: Algorithm 1, which adds 500 rows to a group until the paper's test passes.
        Corrected: each group is filled up to 1,000 rows, whatever their values.
    """
    rows: Rows = "searched" if reading == "as_published" else "planned"
    sides = {"real rows": _numbers(frame, reading, "real")}
    sides["with generated rows"] = _numbers(frame, reading, rows)
    made = groups_of(frame, rows)["made"]
    first = "mu" if reading == "as_published" else "level 1000"
    columns = ["ACD", "CVaR", "ECD", first, "sigma", "xi", "tau", "type", "B"]
    cells: dict[tuple[str, str], Any] = {
        ("rows", "N"): sides["real rows"]["N"],
        ("rows", "generated"): made,
    }
    cells |= {(side, c): table[c] for side, table in sides.items() for c in columns}
    data = pd.DataFrame(cells)
    known = made.notna()
    data["rows", "generated"] = made.astype("Int64").astype(object).where(known, "not made")
    theirs = None
    if reading == "as_published":
        text = _in_print().reindex(data.index)
        synthetic = text["synthetic"].astype(float) * 1000
        theirs = printed_two(text[_PRINTED].fillna(""))
        theirs.columns = pd.MultiIndex.from_product([["with generated rows"], theirs.columns])
        theirs["rows", "generated"] = synthetic.map("{:.0f}".format)
    touched = int((made > 0).sum())
    notes = [
        f"Rows were generated for {touched} of {len(data)} groups; the others stay as they are.",
        (
            "As printed, the test of Algorithm 1 is of the values themselves: it fails only where their "
            "mean is near 0, and a negative coefficient passes. The paper generated rows for 12 of "
            "its 80 groups, all of German and Heart."
        ),
    ]
    if not known.all():
        notes.append(
            f"{int((~known).sum())} groups need generated rows that could not be made: the extra "
            "torch was not installed."
        )
    notes += missing_runs(frame, data)
    title = "Table IV from real rows and with generated ones, " + reading.replace("_", " ")
    return PaperTable(
        "generated", title, data, len(data), "tails", tuple(notes), theirs, two_decimals
    )


def _numbers(frame: pd.DataFrame, reading: Reading, rows: Rows) -> pd.DataFrame:
    """Return the columns of Table IV by (model, task, group)."""
    published = reading == "as_published"
    groups, cases = groups_of(frame, rows), cases_of(frame, rows)
    columns = [pair[not published] for pair in _GROUP_COLUMNS.values()]
    data = groups[["cd_rows", *columns]].set_axis(["N", *_GROUP_COLUMNS], axis=1)
    if not published:
        data = data.rename(columns={"mu": "level 1000"})
    data["CV"] = data["CV"].map({1.0: "pass", 0.0: "fail"})
    data = data.astype({"N": int, "B": int, "distinct": int})
    without = (data["type"] == "none") | (groups["evidence"] == "none")
    data["B"] = data["B"].astype(object).mask(without, "none")
    ecd = "ECD" if published else "ECD 1000"
    for place, (label, name) in enumerate({"ACD": "ACD", "CVaR": "CVaR", "ECD": ecd}.items(), 1):
        data.insert(place, label, cases[name].reindex(data.droplevel("group").index).to_numpy())
    return data


def _in_print() -> pd.DataFrame:
    text = printed("table4_groups").rename(index=int, level="group")
    return text.join(printed("table4_cases"))


def _without(frame: pd.DataFrame, data: pd.DataFrame) -> list[str]:
    """Return notes on groups without a tail."""
    notes = []
    spared = groups_of(frame)["cd_max"] <= ROUNDING
    if nobody := int(spared.sum()):
        notes.append(
            f"{nobody} of {len(data)} groups hold nobody who is disadvantaged by belonging to them: "
            "they have no tail of discrimination, no type and no horizon, and the location is that "
            "of their smallest advantages."
        )
    if steps := int(((data["type"] == "none") & ~spared).sum()):
        notes.append(
            f"{steps} of {len(data)} tails have too few different values among the 50 largest, or "
            "one that too many share: no law is fitted, and the location is the quantile of them "
            "that a location is."
        )
    return notes


def missing_runs(
    frame: pd.DataFrame, cases: pd.DataFrame, models: Sequence[str] = MODELS
) -> list[str]:
    """Return notes on the tasks and models that a frame lacks, with the reason where they failed."""
    reasons: dict[str, str] = {}
    failed = frame[(frame["status"] != "ok").to_numpy()]
    failed = failed[["dataset", "attributes", "model", "mitigator", "reason"]].astype(str)
    for dataset, attributes, model, mitigator, reason in failed.drop_duplicates().itertuples(
        index=False
    ):
        if base_name(mitigator) not in {ORIGINAL, *METHODS.values()}:
            continue  # what stopped a generator stopped no model
        reasons.setdefault(task_of(dataset, attributes) or "", reason)
        reasons.setdefault(model, reason)
    notes = []
    for words, names, level in (
        ("Tasks without runs", TASKS, "task"),
        ("Not run", models, "model"),
    ):
        absent = [name for name in names if name not in cases.index.get_level_values(level)]
        listed = [f"{name} ({reasons[name]})" if name in reasons else name for name in absent]
        notes += [f"{words}: {'; '.join(listed)}."] if listed else []
    return notes
