"""What an audit lists by group: rates, sizes, and what a reader must know of them."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from isonomy._bands import too_many_numbers
from isonomy._groups import near_duplicates
from isonomy._unknown import code_notes
from isonomy._validate import listed
from isonomy.audit.findings import Finding, GroupRate
from isonomy.audit.judge import FEWEST_ROWS, VACUOUS, is_judged
from isonomy.data.label import absent_label_notes
from isonomy.metrics import RATES, Counts, ScoreTable
from isonomy.metrics.gaps import default_comparison
from isonomy.metrics.rates import GROUP_RATES
from isonomy.stats import partial_pooling, wilson_interval


def group_rates(
    attribute: str, counts: Counts, confidence: float, names: Sequence[str] = GROUP_RATES
) -> list[GroupRate]:
    """Return the rates of every group with Wilson intervals."""
    out = []
    for name in names:
        rate = RATES[name]
        value, rows, effective = rate(counts), rate.rows(counts), rate.effective_rows(counts)
        low, high = wilson_interval(value, effective, confidence=confidence)
        pooled = partial_pooling(value, np.nan_to_num(effective), confidence=confidence)
        columns = (value, low, high, rows, np.nan_to_num(effective), *pooled)
        for group, *row in zip(counts.labels(), *(c.tolist() for c in columns), strict=True):
            share, bottom, top, rows, independent, *drawn_in = row
            reason = f"no {rate.of}" if rows == 0 else None
            if 0 < rows < FEWEST_ROWS:
                reason = f"rests on {int(rows)} rows, fewer than {FEWEST_ROWS}"
            out.append(
                GroupRate(
                    attribute, group, name, rate.label, share, bottom, top, int(rows),
                    independent, reason, *drawn_in,
                )
            )  # fmt: skip
    return out


def group_sizes(views: Sequence[tuple[str, Counts]]) -> pd.DataFrame:
    """Return the rows, share and weight of every group, and whether it is compared."""
    rows = []
    for attribute, part in views:
        n = part.n.sum(axis=(-1, -2))
        mask, judged = part.is_privileged(), is_judged(part)
        for k, group in enumerate(part.labels()):
            row = {
                "attribute": attribute,
                "group": group,
                "privileged": None if mask is None else bool(mask[k]),
                "rows": int(n[k]),
                "share": float(n[k] / n.sum()),
                "compared": bool(judged[k]),
            }
            if part.w is not None:
                row["weight"] = float(part.w[k].sum())
            rows.append(row)
    return pd.DataFrame(rows)


def notes(
    counts: Counts,
    views: Sequence[tuple[str, Counts]],
    table: ScoreTable | None,
    findings: Sequence[Finding],
    confidence: float,
) -> list[str]:
    """Say what a reader must know."""
    out = [*_turned(counts, findings), *_too_fine(views)]
    judged = sum(f.verdict in {"within", "violated", "insufficient evidence"} for f in findings)
    if judged > 1:
        sure = sum(f.p_audit is not None and f.p_audit <= 1 - confidence for f in findings)
        alone = sum(f.verdict == "violated" for f in findings)
        together = (
            f" Of {alone} violated, {sure} {'holds' if sure == 1 else 'hold'} for all {judged} verdicts of this audit taken "
            f"together (Holm): a gate on any metric uses those."
        )
        out.append(
            f"Each verdict holds at {confidence:.0%} for one metric of one attribute, all its "
            f"groups together.{together if alone else ''}"
        )
    for attribute, part in views:
        if default_comparison(part) == "max_min":
            out.append(
                f"No privileged group was declared for {attribute}: the largest rate is compared "
                f"with the smallest, and the interval holds for all pairs of groups together."
            )
        out += _strays(attribute, part)
        empty = [f.name for f in findings if f.attribute == attribute and VACUOUS in str(f.reason)]
        if empty:
            out.append(
                f"The threshold says nothing about {listed(dict.fromkeys(empty), most=12)} of "
                f"{attribute}: the rates are too near 0 or 1 for any gap to leave it. Read a ratio "
                f"(disparate_impact ...), or set a narrower threshold."
            )
    if len(counts.classes) > 2:
        out.append(
            f"Labels have {len(counts.classes)} classes; rates count {listed(counts.favorable)} "
            f"as favourable and the others as unfavourable."
        )
    by_label = counts.n.sum(axis=(*range(counts.n.ndim - 2), -1))
    out += absent_label_notes(dict(zip(counts.classes, by_label, strict=True)), counts.favorable)
    ranked = next((f for f in findings if f.name == "roc_auc" and f.attribute is None), None)
    if ranked is not None and ranked.high < 0.5:
        out.append(
            f"The scores rank people the wrong way round (AUC {ranked.value:.3f}): a score must be "
            f"the probability of the favourable label, {listed(counts.favorable)}; where it is that "
            f"of the other label, use 1 - score."
        )
    if table is not None and not table.probabilities:
        out.append("Scores leave [0, 1], so they are ranked only: no Brier, log loss, calibration.")
    return out


def _turned(counts: Counts, findings: Sequence[Finding]) -> list[str]:
    """Say first where the predictions seem to be turned round: so is then every gap below."""
    right = next((f for f in findings if f.name == "balanced_accuracy" and not f.attribute), None)
    if right is None or not right.high < 0.5:
        return []
    good = listed(counts.favorable)
    note = (
        f"The predictions are wrong more often than right (balanced accuracy {right.value:.3f}): "
        f"does their favourable label, {good}, mean what it means in the labels? A prediction that "
        f"is cut from a score, 'score>=0.5', says {good} from 0.5 on; where it should say the "
        f"other label, turn the cut round: 'score<0.5'."
    )
    return [note]


def _too_fine(views: Sequence[tuple[str, Counts]]) -> list[str]:
    """Say first which numbers are better cut into bands: nothing below reads well before."""
    many = (
        too_many_numbers(attribute, [g[0] for g in part.groups], part.n.sum(axis=(-1, -2)))
        for attribute, part in views
        if len(part.attributes) == 1
    )
    return [sentence for sentence in many if sentence]


def _strays(attribute: str, part: Counts) -> list[str]:
    """Name the groups that are listed and not compared, and those that may be one group."""
    out = []
    rows = part.n.sum(axis=(-1, -2))
    unknown = ~part.known
    if unknown.any() and len(part.attributes) == 1:
        names = [label for label, u in zip(part.labels(), unknown, strict=True) if u]
        n = int(rows[unknown].sum())
        have, are = ("row has", "it is") if n == 1 else ("rows have", "they are")
        out.append(
            f"{n:,} {have} no known {attribute} ({listed(names)}): {are} listed, and compared with "
            f"no group."
        )
    if len(part.attributes) == 1:
        out += code_notes(attribute, (g[0] for g in part.groups))
    small = [
        label
        for label, n, u in zip(part.labels(), rows, unknown, strict=True)
        if n < FEWEST_ROWS and not u
    ]
    if small:
        out.append(
            f"Fewer than {FEWEST_ROWS} rows in {attribute}: {listed(small)}; listed, and not "
            f"compared by themselves."
        )
    if len(part.attributes) == 1:
        out += [
            f"{' and '.join(map(repr, names))} are separate groups of {attribute}: are they one?"
            for names in near_duplicates(g[0] for g in part.groups)
        ]
    return out
