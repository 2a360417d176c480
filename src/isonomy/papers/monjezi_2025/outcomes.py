"""Tables V to VII from our runs: sizes after mitigation, and outcomes against the original model."""

import numpy as np
import pandas as pd

from isonomy.papers.monjezi_2025.cases import Rows, means_of, with_rows
from isonomy.papers.monjezi_2025.names import METHODS, ORIGINAL
from isonomy.papers.table import Reading
from isonomy.stats import scott_knott

AVERAGE_METRICS: dict[str, str] = {
    "Acc loss": "accuracy",
    "AOD": "average_odds_difference",
    "EOD": "equal_opportunity_difference",
    "SPD": "statistical_parity_difference",
    "DI": "disparate_impact",
}
AVERAGED = "ECD averaged"
_OUTCOMES = {-1: "win", 0: "tie", 1: "loss"}


def _sizes_of(frame: pd.DataFrame, reading: Reading) -> pd.DataFrame:
    """Return the numbers of Tables V to VII, run by run: all but accuracy as sizes.

    As published, ECD is that of Algorithm 1's rows where it generated any. ``ECD averaged`` is that
    of the mean of probabilities, of a mixture whose models vote.
    """
    ecd = "ecd" if reading == "as_published" else "ecd_1000"
    metrics = AVERAGE_METRICS | {"ECD": ecd, AVERAGED: f"averaged_{ecd}"}
    if f"averaged_{ecd}" not in frame["metric"].array:
        del metrics[AVERAGED]
    rows: Rows = "searched" if reading == "as_published" else "real"
    table = with_rows(frame, [*metrics.values()], rows)
    table = table.rename(columns={metric: label for label, metric in metrics.items()})
    table["DI"] = 1 - table["DI"]
    if AVERAGED not in table:
        table[AVERAGED] = np.nan
    labels = [*AVERAGE_METRICS, "ECD", AVERAGED][1:]
    table[labels] = table[labels].abs()
    case = ["model", "task", "repeat"]
    before = table[table["method"] == ORIGINAL].set_index(case)["Acc loss"]
    table["Acc loss"] -= before.reindex(pd.MultiIndex.from_frame(table[case])).to_numpy()
    return table


def mitigated_of(frame: pd.DataFrame, reading: Reading) -> pd.DataFrame:
    """Return Tables V to VII by (method, model, task): means over the repeats of the sizes."""
    by = ["method", "model", "task"]
    return means_of(_sizes_of(frame, reading), by, [*AVERAGE_METRICS, "ECD", AVERAGED])


def outcomes_of(frame: pd.DataFrame, reading: Reading) -> pd.DataFrame | None:
    """Return win, tie or loss against the original model by (method, model, task) and metric.

    All methods of a case and the original are ranked by Scott-Knott over their runs, with Cliff's
    delta and a bootstrap, as the shared script does or corrected. None where no case has two runs
    of anything.
    """
    metrics = [*AVERAGE_METRICS, "ECD"][1:]
    rows: dict[tuple[str, str, str], dict[str, str]] = {}
    for (model, task), case in _sizes_of(frame, reading).groupby(["model", "task"], observed=True):
        for metric in metrics:
            by_method = case.dropna(subset=metric).groupby("method", observed=True)[metric]
            runs = {str(m): v.to_numpy() for m, v in by_method if len(v) > 1}
            if ORIGINAL not in runs or len(runs) < 2:
                continue
            ranks = scott_knott(runs, protocol=reading)
            for method in [name for name in METHODS if name in runs]:
                better = int(np.sign(ranks[method] - ranks[ORIGINAL]))
                rows.setdefault((method, str(model), str(task)), {})[metric] = _OUTCOMES[better]
    if not rows:
        return None
    index = pd.MultiIndex.from_tuples([*rows], names=["method", "model", "task"])
    return pd.DataFrame([*rows.values()], index=index, columns=pd.Index(metrics))
