"""Every group's selection rate beside the best one and beside a named reference."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from isonomy._arrays import Floats, divide
from isonomy.audit.findings import Verdict
from isonomy.audit.judge import FEWEST_ROWS, verdict_of
from isonomy.audit.limits import Evidence, each_limits, evidence_of
from isonomy.audit.pairs import pair_columns
from isonomy.metrics import RATES, Counts, get_metric
from isonomy.metrics.metric import GapParts
from isonomy.stats import many_to_one_critical, range_critical, wilson_interval
from isonomy.stats.simultaneous import ratio_to_best

RATIO = get_metric("disparate_impact")
PARTS = GapParts(("selection_rate",), True, "only")
SELECTED = RATES["selection_rate"]


@dataclass(frozen=True, eq=False)
class Contrast:
    """What the groups of an attribute are compared with: the best group, or a named reference.

    ``other`` marks the group (or groups) compared with.
    """

    against: Literal["best", "reference"]
    other: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class JudgedRatios:
    """The ratio of every group in one contrast, its limits and its verdict."""

    contrast: Contrast
    ratio: Floats
    low: Floats
    high: Floats
    verdicts: list[Verdict | None]
    reasons: list[str | None]


def contrasts_of(counts: Counts) -> list[Contrast]:
    """Return what the groups are compared with: the best one, and the reference where one is named."""
    share, size = SELECTED.evidence(counts)
    known = counts.known & (size > 0)
    enough = known & (size >= FEWEST_ROWS)
    candidates = enough if enough.any() else known
    found = []
    if candidates.any():
        best = int(np.argmax(np.where(candidates, share, -1.0)))
        found.append(Contrast("best", np.arange(share.size) == best))
    mask = counts.is_privileged()
    if mask is not None and mask.any():
        found.append(Contrast("reference", mask))
    return found


def judge_ratios(
    counts: Counts,
    contrasts: Sequence[Contrast],
    accept: tuple[float, float],
    confidence: float,
    *,
    together: int,
) -> list[JudgedRatios]:
    """Judge the ratio of every group in each contrast by limits that hold for all of them at once.

    Within a contrast the limits hold for all groups (Tukey, Dunnett). ``together`` is how many
    contrasts the whole audit makes, of all its attributes: each is held at its share of the level
    (Bonferroni), whatever the dependence between them.
    """
    level = 1 - (1 - confidence) / together
    evidence = evidence_of(PARTS, counts)
    share, rows = evidence.shares[0], evidence.rows[0]
    known = counts.known & (rows > 0)
    enough = known & (rows >= FEWEST_ROWS)
    hits, sizes = SELECTED.numerator(counts), SELECTED.denominator(counts)
    out = []
    for contrast in contrasts:
        other = contrast.other
        # of whole numbers until the last step, so that 24 of 100 beside 30 of 100 is 0.8
        ratio = divide(hits * sizes[other].sum(), hits[other].sum() * sizes)
        ratio = np.where(known, np.where(other, 1.0, ratio), np.nan)
        if contrast.against == "best":
            judged = enough  # the best may not truly be the best
            low, high = _limits_to_best(evidence, enough, level)
        else:
            judged = enough & ~other
            merged = evidence_of(PARTS, counts.by_privilege()).of([1])
            limits = each_limits(evidence, merged, accept, level, judged)
            low, high = limits.low, limits.high
        low, high = (np.where(judged, end, np.nan) for end in (low, high))
        beside = np.array([[divide(np.nansum((share * rows)[other]), rows[other].sum())]])
        facts = evidence.facts_against(
            Evidence(evidence.parts, beside, np.array([[rows[other].sum()]])), accept
        )
        verdicts: list[Verdict | None] = []
        reasons: list[str | None] = []
        for k, values in enumerate(zip(ratio.tolist(), low.tolist(), high.tolist(), strict=True)):
            verdict: Verdict | None = None
            reason: str | None = None
            if not known[k]:
                reason = "the group is not known" if rows[k] > 0 else "no rows"
            elif judged[k] and np.isnan(values[1]):
                verdict, reason = "insufficient evidence", "there is no other group to compare with"
            elif judged[k]:
                verdict, reason = verdict_of(*values, accept, facts[k], RATIO, confidence)
            elif not other[k]:
                verdict = "insufficient evidence"
                reason = f"a rate rests on {rows[k]:.0f} rows, fewer than {FEWEST_ROWS}"
            verdicts.append(verdict)
            reasons.append(reason)
        out.append(JudgedRatios(contrast, ratio, low, high, verdicts, reasons))
    return out


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


def ratio_tables(
    views: Sequence[tuple[str, Counts]], accept: tuple[float, float], confidence: float
) -> pd.DataFrame:
    """Compare the selection rates of every attribute's groups with the best, and the reference.

    ``low``, ``high`` and the verdict hold for all groups, contrasts and attributes together.
    """
    made = [(attribute, counts, contrasts_of(counts)) for attribute, counts in views]
    together = sum(len(contrasts) for *_, contrasts in made)
    tables = [
        _table(attribute, counts, judged, accept[0], confidence)
        for attribute, counts, contrasts in made
        for judged in judge_ratios(counts, contrasts, accept, confidence, together=together)
    ]
    frame = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()
    for name in {"verdict", "reason", "two_more_ratio", "two_more_significance"} & {*frame}:
        frame[name] = frame[name].astype(object).where(frame[name].notna(), None)
    return frame


def _table(
    attribute: str, counts: Counts, judged: JudgedRatios, threshold: float, confidence: float
) -> pd.DataFrame:
    """Lay out one contrast of an attribute: the groups, what was judged, and each pair by itself."""
    plain = replace(counts, w=None, w2=None)
    share, size = SELECTED.evidence(counts)
    low, high = wilson_interval(share, size, confidence=confidence)
    other = judged.contrast.other
    merged = counts.regroup(np.where(other, 0, 1).astype(np.intp), (("these",), ("others",)))
    mine, theirs = SELECTED.evidence(merged)
    hits, rows = SELECTED.numerator(counts), SELECTED.denominator(counts)
    pairs = pair_columns(
        hits, rows, hits[other].sum(), rows[other].sum(), ratio=threshold, confidence=confidence,
        effective=(share * size, size, float((mine * theirs)[0]), float(theirs[0])),
        people=not counts.weighted,
    )  # fmt: skip
    shown = counts.known & (size > 0) & ~other
    columns: dict[str, Any] = {
        "attribute": attribute,
        "group": list(counts.labels()),
        "rows": SELECTED.denominator(plain).astype(np.int64),
        "selected": SELECTED.numerator(plain).astype(np.int64),
        "rate": share,
        "rate_low": low,
        "rate_high": high,
        "against": judged.contrast.against,
        "other": " or ".join(np.array(counts.labels(), dtype=object)[other]),
        "ratio": judged.ratio,
        "low": judged.low,
        "high": judged.high,
        **{name: np.where(shown, values, _nothing(values)) for name, values in pairs.items()},
        "verdict": judged.verdicts,
        "reason": judged.reasons,
    }
    return pd.DataFrame(columns)


def _nothing(values: NDArray[Any]) -> Any:
    """Return what stands for a missing value of an array: None among words."""
    return None if values.dtype == object else np.nan
