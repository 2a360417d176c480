"""Cuts that are suggested for numbers with many values."""

import numpy as np
import pandas as pd
import pytest

from isonomy._bands import quarters, suggestion, too_many_numbers
from isonomy._groups import bands
from isonomy.audit import audit
from isonomy.errors import InputError


def test_quarters_hold_a_quarter_of_the_rows_each() -> None:
    ages = np.random.default_rng(0).integers(18, 90, 8000)
    cuts = quarters(ages)
    shares = np.bincount(np.searchsorted(cuts, ages, side="right")) / ages.size
    assert np.abs(shares - 0.25).max() < 0.03
    values, rows = np.unique(ages, return_counts=True)
    assert quarters(values, rows) == cuts


def test_only_numbers_get_a_suggestion() -> None:
    assert suggestion("country", ["US", "UK", "FR"]) == ""
    assert suggestion("flag", [True, False]) == ""
    assert suggestion("age", [20, 30, 40, 50, "(missing)"]).startswith("--bins age=")
    assert too_many_numbers("kids", [0, 1, 2, 3]) == ""


def test_an_unbinned_age_gets_cuts_to_use() -> None:
    rng = np.random.default_rng(0)
    age, y = rng.integers(18, 90, 6000), rng.integers(0, 2, 6000)
    (note,) = [n for n in audit(y, y, sensitive_features={"age": age}).notes if "--bins" in n]
    assert note.startswith("'age' has 72 groups")
    assert note.endswith(f"(--bins age={','.join(f'{c:g}' for c in quarters(age))}).")
    with pytest.raises(InputError, match=r"--bins income=2\d,\d+,\d+\)"):
        audit(y, y, sensitive_features=pd.DataFrame({"income": np.arange(6000) % 101}))


def test_cuts_named_twice_count_once_and_some_must_be_named() -> None:
    ages = pd.Series([20, 30, np.nan])
    assert bands(ages, [25, 25], "age").tolist() == ["under 25", "25 and over", None]
    with pytest.raises(InputError, match="At least one cut must be named for 'age'"):
        bands(ages, [], "age")


def test_infinite_numbers_make_no_cuts() -> None:
    assert quarters([-np.inf, *range(1, 9), np.inf]) == quarters(range(1, 9))
