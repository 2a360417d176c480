"""Scores of groups without labels: how far means are apart, and ratios by cut-off.

Both rest on a few sums per group: rows, weights, scores and their squares, and how many scores lie
at or above each cut-off. One pass over arrays or one GROUP BY makes them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.stats import ttest_ind_from_stats

from isonomy._arrays import Floats, divide
from isonomy._files import TableFile, sql_name
from isonomy._groups import plain_value
from isonomy._unknown import is_missing
from isonomy._validate import MISSING
from isonomy.audit.judge import FEWEST_ROWS
from isonomy.errors import InputError
from isonomy.metrics import Counts
from isonomy.metrics.query import banded
from isonomy.stats import holm, koopman_interval, standardized_difference

BEST_PERCENT = tuple(range(10, 101, 10))
"""The shares of the best scores that ratios are reported for."""


@dataclass(frozen=True, eq=False)
class ScoreSums:
    """Sums of scores by group; scores and squares are taken about ``center``.

    ``sums`` holds rows, weights, squared weights, scores and squares: ``[5, group]``; ``above`` rows
    and weights at or above each cut-off: ``[2, cut, group]``.
    """

    groups: tuple[tuple[Any, ...], ...]
    center: float
    cuts: Floats
    sums: Floats
    above: Floats

    @property
    def n(self) -> Floats:
        """Rows by group."""
        return np.asarray(self.sums[0])

    def view(self, index: NDArray[np.intp], groups: tuple[tuple[Any, ...], ...]) -> "ScoreSums":
        """Add up groups that share an index."""

        def add(values: Floats) -> Floats:
            out = np.zeros((len(groups), *values.shape[:-1]))
            np.add.at(out, index, np.moveaxis(values, -1, 0))
            return np.moveaxis(out, 0, -1)

        return replace(self, groups=groups, sums=add(self.sums), above=add(self.above))

    def moments(self) -> tuple[Floats, Floats, Floats]:
        """Return mean, unbiased variance and effective rows of each group."""
        _, w, w2, total, squares = self.sums
        rows = divide(w**2, w2)
        mean = divide(total, w)
        spread = np.maximum(divide(squares, w) - mean**2, 0.0)
        return mean + self.center, spread * divide(rows, rows - 1), np.nan_to_num(rows)


def sums_of_arrays(
    score: Floats, weight: ArrayLike | None, group: NDArray[np.intp], counts: Counts
) -> ScoreSums:
    """Add up scores that are in memory."""
    ranks = _ranks(score.size)
    cuts = -np.partition(-score, ranks)[ranks]
    center, size = float(score.mean()), len(counts.groups)
    w = np.ones(score.size) if weight is None else np.asarray(weight, dtype=np.float64)

    def add(values: Floats, rows: Any = slice(None)) -> Floats:
        return np.bincount(group[rows], values[rows], size).astype(np.float64)

    away = score - center
    one = np.ones(score.size)
    sums = np.array([add(v) for v in (one, w, w**2, w * away, w * away**2)])
    above = np.array([[add(v, score >= cut) for cut in cuts] for v in (one, w)])
    return ScoreSums(counts.groups, center, cuts, sums, above)


def _ranks(rows: int) -> NDArray[np.intp]:
    """Return the places of the last rows of each share of the best, in whole numbers."""
    return np.array([-(-k * rows // 100) - 1 for k in BEST_PERCENT], dtype=np.intp)


def sums_of_file(
    file: TableFile,
    counts: Counts,
    score: str,
    weight: str | None,
    bins: Mapping[str, Sequence[float]] | None,
) -> ScoreSums:
    """Add up the scores of a file, where they lie."""
    column, w = sql_name(score), sql_name(weight) if weight else "1.0"
    if file.columns[score] == "VARCHAR":
        raise InputError(f"Scores must be numbers; {score!r} holds text: name another column.")
    known = f"COUNT(*) FILTER (isfinite(CAST({column} AS DOUBLE)))"
    size, fine = file.execute(f"SELECT COUNT(*), {known} FROM {file.rows}").fetchone()
    if fine < size:
        raise InputError(
            f"Scores must be finite numbers; {size - fine:,} of {score!r} are missing or not: drop "
            f"those rows."
        )
    keys = [banded(a, bins) for a in counts.attributes]
    found = sums_in_sql(file, keys, column, w)
    place = {group: k for k, group in enumerate(counts.groups)}
    index = np.array(
        [
            place[tuple(MISSING if is_missing(v) else plain_value(v) for v in group)]
            for group in found.groups
        ],
        dtype=np.intp,
    )
    return found.view(index, counts.groups)


def sums_in_sql(file: TableFile, keys: Sequence[str], value: str, weight: str = "1.0") -> ScoreSums:
    """Add up a value by keys, all three written in SQL; the groups are as the file holds them."""
    rows = f'(SELECT *, CAST({value} AS DOUBLE) AS "the score", CAST({weight} AS DOUBLE) AS "the weight" FROM {file.rows})'
    size, center = file.execute(f'SELECT COUNT(*), AVG("the score") FROM {rows}').fetchone()
    if not size:
        raise InputError("There must be at least one person to count; the table holds no rows.")
    ranks = [int(r) + 1 for r in _ranks(size)]
    ordered = dict(
        file.execute(
            f'SELECT r, s FROM (SELECT "the score" AS s, row_number() OVER (ORDER BY "the score" DESC) '
            f"AS r FROM {rows}) WHERE r IN ({', '.join(map(str, ranks))})"
        ).fetchall()
    )
    cuts = [ordered[r] for r in ranks]
    away = f'("the score" - {center!r})'
    sums = ["COUNT(*)", *(f"SUM({x})" for x in (
        '"the weight"', '"the weight" * "the weight"', f'"the weight" * {away}',
        f'"the weight" * {away} * {away}',
    ))]  # fmt: skip
    for what in ("1", '"the weight"'):
        sums += [f'SUM({what}) FILTER ("the score" >= {cut!r})' for cut in cuts]
    found = file.execute(
        f"SELECT {', '.join([*keys, *sums])} FROM {rows} GROUP BY {', '.join(keys)}"
    ).fetchall()
    numbers = [[0.0 if v is None else float(v) for v in row[len(keys) :]] for row in found]
    every = np.array(numbers, dtype=np.float64).T
    groups = tuple(tuple(row[: len(keys)]) for row in found)
    above = every[5:].reshape(2, len(cuts), -1)
    return ScoreSums(groups, float(center), np.array(cuts), every[:5], above)


def _compared(counts: Counts, value: Floats, size: Floats) -> tuple[NDArray[np.bool_], str]:
    """Return which groups the others are compared with: the reference, else the best one."""
    mask = counts.is_privileged()
    if mask is not None and mask.any():
        return mask, "reference"
    known = counts.known & (size > 0) & ~np.isnan(value)
    enough = known & (size >= FEWEST_ROWS)
    candidates = enough if enough.any() else known
    return np.arange(size.size) == int(np.argmax(np.where(candidates, value, -np.inf))), "best"


def score_gap_table(
    attribute: str, counts: Counts, sums: ScoreSums, confidence: float
) -> pd.DataFrame:
    """Compare the mean score of every group with that of the reference, else of the best group."""
    mean, variance, rows = sums.moments()
    mask, against = _compared(counts, mean, rows)
    everyone = sums.view(np.zeros(mask.size, dtype=np.intp), (("all",),))
    merged = sums.view(np.where(mask, 0, 1).astype(np.intp), (("these",), ("others",)))
    other = tuple(float(x[0]) for x in merged.moments())
    spread = float(np.sqrt(everyone.moments()[1][0]))
    shown = np.flatnonzero(counts.known & (sums.n > 0) & ~mask)
    mine = tuple(x[shown] for x in (mean, variance, rows))
    value, low, high = standardized_difference(*mine, *other, spread=spread, confidence=confidence)
    pooled = standardized_difference(*mine, *other, confidence=confidence)
    p = welch(mine, other)
    labels = np.array(counts.labels(), dtype=object)
    return pd.DataFrame(
        {
            "attribute": attribute,
            "group": labels[shown],
            "against": against,
            "other": " or ".join(labels[mask]),
            "rows": sums.n[shown].astype(np.int64),
            "mean": mine[0],
            "other_mean": other[0],
            "smd": value,
            "low": low,
            "high": high,
            "smd_pooled": pooled[0],
            "pooled_low": pooled[1],
            "pooled_high": pooled[2],
            "p_value": p,
            "p_holm": holm(p) if p.size else p,
            "reason": [
                None if not np.isnan(v) else "fewer than two scores, or all scores are equal"
                for v in value.tolist()
            ],
        }
    )


def welch(one: tuple[Floats, ...], other: tuple[Any, ...]) -> Floats:
    """Return the two-sided p-values of Welch's t test, from means, variances and (effective) rows.

    Examples
    --------
    >>> one = (np.array([1.0]), np.array([4.0]), np.array([50.0]))
    >>> welch(one, (0.0, 4.0, 50.0)).round(4).tolist()
    [0.0141]
    """
    (m, v, n), (w, u, k) = one, other
    with np.errstate(divide="ignore", invalid="ignore"):
        sides = m, np.sqrt(v), n, w, np.sqrt(u), k
        found = ttest_ind_from_stats(*sides, equal_var=False)  # type: ignore[arg-type]  # effective rows need not be whole
    return np.asarray(found.pvalue)


def cutoff_table(
    attribute: str, counts: Counts, sums: ScoreSums, confidence: float
) -> pd.DataFrame:
    """Compare the shares of groups among the best k %, for k from 10 to 100."""
    labels = np.array(counts.labels(), dtype=object)
    total, square = sums.sums[1], sums.sums[2]
    size = np.nan_to_num(divide(total**2, square))
    known = counts.known & (sums.n > 0)
    tables = []
    for percent, cut, n, w in zip(BEST_PERCENT, sums.cuts, *sums.above, strict=True):
        share = divide(w, total)
        mask, against = _compared(counts, share, size)
        other = divide(w[mask].sum(), total[mask].sum())
        rows = divide(total[mask].sum() ** 2, square[mask].sum())
        shown = np.flatnonzero(known)
        hits = np.minimum(share * size, size)[shown]
        low, high = koopman_interval(
            hits, size[shown], float(other * rows), rows, confidence=confidence
        )
        alone = mask[shown]
        tables.append(
            pd.DataFrame(
                {
                    "attribute": attribute,
                    "percent": percent,
                    "cut": cut,
                    "selected_share": float(w.sum() / total.sum()),
                    "group": labels[shown],
                    "against": against,
                    "other": " or ".join(labels[mask]),
                    "selected": n[shown].astype(np.int64),
                    "rate": share[shown],
                    "ratio": np.where(alone, 1.0, divide(share[shown], np.asarray(other))),
                    "koopman_low": np.where(alone, np.nan, low),
                    "koopman_high": np.where(alone, np.nan, high),
                }
            )
        )
    return pd.concat(tables, ignore_index=True)
