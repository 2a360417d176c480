"""The six findings of the 17-method study: as published, recomputed, ours, corrected.

References
----------
Chen, Zhang, Sarro and Harman 2023, A Comprehensive Empirical Study of Bias Mitigation Methods for
Machine Learning Classifiers, TOSEM 32(4); preprint of July 2022.
"""

import pandas as pd

from isonomy.papers.chen_2022.cases import ALPHA, CORRECTED, Cube, cube_of
from isonomy.papers.chen_2022.statistics import fig3, fig4, fig5, fig6, printed
from isonomy.papers.chen_2022.tables import fig8, table6
from isonomy.papers.table import ABSENT, PaperTable
from isonomy.stats import runs_needed

_EFFECTS = ("fig3", "fig4", "fig5", "fig6")
_NEAR = 0.12
"""A share within twelve points is called the same: two of seventeen methods."""

_SURVIVES = (
    "A finding survives where its shares stay within twelve points (two of 17 methods) when "
    "corrected, in part where some of them do."
)

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
        seldom, mean, often = falls["fig4"] < 0.5, falls["fig5"].mean(), falls["fig6"] > 0.5
        one = f"every performance metric falls significantly in {low:.0%} to {high:.0%}"
        two = f"{seldom.sum()} of {len(seldom)} methods lower performance in less than half"
        three = f"bias falls significantly in an average of {mean:.0%}"
        four = f"{often.sum()} of {len(often)} methods lower bias in more than half"
        out = {
            "Finding 1": (f"{one} of applications", (low, high)),
            "Finding 2": (f"{two} of the scenarios", (seldom.mean(),)),
            "Finding 3": (f"{three} of applications", (mean,)),
            "Finding 4": (f"{four} of the scenarios", (often.mean(),)),
        }
    absent = ("no mutation baseline is held", ())
    out |= {"Finding 5": absent, "Finding 6": absent}
    if methods:
        most, lose, poor = (reached > 0.5), regions["lose-lose"].mean(), regions["poor"].mean()
        five = f"{most.sum()} of {methods} methods reach win-win or good in more than half"
        rest = f"of the cases; on average {lose:.0%} lose-lose and {poor:.0%} poor"
        out["Finding 5"] = (f"{five} {rest}", (most.mean(), lose, poor))
    if len(overall):
        best = int(overall.to_numpy(dtype=float).max())
        out["Finding 6"] = (
            f"the best method ({overall.idxmax()}) has the best trade-off in {best}% of the scenarios",
            (best / 100,),
        )
    return out


def _counted(cube: Cube) -> Counted:
    made = {t.name: t.data for t in (make(cube) for make in (fig3, fig4, fig5, fig6, table6, fig8))}
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
    preprint = {str(k): str(v) for k, v in printed("findings")["preprint"].items()}
    said: dict[str, dict[str, str]] = {"as published (preprint)": preprint}

    def add(column: str, counted: Counted) -> Counted:
        said[column] = {name: sentence for name, (sentence, _) in counted.items()}
        return counted

    add("as published (final outputs)", _final())
    sides = {"recomputed": published, "ours": ours}
    frames = {side: frame for side, frame in sides.items() if frame is not None}
    cubes = {side: cube_of(frame) for side, frame in frames.items()}
    for side in sides:
        absent: Counted = dict.fromkeys(preprint, (ABSENT[side], ()))
        add(side, _counted(cubes[side]) if side in cubes else absent)
    notes = []
    for side, frame in [*frames.items()][:1]:
        before = _counted(cubes[side])
        corrected = add("corrected", _counted(cube_of(frame, "corrected")))
        said["survives"] = {
            name: _verdict(before[name][1], corrected[name][1]) for name in preprint
        }
        notes = [
            f"{CORRECTED} It is made of the runs of the column {side}.",
            _SURVIVES,
        ]
    if not all(cube.whole.all() for cube in cubes.values()):
        notes.append(
            "The runs are a part of the study (8 tasks, 7 models, 50 repeats): so are the findings."
        )
    return PaperTable(
        "findings",
        "The paper's six findings",
        pd.DataFrame(said),
        int([*cubes.values()][-1].present.sum()) if cubes else 0,  # ours where both are held
        "applications (task, model, method)",
        tuple(notes),
    )
