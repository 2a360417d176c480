"""The page of several models: the plane of both goals, ranks, pairs, every metric."""

from collections.abc import Sequence

import numpy as np

from isonomy._shown import SUMMARIES, Summary
from isonomy.audit import ModelsAudit, Standing
from isonomy.audit.traits import CAVEAT, FEWEST_MODELS
from isonomy.report import blocks as b
from isonomy.report.audit import LIMITS, TONE
from isonomy.report.svg import span_of
from isonomy.stats.written import write_p_value


@SUMMARIES.register("models")
def summarize_models(
    found: ModelsAudit, *, title: str | None = None, command: str | None = None
) -> Summary:
    """Return the summary of an audit of several models."""
    people: list[b.Block] = []
    picture: list[b.Block] = []
    table: list[b.Block] = []
    for attribute in found.attributes:
        rows = [s for s in found.standings if s.attribute == attribute]
        people += _people(found, attribute)
        picture.append(_plane(found, attribute, rows))
        table += [b.heading(attribute), _standings(found, rows), *_pairs(found, attribute)]
        table += [*_traits(found, attribute), _every(found, attribute, rows)]
    if found.left_out:
        table += [
            b.heading("Left out"),
            b.items(f"{name}: {why}" for name, why in found.left_out.items()),
        ]
    return b.summary(
        "models",
        f"Models on {title}" if title else "Models",
        verdict=_verdict(found),
        people=people,
        picture=picture,
        table=[*b.notes(found.notes), *table],
        method=[b.facts(_facts(found, title))],
        limits=LIMITS,
        command=command,
    )


def _words(name: str) -> str:
    return name.replace("_", " ")


def _verdict(found: ModelsAudit) -> b.Block:
    bad = {s.model for s in found.standings if s.verdict == "violated"}
    within = {s.model for s in found.standings} - {
        s.model for s in found.standings if s.verdict != "within"
    }
    models = len(found.audits)
    fairness = _words(str(found.settings["fairness"]))
    said = [
        f"{attribute}: {sentence}" if len(found.attributes) > 1 else sentence
        for attribute in found.attributes
        for sentence in found.sentences(attribute)
    ]
    if bad:
        head = f"{len(bad)} of {models} models violate the limit of {fairness}."
        tone = "violated"
    elif len(within) == models:
        head, tone = f"All {models} models keep the limit of {fairness}.", "within"
    else:
        head = (
            f"No model is shown to violate the limit of {fairness}; not all are shown to keep it."
        )
        tone = "thin"
    tiles = [
        b.tile(str(n), word, TONE[word])
        for word in TONE
        if (n := sum(s.verdict == word for s in found.standings))
    ]
    return b.verdict(tone, head, said, tiles)


def _people(found: ModelsAudit, attribute: str) -> list[b.Block]:
    """Return the groups, and how many people each model would decide for."""
    first = next(iter(found.audits.values()))
    sizes = first.sizes[first.sizes["attribute"].eq(attribute)]
    shown, rest = first.telling_groups(attribute)
    rows = [
        [
            f"{s['group']} (privileged)" if s["privileged"] is True else str(s["group"]),
            b.count(s["rows"]),
            b.percent(s["share"]),
        ]
        for s in sizes[sizes["group"].isin(shown)].to_dict("records")
    ]
    return [
        b.table(
            f"Groups of {attribute}", ["group", b.right("rows"), b.right("share")], rows, note=rest
        )
    ]


def _plane(found: ModelsAudit, attribute: str, rows: Sequence[Standing]) -> b.Block:
    """Return bias against performance, numbered as in the table, and the front as a line."""
    performance, fairness = (_words(str(found.settings[n])) for n in ("performance", "fairness"))
    ends = [(s.bias_low, s.bias_high) for s in rows]
    marks = []
    front = sorted((s.bias, s.performance) for s in rows if s.front)
    if len(front) > 1:
        x, y = zip(*front, strict=True)
        said = "the Pareto front as measured"
        marks.append(b.line(x, y, "within", wide=1.5, dashes="5 3", said=said))
    for k, (s, bias) in enumerate(zip(rows, ends, strict=True), 1):
        if np.isfinite([s.bias, s.performance]).all():
            marks.append(
                b.point(
                    s.bias, s.performance, "within" if s.front else "dot", label=str(k),
                    across=bias, up=(s.performance_low, s.performance_high),
                    said=f"{k}. {s.model}: {s.performance:.3f} at bias {s.bias:.3f}",
                )
            )  # fmt: skip
    return b.xy(
        f"Models by {attribute}",
        marks,
        alt=f"{len(rows)} models; on the front as measured: "
        f"{', '.join(s.model for s in rows if s.front) or 'none'}. The table has their numbers.",
        x=b.axis(f"bias: {fairness}", span_of([s.bias for s in rows], ends, 0.0)),
        y=b.axis(
            performance,
            span_of([(s.performance, s.performance_low, s.performance_high) for s in rows]),
        ),
        legend=[("within 5 3", "Pareto front of what was measured")] if len(front) > 1 else [],
        note="Numbers are those of the table. Bars are intervals of single models; they do not say "
        "whether two models differ. Better is up and to the left.",
        height=400.0,
    )


def _ranked(rank: int, ends: tuple[int, int]) -> b.Block:
    cell = b.count(rank)
    return cell | ({"small": f"{ends[0]} to {ends[1]}"} if ends[0] < ends[1] else {})


def _standings(found: ModelsAudit, rows: Sequence[Standing]) -> b.Block:
    heads = ["model", b.right("no."), b.right(_words(str(found.settings["performance"])))]
    heads += [b.right("rank"), b.right("gap"), b.right("rank"), "verdict", "front", "beaten by"]
    cells = [
        [
            b.word(s.model, small=s.family),
            b.count(k),
            b.estimate(s.performance, s.performance_low, s.performance_high),
            _ranked(s.performance_rank, s.performance_ranks),
            b.estimate(s.gap, s.gap_low, s.gap_high),
            _ranked(s.bias_rank, s.bias_ranks),
            b.word(s.verdict or "", TONE.get(s.verdict or "", "")),
            "yes" if s.front else "",
            ", ".join(s.beaten_by),
        ]
        for k, s in enumerate(rows, 1)
    ]
    said = "Under a rank stands the range that the pairs shown to differ leave."
    return b.table(f"Models by {rows[0].attribute}", heads, cells, note=said)


def _pairs(found: ModelsAudit, attribute: str) -> list[b.Block]:
    pairs = [p for p in found.pairs if p.attribute == attribute]
    if not pairs:
        return []
    heads = [
        "one",
        "other",
        b.right("rows differ"),
        b.right(_words(str(found.settings["performance"]))),
    ]
    heads += [b.right("p"), b.right("bias"), b.right("p"), "shown"]
    rows = []
    for p in pairs:
        shown = [
            f"{p.better} is better" if p.better else "",
            f"{p.fairer} is fairer" if p.fairer else "",
        ]
        said = "; ".join(filter(None, shown))
        rows.append(
            [
                p.one,
                p.other,
                b.count(p.rows_differ),
                b.number(p.performance_difference),
                _chance(p.performance_p),
                b.number(p.bias_difference),
                _chance(p.bias_p),
                said or b.word("no difference", "soft"),
            ]
        )
    note = (
        "One less other. Paired tests on the same rows; p-values adjusted for all pairs and both "
        "goals (Holm)."
    )
    made = b.table(f"Pairs of models by {attribute}", heads, rows, note=note)
    return [b.more(f"All {len(pairs)} pairs of models", [made])]


def _chance(p: float) -> b.Cell:
    if p != p:
        return "not tested"
    return {"text": write_p_value(p, digits=3), "value": None if p != p else p}


def _traits(found: ModelsAudit, attribute: str) -> list[b.Block]:
    made = [b.heading("What goes with more bias")]
    traits = [t for t in found.traits if t.attribute == attribute]
    if not traits:
        few = f"fewer than {FEWEST_MODELS} models can be compared in any family or parameter."
        return [*made, b.soft(f"Nothing is said: {few}")]
    heads = ["trait", b.right("models"), b.right("bias")]
    heads += [
        b.right(_words(str(found.settings["performance"]))),
        b.right("rank correlation with bias"),
    ]
    rows = [
        [
            f"{f'{t.family}: ' if t.family else ''}{t.parameter}{f' = {t.value}' if t.value is not None else ''}",
            b.count(t.models),
            "" if t.bias is None else b.estimate(t.bias, t.least_bias, t.most_bias),
            "" if t.performance is None else b.number(t.performance),
            "" if t.bias_correlation is None else b.number(t.bias_correlation, 2, sign=True),
        ]
        for t in traits
    ]
    note = f"Means, least and most. {CAVEAT}"
    return [*made, b.table("Traits and bias", heads, rows, note=note)]


def _every(found: ModelsAudit, attribute: str, rows: Sequence[Standing]) -> b.Block:
    """Return every model by every metric, one metric of one model a row."""
    cells = [
        [
            s.model,
            _words(f.name),
            b.number(f.value),
            b.span(f.low, f.high),
            b.word(f.verdict or "", TONE.get(f.verdict or "", "")),
        ]
        for s in rows
        for f in found.audits[s.model].metrics
        if f.attribute in {None, attribute}
    ]
    heads = ["model", "metric", b.right("value"), b.right("interval"), "verdict"]
    made = b.table(f"Every model by every metric, {attribute}", heads, cells)
    return b.more(f"Every model by every metric, {len(cells)} rows", [made])


def _facts(found: ModelsAudit, title: str | None) -> list[tuple[str, str]]:
    first = next(iter(found.audits.values()), None)
    given = found.settings
    return [
        ("Data", title or ""),
        ("Models", f"{len(found.audits)}, on the same rows"),
        ("Rows", f"{int(first.counts.n.sum()):,}" if first else ""),
        ("Judged by", f"{_words(str(given['performance']))} and {_words(str(given['fairness']))}"),
        ("Intervals", f"{100 * given['confidence']:g} %"),
        ("Seed", str(given.get("random_state", ""))),
    ]
