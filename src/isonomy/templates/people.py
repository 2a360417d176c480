"""Count people by the values of columns: one GROUP BY of a file, or of a frame in memory."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from isonomy._arrays import Floats
from isonomy._files import TableFile, open_table, sql_name
from isonomy._groups import bands, factorize, sort_key
from isonomy._tables import as_pandas
from isonomy._unknown import is_missing
from isonomy._validate import MISSING, check_columns, is_real, listed
from isonomy.audit.selected_scores import sums_in_sql
from isonomy.errors import InputError
from isonomy.metrics.query import MOST_CELLS, banded

Bins = Mapping[str, Sequence[float]]
"""Where numbers such as age are cut, by column."""


class People(NamedTuple):
    """Cells of people: a row per combination of values, "(missing)" among them, with ``n`` people.

    With scores, ``above`` of them lie strictly above the ``median`` of all rows; ``ties`` people in
    all lie on it.
    """

    cells: pd.DataFrame
    median: float = np.nan
    ties: int = 0

    @property
    def rows(self) -> int:
        """How many people were counted."""
        return int(self.cells["n"].sum())

    def values(self, column: str) -> list[Any]:
        """Return the values of a column, in order; missing ones are "(missing)"."""
        return sorted(set(self.cells[column]), key=sort_key)


class Scores(NamedTuple):
    """A number of each person, by group: how many people, mean, variance, and best shares.

    ``spread`` is the standard deviation of all rows; ``beyond[k, g]`` people of group ``g`` are at
    or beyond ``cuts[k]``, the best ``BEST_PERCENT[k]`` of all rows.
    """

    groups: list[Any]
    rows: Floats
    mean: Floats
    variance: Floats
    spread: float
    cuts: Floats
    beyond: Floats


class _Rows(NamedTuple):
    """Rows to be grouped: a file, or a frame whose values are coded."""

    file: TableFile
    keys: dict[str, str]
    levels: dict[str, list[Any]]

    def label(self, column: str, found: Any) -> Any:
        if is_missing(found):
            return MISSING
        return self.levels[column][found] if self.levels else found


@contextmanager
def _open(
    source: Any, keys: Sequence[str], numbers: Sequence[str], table: str | None, bins: Bins
) -> Iterator[_Rows]:
    if isinstance(source, str | os.PathLike):
        with open_table(source, table) as file:
            check_columns([*keys, *numbers], list(file.columns))
            words = [c for c in (*numbers, *bins) if file.columns[c] == "VARCHAR"]
            _refuse_words(words)
            for c in _ages(bins):
                below = f"SELECT COUNT(*) FILTER ({sql_name(c)} < 0) FROM {file.rows}"
                _refuse_negative(c, file.execute(below).fetchone()[0])
            yield _Rows(file, {c: banded(c, bins) for c in keys}, {})
        return
    import duckdb

    frame = as_pandas(source)
    check_columns([*keys, *numbers], list(frame.columns))
    for c in _ages(bins):
        _refuse_negative(c, int(frame[c].map(lambda v: is_real(v) and float(v) < 0).sum()))
    _refuse_words([c for c in numbers if not frame[c].dropna().map(is_real).all()])
    coded, levels = {}, {}
    for c in keys:
        codes, levels[c] = factorize(bands(frame[c], bins[c], c) if c in bins else frame[c])
        coded[c] = pd.Series(codes).astype("Int64").where(pd.Series(codes >= 0))
    plain = {c: frame[c].astype(float).to_numpy() for c in numbers}
    with duckdb.connect() as connection:
        connection.register("people", pd.DataFrame(coded | plain))
        types = dict.fromkeys([*keys, *numbers], "DOUBLE")
        yield _Rows(TableFile(connection, "people", types), {c: sql_name(c) for c in keys}, levels)


def _ages(bins: Bins) -> list[str]:
    """Return the columns cut into bins that are called an age."""
    return [c for c in bins if re.search(r"(?<![a-z])age(?![a-z])", c.casefold())]


def _refuse_negative(column: str, below: int) -> None:
    if below:
        raise InputError(
            f"Ages must not be negative; {below:,} of {column!r} are: correct or drop those rows."
        )


def _refuse_words(columns: Sequence[str]) -> None:
    if columns:
        raise InputError(
            f"Scores and what is cut into bins must be numbers; {columns[0]!r} holds text: name "
            f"another column."
        )


def _value(column: str, less: str | None = None) -> str:
    """Write a number of a row, or the difference of two, for SQL."""
    value = f"CAST({sql_name(column)} AS DOUBLE)"
    return value if less is None else f"({value} - CAST({sql_name(less)} AS DOUBLE))"


def _check_finite(rows: _Rows, value: str, column: str) -> None:
    absent = (
        f"SELECT COUNT(*) FILTER ({value} IS NULL OR NOT isfinite({value})) FROM {rows.file.rows}"
    )
    (bad,) = rows.file.execute(absent).fetchone()
    if bad:
        raise InputError(
            f"Every person must have a score that is a finite number; {bad:,} of {column!r} are "
            f"missing or infinite: drop those rows, or say who was not scored."
        )


def count_people(
    source: Any,
    columns: Sequence[str],
    *,
    score: str | None = None,
    table: str | None = None,
    bins: Bins | None = None,
) -> People:
    """Count the rows of a file or a frame by the values of columns.

    Examples
    --------
    >>> frame = pd.DataFrame({"sex": ["m", "f", "f"], "score": [0.1, 0.5, 0.9]})
    >>> people = count_people(frame, ["sex"], score="score")
    >>> people.cells.to_dict("records"), people.median
    ([{'sex': 'f', 'n': 2, 'above': 1}, {'sex': 'm', 'n': 1, 'above': 0}], 0.5)
    """
    with _open(source, columns, [score] if score else [], table, bins or {}) as rows:
        median, counted = np.nan, {"n": "COUNT(*)"}
        if score is not None:
            value = _value(score)
            _check_finite(rows, value, score)
            (middle,) = rows.file.execute(
                f"SELECT median({value}) FROM {rows.file.rows}"
            ).fetchone()
            median = np.nan if middle is None else float(middle)
            counted["above"] = f"COUNT(*) FILTER ({value} > {median!r})"
            counted["ties"] = f"COUNT(*) FILTER ({value} = {median!r})"
        keys = ", ".join(rows.keys[c] for c in columns)
        found = rows.file.execute(
            f"SELECT {keys}, {', '.join(counted.values())} FROM {rows.file.rows} GROUP BY {keys} "
            f"LIMIT {MOST_CELLS}"
        ).fetchall()
        groups = [
            tuple(rows.label(c, v) for c, v in zip(columns, row, strict=False)) for row in found
        ]
    if not found:
        raise InputError("There must be at least one person to count; the table holds no rows.")
    if len(found) == MOST_CELLS:
        raise InputError(
            f"The combinations of {listed(columns)} must be fewer than {MOST_CELLS:,}; there are "
            f"more: one of them looks like a measurement or a name."
        )
    numbers = np.array([row[len(columns) :] for row in found], dtype=np.int64)
    order = sorted(range(len(groups)), key=lambda k: sort_key(groups[k]))
    cells = {
        c: pd.Series([groups[k][j] for k in order], dtype=object) for j, c in enumerate(columns)
    } | {name: pd.Series(numbers[order, j]) for j, name in enumerate(counted)}
    ties = int(cells.pop("ties").sum()) if score else 0
    return People(pd.DataFrame(cells), median, ties)


def score_people(
    source: Any,
    column: str,
    score: str,
    *,
    less: str | None = None,
    lowest: bool = False,
    table: str | None = None,
    bins: Bins | None = None,
) -> Scores:
    """Return mean and variance of a score by the values of a column, and who is among the best.

    Parameters
    ----------
    source : path or frame
    column, score : str
    less : str, optional
        A column to subtract: the difference is looked at.
    lowest : bool
        Whether the best are the lowest, as with prices; ties at a cut are in.
    table, bins
        As in :func:`count_people`.

    Examples
    --------
    >>> frame = pd.DataFrame({"sex": ["m", "m", "f", "f"], "score": [0.1, 0.5, 0.7, 0.9]})
    >>> scores = score_people(frame, "sex", "score")
    >>> scores.groups, scores.mean.round(3).tolist(), scores.beyond[4].tolist()  # the best half
    (['f', 'm'], [0.8, 0.3], [2.0, 0.0])
    """
    with _open(source, [column], [c for c in (score, less) if c], table, bins or {}) as rows:
        value = _value(score, less)
        _check_finite(rows, value, score)
        sign = -1.0 if lowest else 1.0
        sums = sums_in_sql(rows.file, [rows.keys[column]], f"{sign} * {value}")
        labels = [rows.label(column, group[0]) for group in sums.groups]
    mean, variance, _ = sums.moments()
    everyone = sums.view(np.zeros(len(labels), dtype=np.intp), (("all",),))
    order = sorted(range(len(labels)), key=lambda k: sort_key(labels[k]))
    return Scores(
        [labels[k] for k in order], sums.n[order], sign * mean[order], variance[order],
        float(np.sqrt(everyone.moments()[1][0])), sign * sums.cuts, sums.above[0][:, order],
    )  # fmt: skip


def hits_by(
    people: People, column: str, hit: Mapping[Any, bool], outcome: str, strata: Sequence[str] = ()
) -> tuple[list[Any], Floats, Floats]:
    """Return the groups of a column, and rows and hits by group and stratum.

    Examples
    --------
    >>> frame = pd.DataFrame({"sex": ["m", "f", "f"], "hired": ["yes", "no", "yes"]})
    >>> people = count_people(frame, ["sex", "hired"])
    >>> groups, rows, hits = hits_by(people, "sex", {"yes": True, "no": False}, "hired")
    >>> groups, rows[:, 0].tolist(), hits[:, 0].tolist()
    (['f', 'm'], [2.0, 1.0], [1.0, 1.0])
    """
    cells = people.cells
    groups = people.values(column)
    place = cells[column].map({g: k for k, g in enumerate(groups)}).to_numpy(dtype=np.intp)
    within = [tuple(row) for row in cells[list(strata)].itertuples(index=False)]
    alike = {key: k for k, key in enumerate(dict.fromkeys(within))}
    stratum = np.array([alike[key] for key in within], dtype=np.intp)
    rows, hits = np.zeros((2, len(groups), max(len(alike), 1)))
    n = cells["n"].to_numpy(np.float64)
    np.add.at(rows, (place, stratum), n)
    np.add.at(hits, (place, stratum), np.where(cells[outcome].map(hit), n, 0.0))
    return groups, rows, hits
