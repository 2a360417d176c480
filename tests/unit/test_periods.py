"""Periods: how dates are cut, and what is no date."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest

from isonomy._periods import UNITS, period_name, period_starts
from isonomy.errors import InputError


@pytest.mark.parametrize(
    ("unit", "start", "name"),
    [
        ("day", "2026-12-31", "2026-12-31"),
        ("week", "2026-12-28", "2026-W53"),
        ("month", "2026-12-01", "2026-12"),
        ("quarter", "2026-10-01", "2026-Q4"),
        ("year", "2026-01-01", "2026"),
    ],
)
@pytest.mark.parametrize(
    "value",
    [
        "2026-12-31",
        "2026-12-31T23:59:59Z",
        "2027-01-01T00:30:00+01:00",
        dt.date(2026, 12, 31),
        pd.Timestamp("2026-12-31 12:00"),
        np.datetime64("2026-12-31"),
    ],
)
def test_every_kind_of_date_and_unit(value: object, unit: str, start: str, name: str) -> None:
    found, used = period_starts(pd.Series([value, None], dtype=object), unit)
    assert (found.tolist(), used) == ([start, None], unit)
    assert period_name(start, unit) == name


def test_dates_are_cut_by_month_unless_said_otherwise() -> None:
    days = pd.Series(pd.to_datetime(["2026-01-31", None, "2026-02-01"]))
    found, unit = period_starts(days, None)
    assert (found.tolist(), unit) == (["2026-01-01", None, "2026-02-01"], "month")
    zoned, unit = period_starts(days.dt.tz_localize("UTC"), None)
    assert zoned.tolist() == found.tolist()


def test_other_values_name_periods() -> None:
    found, unit = period_starts([3, 1, 2], None)
    assert (found.tolist(), unit) == ([3, 1, 2], None)


def test_names_sort_as_periods_do() -> None:
    days = pd.date_range("1999-12-20", "2003-01-10").strftime("%Y-%m-%d").tolist()
    for unit in UNITS:
        starts = period_starts(days, unit)[0].tolist()
        names = [period_name(s, unit) for s in starts]
        assert names == sorted(names)
        assert len(set(names)) == len(set(starts))


def test_mistakes() -> None:
    with pytest.raises(InputError, match="such as 2026-01-31; got '31/01/2026'"):
        period_starts(["2026-01-30", "31/01/2026"], "month")
    with pytest.raises(InputError, match="'mouth'; did you mean 'month'"):
        period_starts(["2026-01-30"], "mouth")
