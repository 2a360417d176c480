"""The page of an audit: verdicts in words, the people behind them, gaps and rates by group."""

from collections.abc import Sequence
from typing import Any

from isonomy._shown import SUMMARIES, Summary
from isonomy._validate import listed
from isonomy.audit import Audit, Finding
from isonomy.audit.deciding import OFTEN
from isonomy.audit.findings import GroupRate
from isonomy.metrics import RATES, Counts
from isonomy.metrics.calibration import CALIBRATION
from isonomy.report import blocks as b
from isonomy.report.scan import scan_blocks, scan_sentences

TONE = {
    "violated": "violated",
    "insufficient evidence": "thin",
    "undefined": "undefined",
    "within": "within",
}
"""The tone of a verdict, in the order in which verdicts matter."""
LIMITS = (
    (
        "The intervals speak of the population that these rows are a sample of; other people, or the "
        "same people later, may be treated otherwise."
    ),
    (
        "True labels may carry the bias of whoever decided in the past: metrics that use them take "
        "them as right."
    ),
    (
        "Metrics of fairness exclude each other where groups differ; which of them matters here is a "
        "judgement that people must make and give reasons for."
    ),
)
MOST_SENTENCES = 4
_THIN = "insufficient evidence"


@SUMMARIES.register("audit")
def summarize_audit(
    found: Audit, *, title: str | None = None, command: str | None = None
) -> Summary:
    """Return the summary of an audit."""
    attributes = [*dict.fromkeys(r.attribute for r in found.groups)]
    people: list[b.Block] = []
    picture: list[b.Block] = []
    table: list[b.Block] = []
    for attribute in attributes:
        people += _people(found, attribute)
        picture += audit_charts(found, attribute)
        table += _tables(found, attribute)
    first = [*found.too_fine().values()]
    return b.summary(
        "audit",
        f"Audit of {title}" if title else "Audit",
        verdict=audit_verdict(found, scan_sentences(found.scan)),
        people=[*b.notes(first), *people],
        picture=picture,
        table=[
            *b.notes(n for n in found.notes if n not in first),
            *table,
            *_conditional(found),
            *([] if found.scan is None else scan_blocks(found.scan)),
            _overall(found),
        ],
        method=[b.facts(audit_facts(found, title))],
        limits=[*_unexamined(found), *LIMITS],
        command=command,
    )


# ---------------------------------------------------------------------- the verdict


def audit_verdict(
    found: Audit, more: Sequence[str] = (), also: Sequence[str | None] = ()
) -> b.Block:
    """Return the headline, the worst findings and further sentences, and how many of each verdict.

    ``also``: verdicts of further checks, which hold for all of them together.
    """
    every = [f for f in (*found.metrics, *found.comparisons) if f.verdict]
    tally = {v: sum(f.verdict == v for f in every) + sum(v == w for w in also) for v in TONE}
    sure = found.violated() if any(f.accept_low is not None for f in found.metrics) else ()
    tone, headline = _headline(tally, len(sure) + sum(w == "violated" for w in also))
    worst = sorted(
        (f for f in every if f.verdict == "violated"),
        key=lambda f: (f not in sure, 1.0 if f.p_value is None else f.p_value),
    )
    sentences = [finding_in_words(f) for f in worst[:MOST_SENTENCES]]
    if len(worst) > MOST_SENTENCES:
        sentences.append(f"{len(worst) - MOST_SENTENCES} more are violated: see the numbers.")
    if needs := [f.rows_more for f in every if f.rows_more and f.verdict == _THIN]:
        least, most = min(needs), max(needs)
        span = f"some {least:,}"
        if most > least:
            span += f" to {most:,}" if most <= 1_000_000 else " to more than 1,000,000"
        sentences.append(
            f"Where evidence is insufficient, {span} more rows like these would decide in {OFTEN:.0%} "
            f"of cases, were the rates and the shares of the groups to stay."
        )
    tiles = [b.tile(f"{n:,}", v, TONE[v]) for v, n in tally.items() if n]
    return b.verdict(tone, headline, [*sentences, *more], tiles)


def _headline(tally: dict[str, int], sure: int) -> tuple[str, str]:
    """Return the tone of the page and its one line."""
    judged = sum(tally[v] for v in ("violated", _THIN, "within"))
    bad = tally["violated"]
    are = "is" if bad == 1 else "are"
    if sure:
        return "violated", (
            f"Groups are treated differently beyond the accepted limits: {bad} of {judged} checks "
            f"{are} violated."
        )
    if bad:
        return "thin", (
            f"A difference may lie beyond the accepted limits: {bad} of {judged} checks {are} "
            f"violated by {'itself' if bad == 1 else 'themselves'}, none when all are taken together."
        )
    if not judged:
        return "undefined", "No verdict: no difference could be compared with a limit."
    if tally[_THIN]:
        thin = tally[_THIN]
        return "thin", (
            f"These rows do not decide: {thin} of {judged} checks lack evidence; none is violated."
        )
    return "within", f"All {judged} checks lie within the accepted limits."


def finding_in_words(f: Finding) -> str:
    """Return a finding in one sentence."""
    who = f.attribute or "all rows"
    if f.comparison:
        who += f" ({f.comparison})"
    number = b.number(f.value)["text"]
    bounds = f" ({b.span(f.low, f.high)})" if b.span(f.low, f.high) else ""
    return f"{f.name.replace('_', ' ').capitalize()} by {who} is {number}{bounds}: {f.reason or f.verdict}."


# ---------------------------------------------------------------------- people


def _people(found: Audit, attribute: str) -> list[b.Block]:
    """Return the groups, how many people, and how many were decided for."""
    rates = _rates(found, attribute)
    shown, rest = found.telling_groups(attribute)
    sizes = found.sizes[found.sizes["attribute"].eq(attribute)]
    weighted = bool(found.counts.weighted)
    selected = {g: r["selection_rate"] for g, r in rates.items() if "selection_rate" in r}
    reference, name = (None, "") if weighted else _reference(sizes, selected)
    columns: list[b.Cell] = ["group", b.right("rows"), b.right("share")]
    if not weighted:
        columns += [b.right("favourable decision"), b.right("wrongly refused")]
        if reference is not None:
            columns.append(b.right("people short"))
            rest = f"People short: fewer favourable decisions than at the rate of {name}. {rest}"
    rows = []
    most = ("", 0)
    for size in sizes[sizes["group"].isin(shown)].to_dict("records"):
        group, n = size["group"], int(size["rows"])
        row = [
            f"{group} (privileged)" if size["privileged"] is True else str(group),
            b.count(n),
            b.percent(size["share"]),
        ]
        if not weighted:
            rate, right = selected.get(group), rates[group].get("true_positive_rate")
            row.append(_people_count(rate, 1))
            row.append(_people_count(right, -1))
            if reference is not None:
                short = (
                    0.0
                    if rate is None or rate.value != rate.value
                    else n * (reference - rate.value)
                )
                row.append(b.count(round(short)) if short >= 0.5 else "")
                most = max(most, (str(group), round(short)), key=lambda pair: pair[1])
        rows.append(row)
    made = [
        b.heading(attribute),
        b.table(f"Groups of {attribute}", columns, rows, note=rest.strip()),
    ]
    if most[1]:
        made.append(
            b.text(
                f"At the rate of {name}, {most[1]:,} more people of {most[0]} would have received "
                f"the favourable decision."
            )
        )
    return made


def _rates(found: Audit, attribute: str) -> dict[str, dict[str, GroupRate]]:
    out: dict[str, dict[str, GroupRate]] = {}
    for r in found.groups:
        if r.attribute == attribute:
            out.setdefault(r.group, {})[r.name] = r
    return out


def _reference(sizes: Any, selected: dict[str, GroupRate]) -> tuple[float | None, str]:
    """Return the rate that others are held against: the privileged groups', else the largest."""
    chosen = [g for g in sizes["group"][sizes["privileged"].eq(True)] if g in selected]
    if not chosen:
        compared = [g for g in sizes["group"][sizes["compared"]] if g in selected]
        known = [g for g in compared if selected[g].value == selected[g].value]
        chosen = [max(known, key=lambda g: selected[g].value)] if len(known) > 1 else []
    rows = sum(selected[g].rows for g in chosen)
    if not rows:
        return None, ""
    rate = sum(selected[g].value * selected[g].rows for g in chosen) / rows
    return (rate, " and ".join(chosen)) if rate == rate else (None, "")


def _people_count(rate: GroupRate | None, way: int) -> b.Cell:
    """Return how many people a rate, or what is left of it, is of its rows."""
    if rate is None or rate.value != rate.value:
        return ""
    return b.count(round(rate.rows * (rate.value if way > 0 else 1 - rate.value)))


# ---------------------------------------------------------------------- charts


def audit_charts(found: Audit, attribute: str) -> list[b.Block]:
    """Return the pictures of one attribute: shares by group, gaps, ratios."""
    rates, shown = _rates(found, attribute), found.telling_groups(attribute)[0]
    made: list[b.Block] = []
    picked = [
        (g, r["selection_rate"]) for g, r in rates.items() if g in shown and "selection_rate" in r
    ]
    if picked:
        rows = [
            b.whisker(g, r.value, r.low, r.high, tone="thin" if r.reason else "dot")
            for g, r in picked
        ]
        made.append(
            b.intervals(
                f"Share with the favourable decision, by {attribute}",
                rows,
                alt=_alt(rows),
                ends=(0.0, 1.0),
                note="Dots are the shares, lines their intervals.",
                numbers=False,
            )
        )
    gaps = [f for f in found.metrics if f.attribute == attribute]
    if attribute not in found.counts.attributes:  # an intersection: its gaps are in the tables
        gaps = []
    for ratio, ends in ((False, (-0.5, 0.5)), (True, (0.0, 2.0))):
        rows = [
            b.whisker(
                f.name.replace("_", " "),
                f.value,
                f.low,
                f.high,
                accept=(float(f.accept_low), float(f.accept_high or 0.0)),
                tone=TONE[f.verdict or "undefined"],
                said=f"{f.name.replace('_', ' ')}: {b.number(f.value)['text']}, {f.verdict}",
            )
            for f in gaps
            if f.accept_low is not None and (f.accept_low > 0) is ratio
        ]
        if rows:
            made.append(
                b.intervals(
                    f"{'Ratios' if ratio else 'Gaps'} by {attribute}: {gaps[0].comparison}",
                    rows,
                    alt=_alt(rows),
                    ends=ends,
                    ideal=1.0 if ratio else 0.0,
                    note="The band is the accepted range, the dashed line equal treatment.",
                    numbers=False,
                )
            )
    return made


def _alt(rows: Sequence[b.Block]) -> str:
    """Return what a chart shows to those who do not see it."""
    known = [r for r in rows if r["value"] is not None]
    if len(known) > 9:
        known = sorted(known, key=lambda r: r["value"])
        known = [known[0], known[-1]]
        first = f"{len(rows)} rows, from lowest to highest. "
    else:
        first = ""
    return first + "; ".join(
        f"{r['label']} {r['value'] + 0.0:.3f}"
        + (f" ({b.span(r['low'], r['high'])})" if r["low"] is not None else "")
        for r in known
    )


# ---------------------------------------------------------------------- tables


def _tables(found: Audit, attribute: str) -> list[b.Block]:
    gaps = [f for f in found.metrics if f.attribute == attribute]
    made = [b.heading(attribute)]
    if gaps:
        made.append(gap_table(f"Gaps by {attribute}: {gaps[0].comparison}", gaps, single=False))
    made += _rate_tables(found, attribute)
    made += b.notes(found.left_out(attribute))
    each, hidden = found.telling_comparisons(attribute)
    total = len(each) + hidden
    if total:
        bad = sum(f.verdict == "violated" for f in each)
        label = f"Single groups of {attribute}: {bad} of {total} comparisons violated"
        if each:
            ordered = sorted(each, key=lambda f: f.verdict != "violated")
            made.append(b.more(label, [gap_table(label, ordered, single=True)], unfolded=bad > 0))
        left = f"{label}; none is shown" if not each else f"{hidden} of {total} are not shown"
        if hidden:
            made.append(b.soft(f"{left} (--json and frame() have all)."))
    return made


def gap_table(caption: str, rows: Sequence[Finding], *, single: bool) -> b.Block:
    """Return findings as a table."""
    columns = ["metric", *(["groups"] if single else []), b.right("value"), b.right("interval")]
    return b.table(
        caption,
        [*columns, "verdict", "because"],
        [
            [
                b.word(f.name.replace("_", " ")),
                *([f.comparison or ""] if single else []),
                b.number(f.value),
                b.span(f.low, f.high),
                b.word(f.verdict or "", TONE.get(f.verdict or "", "")),
                b.word(f.reason or "", "soft"),
            ]
            for f in rows
        ],
    )


def _rate_tables(found: Audit, attribute: str) -> list[b.Block]:
    rates = _rates(found, attribute)
    shown, rest = found.telling_groups(attribute)
    names = {r.name: r.label for by_name in rates.values() for r in by_name.values()}
    kinds = {
        "Rates": [n for n in names if n in RATES],
        "Scores": [n for n in names if n not in {*RATES, *CALIBRATION}],
        "Calibration": [n for n in names if n in CALIBRATION],
    }
    sizes = found.sizes[found.sizes["attribute"].eq(attribute)].to_dict("records")
    made = []
    for kind, columns in kinds.items():
        if not columns:
            continue
        rows = [
            [
                f"{s['group']} (privileged)" if s["privileged"] is True else str(s["group"]),
                b.count(s["rows"]),
                *(_rate_cell(rates.get(s["group"], {}).get(name)) for name in columns),
            ]
            for s in sizes
            if s["group"] in shown
        ]
        heads = ["group", b.right("rows"), *(b.right(names[n]) for n in columns)]
        said = rest
        if kind == "Calibration":
            said = (
                "Scores are right where ECE is 0, slope 1, intercept 0 and Z 0; each interval is for "
                "one group by itself. The plain ECE is above 0 by chance alone, the more so the "
                f"smaller the group: read the corrected one. {rest}"
            ).strip()
        made.append(b.table(f"{kind} by {attribute}", heads, rows, note=said))
    return made


def _rate_cell(r: GroupRate | None) -> b.Cell:
    if r is None:
        return ""
    why = r.reason or ""
    if why and r.pooled is not None and r.pooled == r.pooled:
        why += f"; partially pooled {b.number(r.pooled)['text']}"
    return b.estimate(r.value, r.low, r.high, tone="thin" if why else "", why=why)


def _conditional(found: Audit) -> list[b.Block]:
    if not found.conditional:
        return []
    rows = [
        [
            b.word(r.name.replace("_", " ")),
            r.comparison,
            b.number(r.value),
            b.number(r.within),
            b.span(r.low, r.high),
            b.word("the sign turns", "violated") if r.turns else b.word(r.reason or "", "soft"),
        ]
        for r in found.conditional
    ]
    strata = found.conditional[0].strata
    heads = [
        "metric",
        "groups",
        b.right("overall"),
        b.right("within strata"),
        b.right("interval"),
        "",
    ]
    said = (
        "Mantel and Haenszel's average of the gaps within strata. Whether a stratum may explain a "
        "gap is a judgement: it may itself be the result of unequal treatment."
    )
    return [b.heading(f"Within {strata}"), b.table(f"Gaps within {strata}", heads, rows, note=said)]


def _overall(found: Audit) -> b.Block:
    rows = [
        [
            b.word(f.name.replace("_", " ")),
            b.number(f.value),
            b.span(f.low, f.high),
            b.word(f.reason or "", "soft"),
        ]
        for f in found.metrics
        if f.attribute is None
    ]
    heads = ["metric", b.right("value"), b.right("interval"), "because"]
    return b.more("The model as a whole", [b.table("All rows", heads, rows)], unfolded=True)


# ---------------------------------------------------------------------- how, and limits


def audit_facts(found: Audit, title: str | None) -> list[tuple[str, str]]:
    """Return how an audit was made."""
    settings = found.settings
    accepted = {
        f.name: f"{f.name.replace('_', ' ')} {f.accept_low:g} to {f.accept_high:g}"
        for f in found.metrics
        if f.accept_low is not None
    }
    level = f"{100 * settings['confidence']:g} %" if "confidence" in settings else ""
    return [
        ("Data", title or ""),
        *group_facts(found.counts),
        ("Accepted ranges", "; ".join(accepted.values())),
        ("Intervals", f"{level}, each for one metric and all its groups together" if level else ""),
        (
            "Smallest group compared",
            f"{settings['fewest_rows']} rows" if "fewest_rows" in settings else "",
        ),
        ("Resamples", f"{settings['resamples']:,}" if "resamples" in settings else ""),
        ("Seed", str(settings.get("random_state", ""))),
    ]


def group_facts(counts: Counts) -> list[tuple[str, str]]:
    """Return what was counted, and how."""
    privileged = "; ".join(f"{a}: {listed(v)}" for a, v in counts.privileged.items())
    return [
        ("Rows", f"{int(counts.n.sum()):,}{', weighted' if counts.weighted else ''}"),
        ("Favourable", listed(counts.favorable)),
        (
            "Privileged",
            privileged or "none declared: the largest rate is compared with the smallest",
        ),
    ]


def _unexamined(found: Audit) -> list[str]:
    if not found.unexamined:
        return []
    return [
        (
            "Unexamined: these columns look protected and were not asked about: "
            f"{', '.join(found.unexamined)}."
        )
    ]
