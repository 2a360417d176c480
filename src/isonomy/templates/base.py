"""What a template is, and the document that a filled one gives.

A template turns counts of people into a document in the form that a law or a practice asks for:
sections of sentences and tables, and fields. What data cannot say a person must fill in; such a
field stays open, and is marked, until it is given.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, ClassVar, NamedTuple

import pandas as pd

from isonomy._registry import Registry
from isonomy._shown import Shown
from isonomy._tables import plain
from isonomy._validate import check_choice
from isonomy.errors import InputError
from isonomy.stats.written import write_p_value

DISCLAIMER = (
    "This is a calculation in the form of {law}. It is not a certification, not an audit by an "
    "independent auditor, and not legal advice."
)


class Cell(NamedTuple):
    """A cell of a table: what is shown, and the number behind it."""

    text: str
    value: float | int | None = None


@dataclass(frozen=True)
class Table:
    """A table of a document; the cells of a row are texts or numbers as :class:`Cell`."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | Cell, ...], ...]
    note: str = ""


@dataclass(frozen=True)
class Picture:
    """Ratios with their intervals, one under the other: label, value, low, high."""

    title: str
    rows: tuple[tuple[str, float, float, float], ...]
    note: str = ""


@dataclass(frozen=True)
class Section:
    """A heading with sentences, tables and pictures."""

    heading: str
    sentences: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    pictures: tuple[Picture, ...] = ()


@dataclass(frozen=True)
class Field:
    """Something that a template asks a person for; ``value`` is None while it is open."""

    name: str
    label: str
    hint: str
    value: str | None = None
    required: bool = True
    kind: str = "text"
    options: tuple[str, ...] = ()

    @property
    def open(self) -> bool:
        """Whether it is required and not given."""
        return self.required and self.value is None


@dataclass(frozen=True, repr=False)
class Document(Shown):
    """A filled template.

    Attributes
    ----------
    kind, title, law : str
        The template's name, its title and what it follows.
    headline : str
        The main result in one sentence.
    sections : tuple of Section
    fields : tuple of Field
        What a person gives; see :attr:`open_fields`.
    warnings : tuple of str
        What must be put right, or known, before anything is published.
    frames : dict of str to DataFrame
        The numbers behind the tables, not rounded.
    """

    page: ClassVar[str] = "template"

    kind: str
    title: str
    law: str
    headline: str
    sections: tuple[Section, ...]
    fields: tuple[Field, ...] = ()
    warnings: tuple[str, ...] = ()
    frames: dict[str, pd.DataFrame] = field(default_factory=dict)

    @property
    def disclaimer(self) -> str:
        """What the document is not."""
        return DISCLAIMER.format(law=self.law)

    @property
    def open_fields(self) -> tuple[Field, ...]:
        """The required fields that a person must still fill in."""
        return tuple(f for f in self.fields if f.open)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data; what is undefined is None."""
        return {
            "kind": self.kind,
            "title": self.title,
            "law": self.law,
            "disclaimer": self.disclaimer,
            "headline": self.headline,
            "warnings": list(self.warnings),
            "fields": [{**plain(f), "open": f.open} for f in self.fields],
            "sections": [plain(s) for s in self.sections],
            "data": {name: plain(frame) for name, frame in self.frames.items()},
        }

    def __repr__(self) -> str:
        return f"Document({self.kind}: {self.headline} {len(self.open_fields)} open fields)"


@dataclass(frozen=True)
class Template:
    """A form, the fields that a person gives, and the function that fills it.

    Attributes
    ----------
    name, title, law : str
    advice : str
        When to use it, on one line.
    fields : tuple of Field
    fill : callable
        ``fill(source, ...)`` returns a :class:`Document`.
    """

    name: str
    title: str
    law: str
    advice: str
    fields: tuple[Field, ...]
    fill: Callable[..., Document]

    def __call__(self, source: Any, **options: Any) -> Document:
        """Fill the template from a file or a frame."""
        return self.fill(source, **options)


TEMPLATES: Registry[Template] = Registry("template", room="isonomy.templates")
"""Templates by name."""


def fill_fields(
    fields: Sequence[Field], given: Mapping[str, Any] | None, *, today: date
) -> tuple[Field, ...]:
    """Return the fields with what was given; a date must be one, and be past where it must be.

    Examples
    --------
    >>> asked = [Field("audit_date", "Date of the audit", "YYYY-MM-DD", kind="past date")]
    >>> fill_fields(asked, {"audit_date": "2026-03-01"}, today=date(2026, 11, 1))[0].value
    '2026-03-01'
    """
    given = dict(given or {})
    for name in given:
        check_choice("field", name, [f.name for f in fields])
    return tuple(
        replace(f, value=_checked(f, given[f.name], today)) if f.name in given else f
        for f in fields
    )


def _checked(asked: Field, value: Any, today: date) -> str:
    text = str(value).strip()
    if not text:
        raise InputError(f"The field {asked.name} must not be empty; leave it out to keep it open.")
    if asked.options:
        check_choice(asked.name, text, asked.options)
    if "date" in asked.kind:
        day = parse_day(asked.name, text)
        if asked.kind == "past date" and day > today:
            raise InputError(
                f"The field {asked.name} must not lie in the future; got {text}, and today is "
                f"{today.isoformat()}."
            )
    return text


def parse_day(name: str, text: str) -> date:
    """Return a day written YYYY-MM-DD."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise InputError(
            f"The field {name} must be a day written YYYY-MM-DD; got {text!r}."
        ) from None


def picture_of(
    title: str, frame: pd.DataFrame, label: str = "group", *, note: str = ""
) -> tuple[Picture, ...]:
    """Return a picture of the ratios of a frame with their limits; none where none is defined."""
    known = frame[frame["ratio"].notna() & (frame["ratio"] < float("inf"))]
    columns = [label, "ratio", "ratio_low", "ratio_high"]
    rows = tuple((str(a), float(b), float(c), float(d)) for a, b, c, d in known[columns].to_numpy())
    return (Picture(title, rows, note),) if rows else ()


# ------------------------------------------------------------------ how numbers are written


def count(n: float) -> Cell:
    """Write a number of people."""
    return Cell(f"{int(n):,}", int(n))


def number(value: float, digits: int = 2) -> Cell:
    """Write a number; NaN is undefined."""
    if value != value:
        return Cell("undefined", None)
    return Cell(f"{round(value, digits) + 0.0:.{digits}f}", float(value))


def probability(p: float) -> Cell:
    """Write a p-value."""
    return Cell(write_p_value(p), None if p != p else float(p))


def percent(value: float, digits: int = 1) -> Cell:
    """Write a share in per cent; NaN is undefined."""
    return Cell("undefined", None) if value != value else Cell(f"{value:.{digits}%}", float(value))


def span(low: float, high: float, digits: int = 2, *, percents: bool = False) -> Cell:
    """Write an interval; undefined where an end is NaN."""
    if low != low or high != high:
        return Cell("undefined", None)
    ends = [f"{v:.1%}" if percents else f"{v:.{digits}f}" for v in (low, high)]
    return Cell(" to ".join(ends))
