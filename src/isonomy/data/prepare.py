"""Feature matrices: named ways from raw columns to numbers.

A preparation is a named recipe over the raw Dataset. Every one of them gives float features, a
label where 1 is favourable and a protected attribute where 1 is privileged. A protected attribute
is one 0 / 1 column of the prepared frame: it replaces the columns it is derived from, so that it
can be flipped.

==============  =============================================================================
``default``     what a careful practitioner does today: a scikit-learn ColumnTransformer
                fitted on the training rows, unknown and rare categories handled
``coarse``      the coarse sets of AIF360 that Optimized Preprocessing needs; no scaling
==============  =============================================================================

The studies of :mod:`isonomy.papers` add their own: ``chen``, ``fairea``, ``evt``, ``kaggle40``.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from isonomy._arrays import Floats, Rows
from isonomy._registry import Registry
from isonomy._validate import check_choice, match_values
from isonomy.data.dataset import Dataset
from isonomy.data.frames import features_of, make_transformer, one_hot
from isonomy.data.prepared import Part, Prepared
from isonomy.data.splits import Split
from isonomy.errors import InputError

Scale = Literal["minmax", "standard"] | None


@dataclass(frozen=True)
class Preparation:
    """A named way from raw columns to a feature matrix.

    Parameters
    ----------
    name : str
        Its name.
    frame : callable
        Returns, for a dataset and the protected attribute under test, the prepared frame: the
        columns in the order of the features, protected attributes as 0 / 1, indexed by the
        row's position in the dataset; rows that the recipe drops are absent.
    scale : {"minmax", "standard"}, optional
        How features are scaled; fitted on the training rows.
    levels : {"all", "train"}
        Where the one-hot levels come from: all rows of the frame (as the studies did) or the
        training rows only.
    favorable : callable, optional
        Returns the favourable labels where the recipe's differ from the dataset's.
    one_table : bool
        Whether the frame is the same whatever attribute is under test, so that a study may make
        it once for all of them.
    version : str
        Rises when the recipe gives other numbers: results of older ones are not mixed with new.
    """

    name: str
    frame: Callable[..., pd.DataFrame]
    scale: Scale = None
    levels: Literal["all", "train", "once"] = "all"
    favorable: Callable[[Dataset], Any] | None = None
    one_table: bool = False
    version: str = "1"


PREPARATIONS: Registry[Preparation] = Registry("preparation")


@dataclass(frozen=True, eq=False)
class Encoded:
    """A dataset after the steps of a preparation that do not depend on the split.

    Making it once and calling ``at`` per split is what ``prepare`` does, without the repeats.
    """

    dataset: Dataset
    preparation: Preparation
    frame: pd.DataFrame
    y: NDArray[np.int8]
    matrix: Floats | None = None
    names: tuple[str, ...] = ()
    _where: Rows = field(default_factory=lambda: np.empty(0, np.intp))

    @property
    def rows(self) -> Rows:
        """The positions in the dataset of the rows that the preparation keeps."""
        return self.frame.index.to_numpy().astype(np.intp)

    @property
    def coded(self) -> tuple[str, ...]:
        """The protected attributes that are one 0 / 1 column of the frame."""
        kinds = self.frame.dtypes
        return tuple(a for a in self.dataset.attributes if a in kinds and kinds[a] == np.int8)

    def at(self, split: Split, attribute: str) -> Prepared:
        """Cut and scale for one split and one protected attribute under test."""
        check_choice("protected attribute", attribute, list(self.dataset.attributes))
        if attribute not in self.coded:
            raise InputError(
                f"{attribute!r} must be a 0 / 1 column of the prepared frame to be tested; "
                f"preparation {self.preparation.name!r} of {self.dataset.name!r} has none: name "
                f"its privileged values, or use another preparation."
            )
        chosen = [
            None if rows is None else self._kept(rows)
            for rows in (split.train, split.test, split.validation)
        ]
        assert chosen[0] is not None
        assert chosen[1] is not None
        if not len(chosen[0]) or not len(chosen[1]):
            raise InputError(
                f"Training and test part must have rows; preparation {self.preparation.name!r} "
                f"keeps {len(chosen[0])} and {len(chosen[1])} of this split: split "
                f"rows_of(dataset, {self.preparation.name!r})."
            )
        matrices, names = self._matrices(chosen)
        columns = {a: names.index(a) for a in self.coded}
        parts = [
            None if rows is None or X is None else self._part(rows, X, attribute)
            for rows, X in zip(chosen, matrices, strict=True)
        ]
        train, test = parts[0], parts[1]
        assert train is not None
        assert test is not None
        return Prepared(
            dataset=self.dataset.name,
            preparation=self.preparation.name,
            attribute=attribute,
            train=train,
            test=test,
            validation=parts[2],
            feature_names=names,
            columns=columns,
            values={a: self._values(a, column, train) for a, column in columns.items()},
        )

    def _kept(self, rows: Rows) -> Rows:
        """Turn positions in the dataset into positions in the frame, dropping what it drops."""
        result = self._where[rows]
        return result[result >= 0]

    def _matrices(self, chosen: list[Rows | None]) -> tuple[list[Floats | None], tuple[str, ...]]:
        first = chosen[0]
        assert first is not None
        if self.preparation.levels == "train":
            transformer = make_transformer(self.frame)
            transformer.fit(self.frame.iloc[first])
            names = tuple(map(str, transformer.get_feature_names_out()))
            return [
                None if rows is None else np.asarray(transformer.transform(self.frame.iloc[rows]))
                for rows in chosen
            ], names
        assert self.matrix is not None
        cut = [None if rows is None else self.matrix[rows] for rows in chosen]
        scaler = _scaler(self.preparation.scale)
        if scaler is not None:
            scaler.fit(cut[0])
            cut = [None if X is None else scaler.transform(X) for X in cut]
        return cut, self.names

    def _part(self, rows: Rows, X: Floats, attribute: str) -> Part:
        where = self.rows[rows]
        weight = self.dataset.weight
        return Part(
            X=X,
            y=self.y[rows],
            s=self.frame[attribute].to_numpy()[rows].astype(np.int8),
            rows=where,
            frame=self.frame.iloc[rows],
            sensitive=self.dataset.sensitive.iloc[where],
            weight=None if weight is None else np.asarray(weight)[where],
        )

    @staticmethod
    def _values(attribute: str, column: int, train: Part) -> tuple[float, float]:
        """Read off what a 0 and a 1 of the frame have become in the matrix."""
        coded, scaled = train.frame[attribute].to_numpy(), train.X[:, column]
        low, high = (scaled[coded == v][:1] for v in (0, 1))
        if not len(low) or not len(high):
            return (float("nan"), float("nan"))
        return (float(low[0]), float(high[0]))


def prepare(
    dataset: Dataset,
    recipe: str = "default",
    *,
    attribute: str,
    split: Split,
    **options: Any,
) -> Prepared:
    """Turn one split of a dataset into features, labels and a protected attribute.

    Parameters
    ----------
    dataset : Dataset
        The raw data.
    recipe : str, default "default"
        The preparation: ``default``, ``chen``, ``fairea``, ``coarse``, ``evt`` or ``kaggle40``.
    attribute : str
        The protected attribute under test.
    split : Split
        Which rows to learn from and to test on. Rows that the recipe drops are left out.
    **options
        ``scale=`` to override the recipe's scaling, and hooks of the recipe, such as ``drop=``
        of ``kaggle40``.

    Returns
    -------
    Prepared

    Examples
    --------
    >>> from isonomy.data import load, make_splits
    >>> data = load("synthetic", n=1000)
    >>> split = make_splits(data)[0]
    >>> ready = prepare(data, attribute="group", split=split)
    >>> ready.X_train.shape[0], ready.X_test.shape[0]
    (700, 300)
    """
    return encode(dataset, recipe, attribute=attribute, **options).at(split, attribute)


def encode(
    dataset: Dataset, recipe: str = "default", *, attribute: str | None = None, **options: Any
) -> Encoded:
    """Do the steps of a preparation that do not depend on the split."""
    preparation = PREPARATIONS[recipe]
    if "scale" in options:
        preparation = replace(preparation, scale=options.pop("scale"))
    frame = preparation.frame(dataset, attribute, **options)
    if preparation.favorable is None:
        y = dataset.y01
    else:
        named = match_values(
            preparation.favorable(dataset), dataset.classes, what="favourable label"
        )
        y = dataset.y.isin(named).to_numpy().astype(np.int8)
    kept = frame.index.to_numpy().astype(np.intp)
    where = np.full(len(dataset), -1, dtype=np.intp)
    where[kept] = np.arange(len(kept))
    matrix, names = one_hot(frame) if preparation.levels == "all" else (None, ())
    if preparation.levels == "once":
        transformer = make_transformer(frame)
        matrix = np.asarray(transformer.fit_transform(frame))
        names = tuple(map(str, transformer.get_feature_names_out()))
    return Encoded(dataset, preparation, frame, y[kept], matrix, names, where)


def rows_of(dataset: Dataset, recipe: str, *, attribute: str | None = None, **options: Any) -> Rows:
    """Return the positions of the rows that a preparation keeps, to be split.

    The studies dropped rows first and split what was left.
    """
    options.pop("scale", None)
    frame = PREPARATIONS[recipe].frame(dataset, attribute, **options)
    return frame.index.to_numpy().astype(np.intp)


def _scaler(scale: Scale) -> Any:
    from sklearn.preprocessing import MinMaxScaler, StandardScaler

    return {None: None, "minmax": MinMaxScaler(), "standard": StandardScaler()}[scale]


def _default_frame(dataset: Dataset, attribute: str | None) -> pd.DataFrame:
    frame = features_of(dataset)
    return frame if attribute is None else frame[dataset.known(attribute)]


PREPARATIONS.add("default", Preparation("default", _default_frame, levels="train"))
# medians and levels of all rows, not of the training rows: many splits at the price of one
PREPARATIONS.add("default_once", Preparation("default_once", _default_frame, levels="once"))
