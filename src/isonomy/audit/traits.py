"""Which families and which hyper-parameters go with more bias, among the models at hand."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from isonomy.models import innermost
from isonomy.stats import spearman

FEWEST_MODELS = 5
"""Nothing is said of a trait in which fewer models than this can be compared."""
FEWEST_ALIKE = 2
"""A mean is shown of as many models that share a value."""
CAVEAT = (
    "Association among these models on these rows, not cause: nobody assigned the parameters at "
    "random, they vary together, and no test is made."
)
_NO_TRAITS = frozenset({"random_state", "n_jobs", "verbose", "estimator", "thread_count"})


@dataclass(frozen=True)
class Trait:
    """What models that share a trait have in common, or how a number goes with the bias.

    ``parameter`` is ``"family"`` or the name of a hyper-parameter of ``family``. A shared value has
    means; a number has Spearman's rank correlations with bias and performance, and no ``value``.
    """

    attribute: str
    family: str | None
    parameter: str
    value: str | None
    models: int
    bias: float | None = None
    least_bias: float | None = None
    most_bias: float | None = None
    performance: float | None = None
    bias_correlation: float | None = None
    performance_correlation: float | None = None


def family_of(model: Any) -> str:
    """Return the kind of learner inside a model: the last step of a pipeline, the best of a search.

    Examples
    --------
    >>> from isonomy.models import make_model
    >>> family_of(make_model("svm"))
    'LinearSVC'
    """
    return type(innermost(model)).__name__


def parameters_of(model: Any) -> dict[str, Any]:
    """Return the hyper-parameters of the learner inside a model."""
    learner = innermost(model)
    if not hasattr(learner, "get_params"):
        return {}
    values = learner.get_params(deep=False)
    return {k: v for k, v in values.items() if k not in _NO_TRAITS and _is_plain(v)}


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, Real | str | np.bool_)


def traits_of(
    attribute: str,
    families: Sequence[str],
    parameters: Sequence[Mapping[str, Any]],
    bias: Sequence[float],
    performance: Sequence[float],
) -> list[Trait]:
    """Compare families, and within each family the hyper-parameters that vary."""
    y, x = np.asarray(performance, dtype=float), np.asarray(bias, dtype=float)
    known: list[int] = np.flatnonzero(~(np.isnan(y) | np.isnan(x))).tolist()
    out = list(_shared(attribute, None, "family", {k: families[k] for k in known}, x, y))
    for family in dict.fromkeys(families[k] for k in known):
        own = [k for k in known if families[k] == family]
        for name in dict.fromkeys(p for k in own for p in parameters[k]):
            values = {k: parameters[k][name] for k in own if name in parameters[k]}
            if len(values) < FEWEST_MODELS or len(set(values.values())) < 2:
                continue
            if not all(isinstance(v, Real) and not isinstance(v, bool) for v in values.values()):
                out += _shared(attribute, family, name, values, x, y)
            elif len(set(values.values())) > 2:
                at = list(values)
                numbers = [float(v) for v in values.values()]
                rho = [float(spearman(numbers, z[at]).correlation) for z in (x, y)]
                out.append(
                    Trait(
                        attribute, family, name, None, len(at),
                        bias_correlation=rho[0], performance_correlation=rho[1],
                    )
                )  # fmt: skip
            else:
                out += _shared(attribute, family, name, values, x, y)
    return out


def _shared(
    attribute: str, family: str | None, name: str, values: Mapping[int, Any], x: Any, y: Any
) -> Iterator[Trait]:
    """Yield the means of models that share a value, most bias first; at least two values."""
    if len(values) < FEWEST_MODELS:
        return
    groups: dict[str, list[int]] = {}
    for k, value in values.items():
        groups.setdefault(str(value), []).append(k)
    groups = {v: ks for v, ks in groups.items() if len(ks) >= FEWEST_ALIKE}
    if len(groups) < 2:
        return
    for value, ks in sorted(groups.items(), key=lambda item: -float(x[item[1]].mean())):
        yield Trait(
            attribute, family, name, value, len(ks), float(x[ks].mean()), float(x[ks].min()),
            float(x[ks].max()), float(y[ks].mean()),
        )  # fmt: skip
