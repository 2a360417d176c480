"""Lending: adverse impact ratios against a named reference, standardized differences, cut-offs."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import pandas as pd

from isonomy._arrays import divide
from isonomy._validate import as_names, unknown_name
from isonomy.audit.selected_scores import BEST_PERCENT, welch
from isonomy.errors import InputError
from isonomy.stats import standardized_difference
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
    picture_of,
    probability,
    span,
)
from isonomy.templates.contrasts import (
    KOOPMAN,
    contrast_frame,
    find_reference,
    known_groups,
    read_outcomes,
    significance_table,
    small_numbers,
    strata_table,
)
from isonomy.templates.impact import records
from isonomy.templates.people import Scores, count_people, hits_by, score_people

LAW = "a fair-lending review (Equal Credit Opportunity Act, Regulation B; Fair Housing Act)"
FIELDS = (
    Field("product", "Product and decision", "what was applied for, and what was decided"),
    Field("period", "Period", "from when to when"),
    Field("data_source", "Source of the data", "and how race, sex and age were learned: self-reported, observed, estimated"),
    Field("reference_reason", "Why these reference groups", "the customary ones are White, non-Hispanic, male, under 62"),
    Field("prepared_by", "Prepared by", "name and role"),
    Field("date", "Date", "YYYY-MM-DD", kind="past date"),
    Field("score_means", "What the score is", "a score is better when high (default), a price when low", required=False, options=("score", "price")),
)  # fmt: skip


def fill_lending(
    source: Any,
    *,
    sensitive_features: str | Sequence[str],
    reference: Any,
    prediction: str | None = None,
    score: str | None = None,
    label: str | None = None,
    favorable: Any = None,
    strata: str | Sequence[str] = (),
    bins: Mapping[str, Sequence[float]] | None = None,
    confidence: float = 0.95,
    fields: Mapping[str, Any] | None = None,
    table: str | None = None,
    today: date | None = None,
) -> Document:
    """Compare approvals, scores or prices of groups with a named reference.

    Parameters
    ----------
    source : path or frame
        A row per application.
    sensitive_features : str or sequence of str
        Columns such as race, sex and age.
    reference : value or mapping of column to value
        The group to compare with, in every column.
    prediction : str, optional
        Column of the decision: adverse impact ratios.
    score : str, optional
        Column of a score, or of a price (``fields={"score_means": "price"}``): standardized mean
        differences, and the adverse impact ratio at every cut-off.
    label : str, optional
        Column of a number that the score predicts: the standardized difference of score less label.
    favorable : value or collection, optional
        The value that is an approval; may be left out where it is 1 of 0 / 1.
    strata : str or sequence of str
        Columns to compare within, by Mantel-Haenszel.
    bins : mapping of column to cut points, optional
        Cuts a number such as age into groups: ``{"age": [62]}``.
    confidence : float
        Of the intervals.
    fields, table, today
        As in :func:`fill_ll144`.

    Examples
    --------
    >>> people = pd.DataFrame({"race": ["White"] * 100 + ["Black"] * 100,
    ...                        "approved": [1] * 80 + [0] * 20 + [1] * 60 + [0] * 40})
    >>> document = fill_lending(people, sensitive_features="race", reference="White",
    ...                         prediction="approved")
    >>> print(document.headline)
    The lowest adverse impact ratio is 0.750 (race: Black against White).
    """
    if prediction is None and score is None:
        raise InputError(
            "A column of decisions or of scores must be named: prediction= (--prediction) or score= "
            "(--score)."
        )
    if label is not None and score is None:
        raise InputError("A label is compared with a score; name one too: score= (--score).")
    attributes, alike = as_names(sensitive_features), as_names(strata)
    references = _references(reference, attributes)
    filled = fill_fields(FIELDS, fields, today=today or datetime.now(UTC).date())
    price = next(f.value for f in filled if f.name == "score_means") == "price"
    sections: list[Section] = []
    frames: dict[str, pd.DataFrame] = {}
    warnings: list[str] = []
    rows_counted = 0
    if prediction is not None:
        people = count_people(source, [*attributes, *alike, prediction], table=table, bins=bins)
        hit = read_outcomes(people, prediction, favorable)
        rows_counted = people.rows
        for attribute in attributes:
            groups, rows, hits = hits_by(people, attribute, hit, prediction, alike)
            known = known_groups(attribute, groups)
            names, n, x = [groups[k] for k in known], rows[known], hits[known]
            other = find_reference(attribute, names, references[attribute])
            frame = contrast_frame(names, n.sum(1), x.sum(1), other, confidence=confidence)
            frames[attribute] = frame
            warnings += small_numbers(frame)
            tables = [
                _air_table(frame, attribute, other),
                significance_table(frame, str(names[other])),
            ]
            if alike:
                tables.append(strata_table(names, n, x, other, alike, confidence=confidence))
            unknown = int(rows.sum() - n.sum())
            said = (
                [f"{unknown:,} applications of unknown {attribute} are not compared."]
                if unknown
                else []
            )
            picture = picture_of(f"{attribute}: adverse impact ratios", frame, note=KOOPMAN)
            heading = f"Decisions by {attribute}"
            sections.append(Section(heading, tuple(said), tuple(tables), picture))
    for attribute in attributes if score is not None else ():
        asked: dict[str, Any] = {"table": table, "bins": bins, "lowest": price}
        scores = score_people(source, attribute, str(score), **asked)
        residuals = (
            score_people(source, attribute, str(score), less=label, **asked) if label else None
        )
        rows_counted = int(scores.rows.sum())
        section, made = _score_section(
            attribute, scores, residuals, references[attribute], price, confidence
        )
        sections.append(section)
        frames |= made
    sections.append(
        Section("How it was calculated", _method(rows_counted, price, score, confidence))
    )
    return Document(
        kind="lending",
        title="Adverse impact in lending",
        law=LAW,
        headline=_headline(frames),
        sections=tuple(sections),
        fields=filled,
        warnings=tuple(dict.fromkeys(warnings)),
        frames=frames,
    )  # fmt: skip


TEMPLATES.add(
    "lending",
    Template(
        "lending",
        "Fair lending: adverse impact ratios and standardized mean differences",
        LAW,
        "Approvals, scores or prices against a named reference group, within strata, by cut-off.",
        FIELDS,
        fill_lending,
    ),
)


def _references(reference: Any, attributes: Sequence[str]) -> dict[str, Any]:
    if not isinstance(reference, Mapping):
        if len(attributes) > 1:
            raise InputError(
                f"The reference must be named for each attribute: pass reference= "
                f"(--privileged {attributes[0]}=VALUE)."
            )
        return {attributes[0]: reference}
    for name in reference:
        if name not in attributes:
            raise unknown_name("attribute", str(name), attributes)
    absent = [a for a in attributes if a not in reference]
    if absent:
        raise InputError(
            f"The reference must be named for each attribute; it is not for {absent[0]!r}: "
            f"pass reference= (--privileged {absent[0]}=VALUE)."
        )
    return dict(reference)


def _air_table(frame: pd.DataFrame, attribute: str, other: int) -> Table:
    rows = tuple(
        (
            r.group,
            count(r.rows),
            count(r.selected),
            percent(r.rate),
            number(r.ratio, 3),
            "reference" if r.Index == other else span(r.ratio_low, r.ratio_high, 3),
            number(100 * r.gap, 1),
        )
        for r in records(frame)
    )
    return Table(
        f"Adverse impact ratios by {attribute}",
        ("Group", "Applications", "Approved", "Approval rate", "AIR", "Interval (Koopman)", "Marginal effect (points)"),
        rows,
        "AIR is the approval rate of a group divided by that of the reference; the marginal effect is "
        "the rate of the reference less that of the group.",
    )  # fmt: skip


def _score_section(
    attribute: str,
    scores: Scores,
    residuals: Scores | None,
    reference: Any,
    price: bool,
    confidence: float,
) -> tuple[Section, dict[str, pd.DataFrame]]:
    known = known_groups(attribute, scores.groups)
    names = [scores.groups[k] for k in known]
    other = find_reference(attribute, names, reference)
    kind = "price" if price else "score"
    frames = {f"{attribute}: {kind}": _differences(scores, known, other, confidence)}
    tables = [_smd_table(frames[f"{attribute}: {kind}"], attribute, kind, price, 1 - confidence)]
    if residuals is not None:
        frame = _differences(residuals, known, other, confidence)
        frames[f"{attribute}: {kind} less label"] = frame
        tables.append(_smd_table(frame, attribute, f"{kind} less label", price, 1 - confidence))
    among = divide(scores.beyond[:, known], scores.rows[known])
    cut = pd.DataFrame(divide(among, among[:, [other]]), columns=[str(n) for n in names])
    cut.insert(0, "share", np.array(BEST_PERCENT) / 100)
    cut.insert(1, "cut", scores.cuts)
    frames[f"{attribute}: cut-offs"] = cut
    groups = [str(n) for k, n in enumerate(names) if k != other]
    tables.append(
        Table(
            f"AIR by cut-off: {attribute}, against {names[other]}",
            (f"Best share by {kind}", "Cut", *groups),
            tuple(
                (percent(r["share"], 0), number(r["cut"], 4), *(number(r[g], 3) for g in groups))
                for r in cut.to_dict("records")
            ),
            f"The AIR if the best share of all applications by {kind} were approved; ties at the cut are in.",
        )
    )
    unknown = int(scores.rows.sum() - scores.rows[known].sum())
    said = [f"{unknown:,} applications of unknown {attribute} are not compared."] if unknown else []
    return Section(f"{kind.capitalize()}s by {attribute}", tuple(said), tuple(tables)), frames


def _differences(
    scores: Scores, known: Sequence[int], other: int, confidence: float
) -> pd.DataFrame:
    """Return the standardized differences from the reference, with Welch's test."""
    n, mean, variance = scores.rows[known], scores.mean[known], scores.variance[known]
    smd, low, high = standardized_difference(
        mean, variance, n, mean[other], variance[other], n[other],
        spread=scores.spread, confidence=confidence,
    )  # fmt: skip
    p = welch((mean, variance, n), (mean[other], variance[other], n[other]))
    frame = pd.DataFrame(
        {
            "group": [str(scores.groups[k]) for k in known],
            "rows": n.astype(np.int64),
            "mean": mean,
            "smd": smd,
            "smd_low": low,
            "smd_high": high,
            "p": p,
        }
    )
    frame.loc[other, ["smd_low", "smd_high", "p"]] = np.nan
    frame.attrs["reference"] = str(scores.groups[known[other]])
    return frame


def _smd_table(frame: pd.DataFrame, attribute: str, what: str, price: bool, level: float) -> Table:
    rows: list[tuple[str | Cell, ...]] = []
    for r in records(frame):
        adverse = r.smd > 0 if price else r.smd < 0
        side = "undefined" if r.smd != r.smd else "adverse" if adverse else "favorable"
        compared = (
            ("reference", "", "")
            if r.group == frame.attrs["reference"]
            else (
                span(r.smd_low, r.smd_high, 3),
                probability(r.p),
                side if r.p < level or r.smd != r.smd else f"{side}, not significant",
            )
        )
        rows.append((r.group, count(r.rows), number(r.mean, 4), number(r.smd, 3), *compared))
    sign = "more than zero is adverse" if price else "less than zero is adverse"
    if "less label" in what:
        sign += ", as the group is then predicted worse than it turns out"
    return Table(
        f"Standardized mean differences of {what} by {attribute}",
        ("Group", "Applications", "Mean", "SMD", "Interval", "Welch p", "Side"),
        tuple(rows),
        f"The mean of a group less that of the reference, in standard deviations of all applications; {sign}.",
    )


def _headline(frames: Mapping[str, pd.DataFrame]) -> str:
    ratios = [
        (r.ratio, f"{name}: {r.group} against {frame.attrs['reference']}")
        for name, frame in frames.items()
        if "ratio" in frame
        for r in records(
            frame[frame["ratio"].notna() & (frame["group"] != frame.attrs["reference"])]
        )
    ]
    if ratios:
        return "The lowest adverse impact ratio is {:.3f} ({}).".format(*min(ratios))
    differences = [
        (abs(r.smd), r.smd, f"{name}: {r.group} against {frame.attrs['reference']}")
        for name, frame in frames.items()
        if "smd" in frame
        for r in records(frame[frame["smd"].notna()])
    ]
    if differences:
        return "The largest standardized mean difference is {1:+.3f} ({2}).".format(
            *max(differences)
        )
    return "No adverse impact ratio is defined: nobody was approved."


def _method(rows: int, price: bool, score: str | None, confidence: float) -> tuple[str, ...]:
    said = [
        (
            f"{rows:,} applications were counted. The reference is named by the user, and need not be the "
            f"group with the highest rate."
        ),
        f"Intervals hold with {confidence:.0%} each: Koopman's score interval of a ratio"
        + (", and that of a standardized difference from Welch's error." if score else "."),
        (
            "No lending regulator has fixed a threshold; 0.80 and 0.90 for the ratio, and 0.30 for the "
            "standardized difference, are house rules of lenders, to be read with significance."
        ),
    ]
    if score:
        said.append(
            "A price is better when low."
            if price
            else "A score is better when high; say score_means=price for a rate or a premium."
        )
    return tuple(said)
