"""Base learners of the user's own, written out so that no two are ever taken for one."""

import hashlib
import inspect
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import metadata
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline

from isonomy._validate import in_one_line
from isonomy.errors import InputError
from isonomy.mitigators import BaseMitigator
from isonomy.models import one_job, seeded
from isonomy.study.isolation import pickled

_IDLE = {"memory", "n_jobs", "verbose"}
"""Parameters that change no result."""


@dataclass(frozen=True)
class OwnModel:
    """A base learner that was given as an object, with the text that identifies it.

    Two are equal where name and text are: the object itself is needed to run, not to compare.

    Attributes
    ----------
    name : str
        Its name in the results.
    text : str
        Class and parameters, written out: other parameters are another model.
    estimator : classifier or None
        Unfitted; None where a study was read from its file.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> OwnModel.of("mine", GaussianNB(var_smoothing=1e-3)).text
    'sklearn.naive_bayes.GaussianNB(priors=None, var_smoothing=0.001)'
    """

    name: str
    text: str
    estimator: Any = field(default=None, compare=False, repr=False)

    @classmethod
    def of(cls, name: str, estimator: Any) -> Self:
        """Check an estimator and write it out."""
        kind = type(estimator).__name__
        if isinstance(estimator, type) or not (
            hasattr(estimator, "get_params") and is_classifier(estimator)
        ):
            made = "LogisticRegression"
            if isinstance(estimator, type):
                kind, made = f"the class {estimator.__name__}", estimator.__name__
            raise InputError(
                f"A model must be a classifier of scikit-learn's kind, unfitted or not; {name!r} is "
                f"{kind}: pass an object such as {made}(), or a pipeline that ends in one."
            )
        if isinstance(estimator, BaseMitigator):
            raise InputError(
                f"A model must be a base learner; {name!r} is the mitigator {estimator.name}: name "
                f"it among the methods."
            )
        if isinstance(estimator, Pipeline) and isinstance(estimator.steps[0][1], ColumnTransformer):
            raise InputError(
                f"A model must take all columns as numbers, which is how learners get them here (one "
                f"column per level, medians, standardised); {name!r} begins by selecting columns: "
                f"pass its steps after the ColumnTransformer."
            )
        try:
            fresh = clone(estimator)
            pickled(fresh)
        except Exception as error:
            raise InputError(
                f"A model must be cloned for every split and sent to workers; {name!r} ({kind}) "
                f"cannot be: {in_one_line(error)}"
            ) from None
        try:
            return cls(name, write_out(fresh), fresh)
        except _Unstable as error:
            raise InputError(
                f"A model must be written out, so that a folder of results never mixes two; of "
                f"{name!r} {error} cannot be: use a function of a module or a class instead."
            ) from None

    def make(self, random_state: Any) -> BaseEstimator:
        """Return the learner, unfitted, with a seed wherever it has none."""
        if self.estimator is None:
            raise InputError(
                f"The model {self.name!r} was given as an object in Python, and only its text is "
                f"stored: run it from there again, with the same object and folder."
            )
        return one_job(seeded(clone(self.estimator), random_state))


_KNOWN = {"sklearn", "isonomy", "numpy", "scipy", *sys.stdlib_module_names} - {"__main__"}


class _Unstable(Exception):
    """What has no text that is the same tomorrow, and another one when it changes."""


def write_out(value: Any, depth: int = 0) -> str:
    """Write a value, estimators with all their parameters, as text that identifies it.

    Examples
    --------
    >>> write_out([1, None, {"a": (0.5, "x")}])
    "[1, None, {'a': (0.5, 'x')}]"
    """
    if depth > 40:
        raise _Unstable("something that holds itself")
    if value is None or isinstance(value, bool | int | float | complex | str | bytes | slice):
        return repr(value)
    if isinstance(value, np.generic):
        return repr(value.item())
    if isinstance(value, np.ndarray) and value.dtype != object:
        content = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return f"array({value.dtype.str}, {value.shape}, {content})"
    if isinstance(value, list | tuple | np.ndarray):
        inside = ", ".join(write_out(v, depth + 1) for v in value)
        return f"[{inside}]" if not isinstance(value, tuple) else f"({inside})"
    if isinstance(value, set | frozenset):
        return "{" + ", ".join(sorted(write_out(v, depth + 1) for v in value)) + "}"
    if isinstance(value, Mapping):
        pairs = (f"{write_out(k, depth + 1)}: {write_out(v, depth + 1)}" for k, v in value.items())
        return "{" + ", ".join(sorted(pairs)) + "}"
    if isinstance(value, MethodType):
        return f"{write_out(value.__self__, depth + 1)}.{value.__func__.__name__}"
    if isinstance(value, type | FunctionType | BuiltinFunctionType | np.ufunc):
        return _by_name(value)
    if isinstance(value, np.random.RandomState | np.random.Generator):
        raise _Unstable("a random generator (give a number as random_state)")
    estimator = hasattr(value, "get_params") and not isinstance(value, type)
    held = value.get_params(deep=False) if estimator else getattr(value, "__dict__", None)
    if held is None:
        raise _Unstable(f"an object of type {type(value).__name__}")
    shown = sorted((k, v) for k, v in held.items() if k not in _IDLE)
    listed = ", ".join(f"{k}={write_out(v, depth + 1)}" for k, v in shown)
    return f"{_by_name(type(value))}({listed})"


def _by_name(thing: Any) -> str:
    """Return the path of a class or function, with what tells one version of it from another."""
    name = getattr(thing, "__qualname__", thing.__name__)
    module = getattr(thing, "__module__", None) or "numpy"
    if "<" in name:  # a lambda, or something made inside a function
        raise _Unstable(f"{name.rpartition('.')[2].strip('<>')} (it has no name of its own)")
    library, path = module.partition(".")[0], f"{module}.{name}"
    # the minor version of scikit-learn is in every key
    if library in _KNOWN:
        return path
    try:
        whole = thing if module == "__main__" else sys.modules[module]
        if "site-packages" in (inspect.getsourcefile(whole) or ""):
            return f"{path} {metadata.version(metadata.packages_distributions()[library][0])}"
        source = inspect.getsource(whole)
    except (OSError, TypeError, KeyError, metadata.PackageNotFoundError):
        raise _Unstable(f"{path} (its source cannot be found)") from None
    return f"{path} {hashlib.sha256(source.encode()).hexdigest()[:16]}"
