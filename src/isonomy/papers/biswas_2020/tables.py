"""The forty Kaggle models (Biswas and Rajan): Tables 2, 3 and Figure 4 from a result frame.

The frame may hold the ten-run means behind the paper, the authors' aggregates, their single runs
(``read_biswas`` gives all three that a folder holds; the first of these is used) or our own runs.
Total bias is the sum of the sizes of ln DI, SPD, EOD, AOD, ERD, ln CNT and TI.

References
----------
Biswas and Rajan 2020, Do the Machine Learning Models on a Crowd Sourced Platform Exhibit Bias? An
Empirical Study on Model Fairness, ESEC/FSE.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from isonomy.papers.judge import one_study
from isonomy.papers.table import PaperTable, Recipe
from isonomy.store.record import wide

__all__ = ["METHODS", "TABLES", "fig4", "parts_of", "means", "table2", "table3", "totals"]

METHODS: dict[str, str] = {
    "R": "reweighing",
    "D": "disparate_impact_remover",
    "A": "adversarial_debiasing",
    "P": "prejudice_remover(eta=1)",
    "E": "equalized_odds",
    "C": "calibrated_equalized_odds(cost=fnr)",
    "O": "reject_option(metric=spd)",
}
"""The seven methods by the paper's letter, in its order (which breaks ties of ranks)."""

_BEFORE = "unmitigated"
_LABELS = {
    "Acc": "accuracy",
    "F1": "favorable_f1",
    "DI": "log_disparate_impact",
    "SPD": "statistical_parity_difference",
    "EOD": "equal_opportunity_difference",
    "AOD": "average_odds_difference",
    "ERD": "error_rate_difference",
    "CNT": "ln(consistency)",
    "TI": "theil_index",
}
_BIAS = [*_LABELS][2:]
_LAYERS = (":paper", ":all_model")

# model, total bias (Figure 4), rank string (Table 2), as printed
_PRINTED = """
GC1 0.120 RAOD/PCE  GC2 0.680 AORD/PCE  GC3 0.650 AR/DPOCE  GC4 0.952 AORD/PEC  GC5 0.908 AORD/PEC
GC6 0.603 RD/APCEO  GC7 0.680 ADR/POCE  GC8 0.228 AR/DPCOE  AC1 1.149 ORCDAP/E  AC2 1.188 AROC/DPE
AC3 0.822 ROAC/DPE  AC4 1.071 ORAC/PDE  AC5 1.187 ROAC/PDE  AC6 0.961 ORAC/PDE  AC7 1.259 AORCD/PE
AC8 0.919 ROAC/DPE  BM1 1.044 ROCPD/EA  BM2 0.877 ORDC/PAE  BM3 1.082 CODR/APE  BM4 1.162 RCA/OPDE
BM5 0.534 ERCDO/AP  BM6 1.051 OCRD/PAE  BM7 1.112 CODRA/PE  BM8 1.233 ORACDP/E  HC1 0.981 APECR/OD
HC2 0.855 PECROA/D  HC3 4.440 OA/DECPR  HC4 4.367 CEDRP/OA  HC5 4.464 ACEPR/DO  HC6 1.366 ACPER/DO
HC7 4.610 ECPR/DOA  HC8 3.961 CPRD/AEO  TM1 4.692 OAERDP/C  TM2 4.329 OAERDP/C  TM3 4.465 OAERD/PC
TM4 5.246 OAEPRD/C  TM5 4.695 OAERD/CP  TM6 4.228 OAERD/CP  TM7 4.312 OAERDP/C  TM8 4.739 OAERD/PC
"""
_TABLE3 = "R 2.1 4.5 3.03 D 3.7 4.8 4.58 A 3 2.9 3 P 4.5 5.3 4.98 E 5.8 2.8 5.18 C 4.8 5.1 4.33 O 4.1 2.6 2.93"
_MISPLACED = ("HC3", "HC4", "HC5", "HC7", "HC8")


def _printed() -> pd.DataFrame:
    words = _PRINTED.split()
    rows = zip(words[::3], words[1::3], words[2::3], strict=True)
    return pd.DataFrame(rows, columns=["model", "total", "rank"]).set_index("model")


def means(frame: pd.DataFrame, *, fill: bool = True) -> tuple[pd.DataFrame, list[str]]:
    """Give the nine numbers of every (model, mitigator), and what was done to get them.

    Parameters
    ----------
    frame : DataFrame
        A result frame.
    fill : bool
        Where single runs are averaged, put the unmitigated value in the place of one that is not
        defined, as the authors' script does; otherwise it stays undefined.
    """
    for ending in _LAYERS:
        mine = frame[frame["study"].astype(str).str.endswith(ending)]
        if len(mine):
            table = wide(mine, [*_LABELS.values()])
            return _laid(table), [f"From {mine['study'].iloc[0]}."]
    frame = one_study(frame)
    logs = ("disparate_impact", "consistency")
    kept = [m for m in _LABELS.values() if m not in ("log_disparate_impact", "ln(consistency)")]
    runs = wide(frame, [*kept, *logs])
    with np.errstate(divide="ignore", invalid="ignore"):
        runs["log_disparate_impact"] = np.log(runs["disparate_impact"])
        runs["ln(consistency)"] = np.log(runs["consistency"])
    names = [*_LABELS.values()]
    runs[names] = runs[names].replace([np.inf, -np.inf], np.nan)
    grouped = runs.groupby(["dataset", "model", "mitigator"], observed=True)[names].mean()
    laid = _laid(grouped.reset_index())
    notes = [f"From {len(runs):,} single runs of {frame['study'].iloc[0]}."]
    before = laid.xs(_BEFORE, level="mitigator").reindex(laid.index.get_level_values("model"))
    holes = laid.isna() & before.set_axis(laid.index).notna()
    if fill and holes.to_numpy().any():
        laid = laid.fillna(before.set_axis(laid.index))
        notes.append(
            f"{int(holes.to_numpy().sum())} undefined values after mitigation are replaced by those "
            "before it, as the authors' script does: they read as no change."
        )
    return laid.round(8).round(3), notes


def _laid(table: pd.DataFrame) -> pd.DataFrame:
    keys = table[["model", "mitigator"]].astype(str)
    names = {metric: label for label, metric in _LABELS.items()}
    laid = table[[*names]].rename(columns=names).astype(float)
    return laid.set_axis(pd.MultiIndex.from_frame(keys))


def totals(frame: pd.DataFrame) -> pd.DataFrame:
    """Give the total bias of every model before mitigation and after each method."""
    laid, _ = means(frame)
    # three decimals in, three out: sums must not tie or part by a rounding of floats
    total = laid[_BIAS].abs().sum(axis=1, skipna=False).round(6)
    names = {name: letter for letter, name in METHODS.items()} | {_BEFORE: "before"}
    by = total.rename(index=names, level="mitigator").unstack("mitigator")  # noqa: PD010
    models = list(dict.fromkeys(laid.index.get_level_values("model")))
    out: pd.DataFrame = by.reindex(index=models, columns=["before", *METHODS])
    return out


def _ranked(row: pd.Series) -> str:
    """Write the letters by total bias, with a stroke after the last that lowers it."""
    order = row[[*METHODS]].sort_values(kind="stable")
    better = [letter for letter, value in order.items() if value < row["before"]]
    worse = [letter for letter, value in order.items() if not value < row["before"]]
    return f"{''.join(map(str, better))}/{''.join(map(str, worse))}"


def table2(frame: pd.DataFrame) -> PaperTable:
    """Give Table 2: each model before and after its best mitigation, and the rank of all seven."""
    laid, notes = means(frame)
    total = totals(frame)
    best = total[[*METHODS]].idxmin(axis=1)
    parts = {
        "before": laid.xs(_BEFORE, level="mitigator").reindex(total.index),
        "after": pd.DataFrame(
            [laid.loc[(model, METHODS[best[model]])] for model in total.index], index=total.index
        ),
        "ranks": pd.DataFrame({"Algo": best, "Rank": total.apply(_ranked, axis=1)}),
    }
    data = pd.concat(parts, axis=1)
    ranks = _printed()["rank"].reindex(total.index)
    theirs = None
    if _is_paper(frame):
        theirs = pd.DataFrame({("ranks", "Algo"): ranks.str[0], ("ranks", "Rank"): ranks})
    if tied := _tied(total):
        notes.append(
            f"Equal totals after rounding, ranked in the order R D A P E C O: {', '.join(tied)}."
        )
    return _finished(
        PaperTable(
            "table2",
            "Models before and after their best mitigation, methods ranked by total bias",
            data,
            len(data),
            "models",
            tuple(notes),
            theirs,
            _three,
        ),
        frame,
    )


def table3(frame: pd.DataFrame, *, most: int = 10) -> PaperTable:
    """Give Table 3: the mean rank of each method on the least and the most biased models."""
    total = totals(frame)
    tied = _tied(total)
    ranks = total[[*METHODS]].rank(axis=1, method="first")
    if _is_paper(frame):
        # three decimals cannot decide a tie; the print, made from more, can
        for model in tied:
            letters = [*_printed()["rank"][model].replace("/", "")]
            ranks.loc[model] = total.loc[model, letters].rank(method="first")
    order = total["before"].sort_values(kind="stable").index
    data = pd.DataFrame(
        {
            "LBM": ranks.loc[order[:most]].mean(),
            "MBM": ranks.loc[order[-most:]].mean(),
            "All": ranks.mean(),
        }
    )
    words = _TABLE3.split()
    rows = {words[i]: words[i + 1 : i + 4] for i in range(0, len(words), 4)}
    theirs = pd.DataFrame.from_dict(rows, orient="index", columns=pd.Index(["LBM", "MBM", "All"]))
    notes = list(means(frame)[1])
    if tied and _is_paper(frame):
        notes.append(
            f"Equal totals after rounding, in the order that Table 2 prints: {', '.join(tied)}."
        )
    if len(total) < 2 * most:
        notes.append(f"{len(total)} models are held: the two sets of {most} overlap.")
    if frame["study"].astype(str).str.contains(":", regex=False).all():
        notes.append(
            "R: the authors' scripts never train with the weights of reweighing; its row compares "
            "a model with itself on a reweighed test set."
        )
    return _finished(
        PaperTable(
            "table3",
            f"Mean rank of each method on the {most} least and most biased models, and on all",
            data,
            len(total),
            "models",
            tuple(notes),
            theirs if _is_paper(frame) else None,
            _two,
        ),
        frame,
    )


def fig4(frame: pd.DataFrame) -> PaperTable:
    """Give Figure 4: accuracy, F1 and total bias of each model before mitigation."""
    laid, notes = means(frame)
    total = totals(frame)["before"]
    before = laid.xs(_BEFORE, level="mitigator").reindex(total.index)
    data = before[["Acc", "F1"]].assign(**{"Total bias": total})
    theirs = _printed()[["total"]].rename(columns={"total": "Total bias"}).reindex(total.index)
    return _finished(
        PaperTable(
            "fig4",
            "Accuracy, F1 and total bias of the models before mitigation",
            data,
            len(data),
            "models",
            tuple(notes),
            theirs if _is_paper(frame) else None,
            _three,
        ),
        frame,
    )


def _three(value: Any) -> str:
    return value if isinstance(value, str) else "undefined" if value != value else f"{value:.3f}"


def _two(value: Any) -> str:
    # halves are rounded up, as the paper's print has them
    return f"{np.floor(value * 100 + 0.5 + 1e-9) / 100:g}"


def _is_paper(frame: pd.DataFrame) -> bool:
    return bool(frame["study"].astype(str).str.endswith(_LAYERS[0]).any())


def _tied(total: pd.DataFrame) -> list[str]:
    return [str(m) for m, row in total[[*METHODS]].iterrows() if row.duplicated().any()]


def _finished(table: PaperTable, frame: pd.DataFrame) -> PaperTable:
    """Add how many cells equal the print, and the rows whose columns are misplaced in it."""
    notes = []
    compared = table.compare()
    if len(compared):
        agrees = compared["agrees"].astype(bool)
        notes.append(
            f"{int(agrees.sum())} of {len(compared)} cells that can be compared equal the paper's."
        )
        notes += [
            f"{cell.row}, {cell.column}: {cell.recomputed}, printed {cell.printed}."
            for cell in compared[~agrees].itertuples()
        ]
        notes.append(
            f"The paper's rows {', '.join(_MISPLACED)} hold other metrics than their headings say "
            "(CNT under SPD, and so on), which inflates their totals."
        )
        runs = frame[frame["study"].astype(str).str.endswith(":published")]
        mine = runs[runs["model"].isin([*_MISPLACED])]
        if len(mine):
            single = totals(mine)["before"]
            told = ", ".join(f"{model} {value:.2f}" for model, value in single.items())
            notes.append(f"Their totals from the single runs shipped: {told}.")
    return replace(table, notes=(*notes, *table.notes))


def parts_of(frame: pd.DataFrame) -> frozenset[str]:
    """Return the parts that a frame holds: models before and after mitigation."""
    names = {str(name) for name in frame["mitigator"].unique()}
    parts = {"original runs"} if _BEFORE in names else set()
    if names & set(METHODS.values()):
        parts.add("mitigated runs")
    return frozenset(parts)


_BOTH = frozenset({"original runs", "mitigated runs"})
TABLES: dict[str, Recipe] = {
    "table2": Recipe(table2, "models before and after their best mitigation, and ranks", _BOTH),
    "table3": Recipe(table3, "mean rank of each method", _BOTH),
    "fig4": Recipe(fig4, "accuracy, F1 and total bias before mitigation", _BOTH),
}
"""What can be recomputed, by name."""
