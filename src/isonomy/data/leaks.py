"""Columns that alone predict another almost perfectly: leaks of the label, proxies of a group."""

import shlex
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from isonomy._bands import MANY, is_number
from isonomy._groups import factorize
from isonomy.data.dataset import Dataset

NEARLY = 0.95
"""The share of the errors of guessing that a column must avoid to predict almost perfectly."""
ROWS = 5_000
FEWEST = 20


def telling_columns(
    table: pd.DataFrame, target: Any, columns: Iterable[Any] | None = None
) -> dict[Any, float]:
    """Return the columns that alone predict a target almost perfectly, on rows held out.

    Each half of the rows is predicted from the other, by the most frequent class of a word or by
    a small tree of a number, and errors are compared with those of always guessing the most
    frequent class: 99 % right is nothing where 99 % are alike. An identifier tells nothing.

    Parameters
    ----------
    table : pandas.DataFrame
    target : array-like
        The classes to predict, one per row; rows without one are left out.
    columns : iterable, optional
        The columns to try; by default all.

    Returns
    -------
    dict
        Per column that tells, the share of rows that it predicts rightly.

    Examples
    --------
    >>> y = np.arange(200) % 3 == 0
    >>> table = pd.DataFrame({"paid_back": 3.0 * y, "hours": np.arange(200) % 7})
    >>> telling_columns(table, y)
    {'paid_back': 1.0}
    """
    codes, _ = factorize(pd.Series(np.asarray(target)))
    rows = np.random.default_rng(0).permutation(np.flatnonzero(codes >= 0))[:ROWS]
    classes = codes[rows]
    guessed = rows.size - np.bincount(classes, minlength=1).max(initial=0)
    if guessed < FEWEST:
        return {}
    found = {}
    for column in table.columns if columns is None else columns:
        values = table[column].iloc[rows]
        known = distinct(values)
        if not len(known) or (len(known) == 1 and not values.isna().any()):
            continue
        wrong = _errors(values, classes)
        if wrong <= (1 - NEARLY) * guessed:
            found[column] = 1 - wrong / rows.size
    return found


def distinct(values: "pd.Series[Any]") -> Any:
    """Return the values that occur; none of a column of lists or other things not comparable."""
    try:
        return values.dropna().unique()
    except TypeError:
        return ()


def _errors(values: "pd.Series[Any]", classes: NDArray[np.intp]) -> int:
    half = np.arange(classes.size) % 2 == 0  # rows come in random order
    predict = _by_tree if is_number(values) else _by_word
    column = values.to_numpy(dtype=float) if is_number(values) else factorize(values)[0]
    return sum(
        int((predict(column[learn], classes[learn], column[~learn]) != classes[~learn]).sum())
        for learn in (half, ~half)
    )


def _by_tree(x: NDArray[Any], classes: NDArray[np.intp], asked: NDArray[Any]) -> NDArray[Any]:
    from sklearn.tree import DecisionTreeClassifier

    tree = DecisionTreeClassifier(max_leaf_nodes=16, min_samples_leaf=5, random_state=0)
    known, wanted = (np.where(np.isinf(v), np.nan, v)[:, None] for v in (x, asked))
    return np.asarray(tree.fit(known, classes).predict(wanted))


def _by_word(x: NDArray[Any], classes: NDArray[np.intp], asked: NDArray[Any]) -> NDArray[Any]:
    # a missing word is coded -1, and is a word here; a word never seen gets the commonest class
    shape = int(max(x.max(), asked.max())) + 2, int(classes.max()) + 1
    seen = np.bincount((x + 1) * shape[1] + classes, minlength=shape[0] * shape[1]).reshape(shape)
    commonest = np.where(seen.any(axis=1), seen.argmax(axis=1), seen.sum(axis=0).argmax())
    return np.asarray(commonest[asked + 1])


def leak_notes(data: Dataset) -> list[str]:
    """Warn of columns that alone predict the label almost perfectly.

    Examples
    --------
    >>> table = pd.DataFrame({"sex": ["f", "m"] * 50, "refused": np.arange(100) % 3 == 0})
    >>> table["granted"] = 1 - table["refused"]
    >>> leak_notes(Dataset.from_frame(table, label="granted", sensitive_features="sex"))
    ['refused alone predicts granted for 100% of the rows: is it known before the decision?
    If not, leave it out (--drop refused).']
    """
    found = telling_columns(data.X, data.y01)
    if not found:
        return []
    names = ", ".join(map(str, found))
    each = "alone predicts" if len(found) == 1 else "each alone predict"
    it, they = ("it", "is it") if len(found) == 1 else ("them", "are they")
    right = f"{names} {each} {data.y.name} for {_percent(found.values())} of the rows"
    leave = f"leave {it} out ({drop_option(found)})"
    return [f"{right}: {they} known before the decision? If not, {leave}."]


def drop_option(columns: Iterable[Any]) -> str:
    """Return the option that leaves columns out, as a shell takes it.

    Examples
    --------
    >>> print(drop_option(["paid back", "owed, now"]))
    --drop 'paid back,"owed, now"'
    """
    names = (f'"{name}"' if "," in str(name) else str(name) for name in columns)
    return f"--drop {shlex.quote(','.join(names))}"


def proxy_notes(table: pd.DataFrame, attributes: Iterable[str]) -> list[str]:
    """Warn of columns that alone predict a protected attribute of the table almost perfectly.

    Examples
    --------
    >>> table = pd.DataFrame({"sex": ["f", "m"] * 50, "title": ["Ms", "Mr"] * 50})
    >>> proxy_notes(table, ["sex"])
    ['title alone predicts sex for 100% of the rows: a model that sees it knows sex (a proxy).']
    """
    asked = [a for a in attributes if a in table.columns]
    others = [c for c in table.columns if c not in asked]
    notes = []
    for attribute in asked:
        if table[attribute].nunique() > MANY:
            continue  # nearly one group per row: any two columns would predict it
        found = telling_columns(table, table[attribute], others)
        if found:
            each, it = ("predicts", "it") if len(found) == 1 else ("each predict", "one of them")
            notes.append(
                f"{', '.join(map(str, found))} alone {each} {attribute} for "
                f"{_percent(found.values())} of the rows: a model that sees {it} knows "
                f"{attribute} (a proxy)."
            )
    return notes


def _percent(shares: Iterable[float]) -> str:
    """Write a share, cut and not rounded; of several, the smallest and the largest."""
    ends = sorted({int(100 * share) for share in shares})
    return f"{ends[0]}%" if len(ends) == 1 else f"{ends[0]} to {ends[-1]}%"
