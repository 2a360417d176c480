"""The zero-sum study (Chen et al. 2025): its tables as functions of a result frame.

The frame may hold the authors' files (``read_zerosum``) or our own runs; they are compared with the
outputs of the authors' scripts.

References
----------
Chen, Li, Zhang, Sarro and Liu 2025, Is Bias Mitigation a Zero-Sum Game?, FSE.
"""

from functools import partial

import pandas as pd

from isonomy.papers.changes import changes, direction, large
from isonomy.papers.printed import read_printed
from isonomy.papers.table import PaperTable, Recipe, decimals
from isonomy.papers.zerosum_2025.cases import METHODS, MODELS, RUNS, SIDES, TASKS, runs_by_side

printed = partial(read_printed, __file__)

_CASES = "cases (task, model, rate, method)"
_RATES = ("sr", "tp", "fp")
_MOVES = ("in", "tie", "de")


def rate_changes(frame: pd.DataFrame) -> pd.DataFrame:
    """Return what every method changes in the rates of both sides, case by case."""
    return changes(runs_by_side(frame), {label: label for label in SIDES}, METHODS)


def _finished(made: PaperTable, table: pd.DataFrame) -> PaperTable:
    full = table[(table["runs"] == RUNS) & (table["metric"] == "srp")].groupby("method").size()
    whole = full.index[full == len(TASKS) * len(MODELS)]
    theirs = printed(made.name)
    theirs.loc[~theirs.index.isin(whole)] = ""
    made = PaperTable(**{**vars(made), "printed": theirs})
    notes = made.agreement("the authors' output")
    tasks = {tuple(t) for t in table[["dataset", "attributes"]].drop_duplicates().to_numpy()}
    if missing := [label for label, task in TASKS.items() if task not in tasks]:
        notes.append(f"Not held: {', '.join(missing)}; what pools over them is not compared.")
    return PaperTable(**{**vars(made), "notes": (*notes, *made.notes)})


def table2(frame: pd.DataFrame) -> PaperTable:
    """Make Table 2: in how many cases each side's rates rise or fall significantly."""
    table = rate_changes(frame)
    moved = direction(table)
    moved["tie"] = ~moved.any(axis=1)
    counts = moved.groupby([table["method"], table["metric"]]).sum()
    rows = [m for m in METHODS if m in counts.index.get_level_values(0)]
    data = pd.DataFrame(
        {
            f"{rate}{side}_{move}": counts[move].xs(f"{rate}{side}", level="metric").reindex(rows)
            for rate in _RATES
            for side in "pu"
            for move in _MOVES
        }
    )
    return _finished(
        PaperTable(
            "table2",
            "Cases in which a rate of the privileged (p) and of the unprivileged (u) rises (in) or "
            "falls (de) significantly",
            data.rename_axis(index=None),
            len(table),
            _CASES,
            write=str,
        ),
        table,
    )


def table3(frame: pd.DataFrame) -> PaperTable:
    """Make Table 3: by how much each side's rates change, at most, and how often by a large effect.

    The privileged side is asked about falls, the other one about rises.
    """
    table = rate_changes(frame)
    grouped = table.groupby(["method", "metric"])["change"]
    moved, much = direction(table), large(table)
    columns = {}
    for side, end, sign in (("p", "min", "de"), ("u", "max", "in")):
        often = (much & moved[sign]).groupby([table["method"], table["metric"]]).mean()
        for rate in _RATES:
            label = f"{rate}{side}"
            columns[f"{label}_mean"] = grouped.mean().xs(label, level="metric")
            columns[f"{label}_max"] = getattr(grouped, end)().xs(label, level="metric")
            columns[f"{_LARGE.get(label, label)}_large"] = often.xs(label, level="metric")
    data = pd.DataFrame(columns).reindex([*METHODS]).dropna(how="all")
    return _finished(
        PaperTable(
            "table3",
            "Mean and largest change of each side's rates, and share of cases with a large effect",
            data.rename_axis(index=None),
            len(table),
            _CASES,
            write=decimals(6),
        ),
        table,
    )


_LARGE = {"srp": "spr", "sru": "spu"}  # as the authors' script spells its headings


def parts_of(frame: pd.DataFrame) -> frozenset[str]:
    """Return the parts that a frame holds."""
    names = frame["mitigator"].astype(str)
    rates = frame["metric"].astype(str).str.startswith("selection_rate[")
    parts = {
        "runs with the rates of groups": (names.isin([*METHODS.values()]) & rates).any(),
        "original runs": (names == "unmitigated").any(),
    }
    return frozenset(part for part, present in parts.items() if present)


NEEDS = frozenset({"runs with the rates of groups", "original runs"})
TABLES: dict[str, Recipe] = {
    "table2": Recipe(table2, "whose rates rise and fall, by method", NEEDS, 1.0),
    "table3": Recipe(table3, "by how much they do", NEEDS, 0.01),
}
"""What can be recomputed, by name."""
