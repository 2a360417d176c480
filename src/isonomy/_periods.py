"""Dates to be cut into periods: days, weeks, months, quarters and years, and their names."""

from datetime import date
from typing import Any

import numpy as np
import pandas as pd

from isonomy._groups import as_column, factorize
from isonomy._validate import check_choice
from isonomy.errors import InputError

UNITS: tuple[str, ...] = ("day", "week", "month", "quarter", "year")


def period_name(start: str, unit: str) -> str:
    """Return the name of the period that starts on a day; names sort as the periods do.

    Examples
    --------
    >>> [period_name("2026-04-01", unit) for unit in ("day", "month", "quarter", "year")]
    ['2026-04-01', '2026-04', '2026-Q2', '2026']
    >>> period_name("2025-12-29", "week")  # the weeks of ISO 8601
    '2026-W01'
    """
    day = date.fromisoformat(start[:10])
    year, week, _ = day.isocalendar()
    return {
        "day": f"{day}",
        "week": f"{year:04}-W{week:02}",
        "month": f"{day:%Y-%m}",
        "quarter": f"{day:%Y}-Q{(day.month + 2) // 3}",
        "year": f"{day:%Y}",
    }[unit]


def period_sql(column: str, unit: str) -> str:
    """Write the first day of a date's period for SQL; ``column`` is quoted already."""
    return f"CAST(date_trunc('{unit}', CAST({column} AS TIMESTAMP)) AS VARCHAR)"


def period_starts(values: Any, by: str | None) -> tuple[Any, str | None]:
    """Return the first day of each value's period as text, and the unit.

    Where ``by`` is None, dates are cut by month, and other values stay as they are: then the unit
    is None.

    Parameters
    ----------
    values : array-like
        Dates, times, or text as in ISO 8601; with ``by=None`` whatever names a period.
    by : str or None
        One of ``UNITS``.

    Examples
    --------
    >>> days, unit = period_starts(["2026-01-31", None, "2026-02-01T08:30"], "month")
    >>> days.tolist(), unit
    (['2026-01-01', None, '2026-02-01'], 'month')
    """
    column = as_column(values, "when")
    dates = pd.api.types.is_datetime64_any_dtype(column)
    if by is None and not dates:
        return column, None
    unit = "month" if by is None else by
    check_choice("period", unit, UNITS)
    codes, found = factorize(column)  # each moment is read once
    moments = pd.to_datetime(
        pd.Series(found, dtype=str), format="ISO8601", errors="coerce", utc=True
    )
    if (strange := moments.isna()).any():
        raise InputError(
            f"Dates must be dates, or text such as 2026-01-31; got {found[int(strange.argmax())]!r}: "
            f"convert the column, or leave the unit ({unit}) out where its values name periods."
        )
    kind = {"day": "D", "week": "W", "month": "M", "quarter": "Q", "year": "Y"}[unit]
    periods = pd.DatetimeIndex(moments).tz_localize(None).to_period(kind)
    starts = np.array([*periods.start_time.strftime("%Y-%m-%d"), None], dtype=object)
    return starts[np.where(codes < 0, len(found), codes)], unit
