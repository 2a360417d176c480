"""Figures 3, 5, 6 and 8 to 10 of the forty-model study as functions of a result frame.

References
----------
Biswas and Rajan 2020, Do the Machine Learning Models on a Crowd Sourced Platform Exhibit Bias? An
Empirical Study on Model Fairness, ESEC/FSE.
"""

from dataclasses import replace

import numpy as np
import pandas as pd

from isonomy.errors import InputError
from isonomy.papers.biswas_2020.deviations import SPREAD
from isonomy.papers.biswas_2020.tables import (
    BEFORE,
    BIAS,
    METHODS,
    METRICS,
    finished,
    in_print,
    means,
    printed_numbers,
    printed_table2,
    ranks,
    single_runs,
    three_decimals,
    totals,
    without_zero,
)
from isonomy.papers.table import PaperTable, decimals


def fig3(frame: pd.DataFrame) -> PaperTable:
    """Make Figure 3: the seven measures of each model before mitigation."""
    laid, notes = means(frame)
    data = laid[BIAS].loc[laid.index.get_level_values("mitigator") == BEFORE].droplevel("mitigator")
    title = "Measures of bias of the models before mitigation"
    theirs = printed_numbers("before", data.index)[BIAS]
    return replace(
        finished("fig3", title, data, notes, theirs, without_zero, frame), drawing="bars"
    )


def fig5(frame: pd.DataFrame) -> PaperTable:
    """Make Figure 5: correlations of the measures, German below the diagonal, Titanic above.

    The paper does not say over what it correlates; here it is over the single runs of the eight
    models before mitigation.
    """
    runs = single_runs(frame)
    runs = runs[runs["mitigator"] == BEFORE]
    parts = {}
    for dataset in ("german", "titanic"):
        values = runs.loc[runs["dataset"] == dataset, BIAS]
        if len(values) < 3:
            raise InputError(f"it needs three runs of {dataset} or more; got {len(values)}.")
        parts[dataset] = values.corr().to_numpy()
    below = np.tril(np.ones((len(BIAS), len(BIAS)), dtype=bool))
    data = pd.DataFrame(np.where(below, parts["german"], parts["titanic"]), BIAS, pd.Index(BIAS))
    at, of = BIAS.index("TI"), BIAS.index("CNT")
    note = (
        "The text says that CNT and TI are highly negatively correlated in German and positively in "
        f"Titanic: here {parts['german'][at, of]:.2f} and {parts['titanic'][at, of]:.2f}."
    )
    return PaperTable(
        "fig5",
        "Correlation of the measures over runs: German below the diagonal, Titanic above",
        data,
        len(runs),
        "runs",
        (note,),
        write=decimals(2, undefined="undefined"),
        drawing="grid",
    )


def fig6(frame: pd.DataFrame) -> PaperTable:
    """Make Figure 6: the standard deviation over runs of every number before mitigation."""
    runs = single_runs(frame)
    runs = runs[runs["mitigator"] == BEFORE]
    spread = runs.groupby("model", observed=True)[[*METRICS]].std().dropna(how="all")
    spread = spread.sort_index(key=in_print)
    if spread.empty:
        raise InputError("a standard deviation needs two runs of a model or more.")
    average = ", ".join(
        f"{metric} {value:.2f} ({SPREAD[str(metric)]:.2f})"
        for metric, value in spread.mean().items()
    )
    return PaperTable(
        "fig6",
        "Standard deviation over runs before mitigation",
        spread,
        len(runs),
        "runs",
        (f"Averages over the models, in brackets those in print: {average}.",),
        write=three_decimals,
        drawing="bars",
        drawn=("DI", "EOD", "AOD"),
    )


def _ranked_methods(frame: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    """Return the nine numbers, the letters of each model's methods by total bias, and notes."""
    laid, notes = means(frame)
    place = ranks(frame)
    order = np.argsort(place.to_numpy(), axis=1)
    return laid, pd.DataFrame(np.array([*METHODS])[order], index=place.index), notes


def fig8(frame: pd.DataFrame) -> PaperTable:
    """Make Figure 8: the seven measures of each model after its best method."""
    laid, ranked, notes = _ranked_methods(frame)
    best = pd.MultiIndex.from_arrays([ranked.index, ranked[0].map(METHODS)])
    data = laid.reindex(best).set_axis(ranked.index)[BIAS]
    data.insert(0, "best", ranked[0])
    algorithm = printed_table2()["ranks", "Algo"].reindex(data.index)
    printed = printed_numbers("after", data.index)[BIAS].assign(best=algorithm)
    title = "Measures of bias of the models after the best mitigation"
    return replace(
        finished("fig8", title, data, notes, printed, without_zero, frame), drawing="bars"
    )


def _change(
    frame: pd.DataFrame, name: str, title: str, first: int | None, second: int
) -> PaperTable:
    """Return what changes in accuracy, F1 and total bias from one rank (or none) to another."""
    laid, ranked, notes = _ranked_methods(frame)
    total = totals(frame).reindex(ranked.index)

    def at(rank: int | None) -> pd.DataFrame:
        letters = pd.Series("before", ranked.index) if rank is None else ranked[rank]
        names = letters.map({**METHODS, "before": BEFORE})
        place = pd.MultiIndex.from_arrays([ranked.index, names])
        numbers = laid.reindex(place).set_axis(ranked.index)[["Acc", "F1"]]
        column = total.columns.get_indexer(pd.Index(letters))
        return numbers.assign(Bias=total.to_numpy()[np.arange(len(total)), column])

    data = at(second) - at(first)
    return PaperTable(
        name, title, data, len(data), "models", tuple(notes), None, three_decimals, drawing="bars"
    )


def fig9(frame: pd.DataFrame) -> PaperTable:
    """Make Figure 9: what the best method changes in accuracy, F1 and total bias."""
    made = _change(frame, "fig9", "Change by the best mitigation, after less before", None, 0)
    before, after = (
        printed_numbers(side, made.data.index).apply(pd.to_numeric, errors="coerce")
        for side in ("before", "after")
    )
    change = (after - before)[["Acc", "F1"]].assign(
        Bias=after[BIAS].abs().sum(axis=1, skipna=False)
        - before[BIAS].abs().sum(axis=1, skipna=False)
    )
    printed = change.map(decimals(3))
    table = finished(made.name, made.title, made.data, [*made.notes], printed, made.write, frame)
    return replace(table, drawing=made.drawing)


def fig10(frame: pd.DataFrame) -> PaperTable:
    """Make Figure 10: what the second best method changes against the best."""
    return _change(frame, "fig10", "Change from the best to the second best mitigation", 0, 1)
