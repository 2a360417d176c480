"""Where the worst case is known exactly: models that are linear in the log-odds."""

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline

from isonomy._arrays import Floats
from isonomy._tables import take
from isonomy.counterfactual.domain import Domain
from isonomy.counterfactual.pairs import Pairs

CLEAR = 12.0
"""Log-odds beyond this are too near 0 or 1 to be read off a probability."""
WHOLE = 200
"""Whole numbers of a narrower range than this are all tried."""
MOST_SUMS = 1_000_000
"""Sums of log-odds that are listed, for each half of the columns."""


@dataclass(frozen=True)
class ExactMaximum:
    """The largest counterfactual discrimination that a linear-logistic model can show a group.

    Moving a row to another group adds a constant ``step`` b to its log-odds η, so that
    CD = σ(η + b) - σ(η). For b > 0 this is largest at η = -b/2, where it is tanh(b/4); for
    b ≤ 0 no member of the group is ever disadvantaged.

    Parameters
    ----------
    step : float
        The change of the log-odds, to the group that raises them most.
    anywhere : float
        The largest discrimination over all conceivable rows; 0 where the step is not positive,
        which is approached but not reached.
    on_domain : float
        The same over rows that combine the observed values and ranges; NaN where unknown.
    attained : bool
        Whether some such row shows ``on_domain``. Where false, there are too many combinations to
        look through, or a number does not enter evenly, and it is a bound that rows need not reach.

    Examples
    --------
    >>> round(ExactMaximum(0.4, float(np.tanh(0.1)), float("nan")).anywhere, 4)
    0.0997
    """

    step: float
    anywhere: float
    on_domain: float
    attained: bool = True


def is_linear_logistic(model: Any) -> bool:
    """Return whether a model is a logistic regression of two classes, at the end of a pipeline or not.

    Examples
    --------
    >>> is_linear_logistic(LogisticRegression().fit([[0.0], [1.0]], [0, 1]))
    True
    """
    if isinstance(model, Pipeline):
        return is_linear_logistic(model.steps[-1][1])
    return isinstance(model, LogisticRegression) and len(getattr(model, "classes_", ())) == 2


def exact_maximum(
    model: Any, X: Any, pairs: Pairs, *, domain: Domain | None = None, favorable_at: int = 1
) -> dict[int, ExactMaximum] | None:
    """Return the exact maximum of every group, or None where the model is not linear-logistic.

    The model is one where it is a ``LogisticRegression``, at the end of a ``Pipeline`` or not,
    and the log-odds of every row change by one constant between two groups: a pipeline that
    multiplies the attribute with other columns is not linear in this sense, and is found out.

    Parameters
    ----------
    model : estimator
        A fitted model.
    X : table
        Rows that all belong to a group.
    pairs : Pairs
        Their scores.
    domain : Domain, optional
        The domain of the rows without the attribute's columns, for the maximum on it.
    favorable_at : int, default 1
        The position of the favourable label in ``classes_``.

    Examples
    --------
    >>> import pandas as pd
    >>> from isonomy.counterfactual import score_pairs
    >>> X = pd.DataFrame({"sex": [0, 1] * 50, "z": np.linspace(-3, 3, 100)})
    >>> model = LogisticRegression().fit(X, (X["z"] + X["sex"] > 0.5).astype(int))
    >>> result = exact_maximum(model, X, score_pairs(model, X, "sex"))
    >>> b = model.coef_[0, 0]
    >>> bool(np.isclose(result[0].anywhere, np.tanh(b / 4)))
    True
    """
    if not is_linear_logistic(model):
        return None
    steps = _steps(pairs)
    if steps is None:
        return None
    sign = 1.0 if favorable_at == 1 else -1.0
    out = {}
    for g in range(len(pairs.attribute.groups)):
        to_others = np.where(np.arange(steps.shape[1]) == g, np.nan, steps[g])
        known = to_others[~np.isnan(to_others)]
        if not known.size:
            continue
        step = float(known.max())
        reach = None if domain is None else _reach(model, X, pairs, domain, g, sign)
        worst = float(np.tanh(step / 4)) if step > 0 else 0.0
        out[g] = ExactMaximum(step, worst, *_inside(known, reach))
    return out


def _steps(pairs: Pairs) -> Floats | None:
    """Return the change of the log-odds from group to group, None where it is not a constant."""
    size = len(pairs.attribute.groups)
    steps = np.full((size, size), np.nan)
    with np.errstate(divide="ignore"):
        odds = logit(pairs.scores)
    for g in range(size):
        rows = odds[pairs.codes == g]
        for h in range(size):
            if h == g:
                continue
            clear = (np.abs(rows[:, g]) < CLEAR) & (np.abs(rows[:, h]) < CLEAR)
            if not clear.any():
                if not np.isnan(rows[:, h]).all():
                    return None  # all scores are 0 or 1: nothing can be read off them
                continue
            change = rows[clear, h] - rows[clear, g]
            middle = float(np.median(change))
            # a probability near 0 or 1 carries its log-odds to about 1e-16 / (p (1 - p))
            edge = np.maximum(np.abs(rows[clear, h]), np.abs(rows[clear, g]))
            if (np.abs(change - middle) > 1e-8 + 1e-14 * np.exp(edge)).any():
                return None
            steps[g, h] = middle
    return steps


class _Reach(NamedTuple):
    """The log-odds that rows of the domain can have: ends, and what lies between them.

    Two lists of sums, one of which is taken from each, and the width of what numbers in a range
    add to any of them; None where there are too many sums.
    """

    low: float
    high: float
    sums: tuple[Floats, Floats] | None
    width: float


def _reach(model: Any, X: Any, pairs: Pairs, domain: Domain, g: int, sign: float) -> _Reach | None:
    """Return the log-odds of a row of a group on the domain.

    Log-odds that add up over the columns reach their ends where every column does; whether they
    add up is checked at those two corners.
    """
    row = int(np.argmax(pairs.codes == g))
    base = take(X, [row])
    point = domain.encode(base)[0]
    at, value = [], []
    for j, c in enumerate(domain.coordinates):
        options = np.array([c.low, 0.5 * (c.low + c.high), c.high])
        if c.kind == "values" or (c.high - c.low < WHOLE and c.kind == "integer"):
            options = np.arange(c.low, c.high + 1)
        at += [j] * len(options)
        value += list(options)
    where = np.array(at, dtype=np.intp)
    probes = np.repeat(point[None, :], where.size + 1, axis=0)
    probes[np.arange(where.size), where] = value

    def odds(points: Floats) -> Floats:
        table = domain.decode(points, take(base, np.zeros(len(points), dtype=np.intp)))
        with warnings.catch_warnings(action="ignore", category=UserWarning):
            # names of columns
            return sign * np.asarray(model.decision_function(table), dtype=np.float64)

    level = odds(probes)
    gain = level[:-1] - level[-1]
    low, high = point.copy(), point.copy()
    ends = [level[-1], level[-1]]
    lists: list[Floats] = []
    width, straight = 0.0, True
    for j, c in enumerate(domain.coordinates):
        moves = np.flatnonzero(where == j)
        worst, best = moves[np.argmin(gain[moves])], moves[np.argmax(gain[moves])]
        if c.kind == "values" or (c.high - c.low < WHOLE and c.kind == "integer"):
            lists.append(_distinct(gain[moves]))
        else:
            # a column that enters as it is changes the log-odds evenly over its range
            straight &= bool(np.isclose(gain[moves[1]], gain[moves].mean(), rtol=1e-6, atol=1e-6))
            whole = int(c.high - c.low) + 1 if c.kind == "integer" else 1
            width += 0.0 if c.kind == "integer" else float(gain[best] - gain[worst])
            lists.append(np.linspace(gain[worst], gain[best], whole))
        low[j], high[j] = value[worst], value[best]
        ends[0] += gain[worst]
        ends[1] += gain[best]
    reached = odds(np.stack([low, high]))
    if not np.allclose(reached, ends, rtol=1e-6, atol=1e-6):
        return None
    sums = _sums(float(level[-1]), lists) if straight else None
    return _Reach(float(ends[0]), float(ends[1]), sums, width)


def _distinct(values: Floats) -> Floats:
    """Return sums in order, those that differ by rounding once."""
    ordered = np.sort(values)
    return np.asarray(ordered[np.append(True, np.diff(ordered) > 1e-12)], dtype=np.float64)


def _sums(start: float, lists: list[Floats]) -> tuple[Floats, Floats] | None:
    """Return the sums of one value of each list, as two lists to take one value of each from."""
    halves = [np.array([start]), np.zeros(1)]
    for values in sorted(lists, key=len):
        shorter = int(halves[1].size < halves[0].size)
        if halves[shorter].size * values.size > MOST_SUMS:
            return None
        halves[shorter] = _distinct(np.add.outer(halves[shorter], values).ravel())
    return halves[0], halves[1]


def _near(reach: _Reach, aim: float) -> list[float]:
    """Return the attained log-odds next to an aim, from below and from above."""
    assert reach.sums is not None
    first, second = reach.sums
    at = np.searchsorted(second, aim - first, side="right")
    below, above = at > 0, at < second.size
    out = []
    if below.any():
        out.append(min(aim, float((first[below] + second[at[below] - 1]).max()) + reach.width))
    if above.any():
        out.append(float((first[above] + second[at[above]]).min()))
    return out


def _inside(steps: Floats, reach: _Reach | None) -> tuple[float, bool]:
    """Return the largest discrimination on the domain, and whether some row shows it."""
    if reach is None:
        return float("nan"), True
    ends = (reach.low, reach.high)
    best = -np.inf
    for b in steps:
        # it grows towards -b / 2 from both sides; for b < 0 the ends are the mildest
        inner = [float(np.clip(-b / 2, *ends))] if reach.sums is None else _near(reach, -b / 2)
        for eta in (*inner, *ends):
            best = max(best, float(expit(eta + b) - expit(eta)))
    return best, reach.sums is not None
