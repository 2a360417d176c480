"""What an audit over time found: gaps by period, and which have moved."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd

from isonomy._shown import Shown
from isonomy._tables import plain
from isonomy._validate import check_choice, listed
from isonomy.audit.moves import Move
from isonomy.audit.period_gaps import PeriodGap
from isonomy.errors import InputError
from isonomy.metrics import Counts, get_metric


@dataclass(frozen=True, eq=False)
class OverTime(Shown):
    """What an audit over time found; :func:`audit_over_time` makes it.

    Attributes
    ----------
    periods : tuple
        In their order.
    gaps : tuple of PeriodGap
        Every gap of every attribute in every period.
    moves : tuple of Move
        Whether each gap in a rate has moved, by a test that keeps its level over all periods and
        all gaps.
    counts : Counts
        One leading axis, the periods; everything above can be computed again from these.
    notes : tuple of str
        What a reader must know.
    settings : mapping
        Confidence and thresholds.
    """

    page: ClassVar[str] = "over_time"

    periods: tuple[Any, ...]
    gaps: tuple[PeriodGap, ...]
    moves: tuple[Move, ...]
    counts: Counts
    notes: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def total(self) -> Counts:
        """The counts of all periods together, for :func:`isonomy.audit_counts`."""
        return self.counts.map_cells(lambda cells: cells.sum(axis=0))

    def moved(self, *names: str) -> tuple[Move, ...]:
        """Return the gaps that have moved, of all metrics or of those named."""
        wanted = {get_metric(name).name for name in names}
        known = {metric for move in self.moves for metric in move.metrics}
        if strange := sorted(wanted - known):
            raise InputError(
                f"Only gaps between rates of this audit can be said to have moved "
                f"({listed(sorted(known), most=12)}); got {strange[0]!r}: add it to the metrics."
            )
        return tuple(m for m in self.moves if m.moved and (not wanted or wanted & {*m.metrics}))

    def sentences(self) -> tuple[str, ...]:
        """Say what has moved, and how sure that is."""
        found = [move.sentence() for move in self.moves if move.moved]
        tested = [move for move in self.moves if move.moved is not None]
        first, last, many = self.periods[0], self.periods[-1], len(self.periods)
        level = 1 - float(self.settings["confidence"])
        if tested and not found:
            found = [f"No gap is shown to have moved in {many} periods, {first} to {last}."]
        if tested:
            found.append(
                f"Where nothing moves, the chance that any gap is said to have moved "
                f"({len(tested)} tested) is at most {level:.2g}, over all periods, past and to come."
            )
        if left := [move for move in self.moves if move.moved is None]:
            names = ", ".join(dict.fromkeys(f"{m.what} by {m.attribute}" for m in left))
            found.append(f"Not tested: {names} ({left[0].reason}).")
        return tuple(found)

    def frame(self, what: Literal["gaps", "moves", "sizes"] = "gaps") -> pd.DataFrame:
        """Return one of the tables as a frame."""
        check_choice("table", what, ("gaps", "moves", "sizes"))
        if what == "sizes":
            rows = self.counts.n.sum(axis=(-1, -2))
            return pd.DataFrame(
                {
                    "period": np.repeat(np.array(self.periods, dtype=object), rows.shape[1]),
                    "group": np.tile(np.array(self.counts.labels(), dtype=object), len(rows)),
                    "rows": rows.ravel().astype(np.int64),
                }
            )
        if what == "moves":
            return pd.DataFrame(
                [asdict(move) for move in self.moves], columns=list(Move.__dataclass_fields__)
            )
        return pd.DataFrame(
            [asdict(gap) for gap in self.gaps], columns=list(PeriodGap.__dataclass_fields__)
        )

    def plot(
        self, metric: str | None = None, *, attribute: str | None = None, ax: Any = None
    ) -> Any:
        """Draw one gap over the periods, with its intervals and where it moved.

        Parameters
        ----------
        metric, attribute : str, optional
            Which gap; by default one that moved, else the first.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default. Needs the extra ``plot``.

        Returns
        -------
        matplotlib.axes.Axes
        """
        from isonomy.plots import plot_periods

        gaps = self.frame()
        if attribute is not None:
            check_choice("attribute", attribute, gaps["attribute"].unique().tolist())
        name = None if metric is None else get_metric(metric).name
        if name is not None:
            check_choice("metric of this audit", name, gaps["name"].unique().tolist())
        moved = [(m.attribute, own, m) for m in self.moved() for own in m.metrics]
        moved = [m for m in moved if attribute in (None, m[0]) and name in (None, m[1])]
        chosen = (
            moved[0][:2]
            if moved
            else (attribute or gaps["attribute"].iloc[0], name or gaps["name"].iloc[0])
        )
        rows = gaps[(gaps["attribute"] == chosen[0]) & (gaps["name"] == chosen[1])]
        ratio = get_metric(chosen[1]).goal == "one"
        return plot_periods(
            rows,
            ylabel=chosen[1].replace("_", " "),
            title=f"{chosen[1].replace('_', ' ')} by {chosen[0]} ({rows['comparison'].iloc[0]})",
            reference=1.0 if ratio else 0.0,
            since=moved[0][2].since if moved else None,
            said=f"moved (said after {moved[0][2].said})" if moved else "",
            ax=ax,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data; what is undefined or infinite is None."""
        data = {
            "rows": int(self.counts.n.sum()),
            "periods": self.periods,
            "settings": self.settings,
            "sentences": self.sentences(),
            "moves": [asdict(move) for move in self.moves],
            "gaps": [asdict(gap) for gap in self.gaps],
            "sizes": self.frame("sizes"),
            "notes": self.notes,
        }
        return {name: plain(value) for name, value in data.items()}

    def __repr__(self) -> str:
        moved = ", ".join(dict.fromkeys(f"{m.what} by {m.attribute}" for m in self.moved()))
        return (
            f"OverTime({int(self.counts.n.sum()):,} rows in {len(self.periods)} periods, "
            f"{self.periods[0]} to {self.periods[-1]}; "
            f"{f'moved: {moved}' if moved else 'no gap is shown to have moved'})"
        )
