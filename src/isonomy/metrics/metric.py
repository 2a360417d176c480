"""The one place where a metric is described."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from isonomy._arrays import Floats
from isonomy._names import base_name, format_name, parse_name
from isonomy._registry import Registry
from isonomy._validate import check_choice
from isonomy.errors import InputError, NotApplicable, UndefinedMetricWarning

Kind = Literal["performance", "group", "individual"]
Needs = Literal["counts", "scores", "neighbours", "pairs"]
Goal = Literal["max", "min", "zero", "one"]
Combine = Literal["only", "mean", "mean_absolute", "largest", "log", "farthest"]


@dataclass(frozen=True)
class GapParts:
    """What a gap is made of: rates, how two of them are compared, and how several gaps combine."""

    rates: tuple[str, ...]
    ratio: bool
    combine: Combine


@dataclass(frozen=True, eq=False)
class Metric:
    """A metric that carries everything that is known about it.

    Calling it computes it. Metrics that need counts take a :class:`Counts` and broadcast over its
    leading axes; the others take what ``needs`` says (see the reference page of each).

    Attributes
    ----------
    name : str
        Registry key; variants are written ``name(parameter=value)``.
    label : str
        Short name for tables.
    formula : str
        What is computed, in plain notation.
    kind : {"performance", "group", "individual"}
    needs : {"counts", "scores", "neighbours", "pairs"}
    goal : {"max", "min", "zero", "one"}
        What is best: as large or small as possible, or the ideal value 0 or 1.
    bounds : tuple of float
        Smallest and largest possible value.
    signed : bool
        Whether the sign says who is worse off.
    sign : str
        How to read the sign or the direction.
    avoid : str
        When not to use it.
    reference : str
        Where it comes from.
    aliases : tuple of str
        Other names it answers to.
    parameters : mapping
        Arguments of the function and their defaults; a variant changes them.
    labels : bool
        Whether it needs true labels; those of selections only do not.
    sized : bool
        Whether it grows with the number of rows: people, standard deviations.
    parts : GapParts or None
        For gaps between rates, what they are made of: their limits follow from those of the rates.
    """

    name: str
    fn: Callable[..., Any] = field(repr=False)
    label: str = ""
    formula: str = ""
    kind: Kind = "performance"
    needs: Needs = "counts"
    goal: Goal = "max"
    bounds: tuple[float, float] = (0.0, 1.0)
    signed: bool = False
    sign: str = ""
    avoid: str = ""
    reference: str = ""
    aliases: tuple[str, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    labels: bool = True
    sized: bool = False
    why_undefined: Callable[..., str | None] = field(default=lambda *_, **__: None, repr=False)
    denominators: Callable[..., float] | None = field(default=None, repr=False)
    parts: GapParts | None = field(default=None, repr=False)

    @property
    def ideal(self) -> float | None:
        """The best value, where there is one that does not depend on the data."""
        return {"zero": 0.0, "one": 1.0, "max": self.bounds[1], "min": self.bounds[0]}[self.goal]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the metric; an undefined scalar is NaN, with a warning that says why."""
        out = self.fn(*args, **{**self.parameters, **kwargs})
        if np.ndim(out) == 0:
            out = float(out)
            if np.isnan(out):
                reason = self.undefined(*args, **kwargs) or "0 / 0"
                warnings.warn(
                    f"{self.name} is undefined: {reason}.", UndefinedMetricWarning, stacklevel=2
                )
        return out

    def undefined(self, *args: Any, **kwargs: Any) -> str | None:
        """Say why the metric has no value for this input, or None where it has one."""
        return self.why_undefined(*args, **{**self.parameters, **kwargs})

    def variant(self, **parameters: Any) -> Self:
        """Return the same metric with other parameters, named ``name(parameter=value)``."""
        for key in parameters:
            if not self.parameters:
                raise InputError(f"{self.name} takes no parameters; got {key!r}.")
            check_choice(f"parameter of {self.name}", key, list(self.parameters))
        return replace(
            self,
            name=format_name(base_name(self.name), parameters),
            parameters={**self.parameters, **parameters},
            aliases=(),
        )


METRICS: Registry[Metric] = Registry("metric")
"""Every metric by name, and by its other names."""


def add_metric(
    name: str, fn: Callable[..., Any] | None = None, *, label: str = "", **described: Any
) -> Any:
    """Register a metric: as a call, or as a decorator of the function that computes it.

    Parameters
    ----------
    name : str
        The registry key.
    fn : callable, optional
        Takes what ``needs`` says, by default a :class:`Counts`, and broadcasts over its leading
        axes.
    label : str
        Short name for tables; by default the name.
    **described
        The other attributes of :class:`Metric`.

    Returns
    -------
    Metric
        As a decorator, the function.

    Examples
    --------
    >>> from isonomy.metrics import Counts
    >>> @add_metric("rows", formula="Σ n", bounds=(0, np.inf))  # doctest: +SKIP
    ... def rows(counts):
    ...     return counts.n.sum(axis=(-1, -2, -3))
    >>> counts = Counts.from_labels([1, 0], [1, 0], sensitive_features=["a", "b"])
    >>> get_metric("rows")(counts)  # doctest: +SKIP
    2.0
    """
    if fn is None:

        def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
            add_metric(name, function, label=label, **described)
            return function

        return decorate
    metric = Metric(name, fn, label or name.replace("_", " "), **described)
    return METRICS.add(name, metric, aliases=metric.aliases)


def get_metric(name: str | Metric) -> Metric:
    """Look a metric up by name, alias or variant.

    Examples
    --------
    >>> get_metric("spd").name
    'statistical_parity_difference'
    >>> get_metric("macro_precision(zero_division=0)").parameters["zero_division"]
    0
    """
    if isinstance(name, Metric):
        return name
    base, parameters = parse_name(name)
    return METRICS[base].variant(**parameters) if parameters else METRICS[base]


def bias_of(metric: str | Metric, value: ArrayLike) -> Floats:
    """Turn a fairness metric into a bias: its distance from the ideal, never negative.

    Examples
    --------
    >>> float(bias_of("spd", -0.25)), float(bias_of("disparate_impact", 0.75))
    (0.25, 0.25)
    """
    return np.asarray(np.abs(gap_of(metric, value)))


def gap_of(metric: str | Metric, value: ArrayLike) -> Floats:
    """Turn a fairness metric into its distance from the ideal, with its sign.

    Examples
    --------
    >>> float(gap_of("spd", -0.25)), float(gap_of("disparate_impact", 0.75))
    (-0.25, -0.25)
    """
    return np.asarray(np.asarray(value, dtype=np.float64) - ideal_of(get_metric(metric)))


def ideal_of(metric: Metric) -> float:
    """Return the ideal of a fairness metric; a metric without a finite one is refused."""
    if metric.ideal is None or not np.isfinite(metric.ideal):
        raise NotApplicable(
            f"{metric.name} has no finite ideal value, so there is no bias to reduce; "
            "choose a metric whose goal is zero or one."
        )
    return float(metric.ideal)
