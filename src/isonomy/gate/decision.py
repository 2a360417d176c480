"""The one decision of every gate: from findings and a level to states, and from states to a verdict."""

from collections.abc import Iterable, Sequence
from typing import Literal

from isonomy.audit import FEWEST_ROWS, Finding
from isonomy.audit.findings import hold_together
from isonomy.gate.policy import Thin

State = Literal["within", "violated", "too little evidence", "accepted"]
Verdict = Literal["pass", "violated", "too little evidence"]

EXIT_CODES: dict[Verdict, int] = {"pass": 0, "violated": 1, "too little evidence": 3}
"""What ``isonomy check`` ends with; 2 is bad input."""


def decide(
    findings: Sequence[Finding], confidence: float, *, fewest_rows: int = FEWEST_ROWS
) -> list[State]:
    """Return the state of every finding, all of them taken together.

    "violated" holds at the confidence for all of the findings together (Holm), so that a model
    that is fair in every respect is stopped no more often than that leaves. "within" holds for
    each by itself, which is enough where *all* must be within: a model that is unfair in one
    respect passes no more often than that one finding errs. Everything else, undefined gaps
    included, is too little evidence.

    Examples
    --------
    >>> from isonomy import audit
    >>> sex, y = ["f", "m"] * 400, [0, 0, 1, 1] * 200
    >>> found = audit(y, y, sensitive_features={"sex": sex}, metrics=["spd"], privileged="m")
    >>> decide(found.judged(), 0.95)
    ['within']
    """
    judged = [f for f in findings if f.verdict in {"within", "violated", "insufficient evidence"}]
    sure = {
        id(f) for f, holds in zip(judged, hold_together(judged, confidence), strict=True) if holds
    }
    return [
        "too little evidence"
        if f.rows is not None and f.rows < fewest_rows
        else "violated"
        if id(f) in sure
        else "within"
        if f.verdict == "within"
        else "too little evidence"
        for f in findings
    ]


def overall(states: Iterable[tuple[State, Thin]]) -> Verdict:
    """Return the verdict on states, each with what thin evidence does there.

    Examples
    --------
    >>> overall([("within", "fail"), ("too little evidence", "warn")])
    'pass'
    """
    every = list(states)
    if any(state == "violated" for state, _ in every):
        return "violated"
    if ("too little evidence", "fail") in every:
        return "too little evidence"
    return "pass"
