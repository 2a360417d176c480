"""What an audit of several models finds: where each stands, which pairs differ, what goes with bias."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Literal

import pandas as pd

from isonomy._shown import Shown
from isonomy._tables import plain
from isonomy.audit.findings import Audit, Finding, hold_together
from isonomy.audit.traits import Trait
from isonomy.errors import InputError


@dataclass(frozen=True)
class Standing:
    """One model and one protected attribute: both goals, ranks, and whether any model beats it.

    ``performance_rank`` and ``bias_rank`` order what was measured; equal values share a rank, undefined
    ones the last;
    ``performance_ranks`` and ``bias_ranks`` are the best and the worst rank that the pairs shown to
    differ leave. ``front``: no other model measured better on one goal and as good on the other.
    ``beaten_by``: models shown to be better *and* fairer.
    """

    attribute: str
    model: str
    family: str
    performance: float
    performance_low: float
    performance_high: float
    performance_rank: int
    performance_ranks: tuple[int, int]
    gap: float
    gap_low: float
    gap_high: float
    verdict: str | None
    bias: float
    bias_low: float
    bias_high: float
    bias_rank: int
    bias_ranks: tuple[int, int]
    front: bool
    beaten_by: tuple[str, ...]


@dataclass(frozen=True)
class ModelPair:
    """Two models on the same rows: differences (one less other), adjusted p-values, what is shown.

    ``better`` and ``fairer`` name the model that is shown to be so; None: no difference is shown.
    """

    attribute: str
    one: str
    other: str
    rows_differ: int
    performance_difference: float
    performance_p: float
    bias_difference: float
    bias_p: float
    better: str | None
    fairer: str | None


@dataclass(frozen=True, eq=False)
class ModelsAudit(Shown):
    """Several models on the same rows; :func:`isonomy.audit_models` makes it.

    Attributes
    ----------
    audits : mapping of name to Audit
        Every model by itself.
    standings : tuple of Standing
        Per attribute, the models by performance.
    pairs : tuple of ModelPair
        Per attribute, all pairs of models.
    traits : tuple of Trait
        Families and hyper-parameters, and the bias that goes with them.
    left_out : mapping of name to reason
        Models that could not be audited.
    notes : tuple of str
        What a reader must know.
    settings : mapping
        Both goals, groups, confidence, seed.
    """

    page: ClassVar[str] = "models"

    audits: Mapping[str, Audit]
    standings: tuple[Standing, ...]
    pairs: tuple[ModelPair, ...]
    traits: tuple[Trait, ...]
    left_out: Mapping[str, str]
    notes: tuple[str, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def attributes(self) -> tuple[str, ...]:
        """The protected attributes."""
        return tuple(dict.fromkeys(s.attribute for s in self.standings))

    def frame(
        self, what: Literal["models", "metrics", "pairs", "traits", "left_out"] = "models"
    ) -> pd.DataFrame:
        """Return one of the tables as a frame; ``metrics`` is every model by every metric."""
        if what == "metrics":
            return pd.DataFrame(
                [{"model": m, **asdict(f)} for m, a in self.audits.items() for f in a.metrics],
                columns=["model", *Finding.__dataclass_fields__],
            )
        if what == "left_out":
            return pd.DataFrame(list(self.left_out.items()), columns=["model", "reason"])
        tables: dict[str, tuple[type[Any], Sequence[Any]]] = {
            "models": (Standing, self.standings),
            "pairs": (ModelPair, self.pairs),
            "traits": (Trait, self.traits),
        }
        if what not in tables:
            raise InputError(
                f"what must be 'models', 'metrics', 'pairs', 'traits' or 'left_out'; got {what!r}."
            )
        kind, rows = tables[what]
        return pd.DataFrame([asdict(r) for r in rows], columns=list(kind.__dataclass_fields__))

    def __repr__(self) -> str:
        out = f", {len(self.left_out)} left out" if self.left_out else ""
        return (
            f"ModelsAudit({len(self.audits)} models by {', '.join(self.attributes)}{out}: "
            f"{self.settings['performance']} and {self.settings['fairness']})"
        )

    def sentences(self, attribute: str) -> list[str]:
        """Say in words where the models stand by one attribute."""
        rows = [s for s in self.standings if s.attribute == attribute]
        front = [s.model for s in rows if s.front]
        good, fair = self.settings["performance"], self.settings["fairness"]
        measured = (
            f"On the Pareto front of {good} and {fair} as measured: {', '.join(front) or 'none'} "
            f"({len(front)} of {len(rows)} models)."
        )
        out = [measured]
        beaten = [s for s in rows if s.beaten_by]
        out += [
            f"{s.model} is shown to be beaten on both goals by {', '.join(s.beaten_by)}."
            for s in beaten
        ]
        pairs = [p for p in self.pairs if p.attribute == attribute]
        if pairs:
            better, fairer = (
                sum(getattr(p, w) is not None for p in pairs) for w in ("better", "fairer")
            )
            known = " and ".join(g for g, shown in ((good, better), ("bias", fairer)) if shown)
            out.append(
                f"Of {len(pairs)} pairs, {better} are shown to differ in {good} and {fairer} in "
                f"bias; in the others the order may be chance."
                if len(pairs) > 1
                else f"The two models are shown to differ in {known}."
                if known
                else "The two models are not shown to differ: their order may be chance."
            )
        return out

    def violated(self, *names: str) -> dict[str, tuple[Finding, ...]]:
        """Return by model the findings that violate their threshold, of all metrics or those named.

        The confidence holds for all findings of all models together (Holm): where every model is
        fair, none is named as often as promised. See :meth:`isonomy.Audit.violated`.
        """
        asked = [(m, f) for m, a in self.audits.items() for f in a.asked_about(*names)]
        sure = hold_together([f for _, f in asked], float(self.settings["confidence"]))
        found: dict[str, tuple[Finding, ...]] = {}
        for (model, finding), holds in zip(asked, sure, strict=True):
            if holds:
                found[model] = (*found.get(model, ()), finding)
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data; what is undefined or infinite is None."""
        return {
            "settings": plain(self.settings),
            "models": plain([asdict(s) for s in self.standings]),
            "pairs": plain([asdict(p) for p in self.pairs]),
            "traits": plain([asdict(t) for t in self.traits]),
            "left_out": dict(self.left_out),
            "notes": list(self.notes),
            "audits": {name: a.to_dict() for name, a in self.audits.items()},
        }
