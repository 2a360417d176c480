"""Model cards: an audit as a table of group rates, and as a card in the layout of Hugging Face."""

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from isonomy._arrays import divide
from isonomy._markdown import escaped, table
from isonomy._validate import check_choice, listed, unknown_name
from isonomy.metrics import RATES

if TYPE_CHECKING:
    from isonomy.audit.findings import Audit

Method = Literal["between_groups", "to_overall"]

OPEN = "**[More Information Needed]**"
"""What marks a field that a person must fill in."""

FIELDS: Mapping[str, str] = {
    "Model Description": "what it decides, what it was fitted on, its version and licence",
    "Direct Use": "which decisions it is meant for, and who takes them",
    "Downstream Use": "what may be built on it",
    "Out-of-Scope Use": "where it must not be used",
    "How to Get Started with the Model": "how to load it and what it takes",
    "Training Data": "where the rows come from, when they were collected, who is missing",
    "Training Procedure": "preparation, learner, parameters, mitigation",
    "Model Examination": "how its answers were explained or tested otherwise",
    "Environmental Impact": "hardware and hours",
    "Technical Specifications": "software, hardware, latency",
    "Citation": "how to cite it",
    "Model Card Authors": "who wrote this card",
    "Model Card Contact": "whom to ask, and where a person can object to a decision",
}
"""Sections that no audit can fill, with a hint for each."""


# ---------------------------------------------------------------------- as fairlearn's MetricFrame


def group_values(audit: "Audit", attribute: str | None) -> pd.DataFrame:
    """Return the rates of each known group, one column per rate; attribute None crosses all."""
    part = audit.counts if attribute is None else audit.counts.select(attribute)
    rates = {name: RATES[name](part) for name in audit.rates}
    return pd.DataFrame(rates, index=pd.Index(part.labels(), name="group"))[part.known]


def difference(audit: "Audit", attribute: str | None, method: Method) -> "pd.Series[float]":
    """Return the largest difference of each rate between groups, or from that of all rows."""
    check_choice("method", method, ("between_groups", "to_overall"))
    values = group_values(audit, attribute)
    if method == "between_groups":
        return pd.Series(values.max() - values.min())
    return pd.Series((values - _overall(audit)).abs().max())


def ratio(audit: "Audit", attribute: str | None, method: Method) -> "pd.Series[float]":
    """Return the smallest ratio of each rate between groups, or to that of all rows."""
    check_choice("method", method, ("between_groups", "to_overall"))
    values = group_values(audit, attribute)
    if method == "between_groups":
        made = divide(values.min().to_numpy(), values.max().to_numpy())
        return pd.Series(made, index=values.columns)
    found, everyone = values.to_numpy(), np.broadcast_to(_overall(audit), values.shape)
    turned = np.fmin(divide(found, everyone), divide(everyone, found))
    return pd.DataFrame(turned, columns=values.columns).min()


def _overall(audit: "Audit") -> Any:
    counts = audit.counts
    everyone = counts.regroup(np.zeros(len(counts.groups), dtype=np.intp), (("all",),))
    return np.array([RATES[name](everyone)[0] for name in audit.rates])


# ---------------------------------------------------------------------- as a card


def model_card(
    audit: "Audit", *, model: str, dataset: str, task: str, fields: Mapping[str, str]
) -> str:
    """Write a model card: YAML front matter, then sections in Markdown."""
    for name in fields:
        if name not in FIELDS:
            raise unknown_name("field of a model card", name, list(FIELDS))
    parts = [_front_matter(audit, model, dataset, task), f"# Model Card for {escaped(model)}"]

    def section(title: str, *texts: str, level: int = 2) -> None:
        parts.extend([f"{'#' * level} {title}", *texts])

    def field(title: str, level: int = 3) -> None:
        given = fields.get(title)
        section(title, given or f"{OPEN} ({FIELDS[title]})", level=level)

    section("Model Details")
    field("Model Description")
    section("Uses")
    for title in ("Direct Use", "Downstream Use", "Out-of-Scope Use"):
        field(title)
    section("Bias, Risks, and Limitations", *_disparities(audit))
    section("Recommendations", _bullets(_recommendations(audit)), level=3)
    field("How to Get Started with the Model", 2)
    section("Training Details")
    field("Training Data")
    field("Training Procedure")
    section("Evaluation")
    section("Testing Data, Factors & Metrics", level=3)
    rows = int(audit.counts.n.sum())
    section("Testing Data", f"{escaped(dataset)}: {rows:,} rows.", level=4)
    section("Factors", _sizes_table(audit), level=4)
    section("Metrics", _metrics_text(audit), level=4)
    section("Results", _overall_table(audit), *_gap_tables(audit), level=3)
    section("Summary", _summary(audit), level=4)
    for title in (
        "Model Examination", "Environmental Impact", "Technical Specifications", "Citation",
    ):  # fmt: skip
        field(title, 2)
    labels = {f.label: f.name for f in audit.metrics if f.label != f.name}
    section("Glossary", _bullets(f"{k}: {v.replace('_', ' ')}" for k, v in labels.items()))
    field("Model Card Authors", 2)
    field("Model Card Contact", 2)
    return "\n\n".join(part for part in parts if part) + "\n"


def _front_matter(audit: "Audit", model: str, dataset: str, task: str) -> str:
    """Write the model index; a text in quotes of JSON is one of YAML too. Undefined is left out."""
    lines = [
        "---", "tags:", f"- {task}", "- fairness", "model-index:", f"- name: {_quoted(model)}",
        "  results:", "  - task:", f"      type: {_quoted(task)}", "    dataset:",
        f"      name: {_quoted(dataset)}", f"      type: {_quoted(dataset)}", "    metrics:",
    ]  # fmt: skip
    for f in (*audit.metrics, *audit.comparisons):
        if np.isfinite(f.value):
            of = "" if f.attribute is None else f" by {f.attribute} ({f.comparison})"
            lines += [
                f"    - type: {_quoted(f.name)}",
                f"      name: {_quoted(f.label + of)}",
                f"      value: {f.value:.6f}",
            ]
    return "\n".join([*lines, "---"])


def _quoted(text: str) -> str:
    return json.dumps(str(text))


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _number(value: float) -> str:
    return "undefined" if np.isnan(value) else f"{value:.3f}"


def _interval(low: float, high: float) -> str:
    return "" if np.isnan(low) or np.isnan(high) else f"{low:.3f} to {high:.3f}"


def _disparities(audit: "Audit") -> list[str]:
    """Say which gaps leave their accepted range, and which cannot be judged."""
    out = []
    for verdict, lead in (
        ("violated", "These gaps lie outside their accepted range"),
        ("insufficient evidence", "These gaps cannot be judged on so few rows"),
        ("undefined", "These gaps are undefined here"),
    ):
        found = [f for f in (*audit.metrics, *audit.comparisons) if f.verdict == verdict]
        if found:
            lines = [
                f"{f.label} by {escaped(f.attribute)} ({escaped(f.comparison)}): {_number(f.value)}"
                f"{f' ({_interval(f.low, f.high)})' if f.low == f.low else ''}"
                f"{'' if verdict == 'violated' else f'; {escaped(f.reason)}'}"
                for f in found
            ]
            out += [f"{lead}:", _bullets(lines)]
    if not out:
        out = ["No gap was found outside its accepted range, and each could be judged."]
    return [*out, "A calculation on the rows below, not a certification, and not legal advice."]


def _recommendations(audit: "Audit") -> list[str]:
    lines = [escaped(note) for note in audit.notes]
    if audit.unexamined:
        lines.append(
            f"These columns look protected and were not examined: {escaped(listed(audit.unexamined))}."
        )
    return [*lines, f"{OPEN} (what users must know and do about the gaps above)"]


def _sizes_table(audit: "Audit") -> str:
    rows = [
        [escaped(r["attribute"]), escaped(r["group"]), f"{r['rows']:,}", f"{r['share']:.1%}"]
        for r in audit.sizes.to_dict("records")
    ]
    return table(["attribute", "group", "rows", "share"], "llrr", rows)


def _metrics_text(audit: "Audit") -> str:
    level = f"{audit.settings['confidence']:.0%}"
    ranges = _bullets(
        f"{escaped(name)}: accepted from {low:.3g} to {high:.3g}"
        for name, (low, high) in audit.settings["thresholds"].items()
    )
    favorable = escaped(", ".join(map(str, audit.counts.favorable)))
    return f"The favourable label is {favorable}. Intervals hold at {level}.\n\n{ranges}".strip()


def _overall_table(audit: "Audit") -> str:
    rows = [
        [escaped(f.label), _number(f.value), _interval(f.low, f.high)]
        for f in audit.metrics
        if f.attribute is None
    ]
    return table(["all rows", "value", "interval"], "lrr", rows) if rows else ""


def _gap_tables(audit: "Audit") -> list[str]:
    out = []
    for attribute in dict.fromkeys(f.attribute for f in audit.metrics if f.attribute is not None):
        gaps = [f for f in audit.metrics if f.attribute == attribute]
        rows = [
            [escaped(f.label), f.verdict or "", _number(f.value), _interval(f.low, f.high)]
            for f in gaps
        ]
        head = [f"gap by {escaped(attribute)} ({escaped(gaps[0].comparison)})", "verdict"]
        out.append(table([*head, "value", "interval"], "llrr", rows))
    return out


def _summary(audit: "Audit") -> str:
    words = [f.verdict for f in (*audit.metrics, *audit.comparisons) if f.verdict]
    told = [f"{words.count(w)} {w}" for w in dict.fromkeys(sorted(words))]
    return f"Verdicts on gaps: {', '.join(told) or 'none'}."
