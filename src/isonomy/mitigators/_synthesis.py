"""Synthetic rows out of real ones: what kind each column is, and how three rows make a new one."""

from collections.abc import Sequence

import numpy as np

from isonomy._arrays import Floats, Rows


class Kinds:
    """Which columns are numbers and which are categories.

    Parameters
    ----------
    numeric : array of int
        Positions of the numeric columns.
    blocks : list of tuple of int
        The categorical columns; those of one tuple are drawn together.
    low, high : array of float
        The range of each column.
    whole : array of bool
        The columns that hold whole numbers only.
    """

    def __init__(self, matrix: Floats, blocks: Sequence[tuple[int, ...]]) -> None:
        taken = {j for block in blocks for j in block}
        self.blocks = [tuple(b) for b in blocks]
        self.numeric = np.array([j for j in range(matrix.shape[1]) if j not in taken], dtype=int)
        self.low, self.high = matrix.min(axis=0), matrix.max(axis=0)
        self.whole = (matrix == np.rint(matrix)).all(axis=0)

    def __repr__(self) -> str:
        return f"Kinds({len(self.numeric)} numeric, {len(self.blocks)} categorical)"


def column_kinds(matrix: Floats, blocks: Sequence[tuple[int, ...]] | None) -> Kinds:
    """Distinguish numbers from categories.

    Parameters
    ----------
    matrix : array of float
        The training rows.
    blocks : list of tuple of int, optional
        The categorical columns where they are known. Else 0 / 1 columns are categories,
        consecutive ones that sum to 1 in every row being one of them.

    Returns
    -------
    Kinds

    Examples
    --------
    >>> import numpy as np
    >>> table = np.array([[7.5, 1, 0, 0], [3.0, 0, 1, 1], [4.0, 0, 1, 0]])
    >>> column_kinds(table, None).blocks
    [(1, 2), (3,)]
    """
    return Kinds(matrix, _infer_blocks(matrix) if blocks is None else blocks)


def _infer_blocks(matrix: Floats) -> list[tuple[int, ...]]:
    d = matrix.shape[1]
    binary = ((matrix == 0) | (matrix == 1)).all(axis=0)
    blocks: list[tuple[int, ...]] = []
    at = 0
    while at < d:
        total, end = matrix[:, at].copy(), at + 1
        while end < d and binary[at] and binary[end] and total.max() <= 1:
            total += matrix[:, end]
            end += 1
            if total.min() == 1:
                break
        one_hot = total.min() == 1 == total.max()
        width = end - at if one_hot else 1
        if binary[at]:
            blocks.append(tuple(range(at, at + width)))
        at += width
    return blocks


def synthesize(
    matrix: Floats,
    parents: Rows,
    neighbors: Rows,
    kinds: Kinds,
    rng: np.random.Generator,
    *,
    crossover: float | None,
    mutation: float,
    in_domain: bool,
) -> Floats:
    """Make one synthetic row from each parent and its two neighbours.

    Parameters
    ----------
    matrix : array of float
        The training rows.
    parents : array of int
        A row for each synthetic row.
    neighbors : array of int, (n, 2)
        Its two neighbours.
    kinds : Kinds
        The columns.
    rng : Generator
        Draws, in this order: for each row and numeric column a number in [0, 1) if there is a
        crossover; for each row and categorical block one of 0 (parent), 1 and 2 (neighbours).
    crossover : float or None
        The probability with which a numeric column changes; None: always.
    mutation : float
        The factor of the difference.
    in_domain : bool
        Whether numbers are clipped to the range of their column and stay whole where it is;
        otherwise their absolute value is taken, as the released code does.

    Returns
    -------
    array of float
    """
    made = matrix[parents]
    one, two = neighbors[:, 0], neighbors[:, 1]
    numeric = kinds.numeric
    if len(numeric):
        changed = matrix[np.ix_(one, numeric)]
        changed -= matrix[np.ix_(two, numeric)]
        changed *= mutation
        if crossover is not None:
            changed[rng.random(changed.shape) >= crossover] = 0.0
        changed += made[:, numeric]
        if in_domain:
            whole = kinds.whole[numeric]
            changed[:, whole] = np.rint(changed[:, whole])
            np.clip(changed, kinds.low[numeric], kinds.high[numeric], out=changed)
        else:
            np.abs(changed, out=changed)
        made[:, numeric] = changed
    pick = rng.integers(0, 3, (len(parents), len(kinds.blocks)))
    for at, block in enumerate(kinds.blocks):
        columns = np.array(block)
        for which, source in ((1, one), (2, two)):
            chosen = np.flatnonzero(pick[:, at] == which)
            made[np.ix_(chosen, columns)] = matrix[np.ix_(source[chosen], columns)]
    return made
