"""What employment and credit law counts of selections: odds, people, standard deviations."""

from functools import partial
from typing import Any

import numpy as np

from isonomy._arrays import Floats
from isonomy.metrics.counts import Counts
from isonomy.metrics.gaps import UNDER, compared
from isonomy.metrics.metric import add_metric
from isonomy.metrics.rates import RATES
from isonomy.stats import deviations, shortfall

Sides = tuple[Floats, Floats, Floats, Floats]


def _sides(counts: Counts, compare: str | None, *, weights: bool) -> Sides:
    """Return hits and rows of the groups to compare, and of those they are compared with.

    Of many groups without a privileged one, the one with the smallest rate and the one with the largest.
    """
    groups, how = compared(counts, compare)
    rate = RATES["selection_rate"]
    hits, rows = _hits(groups, weights=weights)
    if how == "privileged":
        return hits[..., 0], rows[..., 0], hits[..., 1], rows[..., 1]
    if how == "each":
        mask = groups.is_privileged()
        assert mask is not None
        others, size = _hits(groups.by_privilege(), weights=weights)
        return hits[..., ~mask], rows[..., ~mask], others[..., 1:], size[..., 1:]
    share = rate(groups)
    out = []
    for worst, find in ((np.inf, np.argmin), (-np.inf, np.argmax)):
        at = np.asarray(find(np.where(np.isnan(share), worst, share), axis=-1))[..., None]
        out += [np.take_along_axis(v, at, axis=-1)[..., 0] for v in (hits, rows)]
    return out[0], out[1], out[2], out[3]


def _hits(counts: Counts, *, weights: bool) -> tuple[Floats, Floats]:
    """Return who is selected among how many: sums of weights, or effective rows."""
    rate = RATES["selection_rate"]
    if weights:
        return rate.numerator(counts), rate.denominator(counts)
    share, rows = rate.evidence(counts)
    return np.minimum(np.nan_to_num(share * rows), np.nan_to_num(rows)), np.nan_to_num(rows)


def _odds_ratio(counts: Counts, *, compare: str | None) -> Floats:
    x, n, y, m = _sides(counts, compare, weights=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(x * (m - y) / (y * (n - x)))


def _shortfall(counts: Counts, *, compare: str | None, to: str) -> Floats:
    return np.asarray(shortfall(*_sides(counts, compare, weights=True), to=to))  # type: ignore[arg-type]


def _deviations(counts: Counts, *, compare: str | None, variance: str) -> Floats:
    sides = _sides(counts, compare, weights=False)
    found = np.asarray(deviations(*sides, variance=variance))  # type: ignore[arg-type]
    return np.abs(found) if compared(counts, compare)[1] == "max_min" else found


def _why(counts: Counts, *, compare: str | None, what: str, **_: Any) -> str | None:
    """Say which group is empty, or what all groups have alike."""
    groups, _how = compared(counts, compare)
    rows = RATES["selection_rate"].rows(groups)
    if rows.ndim > 1:
        return None
    empty = [label for label, n in zip(groups.labels(), rows, strict=True) if n == 0]
    return f"group {empty[0]!r} has no rows" if empty else what


def _fewest(counts: Counts, *, compare: str | None, **_: Any) -> float:
    groups, _how = compared(counts, compare)
    return float(RATES["selection_rate"].rows(groups).min())


EVERYBODY = "nobody is selected, or everybody is"
_add = partial(add_metric, kind="group", labels=False, denominators=_fewest)

_add(
    "selection_odds_ratio", _odds_ratio, label="odds ratio", goal="one", bounds=(0.0, np.inf),
    formula="odds(ŷ = fav | unprivileged) / odds(ŷ = fav | privileged)", signed=True,
    parameters={"compare": None}, why_undefined=partial(_why, what=EVERYBODY), sign=UNDER,
    avoid="Do not read it as a ratio of rates: where many are selected it is farther from 1.",
    reference="Miettinen, Nurminen 1985, Comparative Analysis of Two Rates",
    aliases=("odds_ratio",),
)  # fmt: skip
_add(
    "selection_shortfall", _shortfall, label="shortfall", goal="zero", bounds=(-np.inf, np.inf),
    formula="n(unprivileged) × P(ŷ = fav) - rows selected among them; to=other: × P(ŷ = fav | privileged)",
    signed=True, sized=True,
    parameters={"compare": None, "to": "combined"}, why_undefined=partial(_why, what=EVERYBODY),
    sign="Positive: so many people of the unprivileged group were not selected who would have been at "
    "the common rate. Between many groups: of the smallest rate, beside the largest.",
    avoid="Do not compare it across data sets: it grows with their rows.",
    reference="Uniform Guidelines on Employee Selection Procedures 1978, 29 CFR 1607.4 D",
    aliases=("shortfall",),
)  # fmt: skip
_add(
    "selection_deviations", _deviations, label="Z", goal="zero", bounds=(-np.inf, np.inf),
    formula="(rows selected among unprivileged - expected) / standard deviation (hypergeometric)",
    signed=True, sized=True,
    parameters={"compare": None, "variance": "hypergeometric"},
    why_undefined=partial(_why, what=EVERYBODY),
    sign="Number of standard deviations; negative: the unprivileged group is selected less often than "
    "by chance. Beyond 2 courts and agencies look closer. Between many groups, without a sign: the "
    "smallest rate beside the largest.",
    avoid="Do not read it as the size of a gap: with enough rows any gap is many standard deviations.",
    reference="Hazelwood School District v. United States 1977, 433 U.S. 299",
    aliases=("standard_deviations",),
)  # fmt: skip
