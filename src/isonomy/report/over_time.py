"""The page of an audit over time: what has moved, the people of every period, gaps over periods."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from isonomy._shown import SUMMARIES, Summary
from isonomy.audit import OverTime
from isonomy.audit.moves import Move
from isonomy.audit.period_gaps import PeriodGap
from isonomy.metrics import RATES, get_metric
from isonomy.report import blocks as b
from isonomy.report.audit import LIMITS, group_facts
from isonomy.report.svg import span_of
from isonomy.stats.written import write_p_value

TEST = (
    "The test: after every period the last 1, 2, 4, 8 ... periods are compared with all before them, "
    "both sides added up with the weights of Mantel and Haenszel, so that rates may rise and fall "
    "together and groups grow or shrink. Each comparison spends a share of the level (alpha spending, "
    "Lan and DeMets 1983), and all shares there can ever be add up to one; all gaps share it. Limits are exact "
    "(Clopper and Pearson), combined by the method of Zou and Donner 2008."
)
_LIMITS = (
    "That a gap is not said to have moved does not show that it is the same.",
    (
        "People who occur in several periods, or in clusters, carry less evidence than the test "
        "believes."
    ),
    (
        "A gap that moves need not be the model's doing: other people may have come, or other labels "
        "been given."
    ),
    LIMITS[1],
)
_MOST_CHARTS = 3
_MOST_SENTENCES = 4
_MOST_GROUPS = 7
_MOST_TICKS = 4  # so many fit on a phone


@SUMMARIES.register("over_time")
def summarize_over_time(
    found: OverTime, *, title: str | None = None, command: str | None = None
) -> Summary:
    """Return the summary of an audit over time."""
    attributes = found.counts.attributes
    moved = {(m.attribute, name): m for m in found.moved() for name in m.metrics}
    return b.summary(
        "over_time",
        f"Audit of {title}, over time" if title else "Audit over time",
        verdict=_verdict(found),
        people=[block for name in attributes for block in _people(found, name)],
        picture=[chart for name in attributes for chart in _charts(found, name, moved)],
        table=[
            *b.notes(found.notes),
            *([_moves(found.moved())] if moved else []),
            *(_gaps(found, name, moved) for name in attributes),
            b.soft("Every gap in every period: --json and frame()."),
        ],
        method=[b.facts(_facts(found, title)), b.text(TEST)],
        limits=_LIMITS,
        command=command,
    )


def _verdict(found: OverTime) -> b.Block:
    moved, many = found.moved(), len(found.periods)
    tested = [m for m in found.moves if m.moved is not None]
    if moved:
        head = f"{len(moved)} of {len(tested)} gaps {'has' if len(moved) == 1 else 'have'} moved."
    elif tested:
        head = f"No gap is shown to have moved in {many} periods."
    else:
        head = "No gap could be tested: too few people in every period."
    tone = "violated" if moved else "" if tested else "undefined"
    tiles = [
        b.tile(f"{many:,}", f"periods, {found.periods[0]} to {found.periods[-1]}"),
        b.tile(f"{len(moved):,}", "gaps moved", "violated" if moved else ""),
        b.tile(f"{len(tested):,}", "gaps tested"),
    ]
    said = [s for s in found.sentences() if not s.startswith("No gap")]
    if (more := len(moved) - _MOST_SENTENCES) > 0:
        left = f"{more} more {'has' if more == 1 else 'have'} moved: see the numbers."
        said[_MOST_SENTENCES : len(moved)] = [left]
    return b.verdict(tone, head, said, tiles)


def _people(found: OverTime, attribute: str) -> list[b.Block]:
    """Return the groups: people, those of the first and the last period, and who was decided for."""
    counts = replace(found.counts.select(attribute), w=None, w2=None)
    rate = RATES["selection_rate"]
    rows, hits = rate.denominator(counts), rate.numerator(counts)  # [period, group]
    first, last = found.periods[0], found.periods[-1]
    heads: list[b.Cell] = [
        "group", b.right("people"), b.right(f"in {first}"), b.right(f"in {last}"),
        b.right("favourable decision"),
    ]  # fmt: skip
    cells = [
        [
            label,
            *(b.count(n) for n in (rows[:, k].sum(), rows[0, k], rows[-1, k], hits[:, k].sum())),
        ]
        for k, label in enumerate(counts.labels())
    ]
    made = [b.heading(attribute), b.table(f"Groups of {attribute}", heads, cells)]
    places = {period: k for k, period in enumerate(found.periods)}
    for since in sorted({places[m.since] for m in found.moved() if m.attribute == attribute}):
        later = rows[since:].sum(axis=0).astype(int)
        named = [f"{n:,} {label}" for label, n in zip(counts.labels(), later, strict=True)]
        if (more := len(named) - _MOST_GROUPS) > 0:
            named[_MOST_GROUPS:] = [f"{more:,} more groups"]
        made.append(
            b.text(
                f"Since {found.periods[since]}, {later.sum():,} people were decided on: {', '.join(named)}."
            )
        )
    return made


# ---------------------------------------------------------------------- charts


def _by_metric(found: OverTime, attribute: str) -> dict[str, list[PeriodGap]]:
    out: dict[str, list[PeriodGap]] = {}
    for gap in found.gaps:
        if gap.attribute == attribute:
            out.setdefault(gap.name, []).append(gap)
    return out


def _charts(found: OverTime, attribute: str, moved: dict[tuple[str, str], Move]) -> list[b.Block]:
    """Return a picture of each gap that moved, else of the first."""
    gaps = _by_metric(found, attribute)
    names = [name for name in gaps if (attribute, name) in moved] or [*gaps][:1]
    return [_chart(gaps[n], moved.get((attribute, n))) for n in names[:_MOST_CHARTS]]


def _chart(gaps: Sequence[PeriodGap], move: Move | None) -> b.Block:
    first, size = gaps[0], len(gaps)
    name, ideal = first.name.replace("_", " "), 1.0 if get_metric(first.name).goal == "one" else 0.0
    values, low, high = np.array([(g.value, g.low, g.high) for g in gaps]).T
    drawn = np.isfinite(values)
    far = 2 * float(np.max(values[drawn], initial=1.0))  # an upper limit of a ratio may be anything
    ends = (-0.5, size - 0.5)
    marks = []
    if first.accept_low is not None and first.accept_high is not None:
        under, over = ([a, a] for a in (first.accept_low, first.accept_high))
        marks.append(b.band(ends, under, over, "within", shade=0.14))
    heights = span_of(values, low, np.minimum(high, far), ideal)
    marks.append(b.line(ends, [ideal, ideal], "soft", wide=1, dashes="3 3"))
    if move is not None:
        at = [g.period for g in gaps].index(move.since) - 0.5
        marks += [
            b.line([at, at], heights, "violated", wide=1.5, dashes="6 3"),
            b.words(
                at,
                heights[1],
                f"moved: {move.since}",
                corner="top right" if at > size / 2 else "top left",
            ),
        ]
    runs = np.split(np.arange(size), np.flatnonzero(np.diff(drawn)) + 1)
    marks += [
        b.line(run, values[run], "dot", wide=1) for run in runs if drawn[run].all() and len(run) > 1
    ]
    marks += [
        b.point(
            k, g.value, "thin" if g.reason else "dot", shape="small", up=(g.low, g.high),
            said=f"{g.period}: {b.number(g.value)['text']} ({b.span(g.low, g.high)})",
        )
        for k, g in enumerate(gaps) if drawn[k]
    ]  # fmt: skip
    step = -(-size // _MOST_TICKS)
    since = f" It has moved since {move.since}." if move else ""
    return b.xy(
        f"{name.capitalize()} by {first.attribute}: {first.comparison}",
        marks,
        alt=f"{size} periods: {b.number(first.value)['text']} in {first.period}, "
        f"{b.number(gaps[-1].value)['text']} in {gaps[-1].period}.{since}",
        x=b.axis("period", ends, {float(k): str(gaps[k].period) for k in range(0, size, step)}),
        y=b.axis(name, heights),
        note="Bars are intervals, each for one period; the band is the accepted range, the dashed line "
        "equal treatment." if first.accept_low is not None else
        "Bars are intervals, each for one period; the dashed line is equal treatment.",
        numbers=b.table(
            f"{name.capitalize()} by {first.attribute}, period by period",
            ["period", b.right("value"), b.right("interval"), b.right("fewest rows"), "because"],
            [
                [
                    str(g.period), b.number(g.value), b.span(g.low, g.high), b.count(g.rows),
                    b.word(g.reason or "", "soft"),
                ]
                for g in gaps
            ],
        ),
        height=280.0,
    )  # fmt: skip


# ---------------------------------------------------------------------- tables


def _moves(moved: Sequence[Move]) -> b.Block:
    """Return what has moved, from when on, and by how much."""
    numbers = ["before", "after", "move", "p"]
    return b.table(
        "What has moved",
        ["gap", "since", "said after", *map(b.right, numbers)],
        [
            [
                b.word(f"{m.what} by {m.attribute}", small=m.groups or ""),
                str(m.since), str(m.said),
                b.number(m.before), b.number(m.after),
                b.estimate(m.after / m.before if m.ratio else m.after - m.before, m.low, m.high),
                {"text": write_p_value(m.p_value or 0.0), "value": m.p_value},
            ]
            for m in moved
        ],
        note="Since is the best guess of where the gap became another; said after, the period from which on "
        "it could be said. A ratio's move is the factor. Limits and p hold for all periods and gaps together.",
    )  # fmt: skip


def _gaps(found: OverTime, attribute: str, moved: dict[tuple[str, str], Move]) -> b.Block:
    tested = {n: m for m in found.moves if m.attribute == attribute for n in m.metrics}
    gaps = _by_metric(found, attribute)
    first, last = found.periods[0], found.periods[-1]
    rows = []
    for name, every in gaps.items():
        if move := moved.get((attribute, name)):
            state = b.word(f"moved since {move.since}", "violated")
        elif name in tested and tested[name].moved is not None:
            state = b.word("not shown to have moved", "soft")
        else:
            state = b.word(
                "not tested", "thin", why=tested[name].reason or "" if name in tested else ""
            )
        cells = [
            b.estimate(g.value, g.low, g.high, why=g.reason or "") for g in (every[0], every[-1])
        ]
        rows.append([name.replace("_", " "), *cells, state])
    comparison = next(iter(gaps.values()))[0].comparison
    heads: list[b.Cell] = ["metric", b.right(f"{first}"), b.right(f"{last}"), "moved"]
    return b.table(
        f"Gaps by {attribute} in the first and the last period: {comparison}", heads, rows
    )


def _facts(found: OverTime, title: str | None) -> list[tuple[str, str]]:
    level = found.settings["confidence"]
    return [
        ("Data", title or ""),
        *group_facts(found.counts),
        ("Periods", f"{len(found.periods):,}, {found.periods[0]} to {found.periods[-1]}"),
        ("Intervals", f"{100 * level:g} %, each for one gap in one period"),
        ("False alarms", f"at most {1 - level:.2g}, over all periods and gaps together"),
    ]
