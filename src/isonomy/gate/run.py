"""Check an audit, a file or a frame against a policy: the one function that every way of asking uses."""

import datetime as dt
import os
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

from isonomy._validate import listed, match_values, resolve_favorable
from isonomy.audit import Audit, ModelsAudit, SelectionAudit, audit_counts
from isonomy.audit.findings import Finding
from isonomy.audit.labelled import audit_table
from isonomy.audit.selections import audit_selection_counts
from isonomy.errors import InputError, ThinEvidenceWarning
from isonomy.gate.decision import State, decide, overall
from isonomy.gate.earlier import compare_earlier
from isonomy.gate.policy import Accepted, Columns, Policy
from isonomy.gate.result import Check, Outcome, range_outcome
from isonomy.metrics import Counts


def check(
    data: Any = None, policy: Policy | str | Path | None = None, *, today: dt.date | None = None
) -> Check:
    """Check an audit, or predictions, against a policy.

    ``isonomy check``, the pytest plugin, the pre-commit hook and ``log_mlflow`` all ask this
    function, so they cannot disagree.

    Parameters
    ----------
    data : Audit, path or frame, optional
        What to check. A file or frame is audited as the policy's table ``[data]`` says; by default
        the file that is named there. An audit is judged by the policy whatever thresholds it was
        made with.
    policy : Policy or path, optional
        The policy or its file; by default ``isonomy.toml``, or ``[tool.isonomy]`` of
        ``pyproject.toml``, in the current folder.
    today : date, optional
        The day that expiries are set against.

    Returns
    -------
    Check
        ``verdict`` is "pass" where every gap is shown to lie within its range, "violated" where
        some is shown to lie outside, and else "too little evidence" (or "pass", where the policy
        lets thin evidence pass).

    Examples
    --------
    >>> import numpy as np
    >>> from isonomy import audit, check
    >>> from isonomy.gate import Policy
    >>> rng = np.random.default_rng(0)
    >>> sex, y = rng.choice(["f", "m"], 3000), rng.integers(0, 2, 3000)
    >>> found = audit(y, y * (sex == "m"), sensitive_features={"sex": sex}, privileged="m")
    >>> done = check(found, Policy(attributes="sex", metrics={"spd": 0.1}))
    >>> done.verdict, done.exit_code
    ('violated', 1)
    >>> print(done.sentences()[1])
    Violated: statistical_parity_difference of sex (unprivileged vs privileged) is -0.476 [-0.501,
    -0.451]; accepted: -0.1 to 0.1. The whole interval lies outside ±0.1.
    """
    if not isinstance(policy, Policy):
        policy = Policy.read(policy)
    day = dt.datetime.now().astimezone().date() if today is None else today
    policy.check_date(day)
    found, source = _audit_of(data, policy)
    held, expired = policy.in_force(day)
    outcomes = _ranges(found, policy, held)
    if policy.earlier is not None:
        outcomes += compare_earlier(found, policy, policy.earlier)
    return Check(
        verdict=overall((o.state, o.thin_evidence) for o in outcomes),
        outcomes=tuple(outcomes),
        notes=tuple(_notes(found, outcomes, expired)),
        policy=policy,
        audit=found,
        source=source,
        date=day,
    )


def assert_fair(
    data: Any = None, policy: Policy | str | Path | None = None, *, today: dt.date | None = None
) -> Check:
    """Raise an AssertionError that a person can read unless a check passes.

    Takes the arguments of :func:`check` and returns its result. Thin evidence that the policy lets
    pass with a warning is a ``ThinEvidenceWarning``.

    Examples
    --------
    >>> from isonomy import audit
    >>> from isonomy.gate import Policy
    >>> sex, y = ["f", "m"] * 20, [0, 0, 1, 1] * 10
    >>> policy = Policy(attributes="sex", metrics={"spd": 0.1})
    >>> assert_fair(audit(y, y, sensitive_features={"sex": sex}, privileged="m"), policy)
    Traceback (most recent call last):
    AssertionError: Too little evidence: of 1 gap, 1 too little evidence.
    ...
    """
    __tracebackhide__ = True  # pytest shows the line that asked, not this one
    done = check(data, policy, today=today)
    if done.verdict != "pass":
        raise AssertionError(
            "\n".join([done.headline(), *(f"- {s}" for s in done.sentences()[1:])])
        )
    for o in done.by_state("too little evidence"):
        if o.thin_evidence == "warn":
            warnings.warn(o.sentence(), ThinEvidenceWarning, stacklevel=2)
    return done


# ---------------------------------------------------------------------- what is judged


def _audit_of(data: Any, policy: Policy) -> tuple[Audit, str]:
    """Return the audit of what was given, judged by the policy, and the name of the data."""
    if isinstance(data, Audit):
        return _judged_by(policy, data), "an audit"
    if isinstance(data, ModelsAudit):
        raise InputError(
            "One audit must be given; a ModelsAudit holds several: check(found.audits[name])."
        )
    columns = policy.data
    judging: dict[str, Any] = {
        "favorable": list(columns.favorable) or None,
        "privileged": {a: list(v) for a, v in columns.privileged.items()} or None,
        "intersections": policy.intersections,
        "metrics": list(policy.metrics),
        "thresholds": dict(policy.metrics),
        "confidence": policy.confidence,
    }
    if data is None:
        if columns.file is None:
            raise InputError(
                "A file must be given: name one, or set file in the table [data] of the policy."
            )
        data = policy.beside(columns.file)
    found = audit_table(
        data,
        label=columns.label if columns.label != Columns.label else None,
        prediction=columns.prediction if columns.prediction != Columns.prediction else None,
        sensitive_features=list(policy.attributes),
        score=columns.score,
        weight=columns.weight,
        table=columns.table,
        bins={a: list(cuts) for a, cuts in columns.bins.items()},
        strata=list(columns.strata),
        **judging,
    )
    return found, str(data) if isinstance(data, str | os.PathLike) else "a frame"


def _judged_by(policy: Policy, found: Audit) -> Audit:
    """Return an audit by the policy's attributes, metrics, ranges and confidence.

    It is the audit itself where it was made so, and is made again from its counts otherwise.
    """
    counts, settings = _declared(found.counts, policy), found.settings
    held = {f.name for f in found.metrics}
    joint = " & ".join(counts.attributes)
    if (
        counts is found.counts
        and held.issuperset(policy.metrics)
        and settings["confidence"] == policy.confidence
        and all(settings["thresholds"].get(m) == list(ends) for m, ends in policy.metrics.items())
        and (not policy.intersections or any(f.attribute == joint for f in found.metrics))
    ):
        return found
    # counts of selections stand on the diagonal: as labels they would make every error rate equal
    again = audit_selection_counts if isinstance(found, SelectionAudit) else audit_counts
    made = again(
        counts,
        metrics=list(policy.metrics),
        thresholds=dict(policy.metrics),
        confidence=policy.confidence,
        intersections=policy.intersections,
        **{name: settings[name] for name in ("resamples", "random_state") if name in settings},
    )
    return replace(made, unexamined=found.unexamined)


def _declared(counts: Counts, policy: Policy) -> Counts:
    """Return counts of the policy's attributes with the groups and labels that it declares."""
    for name in policy.attributes:
        match_values(name, counts.attributes, what="attribute of the audit")
    if set(policy.attributes) != set(counts.attributes):
        counts = counts.select(*policy.attributes)
    favorable, privileged = counts.favorable, dict(counts.privileged)
    if policy.data.favorable:
        favorable = resolve_favorable(counts.classes, policy.data.favorable)
    for name, wanted in policy.data.privileged.items():
        at = counts.attributes.index(name)
        values = list(dict.fromkeys(g[at] for g in counts.groups))
        privileged[name] = match_values(wanted, values, what=f"value of {name}")
    if (set(favorable), privileged) == (set(counts.favorable), dict(counts.privileged)):
        return counts
    return replace(counts, favorable=favorable, privileged=privileged)


def _asked(found: Audit, policy: Policy) -> list[Finding]:
    """Return the findings that the policy asks about."""
    views = {*policy.attributes}
    if policy.intersections:
        views.add(" & ".join(found.counts.attributes))
    rows = (*found.metrics, *(found.comparisons if policy.single_groups else ()))
    return [f for f in rows if f.attribute in views and f.name in policy.metrics]


def _ranges(found: Audit, policy: Policy, held: list[Accepted]) -> list[Outcome]:
    """Set every gap against its range; those with an exception are judged by none."""
    asked = _asked(found, policy)
    accepted = [next((one for one in held if _covers(one, f)), None) for f in asked]
    judged = [f for f, one in zip(asked, accepted, strict=True) if one is None]
    states = iter(decide(judged, policy.confidence, fewest_rows=policy.fewest_rows))
    out = []
    for finding, one in zip(asked, accepted, strict=True):
        reason = finding.reason or ""
        if one is None:
            state: State = next(states)
            reason = _reason(finding, state, reason, policy, len(judged))
        elif finding.verdict == "within":
            state = "within"
        else:
            state, reason = "accepted", f"accepted until {one.expires}: {one.reason}"
        out.append(range_outcome(finding, state, policy.thin_evidence, reason))
    return out


def _covers(one: Accepted, finding: Finding) -> bool:
    same = (one.metric, one.attribute) == (finding.name, finding.attribute)
    return same and (one.group is None or str(finding.comparison).startswith(f"{one.group} vs "))


def _reason(finding: Finding, state: State, reason: str, policy: Policy, together: int) -> str:
    if finding.rows is not None and finding.rows < policy.fewest_rows:
        return f"a rate rests on {finding.rows} rows, fewer than the {policy.fewest_rows} of the policy"
    if state == "too little evidence" and finding.verdict == "violated":
        return f"violated by itself, and not for all {together} gaps of the policy together"
    return reason


def _notes(found: Audit, outcomes: list[Outcome], expired: list[Accepted]) -> list[str]:
    """Say what a reader must know."""
    out = [
        f"The exception for {one.metric} of {one.attribute} expired on {one.expires}: it is judged "
        f"again."
        for one in expired
    ]
    thin = [o for o in outcomes if o.state == "too little evidence" and o.thin_evidence != "fail"]
    if thin:
        gaps = "1 gap" if len(thin) == 1 else f"{len(thin)} gaps"
        out.append(f"The policy lets {gaps} with too little evidence pass (thin_evidence).")
    for attribute in dict.fromkeys(o.attribute for o in outcomes):
        rows = found.sizes[(found.sizes["attribute"] == attribute) & ~found.sizes["compared"]]
        if len(rows):
            out.append(
                f"Groups of {attribute} that are not compared, too small or not known: "
                f"{listed(rows['group'])}."
            )
    if found.unexamined:
        out.append(
            f"Columns that look protected and are not in the policy: {listed(found.unexamined)}."
        )
    return out
