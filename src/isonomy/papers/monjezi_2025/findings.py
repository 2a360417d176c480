"""The paper's counted claims: as printed, recounted in its tables, and on our runs in two readings."""

import pandas as pd

from isonomy.papers.monjezi_2025.cases import Rows, cases_of, groups_of, models_of, runs_of
from isonomy.papers.monjezi_2025.claims import Results, answers, claims
from isonomy.papers.monjezi_2025.generated import qualities_of
from isonomy.papers.monjezi_2025.names import ORIGINAL
from isonomy.papers.monjezi_2025.outcomes import mitigated_of, outcomes_of
from isonomy.papers.monjezi_2025.table4 import missing_runs
from isonomy.papers.monjezi_2025.transcript import printed_results
from isonomy.papers.table import PaperTable, Reading

FEWEST = 20
"""Half of the 40 cases: a claim about all of them is not judged on fewer."""

_NOTES = (
    (
        "(holds) and (does not hold) say whether results show what the claim says: a share within "
        "ten points of the paper's, or the same best method. A claim survives where its correction "
        "holds."
    ),
    (
        "Discrimination is a difference of 0.05 or more: with this reading (the text says "
        "'exceeding') the paper's counts of ECD, ACD and ECD above ACD come out."
    ),
    (
        "19 cases of ECD follow from its column, where LR on Compas (-.06) and RF on Adult sex "
        "(-.18) have the wrong sign; the printed locations give 21."
    ),
    (
        "The text gives Fair-SMOTE 9 cases of AOD up to 0.05 and its table 19; STEALTH's mean ECD "
        "is 0.04 in the text and 0.030 in the table."
    ),
    (
        "27 of the 80 tails have a shape of -0.5 or less, where the errors of the fit are not "
        "valid, 17 of them -1 or less, where the likelihood has no maximum; the paper counts them "
        "as type III."
    ),
)
_OUR_NOTES = (
    (
        "Ours: types by the shape of an extreme value law of the 50 largest values (about 0.45 too "
        "high for a tail), ECD as the difference of its locations, Algorithm 1's rows included, "
        "ranks by the shared Scott-Knott script."
    ),
    (
        "Corrected: types by the 95 % limits of the shape of peaks over a threshold, ECD as the "
        "difference of the levels of 1,000 queries of real rows, ranks without the script's slip. "
        "A group that nobody is disadvantaged in, or with too few different values, has no type."
    ),
)


def results_of(frame: pd.DataFrame, reading: Reading) -> Results:
    """Return what the claims are counted on from our runs."""
    own = models_of(frame)
    if not len(own):
        return Results(generators=qualities_of(frame))
    published = reading == "as_published"
    rows: Rows = "searched" if published else "real"
    cases = cases_of(own, rows)
    if not published:
        cases["ECD"] = cases["locations"] = cases["ECD 1000"]
    mitigated = mitigated_of(own, reading).drop(index=ORIGINAL, level="method", errors="ignore")
    return Results(
        cases=cases,
        types=groups_of(own, rows)["type" if published else "evidence"],
        mitigated=mitigated if len(mitigated) else None,
        outcomes=outcomes_of(own, reading),
        generators=qualities_of(frame),
    )


def findings(ours: pd.DataFrame | None = None) -> PaperTable:
    """Return every counted claim of RQ1 to RQ4 four times, and whether it survives.

    As published, recounted in the printed tables, on our runs as published (``ours``) and
    ``corrected``.

    Parameters
    ----------
    ours : DataFrame, optional
        The result frame of our runs; without one they are said not to be run yet.

    Examples
    --------
    >>> data = findings().data
    >>> data.loc["RQ3 AOD at most .05", "recounted"]
    'EG 32 of 40, STEALTH 22 of 40, MAAT 22 of 40, Fair-SMOTE 19 of 40 (holds)'
    """
    readings: dict[str, Reading] = {"ours": "as_published", "corrected": "corrected"}
    counted = {"recounted": _judged(printed_results())}
    for side, reading in readings.items():
        counted[side] = _judged(Results() if ours is None else results_of(ours, reading))
    said = claims()
    data = pd.DataFrame(
        {
            "as published": said["statement"],
            **{side: {name: text for name, (text, _) in c.items()} for side, c in counted.items()},
            "survives": {
                str(name): _verdict(counted["recounted"][name][1], counted["corrected"][name][1])
                for name in said.index
            },
        }
    )
    notes = list(_NOTES)
    if ours is not None and (ours["mitigator"] == ORIGINAL).any():
        runs = runs_of(ours, ["ecd"])
        notes += [*_OUR_NOTES, *missing_runs(ours, runs.set_index(["model", "task"]))]
    title = "The paper's counted claims"
    return PaperTable("findings", title, data, len(data), "claims", tuple(notes))


def _judged(results: Results) -> dict[str, tuple[str, bool | None]]:
    """Return what the claims say on these results, and whether they hold."""
    expects = claims()["expects"]
    few = results.cases is not None and len(results.cases) < FEWEST
    out: dict[str, tuple[str, bool | None]] = {}
    for name, answer in answers(results).items():
        holds = answer.holds(expects[name])
        if holds is not None and few and not name.startswith("RQ1"):
            assert results.cases is not None
            out[name] = (f"{answer.said} (not judged on {len(results.cases)} of 40 cases)", None)
        else:
            out[name] = (f"{answer.said}{_sign(holds)}", holds)
    return out


def _sign(holds: bool | None) -> str:
    return "" if holds is None else " (holds)" if holds else " (does not hold)"


def _verdict(recounted: bool | None, corrected: bool | None) -> str:
    if recounted is False:
        return "no: the paper's own tables do not show it"
    if corrected is None:
        return "open: these runs cannot tell"
    return "yes" if corrected else "no"
