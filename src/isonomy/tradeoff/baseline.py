"""The mutation baseline: what blindly giving up performance buys in fairness."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar, Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from isonomy._arrays import Floats
from isonomy._shown import Shown
from isonomy._tables import plain
from isonomy._validate import check_choice, check_least, make_rng
from isonomy.errors import InputError, NotApplicable
from isonomy.metrics import Counts, Metric, get_metric
from isonomy.metrics.gaps import default_comparison
from isonomy.metrics.metric import ideal_of
from isonomy.tradeoff import regions
from isonomy.tradeoff.expectation import expected
from isonomy.tradeoff.mutation import check_degrees, mutate, resolve_target
from isonomy.tradeoff.regions import Normalised, Placed, Rule

Method = Literal["sampled", "expected"]


def _check_counted(metric: Metric) -> Metric:
    if metric.needs != "counts":
        raise NotApplicable(
            f"A mutation baseline needs a metric of counts; {metric.name} needs {metric.needs}."
        )
    return metric


def mutation_values(
    counts: Counts,
    metrics: Iterable[str | Metric],
    *,
    degrees: ArrayLike | None = None,
    strategy: Any = "majority",
    repetitions: int = 50,
    random_state: int | np.random.Generator | None = 0,
) -> dict[str, Floats]:
    """Draw mutations once and compute any number of metrics of each.

    Parameters
    ----------
    counts : Counts
        The original predictions; leading axes are splits.
    metrics : iterable of str or Metric
        Performance and fairness metrics of counts.
    degrees, strategy, repetitions, random_state
        As for :meth:`Baseline.from_counts`.

    Returns
    -------
    dict
        By metric name as given, values of shape ``(repetitions, degrees, *splits)``, signed.

    Examples
    --------
    >>> counts = Counts.from_labels([1, 0, 0, 0], [1, 0, 1, 0], sensitive_features=list("aabb"))
    >>> mutation_values(counts, ["accuracy", "spd"], repetitions=5)["spd"].shape
    (5, 11)
    """
    drawn = mutate(
        counts,
        degrees,
        target=resolve_target(counts, strategy),
        repetitions=repetitions,
        random_state=random_state,
    )
    return drawn_values(drawn, metrics)


def drawn_values(drawn: Counts, metrics: Iterable[str | Metric]) -> dict[str, Floats]:
    """Compute any number of metrics of mutations that :func:`mutate` has drawn."""
    wanted = {str(m.name if isinstance(m, Metric) else m): get_metric(m) for m in metrics}
    # adding groups up once serves every metric that would do so by itself
    together = drawn.map_cells(
        lambda cells: cells.sum(axis=-3, keepdims=True),
        attributes=("all",),
        groups=(("all",),),
        privileged={},
    )
    pair = drawn.by_privilege() if default_comparison(drawn) == "privileged" else drawn
    out = {}
    for name, metric in wanted.items():
        in_pairs = metric.parameters.get("compare", "own groups") is None
        seen = together if metric.kind == "performance" else pair if in_pairs else drawn
        values = np.asarray(_check_counted(metric)(seen))
        if values.shape != drawn.shape:
            raise InputError(f"{name} gives a value per group; a baseline needs one per data set.")
        out[name] = values
    return out


def mean_of_draws(values: Floats) -> Floats:
    """Average over the first axis; draws that all agree keep their value to the last bit.

    The original model is degree 0 of its own baseline: a mean that rounds would put it above.
    """
    first = values[0]
    same = (values == first).all(axis=0)
    return np.ascontiguousarray(np.where(same, first, values.mean(axis=0)))


@dataclass(frozen=True, eq=False)
class Baseline(Shown):
    """Performance and bias of the original model and of its ever more mutated copies.

    Build one with :meth:`from_counts`; :meth:`from_points` takes numbers that are already there.

    Attributes
    ----------
    degrees : ndarray
        Shares of predictions overwritten, from 0.
    performance, bias : ndarray
        Means over splits and repetitions; the bias is the mean of absolute values, not the
        absolute value of a mean.
    performance_error, bias_error : ndarray
        Of sampled baselines the standard error of the mutation, of expected ones the bound of the
        error (0: exact).
    performance_metric, fairness_metric : str
        What was measured.
    larger_is_better : bool
        Whether more performance is better.
    strategy : str
        ``majority``, ``minority``, ``random`` or a label.
    label : object
        The label written; None for random labels.
    method : {"sampled", "expected"} or "points"
    repetitions, splits : int

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> group = rng.choice(["f", "m"], 1000)
    >>> y = (rng.uniform(size=1000) < 0.3).astype(int)
    >>> y_pred = ((rng.uniform(size=1000) < 0.1 + 0.6 * y) | (group == "m") & (y == 1)).astype(int)
    >>> counts = Counts.from_labels(y, y_pred, sensitive_features=group, privileged="m")
    >>> line = Baseline.from_counts(counts, fairness="eod", method="expected")
    >>> bool(line.bias[0] > line.bias[5] > line.bias[-1] == 0)
    True

    References
    ----------
    Hort, Zhang, Sarro, Harman 2021, Fairea: A Model Behaviour Mutation Approach to Benchmarking
    Bias Mitigation Methods.
    """

    page: ClassVar[str] = "baseline"

    degrees: Floats
    performance: Floats
    bias: Floats
    performance_error: Floats
    bias_error: Floats
    performance_metric: str
    fairness_metric: str
    larger_is_better: bool = True
    strategy: str = "majority"
    label: Any = None
    method: str = "points"
    repetitions: int = 0
    splits: int = 1

    # ------------------------------------------------------------------ making one

    @classmethod
    def from_counts(
        cls,
        counts: Counts,
        *,
        performance: str | Metric = "accuracy",
        fairness: str | Metric = "statistical_parity_difference",
        **options: Any,
    ) -> "Baseline":
        """Mutate the predictions behind counts.

        Parameters
        ----------
        counts : Counts
            The original model's predictions on test rows. Leading axes are splits, which are
            averaged over; any number of groups and classes.
        performance, fairness : str or Metric
            Any metrics of counts from the registry.
        degrees : array-like, optional
            Shares of predictions to overwrite, from 0; by default 0, 0.1, ... 1.
        strategy : {"majority", "minority", "random"} or label
            What overwritten predictions become. The paper uses the majority label, which makes
            the strictest baseline.
        method : {"sampled", "expected"}
            Draw mutations, as the paper does, or compute the mean of infinitely many.
        repetitions : int
            Draws per degree and split, for ``sampled``.
        random_state : int, Generator or None
            Seed.
        """
        made = baselines(counts, performance=[performance], fairness=[fairness], **options)
        return next(iter(made.values()))

    @classmethod
    def from_points(
        cls,
        performance: ArrayLike,
        bias: ArrayLike,
        *,
        degrees: ArrayLike | None = None,
        performance_metric: str = "accuracy",
        fairness_metric: str = "statistical_parity_difference",
        **more: Any,
    ) -> Self:
        """Take a baseline from numbers, such as a published one.

        Examples
        --------
        >>> line = Baseline.from_points([0.8, 0.7, 0.6], [0.2, 0.1, 0.0], degrees=[0, 0.5, 1])
        >>> line.region(0.75, 0.1)
        'good'
        """
        y, x = (np.asarray(v, dtype=np.float64).ravel() for v in (performance, bias))
        steps = np.linspace(0, 1, y.size) if degrees is None else check_degrees(degrees)
        if not y.size == x.size == steps.size >= 2:
            raise InputError(
                "A baseline needs one performance and one bias per degree, two degrees or more; "
                f"got {y.size}, {x.size} and {steps.size}."
            )
        return cls(
            degrees=steps,
            performance=y,
            bias=x,
            performance_error=np.zeros(y.size),
            bias_error=np.zeros(y.size),
            performance_metric=performance_metric,
            fairness_metric=fairness_metric,
            **more,
        )

    # ------------------------------------------------------------------ can it be trusted

    @property
    def reason(self) -> str | None:
        """Why this baseline cannot divide the plane into regions, or None where it can.

        The hypothesis of the method is that mutation costs performance and buys fairness. It fails
        for metrics such as the error rate difference, for models that are no better than a
        constant, and for models without a bias to reduce.
        """
        for what, values, metric in (
            ("performance", self.performance, self.performance_metric),
            ("bias", self.bias, self.fairness_metric),
        ):
            if not np.isfinite(values).all():
                at = self.degrees[~np.isfinite(values)][0]
                hint = (
                    " (the variant with zero_division=0 counts it as 0)"
                    if what == "performance" and "zero_division" in get_metric(metric).parameters
                    else ""
                )
                return f"{metric} is undefined at degree {at:g}{hint}"
        if self.gain[-1] >= self.gain[0]:
            return (
                f"the original model is no better than its fully mutated copy "
                f"({self.performance_metric} {self.performance[0]:.3f} and "
                f"{self.performance[-1]:.3f}), so there is no performance to give up"
            )
        rise = np.diff(self.bias)
        if self.method == "sampled":
            allowed = 4 * np.hypot(self.bias_error[1:], self.bias_error[:-1])
        else:
            allowed = self.bias_error[1:] + self.bias_error[:-1]
        risen = rise > allowed + 1e-9
        if risen.any():
            k = int(np.argmax(np.where(risen, rise, -np.inf)))
            return (
                f"the bias by {self.fairness_metric} does not decrease with the degree of mutation "
                f"(from {self.bias[k]:.4f} at {self.degrees[k]:g} to {self.bias[k + 1]:.4f} at "
                f"{self.degrees[k + 1]:g}), so being above this line means nothing"
            )
        return None

    @property
    def gain(self) -> Floats:
        """The performance turned so that more is better."""
        return self.performance if self.larger_is_better else -self.performance

    def _line(self) -> tuple[Floats, Floats]:
        reason = self.reason
        if reason is not None:
            raise NotApplicable(f"This baseline gives no regions: {reason}.")
        return self.gain, self.bias

    def _turn(self, performance: ArrayLike) -> Floats:
        values = np.asarray(performance, dtype=np.float64)
        return values if self.larger_is_better else -values

    # ------------------------------------------------------------------ judging points

    def normalise(self, performance: ArrayLike, bias: ArrayLike) -> Normalised:
        """Rescale points and the baseline to 0 ... 1 (see :func:`isonomy.tradeoff.normalise`)."""
        return regions.normalise(self._turn(performance), bias, *self._line())

    def classify(
        self, performance: ArrayLike, bias: ArrayLike, *, rule: Rule = "paper"
    ) -> NDArray[np.int8]:
        """Place points; raises NotApplicable with the reason where the hypothesis fails."""
        return regions.classify(self._turn(performance), bias, *self._line(), rule=rule)

    def area(self, performance: ArrayLike, bias: ArrayLike, *, rule: Rule = "paper") -> Floats:
        """Measure the area of good points (see :func:`isonomy.tradeoff.area`)."""
        return self.place(performance, bias, rule=rule).area

    def place(self, performance: ArrayLike, bias: ArrayLike, *, rule: Rule = "paper") -> Placed:
        """Return region and area of points."""
        return regions.place(self._turn(performance), bias, *self._line(), rule=rule)

    def region(self, performance: float, bias: float, *, rule: Rule = "paper") -> str:
        """Return the name of one point's region."""
        return str(regions.region_names(self.classify(performance, bias, rule=rule)))

    # ------------------------------------------------------------------ showing it

    def frame(self) -> pd.DataFrame:
        """Return the baseline as a frame, one row per degree."""
        names = ("performance", "bias", "performance_error", "bias_error")
        return pd.DataFrame({"degree": self.degrees, **{n: getattr(self, n) for n in names}})

    def to_dict(self) -> dict[str, Any]:
        """Return the line as plain data; undefined is None."""
        columns = {str(name): plain(values) for name, values in self.frame().items()}
        return {**columns, "strategy": self.strategy, "method": self.method, "reason": self.reason}

    def __repr__(self) -> str:
        return (
            f"Baseline({self.performance_metric} {self.performance[0]:.3f} to "
            f"{self.performance[-1]:.3f}, {self.fairness_metric} {self.bias[0]:.3f} to "
            f"{self.bias[-1]:.3f}, {self.degrees.size} degrees, {self.strategy}, {self.method})"
        )


def baselines(
    counts: Counts,
    *,
    performance: Iterable[str | Metric],
    fairness: Iterable[str | Metric],
    degrees: ArrayLike | None = None,
    strategy: Any = "majority",
    method: Method = "sampled",
    repetitions: int = 50,
    random_state: int | np.random.Generator | None = 0,
) -> dict[tuple[str, str], Baseline]:
    """Make the baseline of every pair of metrics from the same mutations.

    Parameters are those of :meth:`Baseline.from_counts`, with several metrics.

    Examples
    --------
    >>> counts = Counts.from_labels([1, 0, 0, 0], [1, 0, 1, 0], sensitive_features=list("aabb"))
    >>> made = baselines(counts, performance=["accuracy"], fairness=["spd", "eod"])
    >>> [fair for _, fair in made]
    ['statistical_parity_difference', 'equal_opportunity_difference']
    """
    check_choice("method of a baseline", method, ("sampled", "expected"))
    check_least("repetitions", repetitions, 1)
    good = [_check_counted(get_metric(m)) for m in performance]
    fair = [_check_counted(get_metric(m)) for m in fairness]
    for metric in good:
        if metric.goal not in ("max", "min"):
            raise InputError(
                "The performance of a baseline must be a metric to maximise or minimise; the goal "
                f"of {metric.name} is {metric.goal}."
            )
    steps = check_degrees(degrees)
    target = resolve_target(counts, strategy)
    points: dict[tuple[str, bool], tuple[Floats, Floats]] = {}
    wanted = [(m, None) for m in good] + [(m, ideal_of(m)) for m in fair]
    if method == "expected":
        rng = make_rng(random_state)
        for metric, ideal in wanted:
            e = expected(counts, metric, steps, ideal=ideal, target=target, random_state=rng)
            points[metric.name, ideal is None] = e.value, e.error
    else:
        drawn = mutation_values(
            counts,
            [m for m, _ in wanted],
            degrees=steps,
            strategy=strategy,
            repetitions=repetitions,
            random_state=random_state,
        )
        for metric, ideal in wanted:
            values = drawn[metric.name]
            values = values if ideal is None else np.abs(values - ideal)
            values = values.reshape(repetitions, steps.size, -1)
            spread = (
                values.var(axis=0, ddof=1) if repetitions > 1 else np.full(values.shape[1:], np.nan)
            )
            error = np.sqrt(spread.mean(axis=-1) / (repetitions * values.shape[-1]))
            points[metric.name, ideal is None] = mean_of_draws(values).mean(axis=-1), error
    out = {}
    for p, f in product(good, fair):
        y, y_error = points[p.name, True]
        x, x_error = points[f.name, False]
        out[p.name, f.name] = Baseline(
            degrees=steps,
            performance=y,
            bias=x,
            performance_error=y_error,
            bias_error=x_error,
            performance_metric=p.name,
            fairness_metric=f.name,
            larger_is_better=p.goal == "max",
            strategy=target.name,
            label=target.label,
            method=method,
            repetitions=repetitions if method == "sampled" else 0,
            splits=int(np.prod(counts.shape)),
        )
    return out
