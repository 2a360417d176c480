"""Which reading of the paper comes nearest to the printed Table IV, and how near."""

from collections.abc import Sequence
from itertools import product

import pandas as pd

from isonomy._names import parse_name
from isonomy.errors import InputError
from isonomy.papers.monjezi_2025.laws import FITS, PARAMETERS
from isonomy.papers.monjezi_2025.names import MODELS, tasks_of
from isonomy.papers.monjezi_2025.readings import READING
from isonomy.papers.monjezi_2025.transcript import printed
from isonomy.papers.table import PaperTable, decimals
from isonomy.store.record import wide
from isonomy.study.tails import SIDES
from isonomy.tails import published_type

EXCHANGED = ("german sex", "heart sex", "meps15 sex", "meps16 sex", "student sex")
"""Tasks whose printed group sizes are those of the other sex."""


def tails_by_reading(frame: pd.DataFrame) -> pd.DataFrame:
    """Return every tail as each reading has it, by (encoding, fit, model, task, side).

    Medians over the repeats of location, scale, shape and threshold.
    """
    part = frame[frame["mitigator"].astype(str).str.startswith(f"{READING}(").to_numpy()]
    if not len(part):
        raise InputError(
            "The frame must hold records of readings; it holds none: run isonomy study tables "
            "monjezi_2025 --table readings --run first."
        )
    table = wide(part)
    table["encoding"] = [parse_name(str(name))[1]["encoding"] for name in table["mitigator"]]
    table["task"] = tasks_of(table)
    table["model"] = table["model"].astype(str)
    laws = []
    for name, side in product(FITS, SIDES):
        columns = {f"{name}_{field}_{side}": field for field in PARAMETERS}
        own = table[["encoding", "model", "task", f"mean_{side}", *columns]]
        own = own.rename(columns={**columns, f"mean_{side}": "mean"})
        laws.append(own.assign(fit=name, side=side))
    return pd.concat(laws).groupby(["encoding", "fit", "model", "task", "side"]).median()


def distances(frame: pd.DataFrame) -> pd.DataFrame:
    """Return how far each reading is from the print, by (encoding, fit, groups), the nearest first.

    ``groups`` is ``as printed`` (group 1 is the privileged one) or ``by size`` (exchanged in the
    five tasks where the printed sizes are those of the other sex). Columns: tails compared, mean
    distance of the locations, share of them within 0.02, mean distance of the thresholds, share of
    equal types, mean distance of ECD and of ACD.
    """
    ours = tails_by_reading(frame)
    text = printed("table4_groups")[["mu", "tau", "type"]]
    text = text.assign(mu=text["mu"].astype(float), tau=text["tau"].astype(float))
    acd = printed("table4_cases")["ACD"].astype(float)
    rows = []
    for (encoding, fit), part in ours.groupby(level=["encoding", "fit"]):
        part = part.droplevel(["encoding", "fit"])
        for groups in ("as printed", "by size"):
            both = _beside(part, text, exchange=groups == "by size")
            rows.append(
                {"encoding": encoding, "fit": fit, "groups": groups, **_distance(both, acd)}
            )
    table = pd.DataFrame(rows).set_index(["encoding", "fit", "groups"])
    # a reading that fits no law to some tails is compared on fewer: the others come first
    return table.sort_values(["tails", "mu", "ECD"], ascending=[False, True, True], kind="stable")


def _beside(part: pd.DataFrame, text: pd.DataFrame, *, exchange: bool) -> pd.DataFrame:
    """Join our tails of one reading to the printed ones, by (model, task, group)."""
    own = part.reset_index()
    number = own["side"].map({SIDES[0]: 1, SIDES[1]: 2})
    if exchange:
        number = number.mask(own["task"].isin(EXCHANGED), 3 - number)
    own["group"] = number.astype(str)
    own = own.set_index(["model", "task", "group"]).drop(columns="side")
    return own.join(text, how="inner")


def _distance(both: pd.DataFrame, acd: pd.Series) -> dict[str, float]:
    away = (both["location"] - both["mu"]).abs().dropna()
    kinds = both["shape"].map(published_type)
    first, second = (both.xs(group, level="group") for group in ("1", "2"))
    apart = (second["location"] - first["location"]) - (second["mu"] - first["mu"])
    average = (second["mean"] - first["mean"]) - acd.reindex(second.index)
    return {
        "tails": len(away),
        "mu": float(away.mean()),
        "within .02": float((away.round(6) <= 0.02).mean()),
        "tau": float((both["threshold"] - both["tau"]).abs().mean()),
        "same type": float((kinds == both["type"]).mean()),
        "ECD": float(apart.abs().mean()),
        "ACD": float(average.abs().mean()),
    }


def readings(frame: pd.DataFrame, *, most: int = 12) -> PaperTable:
    """Return the readings that come nearest to Table IV, and how near.

    Parameters
    ----------
    frame : DataFrame
        Records of :func:`reading_records`.
    most : int
        How many readings to return; the notes are about all of them.
    """
    every = distances(frame)
    full = every[every["tails"] == every["tails"].max()]
    best, worst = full.iloc[0], full.iloc[-1]
    name = ", ".join(map(str, full.index[0]))
    held = tails_by_reading(frame).index
    models = [m for m in MODELS if m in held.get_level_values("model")]
    text = printed("table4_groups").loc[models, "mu"].astype(float)
    constant = float((text - text.median()).abs().mean())
    notes = [
        (
            f"Nearest: {name}. Its locations are {best['mu']:.3f} from the print on average, "
            f"{best['within .02']:.0%} within 0.02; the farthest reading is {worst['mu']:.3f} away. "
            f"{text.median():.2f}, the median of the print, for every tail would be {constant:.3f}."
        ),
        *_by_switch(full),
        *_by_model(frame, models),
        (
            "ACD depends on the encoding and the groups alone, not on a fit: its distance tells how "
            "much of the rest is due to other models."
        ),
    ]
    if len(full) < len(every):
        notes.append(
            f"{len(every) - len(full)} readings fit no law to some of the tails and are not called "
            "nearest."
        )
    title = "Readings of the paper, by the distance of their locations from Table IV"
    return PaperTable(
        "readings", title, every.head(most), len(every), "readings", tuple(notes), None, decimals(3)
    )


def _by_switch(full: pd.DataFrame) -> list[str]:
    """Return for each switch the least distance that each of its settings allows."""
    notes = []
    for level in full.index.names:
        least = full["mu"].groupby(level=level).min().sort_values()
        told = ", ".join(f"{name} {value:.3f}" for name, value in least.items())
        notes.append(f"The least distance of locations by {level}: {told}.")
    return notes


def _by_model(frame: pd.DataFrame, models: Sequence[str]) -> list[str]:
    told = []
    for model in models:
        own = distances(frame[(frame["model"] == model).to_numpy()])
        own = own[own["tails"] == own["tails"].max()]
        told.append(f"{model} {', '.join(map(str, own.index[0]))} ({own['mu'].iloc[0]:.3f})")
    return [f"Nearest by model: {'; '.join(told)}."]
