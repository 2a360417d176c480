"""The forty Kaggle models (Biswas and Rajan): Tables 2, 3 and Figure 4 from a result frame.

The frame may hold the ten-run means behind the paper, the authors' aggregates, their single runs
(``read_biswas`` gives all three that a folder holds; the first of these is used) or our own runs.
Total bias is the sum of the sizes of ln DI, SPD, EOD, AOD, ERD, ln CNT and TI.

References
----------
Biswas and Rajan 2020, Do the Machine Learning Models on a Crowd Sourced Platform Exhibit Bias? An
Empirical Study on Model Fairness, ESEC/FSE.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from isonomy.papers.judge import one_study
from isonomy.papers.printed import read_printed
from isonomy.papers.table import PaperTable, Recipe, decimals
from isonomy.store.record import wide

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

BEFORE = "unmitigated"

METRICS: dict[str, str] = {
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
"""The metrics of Table 2 by the paper's label; all but the first two are measures of bias."""

BIAS = [*METRICS][2:]
"""The seven measures of bias by the paper's label."""

SECOND = {"german": "age", "adult": "sex"}
"""The second protected attribute of two datasets, which Figure 7 alone looks at."""

LOGARITHMS = {"log_disparate_impact": "disparate_impact", "ln(consistency)": "consistency"}
"""The metrics that are logarithms, and what each is the logarithm of in a single run."""

_LAYERS = (":paper", ":all_model")
MISPLACED = ("HC3", "HC4", "HC5", "HC7", "HC8")
"""The models whose row in Table 2 holds other metrics than its headings say."""


def single_runs(frame: pd.DataFrame, *, second: bool = False) -> pd.DataFrame:
    """Return the nine numbers of every single run, logarithms taken; undefined ones are NaN.

    Runs by a dataset's second attribute are left out, unless they are the ones asked for.
    """
    names = [*METRICS.values()]
    is_second = frame["attributes"].astype(str) == frame["dataset"].astype(str).map(SECOND)
    layer = frame["study"].astype(str).str.endswith(_LAYERS)
    own = frame[((is_second == second) & ~layer).to_numpy()]
    runs = wide(one_study(own), [LOGARITHMS.get(name, name) for name in names])
    with np.errstate(divide="ignore", invalid="ignore"):
        runs = runs.assign(**{log: np.log(runs[name]) for log, name in LOGARITHMS.items()})
    runs[names] = runs[names].replace([np.inf, -np.inf], np.nan)
    return runs.rename(columns={name: label for label, name in METRICS.items()})


def means(
    frame: pd.DataFrame, *, fill: bool = True, digits: int = 3, second: bool = False
) -> tuple[pd.DataFrame, list[str]]:
    """Return the nine numbers of every (model, mitigator), and notes on how they were computed.

    Parameters
    ----------
    frame : DataFrame
        A result frame.
    fill : bool
        Where single runs are averaged, replace an undefined value by the unmitigated one, as the
        authors' script does; otherwise it stays undefined.
    digits : int
        Decimals of means of single runs: three in the authors' tables.
    second : bool
        Whether to look at the runs by a dataset's second attribute, which are left out otherwise.
    """
    names = [*METRICS.values()]
    for ending in _LAYERS:
        layer = frame[frame["study"].astype(str).str.endswith(ending)]
        if len(layer):
            return _laid(wide(layer, names)), [f"From {layer['study'].iloc[0]}."]
    runs = single_runs(frame, second=second)
    grouped = runs.groupby(["dataset", "model", "mitigator"], observed=True)[[*METRICS]].mean()
    laid = _laid(grouped.reset_index().rename(columns=METRICS))
    notes = [f"From {len(runs):,} single runs of {frame['study'].iloc[0]}."]
    before = laid.xs(BEFORE, level="mitigator").reindex(laid.index.get_level_values("model"))
    filled = laid.fillna(before.set_axis(laid.index))
    holes = int((laid.isna() & filled.notna()).to_numpy().sum())
    if fill and holes:
        laid = filled
        notes.append(
            f"{holes} undefined values after mitigation are replaced by those before it, as the "
            "authors' script does: they read as no change."
        )
    return laid.round(8).round(digits), notes


def repeats_of(runs: "pd.Series[Any]") -> str:
    """Write how many runs there are of which models, from counts by model.

    Examples
    --------
    >>> repeats_of(pd.Series({"GC1": 1, "GC2": 10, "TM1": 10}))
    '1 of GC1; 10 of GC2, TM1'
    """
    counts = runs.astype(int).sort_index(key=in_print)
    return "; ".join(
        f"{n} of {', '.join(map(str, part.index))}" for n, part in counts.groupby(counts)
    )


def in_print(models: "pd.Series[Any] | pd.Index[Any]") -> Any:
    """Return where the paper has each model, as a key to sort by."""
    order = {model: k for k, model in enumerate(printed_table2().index)}
    return models.astype(str).map(order)


def _laid(table: pd.DataFrame) -> pd.DataFrame:
    """Lay the nine numbers out by (model, mitigator), the models in the paper's order."""
    table = table.sort_values("model", key=in_print, kind="stable")
    index = pd.MultiIndex.from_frame(table[["model", "mitigator"]].astype(str))
    return table[[*METRICS.values()]].astype(float).set_axis([*METRICS], axis=1).set_axis(index)


def totals(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the total bias of every model before mitigation and after each method.

    A model that was not run without mitigation is left out: there is nothing to compare with.
    """
    return _sums(means(frame)[0]).dropna(subset="before")


def _sums(laid: pd.DataFrame) -> pd.DataFrame:
    # three decimals in, three out: sums must not tie or differ by a rounding of floats
    total = laid[BIAS].abs().sum(axis=1, skipna=False).round(6)
    names = {name: letter for letter, name in METHODS.items()} | {BEFORE: "before"}
    by = total.rename(index=names, level="mitigator").unstack("mitigator")  # noqa: PD010
    models = laid.index.get_level_values("model").unique()
    out: pd.DataFrame = by.reindex(index=models, columns=["before", *METHODS])
    return out


def ranks(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rank of each method by total bias, 1 for the least.

    A model without any mitigated run has none. Totals that are equal at the three decimals of the
    ten-run means are ranked by the single runs that were shipped, where the frame holds them, which
    have eight; then in the order R D A P E C O.
    """
    total = totals(frame)[[*METHODS]].dropna(how="all")
    finer = total * 0.0
    shipped = frame[frame["study"].astype(str).str.endswith(":published")]
    tied = shipped[shipped["model"].astype(str).isin(_tied(total))]
    if _is_paper(frame) and len(tied):
        single = _sums(means(tied, digits=8)[0])[[*METHODS]]
        finer.update(single)
    order = [np.lexsort((b, a)) for a, b in zip(total.to_numpy(), finer.to_numpy(), strict=True)]
    place = np.argsort(np.reshape(order, total.shape), axis=1) + 1.0
    return pd.DataFrame(place, total.index, total.columns)


def printed_table2() -> pd.DataFrame:
    """Return Table 2 as it stands in print: ``before``, ``after`` and ``ranks`` of forty models."""
    return read_printed(__file__, "table2", header=2)


def printed_text() -> dict[str, float]:
    """Return the numbers that only the running text of the paper has."""
    numbers = read_printed(__file__, "text")["number"]
    return {str(name): float(number) for name, number in numbers.items()}


def printed_numbers(side: str, models: "pd.Index[Any]") -> pd.DataFrame:
    """Return the nine numbers in print of some models, ``before`` or ``after`` mitigation, as text."""
    columns = [(side, metric) for metric in METRICS]
    return printed_table2()[columns].set_axis([*METRICS], axis=1).reindex(models)


def _ranked(row: pd.Series, place: pd.Series) -> str:
    """Write the letters by rank, with a stroke after the last that lowers the total bias."""
    order = row[place.sort_values().index]
    better = order < row["before"]
    return f"{''.join(order.index[better])}/{''.join(order.index[~better])}"


def table2(frame: pd.DataFrame) -> PaperTable:
    """Return Table 2: each model before and after its best mitigation, and the rank of all seven."""
    laid, notes = means(frame)
    place = ranks(frame)
    total = totals(frame).reindex(place.index)
    best = place.idxmin(axis=1)
    after = pd.MultiIndex.from_arrays([total.index, best.map(METHODS)])
    parts = {
        "before": laid.xs(BEFORE, level="mitigator").reindex(total.index),
        "after": laid.reindex(after).set_axis(total.index),
        "ranks": pd.DataFrame(
            {"Algo": best, "Rank": [_ranked(total.loc[m], place.loc[m]) for m in total.index]},
            index=total.index,
        ),
    }
    theirs = printed_table2().reindex(total.index)
    if tied := _tied(total):
        notes.append(
            f"Equal totals after rounding: {', '.join(tied)}. Single runs decide where they are "
            "held, else the order R D A P E C O."
        )
    title = "Models before and after their best mitigation, methods ranked by total bias"
    return finished("table2", title, pd.concat(parts, axis=1), notes, theirs, without_zero, frame)


def table3(frame: pd.DataFrame, *, most: int = 10) -> PaperTable:
    """Return Table 3: the mean rank of each method on the least and the most biased models."""
    notes = means(frame)[1]
    place = ranks(frame)
    total = totals(frame).reindex(place.index)
    order = total["before"].sort_values(kind="stable").index
    sets = {"LBM": order[:most], "MBM": order[-most:], "All": order}
    data = pd.DataFrame({name: place.loc[models].mean() for name, models in sets.items()})
    if len(total) < 2 * most:
        notes.append(f"There are {len(total)} models: the two sets of {most} overlap.")
    if frame["study"].astype(str).str.contains(":", regex=False).all():
        notes.append(
            "R: the authors' scripts never train with the weights of reweighing; its row compares "
            "a model with itself on a reweighed test set."
        )
    title = f"Mean rank of each method on the {most} least and most biased models, and on all"
    theirs = read_printed(__file__, "table3")
    return finished("table3", title, data, notes, theirs, _two, frame, len(total))


def fig4(frame: pd.DataFrame) -> PaperTable:
    """Return Figure 4: accuracy, F1 and total bias of each model before mitigation."""
    laid, notes = means(frame)
    total = totals(frame)["before"]
    before = laid.xs(BEFORE, level="mitigator").reindex(total.index)
    data = before[["Acc", "F1"]].assign(**{"Total bias": total})
    theirs = read_printed(__file__, "fig4")
    title = "Accuracy, F1 and total bias of the models before mitigation"
    table = finished("fig4", title, data, notes, theirs.reindex(total.index), three_decimals, frame)
    return replace(table, drawing="bars")


three_decimals = decimals(3, undefined="undefined")
"""How a figure's numbers are written."""


def without_zero(value: Any) -> str:
    """Write three decimals as Table 2 does: no zero before the point, and a plain one for nothing.

    Examples
    --------
    >>> [without_zero(value) for value in (0.687, -0.0762, 0.0, -2.449, "RD/APCEO")]
    ['.687', '-.076', '0', '-2.449', 'RD/APCEO']
    """
    text = three_decimals(value)
    if not isinstance(value, float):
        return text
    return "0" if text == "0.000" else re.sub(r"^(-?)0\.", r"\1.", text)


def _two(value: Any) -> str:
    # halves are rounded up, as the paper's print has them
    return f"{np.floor(value * 100 + 0.5 + 1e-9) / 100:g}"


def _is_paper(frame: pd.DataFrame) -> bool:
    return bool(frame["study"].astype(str).str.endswith(_LAYERS[0]).any())


def _tied(total: pd.DataFrame) -> list[str]:
    return [str(m) for m, row in total[[*METHODS]].iterrows() if row.duplicated().any()]


def finished(
    name: str,
    title: str,
    data: pd.DataFrame,
    notes: list[str],
    theirs: pd.DataFrame,
    write: Callable[[Any], str],
    frame: pd.DataFrame,
    models: int | None = None,
) -> PaperTable:
    """Make a table; of the paper's own runs, with the print, and notes on how far they agree."""
    cases = len(data) if models is None else models
    if not _is_paper(frame):
        # our own runs stand beside the print where it is about as many models
        whole = name != "table3" or cases == len(read_printed(__file__, "fig4"))
        ours = whole and frame["study"].astype(str).str.startswith("biswas_2020").all()
        beside = theirs.fillna("") if ours else None
        return PaperTable(name, title, data, cases, "models", tuple(notes), beside, write)
    table = PaperTable(name, title, data, cases, "models", printed=theirs, write=write)
    first = table.agreement()
    first.append(
        f"The paper's rows {', '.join(MISPLACED)} hold other metrics than their headings say "
        "(CNT under SPD, and so on), which inflates their totals."
    )
    runs = frame[frame["study"].astype(str).str.endswith(":published")]
    runs = runs[runs["model"].isin(MISPLACED)]
    if len(runs):
        single = totals(runs)["before"]
        shown = ", ".join(f"{model} {value:.2f}" for model, value in single.items())
        first.append(f"Their totals from the single runs shipped: {shown}.")
    return replace(table, notes=(*first, *notes))


def parts_of(frame: pd.DataFrame) -> frozenset[str]:
    """Return the parts that a frame holds: models before and after mitigation."""
    names = {"original runs": [BEFORE], "mitigated runs": [*METHODS.values()]}
    parts = {n for n, methods in names.items() if frame["mitigator"].isin(methods).any()}
    second = frame["attributes"].astype(str) == frame["dataset"].astype(str).map(SECOND)
    return frozenset(parts | ({"runs by a second attribute"} if second.any() else set()))


BOTH = frozenset({"original runs", "mitigated runs"})
"""The parts that a table of mitigations needs."""

TABLES: dict[str, Recipe] = {
    "table2": Recipe(table2, "models before and after their best mitigation, and ranks", BOTH),
    "table3": Recipe(table3, "mean rank of each method", BOTH),
    "fig4": Recipe(fig4, "accuracy, F1 and total bias before mitigation", BOTH),
}
"""What can be recomputed, by name."""
