"""The page of a benchmark: what to choose on top, then the picture, the methods, the evidence."""

from collections.abc import Sequence

from isonomy._shown import SUMMARIES, Summary
from isonomy.benchmark import Benchmark, MethodVerdict, Section, headline, sentences
from isonomy.benchmark.change import Change
from isonomy.benchmark.recommend import FEWEST
from isonomy.benchmark.words import metric_words, percent, without_choice
from isonomy.report import blocks as b
from isonomy.report.statistics import ranks_chart
from isonomy.report.tradeoff import REGIONS, TONES, plane_chart
from isonomy.stats.written import write_p_value

_WORD_TONES = {
    "worth it": "within",
    "perhaps": "thin",
    "not worth it": "soft",
    "no use": "violated",
    "no bias shown": "soft",
    "not judged": "undefined",
    "dropped": "soft",
}
_WHY_TONES = {"no bias shown, nothing to mitigate": "soft", "nothing is worth it": "violated"}
_MOST_GAPS = 4  # levelled down, in words
_CHANGE_TONES = {"worse": "violated", "better": "within"}


@SUMMARIES.register("benchmark")
def summarize_benchmark(
    result: Benchmark, *, title: str | None = None, command: str | None = None
) -> Summary:
    """Return the summary of a benchmark."""
    people: list[b.Block] = []
    picture: list[b.Block] = []
    table: list[b.Block] = []
    for section in result.sections:
        people += _people(result, section)
        picture.append(_plane(result, section))
        table += _tables(result, section)
    return b.summary(
        "benchmark",
        f"Benchmark of {title or result.data}",
        verdict=_verdict(result),
        people=people,
        picture=picture,
        table=table,
        method=[*b.notes(result.notes), b.facts(_facts(result, title))],
        limits=_limits(result),
        command=command,
        headings={"people": "Is there a bias, and whose", "table": "The methods"},
    )


# ---------------------------------------------------------------------- what to choose


def _advice(section: Section) -> tuple[str, str]:
    """Return what to choose in a few words, and its tone."""
    choice = section.recommendation
    if choice.method is not None:
        return choice.method, "within"
    why = without_choice(section)
    return why, _WHY_TONES.get(why, "thin")


def _verdict(result: Benchmark) -> b.Block:
    tiles, said = [], []
    for section in result.sections:
        choice = section.recommendation
        words, tone = _advice(section)
        after = ""
        if choice.runner_up:
            how = {True: "", False: " (no clear difference)", None: " (untested)"}[choice.differ]
            after = f"; runner-up {choice.runner_up}{how}"
        tiles.append(b.tile(words, f"{section.attribute}, model {section.model}{after}", tone))
        lead = f"{section.attribute}, model {section.model}. " if len(result.sections) > 1 else ""
        said.append(lead + sentences(section)[0])
    if len(result.sections) == 1:
        section = result.sections[0]
        words, tone = _advice(section)
        by = section.attribute.replace("+", " and ")
        head = {
            "within": f"Choose {words} to reduce the bias by {by}.",
            "soft": f"No bias by {by} is shown: there is nothing to mitigate.",
            "violated": f"Nothing is worth it: no method is shown to reduce the bias by {by} at a fair price.",
        }.get(tone, f"No recommendation: {words}.")
    else:
        tones = [_advice(s)[1] for s in result.sections]
        tone = "within" if "within" in tones else tones[0]
        head = "; ".join(headline(s) for s in result.sections) + "."
    return b.verdict(tone, head, said, tiles)


def _people(result: Benchmark, section: Section) -> list[b.Block]:
    gap, name = section.gap, metric_words(result.fairness)
    by = section.attribute.replace("+", " and ")
    where = f"{by}, model {section.model}"
    if gap.signed and gap.low == gap.low:
        size = f"{gap.value:+.3f} ({gap.low:+.3f} to {gap.high:+.3f})"
        shown = (
            "0 is not among the values that fit."
            if gap.shown
            else "0 is among the values that fit: a bias is not shown."
        )
        said = (
            f"{where}: the original model's {name}, its sign kept, is {size} over {gap.splits} "
            f"splits; {shown}"
        )
    else:
        said = f"{where}: the original model's bias ({name}) is {section.baseline.bias[0]:.3f}."
    if not gap.signed or not abs(gap.value) <= 1 or name != "statistical parity difference":
        return [b.text(said)]
    more = (
        f"In words: of every 1,000 people of the unprivileged group, {abs(1000 * gap.value):,.0f} "
        f"{'fewer' if gap.value < 0 else 'more'} receive the favourable decision than at the "
        "privileged group's rate."
    )
    return [b.text(said), b.text(more)]


# ---------------------------------------------------------------------- the picture


def _numbered(section: Section) -> list[MethodVerdict]:
    return [v for v in section.judged if v.advantage == v.advantage]


def _plane(result: Benchmark, section: Section) -> b.Block:
    return plane_of(section, _numbered(section), f"{section.attribute}, model {section.model}")


def plane_of(section: Section, verdicts: Sequence[MethodVerdict], title: str = "") -> b.Block:
    """Return both baselines and every method, numbered as in the table, as a chart."""
    chosen = section.recommendation.method, section.recommendation.runner_up
    changes = [(v.performance, v.bias) for v in verdicts]
    regions = {word: sum(v.region == word for v in verdicts) for word in REGIONS}
    counted = ", ".join(f"{n} {word}" for word, n in regions.items() if n)
    return plane_chart(
        title or section.attribute,
        section.baseline,
        [(str(k), y.after, x.after, verdicts[k - 1].region) for k, (y, x) in enumerate(changes, 1)],
        alt=f"{len(verdicts)} methods against the original model's mutation baseline"
        f"{f': {counted}' if counted else ''}. The table has their numbers.",
        frontier=section.frontier,
        intervals=[
            ((y.before + y.low, y.before + y.high), (x.before + x.low, x.before + x.high))
            for y, x in changes
        ],
        others={name: section.baselines[name] for name in ("random", "minority")},
        titles=[f"{k}. {v.method}" for k, v in enumerate(verdicts, 1)],
        bold=[str(k) for k, v in enumerate(verdicts, 1) if v.method in chosen],
        across=f"bias by {section.attribute}: {metric_words(section.baseline.fairness_metric)}",
        height=440.0,
        note="Numbers are those of the table, bold the first two; the square is the original model. "
        "Better is up and to the left; bars are intervals, triangles lie beyond the frame.",
    )


# ---------------------------------------------------------------------- the tables


def _tables(result: Benchmark, section: Section) -> list[b.Block]:
    made = [
        b.heading(f"{section.attribute}, model {section.model}"),
        b.items(sentences(section)[1:]),
        _methods(result, section),
        *_who_pays(section),
        *_others(section),
        *_evidence(result, section),
    ]
    left_out = [f"{v.method}, {v.status}: {v.reason}" for v in section.verdicts if v.status != "ok"]
    if said := [*left_out, *section.notes]:
        made += [b.heading("Not judged, and notes"), b.items(said)]
    return made


def _change(c: Change) -> b.Block:
    """Return what a quantity is after mitigation, and its change with the interval."""
    cell = b.number(c.after)
    if c.by == c.by:
        small = f"{c.by:+.3f}"
        if c.low == c.low:
            small += f" [{c.low:+.3f}, {c.high:+.3f}]"
        cell["small"] = small
    return cell


def _signed(value: float, low: float, high: float) -> b.Cell:
    if value != value:
        return ""
    cell = b.number(value, sign=True)
    return cell | ({"small": f"[{low:+.3f}, {high:+.3f}]"} if low == low else {})


def _sure(p: float) -> b.Cell:
    if p != p:
        return ""
    return {"text": percent(p).replace("%", " %"), "value": p}


def _methods(result: Benchmark, section: Section) -> b.Block:
    line, performance = section.baseline, metric_words(result.performance)
    heads = ["method", b.right("no."), "verdict", b.right(performance), b.right("bias"), "region"]
    heads += [b.right("good or win-win"), b.right("advantage")]
    if section.frontier:
        heads.append(b.right("above thresholds"))
    first = ["original", "", "", b.number(line.performance[0]), b.number(line.bias[0]), "", "", ""]
    rows: list[list[b.Cell]] = [[*first, *([""] if section.frontier else [])]]
    numbers = {v.method: k for k, v in enumerate(_numbered(section), 1)}
    for v in section.judged:
        word = result.word(v)
        region = f"{v.region or 'none'}{' (constant)' if v.constant else ''}"
        row: list[b.Cell] = [
            b.word(v.method, small=_traits(section, v)),
            b.count(numbers[v.method]) if v.method in numbers else "",
            b.word(word, _WORD_TONES.get(word, "")),
            _change(v.performance),
            _change(v.bias),
            b.word(region, TONES.get(v.region or "", "undefined"), small=v.reason),
            _sure(v.worth),
            _signed(v.advantage, v.advantage_low, v.advantage_high),
        ]
        if section.frontier:
            row.append(_signed(v.above_frontier, v.above_low, v.above_high))
        rows.append(row)
    note = f"Advantage: {performance} beyond what the mutation baseline leaves at the same bias."
    if line.reason:
        note += f" No regions: {line.reason}."
    return b.table(f"Methods by {section.attribute}, model {section.model}", heads, rows, note=note)


def _traits(section: Section, v: MethodVerdict) -> str:
    aim = f"{'does not aim at it, but at' if v.on_target is False else 'aims at'} {v.aim}"
    traits = [
        f"uses {section.attribute} to predict" if v.needs_attribute else "",
        "randomized" if v.randomized else "",
        aim if v.aim else "",
        "levels down" if v.pays.levels_down else "",
        v.settings,
    ]
    return "; ".join(trait for trait in traits if trait)


def _who_pays(section: Section) -> list[b.Block]:
    """Return how each group's rates change: of the method in front unfolded, of the others folded."""
    judged = [v for v in section.judged if v.pays.changes]
    if not judged:
        return []
    front = section.foremost
    first = next((v for v in judged if front and v.method == front.method), judged[0])
    pays = first.pays
    down = [v.method for v in judged if v.pays.levels_down]
    said = (
        f"The intervals of one rate hold for all groups together with {pays.confidence:.0%}. A method levels down "
        f"where a gap ({pays.compared}) is shown to close and the worse-off group to gain a tenth of "
        f"that at most; some pair of groups is wrongly said so in {1 - pays.confidence:.0%} of "
        "methods at most. A lower false positive rate is no loss by itself."
    )
    made: list[b.Block] = [
        b.heading("Who pays"),
        _changes(first),
        b.soft(said),
        *([b.note(f"These level down: {', '.join(down)}.")] if down else []),
    ]
    rest = [_changes(v) for v in judged if v is not first]
    if rest:
        made.append(b.more(f"Who pays with {len(rest)} other methods", rest))
    return made


def _changes(v: MethodVerdict) -> b.Block:
    """Return an audit's table of groups, before and after."""
    rates = [*dict.fromkeys(c.rate for c in v.pays.changes)]
    heads: list[b.Cell] = ["group"]
    for rate in rates:
        heads += [b.right(f"{rate.replace('_', ' ')} before"), b.right("after")]
    groups: dict[str, list[b.Cell]] = {}
    for rate in rates:
        for c in v.pays.of(rate):
            row = groups.setdefault(c.group, [b.word(c.group)])
            after = _change(Change(c.before, c.after, c.low, c.high))
            said = {"rises": ", rises", "falls": ", falls", "unknown": ", too few rows"}.get(c.word)
            row += [b.number(c.before), after | {"small": f"{after.get('small', '')}{said or ''}"}]
    note = " ".join(f"{str(one)[0].upper()}{str(one)[1:]}." for one in v.pays.levelled[:_MOST_GAPS])
    more = len(v.pays.levelled) - _MOST_GAPS
    note += f" So do {more} further gaps." if more > 0 else ""
    return b.table(f"Who pays with {v.method}", heads, [*groups.values()], note=note)


def _others(section: Section) -> list[b.Block]:
    names = [*dict.fromkeys(a for v in section.judged for a in v.others)]
    if not names:
        return []
    heads: list[b.Cell] = ["method"]
    for name in names:
        heads += [b.right(f"bias by {name} before"), b.right("after"), "change"]
    rows = []
    for v in section.judged:
        row: list[b.Cell] = [v.method]
        for name in names:
            o = v.others.get(name)
            row += (
                ["", "", ""]
                if o is None
                else [
                    b.number(o.before),
                    _change(o),
                    b.word(o.word, _CHANGE_TONES.get(o.word, "soft")),
                ]
            )
        rows.append(row)
    return [b.table("The attributes nobody asked about", heads, rows)]


def _evidence(result: Benchmark, section: Section) -> list[b.Block]:
    judged, performance = section.judged, metric_words(result.performance)
    made: list[b.Block] = []
    if len(_numbered(section)) > 1 and section.repeats < FEWEST:
        made.append(
            b.note(
                f"{section.repeats} repeats are too few for the tests: {FEWEST} are the least, 10 or "
                "more serve better."
            )
        )
    heads = ["method", b.right("repeats"), b.right(f"p, {performance}"), b.right("effect")]
    heads += [b.right("p, bias"), b.right("effect"), b.right("bias falls"), b.right("group")]
    tests = b.table(
        "Against the original model",
        [*heads, b.right("seconds a run")],
        [
            [
                v.method,
                b.count(v.runs),
                _chance(v.p_performance),
                b.number(v.delta_performance, 2, sign=True, empty=""),
                _chance(v.p_bias),
                b.number(v.delta_bias, 2, sign=True, empty=""),
                _sure(v.lowers_bias),
                str(v.group or ""),
                b.number(v.seconds, 2, empty=""),
            ]
            for v in judged
        ],
        note="Corrected t-tests over the repeats, which allow for shared rows; Holm's correction over "
        "the methods. Effect: Cliff's delta of the repeats at hand (below 0.147 negligible, 0.33 "
        "small, 0.474 medium). Bias falls: with this probability. Group: methods whose advantages "
        "do not differ (Scott-Knott, paired, with the corrected test), 1 is best.",
    )
    made.append(b.more(f"Paired tests and effect sizes, {len(judged)} methods", [tests]))
    if section.critical:
        about = (
            "These ranks describe the repeats at hand. They take repeats for independent, which they "
            "are not: a critical difference says nothing of other data."
        )
        ranks = [b.soft(about), ranks_chart(section.critical)]
        made.append(b.more("Methods ranked by their advantage, repeat by repeat", ranks))
    chances = b.table(
        "Probability of each region",
        [
            "method", *(b.right(r) for r in REGIONS),
            "against random labels", "against minority labels",
        ],
        [
            [
                v.method,
                *(_sure(v.probability.get(r, 0.0)) for r in REGIONS),
                *(v.regions.get(name) or "none" for name in ("random", "minority")),
            ]
            for v in judged
            if v.probability
        ],
    )  # fmt: skip
    made.append(b.more("Probability of each region", [chances]))
    return [*made, *_other_metrics(judged)]


def _chance(p: float) -> b.Cell:
    if p != p:
        return ""
    return {"text": write_p_value(p, digits=3), "value": None if p != p else p}


def _other_metrics(judged: Sequence[MethodVerdict]) -> list[b.Block]:
    names = [*dict.fromkeys(name for v in judged for name in v.more)]
    if not names:
        return []
    first = next(v for v in judged if v.more)
    rows = [["original", *(b.number(first.more[name].before) for name in names)]]
    rows += [
        [v.method, *(b.number(v.more[name].after) if name in v.more else "" for name in names)]
        for v in judged
    ]
    said = "Gaps are sizes here; of a ratio, the distance from 1."
    heads = ["method", *(b.right(metric_words(name)) for name in names)]
    return [b.more("Other metrics", [b.table("Other metrics", heads, rows, note=said)])]


# ---------------------------------------------------------------------- how, and limits


def _facts(result: Benchmark, title: str | None) -> list[tuple[str, str]]:
    good, fair = metric_words(result.performance), metric_words(result.fairness)
    repeats = sorted({s.repeats for s in result.sections})
    alone = max(s.gap.splits for s in result.sections)
    more = f"; the original model's gap: {alone}" if alone > max(repeats) else ""
    most = "" if result.max_loss is None else f"{result.max_loss:g} of {good}"
    return [
        ("Data", title or result.data),
        ("Attributes", ", ".join(dict.fromkeys(s.attribute for s in result.sections))),
        ("Models", ", ".join(dict.fromkeys(s.model for s in result.sections))),
        ("Judged by", f"{good}, and bias: {fair}"),
        ("Splits", f"{' and '.join(map(str, repeats))}, the same for every method{more}"),
        ("Most that may be given up", most),
        ("Worth it", f"good or win-win with a probability of at least {100 * result.sure:g} %"),
        (
            "Intervals",
            (
                f"{100 * result.confidence:g} %, for other data from the same population: the rows that "
                f"repeats share are allowed for; {result.resamples:,} resamples"
            ),
        ),
        ("Interrupted", "yes: what was done is judged" if result.interrupted else ""),
    ]


def _limits(result: Benchmark) -> list[str]:
    good, fair = metric_words(result.performance), metric_words(result.fairness)
    return [
        (
            f"A method is worth it when its trade-off is good or win-win with a probability of at "
            f"least {100 * result.sure:g} %. The choice is the one with the largest advantage; "
            f"whether that is what you want is not a question of statistics."
        ),
        (
            "The repeats are splits of one set of rows, so they overlap. Intervals and tests allow "
            "for it; more repeats make them a little narrower, only more rows make them much "
            "narrower. They speak of the population that these rows are a sample of, and of models "
            "trained on as many rows."
        ),
        (
            "A method is recommended only where the original model's gap, its sign kept, is shown to "
            "differ from 0. What is said of the recommended one is less what being the best of "
            "several adds by luck; the table is not corrected for that."
        ),
        (
            f"Methods that can are aimed at {fair} and {good} (below their names); the settings named "
            "there were set or tuned on inner rows of the training sets, all others are defaults, "
            "and isonomy tune may find better ones. A method that needs the protected attribute to "
            "predict may not be allowed where you work."
        ),
        (
            f"A smaller gap is not justice: labels may be biased, and {fair} is one of several "
            "measures that cannot all be met."
        ),
    ]
