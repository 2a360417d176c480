"""What is reported of counterfactual discrimination: per group, differences, individuals."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from isonomy.counterfactual.extremes import Estimate, Extremes
from isonomy.counterfactual.flip import Attribute, group_name
from isonomy.counterfactual.linear import ExactMaximum
from isonomy.counterfactual.pairs import Pairs
from isonomy.counterfactual.seek import Found
from isonomy.tails import Diagnosis

__all__ = ["EcdReport", "GroupReport"]

Floats = NDArray[np.float64]
TYPES = {"finite": "finite (III)", "light": "light (I)", "heavy": "heavy (II)"}
"""Types of tails as they are written, with the theory's numbers."""


@dataclass(frozen=True, eq=False)
class GroupReport:
    """One group of a report.

    Parameters
    ----------
    group : value or tuple
        The group.
    privileged : bool
        Whether the others are compared with it.
    extremes : Extremes
        Mean, conditional value at risk, tail and return levels.
    diagnosis : Diagnosis or None
        The type of the tail, the evidence for it and its horizon; None where none was fitted.
    flip_rate : Estimate
        The share of members whose label changes, with Wilson's interval.
    exact : ExactMaximum or None
        The largest discrimination there can be, for a linear-logistic model.
    sentence : str
        What is degenerate about the group, in words; empty where a tail was fitted.
    """

    group: Any
    privileged: bool
    extremes: Extremes
    diagnosis: Diagnosis | None
    flip_rate: Estimate
    exact: ExactMaximum | None
    sentence: str

    @property
    def name(self) -> str:
        """The group in words."""
        return group_name(self.group)

    @property
    def tail(self) -> str:
        """The type of the tail, with the number the theory gives it."""
        return "none fitted" if self.diagnosis is None else TYPES[self.diagnosis.type]

    @property
    def evidence(self) -> str:
        """Why the tail is of that type."""
        return "" if self.diagnosis is None else self.diagnosis.evidence

    @property
    def horizon(self) -> float:
        """The number of queries up to which levels may be read; NaN where there is no tail."""
        return float("nan") if self.diagnosis is None else float(self.diagnosis.horizon)


@dataclass(frozen=True, eq=False, repr=False)
class EcdReport:
    """How much a model's scores depend on a protected attribute, on average and at worst.

    Parameters
    ----------
    attribute : Attribute
        What was flipped.
    groups : tuple of GroupReport
        Each group by itself.
    differences : mapping of group to mapping of name to Estimate
        Per group that is not privileged, what it has more than the privileged one: ``acd``,
        ``cvar``, ``ecd`` (locations, as in the paper) and the return level of every horizon.
    worst : pandas.DataFrame
        The individuals whom their group costs most, with what the model said about each.
    pairs : Pairs
        The scores behind it all.
    rows : ndarray of int
        The positions of those rows in the table that was given.
    notes : tuple of str
        What a reader has to know.
    settings : mapping
        Level, horizons, resamples and seed.
    calls : int
        How often the model was asked.
    found : Found, optional
        What a search found beyond the data.
    """

    attribute: Attribute
    groups: tuple[GroupReport, ...]
    differences: Mapping[Any, Mapping[Any, Estimate]]
    worst: pd.DataFrame
    pairs: Pairs
    rows: NDArray[np.intp]
    notes: tuple[str, ...]
    settings: Mapping[str, Any]
    calls: int
    found: Found | None = None

    @property
    def cd(self) -> Floats:
        """The counterfactual discrimination of every row."""
        return self.pairs.cd

    def group(self, name: Any) -> GroupReport:
        """Give one group by its value."""
        return self.groups[self.attribute.code_of(name)]

    def with_search(self, found: Found) -> "EcdReport":
        """Give the report with what a search found."""
        return replace(self, found=found)

    def frame(self) -> pd.DataFrame:
        """Give one row per group with every number and its interval."""
        return pd.DataFrame([self._line(g) for g in self.groups])

    def _line(self, g: GroupReport) -> dict[str, Any]:
        e, gap = g.extremes, self.differences.get(g.group, {})
        line: dict[str, Any] = {"group": g.name, "privileged": g.privileged, "rows": e.rows}
        for name, value in (
            ("acd", e.acd),
            ("cvar", e.cvar),
            ("flip_rate", g.flip_rate),
            ("location", e.location),
            *((f"level_{m}", v) for m, v in e.levels.items()),
            *((f"{n}_difference", gap.get(n)) for n in ("acd", "cvar")),
            ("ecd", gap.get("ecd")),
            *((f"level_{m}_difference", gap.get(m)) for m in e.levels),
        ):
            value = value or Estimate(float("nan"))
            line |= {name: value.value, f"{name}_low": value.low, f"{name}_high": value.high}
        fit = e.fit
        line |= {
            "tail": g.tail,
            "evidence": g.evidence,
            "horizon": g.horizon,
            "k": None if fit is None else fit.k,
            "threshold": float("nan") if fit is None else float(fit.threshold),
            "scale": float("nan") if fit is None else float(fit.scale),
            "shape": float("nan") if fit is None else float(fit.shape),
            "endpoint": float("nan") if fit is None else float(fit.endpoint()),
            "largest": e.largest,
            "attained": e.attained,
            "exact": float("nan") if g.exact is None else g.exact.anywhere,
            "exact_on_domain": float("nan") if g.exact is None else g.exact.on_domain,
            "searched": float("nan") if self.found is None else self.found.largest(g.group),
            "sentence": g.sentence,
        }
        return line

    def summary(self) -> dict[str, Any]:
        """Give the report as plain data; undefined is None."""
        worst = self.worst.astype(object).where(self.worst.notna(), None)
        out = {
            "attribute": list(self.attribute.names),
            "groups": [_plain(line) for line in self.frame().to_dict("records")],
            "worst": [_plain(line) for line in worst.to_dict("records")],
            "notes": list(self.notes),
            "settings": dict(self.settings),
            "model_calls": self.calls,
        }
        if self.found is not None:
            out["search"] = {
                "queries": self.found.queries,
                "calls": self.found.calls,
                "found": [_plain(line) for line in self.found.frame().to_dict("records")],
            }
        return out

    def __repr__(self) -> str:
        parts = [
            f"{g.name}: mean {g.extremes.acd.value:+.3f}, largest {g.extremes.largest:+.3f}"
            for g in self.groups
        ]
        return f"EcdReport({self.attribute.title!r}, {'; '.join(parts)})"

    def _repr_html_(self) -> str:
        shown = self.frame().set_index("group").T
        return str(shown.to_html()) + str(self.worst.to_html())


def _plain(line: Mapping[Any, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, value in line.items():
        plain = value.item() if isinstance(value, np.generic) else value
        if isinstance(plain, float) and not np.isfinite(plain):
            plain = None if plain != plain else str(plain)
        out[str(key)] = plain if isinstance(plain, str | int | float | bool | None) else str(plain)
    return out
