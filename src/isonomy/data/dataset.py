"""What a dataset is: raw columns, a label with its favourable values, and protected attributes."""

from collections.abc import Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from isonomy._bands import is_number
from isonomy._files import read_table
from isonomy._groups import sorted_values
from isonomy._tables import as_pandas
from isonomy._unknown import is_unknown
from isonomy._validate import (
    MISSING,
    as_names,
    check_choice,
    check_columns,
    check_length,
    check_names,
    check_weight,
    listed,
    match_values,
    resolve_favorable,
)
from isonomy.data.label import check_label, read_label, source_of_label
from isonomy.errors import InputError


@dataclass(frozen=True)
class DatasetInfo:
    """Where a dataset comes from and what a user of it must know.

    Parameters
    ----------
    title : str
        One line that says what a row is and what the label means.
    source : str
        Who publishes the data.
    licence : str
        The licence of the data, as far as it is known.
    citation : str
        The publication to cite.
    caveats : tuple of str
        What a careful reader of a result on this data has to know.
    version : str
        Which of several versions this is, and of the loader that read it.
    sha256 : mapping of str to str
        The checksum of every file that was read.
    rules : mapping of str to str
        Per protected attribute, in words: how it is derived and who counts as privileged.
    """

    title: str = ""
    source: str = ""
    licence: str = ""
    citation: str = ""
    caveats: tuple[str, ...] = ()
    version: str = "1"
    sha256: Mapping[str, str] = field(default_factory=dict)
    rules: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Rows to learn from, raw, with the label, the protected attributes and the caveats.

    Parameters
    ----------
    name : str
        The name in the registry, or one chosen by the user.
    X : pandas.DataFrame
        The features with their raw values, protected columns included; text and codes without
        an order are of the categorical dtype.
    y : pandas.Series
        The label, raw.
    favorable : value or collection of values
        The labels that are good for the person concerned.
    sensitive : pandas.DataFrame
        One column per protected attribute: a raw column, or derived by a rule that ``info``
        declares. A missing value means that the attribute of the row is not known.
    privileged : mapping of str to value or collection of values
        Per protected attribute, the values of the privileged group.
    weight : array, optional
        Survey or sampling weights, one per row.
    sources : mapping of str to tuple of str, optional
        Per protected attribute, the columns of ``X`` that it is made from and that it replaces
        in a prepared matrix; by default the column of the same name.
    aside : pandas.DataFrame, optional
        Columns that are known of a row but must not be learned from: an identifier, a survey
        weight, what became known only later.
    info : DatasetInfo, optional
        Source, checksums, licence, citation, caveats, version and rules.

    Examples
    --------
    >>> frame = pd.DataFrame(
    ...     {"sex": ["f", "m", "m", "f"], "hours": [40, 38, 20, 45], "hired": [1, 1, 0, 0]}
    ... )
    >>> data = Dataset.from_frame(
    ...     frame, label="hired", favorable=1, sensitive_features="sex", privileged="m"
    ... )
    >>> data.y01.tolist(), data.s01("sex").tolist()
    ([1, 1, 0, 0], [0, 1, 1, 0])
    """

    name: str
    X: pd.DataFrame
    y: "pd.Series[Any]"
    favorable: Any
    sensitive: pd.DataFrame
    privileged: Mapping[str, Any] = field(default_factory=dict)
    weight: ArrayLike | None = None
    sources: Mapping[str, tuple[str, ...]] | None = None
    aside: pd.DataFrame | None = None
    info: DatasetInfo = field(default_factory=DatasetInfo)

    def __post_init__(self) -> None:
        n = len(self.X)
        check_length("y", len(self.y), "X", n)
        check_length("sensitive", len(self.sensitive), "X", n)
        missing = int(self.y.isna().sum())
        if missing:
            raise InputError(
                f"Every row must have a label; {missing:,} of {n:,} rows of {self.name!r} have "
                f"none: drop them first."
            )
        if self.aside is not None:
            check_length("aside", len(self.aside), "X", n)
        settle = object.__setattr__
        settle(self, "favorable", resolve_favorable(self.classes, self.favorable))
        if not len(self.sensitive.columns):
            raise InputError(
                f"At least one protected attribute must be named for {self.name!r}; got none: "
                f"pass sensitive_features=."
            )
        privileged = {
            attribute: match_values(
                values, self.groups(attribute), what=f"privileged value of {attribute!r}"
            )
            for attribute, values in self.privileged.items()
        }
        for attribute, values in privileged.items():
            if len(values) == len(self.groups(attribute)):
                raise InputError(
                    f"At least one value of {attribute!r} must be unprivileged; all of "
                    f"{listed(values)} were named privileged."
                )
        settle(self, "privileged", privileged)
        if self.weight is not None:
            weight = check_weight(self.weight, name="weight")
            check_length("weight", len(weight), "X", n)
            settle(self, "weight", weight)
        sources = self.sources or {}
        sources = {
            a: tuple(sources.get(a, (a,) if a in self.X.columns else ())) for a in self.attributes
        }
        for column in (c for columns in sources.values() for c in columns):
            check_choice("column", column, list(self.X.columns))
        settle(self, "sources", sources)

    def __len__(self) -> int:
        return len(self.X)

    def __repr__(self) -> str:
        return (
            f"Dataset({self.name!r}, {len(self):,} rows, {self.X.shape[1]} columns, "
            f"label {self.y.name!r}, protected: {', '.join(self.attributes)})"
        )

    @property
    def attributes(self) -> tuple[str, ...]:
        """The names of the protected attributes."""
        return tuple(map(str, self.sensitive.columns))

    @property
    def classes(self) -> tuple[Any, ...]:
        """The labels that occur, sorted."""
        return sorted_values(self.y)

    @property
    def y01(self) -> NDArray[np.int8]:
        """The label as 1 for a favourable and 0 for an unfavourable value."""
        return self.y.isin(self.favorable).to_numpy().astype(np.int8)

    def groups(self, attribute: str) -> tuple[Any, ...]:
        """Return the values of a protected attribute that occur, sorted."""
        return sorted_values(self._attribute(attribute))

    def sources_of(self, attribute: str) -> tuple[str, ...]:
        """Return the columns of ``X`` that a protected attribute is made from."""
        self._attribute(attribute)
        return tuple((self.sources or {})[attribute])

    def known(self, attribute: str) -> NDArray[np.bool_]:
        """Return which rows have a value of a protected attribute; words such as "Unknown" are none."""
        column = self._attribute(attribute)
        declared = self.privileged.get(attribute, ())
        unknown = [v for v in column.dropna().unique() if is_unknown(v) and v not in declared]
        return (column.notna() & ~column.isin(unknown)).to_numpy()

    def s01(self, attribute: str) -> NDArray[np.int8]:
        """Return a protected attribute as 1 for the privileged group and 0 for everybody else."""
        column = self._attribute(attribute)
        if attribute not in self.privileged:
            raise InputError(
                f"The privileged values of {attribute!r} must be named to code it as 0 / 1; it "
                f"holds {', '.join(map(str, self.groups(attribute)))}: pass privileged=."
            )
        missing = int((~self.known(attribute)).sum())
        if missing:
            raise InputError(
                f"{attribute!r} must be known in every row to code it as 0 / 1; "
                f"{missing:,} rows lack it: use "
                f"dataset.take(dataset.known({attribute!r}))."
            )
        return column.isin(self.privileged[attribute]).to_numpy().astype(np.int8)

    def take(self, rows: ArrayLike) -> "Dataset":
        """Return the dataset of some rows, by position or by a mask.

        Favourable and privileged values stay declared, even where no chosen row has them.
        """
        where = np.asarray(rows)
        where = np.flatnonzero(where) if where.dtype == np.bool_ else where
        part = copy(self)  # no new check: a subset need not hold every class and group
        for name in ("X", "y", "sensitive", "aside"):
            whole = getattr(self, name)
            object.__setattr__(part, name, None if whole is None else whole.iloc[where])
        if self.weight is not None:
            object.__setattr__(part, "weight", np.asarray(self.weight)[where])
        return part

    def frame(self) -> pd.DataFrame:
        """Return one table: columns of X and aside, derived attributes, the weight and the label.

        An attribute that was derived from a column of its own name (an age band from an age)
        appears as ``name (group)``, and the weight of the rows as ``weight (row)`` where a feature
        is called weight.
        """
        table: dict[Any, Any] = dict(self.X.items())
        if self.aside is not None:
            table.update(self.aside.items())
        for attribute in self.attributes:
            column = self.sensitive[attribute]
            if attribute not in table:
                table[attribute] = column
            elif not column.equals(table[attribute]):
                table[f"{attribute} (group)"] = column
        if self.weight is not None:
            table["weight (row)" if "weight" in table else "weight"] = np.asarray(self.weight)
        table[self.y.name] = self.y
        return pd.DataFrame(table, index=self.X.index)

    def base_rates(self) -> pd.DataFrame:
        """Count the rows of every group and the share of favourable labels in it.

        Returns
        -------
        pandas.DataFrame
            One row per attribute and group: ``rows``, ``share`` of all rows, ``favorable``
            (the share of favourable labels) and, where the dataset has weights,
            ``favorable_weighted``.
        """
        y = self.y01.astype(float)
        weight = None if self.weight is None else np.asarray(self.weight, dtype=float)
        rows: list[dict[str, Any]] = []
        for attribute in self.attributes:
            column = self._attribute(attribute)
            members = [(group, (column == group).to_numpy()) for group in self.groups(attribute)]
            if column.isna().any():
                members.append((MISSING, column.isna().to_numpy()))
            for group, member in members:
                row = {
                    "attribute": attribute,
                    "group": group,
                    "privileged": group in self.privileged.get(attribute, ()),
                    "rows": int(member.sum()),
                    "share": float(member.mean()),
                    "favorable": float(y[member].mean()),
                }
                if weight is not None:
                    total = weight[member].sum()
                    row["favorable_weighted"] = (
                        float((weight * y)[member].sum() / total) if total > 0 else float("nan")
                    )
                rows.append(row)
        return pd.DataFrame(rows)

    def gap(self, attribute: str) -> float | None:
        """Return the base rate of the unprivileged group minus that of the privileged one.

        None where no group is privileged, or only one group is left.
        """
        if attribute not in self.privileged:
            return None
        known = self.take(self.known(attribute))
        s, y = known.s01(attribute), known.y01
        return None if s.min() == s.max() else float(y[s == 0].mean() - y[s == 1].mean())

    def to_dict(self) -> dict[str, Any]:
        """Return the facts of the dataset as plain data, without its rows."""
        info = self.info
        groups = self.base_rates().astype({"group": str})
        return {
            "name": self.name,
            "title": info.title,
            "rows": len(self),
            "rows_with_missing": int(self.X.isna().any(axis=1).sum()),
            "features": list(map(str, self.X.columns)),
            "categorical_features": sum(not is_number(self.X[c]) for c in self.X),
            "label": str(self.y.name),
            "favorable": [str(v) for v in self.favorable],
            "favorable_share": float(self.y01.mean()),
            "privileged": {a: [str(v) for v in values] for a, values in self.privileged.items()},
            "groups": groups.astype(object).where(groups.notna(), None).to_dict("records"),
            "gaps": {a: self.gap(a) for a in self.attributes},
            "weighted": self.weight is not None,
            "caveats": list(info.caveats),
            "rules": dict(info.rules),
            "source": info.source,
            "licence": info.licence,
            "citation": info.citation,
            "version": info.version,
            "sha256": dict(info.sha256),
        }

    @classmethod
    def from_frame(
        cls,
        df: Any,
        *,
        label: str,
        sensitive_features: str | Sequence[str],
        favorable: Any = None,
        privileged: Any = None,
        weight: str | None = None,
        drop: Collection[str] = (),
        name: str = "user data",
        info: DatasetInfo | None = None,
    ) -> "Dataset":
        """Make a dataset of a table.

        Parameters
        ----------
        df : pandas.DataFrame
            The table, one row per person or case; a polars or Arrow table is copied into one.
        label : str
            The column to predict, or a number cut in two: ``"income>50000"`` is 1 above and 0
            elsewhere, and ``income`` goes to ``aside``.
        sensitive_features : str or sequence of str
            The columns that hold protected attributes; they stay in ``X``.
        favorable : value or collection of values, optional
            The labels that are good for the person concerned; needed unless labels are 0 / 1.
        privileged : mapping, value or collection of values, optional
            Per attribute the values of the privileged group; with one attribute, the values.
        weight : str, optional
            A column of weights; it does not stay in ``X``.
        drop : collection of str, optional
            Columns to leave out of ``X``, such as an identifier; they go to ``aside``.
        name : str, optional
            The name of the dataset in messages and reports.
        info : DatasetInfo, optional
            Source, licence, caveats.

        Returns
        -------
        Dataset
        """
        df = as_pandas(df)
        check_label(label)
        attributes, drop = as_names(sensitive_features), as_names(drop, "drop")
        check_names(df.columns, what="the table")
        check_columns([*attributes, *([weight] if weight else [])], list(df.columns))
        check_columns(drop, list(df.columns))
        outcome = source_of_label(label, list(df.columns))
        if outcome in attributes:
            raise InputError(
                f"The label must not be a protected attribute; got {outcome!r} as both."
            )
        y = read_label(df, label, favorable)
        aside = list(dict.fromkeys([*drop, *([outcome] if outcome != label else [])]))
        features = df.drop(columns=[outcome, *([weight] if weight else []), *drop])
        return cls(
            name=name,
            X=features,
            y=y,
            favorable=favorable,
            sensitive=df[attributes],
            privileged=by_attribute(privileged, attributes, "privileged"),
            weight=None if weight is None else df[weight].to_numpy(),
            aside=df[aside] if aside else None,
            info=info or DatasetInfo(title=f"{name}: {len(df):,} rows"),
        )

    @classmethod
    def from_csv(cls, path: str | Path, **options: Any) -> "Dataset":
        """Make a dataset of a CSV file; the options are those of ``from_frame``.

        An empty cell is missing; cells are separated by commas, semicolons, tabs or ``|``.
        """
        options.setdefault("name", Path(path).stem)
        return cls.from_frame(read_table(path, kind=".csv"), **options)

    @classmethod
    def from_parquet(cls, path: str | Path, **options: Any) -> "Dataset":
        """Make a dataset of a Parquet file; the options are those of ``from_frame``."""
        options.setdefault("name", Path(path).stem)
        return cls.from_frame(read_table(path, kind=".parquet"), **options)

    def _attribute(self, attribute: str) -> "pd.Series[Any]":
        check_choice("protected attribute", attribute, list(self.attributes))
        return self.sensitive[attribute]


def by_attribute(given: Any, attributes: Sequence[str], what: str) -> Mapping[Any, Any]:
    """Return what was given for each attribute; of a single one it may stand alone.

    Examples
    --------
    >>> by_attribute([25, 60], ["age"], "bins"), by_attribute(None, ["age", "sex"], "bins")
    ({'age': [25, 60]}, {})
    """
    if given is None or isinstance(given, Mapping):
        return given or {}
    if len(attributes) != 1:
        raise InputError(
            f"{what} must say which attribute it is for, as there are {len(attributes)}; got "
            f"{given!r}: pass {what}={{{[*attributes, 'attribute'][0]!r}: ...}}."
        )
    return {attributes[0]: given}
