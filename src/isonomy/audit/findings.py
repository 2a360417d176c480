"""What an audit finds: findings, rates by group, and the Audit that holds them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Literal

import pandas as pd

from isonomy._bands import MANY, too_many_numbers
from isonomy._shown import Shown
from isonomy._tables import plain
from isonomy._validate import check_choice, listed
from isonomy.audit import cards
from isonomy.audit.deciding import OFTEN
from isonomy.audit.scan_result import Scan
from isonomy.errors import InputError
from isonomy.metrics import Counts, get_metric
from isonomy.metrics.rates import GROUP_RATES
from isonomy.stats import holm

MOST_SHOWN, FEW = 40, 3
"""The most groups that a table shows all of, and how many it shows of either end otherwise."""

Verdict = Literal["within", "violated", "insufficient evidence", "undefined"]


@dataclass(frozen=True)
class Finding:
    """One metric of one attribute: value, interval, verdict and the reason for it.

    ``p_value`` is that of a violation, for this finding alone (all pairs of groups where the
    largest is compared with the smallest); ``p_audit`` is adjusted for all verdicts of the audit.
    ``rows_more`` says how many more rows like these, all groups together, would decide in 80 % of
    cases, were the rates and the shares of the groups what they are here; ``rows_needed`` about
    how many the smallest compared rate would then rest on.
    ``left_out`` names the groups that were not compared: too few rows are behind a rate of theirs.
    """

    name: str
    label: str
    attribute: str | None
    comparison: str | None
    value: float
    low: float
    high: float
    accept_low: float | None
    accept_high: float | None
    rows: int | None
    verdict: Verdict | None
    reason: str | None
    p_value: float | None = None
    p_audit: float | None = None
    rows_needed: int | None = None
    left_out: tuple[str, ...] = ()
    rows_more: int | None = None


@dataclass(frozen=True)
class GroupRate:
    """One rate of one group, with its interval and what it rests on.

    ``pooled`` is the rate drawn towards that of all groups of the attribute, the more the fewer
    rows it has (empirical Bayes); a better guess for a small group, and no measurement of it.
    """

    attribute: str
    group: str
    name: str
    label: str
    value: float
    low: float
    high: float
    rows: int
    effective_rows: float
    reason: str | None
    pooled: float | None = None
    pooled_low: float | None = None
    pooled_high: float | None = None


@dataclass(frozen=True)
class ConditionalGap:
    """A gap as it is (``value``) and as it is within strata (``within``, with its interval).

    ``turns`` says that the two clearly have opposite signs (Simpson's paradox).
    """

    name: str
    label: str
    attribute: str
    strata: str
    comparison: str
    value: float
    within: float
    low: float
    high: float
    strata_used: int
    turns: bool
    reason: str | None


@dataclass(frozen=True, eq=False)
class Audit(Shown):
    """What an audit found; :func:`audit` and :func:`audit_counts` make it.

    Attributes
    ----------
    metrics : tuple of Finding
        Overall performance (attribute None), then the gaps of each attribute.
    comparisons : tuple of Finding
        Each group against the privileged one, where there are more than two groups.
    groups : tuple of GroupRate
        Rates by group.
    sizes : frame
        Rows, share and weight of each group.
    unexamined : tuple of str
        Columns that look protected and were not asked about.
    notes : tuple of str
        What a reader must know.
    counts : Counts
        Everything above can be computed again from these.
    settings : mapping
        Confidence, resamples, seed, thresholds.
    conditional : tuple of ConditionalGap
        Gaps within strata, where strata were given.
    scan : Scan or None
        Conjunctions that depart from everybody else, where they were searched.
    """

    page: ClassVar[str] = "audit"
    rates: ClassVar[Sequence[str]] = GROUP_RATES

    metrics: tuple[Finding, ...]
    comparisons: tuple[Finding, ...]
    groups: tuple[GroupRate, ...]
    sizes: pd.DataFrame
    unexamined: tuple[str, ...]
    notes: tuple[str, ...]
    counts: Counts
    settings: Mapping[str, Any] = field(default_factory=dict)
    conditional: tuple[ConditionalGap, ...] = ()
    scan: Scan | None = None

    def frame(
        self,
        what: Literal["metrics", "comparisons", "groups", "sizes", "conditional"] = "metrics",
    ) -> pd.DataFrame:
        """Return one of the tables as a frame."""
        if what == "sizes":
            return self.sizes.copy()
        tables: dict[str, tuple[type[Any], Sequence[Any]]] = {
            "metrics": (Finding, self.metrics),
            "comparisons": (Finding, self.comparisons),
            "groups": (GroupRate, self.groups),
            "conditional": (ConditionalGap, self.conditional),
        }
        if what not in tables:
            raise InputError(
                f"what must be 'metrics', 'comparisons', 'groups', 'sizes' or 'conditional'; got "
                f"{what!r}."
            )
        kind, rows = tables[what]
        made = pd.DataFrame([asdict(r) for r in rows], columns=list(kind.__dataclass_fields__))
        # a column of numbers that no row has is still one of numbers: NaN, and not None
        numbers = [
            name
            for name, declared in kind.__dataclass_fields__.items()
            if declared.type in (float | None, int | None) and made[name].dtype == object
        ]
        return made.astype(dict.fromkeys(numbers, "float64"))

    def too_fine(self) -> dict[str, str]:
        """Return the attributes that are numbers with many values, and the cuts to use instead."""
        out = {}
        for attribute in self.counts.attributes:
            part = self.counts.select(attribute)
            values, rows = [g[0] for g in part.groups], part.n.sum(axis=(-1, -2))
            if many := too_many_numbers(attribute, values, rows):
                out[attribute] = many
        return out

    def left_out(self, attribute: str) -> list[str]:
        """Return sentences on the groups that some of an attribute's gaps do not compare.

        None where a number is to be cut into bands first: too few rows are all that its groups have.
        """
        if attribute in self.too_fine():
            return []
        gaps = [f for f in self.metrics if f.attribute == attribute]
        alike: dict[tuple[str, ...], list[str]] = {}
        for group in dict.fromkeys(group for f in gaps for group in f.left_out):
            metrics = tuple(f.name for f in gaps if group in f.left_out)
            alike.setdefault(metrics, []).append(group)
        return [
            f"Fewer than {self.settings['fewest_rows']} rows are behind a rate of {listed(groups)}, "
            f"left out of {', '.join(metrics)}: such a gap can be smaller than one that compares "
            f"all groups."
            for metrics, groups in alike.items()
        ]

    def would_decide(self, attribute: str) -> list[str]:
        """Return a sentence on how many more rows would decide where evidence is insufficient."""
        thin = [
            f
            for f in self.metrics
            if f.attribute == attribute and f.verdict == "insufficient evidence"
        ]
        if not thin:
            return []
        said = [f"{f.name} {f.rows_more:,}" for f in thin if f.rows_more]
        never = [f.name for f in thin if not f.rows_more]
        out = []
        if said:
            out.append(
                f"More rows like these that would decide in {OFTEN:.0%} of cases, were the rates and the "
                f"shares of the groups to stay: {', '.join(said)}."
            )
        if never:
            out.append(
                f"No number of rows is foreseen to decide {', '.join(never)} if the rates stay the same."
            )
        return out

    def telling_groups(self, attribute: str) -> tuple[list[str], str]:
        """Return the groups that a table shows, and a sentence on the rest where there is one.

        All groups, unless a number was not cut into bands or there are more than 40: then those
        with the lowest and the highest selection rates among the groups that are compared (the
        largest groups where there are none), and the privileged ones.
        """
        sizes = self.sizes[self.sizes["attribute"] == attribute]
        groups = sizes["group"].tolist()
        if len(groups) <= (MANY if attribute in self.too_fine() else MOST_SHOWN):
            return groups, ""
        rates = {
            r.group: r.value
            for r in self.groups
            if r.attribute == attribute and r.name == "selection_rate" and r.value == r.value
        }
        compared = [g for g in sizes["group"][sizes["compared"]] if g in rates]
        ends = sorted(compared, key=lambda g: rates[g])
        what = f"the lowest and highest selection rates of the {len(ends):,} that are compared"
        if len(ends) < 2:
            ends, what = sizes.sort_values("rows")["group"].tolist()[-2 * FEW :], "the most rows"
        shown = {*ends[:FEW], *ends[-FEW:], *sizes["group"][sizes["privileged"].eq(True)]}
        return [g for g in groups if g in shown], (
            f"{len(groups) - len(shown):,} of {len(groups):,} groups of {attribute} are not shown: "
            f"these have {what} (--json and frame() have all)."
        )

    def telling_comparisons(self, attribute: str) -> tuple[tuple[Finding, ...], int]:
        """Return the comparisons of single groups that a table shows, and how many it leaves out."""
        each = [f for f in self.comparisons if f.attribute == attribute]
        worth = [f for f in each if f.verdict in {"violated", "undefined"}]
        if self.telling_groups(attribute)[1]:
            worth = [f for f in worth if f.verdict == "violated"]
            worth = sorted(worth, key=lambda f: 1.0 if f.p_value is None else f.p_value)[: 3 * FEW]
        return tuple(worth), len(each) - len(worth)

    def violated(self, *names: str) -> tuple[Finding, ...]:
        """Return the findings that violate their threshold, of all metrics or of those named.

        The confidence of the audit holds for all findings asked about together: what is returned
        is violated at its own level and by Holm's rule over all verdicts of those metrics, single
        groups and intersections included. So a fair model passes a gate as often as promised,
        however many metrics and groups it looks at.

        A metric that has no threshold here cannot violate it, and asking for it is refused: a
        gate on it would always be open.
        """
        asked = self.asked_about(*names)
        sure = hold_together(asked, float(self.settings["confidence"]))
        return tuple(f for f, holds in zip(asked, sure, strict=True) if holds)

    def asked_about(self, *names: str) -> tuple[Finding, ...]:
        """Return the findings that have a verdict, of all metrics or of those named."""
        wanted = {get_metric(n).name for n in names}
        judged = {f.name for f in self.metrics if f.accept_low is not None}
        for name in sorted(wanted - judged):
            raise InputError(
                f"Only metrics that are judged can be violated "
                f"({listed(sorted(judged)) if judged else 'none is'}); got {name!r}: add it to the "
                f"metrics of the audit (--metric {name}) and, where it has no usual limit, give it a "
                f"threshold (--threshold {name}=NUMBER)."
            )
        return tuple(f for f in self.judged() if not wanted or f.name in wanted)

    def judged(self) -> tuple[Finding, ...]:
        """Return the findings that have a verdict: gaps, intersections and single groups."""
        return tuple(
            f
            for f in (*self.metrics, *self.comparisons)
            if f.verdict in {"within", "violated", "insufficient evidence"}
        )

    def plot(
        self,
        what: Literal["differences", "ratios", "rates"] = "differences",
        *,
        attribute: str | None = None,
        rate: str = "selection_rate",
        ax: Any = None,
    ) -> Any:
        """Draw the gaps with their intervals and accepted ranges, or one rate by group.

        Parameters
        ----------
        what : {"differences", "ratios", "rates"}
        attribute : str, optional
            One attribute; all of them by default.
        rate : str
            For ``"rates"``: which rate of the groups.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default. Needs the extra ``plot``.

        Returns
        -------
        matplotlib.axes.Axes
        """
        from isonomy.plots import plot_intervals

        check_choice("what to plot", what, ("differences", "ratios", "rates"))
        table = self.frame("groups" if what == "rates" else "metrics")
        attributes = table["attribute"].dropna().unique().tolist()
        if attribute is not None:
            check_choice("attribute", attribute, attributes)
        table = table[table["attribute"].isin(attributes if attribute is None else [attribute])]
        if what == "rates":
            check_choice("rate", rate, table["name"].unique().tolist())
            rows = table[table["name"] == rate].assign(
                named=lambda t: t["group"] + " (" + t["rows"].map("{:,}".format) + ")"
            )
            across = f"{rate.replace('_', ' ')} (rows in brackets)"
            return plot_intervals(rows, label="named", section="attribute", xlabel=across, ax=ax)
        goal = {"differences": "zero", "ratios": "one"}[what]
        rows = table[[get_metric(name).goal == goal for name in table["name"]]]
        if rows.empty:
            raise InputError(f"There must be {what} to plot; this audit has none.")
        return plot_intervals(
            rows.assign(named=rows["name"].str.replace("_", " ").str.removesuffix(" difference")),
            label="named", section="attribute", xlabel=what[:-1], log=what == "ratios",
            reference=1.0 if what == "ratios" else 0.0, ax=ax,
        )  # fmt: skip

    # what a model card of skops asks of a MetricFrame of fairlearn

    def difference(
        self, method: cards.Method = "between_groups", *, attribute: str | None = None
    ) -> "pd.Series[float]":
        """Return the largest difference of each rate between groups, as fairlearn's MetricFrame.

        With ``group_min``, ``group_max`` and ``ratio`` this is what
        ``skops.card.Card.add_fairlearn_metric_frame`` asks for: pass it the audit itself.

        Parameters
        ----------
        method : {"between_groups", "to_overall"}
            Between the farthest two groups, or between a group and all rows.
        attribute : str, optional
            One of the protected attributes; their intersections when None. Rows whose group is
            not known make no group.
        """
        return cards.difference(self, attribute, method)

    def ratio(
        self, method: cards.Method = "between_groups", *, attribute: str | None = None
    ) -> "pd.Series[float]":
        """Return the smallest ratio of each rate between groups; see :meth:`difference`."""
        return cards.ratio(self, attribute, method)

    def group_min(self, *, attribute: str | None = None) -> "pd.Series[float]":
        """Return the smallest of each rate among the groups; see :meth:`difference`."""
        return cards.group_values(self, attribute).min()

    def group_max(self, *, attribute: str | None = None) -> "pd.Series[float]":
        """Return the largest of each rate among the groups; see :meth:`difference`."""
        return cards.group_values(self, attribute).max()

    def to_model_card(
        self,
        *,
        model: str = "model",
        dataset: str = "audited rows",
        task: str = "tabular-classification",
        fields: Mapping[str, str] | None = None,
    ) -> str:
        """Return a model card in Markdown, in the layout of Hugging Face.

        The results stand in the model index (YAML) and under Evaluation, disparities under Bias,
        Risks, and Limitations. What no audit can know is marked "[More Information Needed]".

        Parameters
        ----------
        model, dataset, task : str
            Their names in the model index.
        fields : mapping of heading to Markdown, optional
            Texts of open sections, such as ``{"Direct Use": "..."}``.
        """
        return cards.model_card(self, model=model, dataset=dataset, task=task, fields=fields or {})

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data; what is undefined or infinite is None."""
        data = {
            "rows": int(self.counts.n.sum()),
            "favorable": self.counts.favorable,
            "privileged": self.counts.privileged,
            "settings": self.settings,
            "metrics": [asdict(row) for row in self.metrics],
            "comparisons": [asdict(row) for row in self.comparisons],
            "groups": [asdict(row) for row in self.groups],
            "sizes": self.sizes,
            "conditional": [asdict(row) for row in self.conditional],
            "unexamined": self.unexamined,
            "notes": self.notes,
            "counts": self.counts,
        }
        if self.scan is not None:
            data["scan"] = self.scan
        return {name: plain(value) for name, value in data.items()}

    def __repr__(self) -> str:
        names = dict.fromkeys(f.attribute for f in self.metrics if f.attribute is not None)
        words = Counter(f.verdict for f in self.judged())
        verdicts = ", ".join(f"{n} {word}" for word, n in words.most_common()) or "no verdict"
        return (
            f"Audit({int(self.counts.n.sum()):,} rows by {', '.join(names)}; favorable "
            f"{listed(self.counts.favorable)}; {verdicts})"
        )


def hold_together(findings: Sequence[Finding], confidence: float) -> list[bool]:
    """Return which findings are violated at their own level and by Holm's rule over all of them."""
    pvalues = holm([1.0 if f.p_value is None else f.p_value for f in findings])
    return [
        f.verdict == "violated" and (p <= 1 - confidence or f.p_value is None)
        for f, p in zip(findings, pvalues, strict=True)
    ]
