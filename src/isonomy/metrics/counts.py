"""The tensor of counts behind every group-fairness quantity."""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from isonomy._arrays import Floats
from isonomy._groups import sort_key
from isonomy._tables import plain
from isonomy._unknown import is_unknown_group
from isonomy._validate import (
    MISSING,
    as_names,
    check_same_order,
    listed,
    make_rng,
    match_values,
    resolve_favorable,
)
from isonomy.errors import InputError
from isonomy.metrics import query, tally


@dataclass(frozen=True, eq=False)
class CellTensor:
    """Counted cells ``[..., group, *labels]``: what counts of one and of two models share."""

    n: Floats
    attributes: tuple[str, ...]
    groups: tuple[tuple[Any, ...], ...]
    classes: tuple[Any, ...]
    favorable: tuple[Any, ...]
    privileged: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    w: Floats | None = None
    w2: Floats | None = None

    axes: ClassVar[int] = 3
    """How many axes a cell has; those before them are leading."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The leading axes."""
        return self.n.shape[: -self.axes]

    def map_cells(self, change: Callable[[Floats], Floats], **fields: Any) -> Self:
        """Change rows, weights and squared weights alike, and fields that follow from it."""
        w = None if self.w is None else change(self.w)
        w2 = None if self.w2 is None else change(self.w2)
        return replace(self, n=change(self.n), w=w, w2=w2, **fields)

    def regroup(self, index: NDArray[np.intp], groups: tuple[tuple[Any, ...], ...]) -> Self:
        """Add up groups that share an index."""

        def add(cells: Floats) -> Floats:
            lead, rest = cells.shape[: -self.axes], cells.shape[1 - self.axes :]
            # laid out in memory as the cells are, which decides how fast sums over them run
            out = np.zeros_like(cells, shape=(*lead, len(groups), *rest))
            into, values = (np.moveaxis(c, len(lead), 0) for c in (out, cells))
            if len(index) > 100:
                np.add.at(into, index, values)
                return out
            for old, new in enumerate(index):  # a handful of groups, not rows
                into[new] += values[old]
            return out

        return self.map_cells(add, groups=groups)

    def select(self, *attributes: str) -> Self:
        """Keep some attributes and add up over the others."""
        keep = [match_values(a, self.attributes, what="attribute")[0] for a in attributes]
        where = [self.attributes.index(a) for a in keep]
        projected = [tuple(g[k] for k in where) for g in self.groups]
        groups = tuple(sorted(set(projected), key=sort_key))
        place = {g: k for k, g in enumerate(groups)}
        index = np.array([place[g] for g in projected], dtype=np.intp)
        privileged = {a: v for a, v in self.privileged.items() if a in keep}
        out = self.regroup(index, groups)
        return replace(out, attributes=tuple(keep), privileged=privileged)


@dataclass(frozen=True, eq=False, repr=False)
class Counts(CellTensor):
    """How many rows fall in each cell ``[..., group, y_true, y_pred]``.

    Leading axes (resamples, repeats, thresholds, mutation degrees) broadcast through every
    metric. Weighted counts carry three sums per cell: rows, weights and squared weights.

    Build one with :meth:`from_labels`, :meth:`from_frame`, :meth:`from_query` or
    :meth:`from_cells`; the constructor takes arrays that are already counted.

    Attributes
    ----------
    n : ndarray of shape (..., groups, classes, classes)
        Rows per cell.
    attributes : tuple of str
        Names of the protected attributes whose joint values are the groups.
    groups : tuple of tuple
        One tuple of attribute values per group. Rows whose value is missing form a group
        of their own, labelled ``"(missing)"``.
    classes : tuple
        Labels of the last two axes.
    favorable : tuple
        The classes that are good to get.
    privileged : mapping of str to tuple
        Privileged values per attribute; empty where none was declared.
    w, w2 : ndarray or None
        Sums of weights and of squared weights per cell, where rows were weighted.

    Examples
    --------
    >>> counts = Counts.from_labels(
    ...     [1, 0, 1, 0], [1, 0, 0, 1], sensitive_features=["a", "a", "b", "b"]
    ... )
    >>> counts.groups
    (('a',), ('b',))
    >>> counts.n[0]  # group a: [[true negative, false positive], [false negative, true positive]]
    array([[1., 0.],
           [0., 1.]])
    """

    # ------------------------------------------------------------------ constructors

    @classmethod
    def from_labels(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        sensitive_features: Any,
        sample_weight: ArrayLike | None = None,
        classes: Sequence[Any] | None = None,
        favorable: Any = None,
        privileged: Any = None,
    ) -> Self:
        """Count labels and predictions given as arrays.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n,)
            Labels of any type; predictions must use the same values.
        sensitive_features : array-like, Series, frame or mapping of name to array
            One protected attribute or several; several give their intersections.
        sample_weight : array-like of shape (n,), optional
            Finite weights, none negative.
        classes : sequence, optional
            All classes, declared: for a shard, which may then hold one class or one group only
            and lack the privileged one. Add the shards up before you measure.
        favorable : value or collection of values, optional
            The classes that are good to get; may be left out when labels are 0 / 1.
        privileged : value, collection or mapping of attribute to value(s), optional
            The groups the others are compared with.
        """
        several = sensitive_features if isinstance(sensitive_features, Mapping) else {}
        for name, other in (
            ("y_pred", y_pred),
            ("sensitive_features", sensitive_features),
            *((f"sensitive_features[{k!r}]", column) for k, column in several.items()),
            ("sample_weight", sample_weight),
        ):
            check_same_order(y_true, other, name=name, to="y_true")
        cells = tally.from_arrays(y_true, y_pred, sensitive_features, sample_weight, classes)
        return cls.from_cells(
            cells, favorable=favorable, privileged=privileged, shard=classes is not None
        )

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        label: str,
        prediction: str,
        sensitive_features: str | Sequence[str],
        weight: str | None = None,
        classes: Sequence[Any] | None = None,
        favorable: Any = None,
        privileged: Any = None,
    ) -> Self:
        """Count the rows of a frame by column names.

        ``frame`` is anything narwhals understands. Eager frames (pandas, polars, pyarrow,
        Modin ...) are counted here; lazy ones (polars LazyFrame, DuckDB relation, Dask,
        PySpark) are grouped by their own engine, and only the cells come back.
        """
        names = as_names(sensitive_features)
        cells = tally.from_frame(frame, label, prediction, names, weight, classes)
        return cls.from_cells(
            cells, favorable=favorable, privileged=privileged, shard=classes is not None
        )

    @classmethod
    def from_query(
        cls,
        source: str | os.PathLike[str],
        *,
        label: str | None,
        prediction: str,
        sensitive_features: str | Sequence[str],
        weight: str | None = None,
        table: str | None = None,
        bins: Mapping[str, Sequence[float]] | None = None,
        classes: Sequence[Any] | None = None,
        favorable: Any = None,
        privileged: Any = None,
    ) -> Self:
        """Count a Parquet, CSV or DuckDB file, out of core: the rows never enter Python.

        Parameters
        ----------
        source : path
            A ``.parquet``, ``.csv`` / ``.tsv`` (also gzipped) or ``.duckdb`` / ``.db`` file, or a
            glob of the first two.
        label, prediction : str
            Columns, or numbers cut in two: ``"income>50000"``, ``"score>=0.5"``. Where no label is
            known it is None, and the predictions stand for it on the diagonal.
        table : str, optional
            The table of a DuckDB file; may be left out when it has only one.
        bins : mapping of attribute to cut points, optional
            Cuts a number such as age into bands: ``{"age": [25, 60]}``.
        """
        names = as_names(sensitive_features)
        cells = query.from_query(
            source, label, prediction, names, weight, table, bins, classes, favorable
        )
        return cls.from_cells(
            cells, favorable=favorable, privileged=privileged, shard=classes is not None
        )

    @classmethod
    def from_cells(
        cls,
        cells: "tally.Cells",
        *,
        favorable: Any = None,
        privileged: Any = None,
        shard: bool = False,
    ) -> Self:
        """Build the tensor from cells that are already counted (see ``isonomy.metrics.tally``)."""
        named = resolve_favorable(cells.classes, favorable)
        chosen = _resolve_privileged(privileged, cells.attributes, cells.groups, shard)
        return cls(**vars(cells), favorable=named, privileged=chosen)

    @classmethod
    def from_dict(
        cls, data: Mapping[str, Any], *, favorable: Any = None, privileged: Any = None
    ) -> Self:
        """Read what :meth:`to_dict` returned, and a JSON file holds."""
        try:
            names, classes, weighted = data["attributes"], data["classes"], bool(data["weighted"])
            rows = [[*cell] for cell in data["cells"]]
            width = len(names) + (5 if weighted else 3)
            if not rows or any(len(row) != width for row in rows):
                raise ValueError
        except (KeyError, TypeError, ValueError):
            raise InputError(
                "Counts must be a dictionary of attributes, classes, weighted and cells, as "
                "to_dict() returns it; got another one."
            ) from None
        cells = tally.from_rows(rows, names, weighted=weighted, declared=classes)
        return cls.from_cells(cells, favorable=favorable, privileged=privileged)

    # ------------------------------------------------------------------ what it holds

    @property
    def weighted(self) -> bool:
        """Whether rows carried weights."""
        return self.w is not None

    @property
    def values(self) -> Floats:
        """What metrics are computed from: weights where there are any, else rows."""
        return self.n if self.w is None else self.w

    @property
    def is_favorable(self) -> NDArray[np.bool_]:
        """Which classes are favourable, as a mask over ``classes``."""
        return np.array([c in self.favorable for c in self.classes])

    def labels(self) -> tuple[str, ...]:
        """One readable name per group; no two are alike, though values such as 1 and "1" are."""
        for write in (str, repr):
            names = tuple(" & ".join(map(write, group)) for group in self.groups)
            if len(set(names)) == len(names):
                break
        return names

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """Which groups are known in every attribute: neither missing nor said to be unknown."""
        return np.array([not is_unknown_group(g) for g in self.groups])

    def is_privileged(self) -> NDArray[np.bool_] | None:
        """Which groups are privileged in every attribute, or None where not all are declared."""
        return self._privileged_mask

    @cached_property
    def _privileged_mask(self) -> NDArray[np.bool_] | None:
        if any(a not in self.privileged for a in self.attributes):
            return None
        return np.array(
            [
                all(v in self.privileged[a] for a, v in zip(self.attributes, g, strict=True))
                for g in self.groups
            ]
        )

    def frame(self) -> pd.DataFrame:
        """Return the cells that hold rows as a tidy frame (no leading axes)."""
        if self.shape:
            raise InputError(f"frame() needs counts without leading axes; these have {self.shape}.")
        g, t, p = np.nonzero(self.n)
        columns: dict[str, Any] = {
            a: [self.groups[i][k] for i in g] for k, a in enumerate(self.attributes)
        }
        columns["y_true"] = [self.classes[i] for i in t]
        columns["y_pred"] = [self.classes[i] for i in p]
        columns["n"] = self.n[g, t, p].astype(np.int64)
        if self.w is not None and self.w2 is not None:
            columns["w"] = self.w[g, t, p]
            columns["w2"] = self.w2[g, t, p]
        return pd.DataFrame(columns)

    def to_dict(self) -> dict[str, Any]:
        """Return the cells that hold rows as plain data, which :meth:`from_dict` reads back.

        A cell is a list of its attribute values, label, prediction, rows and, where rows were
        weighted, the sums of weights and of squared weights.

        Examples
        --------
        >>> made = Counts.from_labels([1, 0, 1], [1, 0, 0], sensitive_features=["a", "b", "b"])
        >>> made.to_dict()["cells"]
        [['a', 1, 1, 1], ['b', 0, 0, 1], ['b', 1, 0, 1]]
        >>> (Counts.from_dict(made.to_dict()).n == made.n).all()
        np.True_
        """
        at = list(zip(*(axis.tolist() for axis in np.nonzero(self.n)), strict=True))
        sums = [c for c in (self.w, self.w2) if c is not None]
        cells = [
            [*self.groups[g], self.classes[t], self.classes[p], int(self.n[g, t, p])]
            + [float(c[g, t, p]) for c in sums]
            for g, t, p in at
        ]
        held = {"attributes": self.attributes, "classes": self.classes, "weighted": self.weighted}
        return dict(plain({**held, "cells": cells}))

    def __repr__(self) -> str:
        rows = f"{self.n.sum():,.0f} rows" if not self.shape else f"leading axes {self.shape}"
        return (
            f"Counts({rows}, {len(self.groups)} groups of {' & '.join(self.attributes)}, "
            f"classes {listed(self.classes)}, favourable {listed(self.favorable)}"
            f"{', weighted' if self.weighted else ''})"
        )

    # ------------------------------------------------------------------ operations

    def by_privilege(self) -> Self:
        """Merge the groups into two: unprivileged first, privileged second.

        Rows whose attribute is missing or says that it is unknown are left out, unless the value
        is declared privileged.
        """
        names = (("unprivileged",), ("privileged",))
        if self.groups == names and list(self.privileged.values()) == [names[1]]:
            return self  # merged before
        mask = self.is_privileged()
        if mask is None:
            undeclared = [a for a in self.attributes if a not in self.privileged]
            raise InputError(
                f"The privileged group of {listed(undeclared)} must be declared for a signed "
                f"comparison: pass privileged={{{undeclared[0]!r}: ...}}, or compare='max_min'."
            )
        known = mask | self.known
        if not (mask & known).any() or not (~mask & known).any():
            which = (
                "privileged in all of" if not mask.any() else "known to be unprivileged in any of"
            )
            raise InputError(f"No group is {which} {listed(self.attributes)}.")
        if len(self.groups) == 2:  # nothing to add up, at most to turn round
            order = slice(None) if mask[1] else slice(None, None, -1)
            out = self.map_cells(lambda cells: cells[..., order, :, :])
        else:
            index = np.where(mask, 1, np.where(known, 0, 2)).astype(np.intp)
            out = self.regroup(index, (*names, (MISSING,)))
        attribute = " & ".join(self.attributes)
        return out.map_cells(
            lambda cells: cells[..., :2, :, :],
            attributes=(attribute,),
            privileged={attribute: ("privileged",)},
            groups=names,
        )

    def overall(self) -> Floats:
        """Return the confusion matrix over all groups."""
        return np.asarray(self.values.sum(axis=-3))

    def __add__(self, other: Self) -> Self:
        """Merge shards: cells with the same labels add up."""
        if not isinstance(other, Counts):
            return NotImplemented
        if self.weighted != other.weighted:
            raise InputError("Counts can be added when both are weighted or neither is.")
        both = self.privileged.keys() & other.privileged.keys()
        agree = [
            ("attributes", self.attributes, other.attributes),
            ("favourable labels", self.favorable, other.favorable),
            *((f"privileged values of {a}", self.privileged[a], other.privileged[a]) for a in both),
        ]
        for what, first, second in agree:
            if first != second and (what == "attributes" or set(first) != set(second)):
                raise InputError(
                    f"Counts can be added when their {what} agree; these are {listed(first)} and "
                    f"{listed(second)}."
                )
        classes = tuple(sorted({*self.classes, *other.classes}, key=sort_key))
        groups = tuple(sorted({*self.groups, *other.groups}, key=sort_key))
        a, b = self._spread(groups, classes), other._spread(groups, classes)
        w = None if a.w is None or b.w is None else a.w + b.w
        w2 = None if a.w2 is None or b.w2 is None else a.w2 + b.w2
        return replace(
            a, n=a.n + b.n, w=w, w2=w2, privileged={**other.privileged, **self.privileged}
        )

    def _spread(self, groups: tuple[tuple[Any, ...], ...], classes: tuple[Any, ...]) -> Self:
        """Lay the cells out over more groups and classes."""
        g = np.array([groups.index(x) for x in self.groups])
        c = np.array([classes.index(x) for x in self.classes])

        def lay(cells: Floats) -> Floats:
            out = np.zeros((*cells.shape[:-3], len(groups), len(classes), len(classes)))
            out[..., g[:, None, None], c[:, None], c[None, :]] = cells
            return out

        return self.map_cells(lay, groups=groups, classes=classes)

    def resample(
        self, n: int = 2000, *, random_state: int | np.random.Generator | None = 0
    ) -> Self:
        """Draw bootstrap resamples of the rows as one multinomial call.

        Resampling rows with replacement makes the cell counts multinomial, so no row is touched.
        With weights, the weight of a cell is the sum of its drawn rows' weights: given how many
        rows were drawn, it is taken from a gamma distribution with that sum's exact mean and
        variance (both follow from ``n``, ``w`` and ``w2``). Where all weights of a cell are equal
        the variance is zero and the scheme is the bootstrap itself; otherwise the first two
        moments of all cells, jointly, are those of the row bootstrap, and no weight is negative.

        Parameters
        ----------
        n : int
            Number of resamples; they become the first axis.
        random_state : int, Generator or None
            Seed.
        """
        rng = make_rng(random_state)
        cells = self.n.reshape(*self.shape, -1)
        total = cells.sum(axis=-1)
        if (total <= 0).any():
            raise InputError("resample() needs at least one row.")
        draws = rng.multinomial(
            total.astype(np.int64), cells / total[..., None], size=(n, *self.shape)
        )
        rows = draws.astype(np.float64).reshape(n, *self.n.shape)
        if self.w is None or self.w2 is None:
            return replace(self, n=rows)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.where(self.n > 0, self.w / self.n, 0.0)
            square = np.where(self.n > 0, self.w2 / self.n, 0.0)
            variance = np.maximum(square - mean**2, 0.0)
            spread = variance > 1e-12 * square
            scale = np.where(spread, variance / mean, 1.0)
            shape = rows * np.where(spread, mean / scale, 0.0)
        weights = np.where(spread, rng.standard_gamma(shape) * scale, rows * mean)
        return replace(self, n=rows, w=weights, w2=rows * square)


def _resolve_privileged(
    privileged: Any,
    attributes: tuple[str, ...],
    groups: tuple[tuple[Any, ...], ...],
    shard: bool,
) -> dict[str, tuple[Any, ...]]:
    """Turn what a user gave into attribute -> values that occur."""
    if privileged is None:
        return {}
    if not isinstance(privileged, Mapping):
        if len(attributes) > 1:
            raise InputError(
                f"privileged must map each attribute to its value(s) when there are several; "
                f"got {privileged!r} for {listed(attributes)}."
            )
        privileged = {attributes[0]: privileged}
    out: dict[str, tuple[Any, ...]] = {}
    for attribute, wanted in privileged.items():
        name = match_values(attribute, attributes, what="attribute")[0]
        known = sorted({g[attributes.index(name)] for g in groups}, key=sort_key)
        if shard:  # the others may hold what this one lacks
            several = isinstance(wanted, Collection) and not isinstance(wanted, str | bytes)
            out[name] = tuple(wanted) if several else (wanted,)
            continue
        out[name] = match_values(wanted, known, what=f"value of {name}")
        if len(out[name]) == len(known):
            raise InputError(
                f"At least one value of {name} must be unprivileged; all of {listed(known)} "
                f"were named privileged."
            )
    return out
