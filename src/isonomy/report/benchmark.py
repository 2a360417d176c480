"""The page of a benchmark: what to choose on top, then the picture, the methods, the evidence."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from isonomy.benchmark import sentences
from isonomy.benchmark.words import metric_words, without_choice
from isonomy.report.html import render
from isonomy.report.statistics import statistics_fragment
from isonomy.report.tradeoff import plane_svg

if TYPE_CHECKING:
    from isonomy.benchmark import Benchmark, MethodVerdict, Section

_WORD_CLASS = {
    "worth it": "within",
    "perhaps": "insufficient-evidence",
    "not worth it": "soft",
    "no use": "violated",
    "no bias shown": "soft",
    "not judged": "undefined",
}


def benchmark_page(result: "Benchmark", *, title: str | None = None) -> str:
    """Return a benchmark as one self-contained page.

    Parameters
    ----------
    result : Benchmark
        The result of :func:`isonomy.benchmark`.
    title : str, optional
        The dataset's name by default.
    """
    sections = []
    for section in result.sections:
        judged = [v for v in section.judged if v.advantage == v.advantage]
        numbered = {v.method: k for k, v in enumerate(judged, 1)}
        other = list(dict.fromkeys(a for v in section.judged for a in v.others))
        more = list(dict.fromkeys(name for v in section.judged for name in v.more))
        sections.append(
            {
                "section": section,
                "without_choice": without_choice(section),
                "sentences": sentences(section),
                "plane": plane_of(section, judged),
                "numbered": numbered,
                "rows": [(v, result.word(v)) for v in section.judged],
                "left_out": [v for v in section.verdicts if v.status != "ok"],
                "others": other,
                "more": [(name, metric_words(name)) for name in more],
                "ranks": statistics_fragment(critical=section.critical) if section.critical else "",
                "few": len(judged) > 1 and section.repeats < 6,
            }
        )
    return render(
        "benchmark.html",
        title=title or result.data,
        result=result,
        sections=sections,
        performance=metric_words(result.performance),
        fairness=metric_words(result.fairness),
        word_class=_WORD_CLASS,
    )


def plane_of(section: "Section", verdicts: "Sequence[MethodVerdict]") -> str:
    """Draw both baselines and every method, numbered as in the table."""
    chosen = section.recommendation.method, section.recommendation.runner_up
    changes = [(v.performance, v.bias) for v in verdicts]
    return plane_svg(
        section.baseline,
        [(str(k), y.after, x.after, verdicts[k - 1].region) for k, (y, x) in enumerate(changes, 1)],
        frontier=section.frontier,
        intervals=[
            ((y.before + y.low, y.before + y.high), (x.before + x.low, x.before + x.high))
            for y, x in changes
        ],
        others={name: section.baselines[name] for name in ("random", "minority")},
        titles=[v.method for v in verdicts],
        bold=[str(k) for k, v in enumerate(verdicts, 1) if v.method in chosen],
        across=f"bias by {section.attribute}: {metric_words(section.baseline.fairness_metric)}",
        size=(860.0, 470.0),
    )
