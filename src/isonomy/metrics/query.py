"""Count Parquet, CSV and DuckDB files in place, through DuckDB.

The rows never enter Python; one GROUP BY gives the cells.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from isonomy._bands import band_names
from isonomy._files import TableFile, open_table, sql_name
from isonomy._validate import check_columns, listed
from isonomy.errors import InputError
from isonomy.metrics.tally import Cells, check_weight_sums, from_rows

MOST_CELLS = 200_000

Bins = Mapping[str, Sequence[float]]


def banded(name: str, bins: Bins | None = None) -> str:
    """Write a column for SQL, cut into bands where cuts are given for it.

    NaN is in no band, though engines sort it above every number; a number less itself is 0, and
    saying so works in every engine and for every type of number.
    """
    column = sql_name(name)
    cuts = sorted((bins or {}).get(name, ()))
    if not cuts:
        return column
    *bands, last = band_names(cuts)
    cases = " ".join(
        f"WHEN {column} < {cut!r} THEN '{band}'" for cut, band in zip(cuts, bands, strict=True)
    )
    unknown = f"{column} IS NULL OR {column} - {column} <> 0"
    return f"CASE WHEN {unknown} THEN NULL {cases} ELSE '{last}' END"


def group_query(
    source: str,
    label: str,
    prediction: str,
    sensitive: Sequence[str],
    weight: str | None = None,
    bins: Bins | None = None,
) -> str:
    """Write the one GROUP BY that counts ``source`` (a table name or a reader call)."""
    keys = [*(banded(a, bins) for a in sensitive), sql_name(label), sql_name(prediction)]
    names = [sql_name(name) for name in (*sensitive, "y_true", "y_pred")]
    columns = [k if k == name else f"{k} AS {name}" for k, name in zip(keys, names, strict=True)]
    columns.append("COUNT(*) AS n")
    if weight:
        w = f"CAST({sql_name(weight)} AS DOUBLE PRECISION)"
        columns += [f"SUM({w}) AS w", f"SUM({w} * {w}) AS w2"]
    return f"SELECT {', '.join(columns)}\nFROM {source}\nGROUP BY {', '.join(keys)}"


def from_query(
    source: str | os.PathLike[str],
    label: str,
    prediction: str,
    sensitive_features: Sequence[str],
    weight: str | None,
    table: str | None,
    bins: Bins | None = None,
    declared: Sequence[Any] | None = None,
) -> Cells:
    """Count a file with DuckDB; only the cells come back."""
    attributes = sensitive_features
    with open_table(source, table) as file:
        check_columns(
            [*attributes, label, prediction, *([weight] if weight else [])], list(file.columns)
        )
        _check_bins(file, attributes, bins)
        sql = group_query(file.rows, label, prediction, attributes, weight, bins)
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
    cells = from_rows(rows, attributes, weighted=bool(weight), declared=declared)
    if len(rows) == MOST_CELLS:  # every attribute is small, and their product is not
        raise InputError(
            f"The combinations of {listed(attributes)}, label and prediction must be fewer than "
            f"{MOST_CELLS:,}; there are more: name fewer attributes, or merge their values."
        )
    return cells


def _check_bins(file: TableFile, attributes: Sequence[str], bins: Bins | None) -> None:
    for name in bins or {}:
        if name not in attributes:
            raise InputError(
                f"Bands must be of a protected attribute; {name!r} is not among "
                f"{listed(attributes)}: name it there too, or leave its bands out."
            )
    _check_numbers(file, list(bins or {}), "cut into bands")


def _check_numbers(file: TableFile, names: Sequence[str], use: str) -> None:
    """Raise unless the columns hold numbers, before SQL compares words with them."""
    for name in names:
        if file.columns[name] == "VARCHAR":
            raise InputError(
                f"A column must hold numbers to be {use}; {name!r} holds text: name another column."
            )


def read_counts(
    source: str | os.PathLike[str],
    sensitive_features: Sequence[str] = (),
    table: str | None = None,
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
    return from_rows(rows, names, weighted=weighted)
