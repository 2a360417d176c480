"""Choose a method's strength on inner rows: a part of the training rows, never the test rows."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold, train_test_split

from isonomy.errors import IsonomyError, IsonomyWarning, NotApplicable
from isonomy.metrics.joint import JointCounts
from isonomy.mitigators.stages import strata
from isonomy.search import Cache
from isonomy.study.spec import Method
from isonomy.study.workbench import Workbench
from isonomy.tradeoff.tune import Candidate, tune_on
from isonomy.tradeoff.verdict import is_constant

FOLDS = 3
"""Inner folds, so that every training row is judged once."""
ONE_SPLIT = 5_000
"""Training rows from which one inner split is enough."""
MOST_ROWS = 20_000
"""The most training rows that an inner split uses; more say little more about a strength."""
HELD_OUT = 0.3
"""The share of the rows that one inner split judges on."""

Split = tuple[NDArray[np.intp], NDArray[np.intp]]


def settled(workbench: Workbench, method: Method, model: str) -> Method:
    """Return a method with the parameters that it is to be tuned in set to what inner rows say.

    Of the values listed, the one with the smallest bias among those whose trade-off is better than
    mutating the original model's predictions (good or win-win); where there is none, the method
    stays as it is.
    """
    if not method.tune:
        return method
    performance, fairness = method.goals
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IsonomyWarning)  # of settings that are not the chosen one
        try:
            tuning = tune_on(
                InnerRows(workbench, method, model),
                workbench.make(replace(method, tune=()), None),
                dict(method.tune),
                objective=_least_bias,
                performance=performance,
                fairness=fairness,
                strategy="grid",
            )
        except NotApplicable:  # at every value: the run itself says why
            return replace(method, tune=())
    return method.with_options(tuning.chosen or {})


def _least_bias(candidate: Candidate) -> float:
    if candidate.region not in ("good", "win-win") or is_constant(candidate.joint.method).any():
        return float("nan")
    return -candidate.bias


def inner_splits(y: NDArray[Any], s: NDArray[Any], seed: int) -> list[Split]:
    """Split training rows into rows to fit on and rows to judge on, by label and group.

    Examples
    --------
    >>> y, s = np.arange(600) % 2, np.arange(600) // 2 % 2
    >>> [len(held_out) for _, held_out in inner_splits(y, s, seed=0)]
    [200, 200, 200]
    >>> [len(rows) for rows in inner_splits(np.tile(y, 50), np.tile(s, 50), seed=0)[0]]
    [14000, 6000]
    """
    cells, rows = strata(y, s, FOLDS), np.arange(len(y))
    if len(y) < ONE_SPLIT:
        return list(StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(rows, cells))
    size = min(len(y), MOST_ROWS)
    held_out = round(HELD_OUT * size)
    train, test = train_test_split(
        rows,
        train_size=size - held_out,
        test_size=held_out,
        stratify=cells,
        random_state=seed,
    )
    return [(train, test)]


class InnerRows:
    """Settings of a method judged on inner rows, with all that a trial shares shared.

    Attributes
    ----------
    splits : list of (train, held out)
        Positions of training rows.
    unchanged : JointCounts
        The original model against itself, the inner splits added up.
    """

    def __init__(self, workbench: Workbench, method: Method, model: str) -> None:
        ready = workbench.ready.train

        def split() -> list[Split]:
            return inner_splits(ready.y.astype(int), ready.s.astype(int), workbench.seed)

        self.splits = workbench.once(("inner splits",), split)
        self._workbenches: list[Workbench] = workbench.once(
            ("inner",), lambda: [workbench.inner(*rows) for rows in self.splits]
        )
        self.method, self.model = method, model
        self.unchanged = self._add_up([w.base(model).labels for w in self._workbenches])

    def joint(self, config: dict[str, Any], cache: Cache | None = None) -> JointCounts | str:
        """Return the counts of a setting, or why it failed."""
        chosen = self.method.with_options(config)
        try:
            return self._add_up([w.run(chosen, self.model).labels for w in self._workbenches])
        except (IsonomyError, ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
            return f"{type(error).__name__}: {error}"

    def _add_up(self, labels: Sequence[NDArray[np.intp]]) -> JointCounts:
        counts = [
            w.count(w.base(self.model).labels, predicted)
            for w, predicted in zip(self._workbenches, labels, strict=True)
        ]
        added = JointCounts.stack(counts).map_cells(lambda cells: cells.sum(axis=0, keepdims=True))
        return added.select(*self._workbenches[0].attributes)
