"""Self-contained pages: no script, no network, nothing beside the file."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from isonomy import __version__
from isonomy.metrics import RATES
from isonomy.metrics.calibration import CALIBRATION

if TYPE_CHECKING:
    from isonomy.audit import Audit, Finding

WIDTH = 220.0
"""Pixels of the strip on which intervals are drawn."""


def environment() -> Environment:
    """Return the templates with the filters that all pages share."""
    templates = Environment(
        loader=PackageLoader("isonomy.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters["number"] = _number
    templates.filters["count"] = lambda n: f"{int(n):,}"
    templates.filters["probability"] = _probability
    templates.filters["percent"] = lambda x: f"{100 * x:.1f} %"
    templates.globals["version"] = __version__
    return templates


def render(template: str, *, filters: Mapping[str, Any] | None = None, **content: Any) -> str:
    """Return a page: a template of ours, filled."""
    templates = environment()
    templates.filters |= filters or {}
    return str(templates.get_template(template).render(**content))


def _probability(value: float) -> str:
    """Write a probability as the terminal does: two ways to round contradict each other."""
    from isonomy.benchmark.words import percent

    return percent(value).replace("%", " %")


def _number(value: Any, digits: int = 3) -> str:
    if value is None or value != value:
        return "undefined"
    if value in (float("inf"), float("-inf")):
        return "infinite" if value > 0 else "-infinite"
    return f"{round(value, digits) + 0.0:.{digits}f}"  # never a minus before nothing


def audit_page(result: "Audit", *, title: str) -> str:
    """Turn an audit into one page."""
    attributes = list(dict.fromkeys(r.attribute for r in result.groups))
    sections = []
    for attribute in attributes:
        gaps = [f for f in result.metrics if f.attribute == attribute]
        rates = [r for r in result.groups if r.attribute == attribute]
        shown, rest = result.telling_groups(attribute)
        listed = result.sizes["attribute"].eq(attribute) & result.sizes["group"].isin(shown)
        sizes = result.sizes[listed].to_dict("records")
        each = [f for f in result.comparisons if f.attribute == attribute]
        if rest:
            each = list(result.telling_comparisons(attribute)[0])
        names = list(dict.fromkeys((r.name, r.label) for r in rates))
        columns = {
            "Rates": [n for n in names if n[0] in RATES],
            "Scores": [n for n in names if n[0] not in {*RATES, *CALIBRATION}],
            "Calibration": [n for n in names if n[0] in CALIBRATION],
        }
        by_group = {s["group"]: {r.name: r for r in rates if r.group == s["group"]} for s in sizes}
        sections.append(
            {
                "attribute": attribute,
                "comparison": gaps[0].comparison if gaps else None,
                "gaps": [(f, _strip(f)) for f in gaps],
                "each": [
                    (f, _strip(f)) for f in sorted(each, key=lambda f: f.verdict != "violated")
                ],
                "rest": rest,
                "sizes": sizes,
                "columns": {kind: c for kind, c in columns.items() if c},
                "rates": by_group,
            }
        )
    order = ("violated", "insufficient evidence", "undefined", "within")
    every = (*result.metrics, *result.comparisons)
    tally = {v: sum(f.verdict == v for f in every) for v in order}
    return render(
        "audit.html",
        title=title,
        audit=result,
        overall=[f for f in result.metrics if f.attribute is None],
        sections=sections,
        verdicts={v: n for v, n in tally.items() if n},
        width=WIDTH,
    )


def _strip(f: "Finding") -> dict[str, float] | None:
    """Place a value, its interval and its accepted range on a strip."""
    if f.value != f.value or f.low != f.low or f.accept_low is None or f.accept_high is None:
        return None
    ratio = f.accept_low > 0
    ends = (0.0, 2.0) if ratio else (-0.5, 0.5)

    def place(x: float) -> float:
        inside = min(max(x, ends[0]), ends[1])
        return round(WIDTH * (inside - ends[0]) / (ends[1] - ends[0]), 1)

    return {
        "value": place(f.value),
        "low": place(f.low),
        "high": place(f.high),
        "accept_low": place(f.accept_low),
        "accept_high": place(f.accept_high),
        "ideal": place(1.0 if ratio else 0.0),
    }
