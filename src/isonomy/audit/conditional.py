"""Gaps within strata: what is left of a gap among people who are alike in something else."""

from collections.abc import Sequence

import numpy as np

from isonomy._unknown import is_unknown
from isonomy.audit.findings import ConditionalGap
from isonomy.audit.limits import evidence_of
from isonomy.metrics import Counts, Metric
from isonomy.stats import difference_interval, mantel_haenszel


def conditional_gaps(
    counts: Counts,
    attribute: str,
    strata: Sequence[str],
    chosen: Sequence[Metric],
    confidence: float,
) -> list[ConditionalGap]:
    """Compare two sides of an attribute within strata (Mantel and Haenszel), metric by metric.

    The sides are the unprivileged and the privileged; where none is declared, the groups with the
    largest and the smallest rate overall.
    """
    part = counts.select(attribute, *strata)
    values = [group[0] for group in part.groups]
    places = {stratum: k for k, stratum in enumerate(dict.fromkeys(g[1:] for g in part.groups))}
    where = np.array([places[group[1:]] for group in part.groups])
    out = []
    for metric in chosen:
        if metric.parts is None or metric.parts.ratio or metric.parts.combine != "only":
            continue  # a difference of one rate is what strata can be averaged over
        sides = _sides(counts, attribute, metric)
        if sides is None:
            continue
        side = np.array([0 if v in sides[0] else 1 if v in sides[1] else 2 for v in values])
        size = len(places)
        split = part.regroup(
            np.where(side < 2, side * size + where, 2 * size),
            tuple((k,) for k in range(2 * size + 1)),
        )
        whole = part.regroup(side, tuple((k,) for k in range(3)))
        inside, overall = evidence_of(metric.parts, split), evidence_of(metric.parts, whole)
        p, n = inside.shares[0], inside.rows[0]
        one, two = slice(0, size), slice(size, 2 * size)
        gap, low, high = (
            float(x) for x in mantel_haenszel(p[one], n[one], p[two], n[two], confidence=confidence)
        )
        crude = difference_interval(
            overall.shares[0, 0], overall.rows[0, 0], overall.shares[0, 1], overall.rows[0, 1],
            confidence=confidence,
        )  # fmt: skip
        raw = float(overall.shares[0, 0] - overall.shares[0, 1])
        names = [
            " or ".join(map(str, s)) if len(s) < 4 else k
            for s, k in zip(sides, ("unprivileged", "privileged"), strict=True)
        ]
        used = int(((n[one] > 0) & (n[two] > 0)).sum())
        out.append(
            ConditionalGap(
                name=metric.name,
                label=metric.label,
                attribute=attribute,
                strata=" & ".join(strata),
                comparison=f"{names[0]} vs {names[1]}",
                value=raw,
                within=gap,
                low=low,
                high=high,
                strata_used=used,
                turns=bool(
                    raw * gap < 0 and (low > 0 or high < 0) and (crude[0] > 0 or crude[1] < 0)
                ),
                reason=None if used else "no stratum holds both sides",
            )
        )
    return out


def _sides(
    counts: Counts, attribute: str, metric: Metric
) -> tuple[tuple[object, ...], tuple[object, ...]] | None:
    """Return the values of the attribute on either side, or None where there are not two."""
    assert metric.parts is not None
    part = counts.select(attribute)
    known = [group[0] for group in part.groups if not is_unknown(group[0])]
    privileged = counts.privileged.get(attribute)
    if privileged:
        others = tuple(v for v in known if v not in privileged)
        return (others, tuple(privileged)) if others else None
    result = evidence_of(metric.parts, part)
    rates = {
        g[0]: s
        for g, s, n in zip(part.groups, result.shares[0], result.rows[0], strict=True)
        if g[0] in known and n >= 30
    }
    if len(rates) < 2:
        return None
    return (max(rates, key=rates.__getitem__),), (min(rates, key=rates.__getitem__),)
