"""The FairHOME study (Chen et al. 2025): its tables and figures as functions of a result frame.

The frame may hold the authors' files (``read_fairhome``) or our own runs; they are compared with the
outputs of the authors' scripts.

References
----------
Chen, Li, Zhang, Sarro and Liu 2025, Diversity Drives Fairness: Ensemble of Higher Order Mutants for
Intersectional Fairness of Machine Learning Software, ICSE.
"""

from functools import partial

import pandas as pd

from isonomy._arrays import divide
from isonomy.papers.archive import BASELINE
from isonomy.papers.changes import changes, direction, everywhere
from isonomy.papers.fairhome_2025.cases import (
    BIAS,
    DATASETS,
    METHODS,
    METRICS,
    MODELS,
    OWN_MODEL,
    RUNS,
)
from isonomy.papers.judge import curves_of, runs_of
from isonomy.papers.printed import read_printed
from isonomy.papers.subgroups import PERFORMANCE
from isonomy.papers.table import PaperTable, Recipe, decimals
from isonomy.tradeoff.regions import REGIONS

printed = partial(read_printed, __file__)

_CASES = "cases (dataset, model, metric, method)"
_EVERY = len(DATASETS) * len(MODELS)
_LABELS = {name: label for label, name in DATASETS.items()}
_OURS = "fairhome"


def _runs(frame: pd.DataFrame) -> pd.DataFrame:
    known = frame["dataset"].isin([*_LABELS]).to_numpy()
    return everywhere(runs_of(frame[known], [*METRICS.values()]), OWN_MODEL)


def _compared(frame: pd.DataFrame, before: str = "unmitigated") -> pd.DataFrame:
    return changes(_runs(frame), METRICS, METHODS, before=before)


def _whole(table: pd.DataFrame) -> list[str]:
    """Return the methods with all runs on all datasets and models."""
    full = table[(table["runs"] == RUNS) & (table["metric"] == "wcspd")].groupby("method").size()
    return [str(method) for method, count in full.items() if count == _EVERY]


def _finished(made: PaperTable) -> PaperTable:
    notes = (*made.agreement("the authors' output"), *made.notes)
    return PaperTable(**{**vars(made), "notes": notes})


def _kept(text: pd.DataFrame, rows: list[str]) -> pd.DataFrame:
    out = text.copy()
    out.loc[~out.index.isin([*rows])] = ""
    return out


def table2(frame: pd.DataFrame) -> PaperTable:
    """Make Table II: every metric of the original model and of FairHOME, by dataset and model."""
    table = _compared(frame)
    table = table[table["method"] == _OURS]
    table["dataset"] = table["dataset"].map(_LABELS)
    keys = ["model", "dataset"]
    parts = {
        side: table.pivot_table(index=keys, columns="metric", values=column, observed=True)
        for side, column in (("origin", "before"), (_OURS, "after"))
    }
    data = pd.concat(parts).reorder_levels([1, 2, 0])
    order = [(m, d, side) for m in MODELS for d in DATASETS for side in ("origin", _OURS)]
    data = data.reindex([row for row in order if row in data.index])[[*METRICS]]
    full = table[table["runs"] == RUNS].set_index(keys).index
    theirs = printed("table2", index=3)
    theirs.loc[[row[:2] not in full for row in theirs.index]] = ""
    return _finished(
        PaperTable(
            "table2",
            "Metrics of the original model and of FairHOME, by model and dataset",
            data,
            len(table),
            "means of runs",
            printed=theirs,
            write=decimals(3),
        )
    )


def _means(table: pd.DataFrame) -> pd.DataFrame:
    means = table.groupby(["method", "metric"])[["before", "after", "change"]].mean()
    return means.assign(relative=divide(means["change"].to_numpy(), means["before"].to_numpy()))


def _percent(value: float) -> str:
    return f"{100 * value:.1f}%"


def table3(frame: pd.DataFrame) -> PaperTable:
    """Make Table III: what FairHOME changes on average."""
    table = _compared(frame)
    means = _means(table[table["method"] == _OURS]).droplevel("method").reindex([*METRICS])
    data = pd.DataFrame(
        {
            "Original": means["before"].map(decimals(3)),
            "FairHOME": means["after"].map(decimals(3)),
            "absc": means["change"].map("{:.3f}".format),
            "relac": means["relative"].map(_percent),
        }
    )
    text = printed("table3")
    return _finished(
        PaperTable(
            "table3",
            "Mean of every metric, of the original model and of FairHOME",
            data,
            len(table[table["method"] == _OURS]),
            "means of runs",
            printed=text if _OURS in _whole(table) else _kept(text, []),
            write=str,
        )
    )


def table4(frame: pd.DataFrame) -> PaperTable:
    """Make Table IV: by how much each method changes intersectional bias."""
    table = _compared(frame)
    means = _means(table)
    rows = [m for m in METHODS if m in means.index.get_level_values(0)]
    columns: dict[str, list[str]] = {}
    for metric in BIAS:
        short = metric.replace("ave", "ac")
        part = means.xs(metric, level="metric").reindex(rows)
        columns[f"{short}absc"] = [f"{v:.3f}" for v in part["change"]]
        columns[f"{short}relac"] = [_percent(v) for v in part["relative"]]
    return _finished(
        PaperTable(
            "table4",
            "Mean change of intersectional bias, and of it as a share of the original's mean",
            pd.DataFrame(columns, index=rows),
            int(table["metric"].isin([*BIAS]).sum()),
            _CASES,
            printed=_kept(printed("table4"), _whole(table)),
            write=str,
        )
    )


def table5(frame: pd.DataFrame) -> PaperTable:
    """Make Table V: in how many cases FairHOME has less bias than a method: wins, ties, losses."""
    runs = _runs(frame)
    ours = {_OURS: METHODS[_OURS]}
    columns: dict[str, dict[str, str]] = {}
    cases, whole = 0, []
    for label, name in METHODS.items():
        if label == _OURS:
            continue
        table = changes(runs, BIAS, ours, before=name)
        if table.empty:
            continue
        moved = direction(table).groupby(table["metric"]).sum().reindex([*BIAS])
        every = table.groupby("metric").size().reindex([*BIAS])
        laid = pd.DataFrame(
            {"win": moved["de"], "tie": every - moved.sum(axis=1), "loss": moved["in"]}
        )
        laid.loc["Overall"] = laid.sum()
        columns[label] = {
            str(metric): "/".join(str(int(v)) for v in row) for metric, row in laid.iterrows()
        }
        cases += len(table)
        if (every == _EVERY).all() and (table["runs"] == RUNS).all():
            whole.append(label)
    theirs = printed("table5")
    theirs.loc[:, [label not in whole for label in theirs]] = ""
    return _finished(
        PaperTable(
            "table5",
            "Cases in which FairHOME has significantly less bias than a method, as much, or more",
            pd.DataFrame(columns),
            cases,
            _CASES,
            (
                "One p-value of avespd against fairsmote lies at the edge of 5 %: 15/7/2 by today's SciPy.",
            ),
            theirs,
            str,
        )
    )


_COLUMNS = ("win-win", "good", "poor", "inverted", "lose-lose")


def fig2(frame: pd.DataFrame) -> PaperTable:
    """Make Figure 2: in which regions of Fairea's baseline each method ends."""
    labels = {name: label for label, name in METHODS.items()}
    runs = _runs(frame)
    runs = runs[runs["mitigator"].isin([*labels])].reset_index(drop=True)
    curves = curves_of(frame, [*PERFORMANCE.values(), *BIAS.values()])
    methods = runs["mitigator"].map(labels)
    counts = pd.DataFrame(0, index=[*METHODS], columns=pd.Index(_COLUMNS))
    for gap in BIAS.values():
        for score in PERFORMANCE.values():
            codes = curves.place(runs, score, gap, rule="code").region
            hits = pd.DataFrame({name: codes == REGIONS.index(name) for name in _COLUMNS})
            counts = counts.add(hits.groupby(methods).sum(), fill_value=0)
    counts = counts.reindex([*METHODS])[[*_COLUMNS]]
    total = counts.to_numpy().sum(axis=1, keepdims=True)
    data = pd.DataFrame(divide(counts.to_numpy(), total), counts.index, counts.columns)
    every = _EVERY * RUNS * len(BIAS) * len(PERFORMANCE)
    whole = [m for m, n in zip(counts.index, total[:, 0], strict=True) if n == every]
    return _finished(
        PaperTable(
            "fig2",
            "Share of cases in each region of Fairea's baseline",
            data.dropna(how="all"),
            int(total.sum()),
            "mitigation cases (runs x trade-offs)",
            printed=_kept(printed("fig2"), whole),
            write=decimals(6),
            shares=True,
        )
    )


def parts_of(frame: pd.DataFrame) -> frozenset[str]:
    """Return the parts that a frame holds."""
    names = frame["mitigator"].astype(str)
    parts = {
        "runs of FairHOME": (names == METHODS[_OURS]).any(),
        "original runs": (names == "unmitigated").any(),
        "baselines": names.str.startswith(BASELINE).any(),
    }
    return frozenset(part for part, present in parts.items() if present)


NEEDS = frozenset({"runs of FairHOME", "original runs"})
TABLES: dict[str, Recipe] = {
    "table2": Recipe(table2, "FairHOME beside the original model, case by case", NEEDS, 0.01),
    "table3": Recipe(table3, "FairHOME beside the original model, on average", NEEDS, 0.01),
    "table4": Recipe(table4, "by how much each method changes intersectional bias", NEEDS),
    "table5": Recipe(table5, "FairHOME against each method: wins, ties, losses", NEEDS),
    "fig2": Recipe(fig2, "shares of the regions by method", NEEDS | {"baselines"}),
}
"""What can be recomputed, by name."""
