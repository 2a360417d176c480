"""Count Parquet, CSV and DuckDB files in place, through DuckDB.

The rows never enter Python; one GROUP BY gives the cells.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from isonomy._bands import band_names, read_cut
from isonomy._files import TableFile, open_table, sql_name
from isonomy._groups import MOST_VALUES, plain_value
from isonomy._periods import period_sql
from isonomy._unknown import is_missing
from isonomy._validate import check_columns, comma_hint, listed, resolve_favorable
from isonomy.errors import InputError
from isonomy.metrics.tally import Cells, check_weight_sums, from_rows

MOST_CELLS = 200_000

Bins = Mapping[str, Sequence[float] | str]
"""Cut points of numbers, and units (``"month"``) of dates, by column."""


def banded(name: str, bins: Bins | None = None) -> str:
    """Write a column for SQL, cut into bands or periods where cuts or a unit are given for it.

    NaN is in no band, though engines sort it above every number; a number less itself is 0, and
    saying so works in every engine and for every type of number.
    """
    column = sql_name(name)
    given = (bins or {}).get(name, ())
    if isinstance(given, str):
        return period_sql(column, given)
    cuts = sorted(given)
    if not cuts:
        return column
    *bands, last = band_names(cuts)
    cases = " ".join(
        f"WHEN {column} < {cut!r} THEN '{band}'" for cut, band in zip(cuts, bands, strict=True)
    )
    unknown = f"{column} IS NULL OR {column} - {column} <> 0"
    return f"CASE WHEN {unknown} THEN NULL {cases} ELSE '{last}' END"


def outcome(name: str, columns: Sequence[str] | None = None, *, what: str = "label") -> str:
    """Write a label or prediction for SQL: a column, or 1 and 0 of a number cut in two."""
    cut = read_cut(name, columns, what=what)
    if cut is None:
        return sql_name(name)
    column = sql_name(cut.column)
    unknown = f"{column} IS NULL OR {column} - {column} <> 0"
    yes = f"WHEN {column} {cut.sign} {cut.number!r} THEN 1"
    return f"CASE WHEN {unknown} THEN NULL {yes} ELSE 0 END"


def group_query(
    source: str,
    label: str,
    prediction: str,
    sensitive: Sequence[str],
    weight: str | None = None,
    bins: Bins | None = None,
    columns: Sequence[str] | None = None,
) -> str:
    """Write the one GROUP BY that counts ``source`` (a table name or a reader call)."""
    keys = [banded(a, bins) for a in sensitive]
    keys += [outcome(label, columns), outcome(prediction, columns, what="prediction")]
    names = [sql_name(name) for name in (*sensitive, "y_true", "y_pred")]
    wanted = [k if k == name else f"{k} AS {name}" for k, name in zip(keys, names, strict=True)]
    wanted.append("COUNT(*) AS n")
    if weight:
        w = f"CAST({sql_name(weight)} AS DOUBLE PRECISION)"
        wanted += [f"SUM({w}) AS w", f"SUM({w} * {w}) AS w2"]
    return f"SELECT {', '.join(wanted)}\nFROM {source}\nGROUP BY {', '.join(keys)}"


def from_query(
    source: str | os.PathLike[str],
    label: str | None,
    prediction: str,
    sensitive_features: Sequence[str],
    weight: str | None,
    table: str | None,
    bins: Bins | None = None,
    declared: Sequence[Any] | None = None,
    favorable: Any = None,
    most: int = MOST_VALUES,
) -> Cells:
    """Count a file with DuckDB; only the cells come back.

    A prediction that is cut from a number says ``favorable`` above (or below) the cut. Without a
    label the predictions stand for it, too.
    """
    attributes = sensitive_features
    parts = 1 if label is None else 2
    label = prediction if label is None else label
    with open_table(source, table) as file:
        known = list(file.columns)
        check_columns(attributes, known)
        cuts = [read_cut(label, known), read_cut(prediction, known, what="prediction")]
        sources = [
            c.column if c else name for c, name in zip(cuts, (label, prediction), strict=True)
        ]
        check_columns([*attributes, *sources[-parts:], *([weight] if weight else [])], known)
        _check_numbers(file, [c.column for c in cuts if c], "cut in two")
        _check_bins(file, attributes, bins)
        sql = group_query(file.rows, label, prediction, attributes, weight, bins, known)
        if weight:  # nulls vanish in a sum and negatives cancel: count both in the same pass
            _check_numbers(file, [weight], "used as weights")
            w = sql_name(weight)
            extra = f", COUNT(*) FILTER ({w} IS NULL) AS absent, MIN({w}) AS least\nFROM"
            sql = sql.replace("\nFROM", extra, 1)
        # a measurement or a name in place of an attribute would bring back every row
        rows = file.execute(f"{sql}\nLIMIT {MOST_CELLS}").fetchall()
    if weight:
        check_weight_sums(weight, [r[-2] for r in rows], [r[-1] for r in rows])
        rows = [r[:-2] for r in rows]
    if cuts[1]:
        rows = _say_as_labels(rows, len(attributes), favorable)
    cells = from_rows(rows, attributes, weighted=bool(weight), declared=declared, most=most)
    if len(rows) == MOST_CELLS:  # every attribute is small, and their product is not
        raise InputError(
            f"The combinations of {listed(attributes)}, label and prediction must be fewer than "
            f"{MOST_CELLS:,}; there are more: name fewer attributes, or merge their values."
        )
    return cells


def _say_as_labels(rows: list[Any], k: int, favorable: Any) -> list[Any]:
    """Write predictions of 1 and 0 as the favourable label and an unfavourable one."""
    classes = list(dict.fromkeys(plain_value(row[k]) for row in rows if not is_missing(row[k])))
    good = resolve_favorable(classes, favorable)
    words = {1: good[0], 0: next(c for c in classes if c not in good)}
    return [(*row[: k + 1], words.get(row[k + 1]), *row[k + 2 :]) for row in rows]


def _check_bins(file: TableFile, attributes: Sequence[str], bins: Bins | None) -> None:
    for name in bins or {}:
        if name not in attributes:
            raise InputError(
                f"Bands must be of a protected attribute; {name!r} is not among "
                f"{listed(attributes)}: name it there too, or leave its bands out."
            )
    numbers = [name for name, cuts in (bins or {}).items() if not isinstance(cuts, str)]
    _check_numbers(file, numbers, "cut into bands")


def _check_numbers(file: TableFile, names: Sequence[str], use: str) -> None:
    """Raise unless the columns hold numbers, before SQL compares words with them."""
    for name in names:
        if file.columns[name] == "VARCHAR":
            some = f"SELECT DISTINCT {sql_name(name)} FROM {file.rows} WHERE {sql_name(name)} <> ''"
            words = [word for (word,) in file.execute(f"{some} LIMIT 100").fetchall()]
            raise InputError(
                f"A column must hold numbers to be {use}; {name!r} holds text: "
                f"{comma_hint(words) or 'name another column'}."
            )


def read_counts(
    source: str | os.PathLike[str],
    sensitive_features: Sequence[str] = (),
    table: str | None = None,
    most: int = MOST_VALUES,
) -> Cells:
    """Read a small file of counts, as :func:`group_query` gives them.

    Its columns are the protected attributes, ``y_true``, ``y_pred``, ``n`` and, with weights,
    ``w`` and ``w2``. Attributes that are not named in ``sensitive_features`` are summed over.
    """
    with open_table(source, table) as file:
        known = list(file.columns)
        if not {"y_true", "y_pred", "n"} <= set(known):
            raise InputError(
                f"A file of counts must have the columns y_true, y_pred and n besides the "
                f"protected attributes; {str(source)!r} has {listed(known)}."
            )
        weighted = "w" in known
        if weighted and "w2" not in known:
            raise InputError("Weighted counts must carry w2 (the sum of squared weights) beside w.")
        sums = ["n", "w", "w2"] if weighted else ["n"]
        names = list(sensitive_features) or [
            c for c in known if c not in {"y_true", "y_pred", "n", "w", "w2"}
        ]
        if not names:
            raise InputError(
                "A file of counts must have at least one protected attribute; it has none."
            )
        check_columns(names, known)
        _check_numbers(file, sums, "added up as counts")
        keys = ", ".join(sql_name(c) for c in (*names, "y_true", "y_pred"))
        totals = ", ".join(f"SUM({c}) AS {c}" for c in sums)
        rows = file.execute(f"SELECT {keys}, {totals} FROM {file.rows} GROUP BY {keys}").fetchall()
    return from_rows(rows, names, weighted=weighted, most=most)
