"""The contract of a dataset."""

import pickle
from collections.abc import Callable

import numpy as np
import pandas as pd

from isonomy.data import Dataset, load, make_splits, prepare


def check_dataset(dataset: Dataset | str) -> None:
    """Raise AssertionError unless a dataset keeps the whole contract.

    Parameters
    ----------
    dataset : Dataset or str
        A dataset, or the name of one on the shelf.

    Examples
    --------
    >>> check_dataset("synthetic")
    """
    given = load(dataset) if isinstance(dataset, str) else dataset
    for check in DATASET_CHECKS.values():
        check(given)


def _says_where_it_comes_from(d: Dataset) -> None:
    for field in ("title", "source", "licence", "citation", "version"):
        assert getattr(d.info, field).strip(), f"info.{field} is empty"
    assert d.info.caveats, "a dataset without a caveat has not been looked at"
    assert all(c.strip().endswith(".") for c in d.info.caveats), "a caveat is a sentence"
    assert set(d.info.rules) == set(d.attributes), "every attribute has its rule in words"
    for name, digits in d.info.sha256.items():
        assert len(digits) == 64, name
        assert set(digits) <= set("0123456789abcdef"), name


def _keeps_its_columns_apart(d: Dataset) -> None:
    columns = [*d.X.columns, *([] if d.aside is None else d.aside.columns)]
    assert len(columns) == len(set(columns)), "a column appears twice"
    assert d.y.name not in columns, "the label is among the features"
    for attribute in d.attributes:
        assert set(d.sources_of(attribute)) <= set(d.X.columns), attribute
    for part in (d.y, d.sensitive, *(() if d.aside is None else (d.aside,))):
        assert part.index.equals(d.X.index), "rows are not aligned"


def _is_raw_and_typed(d: Dataset) -> None:
    for column, kind in d.X.dtypes.items():
        plain = isinstance(kind, pd.CategoricalDtype) or pd.api.types.is_numeric_dtype(kind)
        assert plain, f"{column} is neither a number nor a category"
        if isinstance(kind, pd.CategoricalDtype):
            levels = d.X[column].cat.categories.tolist()
            assert levels == sorted(levels), f"the levels of {column} are not sorted"


def _has_two_sides(d: Dataset) -> None:
    assert set(np.unique(d.y01)) == {0, 1}, "one class only"
    assert 0 < len(d.favorable) < len(d.classes)
    for attribute in d.attributes:
        assert attribute in d.privileged, f"{attribute} has no privileged group"
        known = d.take(d.known(attribute))
        s = known.s01(attribute)
        for group in (0, 1):
            assert set(np.unique(known.y01[s == group])) == {0, 1}, (attribute, group)


def _counts_its_groups(d: Dataset) -> None:
    rates = d.base_rates()
    for attribute, part in rates.groupby("attribute"):
        assert part["rows"].sum() == len(d), attribute
        np.testing.assert_allclose((part["rows"] * part["favorable"]).sum(), d.y01.sum())


def _weighs_with_sense(d: Dataset) -> None:
    if d.weight is not None:
        weight = np.asarray(d.weight)
        assert weight.shape == (len(d),)
        assert (weight >= 0).all()


def _travels(d: Dataset) -> None:
    """Workers receive datasets pickled, and take rows of them."""
    again = pickle.loads(pickle.dumps(d))
    assert again.frame().equals(d.frame())
    rows = np.arange(0, len(d), 2)
    half = d.take(rows)
    assert len(half) == len(rows)
    np.testing.assert_array_equal(half.y01, d.y01[rows])


def _can_be_prepared(d: Dataset) -> None:
    split = make_splits(d)[0]
    for attribute in d.attributes:
        ready = prepare(d, attribute=attribute, split=split)
        for part in (ready.train, ready.test):
            assert np.isfinite(part.X).all()
            assert part.X.shape[1] == len(ready.feature_names)
            assert set(np.unique(part.y)) == {0, 1}
            assert set(np.unique(part.s)) == {0, 1}
        assert not set(ready.train.rows) & set(ready.test.rows)
        column = ready.sensitive_column
        assert ready.feature_names[column] == attribute
        flipped = ready.flipped(ready.X_test)
        changed = flipped != ready.X_test
        assert changed[:, column].all()
        assert changed.sum() == len(ready.test), "flipping changes one column"


DATASET_CHECKS: dict[str, Callable[[Dataset], None]] = {
    check.__name__.strip("_"): check
    for check in (
        _says_where_it_comes_from,
        _keeps_its_columns_apart,
        _is_raw_and_typed,
        _has_two_sides,
        _counts_its_groups,
        _weighs_with_sense,
        _travels,
        _can_be_prepared,
    )
}
"""The clauses of the contract by name; ``check_dataset`` runs them all."""
