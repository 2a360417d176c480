"""The column that dates the rows of a file: which it is, how it is cut, and whether it is one."""

from collections.abc import Sequence
from numbers import Real
from typing import Any

from isonomy._files import TableFile, sql_name
from isonomy._periods import period_sql
from isonomy._validate import listed
from isonomy.errors import InputError

MOST_PERIODS = 5000
MOST_NUMBERS = 60
"""Numbers that are no calendar (years, 202601, 20260131) name no more periods than this."""


def date_column(file: TableFile, used: set[str]) -> str:
    """Return the only column of dates of a file."""
    words = [c for c, kind in file.columns.items() if kind == "VARCHAR" and c not in used]
    dates = []
    if words:
        asked = ", ".join(
            f"bool_and(try_cast({sql_name(c)} AS TIMESTAMP) IS NOT NULL) "
            f"FILTER ({sql_name(c)} IS NOT NULL)"
            for c in words
        )
        found = file.execute(f"SELECT {asked} FROM (SELECT * FROM {file.rows} LIMIT 20000)")
        dates = [c for c, yes in zip(words, found.fetchone(), strict=True) if yes]
    if len(dates) != 1:
        what = f"has several: {listed(dates)}" if dates else "has none as in 2026-01-31"
        raise InputError(
            f"The column of dates must be named (when=..., --by COLUMN:month) unless the file has "
            f"one; it {what}."
        )
    return dates[0]


def unit_of(file: TableFile, when: str, by: str | None, *, strict: bool) -> str | None:
    """Return the unit to cut a column into, None where its values name periods; check its dates."""
    column = sql_name(when)
    moment = f"try_cast({column} AS TIMESTAMP)"
    words = file.columns[when] == "VARCHAR"
    if by is None and not words:
        return None
    rows, dates, strange = file.execute(
        f"SELECT count({column}), count({moment}), "
        f"any_value(CAST({column} AS VARCHAR)) FILTER ({column} IS NOT NULL AND {moment} IS NULL) "
        f"FROM {file.rows}"
        if words
        else f"SELECT count({column}), 0, any_value(CAST({column} AS VARCHAR)) FROM {file.rows}"
    ).fetchone()
    if not strict or by is None:
        by = (by or "month") if rows and dates == rows else None
    elif dates < rows:
        raise InputError(
            f"Dates must be written such as 2026-01-31; {when!r} holds {strange!r}: convert the "
            f"column, or leave the unit ({by}) out where its values name periods."
        )
    key = period_sql(column, by) if by else column
    (periods,) = file.execute(f"SELECT count(DISTINCT {key}) FROM {file.rows}").fetchone()
    check_periods(periods, (when,))
    return by


def check_periods(size: int, shown: Sequence[Any]) -> None:
    """Raise where there are too few periods, or too many."""
    if size < 2:
        raise InputError(
            f"There must be at least two periods; there is {size}"
            f"{f' ({shown[0]!r})' if shown else ''}: choose a finer unit, or audit without --by."
        )
    if size > MOST_PERIODS:
        raise InputError(
            f"There must be at most {MOST_PERIODS:,} periods; there are {size:,}: choose a coarser "
            f"unit (week, month, quarter, year)."
        )


def check_numbers(periods: Sequence[Any], when: str) -> None:
    """Raise where periods are numbers, and so many that they are rather a measurement.

    Examples
    --------
    >>> check_numbers([2024, 2025, 2026], "year")
    >>> check_numbers([k / 2 for k in range(100)], "income")
    Traceback (most recent call last):
    isonomy.errors.InputError: Periods must be dates, or few numbers such as years; 'income' holds
    100 numbers, 0.0 to 49.5: cut it into bands in a column of its own, or name a column of dates.
    """
    numbers = [float(p) for p in periods if isinstance(p, Real)]
    if len(numbers) <= MOST_NUMBERS or len(numbers) < len(periods) - 1:  # one may be "(missing)"
        return
    if all(n.is_integer() and any(1800 <= n / 10**k < 2200 for k in (0, 2, 4)) for n in numbers):
        return
    raise InputError(
        f"Periods must be dates, or few numbers such as years; {when!r} holds {len(numbers):,} "
        f"numbers, {min(numbers)} to {max(numbers)}: cut it into bands in a column of its own, or "
        f"name a column of dates."
    )
