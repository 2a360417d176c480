"""The page of a trade-off, and the plane of bias and performance that benchmarks share."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from isonomy._shown import SUMMARIES, Summary
from isonomy.benchmark.words import percent
from isonomy.report import blocks as b
from isonomy.report.svg import span_of
from isonomy.tradeoff import Baseline, Frontier, TradeOff

TONES = {
    "win-win": "within",
    "good": "within",
    "poor": "thin",
    "inverted": "thin",
    "lose-lose": "violated",
}
"""The tone of a region."""
REGIONS = {
    "win-win": "better on both goals",
    "good": "worth its price: it beats blind mutation of predictions",
    "poor": "not worth its price: blind mutation of predictions does as well",
    "inverted": "it performs better, at the price of more bias",
    "lose-lose": "worse on both goals",
}
"""The regions, in words."""
LIMITS = (
    (
        "The baseline says what overwriting predictions blindly buys on these rows; it does not say "
        "whether a price is fair."
    ),
    (
        "A smaller gap is not justice: labels may be biased, and each metric is one of several that "
        "cannot all be met."
    ),
    "Intervals come from resampling these rows: they do not hold the chance in training a model.",
)
WHO = {
    "statistical_parity_difference": "people",
    "equal_opportunity_difference": "people with a favourable label",
    "false_positive_rate_difference": "people with an unfavourable label",
}
"""Whose rates a gap is the difference of."""
_LINES = ("soft 2 3", "soft 7 3")
_MOST_SAID = 6


def plane_chart(
    title: str,
    baseline: Baseline,
    points: Sequence[tuple[str, float, float, str | None]],
    *,
    alt: str,
    frontier: Frontier | None = None,
    intervals: Sequence[tuple[tuple[float, float], tuple[float, float]]] = (),
    others: Mapping[str, Baseline] | None = None,
    titles: Sequence[str] = (),
    bold: Sequence[str] = (),
    across: str = "",
    height: float = 380.0,
    note: str = "",
) -> b.Block:
    """Return the plane of bias and performance as a chart.

    Parameters
    ----------
    title, alt : str
    baseline : Baseline
        Drawn as a red line.
    points : sequence of (label, performance, bias, region)
        Methods; a point beyond the frame is drawn on its border.
    frontier : Frontier, optional
        The second baseline, dashed.
    intervals : sequence of (performance interval, bias interval), optional
        One cross per point.
    others : mapping of name to Baseline, optional
        Further baselines, in grey.
    titles : sequence of str, optional
        What a point says; the labels by default.
    bold : sequence of str
        Labels to stress.
    across : str, optional
        The words of the horizontal axis.
    height : float
        Of the plane, in pixels.
    note : str
        How to read it.

    Examples
    --------
    >>> from isonomy.metrics import Counts
    >>> y, groups = [0, 1, 1, 0] * 25, list("abbb" * 25)
    >>> counts = Counts.from_labels(y, y, sensitive_features=groups, privileged="b")
    >>> gap = "statistical_parity_difference"
    >>> line = Baseline.from_counts(counts, performance="accuracy", fairness=gap)
    >>> made = plane_chart("A plane", line, [("mine", 0.9, 0.1, "good")], alt="One point.")
    >>> [mark["label"] for mark in made["marks"] if mark["mark"] == "point"]
    ['original', 'mine']
    """
    x, y = _frame(baseline, points, frontier)
    first = float(baseline.bias[0]), float(baseline.performance[0])
    marks = _regions(baseline, x, y) if baseline.reason is None else []
    legend = [("violated", "mutation baseline (majority label)")]
    for (name, other), look in zip((others or {}).items(), _LINES, strict=False):
        dashes = look.partition(" ")[2]
        said = f"mutation into {name} labels"
        marks.append(
            b.line(other.bias, other.performance, "soft", wide=1, dashes=dashes, said=said)
        )
        legend.append((look, said))
    if frontier is not None:
        reach_y, reach_x = frontier.reach()
        said = "group thresholds on the same model"
        marks.append(b.line(reach_x, reach_y, "dot", wide=1.5, dashes="5 3", said=said))
        legend.append(("dot 5 3", said))
    marks.append(b.line(baseline.bias, baseline.performance, "violated", said="mutation baseline"))
    said = f"the original model: {first[1]:.3f} at bias {first[0]:.3f}"
    marks.append(b.point(*first, "ink", shape="square", said=said, label="original"))
    for k, (label, performance, bias, region) in enumerate(points):
        if np.isfinite([performance, bias]).all():
            name = titles[k] if titles else label
            up, sideways = intervals[k] if k < len(intervals) else (None, None)
            marks.append(
                b.point(
                    bias, performance, TONES.get(region or "", "undefined"), label=label,
                    bold=label in bold, up=up, across=sideways,
                    said=f"{name}: {region or 'no region'}, {performance:.3f} at bias {bias:.3f}",
                )
            )  # fmt: skip
    return b.xy(
        title, marks, alt=alt, height=height, legend=legend, note=note,
        x=b.axis(across or f"bias: {baseline.fairness_metric.replace('_', ' ')}", x),
        y=b.axis(baseline.performance_metric.replace("_", " "), y),
    )  # fmt: skip


def _frame(
    line: Baseline,
    points: Sequence[tuple[str, float, float, str | None]],
    frontier: Frontier | None,
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Frame the baselines and most of the points; a few far ones must not squeeze the rest."""
    ys, xs = (np.array([p[k] for p in points], dtype=np.float64) for k in (1, 2))
    known = np.isfinite(xs) & np.isfinite(ys)
    width, height = max(np.ptp(line.bias), 1e-3), max(np.ptp(line.performance), 1e-3)
    far = line.bias[0] + 0.8 * width
    turn = 1.0 if line.larger_is_better else -1.0
    near = turn * ys >= line.gain.min() - 0.15 * height
    reach_y, reach_x = frontier.reach() if frontier is not None else (line.performance, line.bias)
    end = far if (xs[known] > far).any() else line.bias[0]
    return (
        span_of(line.bias, xs[known & (xs <= far)], reach_x[reach_x <= far], 0.0, end),
        span_of(line.performance, ys[known & near], reach_y),
    )


def _regions(line: Baseline, across: tuple[float, float], up: tuple[float, float]) -> list[b.Block]:
    """Tint win-win, lose-lose and good, and name the regions."""
    best, worst = up[::-1] if line.larger_is_better else up
    x, y = float(line.bias[0]), float(line.performance[0])
    left, right = across
    good_x = [*line.bias, left, left, x]
    good_y = [*line.performance, float(line.performance[-1]), y, y]
    high, low = ("top", "bottom") if line.larger_is_better else ("bottom", "top")
    named = [
        b.words(left, best, "win-win", corner=high),
        b.words(left, y, "good", corner=high),
        b.words(x, worst, "poor", corner=f"{low} right"),
    ]
    if right - x > 0.08 * (right - left):
        named += [
            b.words(right, best, "inverted", corner=f"{high} right"),
            # a line above "poor", which it would meet on a phone
            b.words(right, worst + 0.06 * (best - worst), "lose-lose", corner=f"{low} right"),
        ]
    return [
        b.area([left, x, x, left], [y, y, best, best], "within", shade=0.1),
        b.area([x, right, right, x], [y, y, worst, worst], "violated", shade=0.1),
        b.area(good_x, good_y, "within", shade=0.06),
        *named,
    ]


def area_chart(verdict: TradeOff) -> b.Block:
    """Return a good point, rescaled, and the area between it and the baseline, as a chart."""
    scaled = verdict.baseline.normalise(verdict.performance, verdict.bias)
    x, y = float(scaled.x), float(scaled.y)
    bx, by = scaled.baseline_x, scaled.baseline_y
    marks = []
    if verdict.region == "good":
        rising = bx[::-1], by[::-1]
        # where the horizontal first meets the line, which need not fall everywhere
        steps = np.linspace(x, 1.0, 2000)
        beside = float(steps[np.argmax(np.interp(steps, *rising) >= y)])
        below = float(np.interp(x, *rising))
        inside = (rising[0] > x) & (rising[0] < beside)
        corners_x = [x, *rising[0][inside], beside, x]
        marks.append(b.area(corners_x, [below, *rising[1][inside], y, y], "dot", shade=0.35))
    area = f", area {verdict.area:.4f}" if verdict.area == verdict.area else ""
    said = f"{verdict.region or 'no region'}{area}"
    marks += [b.line(bx, by, "violated"), b.point(x, y, "within", label=said, said=said)]
    return b.xy(
        "Area between the method and the baseline", marks, alt=f"{said}, both goals rescaled.",
        x=b.axis("bias (rescaled)", span_of(bx, x, 0.0, 1.0)),
        y=b.axis("performance (rescaled)", span_of(by, y, 0.0, 1.0)),
    )  # fmt: skip


# ---------------------------------------------------------------------- the page

Verdicts = Sequence[tuple[str, str, TradeOff]]


@SUMMARIES.register("tradeoff")
def summarize_tradeoff(
    results: "TradeOff | Verdicts",
    *,
    title: str | None = None,
    command: str | None = None,
    notes: Iterable[str] = (),
) -> Summary:
    """Return the summary of a verdict, or of several as (attribute, method, verdict)."""
    rows = [("", "the method", results)] if isinstance(results, TradeOff) else [*results]
    picture: list[b.Block] = []
    table: list[b.Block] = []
    for key in dict.fromkeys((a, v.baseline.fairness_metric) for a, _, v in rows):
        some = [(m, v) for a, m, v in rows if (a, v.baseline.fairness_metric) == key]
        picture.append(_plane(key, some))
        table += _tables(key, some)
    return b.summary(
        "tradeoff",
        f"Trade-off: {title}" if title else "Trade-off",
        verdict=_verdict(rows),
        people=[*map(b.text, _people(rows)), *b.notes(notes)],
        picture=picture,
        table=table,
        method=[b.facts(_facts(rows[0][2], title))],
        limits=LIMITS,
        command=command,
    )


def _verdict(rows: Verdicts) -> b.Block:
    worth = [(m, v) for _, m, v in rows if v.region in ("good", "win-win") and not v.constant]
    sentences = [_in_words(a, m, v) for a, m, v in rows[:_MOST_SAID]]
    if len(rows) > _MOST_SAID:
        sentences.append(f"{len(rows) - _MOST_SAID} more are in the table.")
    tally = {
        word: sum((v.region or "none") == word for _, _, v in rows) for word in [*TONES, "none"]
    }
    tiles = [b.tile(str(n), word, TONES.get(word, "undefined")) for word, n in tally.items() if n]
    judged = [v for _, _, v in rows if v.region]
    if not judged:
        headline, tone = "No verdict: the baseline gives no regions here.", "undefined"
    elif worth:
        names = ", ".join(dict.fromkeys(m for m, _ in worth))
        headline = f"Worth its price on these rows: {names}."
        tone = "within"
    else:
        headline, tone = "Nothing here was worth its price.", "violated"
    return b.verdict(tone, headline, sentences, tiles)


def _in_words(attribute: str, method: str, v: TradeOff) -> str:
    sure = ""
    if v.region in v.probability:
        sure = f", with a probability of {percent(v.probability[v.region]).replace('%', ' %')}"
    what = f"{v.region}{sure} ({REGIONS[v.region]})" if v.region else f"no region ({v.reason})"
    line = v.baseline
    by = f" by {attribute}" if attribute else ""
    return (
        f"{method.capitalize() if not attribute else method}: {what}. The bias{by} "
        f"({line.fairness_metric.replace('_', ' ')}) goes from {line.bias[0]:.3f} to {v.bias:.3f}, "
        f"{line.performance_metric.replace('_', ' ')} from {line.performance[0]:.3f} to "
        f"{v.performance:.3f}."
    )


def _people(rows: Verdicts) -> list[str]:
    """Say how many people of a group a gap is about, where it is a difference of their rates."""
    said = []
    for attribute, method, v in rows[:_MOST_SAID]:
        if who := WHO.get(v.baseline.fairness_metric):
            by = f" of {attribute}" if attribute else ""
            before, after = (abs(1000 * bias) for bias in (v.baseline.bias[0], v.bias))
            said.append(
                f"Of every 1,000 {who} in each group{by}, {before:,.0f} more of one group than of "
                f"another receive the favourable decision with the original model; with {method}, "
                f"{after:,.0f}."
            )
    return said


def _plane(key: tuple[str, str], rows: Sequence[tuple[str, TradeOff]]) -> b.Block:
    first = rows[0][1]
    name = key[1].replace("_", " ")
    return plane_chart(
        f"{key[0]}: {name}" if key[0] else name.capitalize(),
        first.baseline,
        [(m, v.performance, v.bias, v.region) for m, v in rows],
        alt="; ".join(f"{m}: {v.region or 'no region'}" for m, v in rows),
        frontier=first.frontier,
        intervals=[(v.performance_interval, v.bias_interval) for _, v in rows],
        note="The square is the original model. Better is up and to the left; bars are intervals, "
        "triangles lie beyond the frame.",
    )


def _tables(key: tuple[str, str], rows: Sequence[tuple[str, TradeOff]]) -> list[b.Block]:
    line = rows[0][1].baseline
    second = any(v.frontier is not None for _, v in rows)
    heads = [
        "method",
        b.right(line.performance_metric.replace("_", " ")),
        b.right("bias"),
        "region",
    ]
    heads += ["probability of each region", b.right("area")]
    cells: list[list[b.Cell]] = [
        ["original", b.number(line.performance[0], 4), b.number(line.bias[0], 4), "", "", ""]
    ]
    for name, v in rows:
        chances = [
            f"{word} {percent(p).replace('%', ' %')}" for word, p in v.probability.items() if p > 0
        ]
        cells.append(
            [
                name,
                b.estimate(v.performance, *v.performance_interval, 4),
                b.estimate(v.bias, *v.bias_interval, 4),
                b.word(
                    f"{v.region or 'none'}{' (constant)' if v.constant else ''}",
                    TONES.get(v.region or "", "undefined"),
                ),
                ", ".join(chances),
                b.estimate(v.area, *v.area_interval, 4) if v.area == v.area else "",
            ]
        )
    if second:
        heads.append(b.right("above the frontier"))
        cells[0].append("")
        for row, (_, v) in zip(cells[1:], rows, strict=True):
            row.append(b.number(v.above_frontier, 4))
    degrees = [
        [b.number(d, 2), b.number(y, 4), b.number(x, 4)]
        for d, y, x in zip(line.degrees, line.performance, line.bias, strict=True)
    ]
    named = f"{key[0]}: {key[1].replace('_', ' ')}" if key[0] else key[1].replace("_", " ")
    return [
        b.table(named, heads, cells),
        *b.notes(f"{m}: {note}" for m, v in rows for note in v.notes),
        b.more(
            f"The baseline, degree by degree ({line.strategy}, {line.method})",
            [
                b.table(
                    f"Baseline of {named}",
                    [
                        b.right("degree"),
                        b.right(line.performance_metric.replace("_", " ")),
                        b.right("bias"),
                    ],
                    degrees,
                )
            ],
        ),
    ]


def _facts(v: TradeOff, title: str | None) -> list[tuple[str, str]]:
    return [
        ("Data", title or ""),
        ("Judged against", "the original model's mutation baseline: what blindly overwriting predictions buys"),
        ("Second baseline", "group thresholds on the same scores" if v.frontier is not None else ""),
        ("Rule of the regions", v.rule),
        ("Intervals", f"{100 * v.confidence:g} %, {v.resamples:,} resamples" if v.resamples else ""),
    ]  # fmt: skip


@SUMMARIES.register("baseline")
def summarize_baseline(
    line: Baseline, *, title: str | None = None, command: str | None = None
) -> Summary:
    """Return the summary of a mutation baseline."""
    name = line.performance_metric.replace("_", " ")
    said = (
        f"The original model reaches {line.performance[0]:.3f} of {name} at a bias of "
        f"{line.bias[0]:.3f}; overwriting every prediction leaves {line.performance[-1]:.3f} at "
        f"{line.bias[-1]:.3f}."
    )
    rows = [
        [b.number(d, 2), b.number(y, 4), b.number(x, 4)]
        for d, y, x in zip(line.degrees, line.performance, line.bias, strict=True)
    ]
    heads = [b.right("degree"), b.right(name), b.right("bias")]
    return b.summary(
        "baseline",
        f"Mutation baseline: {title}" if title else "Mutation baseline",
        verdict=b.verdict("undefined" if line.reason else "", said),
        picture=[plane_chart("What blind mutation buys", line, [], alt=said)],
        table=[b.table("The baseline, degree by degree", heads, rows)],
        method=[b.facts([("Strategy", line.strategy), ("Method", line.method)])],
        limits=[*([f"No regions: {line.reason}."] if line.reason else []), *LIMITS[:2]],
        command=command,
    )
