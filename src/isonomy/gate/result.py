"""What a gate finds: an outcome for everything that the policy asks about, and one verdict."""

import datetime as dt
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, NoReturn

import pandas as pd

from isonomy._tables import plain
from isonomy.audit import Audit, Finding
from isonomy.gate.decision import EXIT_CODES, State, Verdict
from isonomy.gate.policy import Policy, Thin

STATES: tuple[State, ...] = ("violated", "too little evidence", "accepted", "within")


@dataclass(frozen=True)
class Outcome:
    """One gap set against the policy: its range, or (``test`` "no worse") an earlier audit.

    For "no worse" the value is by how much the gap has become wider, and ``accept_high`` is the
    margin. ``thin_evidence`` says what too little evidence does here.
    """

    test: Literal["range", "no worse"]
    metric: str
    attribute: str
    comparison: str
    value: float
    low: float
    high: float
    accept_low: float | None
    accept_high: float | None
    rows: int | None
    state: State
    thin_evidence: Thin
    reason: str

    @property
    def title(self) -> str:
        """What was looked at, in a few words."""
        against = f" ({self.comparison})" if self.comparison else ""
        earlier = ", no wider than before" if self.test == "no worse" else ""
        return f"{self.metric} of {self.attribute}{against}{earlier}"

    @property
    def closes(self) -> bool:
        """Whether the gate stays closed because of this outcome."""
        return self.state == "violated" or (
            self.state == "too little evidence" and self.thin_evidence == "fail"
        )

    def sentence(self) -> str:
        """Say in words what was found, and what is accepted."""
        if self.value != self.value:
            return f"{self.title} is undefined: {self.reason}."
        estimate = f"{self.value:.3f}"
        if self.low == self.low and self.high == self.high:
            estimate += f" [{self.low:.3f}, {self.high:.3f}]"
        if self.test == "no worse":
            words = f"{self.title}: it has changed by {estimate}; accepted: up to {self.accept_high:.3g}"
        else:
            words = (
                f"{self.title} is {estimate}; accepted: {self.accept_low:.3g} to "
                f"{self.accept_high:.3g}"
            )
        return f"{words}. {self.reason[:1].upper()}{self.reason[1:]}."


@dataclass(frozen=True, eq=False)
class Check:
    """What :func:`isonomy.check` found; read ``verdict``, for it has no truth value.

    Attributes
    ----------
    verdict : {"pass", "violated", "too little evidence"}
    outcomes : tuple of Outcome
        Everything that the policy asks about.
    notes : tuple of str
        What a reader must know: groups that are not compared, exceptions that have expired.
    policy : Policy
    audit : Audit
        What was decided on.
    source : str
        The name of the data.
    date : date
        The day of the decision, which expiries are set against.
    """

    verdict: Verdict
    outcomes: tuple[Outcome, ...]
    notes: tuple[str, ...]
    policy: Policy
    audit: Audit = field(repr=False)
    source: str
    date: dt.date

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "A Check has three verdicts and no truth value: compare .verdict with 'pass', "
            "'violated' or 'too little evidence'."
        )

    @property
    def exit_code(self) -> int:
        """The exit code of ``isonomy check``: 0 pass, 1 violated, 3 too little evidence."""
        return EXIT_CODES[self.verdict]

    def by_state(self, state: State) -> tuple[Outcome, ...]:
        """Return the outcomes in one state."""
        return tuple(o for o in self.outcomes if o.state == state)

    def headline(self) -> str:
        """Say in one sentence how the gate stands, and why."""
        tally = Counter(o.state for o in self.outcomes)
        words = ", ".join(f"{tally[s]} {s}" for s in STATES if tally[s])
        gaps = "1 gap" if len(self.outcomes) == 1 else f"{len(self.outcomes)} gaps"
        return f"{self.verdict.capitalize()}: of {gaps}, {words}."

    def sentences(self) -> list[str]:
        """Say in words what decided, what lacks evidence, and what a reader must know."""
        out = [self.headline()]
        for state in ("violated", "too little evidence", "accepted"):
            found = self.by_state(state)
            out += [f"{state.capitalize()}: {o.sentence()}" for o in found]
        return [*out, *self.notes]

    def frame(self) -> pd.DataFrame:
        """Return the outcomes as a frame."""
        return pd.DataFrame(
            [asdict(o) for o in self.outcomes], columns=list(Outcome.__dataclass_fields__)
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data; what is undefined or infinite is None."""
        return {
            "verdict": self.verdict,
            "exit_code": self.exit_code,
            "source": self.source,
            "date": self.date.isoformat(),
            "outcomes": plain([asdict(o) for o in self.outcomes]),
            "notes": list(self.notes),
            "policy": plain(self.policy.to_dict()),
        }

    def __repr__(self) -> str:
        return f"Check({self.headline()})"

    def _repr_html_(self) -> str:
        from html import escape

        shown = self.frame()[["metric", "attribute", "comparison", "value", "low", "high", "state"]]
        said = "".join(f"<li>{escape(s)}</li>" for s in self.sentences()[1:])
        table = shown.to_html(index=False, float_format="{:.4f}".format, na_rep="undefined")
        return f"<p><strong>{escape(self.headline())}</strong></p>{table}<ul>{said}</ul>"


def range_outcome(finding: Finding, state: State, thin: Thin, reason: str) -> Outcome:
    """Set a finding of an audit against its accepted range."""
    return Outcome(
        test="range",
        metric=finding.name,
        attribute=finding.attribute or "",
        comparison=finding.comparison or "",
        value=finding.value,
        low=finding.low,
        high=finding.high,
        accept_low=finding.accept_low,
        accept_high=finding.accept_high,
        rows=finding.rows,
        state=state,
        thin_evidence=thin,
        reason=reason,
    )
