"""Counts of two models' predictions on the same rows, for paired comparisons."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from isonomy._arrays import Floats
from isonomy._brief import brief
from isonomy._groups import as_column, attribute_columns, sort_key, sorted_values
from isonomy._validate import MISSING, check_length, listed, make_rng
from isonomy.errors import InputError
from isonomy.metrics.counts import CellTensor, Counts

_BASE = "prediction of the original model"


@dataclass(frozen=True, eq=False, repr=False)
class JointCounts(CellTensor):
    """How many rows fall in each cell ``[..., group, y_true, original prediction, prediction]``.

    The two predictions of a row are correlated, and comparing models is about the rows on which
    they differ: resampling these cells keeps the pairing that two separate counts would lose.
    Leading axes are repeats (splits).

    Attributes
    ----------
    n : ndarray of shape (..., groups, classes, classes, classes)
        Rows per cell.
    attributes, groups, classes, favorable, privileged
        As in :class:`isonomy.Counts`.
    w, w2 : ndarray or None
        Sums of weights and of squared weights per cell, where rows were weighted.

    Examples
    --------
    >>> joint = JointCounts.from_labels(
    ...     [1, 0, 1, 0], [1, 0, 0, 1], [1, 0, 1, 0], sensitive_features=["a", "a", "b", "b"]
    ... )
    >>> int(joint.changed())
    2
    >>> joint.method.overall().tolist()
    [[2.0, 0.0], [0.0, 2.0]]
    """

    axes: ClassVar[int] = 4

    __repr__ = brief

    @classmethod
    def from_labels(
        cls,
        y_true: ArrayLike,
        y_base: ArrayLike,
        y_pred: ArrayLike,
        *,
        sensitive_features: Any,
        sample_weight: ArrayLike | None = None,
        favorable: Any = None,
        privileged: Any = None,
    ) -> Self:
        """Count labels and the predictions of the original and of the mitigated model.

        Parameters
        ----------
        y_true, y_base, y_pred : array-like of shape (n,)
            Labels, predictions of the original model, predictions of the mitigated one.
        sensitive_features, sample_weight, favorable, privileged
            As for :meth:`isonomy.Counts.from_labels`.
        """
        columns = dict(attribute_columns(sensitive_features))
        if privileged is not None and not isinstance(privileged, Mapping) and len(columns) == 1:
            privileged = {next(iter(columns)): privileged}
        base = as_column(y_base, "y_base")
        check_length("y_base", len(base), "y_true", len(as_column(y_true, "y_true")))
        given = sorted_values(base)
        if len(given) == 1:
            raise InputError(
                f"Predictions of the original model must hold two classes; all of them are "
                f"{given[0]!r}: it treats everybody alike, and there is nothing to mitigate."
            )
        # the original prediction is an attribute for as long as the rows are counted
        both = Counts.from_labels(
            y_true,
            y_pred,
            sensitive_features={**columns, _BASE: base},
            sample_weight=sample_weight,
            favorable=favorable,
            privileged=privileged,
        )
        return cls.from_counts(both, base=_BASE)

    @classmethod
    def from_counts(cls, counts: Counts, *, base: str) -> Self:
        """Take counts in which the original model's prediction is one of the attributes.

        That is how a file is counted without reading its rows:
        ``Counts.from_query(..., sensitive_features=["sex", "original"])`` and ``base="original"``.

        Parameters
        ----------
        counts : Counts
            Without leading axes; ``y_pred`` is the mitigated prediction.
        base : str
            The attribute that holds the original prediction.
        """
        if counts.shape or base not in counts.attributes or len(counts.attributes) < 2:
            raise InputError(
                f"Joint counts need counts without leading axes, of protected attributes and "
                f"{base!r}; got {counts!r}."
            )
        at = counts.attributes.index(base)
        split = [(g[:at] + g[at + 1 :], g[at]) for g in counts.groups]
        known = {str(c): c for c in counts.classes}  # a file may give 1 and "1" for one label
        first = [known.get(str(label), label) for _, label in split]
        if MISSING in first:
            raise InputError("Predictions of the original model must not be missing.")
        if not {*first} & {*counts.classes}:
            raise InputError(
                f"Predictions of the original model must be labels ({listed(counts.classes)}); got "
                f"{listed(dict.fromkeys(first), most=4)}: predictions and labels must use the same "
                f"values."
            )
        classes = tuple(sorted({*counts.classes, *first}, key=sort_key))
        groups = tuple(sorted({g for g, _ in split}, key=sort_key))
        size = len(classes)
        labels = np.array([classes.index(c) for c in counts.classes])

        def lay(cells: Floats) -> Floats:
            out = np.zeros((len(groups), size, size, size))
            for k, (group, _) in enumerate(split):  # groups, not rows
                spot = out[groups.index(group), :, classes.index(first[k]), :]
                spot[labels[:, None], labels[None, :]] += cells[k]
            return out

        others = tuple(a for a in counts.attributes if a != base)
        laid = counts.map_cells(lay, attributes=others, groups=groups, classes=classes)
        return cls(**vars(laid))

    @classmethod
    def stack(cls, repeats: Sequence[Self]) -> Self:
        """Lay repeats one upon the other as a leading axis; all must hold the same cells."""
        if not repeats:
            raise InputError("At least one repeat must be given; got none.")
        first = repeats[0]
        for other in repeats[1:]:
            for name in ("attributes", "groups", "classes", "favorable"):
                if getattr(other, name) != getattr(first, name):
                    raise InputError(
                        f"Repeats must agree in their {name}; got {listed(getattr(first, name))} "
                        f"and {listed(getattr(other, name))}."
                    )
        weights = ("n",) if first.w is None else ("n", "w", "w2")
        stacked: dict[str, Any] = {
            name: np.stack([getattr(r, name) for r in repeats]) for name in weights
        }
        return replace(first, **stacked)

    def with_groups(self, groups: Sequence[tuple[Any, ...]]) -> Self:
        """Lay the cells out over more groups: those that did not occur are empty."""
        chosen = tuple(groups)
        absent = [g for g in self.groups if g not in chosen]
        if absent:
            raise InputError(f"All groups must be kept; {listed(absent)} is not among those given.")
        index = np.array([chosen.index(g) for g in self.groups], dtype=np.intp)
        return self.regroup(index, chosen)

    def _counts(self, axis: int) -> Counts:
        return Counts(**vars(self.map_cells(lambda cells: np.asarray(cells.sum(axis=axis)))))

    @property
    def base(self) -> Counts:
        """Counts of the original model."""
        return self._counts(-1)

    @property
    def method(self) -> Counts:
        """Counts of the mitigated model."""
        return self._counts(-2)

    def changed(self) -> Floats:
        """Count the rows whose prediction the method changed, per repeat."""
        same = np.trace(self.n, axis1=-2, axis2=-1).sum(axis=(-1, -2))
        return np.asarray(self.n.sum(axis=(-1, -2, -3, -4)) - same)

    def resample(self, n: int, *, random_state: int | np.random.Generator | None = 0) -> Self:
        """Draw paired bootstrap resamples: of the repeats, and of the rows within each.

        Rows are drawn as :meth:`isonomy.Counts.resample` does, both predictions of a row together.
        """
        rng = make_rng(random_state)
        flat = self.n.shape[:-2]

        chosen = rng.integers(0, self.shape[0], size=(n, self.shape[0])) if self.shape else None

        def pick(cells: Floats) -> Floats:
            merged = cells.reshape(*flat, -1)  # both predictions as one axis
            return merged[chosen] if self.shape else np.broadcast_to(merged, (n, *merged.shape))

        paired = self.map_cells(pick)
        pairs = replace(self.base, n=paired.n, w=paired.w, w2=paired.w2)
        drawn = pairs.resample(1, random_state=rng)
        drawn = drawn.map_cells(lambda cells: cells[0].reshape(n, *self.n.shape))
        return replace(self, n=drawn.n, w=drawn.w, w2=drawn.w2)
