"""What the settings of a sweep share: splits, the original model, and fits that do not change."""

import hashlib
import json
import warnings
from collections.abc import Callable, Mapping
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
from isonomy.errors import DegenerateOutputWarning, IsonomyError
from isonomy.metrics.joint import JointCounts
from isonomy.mitigators import BaseMitigator, PostProcessor, Unmitigated
from isonomy.search import Cache

__all__ = ["Bench", "Progress"]


class Progress:
    """A bar on standard error, a caller's function, or nothing."""

    def __init__(self, wanted: bool | Callable[[int, int], None], total: int, name: str) -> None:
        self.wanted, self.total, self.name, self.done = wanted, total, name, 0
        self.bar: Any = None

    def __enter__(self) -> "Progress":
        if self.wanted is True:
            from rich import progress as bars
            from rich.console import Console

            self.bar = bars.Progress(console=Console(stderr=True), transient=False)
            self.bar.start()
            self.task = self.bar.add_task(f"tuning {self.name}", total=self.total)
        return self

    def step(self) -> None:
        self.done += 1
        if self.bar is not None:
            self.bar.advance(self.task)
        elif callable(self.wanted):
            self.wanted(self.done, max(self.total, self.done))

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()


class Bench:
    """Splits, the original model, and everything that settings can share."""

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
        rows = np.arange(self.y.size)
        strata: NDArray[Any] | None = pd.MultiIndex.from_arrays(
            [self.y.astype(str), *(v.astype(str) for v in self.sensitive.values())]
        ).factorize()[0]
        if strata is not None and np.bincount(strata).min() < 2:
            strata = None  # a cell with one row cannot be in both parts
        self.splits = [
            train_test_split(rows, test_size=validation, stratify=strata, random_state=seed + k)
            for k in range(repeats)
        ]
        self.mark = {
            "data": joblib.hash([X, self.y, self.sensitive]),
            "splits": [validation, repeats, seed],
            "method": [method.name, method.version, _written(method)],
            "sklearn": sklearn.__version__.rsplit(".", 1)[0],
        }
        self.first = self._original(original)
        self.base = [self._predict(self.first, k) for k in range(repeats)]
        self.ready: list[Any] = [None] * repeats
        self.mark["original"] = joblib.hash(self.base)
        self.unchanged = JointCounts.stack([self.count(k, p) for k, p in enumerate(self.base)])

    def _original(self, original: Any) -> Any:
        if isinstance(original, Mapping):
            return clone(self.method).set_params(**original)
        estimator = original if original is not None else getattr(self.method, "estimator", None)
        plain = {
            k: getattr(self.method, k) for k in ("privileged", "favorable", "sensitive_columns")
        }
        return Unmitigated(estimator, **plain)

    def _part(self, rows: NDArray[Any]) -> tuple[Any, Any, dict[str, Any]]:
        cut = {k: v[rows] for k, v in self.sensitive.items()}
        return _safe_indexing(self.X, rows), self.y[rows], cut

    def _predict(self, method: Any, k: int) -> NDArray[Any]:
        train, test = self.splits[k]
        X, y, s = self._part(train)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DegenerateOutputWarning)  # counts show it
            fitted = method.fit(X, y, sensitive_features=s)
        return self._labels(fitted, test)

    def _labels(self, fitted: Any, test: NDArray[Any]) -> NDArray[Any]:
        X, _, s = self._part(test)
        return np.asarray(fitted.predict(X, sensitive_features=s))

    def _mitigated(self, config: dict[str, Any], k: int) -> NDArray[Any]:
        method = clone(self.method).set_params(**config)
        shared = isinstance(method, PostProcessor) and not any(
            name.startswith("estimator") or name in ("fit_on", "protocol", "random_state")
            for name in config
        )
        if not shared:
            return self._predict(method, k)
        if self.ready[k] is None:
            self.ready[k] = _fit_once(clone(self.method), *self._part(self.splits[k][0]))
        fitted, seen = self.ready[k]
        fitted.set_params(**config)
        fitted.fit_scores(*seen)
        return self._labels(fitted, self.splits[k][1])

    def joint(self, config: dict[str, Any], cache: Cache | None) -> JointCounts | str:
        """Evaluate a setting, or say why it cannot be; what a cache knows is not done again."""
        text = json.dumps({**self.mark, "config": _plain(config)}, sort_keys=True)
        key = hashlib.sha256(text.encode()).hexdigest()
        known = None if cache is None else cache.get(key)
        if known is None:
            try:
                predicted = [self._mitigated(config, k) for k in range(len(self.splits))]
                known = {"cells": [self.count(k, p).n.tolist() for k, p in enumerate(predicted)]}
            except (IsonomyError, ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
                known = {"failed": f"{type(error).__name__}: {error}"}
            if cache is not None:
                cache.put(key, {**known, "config": _plain(config)})
        if "failed" in known:
            return str(known["failed"])
        return replace(self.unchanged, n=np.asarray(known["cells"], dtype=np.float64))

    def count(self, k: int, predicted: NDArray[Any]) -> JointCounts:
        test = self.splits[k][1]
        _, y, s = self._part(test)
        return JointCounts.from_labels(
            y,
            self.base[k],
            predicted,
            sensitive_features=s,
            favorable=getattr(self.first, "favorable_", None),
            privileged=self._privileged(),
        )

    def _privileged(self) -> Any:
        found = getattr(self.first, "privileged_", None)
        if found is None or len(self.sensitive) > 1:
            return self.method.privileged
        return list(found)


def _fit_once(method: PostProcessor, X: Any, y: Any, s: Any) -> tuple[Any, tuple[Any, ...]]:
    """Fit a post-processor and keep what its rule was learnt from, to learn other rules."""
    seen: list[tuple[Any, ...]] = []
    learn = type(method).fit_scores

    def watch(*args: Any) -> None:
        seen.append(args)
        learn(method, *args)

    method.fit_scores = watch  # type: ignore[method-assign,assignment]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateOutputWarning)
        method.fit(X, y, sensitive_features=s)
    del method.fit_scores  # the class's own again
    return method, seen[0]


def _written(method: BaseMitigator) -> dict[str, str]:
    return {k: repr(v) for k, v in method.get_params(deep=True).items()}


def _plain(config: dict[str, Any]) -> dict[str, Any]:
    """Give values that JSON can hold."""

    def plain(value: Any) -> Any:
        value = value.item() if isinstance(value, np.generic) else value
        return value if value is None or isinstance(value, int | float | str) else repr(value)

    return {name: plain(value) for name, value in config.items()}
