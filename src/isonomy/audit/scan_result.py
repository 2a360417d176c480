"""What a scan found: groups that depart from everybody else, and how sure that is."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Literal

import pandas as pd

from isonomy._shown import Shown
from isonomy._tables import plain
from isonomy._validate import check_choice


@dataclass(frozen=True)
class Departure:
    """One group whose rate departs from everybody else's.

    ``low`` and ``high`` hold for all groups that were searched, together. ``p_value`` is the chance
    that any group of the scan, by any of its rates, departs as far where none truly does. What ends
    in ``_confirm`` is of the held-out half, for this group by itself, but ``p_confirm``, which is
    adjusted for all groups that were to be confirmed (Holm).
    """

    rate: str
    label: str
    group: str
    conditions: tuple[tuple[str, Any], ...]
    rows: int
    value: float
    others: float
    difference: float
    low: float
    high: float
    statistic: float
    p_value: float
    confirmed: bool | None = None
    rows_confirm: int | None = None
    difference_confirm: float | None = None
    low_confirm: float | None = None
    high_confirm: float | None = None
    p_confirm: float | None = None

    def sentence(self) -> str:
        """Say what was found, in one sentence."""
        way = "above" if self.difference > 0 else "below"
        said = (
            f"{self.label.capitalize()} of {self.group} is {self.value:.3f}, {abs(self.difference):.3f} {way} that of "
            f"everybody else ({self.low:.3f} to {self.high:.3f}; p = {self.p_value:.2g}; "
            f"{self.rows:,} rows)"
        )
        if self.confirmed is None:
            return f"{said}: a hypothesis."
        word = "confirmed" if self.confirmed else "not confirmed"
        return f"{said}: {word} on the held-out half (p = {self.p_confirm:.2g})."


@dataclass(frozen=True, eq=False)
class Scan(Shown):
    """What a scan found; :func:`scan` and :func:`scan_counts` make it.

    Attributes
    ----------
    findings : tuple of Departure
        Groups that depart, the surest first; a group that adds nothing to one above it is left out.
    farthest : tuple of Departure
        The group that departs most by each rate, whether or not chance explains it.
    searched : mapping of str to int
        How many groups were compared, by rate.
    notes : tuple of str
        What a reader must know.
    settings : mapping
        Columns, rates, depth, fewest rows, confidence, permutations, seed, rows.
    """

    page: ClassVar[str] = "scan"

    findings: tuple[Departure, ...]
    farthest: tuple[Departure, ...]
    searched: Mapping[str, int]
    notes: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)

    def headline(self) -> str:
        """Say in one sentence what came out."""
        comparisons = f"{sum(self.searched.values()):,} comparisons"
        if not self.findings:
            return (
                f"No group is shown to depart from everybody else: none of {comparisons} is beyond "
                f"chance."
            )
        found, groups = len(self.findings), len({f.group for f in self.findings})
        are = (
            f"{groups} group{'s depart' if groups > 1 else ' departs'} beyond chance, in {found} of "
            f"{comparisons}"
        )
        if not self.settings["confirm"]:
            return (
                f"{are}: {'hypotheses' if found > 1 else 'a hypothesis'}, until other rows confirm."
            )
        sure = sum(bool(f.confirmed) for f in self.findings)
        return f"{are}; {sure} of {found} confirmed on the held-out half."

    def frame(self, what: Literal["findings", "farthest"] = "findings") -> pd.DataFrame:
        """Return one of the tables as a frame."""
        check_choice("table", what, ("findings", "farthest"))
        rows = self.findings if what == "findings" else self.farthest
        return pd.DataFrame(
            [asdict(row) for row in rows], columns=list(Departure.__dataclass_fields__)
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data; what is undefined or infinite is None."""
        return {
            "findings": [plain(asdict(row)) for row in self.findings],
            "farthest": [plain(asdict(row)) for row in self.farthest],
            "searched": dict(self.searched),
            "notes": list(self.notes),
            "settings": plain(dict(self.settings)),
        }

    def __repr__(self) -> str:
        return f"Scan({self.headline()})"
