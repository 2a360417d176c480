"""The answers of the study of several attributes: as published, recomputed, ours, corrected.

References
----------
Chen, Zhang, Sarro and Harman 2024, Fairness Improvement with Multiple Protected Attributes: How Far
Are We?, ICSE.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd

from isonomy.errors import InputError
from isonomy.papers.icse24_multi.tables import (
    SWAP,
    fig1,
    performance_changes,
    printed,
    table5,
    table7,
)
from isonomy.papers.table import ABSENT, PaperTable, Reading

Tables = dict[str, pd.DataFrame]

_ASKED = {
    "RQ1 the other attribute": "table5",
    "RQ2 intersections": "table7",
    "RQ3 accuracy": "table9",
    "RQ3 F1": "table9",
    "RQ3 precision and recall": "table9",
    "RQ3 trade-off": "fig1",
}
_NEAR = 0.25
"""A number within a quarter of the published one is called the same."""


def _counted(tables: Tables) -> dict[str, tuple[str, tuple[float, ...]]]:
    """Return the paper's sentences with the numbers of four tables, and these numbers."""
    out: dict[str, tuple[str, tuple[float, ...]]] = {}
    if "table5" in tables:
        falls = tables["table5"]["fairness_decrease"]
        out["RQ1 the other attribute"] = (
            (
                f"fairness by the attribute nobody considered decreases in up to {falls.max():.1%} of "
                f"the cases, {falls.mean():.1%} on average"
            ),
            (float(falls.max()), float(falls.mean())),
        )
    if "table7" in tables:
        rises = tables["table7"]["intersec_increase"]
        out["RQ2 intersections"] = (
            (
                f"{(rises > 0.5).sum()} of {len(rises)} methods improve intersectional fairness in "
                f"more than half of the cases; {rises.idxmax()} in most, {rises.max():.0%}"
            ),
            (float(np.mean(rises > 0.5)), float(np.max(rises))),
        )
    if "table9" in tables:
        mean = tables["table9"].loc["Average"].to_dict()

        def sides(metric: str) -> tuple[float, float]:
            return mean[f"{metric}_single_abso"], mean[f"{metric}_multi_abso"]

        def said(metric: str) -> str:
            one, two = sides(metric)
            return f"{metric} changes by {one:+.3f} with one attribute, {two:+.3f} with two"

        for name, metrics in (
            ("RQ3 accuracy", ("accuracy",)),
            ("RQ3 F1", ("f1score",)),
            ("RQ3 precision and recall", ("precision", "recall")),
        ):
            pairs = [sides(metric) for metric in metrics]
            ratios = tuple(two / one for one, two in pairs)
            times = " and ".join(f"{abs(ratio):.1f}" for ratio in ratios)
            out[name] = (f"{'; '.join(map(said, metrics))}: {times} times as much", ratios)
    if "fig1" in tables:
        beaten = tables["fig1"][["good", "win-win"]].sum(axis=1)
        best = beaten.nlargest(3)
        out["RQ3 trade-off"] = (
            (
                f"{(beaten > 0.5).sum()} of {len(beaten)} methods beat the baseline in more than half "
                f"of the cases; most often {', '.join(f'{m} ({v:.0%})' for m, v in best.items())}"
            ),
            (*best,),
        )
    return out


def _tables(frame: pd.DataFrame, reading: Reading) -> Tables:
    made: Tables = {}
    makers: dict[str, Callable[[], pd.DataFrame]] = {
        "table5": lambda: table5(frame).data,
        "table7": lambda: table7(frame).data,
        "table9": lambda: performance_changes(frame, reading),
        "fig1": lambda: fig1(frame, reading=reading).data,
    }
    for name, make in makers.items():
        try:
            data = make()
        except InputError:  # a part of the study that these runs do not hold
            continue
        if len(data.dropna(how="all")):
            made[name] = data
    return made


def _verdict(
    before: tuple[float, ...] | None, after: tuple[float, ...] | None, *, swapped: bool
) -> str:
    if before is None or after is None:
        return "open: these runs cannot tell"
    if not swapped:
        return "yes: the slip does not touch it"
    near = [abs(b - a) <= _NEAR * abs(a) for a, b in zip(before, after, strict=True)]
    return "yes" if all(near) else "in part" if any(near) else "no"


def findings(published: pd.DataFrame | None = None, ours: pd.DataFrame | None = None) -> PaperTable:
    """Make the paper's answers: its scripts' outputs, recomputed, ours, and corrected.

    Parameters
    ----------
    published, ours : DataFrame, optional
        Result frames: the authors' files and our own runs. The authors' are corrected where given.
    """
    theirs = {name: printed(name).astype(float) for name in ("table5", "table7", "table9", "fig1")}
    said = {"as published (the authors' outputs)": {k: s for k, (s, _) in _counted(theirs).items()}}
    frames = {"recomputed": published, "ours": ours}
    cases = 0
    counted = {}
    for side, frame in frames.items():
        counted[side] = {} if frame is None else _counted(_tables(frame, "as_published"))
        absent = ABSENT[side] if frame is None else "these runs do not hold what it needs"
        said[side] = {k: counted[side].get(k, (absent,))[0] for k in _ASKED}
        cases = cases if frame is None else len(frame)
    notes = [SWAP]
    if held := [side for side, frame in frames.items() if frame is not None]:
        side = held[0]
        right = _counted(_tables(frames[side], "corrected"))  # type: ignore[arg-type]
        said["corrected"] = {k: right.get(k, ("these runs cannot tell",))[0] for k in _ASKED}
        said["survives"] = {
            k: _verdict(
                counted[side].get(k, ("", None))[1],
                right.get(k, ("", None))[1],
                swapped=k in {"RQ3 precision and recall", "RQ3 trade-off"},
            )
            for k in _ASKED
        }
        notes += [
            f"Corrected is made of the column {side}; an answer survives within a quarter of its numbers.",
            "Where the runs are a part of the study (5 datasets, 4 models), so are the findings.",
        ]
    return PaperTable(
        "findings", "The paper's answers", pd.DataFrame(said), cases, "values", tuple(notes)
    )
