"""The study of several attributes (Chen et al. 2024): its tables and figures.

They are functions of a result frame, of the authors' files (``read_icse24``) or of our own runs,
and are compared with the outputs of the authors' scripts.

References
----------
Chen, Zhang, Sarro and Harman 2024, Fairness Improvement with Multiple Protected Attributes: How Far
Are We?, ICSE.
"""

from functools import partial

import numpy as np
import pandas as pd

from isonomy._arrays import Floats, divide
from isonomy.papers.archive import BASELINE
from isonomy.papers.changes import changes, large, relative
from isonomy.papers.icse24_multi.cases import (
    ATTRIBUTES,
    DATASETS,
    METHODS,
    MODELS,
    PAIRS,
    RUNS,
    Runs,
    scores,
)
from isonomy.papers.printed import read_printed
from isonomy.papers.subgroups import GAPS, PERFORMANCE, WORST
from isonomy.papers.table import PaperTable, Reading, Recipe, decimals
from isonomy.tradeoff.regions import REGIONS

printed = partial(read_printed, __file__)
SWAP = (
    "As published: precision and recall of the methods' runs of two attributes are exchanged, as the "
    "authors' scripts read their own files; those of the original model are not. Corrected: all are "
    "read by their names."
)
"""The slip behind the two readings of a table."""

_SIX = decimals(6)
_CASES = "cases (task, model, metric, method)"
_LABELS = {name: label for label, name in DATASETS.items()}
_UNCONSIDERED = {f"{gap}2": f"{gap}2" for gap in GAPS}
_COLUMNS = ("lose-lose", "inverted", "bad", "good", "win-win")
_CODES = [REGIONS.index("poor" if name == "bad" else name) for name in _COLUMNS]


def _whole(table: pd.DataFrame, by: str, cases: int) -> list[str]:
    """Return the labels whose cases are all held, with all of their runs."""
    full = table[table["runs"] == RUNS].groupby(by, observed=True).size()
    return [str(label) for label, count in full.items() if count == cases]


def _kept(text: pd.DataFrame, rows: list[str]) -> pd.DataFrame:
    """Keep the printed rows that can be compared."""
    text = text.copy()
    text.loc[~text.index.isin([*rows])] = ""
    return text


def _finished(made: PaperTable, *notes: str) -> PaperTable:
    compared = made.agreement("the authors' output")
    return PaperTable(**{**vars(made), "notes": (*compared, *notes, *made.notes)})


def _shares(
    frame: pd.DataFrame, name: str, title: str, columns: tuple[str, str], *, worse: bool
) -> PaperTable:
    """Return in what share of cases each method makes a gap larger (or smaller), and much so."""
    runs = Runs(frame)
    table = changes(
        runs.single if worse else runs.several, _UNCONSIDERED if worse else WORST, METHODS
    )
    moved = table["change"] > 0 if worse else table["change"] < 0
    counted = pd.DataFrame({columns[0]: moved, columns[1]: moved & large(table)}).astype(float)
    data = counted.groupby(table["method"]).mean().reindex([*METHODS]).dropna(how="all")
    whole = _whole(table, "method", len(DATASETS) * len(MODELS) * len(GAPS) * (2 if worse else 1))
    return _finished(
        PaperTable(
            name, title, data, len(table), _CASES, (), _kept(printed(name), whole), _SIX, True
        )
    )


def table5(frame: pd.DataFrame) -> PaperTable:
    """Make Table 5: how often a method makes the attribute nobody considered worse off."""
    return _shares(
        frame,
        "table5",
        "Share of cases in which fairness by the other attribute decreases, and by a large effect",
        ("fairness_decrease", "fairness_decrease_large_effect"),
        worse=True,
    )


def table6(frame: pd.DataFrame) -> PaperTable:
    """Make the last part of Table 6: how often the other attribute is worse off, by task."""
    table = changes(Runs(frame).single, _UNCONSIDERED, METHODS)
    task = table["dataset"].map(_LABELS) + "-" + table["attributes"]
    tasks = [f"{label}-{a}" for label, name in DATASETS.items() for a in ATTRIBUTES[name]]
    data = (table["change"] > 0).astype(float).groupby(task).mean().reindex(tasks).dropna()
    whole = _whole(table.assign(task=task), "task", len(METHODS) * len(MODELS) * len(GAPS))
    return _finished(
        PaperTable(
            "table6",
            "Share of cases in which fairness by the other attribute decreases, by task",
            data.to_frame("decreasing"),
            len(table),
            _CASES,
            ("The correlations of attributes in this table are of the datasets, not of runs.",),
            _kept(printed("table6"), whole),
            _SIX,
            True,
        )
    )


def table7(frame: pd.DataFrame) -> PaperTable:
    """Make Table 7: how often a method improves intersectional fairness."""
    return _shares(
        frame,
        "table7",
        "Share of cases in which intersectional fairness improves, and by a large effect",
        ("intersec_increase", "intersec_increase_large_effect"),
        worse=False,
    )


def _percent(change: float, share: float) -> str:
    return f"{change:.3f} ({100 * share:.1f}%)"


def table8(frame: pd.DataFrame) -> PaperTable:
    """Make Table 8: the mean change of each worst case, and the mean of the relative changes."""
    table = changes(Runs(frame).several, WORST, METHODS)
    table = table.assign(relative=relative(table))
    means = table.groupby(["method", "metric"])[["change", "relative"]].mean().unstack()  # noqa: PD010
    rows = [method for method in METHODS if method in means.index]
    changed, relatively = means["change"].loc[rows], means["relative"].loc[rows]
    data = pd.DataFrame(
        {
            gap.upper(): [
                _percent(change, share)
                for change, share in zip(changed[worst], relatively[worst], strict=True)
            ]
            for gap, worst in zip(GAPS, WORST, strict=True)
        },
        index=rows,
    )
    whole = _whole(table, "method", len(DATASETS) * len(MODELS) * len(GAPS))
    return _finished(
        PaperTable(
            "table8",
            "Mean change of intersectional bias, and of it as a share of the original",
            data,
            len(table),
            _CASES,
            printed=_kept(printed("table8"), whole),
            write=str,
        )
    )


def as_read(runs: pd.DataFrame, reading: Reading) -> pd.DataFrame:
    """Return runs of two attributes as the authors' scripts read them, or by their names."""
    names = [*PERFORMANCE.values()]
    methods = runs["mitigator"].isin([*METHODS.values()]).to_numpy()[:, None]
    swapped = runs[[*scores(reading).values()]].to_numpy()
    return runs.assign(**dict(zip(names, np.where(methods, swapped, runs[names]).T, strict=True)))


def performance_changes(frame: pd.DataFrame, reading: Reading) -> pd.DataFrame:
    """Return the mean changes of performance by method: absolute and relative, one and two attributes."""
    runs, parts = Runs(frame), {}
    for side, rows in (("single", runs.single), ("multi", as_read(runs.several, reading))):
        table = changes(rows, PERFORMANCE, METHODS)
        grouped = table.assign(relative=relative(table)).groupby(["metric", "method"])
        for short, column in (("abso", "change"), ("rela", "relative")):
            for metric in PERFORMANCE:
                parts[f"{metric}_{side}_{short}"] = grouped[column].mean().loc[metric]
    order = [
        f"{metric}_{side}_{short}"
        for metric in ("accuracy", "precision", "recall", "f1score", "mcc")
        for side in ("single", "multi")
        for short in ("abso", "rela")
    ]
    data = pd.DataFrame(parts)[order].reindex([*METHODS]).dropna(how="all")
    return pd.concat([data, data.mean().to_frame("Average").T])


def table9(frame: pd.DataFrame, *, reading: Reading = "as_published") -> PaperTable:
    """Make Table 9: what one and two attributes cost in performance.

    Parameters
    ----------
    frame : DataFrame
        A result frame.
    reading : {"as_published", "corrected"}
        Whether precision and recall of two attributes are exchanged, as the authors' scripts do.
    """
    runs = Runs(frame)
    whole = [
        {*_whole(changes(rows, PERFORMANCE, METHODS), "method", cases * len(PERFORMANCE))}
        for rows, cases in ((runs.single, 40), (runs.several, 20))
    ]
    rows = sorted(whole[0] & whole[1])
    theirs = _kept(printed("table9"), [*rows, "Average"] if len(rows) == len(METHODS) else rows)
    return _finished(
        PaperTable(
            "table9",
            "Mean change of performance when one attribute is mitigated, and when two are",
            performance_changes(frame, reading),
            len(runs.single) + len(runs.several),
            "runs",
            printed=theirs if reading == "as_published" else None,
            write=_SIX,
        ),
        SWAP,
    )


def regions(frame: pd.DataFrame, reading: Reading) -> pd.DataFrame:
    """Return runs of two attributes by trade-off: how many of them fall into each region.

    The index names dataset, model, method and pair of metrics.
    """
    runs = Runs(frame)
    labels = {name: label for label, name in METHODS.items()}
    table = as_read(runs.several[runs.several["mitigator"].isin([*labels])], reading)
    keys = [table["dataset"].map(_LABELS), table["model"], table["mitigator"].map(labels)]
    parts = []
    for gap, score in PAIRS:
        codes = runs.curves.place(table, PERFORMANCE[score], WORST[gap], rule="code").region
        hits = pd.DataFrame({c: codes == code for c, code in zip(_COLUMNS, _CODES, strict=True)})
        by = [pd.Series(k.to_numpy(), name=k.name) for k in keys]
        counted = hits.groupby(by).sum()
        counted["pair"] = f"{gap.removeprefix('wc').upper()}-{_HEADINGS[score]}"
        parts.append(counted.set_index("pair", append=True))
    out = pd.concat(parts)
    return out.rename_axis(["dataset", "model", "method", "pair"])


_HEADINGS = {"accuracy": "Accuracy", "precision": "Precision", "recall": "Recall", "f1score": "F1", "mcc": "MCC"}  # fmt: skip


def fig1(frame: pd.DataFrame, *, reading: Reading = "as_published") -> PaperTable:
    """Make Figure 1: in which regions of Fairea's baseline each method ends.

    Parameters
    ----------
    frame : DataFrame
        A result frame.
    reading : {"as_published", "corrected"}
        Whether precision and recall of two attributes are exchanged, as the authors' scripts do.
    """
    counts = regions(frame, reading)
    sums = counts.groupby("method").sum()
    data = _share(sums).reindex([m for m in METHODS if m in sums.index])
    every = len(DATASETS) * len(MODELS) * RUNS * len(PAIRS)
    whole = [m for m in data.index if sums.loc[m].sum() == every]
    return _finished(
        PaperTable(
            "fig1",
            "Share of cases in each region of Fairea's baseline",
            data,
            int(sums.to_numpy().sum()),
            "mitigation cases (runs x trade-offs)",
            printed=_kept(printed("fig1"), whole) if reading == "as_published" else None,
            write=_SIX,
            shares=True,
        ),
        SWAP,
    )


def fig2(frame: pd.DataFrame, *, reading: Reading = "as_published") -> PaperTable:
    """Make Figure 2: improved intersectional fairness (a), and a baseline that is beaten (b).

    Parameters
    ----------
    frame : DataFrame
        A result frame.
    reading : {"as_published", "corrected"}
        Whether precision and recall of two attributes are exchanged, as the authors' scripts do.
    """
    table = changes(Runs(frame).several, WORST, METHODS)
    table["dataset"] = table["dataset"].map(_LABELS)
    better = (table["change"] < 0).astype(float)
    parts, held = {}, {}
    for key, order in (("dataset", DATASETS), ("model", MODELS), ("metric", WORST)):
        by = better.groupby([table["method"], table[key]]).mean().unstack()  # noqa: PD010
        sizes = table[table["runs"] == RUNS].groupby(["method", key]).size().unstack()  # noqa: PD010
        for name in order:
            if name in by:
                parts["a", name.removeprefix("wc")] = by[name]
                held["a", name.removeprefix("wc")] = sizes[name] == 60 // len(order)
    counts = regions(frame, reading)
    for key, order in (
        ("dataset", (*DATASETS,)),
        ("model", (*MODELS,)),
        ("pair", (*(f"{g.removeprefix('wc').upper()}-{_HEADINGS[s]}" for g, s in PAIRS),)),
    ):
        sums = counts.groupby([key, "method"]).sum()
        shares = _share(sums)[["good", "win-win"]].sum(axis=1).unstack(key)  # noqa: PD010
        sizes = sums.sum(axis=1).unstack(key)  # noqa: PD010
        for name in order:
            if name in shares:
                parts["b", name] = shares[name]
                held["b", name] = sizes[name] == 20 * RUNS * len(PAIRS) // len(order)
    data = pd.DataFrame(parts).reindex([*METHODS]).dropna(how="all")
    whole = pd.DataFrame(held).reindex(data.index).fillna(value=False)
    theirs = read_printed(__file__, "fig2", header=2).reindex(
        columns=data.columns, index=data.index
    )
    if reading == "corrected":
        theirs.loc[:, ["b"]] = ""
    return _finished(
        PaperTable(
            "fig2",
            "Share of cases with improved fairness (a), and of those that beat the baseline (b)",
            data,
            int(counts.to_numpy().sum()),
            "mitigation cases (runs x trade-offs)",
            printed=theirs.where(whole, ""),
            write=_SIX,
            shares=True,
        ),
        SWAP,
    )


def _share(counts: pd.DataFrame) -> pd.DataFrame:
    total = counts.to_numpy().sum(axis=1, keepdims=True)
    values: Floats = divide(counts.to_numpy(), total)
    return pd.DataFrame(values, counts.index, counts.columns)


def parts_of(frame: pd.DataFrame) -> frozenset[str]:
    """Return the parts that a frame holds."""
    names = frame["mitigator"].astype(str)
    joined = frame["attributes"].astype(str).str.contains("+", regex=False)
    method, original = names.isin([*METHODS.values()]), names == "unmitigated"
    parts = {
        "runs of one attribute": (method & ~joined).any(),
        "runs of two attributes": (method & joined).any(),
        "original runs": original.any(),
        "baselines": names.str.startswith(BASELINE).any(),
    }
    return frozenset(part for part, present in parts.items() if present)


_ONE = frozenset({"runs of one attribute", "original runs"})
_TWO = frozenset({"runs of two attributes", "original runs"})
ALL = _ONE | _TWO
TABLES: dict[str, Recipe] = {
    "table5": Recipe(table5, "how often the other attribute is worse off, by method", _ONE),
    "table6": Recipe(table6, "how often the other attribute is worse off, by task", _ONE),
    "table7": Recipe(table7, "how often intersectional fairness improves", _TWO),
    "table8": Recipe(table8, "by how much intersectional bias changes", _TWO),
    "table9": Recipe(table9, "what one and two attributes cost in performance", ALL, 0.01),
    "fig1": Recipe(fig1, "shares of the regions by method", _TWO | {"baselines"}),
    "fig2": Recipe(fig2, "by dataset, model and metric", _TWO | {"baselines"}),
}
"""What can be recomputed, by name."""
