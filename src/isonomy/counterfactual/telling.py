"""Which columns go with the discrimination: what to look at first in the worst individuals."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from isonomy._arrays import Floats
from isonomy._tables import get_column, take
from isonomy.counterfactual.pairs import Pairs
from isonomy.stats import rank

BANDS = 10
"""Numbers with more values than this are cut at their quantiles into so many bands."""
MOST_ROWS = 5_000
"""Of more rows every so many are looked at: columns are only put in an order."""


def telling_order(X: Any, pairs: Pairs, worst: NDArray[np.intp]) -> list[int]:
    """Return the positions of the columns, those that go most with discrimination first.

    A column is the more telling the more of the ranks of discrimination it explains within the
    groups of the worst individuals. Columns that explain nothing keep their order at the end.

    Parameters
    ----------
    X : table
        The rows of ``pairs``, as the model takes them.
    pairs : Pairs
        Their scores in each group.
    worst : ndarray of int
        Positions of the worst individuals.

    Returns
    -------
    list of int
        The columns that were not flipped.
    """
    codes, count = np.unique(pairs.codes[worst], return_counts=True)
    shares = np.zeros(X.shape[1])
    for group, weight in zip(codes, count, strict=True):
        members = np.flatnonzero(pairs.codes == group)
        members = members[:: -(-members.size // MOST_ROWS)]
        ranks = rank(pairs.cd[members])
        people = take(X, members)
        for p in range(X.shape[1]):
            shares[p] += weight * explained(get_column(people, p), ranks)
    order = np.argsort(-shares, kind="stable").tolist()
    return [p for p in order if p not in pairs.attribute.columns]


def explained(column: Any, values: Floats) -> float:
    """Return the share of the variance of values that a column explains, by its values or bands.

    Corrected for the number of values (omega squared), so that a column of names explains nothing;
    0 where it explains less than chance would.

    Examples
    --------
    >>> values = np.arange(100.0)
    >>> round(explained(np.repeat(["a", "b"], 50), values), 2)
    0.75
    >>> explained([f"name {i}" for i in range(100)], values)
    0.0
    """
    cells = pd.Series(np.asarray(column))
    kind = pd.factorize(cells)[0]  # what is missing has code -1: a value of its own
    if kind.max() >= BANDS and pd.api.types.is_numeric_dtype(cells.dtype):
        kind = pd.qcut(cells, BANDS, labels=False, duplicates="drop").fillna(-1).to_numpy(np.intp)
    kind = kind + 1
    rows = np.bincount(kind)
    used, n = int((rows > 0).sum()), values.size
    if not 1 < used < n:
        return 0.0
    middle = values - values.mean()
    total = float(middle @ middle)
    between = float((np.bincount(kind, middle)[rows > 0] ** 2 / rows[rows > 0]).sum())
    noise = (total - between) / (n - used)
    share = (between - (used - 1) * noise) / (total + noise) if total > 0 else 0.0
    return max(0.0, share)
