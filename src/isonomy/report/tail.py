"""The page of tails: who is hurt, how much, and how far the tail can be trusted."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from isonomy._shown import SUMMARIES, Summary
from isonomy.counterfactual import EcdReport, GroupReport
from isonomy.counterfactual.extremes import Estimate
from isonomy.report import blocks as b
from isonomy.report.svg import span_of

TONES = ("dot", "violated", "within", "thin", "undefined", "soft")
"""The colours of groups, in order."""
LEAST = 1e-5
"""The smallest share that the histogram shows."""
LIMITS = (
    (
        "Proxies: a model that never sees the attribute, or guesses it from other columns, shows no "
        "CD at all."
    ),
    "Other people: a return level holds for queries like these rows.",
    (
        "Causes: a person who had always belonged to the other group would differ in more than this "
        "attribute."
    ),
)
_MOST_NAMED = 8


@SUMMARIES.register("tail")
def summarize_tail(
    reports: EcdReport | Sequence[EcdReport],
    *,
    title: str | None = None,
    command: str | None = None,
) -> Summary:
    """Return the summary of reports of tails, one per attribute or intersection.

    Examples
    --------
    >>> from isonomy.counterfactual import tail
    >>> from isonomy.data import make_biased
    >>> from isonomy.data.synthetic import BiasedTruth
    >>> score, X = BiasedTruth().score, make_biased(500).X
    >>> made = summarize_tail(tail(score, X, "group", resamples=99), title="a model")
    >>> made["title"]
    'Tail: a model'
    """
    every = [reports] if isinstance(reports, EcdReport) else [*reports]
    people: list[b.Block] = []
    picture: list[b.Block] = []
    table: list[b.Block] = []
    for report in every:
        people += _people(report)
        picture += _charts(report)
        table += _tables(report)
    return b.summary(
        "tail",
        f"Tail: {title}" if title else "Tail",
        verdict=_verdict(every),
        people=people,
        picture=picture,
        table=table,
        method=[_explained(every), b.facts(_facts(every[0], title))],
        limits=LIMITS,
        command=command,
    )


def _verdict(reports: Sequence[EcdReport]) -> b.Block:
    worst = [(g.extremes.largest, g, r) for r in reports for g in r.groups if not g.privileged]
    said = [
        f"{r.attribute.title}: {sentence}" if len(reports) > 1 else sentence
        for r in reports
        for sentence in r.sentences()
    ]
    largest, group, report = max(worst, key=lambda w: w[0])
    if largest <= 1e-9:
        return b.verdict("within", "No score falls because of the attribute itself.", said)
    head = (
        f"At worst, belonging to {report.attribute.title} = {group.name} costs a person "
        f"{largest:.3f} of the score in these rows."
    )
    tiles = [
        b.tile(f"{g.extremes.acd.value + 0.0:.3f}", f"mean cost, {r.attribute.title} = {g.name}")
        for _, g, r in worst[:4]
    ]
    flips = [g.flip_rate.value for _, g, _ in worst if g.flip_rate.value == g.flip_rate.value]
    if flips:
        tiles.append(b.tile(f"{100 * max(flips):.1f} %", "largest share whose label changes"))
    return b.verdict("violated" if flips and max(flips) > 0 else "thin", head, said, tiles)


def _people(r: EcdReport) -> list[b.Block]:
    rows = []
    for g in r.groups:
        flips = g.flip_rate.value
        rows.append(
            [
                f"{g.name} (compared with)" if g.privileged else g.name,
                b.count(g.extremes.rows),
                b.count(round(flips * g.extremes.rows)) if flips == flips else "undefined",
                b.number(g.extremes.acd.value),
                b.number(g.extremes.largest),
            ]
        )
    heads = ["group", b.right("people"), b.right("whose label changes")]
    heads += [b.right("mean cost (ACD)"), b.right("largest cost")]
    said = [f"{g.name}: {g.sentence}" for g in r.groups if g.sentence]
    return [
        b.heading(r.attribute.title),
        b.table(f"People by {r.attribute.title}", heads, rows),
        *b.notes([*said, *r.notes]),
    ]


# ---------------------------------------------------------------------- charts


def histogram_chart(report: EcdReport) -> b.Block:
    """Return the distribution of counterfactual discrimination per group, shares on a log axis."""
    values = [g.extremes.values for g in report.groups]
    every = np.concatenate(values)
    low, high = float(every.min()), float(every.max())
    if high - low < 1e-6:
        low, high = low - 0.01, high + 0.01
    edges = np.linspace(low, high, 51)
    ends = (float(np.log10(LEAST)), 0.0)
    marks = [b.line([0, 0], ends, "soft", wide=1, dashes="3 3")] if low < 0 < high else []
    for i, (g, result) in enumerate(zip(report.groups, values, strict=True)):
        share = np.histogram(result, edges)[0] / result.size
        y = np.log10(np.maximum(share, LEAST))
        said = f"{g.name}: from {result.min() + 0.0:.3f} to {result.max() + 0.0:.3f}"
        marks.append(
            b.line(np.repeat(edges, 2)[1:-1], np.repeat(y, 2), _tone(i), wide=1.6, said=said)
        )
    ticks = {float(np.log10(s)): w for s, w in
             ((1e-5, "0.001 %"), (1e-4, "0.01 %"), (1e-3, "0.1 %"), (1e-2, "1 %"), (0.1, "10 %"),
              (1.0, "100 %"))}  # fmt: skip
    return b.xy(
        f"How the cost is distributed, by {report.attribute.title}",
        marks,
        alt="; ".join(
            f"{g.name}: mean {g.extremes.acd.value + 0.0:.3f}, largest {g.extremes.largest + 0.0:.3f}"
            for g in report.groups[:_MOST_NAMED]
        ),
        x=b.axis("counterfactual discrimination (CD)", (low, high)),
        y=b.axis("share of the group, logarithmic", ends, ticks),
        numbers=b.table(
            f"Quantiles of CD by {report.attribute.title}",
            ["group", *(b.right(q) for q in ("least", "quarter", "median", "three quarters", "largest"))],
            [
                [g.name, *(b.number(q) for q in np.quantile(v, (0, 0.25, 0.5, 0.75, 1)))]
                for g, v in zip(report.groups, values, strict=True)
            ],
        ),
        legend=_legend(report),
        height=300.0,
    )  # fmt: skip


def qq_chart(group: GroupReport) -> b.Block | None:
    """Return the largest values against the fitted tail, with a pointwise 95 % envelope."""
    if group.diagnosis is None or group.diagnosis.goodness is None:
        return None
    check = group.diagnosis.goodness
    expected, observed, low, high = check.model, check.observed, check.low, check.high
    outside = (observed < low) | (observed > high)
    marks = [
        b.band(expected, low, high, "dot"),
        b.line(expected, expected, "soft", wide=1, dashes="4 3"),
    ]
    marks += [
        b.point(
            x,
            y,
            "violated" if out else "dot",
            shape="small",
            said=f"expected {x:.4g}, observed {y:.4g}",
        )
        for x, y, out in zip(expected, observed, outside, strict=True)
    ]
    return b.xy(
        f"{group.name}: the largest values against the fitted tail",
        marks,
        alt=f"{int(outside.sum())} of {len(observed)} values leave the 95 % envelope.",
        x=b.axis("expected by the fitted tail", span_of(expected, least=1e-6)),
        y=b.axis("observed", span_of(observed, low, high, least=1e-6)),
        note="Red where a value by itself leaves the 95 % envelope.",
        numbers=b.table(
            f"The largest values of {group.name}",
            [b.right("expected"), b.right("observed"), b.right("envelope")],
            [
                [b.number(x, 4), b.number(y, 4), b.span(a, z, 4)]
                for x, y, a, z in zip(expected, observed, low, high, strict=True)
            ],
        ),
        height=280.0,
    )


def levels_chart(report: EcdReport) -> b.Block | None:
    """Return return levels over the number of queries, with bands, and what was observed."""
    curves = [(i, g) for i, g in enumerate(report.groups) if len(g.levels)]
    if not curves:
        return None
    horizons = np.unique(np.concatenate([g.levels["horizon"] for _, g in curves]))
    # what was observed begins with the threshold
    begin = min(1 / g.extremes.fit.rate for _, g in curves if g.extremes.fit is not None)
    first, last = np.log10([max(2.0, min(begin, horizons[0])), horizons[-1]]).tolist()
    decades = [10.0**d for d in range(int(np.ceil(first)), int(np.floor(last)) + 1)]
    ticks = decades if len(decades) > 1 else horizons.tolist()
    marks, rows = [], []
    for i, g in curves:
        grid, level, low, high = g.levels.to_numpy().T
        log, tone = np.log10(grid), _tone(i)
        known = np.isfinite(low) & np.isfinite(high)
        marks.append(b.band(log[known], low[known], high[known], tone, shade=0.13))
        inside = grid <= (g.horizon if g.horizon == g.horizon else np.inf)
        marks.append(b.line(log[inside], level[inside], tone, said=f"{g.name}: return level"))
        beyond = np.flatnonzero(~inside)
        if beyond.size:
            tail = slice(max(0, int(beyond[0]) - 1), None)
            marks.append(b.line(log[tail], level[tail], tone, dashes="5 4"))
        assert g.extremes.fit is not None
        order = np.arange(1, g.extremes.fit.k + 1)
        for m, value in zip(g.extremes.rows / (order - 0.5), g.extremes.values, strict=False):
            if first <= np.log10(m) <= last:
                said = f"{g.name}: {value:.4g} observed"
                marks.append(
                    b.point(float(np.log10(m)), float(value), tone, shape="small", said=said)
                )
        rows += [
            [g.name, b.count(round(m)), b.estimate(v, a, z, 4)]
            for m, v, a, z in zip(grid, level, low, high, strict=True)
        ]
    heads = ["group", b.right("queries"), b.right("level")]
    return b.xy(
        f"What is to be expected in so many queries, by {report.attribute.title}",
        marks,
        alt="; ".join(
            f"{g.name}: level {g.levels['level'].iloc[-1]:.3f} once in "
            f"{g.levels['horizon'].iloc[-1]:,.0f} queries"
            for _, g in curves[:_MOST_NAMED]
        ),
        x=b.axis(
            "queries (one more person asked about)",
            (first, last),
            {float(np.log10(m)): f"{m:,.0f}" for m in ticks},
        ),
        y=b.axis("return level", span_of(*(g.levels.iloc[:, 1:] for _, g in curves), least=1e-6)),
        numbers=b.table("Return levels", heads, rows),
        legend=_legend(report),
        note="Points are observed, bands are intervals; dashed lines lie beyond the horizon.",
        height=320.0,
    )


def _tone(i: int) -> str:
    return TONES[i % len(TONES)]


def _legend(report: EcdReport) -> list[tuple[str, str]]:
    return [(_tone(i), g.name) for i, g in enumerate(report.groups[:_MOST_NAMED])]


def _charts(r: EcdReport) -> list[b.Block]:
    charts = [histogram_chart(r), levels_chart(r)]
    charts += [qq_chart(g) for g in r.groups]
    return [chart for chart in charts if chart is not None]


# ---------------------------------------------------------------------- tables


def _estimate(e: Estimate) -> b.Block:
    return b.estimate(e.value, e.low, e.high)


def _tables(r: EcdReport) -> list[b.Block]:
    others = [g for g in r.groups if not g.privileged]
    privileged = " & ".join(map(str, r.settings["privileged"]))
    horizons = r.settings["horizons"]
    beyond: list[tuple[str, Any]] = [("ACD", "acd"), ("CVaR", "cvar")]
    beyond += [(f"level of {m:,} queries in both", m) for m in horizons]
    beyond.append(("ECD, as the paper has it (locations)", "ecd"))
    rows = [
        [g.name, name, _estimate(r.differences[g.group][key])]
        for g in others
        for name, key in beyond
    ]
    said = [f"Tail of {g.name}: {g.evidence}." for g in r.groups if g.evidence]
    if r.groups[0].diagnosis is not None or said:
        said += [
            f"Horizon of {g.name}: {g.diagnosis.horizon_reason}."
            for g in r.groups
            if g.diagnosis is not None
        ]
    return [
        b.heading(r.attribute.title),
        _group_table(r),
        *(b.soft(sentence) for sentence in said),
        b.table(f"More than {privileged}", ["group", "what", b.right("difference")], rows),
        *_worst(r),
        *_found(r),
    ]


def _group_table(r: EcdReport) -> b.Block:
    """Return a line for each quantity and group."""
    share = f"{100 * (1 - r.settings['cvar_quantile']):.3g} %"
    rows: list[list[b.Cell]] = []

    def line(name: str, cells: list[b.Cell]) -> None:
        rows.extend([name, g.name, cell] for g, cell in zip(r.groups, cells, strict=True))

    line("ACD: mean of CD", [_estimate(g.extremes.acd) for g in r.groups])
    line(
        f"CVaR: mean of the largest {share} (ours)", [_estimate(g.extremes.cvar) for g in r.groups]
    )
    line("share whose label changes", [_estimate(g.flip_rate) for g in r.groups])
    for m in r.settings["horizons"]:
        line(
            f"level exceeded once in {m:,} queries",
            [_estimate(g.extremes.levels[m]) for g in r.groups],
        )
    line("tail", [g.tail for g in r.groups])
    line("horizon (queries)", [queries(g.horizon) for g in r.groups])
    line("largest observed", [_largest(g) for g in r.groups])
    if any(g.exact for g in r.groups):
        line(
            "exact maximum (linear-logistic)",
            [b.number(g.exact.anywhere) if g.exact else "" for g in r.groups],
        )
        line("exact maximum on the data's domain", [_exact(g) for g in r.groups])
    if r.found is not None:
        line("largest found by search", [b.number(r.found.largest(g.group)) for g in r.groups])
    line("location, as the paper fits it", [_estimate(g.extremes.location) for g in r.groups])
    note = f"Small numbers are {100 * r.settings['confidence']:g} % intervals."
    heads = ["what", "group", b.right("value")]
    return b.table(f"Group by group, {r.attribute.title}", heads, rows, note=note)


def _largest(g: GroupReport) -> b.Cell:
    cell = b.number(g.extremes.largest)
    many = g.extremes.attained > 1 and g.extremes.largest > 1e-9
    return cell | ({"small": f"{g.extremes.attained:,} rows"} if many else {})


def _exact(g: GroupReport) -> b.Cell:
    if g.exact is None:
        return ""
    cell = b.number(g.exact.on_domain)
    return cell if g.exact.attained else cell | {"text": f"at most {cell['text']}"}


def _worst(r: EcdReport) -> list[b.Block]:
    if not r.worst["cd"].any():  # nobody is the worst where no score moves
        return []
    traits = list(r.worst.columns[7:])
    heads: list[b.Cell] = [
        "row",
        "group",
        "compared with",
        b.right("score"),
        b.right("there"),
    ]
    heads += [b.right("CD"), "label changes", "traits"]
    rows = [
        [
            f"{p['row']:,}",
            str(p["group"]),
            str(p["counterfactual"]),
            b.number(p["score"]),
            b.number(p["counterfactual_score"]),
            b.number(p["cd"]),
            cell(p["label_changes"]),
            b.word(", ".join(f"{c} = {cell(p[c])}" for c in traits), "soft"),
        ]
        for p in r.worst.to_dict("records")
    ]
    note = "Of their traits, those that go most with CD come first."
    return [b.table(f"The {len(rows)} worst individuals", heads, rows, note=note)]


def _found(r: EcdReport) -> list[b.Block]:
    if r.found is None:
        return []
    heads = ["from row", "group", b.right("CD there"), b.right("CD found"), "changed"]
    rows = [
        [
            f"{p['start']:,}",
            str(p["group"]),
            b.number(p["start_cd"]),
            b.number(p["cd"]),
            str(p["changes"] or "nothing better was found"),
        ]
        for p in r.found.frame().head(10).to_dict("records")
    ]
    note = (
        f"{r.found.queries:,} rows scored in {r.found.calls:,} calls, from the worst individuals on, "
        f"inside the data's domain. Such a row is a question put to the model, not a person."
    )
    return [b.table("Found by search", heads, rows, note=note)]


def _explained(reports: Sequence[EcdReport]) -> b.Block:
    companions = any(r.attribute.companions for r in reports)
    return b.text(
        "Every row was scored as it is and as a member of the other group. CD is the score in the "
        "other group minus the row's own score: positive where its own group costs a person. Only "
        f"the attribute was changed{' (and the companions declared)' if companions else ''}; what "
        "goes with it in life (proxies) was not."
    )


def _facts(r: EcdReport, title: str | None) -> list[tuple[str, str]]:
    given = r.settings
    return [
        ("Data", title or ""),
        ("Rows", f"{r.pairs.codes.size:,}"),
        ("Model calls", f"{r.calls:,}"),
        ("Intervals", f"{100 * given['confidence']:g} %"),
        ("Horizons", ", ".join(f"{m:,}" for m in given["horizons"])),
        ("Resamples", f"{given['resamples']:,}" if given.get("resamples") else ""),
        ("Seed", str(given.get("random_state", ""))),
    ]


def cell(value: Any) -> str:
    """Write a value of a table for people.

    Examples
    --------
    >>> cell(True), cell(0.123456), cell(float("nan"))
    ('yes', '0.1235', 'missing')
    """
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if value is None or value != value:
        return "missing"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def queries(value: float, none: str = "none") -> str:
    """Write the number of queries up to which levels may be read.

    Examples
    --------
    >>> queries(float("inf")), queries(1200.0)
    ('unlimited', '1,200')
    """
    if value != value:
        return none
    return "unlimited" if value == float("inf") else f"{value:,.0f}"
