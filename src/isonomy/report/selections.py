"""The page of an audit without labels: every group beside the best one and beside the reference."""

from collections.abc import Callable
from typing import Any

import pandas as pd

from isonomy._shown import SUMMARIES, Summary
from isonomy.audit import SelectionAudit
from isonomy.report import blocks as b
from isonomy.report.audit import (
    LIMITS,
    MOST_SENTENCES,
    TONE,
    audit_charts,
    audit_facts,
    audit_verdict,
    gap_table,
)
from isonomy.report.scan import scan_blocks, scan_sentences
from isonomy.stats.written import write_p_value

_BESIDE = {"best": "the best group, {}", "reference": "the reference, {}"}
_LABEL_FREE = (
    "A difference in selection is not by itself unequal treatment, nor is its absence equal "
    "treatment: without true labels nobody can say who should have been selected."
)


@SUMMARIES.register("selections")
def summarize_selections(
    found: SelectionAudit, *, title: str | None = None, command: str | None = None
) -> Summary:
    """Return the summary of an audit without labels."""
    attributes = [*dict.fromkeys(r.attribute for r in found.groups)]
    return b.summary(
        "selections",
        f"Selections in {title}" if title else "Selections",
        verdict=audit_verdict(
            found,
            [*_violated(found), *scan_sentences(found.scan)],
            [*found.ratios.get("verdict", ())],
        ),
        people=[_people(found, attribute) for attribute in attributes],
        picture=[chart for attribute in attributes for chart in audit_charts(found, attribute)],
        table=[
            *b.notes(found.notes),
            *(block for attribute in attributes for block in _tables(found, attribute)),
            *([] if found.scan is None else scan_blocks(found.scan)),
        ],
        method=[b.facts(audit_facts(found, title))],
        limits=[_LABEL_FREE, LIMITS[0], LIMITS[-1]],
        command=command,
    )


def _shown(found: SelectionAudit, table: pd.DataFrame, attribute: str) -> pd.DataFrame:
    """Return the rows of a table that tell something of an attribute."""
    if table.empty:
        return table
    return table[
        (table["attribute"] == attribute) & table["group"].isin(found.telling_groups(attribute)[0])
    ]


def _violated(found: SelectionAudit) -> list[str]:
    """Return a sentence for the groups whose ratios are violated, the lowest ratios first.

    Where the reference is also the best group, the two comparisons are one.
    """
    violated = found.ratios[found.ratios["verdict"] == "violated"]
    rows = violated.drop_duplicates(["attribute", "group", "other"]).sort_values("ratio")
    sentences = [
        f"{r['group']} ({r['attribute']}): selected at {r['ratio']:.2f} of the rate of {r['other']} "
        f"({b.span(r['low'], r['high'], 2)}); {abs(r['shortfall']):,.0f} people "
        f"{'fewer' if r['shortfall'] >= 0 else 'more'} than at that rate."
        for r in rows[:MOST_SENTENCES].to_dict("records")
    ]
    if len(rows) > MOST_SENTENCES:
        sentences.append(f"{len(rows) - MOST_SENTENCES} more such ratios: see the numbers.")
    return sentences


def _people(found: SelectionAudit, attribute: str) -> b.Block:
    rows = _shown(found, found.ratios, attribute).drop_duplicates("group")
    return b.table(
        f"People by {attribute}",
        [attribute, b.right("people"), b.right("selected"), b.right("rate"), b.right("interval")],
        [
            [
                r["group"], b.count(r["rows"]), b.count(r["selected"]), b.percent(r["rate"]),
                b.span(r["rate_low"], r["rate_high"]),
            ]
            for r in rows.to_dict("records")
        ],
        note=found.telling_groups(attribute)[1],
    )  # fmt: skip


def _tables(found: SelectionAudit, attribute: str) -> list[b.Block]:
    ratios = _shown(found, found.ratios, attribute)
    made = [b.heading(attribute)]
    made += [_ratios(part, attribute) for _, part in ratios.groupby("against", sort=False)]
    gaps = [f for f in found.metrics if f.attribute == attribute]
    made.append(gap_table(f"Gaps by {attribute}: {gaps[0].comparison}", gaps, single=False))
    more: tuple[tuple[pd.DataFrame, Callable[[pd.DataFrame, str], b.Block]], ...] = (
        (found.stratified, _strata),
        (found.scores, _scores),
        (found.cutoffs, _cutoffs),
    )
    for table, draw in more:
        rows = _shown(found, table, attribute)
        if not rows.empty:
            made.append(draw(rows, attribute))
    return made


def _ratios(rows: pd.DataFrame, attribute: str) -> b.Block:
    first = rows.iloc[0]
    numbers = ["ratio", "interval", "people short", "Z", "p (Fisher, mid-p)"]
    return b.table(
        f"{attribute} beside {_BESIDE[first['against']].format(first['other'])}",
        [attribute, *map(b.right, numbers), "two more selected", "verdict", "because"],
        [
            [
                r["group"], b.number(r["ratio"], empty="-"), b.span(r["low"], r["high"]),
                b.number(r["shortfall"], 1, empty="-"), b.number(r["z"], 2, empty="-"),
                _pvalue(r["fisher_mid_p"]), two_more(r),
                b.word(r["verdict"] or "", TONE.get(r["verdict"] or "", "")),
                b.word(r["reason"] or "", "soft"),
            ]
            for r in rows.to_dict("records")
        ],
        note=(
            "Intervals and verdicts of ratios hold for all groups, comparisons and attributes together, "
            "and allow for the best group being chosen by the same data. People short: fewer than at the other's rate. Z: standard "
            "deviations. Two more selected: what becomes of the flags (ratio, p) then."
        ),
    )  # fmt: skip


def two_more(row: dict[Any, Any]) -> str:
    """Return what becomes of a group's flags if two more of it were selected."""
    flags = {row["two_more_ratio"], row["two_more_significance"]} - {None}
    return next((word for word in ("stays", "vanishes", "no flag") if word in flags), "-")


def _strata(rows: pd.DataFrame, attribute: str) -> b.Block:
    first = rows.iloc[0]
    numbers = ["ratio", "within strata", "interval", "chi2", "p", "strata agree (p)"]
    return b.table(
        f"{attribute} beside {first['other']} within {first['strata']}",
        [attribute, *map(b.right, numbers)],
        [
            [
                r["group"], b.number(r["ratio"]), b.number(r["ratio_within"]),
                b.span(r["ratio_low"], r["ratio_high"]), b.number(r["chi2"], 2),
                _pvalue(r["p_value"]), _pvalue(r["breslow_day_p"]),
            ]
            for r in rows.to_dict("records")
        ],
        note="Mantel-Haenszel; the strata's agreement by Breslow and Day with Tarone's correction.",
    )  # fmt: skip


def _scores(rows: pd.DataFrame, attribute: str) -> b.Block:
    first = rows.iloc[0]
    numbers = ["people", "mean", "difference", "interval", "p (Holm)"]
    return b.table(
        f"Mean scores by {attribute} beside {first['other']} ({first['other_mean']:.3f})",
        [attribute, *map(b.right, numbers)],
        [
            [
                r["group"], b.count(r["rows"]), b.number(r["mean"]), b.number(r["smd"]),
                b.span(r["low"], r["high"]), _pvalue(r["p_holm"]),
            ]
            for r in rows.to_dict("records")
        ],
        note="The difference of means is in standard deviations of all scores.",
    )  # fmt: skip


def _cutoffs(rows: pd.DataFrame, attribute: str) -> b.Block:
    first, percents = rows.iloc[0], rows["percent"].unique().tolist()
    beside = "the best" if first["against"] == "best" else first["other"]
    return b.table(
        f"Ratios by {attribute} among the best scores, to {beside}",
        [attribute, *(b.right(f"{p} %") for p in percents)],
        [
            [str(group), *(b.number(v, 2, empty="-") for v in part["ratio"])]
            for group, part in rows.groupby("group", sort=False)
        ],
    )


def _pvalue(p: float) -> b.Cell:
    return {"text": write_p_value(p, undefined="-"), "value": None if p != p else p}
