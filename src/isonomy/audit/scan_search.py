"""Search a table of counted rows: which groups depart, by how much, and whether other rows confirm."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from isonomy._arrays import Floats, divide
from isonomy._validate import check_least, check_share, listed, make_rng
from isonomy.audit.judge import FEWEST_ROWS
from isonomy.audit.scan_result import Departure, Scan
from isonomy.errors import InputError
from isonomy.metrics import RATES, Counts
from isonomy.stats import difference_interval, holm, mantel_haenszel
from isonomy.stats.conjunctions import (
    Codes,
    Departures,
    departures,
    members,
    permuted_hits,
    signed_roots,
    telling,
)

CALIBRATION = "calibration"
MOST_LISTED = 20
"""The most groups that are listed of one rate."""
CONFIRMING = 9_999
"""Permutations behind the p-value of each group on the held-out half."""


@dataclass(frozen=True)
class Table:
    """Counted rows: ``counts`` has one group per cell and score bin, in this order."""

    columns: tuple[str, ...]
    values: tuple[tuple[Any, ...], ...]
    codes: Codes
    counts: Counts
    strata: int = 1

    def hits(self, rate: str) -> tuple[Floats, Floats]:
        """Return the rows below the line of a rate and those above it, ``[cell, stratum]``."""
        known = RATES["base_rate" if rate == CALIBRATION else rate]
        shape = (len(self.codes), self.strata)
        rows, hits = (
            x.reshape(shape) for x in (known.rows(self.counts), known.numerator(self.counts))
        )
        if rate == CALIBRATION:
            return rows, hits
        return rows.sum(axis=1, keepdims=True), hits.sum(axis=1, keepdims=True)

    def halves(self, rng: np.random.Generator) -> "tuple[Table, Table]":
        """Split the rows in two at random."""
        n = self.counts.n
        whole = n.ravel().astype(np.int64)
        half = rng.multivariate_hypergeometric(whole, int(whole.sum()) // 2)
        first = half.reshape(n.shape).astype(np.float64)
        return tuple(
            replace(self, counts=replace(self.counts, n=part)) for part in (first, n - first)
        )  # type: ignore[return-value]


def scan_table(
    table: Table,
    *,
    rates: Sequence[str],
    depth: int = 3,
    fewest_rows: int = FEWEST_ROWS,
    confirm: bool = False,
    confidence: float = 0.95,
    permutations: int = 999,
    random_state: int | None = 0,
) -> Scan:
    """Scan rows that are counted; see :func:`scan`."""
    check_least("depth", depth, 1)
    check_least("fewest_rows", fewest_rows, 1)
    check_share("confidence", confidence)
    few = int(np.ceil(len(rates) / (1 - confidence) - 1e-9)) - 1
    if permutations < max(few, 99):
        raise InputError(
            f"permutations must be at least {max(few, 99)} for {len(rates)} rates at a confidence of "
            f"{confidence:g}; got {permutations}."
        )
    rng = make_rng(random_state)
    searched_rows, held = table.halves(rng) if confirm else (table, None)
    alpha = (1 - confidence) / len(rates)
    findings: list[Departure] = []
    farthest: list[Departure] = []
    searched: dict[str, int] = {}
    notes = [
        f"{listed([c])} has one value only and makes no group."
        for c, values in zip(table.columns, table.values, strict=True)
        if len(values) < 2
    ]
    tests: list[tuple[Floats, Floats]] = []
    for rate in rates:
        rows, hits = searched_rows.hits(rate)
        found = departures(
            table.codes,
            rows,
            hits,
            depth=depth,
            fewest=fewest_rows,
            permutations=permutations,
            rng=rng,
        )
        searched[rate] = len(found.rows)
        if not len(found.rows):
            notes.append(f"No group has {fewest_rows} rows and others beside it for {rate}.")
            continue
        critical = found.critical(alpha)
        told = telling(found, table.codes, rows, hits, critical, most=MOST_LISTED)
        if len(told) == MOST_LISTED:
            notes.append(
                f"More than {MOST_LISTED} groups may depart by {rate}: the farthest are listed."
            )
        first = int(np.round(found.excess, 6).argmax())
        inside = members(found.conditions[[*told, first]], found.literals, table.codes)
        made = _described(
            table, rate, found, [*told.tolist(), first], inside, rows, hits, critical, len(rates)
        )
        findings += made[:-1]
        farthest.append(made[-1])
        if held is not None:
            tests += [_two(member, *held.hits(rate)) for member in inside[:-1]]
    if held is not None:
        findings = _confirmed(findings, tests, confidence, rng)
    order = sorted(
        range(len(findings)), key=lambda k: (findings[k].p_value, -abs(findings[k].statistic))
    )
    return Scan(
        findings=tuple(findings[k] for k in order),
        farthest=tuple(farthest),
        searched=searched,
        notes=tuple(notes),
        settings={
            "columns": list(table.columns),
            "values": {c: list(v) for c, v in zip(table.columns, table.values, strict=True)},
            "rates": list(rates),
            "depth": depth,
            "fewest_rows": fewest_rows,
            "confidence": confidence,
            "permutations": permutations,
            "confirm": confirm,
            "random_state": random_state,
            "rows": int(table.counts.n.sum()),
            "favorable": list(table.counts.favorable),
        },
    )


def _two(inside: NDArray[np.bool_], rows: Floats, hits: Floats) -> tuple[Floats, Floats]:
    """Add up a group and everybody else: rows and hits, ``[2, stratum]``."""
    sides = np.stack([inside, ~inside]).astype(np.float64)
    return sides @ rows, sides @ hits


def _gap(rows: Floats, hits: Floats, confidence: float) -> tuple[float, float, float, float]:
    """Return the rate of a group, its difference from everybody else's, and the limits of that."""
    value = float(hits[0].sum() / rows[0].sum())
    p, n = divide(hits, rows), rows
    if rows.shape[1] > 1:
        gap, *ends = mantel_haenszel(p[0], n[0], p[1], n[1], confidence=confidence)
        return value, float(gap), float(ends[0]), float(ends[1])
    low, high = difference_interval(p[0, 0], n[0, 0], p[1, 0], n[1, 0], confidence=confidence)
    return value, float(p[0, 0] - p[1, 0]), float(low), float(high)


def _described(
    table: Table,
    rate: str,
    found: Departures,
    places: Sequence[int],
    inside: NDArray[np.bool_],
    rows: Floats,
    hits: Floats,
    critical: float,
    together: int,
) -> list[Departure]:
    """Describe groups; their intervals are as wide as a search among all groups asks for."""
    p_values = np.minimum(together * found.p_values(found.excess[list(places)]), 1.0)
    label = rate.replace("_", " ")
    if rate == CALIBRATION:
        label = "share of favourable labels, given the score,"
    out = []
    for place, member, p_value in zip(places, inside, p_values.tolist(), strict=True):
        chosen = found.literals[found.conditions[place][found.conditions[place] >= 0]].tolist()
        conditions = tuple((table.columns[j], table.values[j][v]) for j, v in chosen)
        errors = critical + float(found.usual[found.values[place] - 1])
        confidence = float(2 * ndtr(min(errors, 8.0)) - 1)
        value, difference, low, high = _gap(*_two(member, rows, hits), confidence)
        out.append(
            Departure(
                rate=rate,
                label=label,
                group=" & ".join(f"{name} = {wanted}" for name, wanted in conditions),
                conditions=conditions,
                rows=int(found.rows[place]),
                value=value,
                others=value - difference,
                difference=difference,
                low=low,
                high=high,
                statistic=float(found.statistic[place]),
                p_value=p_value,
            )
        )
    return out


def _confirmed(
    findings: Sequence[Departure],
    tests: Sequence[tuple[Floats, Floats]],
    confidence: float,
    rng: np.random.Generator,
) -> list[Departure]:
    """Test each group on the held-out half, in the direction it was found in."""
    if not findings:
        return []
    p_values, gaps = [], []
    for f, (rows, hits) in zip(findings, tests, strict=True):
        if not rows.sum(axis=1).all():
            p_values.append(1.0)
            gaps.append((np.nan, np.nan, np.nan, np.nan))
            continue
        drawn = permuted_hits(rows, hits, CONFIRMING, rng)[:1]
        seen = np.hstack([hits[:1].sum(axis=1, keepdims=True), drawn])
        roots = signed_roots(seen, rows[:1], rows.sum(axis=0), hits.sum(axis=0))[0] * np.sign(
            f.statistic
        )
        p_values.append(float((1 + (roots[1:] >= roots[0] - 1e-9).sum()) / (1 + CONFIRMING)))
        gaps.append(_gap(rows, hits, confidence))
    return [
        replace(
            f, confirmed=p <= 1 - confidence, p_confirm=p, rows_confirm=int(rows[0].sum()),
            difference_confirm=gap[1], low_confirm=gap[2], high_confirm=gap[3],
        )
        for f, p, gap, (rows, _) in zip(findings, holm(p_values).tolist(), gaps, tests, strict=True)
    ]  # fmt: skip
