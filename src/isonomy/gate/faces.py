"""A check for machines and for people who review: JUnit XML, Markdown, annotations of GitHub."""

import re
from collections import Counter
from xml.etree import ElementTree as ET

from isonomy._markdown import escaped, table
from isonomy.gate.result import STATES, Check, Outcome

_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
MARKS = {"violated": "❌", "too little evidence": "❔", "accepted": "⚠️", "within": "✅"}


def to_junit(check: Check) -> str:
    """Return a check as JUnit XML, which GitLab, Jenkins and others read.

    A violated gap is a failure; one with too little evidence an error where the policy closes the
    gate for that, and otherwise, as accepted exceptions are, skipped.
    """
    kinds = [_junit_kind(o) for o in check.outcomes]
    tally = Counter(kinds)
    counts = {
        "tests": len(kinds), "failures": tally["failure"], "errors": tally["error"],
        "skipped": tally["skipped"],
    }  # fmt: skip
    numbers = {name: str(n) for name, n in counts.items()}
    root = ET.Element("testsuites", numbers)
    suite = ET.SubElement(root, "testsuite", {"name": "isonomy", **numbers})
    for o, kind in zip(check.outcomes, kinds, strict=True):
        name = _xml(o.title)
        case = ET.SubElement(
            suite, "testcase", {"classname": _xml(f"isonomy.{o.attribute}"), "name": name}
        )
        if kind:
            text = _xml(o.sentence())
            about = {"message": text} if kind == "skipped" else {"message": text, "type": o.state}
            ET.SubElement(case, kind, about).text = None if kind == "skipped" else text
    out = ET.SubElement(suite, "system-out")
    out.text = _xml("\n".join(check.sentences()))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _junit_kind(outcome: Outcome) -> str:
    if outcome.state == "within":
        return ""
    if not outcome.closes:
        return "skipped"
    return "failure" if outcome.state == "violated" else "error"


def _xml(text: str) -> str:
    """Write out what XML cannot hold."""
    return _NOT_XML.sub(lambda found: repr(found[0])[1:-1], text)


def to_markdown(check: Check) -> str:
    """Return a check as Markdown for the summary of a CI job or a pull request."""
    lines = [f"## Fairness gate: {check.verdict}", "", check.headline(), ""]
    rows = []
    order = sorted(check.outcomes, key=lambda o: STATES.index(o.state))
    for o in order:
        accepted = f"up to {_number(o.accept_high)}"
        if o.accept_low is not None:
            accepted = f"{_number(o.accept_low)} to {_number(o.accept_high)}"
        interval = "" if o.low != o.low or o.high != o.high else f"{o.low:.3f} to {o.high:.3f}"
        value = "undefined" if o.value != o.value else f"{o.value:.3f}"
        row = [f"{MARKS[o.state]} {o.state}", o.title, value, interval, accepted, o.reason]
        rows.append([*map(_cell, row)])
    lines.append(table(["", "gap", "value", "interval", "accepted", "because"], "llrlll", rows))
    lines += ["", *(f"- {_cell(note)}" for note in check.notes)]
    level = f"{check.policy.confidence:.0%} confidence"
    lines += [
        "",
        f"{_cell(check.source)}, {check.date}, {level}. A calculation, not a certification.",
    ]
    return "\n".join(lines) + "\n"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def _cell(text: str) -> str:
    """Let a text stand in a table as it is."""
    return escaped(_xml(text))


def annotations(check: Check) -> str:
    """Return the lines that GitHub Actions shows beside a job: an error for all that closes the gate."""
    lines = [
        _annotation("error" if o.closes else "warning", f"Fairness: {o.state}", o.sentence())
        for o in check.outcomes
        if o.state != "within"
    ]
    lines += [_annotation("notice", "Fairness", note) for note in check.notes]
    return "".join(f"{line}\n" for line in lines)


def _annotation(kind: str, title: str, text: str) -> str:
    for letter in "%\r\n":
        text = text.replace(letter, f"%{ord(letter):02X}")
    return f"::{kind} title={title.replace(':', '%3A')}::{_xml(text)}"
