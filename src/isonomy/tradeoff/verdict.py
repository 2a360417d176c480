"""Judging one method against the baselines, with the uncertainty of the verdict."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from isonomy._arrays import Floats
from isonomy._shown import Shown
from isonomy._tables import plain
from isonomy._validate import MISSING, check_choice, check_least, listed, make_rng
from isonomy.audit import FEWEST_ROWS
from isonomy.audit.judge import is_judged
from isonomy.errors import InputError
from isonomy.metrics import Counts, bias_of, get_metric
from isonomy.metrics.gaps import default_comparison
from isonomy.metrics.joint import JointCounts
from isonomy.stats.intervals import percentile_interval
from isonomy.tradeoff import regions
from isonomy.tradeoff.baseline import Baseline, Method, mean_of_draws, mutation_values
from isonomy.tradeoff.frontier import Frontier
from isonomy.tradeoff.regions import REGIONS, Rule, region_names

Interval = tuple[float, float]

UNCHANGED = "the method changed no prediction: its point is the original model itself"

_CELLS_AT_A_TIME = 2_000_000  # mutated cells held in memory during the bootstrap


class Draws(NamedTuple):
    """Bootstrap resamples: a method's point, and the baseline of the same rows.

    ``lines_performance[:, 0]`` and ``lines_bias[:, 0]`` are the original model.
    """

    performance: Floats
    bias: Floats
    lines_performance: Floats
    lines_bias: Floats


@dataclass(frozen=True, eq=False)
class TradeOff(Shown):
    """Where a method lies against the mutation baseline, and how sure that is.

    Attributes
    ----------
    baseline : Baseline
        Of the original model.
    performance, bias : float
        Of the method: means over repeats, the bias as a mean of absolute values.
    region : str or None
        One of the five regions; None where the baseline gives none (see ``reason``).
    area : float
        Between a good point and the baseline, NaN otherwise.
    rule : {"paper", "code"}
    reason : str or None
        Why there is no region.
    constant : bool
        Whether the method predicts one class for every row (of some repeat): no disparity, no use.
    probability : mapping of region to float
        How often each region occurs among the resamples; ``undefined`` where a resample has no
        baseline to judge by.
    area_interval, performance_interval, bias_interval : tuple of float
        Percentile intervals; the area's from the resamples that are good.
    confidence, resamples
        Of the intervals.
    frontier : Frontier or None
        The second baseline, where scores were given.
    notes : tuple of str
        What a reader must know.
    """

    page: ClassVar[str] = "tradeoff"

    baseline: Baseline
    performance: float
    bias: float
    region: str | None
    area: float
    rule: Rule
    reason: str | None = None
    constant: bool = False
    probability: dict[str, float] = field(default_factory=dict)
    area_interval: Interval = (np.nan, np.nan)
    performance_interval: Interval = (np.nan, np.nan)
    bias_interval: Interval = (np.nan, np.nan)
    confidence: float = 0.95
    resamples: int = 0
    frontier: Frontier | None = None
    notes: tuple[str, ...] = ()

    @property
    def above_frontier(self) -> float:
        """How much better it performs than post-processing that is at least as fair; NaN: unknown."""
        if self.frontier is None:
            return float("nan")
        gap = self.performance - float(self.frontier.performance_at(self.bias))
        return gap if self.baseline.larger_is_better else -gap

    def _row(self) -> dict[str, Any]:
        row: dict[str, Any] = {
            "performance_metric": self.baseline.performance_metric,
            "fairness_metric": self.baseline.fairness_metric,
            "original_performance": self.baseline.performance[0],
            "original_bias": self.baseline.bias[0],
        }
        for name in ("performance", "bias", "area"):
            low, high = getattr(self, f"{name}_interval")
            row |= {name: getattr(self, name), f"{name}_low": low, f"{name}_high": high}
        names = ("region", "constant", "above_frontier", "reason")
        return row | {name: getattr(self, name) for name in names}

    def frame(self) -> pd.DataFrame:
        """Return the verdict as one row."""
        return pd.DataFrame([self._row() | {f"p_{w}": p for w, p in self.probability.items()}])

    def plot(self, name: str = "mitigated", *, ax: Any = None) -> Any:
        """Draw the point with its intervals, the regions, the baseline and the frontier.

        Parameters
        ----------
        name : str
            What the point is called.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default. Needs the extra ``plot``.

        Returns
        -------
        matplotlib.axes.Axes
        """
        from isonomy.plots import plot_plane

        return plot_plane(
            self.baseline.frame(),
            self.frame().assign(name=name, word=self.region),
            xlabel=f"bias: {self.baseline.fairness_metric.replace('_', ' ')}",
            ylabel=self.baseline.performance_metric.replace("_", " "),
            frontier=None if self.frontier is None else self.frontier.reach_frame(),
            regions=self.baseline.reason is None,
            larger_is_better=self.baseline.larger_is_better,
            ax=ax,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data; undefined is None."""
        names = ("rule", "probability", "baseline", "frontier", "notes")
        return dict(plain(self._row() | {name: getattr(self, name) for name in names}))

    def __repr__(self) -> str:
        word = self.region or f"no region: {self.reason}"
        sure = f", probability {self.probability.get(word, 0):.2f}" if self.probability else ""
        size = f", area {self.area:.4f}" if self.area == self.area else ""
        return f"TradeOff({word}{sure}{size})"


def judge(
    y_true: ArrayLike,
    y_base: ArrayLike,
    y_pred: ArrayLike,
    *,
    sensitive_features: Any,
    sample_weight: ArrayLike | None = None,
    favorable: Any = None,
    privileged: Any = None,
    **options: Any,
) -> TradeOff:
    """Judge mitigated predictions against those of the original model on the same rows.

    Parameters
    ----------
    y_true, y_base, y_pred : array-like of shape (n,)
        Labels, predictions of the original model, predictions of the mitigated one.
    sensitive_features, sample_weight, favorable, privileged
        As for :func:`isonomy.audit`.
    **options
        Those of :func:`judge_counts`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> s = rng.integers(0, 2, 3000)
    >>> y = (rng.uniform(size=3000) < 0.3 + 0.1 * s).astype(int)
    >>> base = np.where(rng.uniform(size=3000) < 0.8, y, s)
    >>> fairer = np.where(rng.uniform(size=3000) < 0.95, base, y)
    >>> verdict = judge(y, base, fairer, sensitive_features=s, privileged=1, resamples=200)
    >>> verdict.region
    'win-win'
    """
    joint = JointCounts.from_labels(
        y_true,
        y_base,
        y_pred,
        sensitive_features=sensitive_features,
        sample_weight=sample_weight,
        favorable=favorable,
        privileged=privileged,
    )
    return judge_counts(joint, **options)


def judge_counts(
    joint: JointCounts,
    *,
    performance: str = "accuracy",
    fairness: str = "statistical_parity_difference",
    degrees: ArrayLike | None = None,
    strategy: Any = "majority",
    method: Method = "sampled",
    repetitions: int = 50,
    rule: Rule = "paper",
    resamples: int = 1000,
    confidence: float = 0.95,
    frontier: Frontier | None = None,
    random_state: int | np.random.Generator | None = 0,
) -> TradeOff:
    """Judge a method from the joint counts of original and mitigated predictions.

    The point estimate follows the paper: metrics of each repeat, averaged, against the baseline
    averaged over the same repeats. The uncertainty comes from a paired bootstrap over repeats and
    test rows: each resample has its own baseline and its own point.

    Parameters
    ----------
    joint : JointCounts
        Leading axis: repeats.
    performance, fairness : str
        Metrics of counts.
    degrees, strategy, method, repetitions
        Of the baseline, see :meth:`Baseline.from_counts`.
    rule : {"paper", "code"}
        See :func:`classify`.
    resamples : int
        Bootstrap resamples; 0 for none.
    confidence : float
        Confidence level of the intervals.
    frontier : Frontier, optional
        The second baseline, to show the method against both.
    random_state : int, Generator or None
        Seed.
    """
    check_least("resamples", resamples, 0)
    if get_metric(fairness).kind == "performance":
        raise InputError(f"fairness must be a fairness metric; {fairness} is one of performance.")
    check_choice("rule of regions", rule, ("paper", "code"))
    if not isinstance(frontier, Frontier | None):
        raise InputError(
            f"frontier must be what post_processing_frontier returns; got {frontier!r}."
        )
    rng = make_rng(random_state)
    joint, strays = _without_strays(joint)
    baseline = Baseline.from_counts(
        joint.base,
        performance=performance,
        fairness=fairness,
        degrees=degrees,
        strategy=strategy,
        method=method,
        repetitions=repetitions,
        random_state=rng,
    )
    y, x = (float(v.mean()) for v in measure(joint.method, performance, fairness))
    reason = baseline.reason
    if reason is None and not (np.isfinite(y) and np.isfinite(x)):
        reason = f"{performance if not np.isfinite(y) else fairness} is undefined for the method"
    if reason is None and not joint.changed().any():
        reason = UNCHANGED
    region, size = None, np.nan
    if reason is None:
        placed = baseline.place(y, x, rule=rule)
        region, size = str(region_names(placed.region)), float(placed.area)
    constant = bool(is_constant(joint.method).any())
    uncertainty: dict[str, Any] = {}
    if resamples:
        draws = paired_draws(joint, baseline, resamples=resamples, random_state=rng)
        uncertainty["performance_interval"] = interval(draws.performance, confidence)
        uncertainty["bias_interval"] = interval(draws.bias, confidence)
        if reason is None:
            probability, areas = region_shares(draws, baseline, rule=rule)
            uncertainty["probability"] = probability
            uncertainty["area_interval"] = interval(areas, confidence)
    return TradeOff(
        baseline=baseline,
        performance=y,
        bias=x,
        region=region,
        area=size,
        rule=rule,
        reason=reason,
        constant=constant,
        confidence=confidence,
        resamples=resamples,
        frontier=frontier,
        notes=(*strays, *_notes(joint, baseline, reason, constant, frontier)),
        **uncertainty,
    )


def _without_strays(joint: JointCounts) -> tuple[JointCounts, list[str]]:
    """Set groups too small to compare aside where the largest is compared with the smallest.

    Their rows still count in performance. The rule is the audit's.
    """
    judged = np.asarray(is_judged(joint.base).reshape(-1, len(joint.groups)).all(axis=0))
    if default_comparison(joint.base) != "max_min" or judged.all() or judged.sum() < 2:
        return joint, []
    kept = [g for g, k in zip(joint.groups, judged, strict=True) if k]
    labels = [label for label, k in zip(joint.base.labels(), judged, strict=True) if not k]
    aside = (MISSING,) * len(joint.attributes)
    index = np.where(judged, np.cumsum(judged) - 1, len(kept))
    note = f"{listed(labels)}: unknown, or fewer than {FEWEST_ROWS} rows, so not compared."
    return joint.regroup(index, (*kept, aside)), [note]


def region_shares(
    draws: Draws, baseline: Baseline, *, rule: Rule = "paper"
) -> tuple[dict[str, float], Floats]:
    """Return how often each region occurs among resamples, and the area of each.

    A resample without anything to trade has no regions, nor one in which the method is the original
    model, on the corner of the line; both count as ``undefined``.
    """
    turn = 1.0 if baseline.larger_is_better else -1.0
    lines_y, lines_x = turn * draws.lines_performance, draws.lines_bias
    void = (lines_y[:, 0] <= lines_y[:, -1]) | (lines_x[:, 0] <= lines_x[:, -1])
    void |= np.isclose(lines_y[:, 0], turn * draws.performance, rtol=0, atol=1e-12) & np.isclose(
        lines_x[:, 0], draws.bias, rtol=0, atol=1e-12
    )
    lines_x = np.where(void[:, None], np.nan, lines_x)
    placed = regions.place(turn * draws.performance, draws.bias, lines_y, lines_x, rule=rule)
    share = {word: float(np.mean(placed.region == code)) for code, word in enumerate(REGIONS)}
    undefined = float(np.mean(placed.region == regions.UNDEFINED))
    return share | ({"undefined": undefined} if undefined else {}), placed.area


def measure(counts: Counts, performance: str, fairness: str) -> tuple[Floats, Floats]:
    """Return performance and bias, one value per leading index, NaN where undefined."""
    good, fair = get_metric(performance), get_metric(fairness)
    # through the functions: an undefined value is the caller's to report, not to warn about
    y = np.asarray(good.fn(counts, **good.parameters), dtype=np.float64)
    return y, bias_of(fair, fair.fn(counts, **fair.parameters))


def is_constant(counts: Counts) -> NDArray[np.bool_]:
    """Return where all rows are predicted to be of one class."""
    predicted = counts.n.sum(axis=(-3, -2))
    return np.asarray((predicted > 0).sum(axis=-1) <= 1)


def interval(values: Floats, confidence: float) -> Interval:
    """Return a percentile interval, undefined where no value is known."""
    if not np.isfinite(values).any():
        return (float("nan"), float("nan"))
    low, high = percentile_interval(values, confidence=confidence)
    return float(low), float(high)


def paired_draws(
    joint: JointCounts,
    baseline: Baseline,
    *,
    resamples: int = 1000,
    mutations: int = 50,
    random_state: int | np.random.Generator | None = 0,
) -> Draws:
    """Resample repeats and test rows: the method's point and the baseline of every resample.

    Parameters
    ----------
    joint : JointCounts
        Leading axis: repeats.
    baseline : Baseline
        Names the metrics, the degrees and the label that mutations write.
    resamples : int
        How many.
    mutations : int
        About how many mutations each degree of a resample's baseline averages, over its repeats.
    random_state : int, Generator or None
        Seed.
    """
    rng = make_rng(random_state)
    performance, fairness = baseline.performance_metric, baseline.fairness_metric
    label = baseline.label if baseline.label is not None else "random"
    repeats = int(np.prod(joint.shape)) if joint.shape else 1
    repetitions = max(1, -(-mutations // repeats))
    cells = joint.method.n[0].size if joint.shape else joint.method.n.size
    size = repeats * repetitions * baseline.degrees.size * cells
    step = max(1, _CELLS_AT_A_TIME // size)

    def pieces() -> Iterator[tuple[Floats, Floats, Floats, Floats]]:
        for start in range(0, resamples, step):
            some = joint.resample(min(step, resamples - start), random_state=rng)
            values = mutation_values(
                some.base,
                [performance, fairness],
                degrees=baseline.degrees,
                strategy=label,
                repetitions=repetitions,
                random_state=rng,
            )
            line_y = mean_of_draws(values[performance])  # degrees, resamples, repeats
            line_x = mean_of_draws(bias_of(fairness, values[fairness]))
            y, x = measure(some.method, performance, fairness)
            if joint.shape:
                line_y, line_x = line_y.mean(axis=-1), line_x.mean(axis=-1)
                y, x = y.mean(axis=-1), x.mean(axis=-1)
            yield y, x, line_y.T, line_x.T

    parts = list(zip(*pieces(), strict=True))
    y, x, line_y, line_x = (np.concatenate(p) for p in parts)
    return Draws(y, x, line_y, line_x)


def _notes(
    joint: JointCounts,
    baseline: Baseline,
    reason: str | None,
    constant: bool,
    frontier: Frontier | None,
) -> Iterator[str]:
    if reason is not None:
        yield f"No region: {reason}."
    if constant:
        yield (
            "The method predicts one class for every row of some test set: it has no disparity "
            "and no use, whatever its region."
        )
    if baseline.strategy == "random":
        yield "Random labels make a weaker baseline than the majority label."
    if frontier is not None and frontier.same_rows:
        yield (
            "The thresholds of the frontier were chosen on the rows they are judged on, which "
            "flatters the frontier."
        )
