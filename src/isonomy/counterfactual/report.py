"""What is reported of counterfactual discrimination: per group, differences, individuals."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from isonomy._arrays import Floats
from isonomy._brief import brief
from isonomy._shown import Shown
from isonomy._tables import plain
from isonomy.counterfactual.extremes import Estimate, Extremes
from isonomy.counterfactual.flip import Attribute, group_name
from isonomy.counterfactual.linear import ExactMaximum
from isonomy.counterfactual.pairs import Pairs
from isonomy.counterfactual.sample import TailSample
from isonomy.counterfactual.seek import Found
from isonomy.tails import Diagnosis

NAN = float("nan")
LAW = ("threshold", "scale", "shape")
TYPES = {"finite": "finite (III)", "light": "light (I)", "heavy": "heavy (II)"}
"""Types of tails as they are written, with the theory's numbers."""


@dataclass(frozen=True, eq=False, repr=False)
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
    levels : pandas.DataFrame
        Return levels with their limits (``horizon``, ``level``, ``low``, ``high``): those of the
        horizons asked for, or with ``curves=True`` a fine grid of them. Empty without a tail.
    """

    group: Any
    privileged: bool
    extremes: Extremes
    diagnosis: Diagnosis | None
    flip_rate: Estimate
    exact: ExactMaximum | None
    sentence: str
    levels: pd.DataFrame

    __repr__ = brief

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
        return NAN if self.diagnosis is None else float(self.diagnosis.horizon)


@dataclass(frozen=True, eq=False, repr=False)
class EcdReport(Shown):
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
        The individuals whom their group costs most, with what the model said about each; of their
        columns those that go most with discrimination come first.
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
    samples : tuple of TailSample
        Per group, rows to which generated ones were added.
    """

    page: ClassVar[str] = "tail"

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
    samples: tuple[TailSample, ...] = ()

    @property
    def cd(self) -> Floats:
        """The counterfactual discrimination of every row."""
        return self.pairs.cd

    def group(self, name: Any) -> GroupReport:
        """Return one group by its value."""
        return self.groups[self.attribute.code_of(name)]

    def with_parts(self, **parts: Any) -> "EcdReport":
        """Return the report with the rows that a search ``found``, or with ``samples``."""
        return replace(self, **parts)

    def sentences(self) -> list[str]:
        """Return the most important thing about each group, in words."""
        out = []
        horizons = sorted(self.settings["horizons"])
        middle = horizons[len(horizons) // 2]
        # a code such as 1 says nothing without its attribute
        coded = all(str(part).isdecimal() for g in self.groups for part in g.name.split(" & "))
        names = [f"{self.attribute.title} = {g.name}" if coded else g.name for g in self.groups]
        for g, name in zip(self.groups, names, strict=True):
            e = g.extremes
            if g.privileged:
                continue
            if e.largest <= 1e-9:
                out.append(f"No member of {name} is scored lower for belonging to it.")
                continue
            who = f"On average, belonging to {name} costs a person {e.acd.value:.3f} of the score"
            worst = f"; at worst {e.largest:.3f} in these {e.rows:,} rows"
            level = e.levels[middle]
            more = (
                f", and {level.value:.3f} ({level.low:.3f} to {level.high:.3f}) is to be expected "
                f"once in {middle:,} people."
                if e.fit is not None and level.low == level.low
                else "."
            )
            out.append(who + worst + more)
        return out + [
            f"{name}, the group compared with, has such cases too: at worst {g.extremes.largest:.3f}."
            for g, name in zip(self.groups, names, strict=True)
            if g.privileged and g.extremes.largest > 1e-9
        ]

    def frame(self) -> pd.DataFrame:
        """Return one row per group with every number and its interval."""
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
            value = value or Estimate(NAN)
            line |= {name: value.value, f"{name}_low": value.low, f"{name}_high": value.high}
        fit = e.fit
        return line | {
            "tail": g.tail,
            "evidence": g.evidence,
            "horizon": g.horizon,
            "k": None if fit is None else fit.k,
            **{n: NAN if fit is None else float(getattr(fit, n)) for n in LAW},
            "endpoint": NAN if fit is None else float(fit.endpoint()),
            "largest": e.largest,
            "attained": e.attained,
            "exact": NAN if g.exact is None else g.exact.anywhere,
            "exact_on_domain": NAN if g.exact is None else g.exact.on_domain,
            "exact_on_domain_attained": None if g.exact is None else g.exact.attained,
            "searched": NAN if self.found is None else self.found.largest(g.group),
            "sentence": g.sentence,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data; undefined is None."""
        content = {
            "attribute": list(self.attribute.names),
            "groups": plain(self.frame()),
            "worst": plain(self.worst),
            "notes": list(self.notes),
            "settings": dict(self.settings),
            "model_calls": self.calls,
        }
        if self.found is not None:
            content["search"] = self.found.to_dict()
        if self.samples:
            content["tail_samples"] = [
                {"group": g.name, **sample.to_dict()}
                for g, sample in zip(self.groups, self.samples, strict=True)
            ]
        return content

    def __repr__(self) -> str:
        parts = [
            f"{g.name}: mean {g.extremes.acd.value:+.3f}, largest {g.extremes.largest:+.3f}"
            for g in self.groups
        ]
        return f"EcdReport({self.attribute.title!r}, {'; '.join(parts)})"
