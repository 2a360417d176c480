"""Every group's selection rate beside the best one and beside a named reference."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from isonomy._arrays import Floats, divide
from isonomy.audit.judge import FEWEST_ROWS, verdict_of
from isonomy.audit.limits import Evidence, each_limits, evidence_of
from isonomy.metrics import RATES, Counts, get_metric
from isonomy.metrics.metric import GapParts
from isonomy.stats import (
    breslow_day,
    deviations,
    fisher_exact,
    koopman_interval,
    mantel_haenszel_odds,
    mantel_haenszel_ratio,
    mantel_haenszel_test,
    many_to_one_critical,
    more_to_reach,
    odds_ratio,
    range_critical,
    shortfall,
    survives_more,
    wilson_interval,
)
from isonomy.stats.simultaneous import ratio_to_best

RATIO = get_metric("disparate_impact")
PARTS = GapParts(("selection_rate",), True, "only")
SELECTED = RATES["selection_rate"]
COMPARED_WITH = ("best", "reference")
TWO = 2
"""People whose selection must not make a flag vanish (the two-person test)."""


def ratio_table(
    attribute: str, counts: Counts, accept: tuple[float, float], confidence: float
) -> pd.DataFrame:
    """Compare the selection rate of every group of an attribute with the best, and the reference."""
    evidence = evidence_of(PARTS, counts)
    share, size = evidence.shares[0], evidence.rows[0]
    plain = replace(counts, w=None, w2=None)
    rows, selected = SELECTED.denominator(plain), SELECTED.numerator(plain)
    low, high = wilson_interval(share, size, confidence=confidence)
    known = counts.known & (size > 0)
    enough = known & (size >= FEWEST_ROWS)
    common: dict[str, Any] = {
        "attribute": attribute,
        "group": list(counts.labels()),
        "rows": rows.astype(np.int64),
        "selected": selected.astype(np.int64),
        "rate": share,
        "rate_low": low,
        "rate_high": high,
    }
    tables = []
    candidates = enough if enough.any() else known
    if candidates.any():
        best = int(np.argmax(np.where(candidates, share, -1.0)))
        other = np.arange(share.size) == best
        limits = _limits_to_best(evidence, enough, confidence)
        tables.append(("best", other, limits))
    mask = counts.is_privileged()
    if mask is not None and mask.any():
        merged = counts.by_privilege()
        given = each_limits(
            evidence, evidence_of(PARTS, merged).of([1]), accept, confidence, enough & ~mask
        )
        tables.append(("reference", mask, (given.low, given.high)))
    out = []
    for against, other, (lows, highs) in tables:
        names = " or ".join(np.array(counts.labels(), dtype=object)[other])
        pairs = _pairs(counts, plain, other, accept[0], confidence)
        # within the reference nobody is compared; the best may not truly be the best
        judged = enough & ~(other & (against == "reference"))
        for name in pairs:
            pairs[name] = np.where(known & ~other, pairs[name], np.nan)
        ratio = np.where(other, np.where(known, 1.0, np.nan), pairs.pop("ratio"))
        lows, highs = (np.where(judged, end, np.nan) for end in (lows, highs))
        verdicts, reasons = _verdicts(
            evidence, known, judged, other, ratio, lows, highs, accept, confidence
        )
        out.append(
            pd.DataFrame(
                {
                    **common, "against": against, "other": names, "ratio": ratio,
                    "low": lows, "high": highs, **pairs, "verdict": verdicts, "reason": reasons,
                }
            )
        )  # fmt: skip
    frame = pd.concat(out, ignore_index=True) if out else pd.DataFrame(columns=list(common))
    for words in {"verdict", "reason"} & {*frame}:
        frame[words] = frame[words].astype(object).where(frame[words].notna(), None)
    for flag in ("two_more_ratio", "two_more_significance"):
        if flag in frame:
            frame[flag] = (
                frame[flag].map({0.0: "no flag", 1.0: "vanishes", 2.0: "stays"}).astype(object)
            )
            frame[flag] = frame[flag].where(frame[flag].notna(), None)
    return frame


def _limits_to_best(
    evidence: Evidence, enough: NDArray[np.bool_], confidence: float
) -> tuple[Floats, Floats]:
    """Return limits of each rate over the largest that allow for many groups and for the choice."""
    low, high = np.full((2, enough.size), np.nan)
    size = int(enough.sum())
    if size >= 2:
        share, rows = evidence.shares[0][enough], evidence.rows[0][enough]
        largest = int(np.argmax(rows))  # of all that may be the best, the least shared error
        lower = many_to_one_critical(confidence, np.delete(rows, largest), float(rows[largest]))
        upper = range_critical(confidence, size)
        low[enough], high[enough] = ratio_to_best(share, rows, lower, upper)
    return low, high


def _pairs(
    counts: Counts, plain: Counts, other: NDArray[np.bool_], ratio: float, confidence: float
) -> dict[str, Floats]:
    """Compare each group with the others, as a pair by itself."""
    weights, total = SELECTED.numerator(counts), SELECTED.denominator(counts)
    sides = (weights, total, weights[other].sum(), total[other].sum())
    share, size = SELECTED.evidence(counts)
    mine, theirs = SELECTED.evidence(_merged(counts, other))
    effective = (share * size, size, float((mine * theirs)[0]), float(theirs[0]))
    low, high = koopman_interval(*effective, confidence=confidence)
    odds, odds_low, odds_high = odds_ratio(*effective, confidence=confidence)
    level = 1 - confidence
    out = {
        # of whole numbers until the last step, so that 24 of 100 beside 30 of 100 is 0.8
        "ratio": divide(sides[0] * sides[3], sides[2] * sides[1]),
        "koopman_low": low,
        "koopman_high": high,
        "odds_ratio": odds,
        "odds_low": odds_low,
        "odds_high": odds_high,
        "z": deviations(*effective),
        "fisher_mid_p": np.full(share.shape, np.nan),
        "shortfall": shortfall(*sides, to="other"),
        "shortfall_combined": shortfall(*sides),
        "to_threshold": np.full(share.shape, np.nan),
        "two_more_ratio": np.full(share.shape, np.nan),
        "two_more_significance": np.full(share.shape, np.nan),
    }
    if not counts.weighted:  # these count people
        p = fisher_exact(*sides, mid=True)
        stays = survives_more(*sides, more=TWO, ratio=ratio, level=level)
        less = sides[0] * sides[3] < sides[2] * sides[1]
        out["fisher_mid_p"] = p
        out["to_threshold"] = more_to_reach(*sides, ratio=ratio)
        out["two_more_ratio"] = np.where(stays.ratio, 2.0, (out["ratio"] < ratio).astype(float))
        out["two_more_significance"] = np.where(
            stays.significance, 2.0, (less & (p < level)).astype(float)
        )
    return out


def _merged(counts: Counts, mask: NDArray[np.bool_]) -> Counts:
    return counts.regroup(np.where(mask, 0, 1).astype(np.intp), (("these",), ("others",)))


def _verdicts(
    evidence: Evidence,
    known: NDArray[np.bool_],
    judged: NDArray[np.bool_],
    other: NDArray[np.bool_],
    ratio: Floats,
    low: Floats,
    high: Floats,
    accept: tuple[float, float],
    confidence: float,
) -> tuple[list[str | None], list[str | None]]:
    """Judge the ratios by limits that hold for all groups together."""
    share, rows = evidence.shares[0], evidence.rows[0]
    hits, size = np.nansum((share * rows)[other]), rows[other].sum()
    facts = evidence.facts_against(
        Evidence(evidence.parts, np.array([[divide(hits, size)]]), np.array([[size]])), accept
    )
    verdicts: list[str | None] = []
    reasons: list[str | None] = []
    limits = zip(ratio.tolist(), low.tolist(), high.tolist(), strict=True)
    for k, (value, bottom, top) in enumerate(limits):
        verdict: str | None = None
        reason: str | None = None
        if not known[k]:
            reason = "the group is not known" if rows[k] > 0 else "no rows"
        elif judged[k] and np.isnan(bottom):
            verdict, reason = "insufficient evidence", "there is no other group to compare with"
        elif judged[k]:
            verdict, reason = verdict_of(value, bottom, top, accept, facts[k], RATIO, confidence)
        elif not other[k]:
            verdict = "insufficient evidence"
            reason = f"a rate rests on {rows[k]:.0f} rows, fewer than {FEWEST_ROWS}"
        verdicts.append(verdict)
        reasons.append(reason)
    return verdicts, reasons


# ---------------------------------------------------------------------- strata


def stratified_table(
    counts: Counts, attribute: str, strata: Sequence[str], confidence: float
) -> pd.DataFrame:
    """Compare every group with the reference (else the best) within strata, and ask whether they agree."""
    whole = counts.select(attribute)
    part = counts.select(attribute, *strata)
    share, size = SELECTED.evidence(whole)
    known = whole.known & (size > 0)
    mask = whole.is_privileged()
    against = "reference"
    if mask is None or not mask.any():
        enough = known & (size >= FEWEST_ROWS)
        candidates = enough if enough.any() else known
        mask = np.arange(size.size) == int(np.argmax(np.where(candidates, share, -1.0)))
        against = "best"
    group_at = {g[0]: k for k, g in enumerate(whole.groups)}
    stratum_at = {s: k for k, s in enumerate(dict.fromkeys(g[1:] for g in part.groups))}
    at = (
        np.array([group_at[g[0]] for g in part.groups]),
        np.array([stratum_at[g[1:]] for g in part.groups]),
    )
    cells = np.zeros((2, size.size, len(stratum_at)))
    inside, rows = SELECTED.evidence(part)
    cells[0][at], cells[1][at] = np.nan_to_num(inside * rows), rows
    hits, rows = cells
    others = hits[mask].sum(axis=0), rows[mask].sum(axis=0)
    shown = np.flatnonzero(known & ~mask)
    sides = (hits[shown], rows[shown], *others)
    test, alike = mantel_haenszel_test(*sides), breslow_day(*sides)
    ratio, ratio_low, ratio_high = mantel_haenszel_ratio(*sides, confidence=confidence)
    odds, odds_low, odds_high = mantel_haenszel_odds(*sides, confidence=confidence)
    labels = np.array(whole.labels(), dtype=object)
    crude = divide(share[shown], divide(others[0].sum(), others[1].sum()))
    return pd.DataFrame(
        {
            "attribute": attribute,
            "group": labels[shown],
            "against": against,
            "other": " or ".join(labels[mask]),
            "strata": " & ".join(strata),
            "strata_used": ((rows[shown] > 0) & (others[1] > 0)).sum(axis=-1),
            "ratio": crude,
            "ratio_within": ratio,
            "ratio_low": ratio_low,
            "ratio_high": ratio_high,
            "odds_ratio": odds,
            "odds_low": odds_low,
            "odds_high": odds_high,
            "chi2": test.statistic,
            "p_value": test.pvalue,
            "breslow_day": alike.statistic,
            "breslow_day_p": alike.pvalue,
            "reason": [
                str(a) or (f"strata cannot be compared: {b}" if b else None)
                for a, b in zip(test.reason, alike.reason, strict=True)
            ],
        }
    )
