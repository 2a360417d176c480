"""Evaluate settings of a mitigator on validation rows, with what they share done once."""

import hashlib
import json
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import joblib
import numpy as np
import pandas as pd
import sklearn
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import train_test_split
from sklearn.utils import _safe_indexing

from isonomy._groups import attribute_columns
from isonomy._tables import plain
from isonomy._validate import check_types, unknown_name
from isonomy.errors import DegenerateOutputWarning, IsonomyError
from isonomy.metrics.joint import JointCounts
from isonomy.mitigators import BaseMitigator, PostProcessor, Unmitigated
from isonomy.search import Cache


def check_parameters(method: BaseMitigator, names: Iterable[str]) -> None:
    """Raise unless a mitigator has every one of the parameters."""
    known = method.get_params(deep=True)
    for name in names:
        if name not in known:
            own = sorted(method.get_params(deep=False))
            raise unknown_name(f"parameter of {method.name}", name, own)


class Validation:
    """Settings of a mitigator evaluated on validation rows that are split off from the rest.

    The splits, the original model, and the base model and scores of a post-processor are the
    same for every setting and are made once.

    Attributes
    ----------
    splits : list of (train, validation)
        Positions of rows.
    unchanged : JointCounts
        The original model against itself: where every setting starts.
    """

    def __init__(
        self,
        method: BaseMitigator,
        original: Any,
        X: Any,
        y: Any,
        sensitive: Any,
        validation: float,
        repeats: int,
        seed: int,
    ) -> None:
        self.method, self.X, self.y = method, X, np.asarray(y)
        self.sensitive = {k: np.asarray(v) for k, v in attribute_columns(sensitive).items()}
        cells = [self.y.astype(str), *(v.astype(str) for v in self.sensitive.values())]
        strata: NDArray[Any] | None = pd.MultiIndex.from_arrays(cells).factorize()[0]
        if strata is not None and np.bincount(strata).min() < 2:
            strata = None  # a cell with one row cannot be in both parts
        rows = np.arange(self.y.size)
        self.splits = [
            train_test_split(rows, test_size=validation, stratify=strata, random_state=seed + k)
            for k in range(repeats)
        ]
        self._original = self._make_original(original)
        self._base = [self._predict(self._original, k) for k in range(repeats)]
        self._fitted: list[Any] = [None] * repeats
        parameters = {k: repr(v) for k, v in method.get_params(deep=True).items()}
        self._fingerprint = {
            "data": joblib.hash([X, self.y, self.sensitive]),
            "splits": [validation, repeats, seed],
            "method": [method.name, method.version, parameters],
            "sklearn": sklearn.__version__.rsplit(".", 1)[0],
            "original": joblib.hash(self._base),
        }
        self.unchanged = JointCounts.stack([self._count(k, p) for k, p in enumerate(self._base)])

    def _make_original(self, original: Any) -> Any:
        if isinstance(original, Mapping):
            check_parameters(self.method, original)
            return clone(self.method).set_params(**original)
        estimator = original if original is not None else getattr(self.method, "estimator", None)
        names = ("privileged", "favorable", "sensitive_columns")
        return Unmitigated(estimator, **{name: getattr(self.method, name) for name in names})

    def _part(self, rows: NDArray[Any]) -> tuple[Any, Any, dict[str, Any]]:
        cut = {k: v[rows] for k, v in self.sensitive.items()}
        return _safe_indexing(self.X, rows), self.y[rows], cut

    def _predict(self, method: Any, k: int) -> NDArray[Any]:
        train, test = self.splits[k]
        X, y, s = self._part(train)
        with warnings.catch_warnings(action="ignore", category=DegenerateOutputWarning):
            # counts show it
            fitted = method.fit(X, y, sensitive_features=s)
        return self._labels(fitted, test)

    def _labels(self, fitted: Any, test: NDArray[Any]) -> NDArray[Any]:
        X, _, s = self._part(test)
        return np.asarray(fitted.predict(X, sensitive_features=s))

    def _mitigated(self, config: dict[str, Any], k: int) -> NDArray[Any]:
        method = clone(self.method).set_params(**config)
        if not method.uses_estimator:
            method.set_params(estimator=None)  # it was the original model's
        check_types(method)
        shared = isinstance(method, PostProcessor) and not any(
            name.startswith("estimator") or name in ("fit_on", "protocol", "random_state")
            for name in config
        )
        if not shared:
            return self._predict(method, k)
        if self._fitted[k] is None:
            self._fitted[k] = _fit_once(clone(self.method), *self._part(self.splits[k][0]))
        fitted, seen = self._fitted[k]
        fitted.set_params(**config)
        fitted.fit_scores(*seen)
        return self._labels(fitted, self.splits[k][1])

    def joint(self, config: dict[str, Any], cache: Cache | None) -> JointCounts | str:
        """Return the counts of a setting, or why it failed; a cached one is not fitted again."""
        written = json.loads(json.dumps(plain(config), default=repr))
        text = json.dumps({**self._fingerprint, "config": written}, sort_keys=True)
        key = hashlib.sha256(text.encode()).hexdigest()
        known = None if cache is None else cache.get(key)
        if known is None:
            try:
                predicted = [self._mitigated(config, k) for k in range(len(self.splits))]
                known = {"cells": [self._count(k, p).n.tolist() for k, p in enumerate(predicted)]}
            except (IsonomyError, ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
                known = {"failed": f"{type(error).__name__}: {error}"}
            if cache is not None:
                cache.put(key, {**known, "config": written})
        if "failed" in known:
            return str(known["failed"])
        return replace(self.unchanged, n=np.asarray(known["cells"], dtype=np.float64))

    def _count(self, k: int, predicted: NDArray[Any]) -> JointCounts:
        _, y, s = self._part(self.splits[k][1])
        privileged = getattr(self._original, "privileged_", None)
        if privileged is None or len(self.sensitive) > 1:
            privileged = self.method.privileged
        else:
            privileged = list(privileged)
        return JointCounts.from_labels(
            y,
            self._base[k],
            predicted,
            sensitive_features=s,
            favorable=getattr(self._original, "favorable_", None),
            privileged=privileged,
        )


def _fit_once(method: PostProcessor, X: Any, y: Any, s: Any) -> tuple[Any, tuple[Any, ...]]:
    """Fit a post-processor and return it with what its rule was learned from, to learn others."""
    seen: list[tuple[Any, ...]] = []
    learn = type(method).fit_scores

    def watch(*args: Any) -> None:
        seen.append(args)
        learn(method, *args)

    method.fit_scores = watch  # type: ignore[method-assign,assignment]
    with warnings.catch_warnings(action="ignore", category=DegenerateOutputWarning):
        method.fit(X, y, sensitive_features=s)
    del method.fit_scores  # the class's own again
    return method, seen[0]
