"""The six findings of the 17-method study: as published, recomputed, ours, corrected.

References
----------
Chen, Zhang, Sarro and Harman 2023, A Comprehensive Empirical Study of Bias Mitigation Methods for
Machine Learning Classifiers, TOSEM 32(4); preprint of July 2022.
"""

import pandas as pd

from isonomy.papers.chen_2022.cases import ALPHA, CORRECTED, cube_of
from isonomy.papers.chen_2022.statistics import fig3, fig4, fig5, fig6, printed
from isonomy.papers.chen_2022.tables import fig8, table6
from isonomy.papers.table import ABSENT, PaperTable, Reading
from isonomy.stats import runs_needed

_EFFECTS = ("fig3", "fig4", "fig5", "fig6")
_NEAR = 0.12
"""A share within twelve points is called the same: two of seventeen methods."""

Counted = dict[str, tuple[str, tuple[float, ...]]]


def _findings(tables: dict[str, pd.DataFrame]) -> Counted:
    """Return the six sentences with the numbers of six tables, and the shares they are about."""
    falls = {name: 1 - tables[name]["no or increase"].dropna() for name in _EFFECTS}
    regions = tables["fig8a"].dropna()
    reached = regions["good"] + regions["win-win"]
    overall = tables["table6"].loc["Overall"].dropna().astype(float)
    methods = len(regions)
    out: Counted = dict.fromkeys(
        [f"Finding {i}" for i in range(1, 5)],
        (f"too few runs for a test at {ALPHA:.0%}, which needs {runs_needed(ALPHA)} or more", ()),
    )
    if not falls["fig3"].empty:
        low, high = falls["fig3"].min(), falls["fig3"].max()
        seldom, often = falls["fig4"] < 0.5, falls["fig6"] > 0.5
        out = {
            "Finding 1": (
                f"every performance metric falls significantly in {low:.0%} to {high:.0%} of "
                "applications",
                (low, high),
            ),
            "Finding 2": (
                f"{int(seldom.sum())} of {len(seldom)} methods lower performance in less than half of "
                "the scenarios",
                (seldom.mean(),),
            ),
            "Finding 3": (
                f"bias falls significantly in an average of {falls['fig5'].mean():.0%} of applications",
                (falls["fig5"].mean(),),
            ),
            "Finding 4": (
                f"{int(often.sum())} of {len(often)} methods lower bias in more than half of the "
                "scenarios",
                (often.mean(),),
            ),
        }
    absent = ("no mutation baseline is held", ())
    out |= {"Finding 5": absent, "Finding 6": absent}
    if methods:
        most, lose, poor = (reached > 0.5), regions["lose-lose"].mean(), regions["poor"].mean()
        out["Finding 5"] = (
            f"{int(most.sum())} of {methods} methods reach win-win or good in more than half of the "
            f"cases; on average {lose:.0%} lose-lose and {poor:.0%} poor",
            (most.mean(), lose, poor),
        )
    if len(overall):
        best = int(overall.max())
        out["Finding 6"] = (
            f"the best method ({overall.idxmax()}) has the best trade-off in {best}% of the scenarios",
            (best / 100,),
        )
    return out


def _recomputed(frame: pd.DataFrame, reading: Reading = "as_published") -> Counted:
    makers = (fig3, fig4, fig5, fig6, table6, fig8)
    tables = [make(frame, reading=reading) for make in makers]
    made = {table.name: table.data for table in tables}
    regions = made["fig8"]
    by_method = regions[regions.index.get_level_values(0) == "a"].droplevel(0)
    return _findings(made | {"fig8a": by_method})


def _final() -> Counted:
    """Return the sentences with the numbers of the final version's outputs."""
    shares = {name: printed(name).astype(float) for name in _EFFECTS}
    regions = printed("fig8", index=2)
    regions = regions[regions.index.get_level_values(0) == "a"].droplevel(0).astype(float)
    best = printed("table6").loc[["Overall"]].map(lambda cell: float(cell.rstrip("%")))
    return _findings(shares | {"fig8a": regions, "table6": best})


def _verdict(counted: tuple[float, ...], corrected: tuple[float, ...]) -> str:
    """Say whether a finding's shares stay within twelve points when the slips are corrected."""
    if not corrected:
        return "open: these runs cannot tell"
    near = [abs(a - b) <= _NEAR for a, b in zip(counted, corrected, strict=True)]
    return "yes" if all(near) else "in part" if any(near) else "no"


def findings(published: pd.DataFrame | None = None, ours: pd.DataFrame | None = None) -> PaperTable:
    """Make the paper's six findings: preprint, final version, recomputed, ours, and corrected.

    Parameters
    ----------
    published, ours : DataFrame, optional
        Result frames: the authors' files and our own runs. The authors' are corrected where given.
    """
    preprint = printed("findings")["preprint"].to_dict()
    said: dict[str, dict[str, str]] = {"as published (preprint)": preprint}

    def add(column: str, counted: Counted) -> Counted:
        said[column] = {name: sentence for name, (sentence, _) in counted.items()}
        return counted

    add("as published (final outputs)", _final())
    sides = {"recomputed": published, "ours": ours}
    counts = {}
    for side, frame in sides.items():
        absent: Counted = dict.fromkeys(preprint, (ABSENT[side], ()))
        counts[side] = add(side, absent if frame is None else _recomputed(frame))
    side = "recomputed" if published is not None else "ours"
    frames = [frame for frame in (published, ours) if frame is not None]
    notes = []
    if frames:
        corrected = add("corrected", _recomputed(frames[0], "corrected"))
        said["survives"] = {
            name: _verdict(counts[side][name][1], corrected[name][1]) for name in preprint
        }
        notes += [
            f"{CORRECTED} It is made of the column {side}'s runs. A finding survives where its shares "
            "stay within twelve points (two of 17 methods), in part where some of them do."
        ]
    cubes = [cube_of(frame) for frame in frames]
    if not all(cube.whole.all() for cube in cubes):
        notes.append(
            "The runs are a part of the study (8 tasks, 7 models, 50 repeats): so are the findings."
        )
    return PaperTable(
        "findings",
        "The paper's six findings",
        pd.DataFrame(said),
        int(cubes[-1].present.sum()) if cubes else 0,  # ours, where both sides are held
        "applications (task, model, method)",
        tuple(notes),
    )
