"""Repeated splits of one data set: their runs share rows, so they are not independent.

Write the value of a split as what its training rows make of the model plus what its test rows show
of it, each a mean over rows (``a`` and ``b``), with ``r = n_train / n_test`` and ``n`` rows in all.
The mean over ever more splits then has the variance ``Var(a + b) / n``, which no number of splits
reduces, while the variance *between* splits is ``s² = Var(a - r b) / (r n)``. Nadeau and Bengio's
``(1/J + 1/r) s²`` is right where the test rows decide (``a = 0``: accuracy and differences in it);
where the training rows matter too (the gap between groups follows a coefficient), it is too small.
The variance of ``b`` can be told from the rows of a test set, which leaves that of ``a``.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr, stdtrit

from isonomy._arrays import Floats
from isonomy._validate import check_share, make_rng
from isonomy.errors import InputError
from isonomy.stats._samples import check_labels, floats
from isonomy.stats.multiple import holm
from isonomy.stats.ranking import Ranking, between, divide, make_ranking


@dataclass(frozen=True, eq=False)
class SplitMean:
    """Means over repeated splits, with errors that allow for the rows that splits share.

    Attributes
    ----------
    mean, error, low, high : ndarray
        The mean, its standard error and its interval.
    pvalue : ndarray
        Two-sided, of a mean of 0.
    """

    mean: Floats
    error: Floats
    low: Floats
    high: Floats
    pvalue: Floats


def split_mean(
    values: ArrayLike,
    *,
    test_share: float = 0.3,
    within: ArrayLike | None = None,
    confidence: float = 0.95,
) -> SplitMean:
    """Return the mean over repeated random splits, its interval and a test of 0.

    Parameters
    ----------
    values : array-like of shape (..., splits)
        One value per split, such as the difference between two methods.
    test_share : float
        The share of the rows that each split tests on.
    within : array-like of shape (..., splits), optional
        The variance of each value that its test rows alone explain. With it the share of the
        training rows is estimated too: use it for what depends on how a model was trained, such as
        a gap between groups. Without it the variance is Nadeau and Bengio's, and the p-value that
        of the corrected resampled t-test.
    confidence : float
        Confidence level of the interval.

    Notes
    -----
    Student's t with one degree of freedom less than there are splits. The same law is the
    posterior of the mean in the Bayesian correlated t-test. With ``within`` the share of the
    training rows is a difference of two estimates, so half the degrees of freedom are used; where
    that is wider than the most that training rows could do (``(1/J + r) s²``), the latter is.
    With one split, ``within`` is all that is known; without it the interval is NaN.

    Examples
    --------
    >>> found = split_mean([0.02, 0.01, 0.03, 0.02, 0.01, 0.03, 0.02, 0.02])
    >>> round(float(found.low), 3), round(float(found.high), 3), round(float(found.pvalue), 3)
    (0.007, 0.033, 0.009)

    References
    ----------
    Nadeau and Bengio 2003, Inference for the Generalization Error; Corani and Benavoli 2015, A
    Bayesian Approach for Comparing Cross-Validated Algorithms on Multiple Data Sets.
    """
    check_share("confidence", confidence)
    check_share("test_share", test_share)
    x = floats(values)
    if not x.ndim or not x.shape[-1]:
        raise InputError("There must be one split or more; there is none.")
    splits = x.shape[-1]
    mean = x.mean(axis=-1)
    rows = None if within is None else np.broadcast_to(floats(within), x.shape).mean(axis=-1)
    upper = 0.5 + confidence / 2
    ways: list[tuple[Floats, float]]  # variances and their degrees of freedom
    if splits == 1:
        ways = [(np.full(mean.shape, np.nan) if rows is None else rows, np.inf)]
    else:
        apart = x.var(axis=-1, ddof=1)
        ratio = (1.0 - test_share) / test_share
        if rows is None:
            ways = [(apart * (1.0 / splits + 1.0 / ratio), splits - 1.0)]
        else:
            tested = rows * test_share  # of all rows, not of one test set
            trained = np.maximum(ratio * apart - ratio**2 * tested, 0.0)
            most = apart * (1.0 / splits + max(ratio, 1.0 / ratio))
            ways = [(apart / splits + tested + trained, (splits - 1) / 2), (most, splits - 1.0)]
    with np.errstate(divide="ignore", invalid="ignore"):
        half = np.min([stdtrit(free, upper) * np.sqrt(v) for v, free in ways], axis=0)
        p = np.min([2.0 * stdtr(free, -np.abs(mean) / np.sqrt(v)) for v, free in ways], axis=0)
    error = half / stdtrit(splits - 1.0 if splits > 1 else np.inf, upper)
    p = np.where((half == 0) & (mean == 0), 1.0, p)
    return SplitMean(mean[()], error[()], (mean - half)[()], (mean + half)[()], p[()])


def split_weights(
    splits: int, draws: int, *, test_share: float = 0.3, random_state: Any = 0
) -> Floats:
    """Draw weights of splits: weighted means then vary as means over splits do from data to data.

    The weights of a draw add up to 1; a mean under them follows the correlated t-test's posterior
    (multivariate t), so that any function of several means has draws that belong together.

    Examples
    --------
    >>> weights = split_weights(10, 1000)
    >>> weights.shape, bool(np.allclose(weights.sum(axis=1), 1))
    ((1000, 10), True)
    """
    check_share("test_share", test_share)
    if splits < 2:
        raise InputError(f"Two splits or more are needed to see how far they differ; got {splits}.")
    rng = make_rng(random_state)
    normal = rng.normal(size=(draws, splits))
    normal -= normal.mean(axis=1, keepdims=True)
    free = splits - 1
    heavy = np.sqrt(free / rng.chisquare(free, size=(draws, 1)))
    size = np.sqrt((1.0 / splits + test_share / (1.0 - test_share)) / free)
    return np.asarray(1.0 / splits + size * heavy * normal)


def pairs_over_splits(values: ArrayLike, *, test_share: float = 0.3) -> Floats:
    """Test every pair of treatments over repeated splits; Holm's correction over all pairs.

    Also right for the pairs of the treatment that came out best, whichever that was: choosing it
    looks at all pairs, so all are corrected for.

    Parameters
    ----------
    values : array-like of shape (splits, treatments)
        All treatments on the same splits.
    test_share : float
        As in :func:`split_mean`.

    Returns
    -------
    ndarray of shape (treatments, treatments)
        Adjusted p-values, 1 on the diagonal.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = pairs_over_splits(rng.normal([0.0, 0.0, 5.0], 1.0, size=(10, 3)))
    >>> (p < 0.05).astype(int).tolist()
    [[0, 0, 1], [0, 0, 1], [1, 1, 0]]
    """
    table = floats(values)
    if table.ndim != 2:
        raise InputError(f"Values must be a table (splits, treatments); got {table.ndim} axes.")
    size = table.shape[1]
    first, second = np.triu_indices(size, 1)
    out = np.ones((size, size))
    if first.size:
        p = split_mean((table[:, first] - table[:, second]).T, test_share=test_share).pvalue
        out[first, second] = out[second, first] = holm(p)
    return out


def selection_bias(
    scores: ArrayLike,
    values: ArrayLike,
    *,
    test_share: float = 0.3,
    draws: int = 2000,
    random_state: Any = 0,
) -> Floats:
    """Estimate by how much the values of the treatment with the best mean score flatter it.

    The best of several is partly lucky. New data are drawn around the means, which are first
    drawn together as far as chance alone would have spread them (James and Stein), the best is
    chosen anew each time, and how far its values then lie above what they were drawn from is
    averaged.

    Parameters
    ----------
    scores : array-like of shape (splits, treatments)
        What is chosen by; larger is better.
    values : array-like of shape (splits, treatments, quantities)
        What is reported of the treatment that is chosen.
    test_share, draws, random_state
        As in :func:`split_weights`.

    Returns
    -------
    ndarray of shape (quantities,)
        To be taken off the values of the best.

    Examples
    --------
    >>> runs = np.random.default_rng(0).normal(size=(10, 8))
    >>> bias = selection_bias(runs, runs[..., None])
    >>> bool(bias[0] > 0.5), bool(abs(selection_bias(runs[:, :1], runs[:, :1, None])[0]) < 0.05)
    (True, True)

    References
    ----------
    Efron 2011, Tweedie's Formula and Selection Bias.
    """
    score, reported = floats(scores), floats(values)
    splits, size = score.shape
    weights = split_weights(splits, draws, test_share=test_share, random_state=random_state)
    noise = weights - 1.0 / splits
    means = score.mean(axis=0)
    keep = 1.0
    if size > 1:
        apart = score - score.mean(axis=1, keepdims=True)  # what all share does not choose
        chance = split_mean(apart.T, test_share=test_share).error ** 2
        spread = float(means.var(ddof=1))
        lucky = float(chance.mean()) * size / (size - 1)
        keep = max(0.0, 1.0 - lucky / spread) if spread > 0 else 0.0
    centre = means.mean() + keep * (means - means.mean())
    best = (centre + noise @ score).argmax(axis=1)
    gained = np.einsum("ds,skq->dkq", noise, reported)
    return np.asarray(gained[np.arange(draws), best].mean(axis=0))


def scott_knott_paired(
    values: ArrayLike,
    *,
    labels: Any = None,
    larger_is_better: bool = False,
    alpha: float = 0.05,
    test_share: float = 0.3,
) -> Ranking:
    """Group treatments that ran on the same repeated splits by Scott and Knott's recursion.

    A group is cut in two, where the sum of squares between the means of its treatments is
    largest, if some pair in it differs by :func:`pairs_over_splits`.

    Parameters
    ----------
    values : array-like of shape (splits, treatments)
    labels : sequence, optional
        The treatments' names.
    larger_is_better : bool
        Whether rank 1 is the highest group.
    alpha, test_share : float
        Of the tests.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> runs = rng.normal([0.0, 0.0, 5.0, 5.0], 0.5, size=(10, 4))
    >>> scott_knott_paired(runs, labels=list("abcd"), larger_is_better=True).groups
    (('d', 'c'), ('b', 'a'))

    References
    ----------
    Scott and Knott 1974, A Cluster Analysis Method for Grouping Means in the Analysis of
    Variance.
    """
    check_share("alpha", alpha)
    table = floats(values)
    names = check_labels(labels, table.shape[1])
    p = pairs_over_splits(table, test_share=test_share)
    order = np.argsort(table.mean(axis=0), kind="stable")
    p, centres = p[np.ix_(order, order)], table.mean(axis=0)[order]
    group = divide(
        order.size,
        lambda first, cut, end: between(centres, first, cut, end),
        lambda first, cut, end: bool((p[first:end, first:end] < alpha).any()),
        seek=False,
    )
    return make_ranking(
        "scott_knott(paired)",
        [names[i] for i in order],
        [table[:, i] for i in order],
        centres,
        "mean",
        group,
        larger_is_better=larger_is_better,
        undefined=0,
    )
