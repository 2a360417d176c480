"""STEALTH (Alvarez and Menzies, 2023): a smooth surrogate from a few well-spread questions."""

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils import _safe_indexing

from isonomy._arrays import Floats, Rows
from isonomy._tables import as_matrix
from isonomy._validate import check_share, make_rng
from isonomy.errors import InputError
from isonomy.mitigators.base import MITIGATORS, Vector, Weights
from isonomy.mitigators.stages import WrappedModel
from isonomy.models import fit_model, with_scores

TINY = 1e-31
GRAIN = 2.0**-36
"""Distances are multiples of this."""


def bicluster(
    X: Floats,
    rng: np.random.Generator,
    *,
    global_poles: bool = False,
    truncate: bool = False,
) -> list[Rows]:
    r"""Halve a table again and again along the line between two far-apart rows.

    In each node a row is drawn; *left* is the row farthest from it and *right* the row farthest
    from left. Every row is projected on the line between the two by the cosine rule, and the
    lower half (rounded down) and the upper half become two nodes. A node of fewer than
    :math:`\lfloor\sqrt{N}\rfloor` of the :math:`N` rows is a leaf. The distance is the sum over
    the columns of absolute differences, each column on the scale 0 to 1 of the whole table, and
    rounded to a multiple of 2^-36, so that the order in which columns are summed does not decide;
    of rows at one distance the first is the farthest, and rows with one projection stay in order.

    Parameters
    ----------
    X : array of float
        The rows.
    rng : Generator
        Draws one row per node, a node's left half before its right.
    global_poles : bool
        Whether left and right are looked for in the whole table instead of the node, as the
        released code does.
    truncate : bool
        Whether values are cut to whole numbers first, as the released code does.

    Returns
    -------
    list of array of int
        The rows of each leaf, from left to right.

    Examples
    --------
    >>> import numpy as np
    >>> leaves = bicluster(np.arange(20.0)[:, None], np.random.default_rng(0))
    >>> sorted(sorted(map(int, leaf)) for leaf in leaves)[:2]
    [[0, 1, 2], [3, 4]]
    """
    if truncate:
        X = np.trunc(X)
    low = X.min(axis=0)
    table = (X - low) / (X.max(axis=0) - low + TINY)
    enough = int(np.sqrt(len(X)))
    leaves: list[Rows] = []
    nodes = [np.arange(len(X))]
    while nodes:
        rows = nodes.pop()
        if len(rows) < enough or len(rows) < 2:
            leaves.append(rows)
            continue
        node = table[rows]
        pivot = node[int(rng.integers(len(rows)))][None]
        world = table if global_poles else node
        left = world[int(_distances(pivot, world).argmax())][None]
        to_left = _distances(left, world)
        far = int(to_left.argmax())
        right, c = world[far][None], to_left[far]
        a = _distances(right, node)
        b = _distances(left, node) if global_poles else to_left
        order = np.argsort((a**2 + c**2 - b**2) / (2 * c + TINY), kind="stable")
        half = len(rows) // 2
        # Last in, first out: the left half is opened next.
        nodes += [rows[order[half:]], rows[order[:half]]]
    return leaves


def _distances(row: Floats, table: Floats) -> Floats:
    return np.asarray(np.rint(cdist(row, table, "cityblock")[0] / GRAIN) * GRAIN)


def _fit_or_constant(estimator: Any, X: Any, y: Vector, w: Weights = None) -> Any:
    """Fit a clone of an estimator, or a constant where only one class is left to learn."""
    if (y == y[0]).all():
        return DummyClassifier(strategy="most_frequent").fit(X, y)
    return fit_model(estimator, X, y, w)


@MITIGATORS.register("stealth")
class Stealth(WrappedModel):
    r"""Replaces a model by a surrogate that learnt from a few questions put to it.

    Part of the training rows fit the base learner. The others are clustered by repeated halving
    (``bicluster``); one row of each cluster is shown to the fitted model, and a fresh model is
    fitted on these rows and the labels it gave. The surrogate sees between :math:`\sqrt N` and
    :math:`2 \sqrt N` rows, so it follows the base model only in the large and loses finer
    differences, those between groups among them. True labels of the clustered rows are never
    used, nor is the protected attribute; how much is lost shows only in an audit.

    The surrogate loses detail, and may lose it unevenly: on some data (COMPAS, in the guide's
    table) it is less accurate and its rates differ more than those of the model it replaces.

    Parameters
    ----------
    estimator : classifier, optional
        The base learner; a scaled logistic regression when None.
    surrogate : classifier, optional
        What learns from the answers. When None the base learner's own kind, under as_published a
        random forest.
    probe_share : float in (0, 1)
        The share of the training rows that is clustered; 6 / 11 as in the paper, whose split is
        40 % training, 48 % validation and 12 % test.
    privileged, favorable, sensitive_columns, protocol, random_state
        As in every mitigator.

    Notes
    -----
    **Protocols**

    ==============  ======================================  =====================================
    what            as_published                            corrected
    ==============  ======================================  =====================================
    poles           the farthest rows of the whole table    the farthest rows of the node
    values          cut to whole numbers for distances      as they are
    scaling         the base learner is fitted on MinMax-   all rows pass the same way
                    scaled rows and asked about unscaled
                    ones, the surrogate fitted on unscaled
                    rows and asked about scaled ones
    surrogate       random forest                           the base learner's own kind
    ==============  ======================================  =====================================

    Attributes
    ----------
    model_ : classifier
        The base learner that was asked.
    probes_ : array of int
        The training rows it was asked about.
    leaves_ : list of array of int
        The clusters, as training rows.

    References
    ----------
    L. Alvarez and T. Menzies, "Don't lie to me: avoiding malicious explanations with STEALTH",
    IEEE Software 40, 2023.

    Examples
    --------
    >>> import numpy as np
    >>> from isonomy.mitigators import Stealth
    >>> rng = np.random.default_rng(0)
    >>> s = np.arange(600) % 2
    >>> X = np.column_stack([s, rng.normal(size=600)])
    >>> y = (X[:, 1] + 0.2 * s > 0).astype(int)
    >>> model = Stealth().fit(X, y, sensitive_features=s)
    >>> len(model.leaves_) == len(model.probes_)
    True
    >>> sorted({len(leaf) for leaf in model.leaves_})
    [10, 11]
    """

    label = "STEALTH"
    advice = "A coarse, smooth copy of any model; asks few questions, loses detail."
    reference = "Alvarez and Menzies, IEEE Software 2023"
    needs_numbers = True
    randomized = True
    several = "does not look at any attribute, one or several"
    multi_group = True
    multi_class = True

    surrogate: BaseEstimator | None = None
    probe_share: float = 6 / 11

    def _fit(self, X: Any, y: Vector, s: Vector, w: Weights) -> None:
        check_share("probe_share", self.probe_share)
        matrix = as_matrix(X, who=self.name)
        rng = make_rng(self.random_state)
        order = rng.permutation(len(y))
        cut = len(y) - round(self.probe_share * len(y))
        fitted_on, asked = np.sort(order[:cut]), np.sort(order[cut:])
        if len(asked) < 4 or len(np.unique(y[fitted_on])) < len(np.unique(y)):
            raise InputError(
                f"{self.name} needs rows of every class to fit on and at least 4 to cluster; of "
                f"{len(y)} rows {len(fitted_on)} are for the first: give it more rows."
            )
        self._scaler: Any = MinMaxScaler().fit(matrix[fitted_on]) if self.published else None
        known = _safe_indexing(X, fitted_on)
        self.model_ = _fit_or_constant(
            self.base_learner(),
            self.transform(known),
            self.decode(y[fitted_on]),
            None if w is None else w[fitted_on],
        )
        slips = {"global_poles": self.published, "truncate": self.published}
        leaves = bicluster(matrix[asked], rng, **slips)
        self.leaves_ = [asked[leaf] for leaf in leaves]
        self.probes_ = np.array([leaf[int(rng.integers(len(leaf)))] for leaf in self.leaves_])
        probes = matrix[self.probes_] if self.published else _safe_indexing(X, self.probes_)
        answers = self.model_.predict(probes)
        surrogate = self.surrogate
        if surrogate is None:
            forest = RandomForestClassifier(random_state=0)
            surrogate = forest if self.published else self.base_learner()
        # a learner without probabilities is calibrated where there are answers enough for it
        if np.unique(answers, return_counts=True)[1].min() >= 5:
            surrogate = with_scores(surrogate)
        self.estimator_ = _fit_or_constant(surrogate, probes, answers)

    def transform(self, X: Any, s: Vector | None = None) -> Any:
        """Return rows on the scale that the model was fitted on, as published."""
        if self._scaler is None:
            return X
        return self._scaler.transform(as_matrix(X, who=self.name))
