"""Counterfactual pairs: the same rows, with the protected attribute set to another value."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from isonomy._groups import attribute_columns, cross
from isonomy._tables import column_names, get_column, row_count, set_columns, take
from isonomy._validate import (
    MISSING,
    check_choice,
    check_length,
    check_same_order,
    listed,
    match_values,
    unknown_name,
)
from isonomy.errors import InputError, NotApplicable, UnknownName

Codes = NDArray[np.intp]
Companions = Mapping[Any, Mapping[Any, Any]]
MOST_GROUPS = 50
"""More values than this are not a protected attribute but a measurement or a name."""


# ---------------------------------------------------------------------- the attribute


@dataclass(frozen=True, eq=False)
class Attribute:
    """Where a protected attribute stands in a table, and what it holds for each group.

    The attribute may be one column, the one-hot columns of its values, or several attributes at
    once; a group is then one combination of their values. What the columns hold for a group is
    read off the rows of that group, so scaled and coded columns work as raw ones do.

    Parameters
    ----------
    names : tuple of str
        The protected attributes.
    groups : tuple
        The groups in order; with several attributes each is a tuple of values.
    columns : tuple of int
        The positions in the table of the columns that encode the attributes.
    shown : table
        One row per group, as the table holds it.
    companions : mapping of int to mapping of int to mapping
        Per column and group number: what other values become when a row is put in that group.

    Examples
    --------
    >>> X = pd.DataFrame({"sex": ["f", "m", "f"], "hours": [40, 38, 20]})
    >>> attribute, codes = Attribute.learn(X, "sex")
    >>> attribute.groups, codes.tolist()
    (('f', 'm'), [0, 1, 0])
    >>> attribute.assign(X, [1, 0, 0])["sex"].tolist()
    ['m', 'f', 'f']
    """

    names: tuple[str, ...]
    groups: tuple[Any, ...]
    columns: tuple[int, ...]
    shown: Any
    companions: Mapping[int, Mapping[int, Mapping[Any, Any]]]

    @classmethod
    def learn(
        cls,
        X: Any,
        sensitive_features: Any,
        *,
        columns: Any = None,
        groups: Sequence[Any] | None = None,
        companions: Companions | None = None,
        outside: bool = False,
    ) -> tuple["Attribute", Codes]:
        """Find the attribute in a table, and the group of every row (-1: none of them).

        Parameters
        ----------
        X : frame, array or sparse matrix
            What the model takes.
        sensitive_features : str, list of str, Series, frame, array or mapping
            Names of columns of a frame, or the values of the protected attributes.
        columns : mapping of attribute to column or columns, or for one attribute those columns
            Where the attribute is encoded in ``X``: names or positions, several for one-hot
            columns. By default the column of the attribute's name.
        groups : sequence, optional
            The groups to compare; rows of other groups are left out.
        companions : mapping, optional
            Columns that change with the attribute: ``{"relationship": {"Male": {"Wife":
            "Husband"}}}`` makes a wife a husband where a row is put in the group ``Male``.
        outside : bool, default False
            Whether an attribute may be absent from ``X``, for a model that takes it as an argument of its own.
        """
        names = column_names(X)
        named = _names_only(sensitive_features, names, row_count(X))
        if named is not None:
            if names is None:
                raise InputError(
                    "sensitive_features must be values when X is an array, not names of columns; "
                    f"got {listed(named)}: pass the values, and columns= for where they stand in X."
                )
            for name in named:
                check_choice("column", name, names)
            values = {str(n): get_column(X, names.index(n)) for n in named}
        else:
            check_same_order(X, sensitive_features, name="sensitive_features")
            values = attribute_columns(sensitive_features)
        for name, column in values.items():
            check_length(f"sensitive feature {name!r}", len(column), "X", row_count(X))
        codes, labels = _joint(values)
        codes, labels = _restrict(codes, labels, groups, tuple(values))
        positions = _positions(X, tuple(values), columns, outside=outside)
        first = np.array([np.argmax(codes == g) for g in range(len(labels))], dtype=np.intp)
        if named is None or columns is not None:
            _check_one_value(X, positions, codes, first, labels)
        rules = _rules(X, companions, labels, positions)
        made = cls(tuple(values), tuple(labels), positions, take(X, first), rules)
        return made, codes

    def assign(self, X: Any, group: Any, *, companions: bool = True) -> Any:
        """Return a copy of rows with the attribute set to a group number per row."""
        target = np.asarray(group, dtype=np.intp)
        fresh: dict[int, Any] = {}
        for position in self.columns:
            fresh[position] = pick(self.shown, position, target)
        for position, rules in self.companions.items() if companions else ():
            now = get_column(X, position)
            before = now.to_numpy() if isinstance(now, pd.Series) else np.asarray(now)
            after = before.astype(object) if before.dtype.kind in "OUS" else before.copy()
            for code, words in rules.items():
                for old, new in words.items():
                    after[(target == code) & (before == old)] = new
            fresh[position] = after
        return set_columns(X, fresh) if fresh else X

    def values(self, group: Any) -> dict[str, NDArray[Any]]:
        """Return the attribute's values for a group number per row, as sensitive features."""
        codes = np.asarray(group, dtype=np.intp)
        if len(self.names) == 1:
            return {self.names[0]: _array(self.groups)[codes]}
        return {n: _array([g[j] for g in self.groups])[codes] for j, n in enumerate(self.names)}

    def code_of(self, group: Any) -> int:
        """Return the number of a group that a user named."""
        return match_groups(group, self.groups)[0]

    @property
    def title(self) -> str:
        """The attributes in words."""
        return " & ".join(self.names)


@dataclass(frozen=True, eq=False)
class Flips:
    """Rows put in other groups.

    Parameters
    ----------
    X : table
        The counterfactual rows, as the kind of table that was given.
    row : ndarray of int
        The position of the row that each comes from.
    origin, target : ndarray of int
        The numbers of the group it belongs to and of the one it was put in.
    attribute : Attribute
        What the numbers mean.
    """

    X: Any
    row: Codes
    origin: Codes
    target: Codes
    attribute: Attribute

    def __len__(self) -> int:
        return self.row.size


def flip(
    X: Any,
    sensitive_features: Any,
    *,
    to: Any = None,
    columns: Any = None,
    groups: Sequence[Any] | None = None,
    companions: Companions | None = None,
) -> Flips:
    """Put every row in every other group: the same person but for the protected attribute.

    Only the attribute changes, and the companions that were declared. What else would differ
    had the person always belonged to the other group (proxies) is not changed: this is the
    sensitivity of a model to the attribute, not a causal effect.

    Parameters
    ----------
    X : frame, array or sparse matrix
        What the model takes.
    sensitive_features : str, list of str, Series, frame, array or mapping
        Names of columns of a frame, or the values of the protected attributes; with several, a
        group is one combination of their values and every other combination that occurs is a
        counterfactual.
    to : group, optional
        The one group to put rows in; by default every other group.
    columns : mapping of attribute to column or columns, or for one attribute those columns
        Where the attribute is encoded in ``X``: names or positions, several for one-hot columns.
        By default the column of the attribute's name.
    groups : sequence, optional
        The groups to compare; rows of other groups are left out.
    companions : mapping, optional
        Columns that change with the attribute, per group that a row is put in:
        ``{"relationship": {"Male": {"Wife": "Husband"}, "Female": {"Husband": "Wife"}}}``.

    Returns
    -------
    Flips

    References
    ----------
    Galhotra, S., Brun, Y. and Meliou, A. (2017). Fairness testing: testing software for
    discrimination. ESEC/FSE.

    Examples
    --------
    >>> X = pd.DataFrame({"race": ["a", "b", "c"], "age": [30, 40, 50]})
    >>> flips = flip(X, "race", to="a")
    >>> flips.X.to_dict("list"), flips.row.tolist()
    ({'race': ['a', 'a'], 'age': [40, 50]}, [1, 2])
    >>> len(flip(X, "race"))
    6
    """
    attribute, codes = Attribute.learn(
        X, sensitive_features, columns=columns, groups=groups, companions=companions
    )
    targets = range(len(attribute.groups)) if to is None else [attribute.code_of(to)]
    return put(X, attribute, codes, targets)


def put(X: Any, attribute: Attribute, codes: Codes, targets: Any) -> Flips:
    """Put rows whose groups are known in each of the target groups that is not their own."""
    rows = [np.flatnonzero((codes != t) & (codes >= 0)) for t in targets]
    row = np.concatenate(rows) if rows else np.empty(0, dtype=np.intp)
    target = np.repeat(np.array(list(targets), dtype=np.intp), [len(r) for r in rows])
    return Flips(attribute.assign(take(X, row), target), row, codes[row], target, attribute)


# ---------------------------------------------------------------------- reading what was given


def pick(X: Any, position: int, rows: Codes) -> Any:
    """Return some rows of a column, of the type it has."""
    column = get_column(X, position)
    return column.array.take(rows) if isinstance(column, pd.Series) else column[rows]


def column_position(X: Any, column: Any) -> int:
    """Return the position of a column that is named or numbered.

    Examples
    --------
    >>> column_position(pd.DataFrame({"sex": [0], "age": [30]}), "age")
    1
    """
    names, width = column_names(X), int(X.shape[1])
    if names is not None and column in names:
        return names.index(column)
    if isinstance(column, int | np.integer) and -width <= column < width:
        return int(column) % width
    raise unknown_name("column", str(column), names or list(range(width)))


def group_name(group: Any) -> str:
    """Write a group; a combination as ``a & b``.

    Examples
    --------
    >>> group_name(("f", "black")), group_name(1)
    ('f & black', '1')
    """
    return " & ".join(map(str, group)) if isinstance(group, tuple) else str(group)


def match_groups(wanted: Any, groups: Sequence[Any]) -> list[int]:
    """Find groups that a user named; a combination may be a tuple or 'a & b'."""
    known = list(groups)
    if wanted in known:
        return [known.index(wanted)]
    if known and isinstance(known[0], tuple):
        words = [group_name(g) for g in known]
        several = isinstance(wanted, list | set) or (
            isinstance(wanted, tuple) and wanted and isinstance(wanted[0], tuple)
        )
        asked = [" & ".join(map(str, w)) if isinstance(w, tuple) else str(w)
                 for w in (wanted if several else [wanted])]  # fmt: skip
        return [words.index(w) for w in match_values(asked, words, what="group")]
    return [known.index(v) for v in match_values(wanted, known, what="group")]


def _array(values: Sequence[Any]) -> NDArray[Any]:
    """Return labels as an array that keeps their type; text and mixtures as objects."""
    return pd.Series(list(values)).to_numpy()


def _names_only(
    sensitive_features: Any, names: list[Any] | None, rows: int
) -> list[Any] | None:  # fmt: skip
    """Distinguish names of columns from values: one name, or words that are not one per row."""
    if np.isscalar(sensitive_features):  # a number names a column of a frame without words
        return [sensitive_features]
    if not isinstance(sensitive_features, list | tuple) or not sensitive_features:
        return None
    words = list(sensitive_features)
    if not all(isinstance(w, str) for w in words):
        return None
    return words if len(words) != rows or set(words) <= set(names or ()) else None


def _joint(columns: Mapping[str, Any]) -> tuple[Codes, list[Any]]:
    """Return the groups numbers in order; a row whose attribute is not known has -1."""
    rows = len(next(iter(columns.values())))
    codes, groups = cross(columns, rows)
    known = np.array([MISSING not in group for group in groups], dtype=bool)
    labels = [g[0] if len(columns) == 1 else g for g, k in zip(groups, known, strict=True) if k]
    return np.where(known, np.cumsum(known) - 1, -1)[codes], labels


def _restrict(
    codes: Codes, labels: list[Any], groups: Sequence[Any] | None, names: tuple[str, ...]
) -> tuple[Codes, list[Any]]:
    if groups is not None:
        kept = sorted({i for g in groups for i in match_groups(g, labels)})
        place = np.full(len(labels) + 1, -1, dtype=np.intp)
        place[kept] = np.arange(len(kept))
        codes, labels = place[codes], [labels[i] for i in kept]
    if len(labels) < 2:
        values = f"every row is {labels[0]!r}" if labels else "no row has a value"
        raise InputError(
            f"A protected attribute must hold at least two groups to flip between; in "
            f"{' & '.join(names)!r} {values}."
        )
    if len(labels) > MOST_GROUPS:
        name = " & ".join(names)
        raise InputError(
            f"A protected attribute must have at most {MOST_GROUPS} groups to flip between; {name!r} "
            f"has {len(labels):,}: name the ones to compare, groups= (on the command line --group "
            f"{names[0]}=VALUE,VALUE)."
        )
    return codes, labels


def _positions(
    X: Any, names: tuple[str, ...], columns: Any, *, outside: bool
) -> tuple[int, ...]:  # fmt: skip
    known = column_names(X)
    if columns is None:
        wanted: Mapping[str, Any] = {}
    elif isinstance(columns, Mapping):
        for name in columns:
            check_choice("protected attribute", str(name), names)
        wanted = {str(k): v for k, v in columns.items()}
    elif len(names) == 1:
        wanted = {names[0]: columns}
    else:
        raise InputError(
            f"columns must say which attribute they are for, as there are {len(names)}; pass "
            f"columns={{{names[0]!r}: ...}}."
        )
    result: list[int] = []
    texts = [str(k) for k in known or ()]
    for name in names:
        given = wanted.get(name)
        if given is None:
            if name in texts:
                result.append(texts.index(name))
            elif not outside and known is None:
                raise InputError(
                    f"Where {name!r} stands in X must be named when X is an array: pass "
                    f"columns= with the position of its column, or of its one-hot columns."
                )
            elif not outside:
                raise UnknownName(
                    f"{unknown_name('column', name, texts)} Where {name!r} is encoded otherwise, "
                    f"name its column or its one-hot columns with columns=."
                )
            continue
        several = isinstance(given, list | tuple | set | np.ndarray)
        result += [column_position(X, item) for item in (given if several else [given])]
    return tuple(dict.fromkeys(result))


def _check_one_value(
    X: Any, positions: tuple[int, ...], codes: Codes, first: Codes, labels: list[Any]
) -> None:
    """Raise unless all rows of a group hold the same in the attribute's columns."""
    member = codes >= 0
    for position in positions:
        column = get_column(X, position)
        values = column.to_numpy() if isinstance(column, pd.Series) else column
        differs = member & (values != values[first][codes])
        if differs.any():
            group = labels[codes[int(np.argmax(differs))]]
            names = column_names(X)
            where = repr(names[position]) if names else f"{position}"
            raise NotApplicable(
                f"To flip a protected attribute each group must hold one value in its column; "
                f"column {where} holds several for {group!r}: put the grouped attribute into X "
                f"instead of the column it was made from, or name its columns with columns=."
            )


def _rules(
    X: Any, companions: Companions | None, labels: list[Any], positions: tuple[int, ...]
) -> dict[int, dict[int, dict[Any, Any]]]:
    rules: dict[int, dict[int, dict[Any, Any]]] = {}
    for column, by_group in (companions or {}).items():
        position = column_position(X, column)
        if position in positions:
            raise InputError(
                f"A companion must be another column than the attribute; got {column!r}."
            )
        held = list(pd.unique(pd.Series(np.asarray(get_column(X, position))).dropna()))
        for group, words in by_group.items():
            if not isinstance(words, Mapping):
                raise InputError(
                    f"A companion must say what each value becomes, as a mapping of old to new "
                    f"values; got {words!r} for {column!r}."
                )
            for code in match_groups(group, labels):
                changes = rules.setdefault(position, {}).setdefault(code, {})
                for old, new in words.items():
                    before, after = (
                        match_values(v, held, what=f"value of {column}")[0] for v in (old, new)
                    )
                    changes[before] = after
    return rules
