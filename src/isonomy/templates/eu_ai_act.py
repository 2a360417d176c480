"""Regulation (EU) 2024/1689 (AI Act): the record of an examination for bias, filled from an audit."""

import hashlib
import os
import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd

from isonomy import __version__
from isonomy.audit import Audit, Finding, GroupRate, SelectionAudit
from isonomy.audit.labelled import audit_table
from isonomy.errors import InputError
from isonomy.templates.base import (
    TEMPLATES,
    Cell,
    Document,
    Field,
    Section,
    Table,
    Template,
    count,
    fill_fields,
    number,
    percent,
    span,
)
from isonomy.templates.impact import records

LAW = "Regulation (EU) 2024/1689 (AI Act), Article 10 and Annex IV, point 2(g)"

FIELDS = (
    Field("system", "AI system, version", "Annex IV 1(a)"),
    Field("provider", "Provider", "name and address"),
    Field("intended_purpose", "Intended purpose", "Annex IV 1(a): what it decides, about whom"),
    Field("setting", "Geographical, behavioural or functional setting", "Article 10(4): where and among whom it is used"),
    Field("data_origin", "Origin and collection of the data", "Article 10(2)(b): of the rows audited here"),
    Field("representativeness", "Why the data are relevant and representative", "Article 10(3)"),
    Field("special_categories", "Special categories of personal data", "Article 10(5): which were used, why it was strictly necessary, with what safeguards; or none"),
    Field("bias_measures", "Measures to detect, prevent and mitigate bias", "Article 10(2)(g)"),
    Field("data_gaps", "Gaps or shortcomings of the data", "Article 10(2)(h): and how they are addressed"),
    Field("metrics_reason", "Why the metrics and thresholds are appropriate", "Annex IV 4"),
    Field("test_date", "Date of the test", "YYYY-MM-DD; Annex IV 2(g): test reports are dated", kind="past date"),
    Field("signed_by", "Signed by the responsible person", "Annex IV 2(g): test reports are signed"),
)  # fmt: skip
ACCURACY = Field(
    "accuracy",
    "Metrics of accuracy",
    "Article 15, Annex IV 2(g): these rows have no true labels, so it cannot be computed from them",
)
"""Asked of people where an audit without labels cannot say it."""
UNKNOWN = (
    "Who was selected is known and not who should have been: rates of errors by group cannot be "
    "given, here or anywhere in this record."
)


def fill_eu_ai_act(
    source: Any,
    *,
    label: str | None = None,
    prediction: str | None = None,
    sensitive_features: str | Sequence[str] = (),
    score: str | None = None,
    favorable: Any = None,
    privileged: Any = None,
    strata: str | Sequence[str] = (),
    bins: Mapping[str, Sequence[float]] | None = None,
    weight: str | None = None,
    metrics: Sequence[str] | None = None,
    thresholds: Mapping[str, Any] | None = None,
    intersections: bool = False,
    confidence: float = 0.95,
    resamples: int = 2000,
    random_state: int = 0,
    fields: Mapping[str, Any] | None = None,
    table: str | None = None,
    today: date | None = None,
) -> Document:
    """Fill the record of Article 10 and Annex IV 2(g) that an audit can fill.

    What only the provider can say stays open and is marked.

    Parameters
    ----------
    source : Audit, path or frame
        An audit that was made, with labels or without, and then nothing else but ``fields``; or
        predictions to audit.
    label, prediction, sensitive_features, score, favorable, privileged, strata, bins, weight
        As in :func:`isonomy.audit.audit_file`. Without labels (predictions are named, and labels
        are not) the record is filled as far as selection rates go, and says what it cannot fill.
    metrics, thresholds, intersections, confidence, resamples, random_state
        As in :func:`isonomy.audit.audit`.
    fields, table, today
        As in :func:`fill_ll144`.

    Examples
    --------
    >>> import numpy as np
    >>> from isonomy.audit import audit
    >>> rng = np.random.default_rng(0)
    >>> y, sex = rng.integers(0, 2, 500), rng.choice(["F", "M"], 500)
    >>> document = fill_eu_ai_act(audit(y, y, sensitive_features={"sex": sex}, privileged="M"))
    >>> document.kind, len(document.open_fields)
    ('eu_ai_act', 12)
    """
    day = today or datetime.now(UTC).date()
    if isinstance(source, Audit):
        found = source
    else:
        for name, given in (("prediction", prediction), ("sensitive_features", sensitive_features)):
            if not given:
                raise InputError(f"The record is filled from an audit; name {name}=.")
        found = audit_table(
            source, label=label, prediction=prediction, sensitive_features=sensitive_features,
            score=score, weight=weight, table=table, bins=bins, strata=strata,
            favorable=favorable, privileged=privileged, metrics=metrics, thresholds=thresholds,
            intersections=intersections, confidence=confidence, resamples=resamples,
            random_state=random_state,
        )  # fmt: skip
    asked = (*FIELDS, ACCURACY) if isinstance(found, SelectionAudit) else FIELDS
    filled = fill_fields(asked, fields, today=day)
    frames = {"findings": found.frame(), "groups": _groups(found), "sizes": found.sizes}
    return Document(
        kind="eu_ai_act",
        title="Record of an examination for bias",
        law=LAW,
        headline=_headline(found),
        sections=(
            _data_section(found, source),
            _accuracy_section(found),
            _impact_section(found),
            _groups_section(found),
            _test_section(found, day),
        ),
        fields=filled,
        warnings=tuple(found.notes),
        frames=frames,
    )


TEMPLATES.add(
    "eu_ai_act",
    Template(
        "eu_ai_act",
        "EU AI Act: record of the examination for bias (Article 10, Annex IV 2(g))",
        LAW,
        "Data, metrics, groups, intervals and versions from an audit; the rest is left open.",
        FIELDS,
        fill_eu_ai_act,
    ),
    aliases=("eu-ai-act",),
)


def _headline(found: Audit) -> str:
    judged = found.judged()
    sure = found.violated() if judged else ()
    unsure = sum(f.verdict == "insufficient evidence" for f in judged)
    return (
        f"{len(sure)} of {len(judged)} judged disparities violate their threshold, taken together; "
        f"for {unsure} the evidence is insufficient."
    )


def _data_section(found: Audit, source: Any) -> Section:
    said = [f"{int(found.counts.n.sum()):,} rows were examined."]
    if isinstance(source, str | os.PathLike) and Path(source).is_file():
        with Path(source).open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        said.append(f"File {Path(source).name}, SHA-256 {digest}.")
    if found.unexamined:
        said.append(
            f"Columns that look protected and were not examined: {', '.join(found.unexamined)}."
        )
    rows = tuple(
        (str(r.attribute), str(r.group), "yes" if r.privileged else "", count(r.rows), percent(r.share))
        for r in records(found.sizes)
        if r.group in found.telling_groups(str(r.attribute))[0]
    )  # fmt: skip
    return Section(
        "Data examined (Article 10(2)(f), 10(3))",
        tuple(said),
        (Table("Groups", ("Attribute", "Group", "Compared with", "Rows", "Share"), rows),),
    )


def _accuracy_section(found: Audit) -> Section:
    rows = tuple(
        (_named(f), number(f.value, 3), span(f.low, f.high, 3))
        for f in found.metrics
        if f.attribute is None
    )
    heading = "Metrics of accuracy (Article 15, Annex IV 2(g))"
    if isinstance(found, SelectionAudit):
        return Section(
            heading,
            (
                (
                    "These rows have no true labels: accuracy and robustness cannot be computed from them, "
                    "and are left open (field accuracy)."
                ),
            ),
            (),
        )
    return Section(
        heading,
        (),
        (Table("All rows", ("Metric", "Value", "Interval"), rows),),
    )


def _impact_section(found: Audit) -> Section:
    gaps = [f for f in found.metrics if f.attribute is not None]
    columns = ("Attribute", "Compared", "Metric", "Value", "Interval", "Accepted", "Verdict")
    tables = [Table("Gaps between groups", columns, tuple(map(_gap, gaps)))]
    single = [f for a in dict.fromkeys(f.attribute for f in found.comparisons) for f in found.telling_comparisons(str(a))[0]]  # fmt: skip
    if single:
        tables.append(
            Table("Single groups that violate a threshold, or are undefined", columns, tuple(map(_gap, single)))
        )  # fmt: skip
    if isinstance(found, SelectionAudit):
        tables.append(_ratios(found))
    return Section(
        "Potentially discriminatory impacts (Article 10(2)(f), Annex IV 2(g))",
        (
            (
                "A verdict is given where the whole interval lies within the accepted range, or outside of "
                "it; otherwise the evidence is insufficient."
            ),
            *((UNKNOWN,) if isinstance(found, SelectionAudit) else ()),
        ),
        tuple(tables),
    )


def _ratios(found: SelectionAudit) -> Table:
    """Show every group's selection rate over that of the best group, and of the reference."""
    low, high = found.settings["thresholds"]["disparate_impact"]
    accepted = span(low, high, 3)
    rows = tuple(
        (
            str(r.attribute), str(r.group), f"{r.against}: {r.other}", number(r.ratio, 3),
            span(r.low, r.high, 3), accepted, r.verdict or "",
        )
        for r in records(found.ratios)
        if r.group in found.telling_groups(str(r.attribute))[0]
    )  # fmt: skip
    columns = ("Attribute", "Group", "Compared with", "Ratio", "Interval", "Accepted", "Verdict")
    return Table(
        "Ratios of selection rates", columns, rows,
        "Intervals and verdicts hold for all groups, comparisons and attributes together.",
    )  # fmt: skip


def _named(found: Finding | GroupRate) -> str:
    """Write a metric out, with its short name where it has one: a record is read by laymen."""
    words = found.name.replace("_", " ")
    return words if words.casefold() == found.label.casefold() else f"{words} ({found.label})"


def _gap(f: Finding) -> tuple[str | Cell, ...]:
    accepted = "" if f.accept_low is None else span(f.accept_low, f.accept_high or 0.0, 3)
    return (
        f.attribute or "", f.comparison or "", _named(f), number(f.value, 3),
        span(f.low, f.high, 3), accepted, f.verdict or "",
    )  # fmt: skip


def _groups(found: Audit) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"attribute": r.attribute, "group": r.group, "rate": r.name, "value": r.value,
             "low": r.low, "high": r.high, "rows": r.rows}
            for r in found.groups
        ]
    )  # fmt: skip


def _groups_section(found: Audit) -> Section:
    rows = tuple(
        (
            r.attribute,
            r.group,
            _named(r),
            number(r.value, 3),
            span(r.low, r.high, 3),
            r.reason or "",
        )
        for r in found.groups
        if r.group in found.telling_groups(r.attribute)[0]
    )
    return Section(
        "Performance for specific groups (Article 13(3)(b)(v), Annex IV 3)",
        (UNKNOWN,) if isinstance(found, SelectionAudit) else (),
        (Table("Rates by group", ("Attribute", "Group", "Rate", "Value", "Interval", "Remark"), rows),),
    )  # fmt: skip


def _test_section(found: Audit, day: date) -> Section:
    settings = found.settings
    rows = [
        ("Calculated on", day.isoformat()),
        ("Software", f"Isonomy {__version__}, Python {platform.python_version()}"),
        ("Libraries", ", ".join(f"{p} {version(p)}" for p in ("numpy", "scipy", "pandas", "duckdb"))),
        ("Confidence of the intervals", f"{settings['confidence']:.0%}"),
        ("Bootstrap resamples, seed", f"{settings['resamples']:,}, {settings['random_state']}"),
        ("Favorable outcome", ", ".join(map(str, found.counts.favorable))),
        *(
            (f"Accepted: {name}", " to ".join(f"{end:g}" for end in ends))
            for name, ends in settings["thresholds"].items()
        ),
    ]  # fmt: skip
    return Section(
        "Test procedure (Annex IV 2(g))",
        ("The test log and report are to be dated and signed by the responsible persons.",),
        (Table("Settings", ("What", "Value"), tuple(rows)),),
    )
