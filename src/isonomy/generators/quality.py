"""How near generated rows come to real ones: four numbers and a picture."""

import warnings
from collections.abc import Collection
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, make_scorer, roc_auc_score
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import RobustScaler
from sklearn.utils import check_random_state

from isonomy._arrays import Floats
from isonomy._validate import check_choice, resolve_favorable
from isonomy.errors import InputError
from isonomy.generators.columns import Columns
from isonomy.stats.results import Result

FOLDS = 3
BINS = 10
UNSEEN = 1e-6
"""What a combination that is not in the real rows counts there, so that the divergence is finite."""
EMPTY = 1e-5
"""What is added to every cell of a histogram for the same reason."""


@dataclass(frozen=True, repr=False)
class Quality(Result):
    """The quality of generated rows, as in Table III of Monjezi et al. (2025).

    Parameters
    ----------
    fid : float
        Fréchet distance of the features; 0 is best.
    kl : float
        ``1 / (1 + KL)``, the mean over pairs of columns of one kind; 1 is best. NaN where the
        table has no such pair.
    detection : float
        1 if a logistic regression cannot distinguish generated rows from real ones, 0 if it always
        can.
    f1_loss : float
        F1 lost by learning from generated rows instead of real ones; NaN where no label was named.
    """

    fid: float
    kl: float
    detection: float
    f1_loss: float

    def frame(self) -> pd.DataFrame:
        """Return the numbers with what is best."""
        best = {"fid": 0.0, "kl": 1.0, "detection": 1.0, "f1_loss": 0.0}
        return pd.DataFrame(
            [{"metric": name, "value": v, "best": best[name]} for name, v in asdict(self).items()]
        )


def quality(
    real: pd.DataFrame,
    synthetic: pd.DataFrame,
    *,
    discrete: Collection[Any] | None = None,
    label: Any = None,
    test: pd.DataFrame | None = None,
    favorable: Any = None,
    random_state: Any = 0,
) -> Quality:
    """Measure how near generated rows come to real ones.

    Parameters
    ----------
    real, synthetic : pandas.DataFrame
        The rows a generator learnt from, and those it drew.
    discrete : collection of names, optional
        Columns that take only values seen, as for the generator.
    label : name, optional
        The column to predict, for the F1 loss.
    test : pandas.DataFrame, optional
        Real rows that the generator did not learn from, on which F1 is measured; with ``label``.
    favorable : value, optional
        The class whose F1 is taken; may be left out for labels that are 0 / 1.
    random_state : int or RandomState
        Seed of the folds of the detection.

    Returns
    -------
    Quality

    Notes
    -----
    The paper names the metrics but does not define them all: no features are given for the
    Fréchet distance. Ours are the numbers scaled to 0 ... 1 by the range of the real rows, and one
    0/1 column for each value of a discrete column. See :func:`kl_similarity` and
    :func:`detection` for the others.

    References
    ----------
    V. Monjezi, A. Trivedi, V. Kreinovich and S. Tizpaz-Niari, "Fairness testing through extreme
    value theory", ICSE 2025, Table III.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> real = pd.DataFrame({"a": rng.normal(size=600), "b": rng.normal(size=600)})
    >>> result = quality(real[:300], real[300:])
    >>> bool(result.fid < 0.02), bool(result.detection > 0.7)
    (True, True)
    """
    columns = Columns(real, discrete)
    first, second = features(columns, real), features(columns, synthetic)
    lost = float("nan")
    if label is not None:
        if test is None:
            raise InputError(
                "To measure the F1 loss, real rows must be given that the generator did not learn "
                "from: pass test=."
            )
        lost = f1_loss(real, synthetic, test, label=label, favorable=favorable, discrete=discrete)
    return Quality(
        fid=frechet_distance(first, second),
        kl=kl_similarity(real, synthetic, discrete=discrete),
        detection=detection(real, synthetic, discrete=discrete, random_state=random_state),
        f1_loss=lost,
    )


def features(
    columns: Columns, frame: pd.DataFrame, *, scaled: bool = True, without: Any = None
) -> Floats:
    """Return rows as features: numbers, scaled by the range seen or not, then one 0/1 per value."""
    points = columns.points(frame)
    numbers, flags = [], []
    for j, column in enumerate(columns):
        if without is not None and column.name == without:
            continue
        if column.discrete:
            flags.append(points[:, j, None] == np.arange(column.count))
        elif scaled:
            numbers.append((points[:, j, None] - column.low) / (column.high - column.low))
        else:
            numbers.append(points[:, j, None])
    return np.hstack([*numbers, *flags]).astype(np.float64)


def frechet_distance(first: Floats, second: Floats) -> float:
    r"""Return the Fréchet distance of two samples, each taken as a normal distribution.

    :math:`|m_1 - m_2|^2 + \mathrm{tr}\,(C_1 + C_2 - 2 (C_1 C_2)^{1/2})`, with the covariances of
    the rows.

    Examples
    --------
    >>> a = np.array([[0.0], [2.0]])
    >>> frechet_distance(a, a + 3.0)
    9.0
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if len(a) < 2 or len(b) < 2:
        raise InputError("Both samples must hold at least two rows to have a covariance.")
    gap = a.mean(axis=0) - b.mean(axis=0)
    c1, c2 = (np.atleast_2d(np.cov(rows, rowvar=False)) for rows in (a, b))
    values, vectors = np.linalg.eigh(c1)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    shared = np.linalg.eigvalsh(root @ c2 @ root)
    distance = gap @ gap + np.trace(c1) + np.trace(c2) - 2 * np.sqrt(np.maximum(shared, 0)).sum()
    return float(max(distance, 0.0))


def kl_similarity(
    real: pd.DataFrame, synthetic: pd.DataFrame, *, discrete: Collection[Any] | None = None
) -> float:
    """Return ``1 / (1 + KL)`` of generated from real rows, the mean over pairs of columns.

    Pairs are of two discrete columns, by the frequencies of their combinations, or of two columns
    of numbers, by a histogram of 10 by 10 cells over the range of the real rows. The definition is
    that of SDMetrics (``DiscreteKLDivergence``, ``ContinuousKLDivergence``), both kinds pooled.
    NaN where no two columns are of one kind.

    Examples
    --------
    >>> frame = pd.DataFrame({"a": list("xyxy"), "b": list("uuvv")})
    >>> kl_similarity(frame, frame)
    1.0
    """
    columns = Columns(real, discrete)
    first, second = columns.points(real), columns.points(synthetic)
    result = []
    for i, j in combinations(range(len(columns)), 2):
        a, b = columns.columns[i], columns.columns[j]
        if a.discrete and b.discrete:
            # a value that was not seen is one more value
            p, q = (
                _combinations(points[:, [i, j]], (a.count + 1, b.count + 1))
                for points in (second, first)
            )
            q[(p > 0) & (q == 0)] = UNSEEN
        elif not a.discrete and not b.discrete:
            q, *edges = np.histogram2d(first[:, i], first[:, j], bins=BINS)
            p = np.histogram2d(second[:, i], second[:, j], bins=edges)[0] + EMPTY
            q += EMPTY
        else:
            continue
        p, q = p.ravel() / p.sum(), q.ravel() / q.sum()
        present = p > 0
        result.append(1.0 / (1.0 + float((p[present] * np.log(p[present] / q[present])).sum())))
    return float(np.mean(result)) if result else float("nan")


def _combinations(points: Floats, shape: tuple[int, int]) -> Floats:
    a, b = (
        np.where(np.isnan(points[:, k]), shape[k] - 1, points[:, k]).astype(np.intp) for k in (0, 1)
    )
    return np.bincount(a * shape[1] + b, minlength=shape[0] * shape[1]).astype(np.float64)


def detection(
    real: pd.DataFrame,
    synthetic: pd.DataFrame,
    *,
    discrete: Collection[Any] | None = None,
    random_state: Any = 0,
) -> float:
    """Return how badly a logistic regression distinguishes generated rows from real ones.

    1 minus the mean over three shuffled folds of ``2 max(AUC, 1/2) - 1``; features are scaled by
    median and quartiles, and the regression has scikit-learn's default settings, 100 steps
    included. The definition is that of SDMetrics' ``LogisticDetection``. 1 is best.

    Examples
    --------
    >>> frame = pd.DataFrame({"a": np.arange(90.0)})
    >>> round(detection(frame, frame + 1000.0), 6)
    0.0
    """
    columns = Columns(real, discrete)
    X = np.concatenate([features(columns, part, scaled=False) for part in (real, synthetic)])
    y = np.repeat([1, 0], [len(real), len(synthetic)])
    if min(len(real), len(synthetic)) < FOLDS:
        raise InputError(f"Both tables must hold at least {FOLDS} rows, one for each fold.")
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=check_random_state(random_state))
    model = make_pipeline(RobustScaler(), LogisticRegression())
    auc = make_scorer(roc_auc_score, response_method="predict_proba")
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        # converged or not after its 100 steps: the definition says no more
        scores = cross_val_score(model, X, y, cv=folds, scoring=auc)
    return 1.0 - float(np.mean(2.0 * np.maximum(scores, 0.5) - 1.0))


def f1_loss(
    real: pd.DataFrame,
    synthetic: pd.DataFrame,
    test: pd.DataFrame,
    *,
    label: Any,
    favorable: Any = None,
    discrete: Collection[Any] | None = None,
) -> float:
    """Return the F1 lost by a logistic regression that learns from generated rows.

    Both are tested on the same real rows. Where all generated rows have one label, what they
    teach is that label.

    Examples
    --------
    >>> frame = pd.DataFrame({"x": np.arange(40.0), "y": np.repeat([0, 1], 20)})
    >>> f1_loss(frame, frame, frame, label="y")
    0.0
    """
    check_choice("column", label, list(real.columns))
    columns = Columns(real, [*(discrete or ()), label])
    named = resolve_favorable(list(pd.unique(real[label])), favorable)
    scores = []
    for rows in (real, synthetic):
        y = rows[label].isin(named).to_numpy()
        truth = test[label].isin(named).to_numpy()
        if y.min() == y.max():
            predicted = np.full(len(test), bool(y[0]))
        else:
            model = LogisticRegression(max_iter=1000)
            model.fit(features(columns, rows, without=label), y)
            predicted = model.predict(features(columns, test, without=label))
        scores.append(float(f1_score(truth, predicted, zero_division=0.0)))
    return scores[0] - scores[1]


def mds_points(
    real: pd.DataFrame,
    synthetic: pd.DataFrame,
    *,
    n: int = 300,
    discrete: Collection[Any] | None = None,
    random_state: Any = 0,
) -> pd.DataFrame:
    """Lay a sample of real and generated rows out in the plane, near ones near.

    Multidimensional scaling of the Euclidean distances between features, by SMACOF from the
    classical solution, so that nothing but the sample is random.

    Parameters
    ----------
    real, synthetic : pandas.DataFrame
        The rows.
    n : int
        How many rows of each to take at most.
    discrete : collection of names, optional
        Columns that take only values seen.
    random_state : int or RandomState
        Seed of the sample.

    Returns
    -------
    pandas.DataFrame
        Columns ``x``, ``y`` and ``source`` (``real`` or ``synthetic``).

    Examples
    --------
    >>> frame = pd.DataFrame({"a": np.arange(20.0), "b": np.arange(20.0) ** 2})
    >>> mds_points(frame, frame, n=5)["source"].value_counts().tolist()
    [5, 5]
    """
    rng = check_random_state(random_state)
    columns = Columns(real, discrete)
    parts = [
        features(columns, rows.iloc[rng.permutation(len(rows))[:n]]) for rows in (real, synthetic)
    ]
    distance = euclidean_distances(np.concatenate(parts))
    squared = distance**2
    centred = squared - squared.mean(axis=0) - squared.mean(axis=1, keepdims=True) + squared.mean()
    values, vectors = np.linalg.eigh(-0.5 * centred)
    start = vectors[:, :-3:-1] * np.sqrt(np.maximum(values[:-3:-1], 0.0))
    from sklearn.manifold import smacof  # a tenth of a second, which every start would pay

    places, _ = smacof(distance, n_components=2, init=start, n_init=1, max_iter=300)
    source = np.repeat(["real", "synthetic"], [len(part) for part in parts])
    return pd.DataFrame({"x": places[:, 0], "y": places[:, 1], "source": source})
