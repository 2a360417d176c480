"""Prejudice remover (Kamishima et al., 2012): logistic regression that pays for dependence."""

from typing import Any, ClassVar

import numpy as np
from scipy import optimize, sparse
from scipy.special import expit

from isonomy._arrays import Floats
from isonomy._validate import check_choice, check_least
from isonomy.mitigators._features import Features
from isonomy.mitigators.base import MITIGATORS, Vector, Weights
from isonomy.mitigators.stages import InProcessor

GRADIENTS = ("exact", "reference")
RIDGE = 1.0
"""Weight of the squared coefficients; fixed in the reference."""
LIMIT = float(np.log((1.0 - 1e-10) / 1e-10))
"""Log-odds are held within this, so that no probability is 0 or 1."""
SPARSE_BELOW = 0.35
"""Share of non-zero entries under which compressed rows are the quicker form."""


@MITIGATORS.register("prejudice_remover", aliases=("pr",))
class PrejudiceRemover(InProcessor):
    r"""Logistic regression with a penalty on the dependence of its output on the group.

    Each group :math:`s` has its own coefficients :math:`w_s`, and all are fitted together to

    .. math:: -\log L(w) + \eta \sum_i \sum_{y} P(y|x_i) \ln \frac{P(y|s_i)}{P(y)}
              + \tfrac12 \lVert w \rVert^2 ,

    where :math:`P(y|s)` and :math:`P(y)` are the means of the predicted probabilities in a group
    and overall. The penalty is :math:`n` times the mutual information of output and group, so it
    aims at equal rates (statistical parity), whatever the true rates are. The sum over groups
    needs no change for more than two of them. Protected columns are left out of the features.

    Notes
    -----
    **Protocols**

    ===========  ==============================  ============================================
    what         as_published                    corrected
    ===========  ==============================  ============================================
    gradient     ``"reference"``: the penalty's  ``"exact"``
                 part is not the derivative of
                 the loss, so the search stops
                 elsewhere
    search       conjugate gradients, at most    L-BFGS until it converges
                 100 steps, mostly ended at the
                 first by a line search that
                 fails
    start        one logistic regression per     the same
                 group, as in scikit-learn 1.0,
                 at most 100 steps
    features     as given                        scaled to 0 ... 1 inside, so that the ridge
                                                 treats columns alike (``scale``)
    labels       0 / 1 whatever the coding was   in the coding of y
    ===========  ==============================  ============================================

    Both protocols take weights, which the reference did not.

    Parameters
    ----------
    estimator : None
        Not used: the method is its own model.
    eta : float, default 25
        Strength of the penalty; 25 is that of Chen et al. (2023), 1 that of AIF360.
    gradient : {"exact", "reference"}, optional
        See above; when None, as the protocol says.
    scale : bool, optional
        Whether to scale the features inside; when None, as the protocol says.
    max_iter : int, optional
        Most steps of the search; when None, 100 as published and 1000 corrected.
    privileged, favorable, sensitive_columns, protocol, random_state
        As for every mitigator. Nothing is drawn at random.

    Attributes
    ----------
    coef_ : array of shape (groups, features)
        Coefficients per group.
    intercept_ : array of shape (groups,)
        Intercepts per group; they are part of the ridge.
    n_iter_ : int
        Steps of the search.
    converged_ : bool
        Whether it ended because the gradient vanished.

    References
    ----------
    T. Kamishima, S. Akaho, H. Asoh and J. Sakuma, "Fairness-aware classifier with prejudice
    remover regularizer", ECML PKDD 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from isonomy.mitigators import PrejudiceRemover
    >>> rng = np.random.default_rng(0)
    >>> s = rng.integers(0, 2, 400)
    >>> X = rng.normal(size=(400, 2)) + s[:, None]
    >>> y = (X[:, 0] + rng.normal(size=400) > 0.5).astype(int)
    >>> def gap(eta):
    ...     yes = PrejudiceRemover(eta=eta).fit(X, y, sensitive_features=s).predict(
    ...         X, sensitive_features=s)
    ...     return abs(yes[s == 1].mean() - yes[s == 0].mean())
    >>> bool(gap(25.0) < 0.2 * gap(0.0))
    True
    """

    label = "PR"
    advice = "For equal rates from a linear model, with one number to turn."
    reference = "Kamishima, Akaho, Asoh and Sakuma, ECML PKDD 2012"
    needs_numbers = True
    aims: ClassVar = {"demographic_parity": {}}
    strength_values: ClassVar = {"eta": (5.0, 25.0, 100.0)}
    cheap_to_tune = True
    uses_estimator = False
    needs_sensitive_at_predict = True
    several = (
        "every intersection has coefficients of its own; the penalty is on "
        "what the output tells about the intersection"
    )
    multi_group = True

    eta: float = 25.0
    gradient: str | None = None
    scale: bool | None = None
    max_iter: int | None = None

    def fit_model(self, X: Any, y: Vector, s: Vector, w: Weights = None) -> None:
        """Fit the coefficients of all groups together."""
        kind = self.gradient or ("reference" if self.published else "exact")
        check_choice("gradient", kind, GRADIENTS)
        check_least("eta", self.eta, 0)
        most = self.max_iter or (100 if self.published else 1000)
        scale = not self.published if self.scale is None else self.scale
        self._features, matrix = Features.learn(
            X, who=self.name, dropped=self._positions(X), scale=scale
        )
        problem = Objective(matrix, y, s, w, eta=self.eta, kind=kind)
        start = problem.start()
        if self.published:
            # The search that the published numbers come from; its line search fails on a
            # gradient that is not one, and where it fails is the published model.
            flat, _, _, _, flag, path = optimize.fmin_cg(
                problem.value,
                start,
                problem.gradient,
                gtol=1e-5,
                maxiter=most,
                full_output=True,
                disp=False,
                retall=True,
            )
            self.n_iter_, self.converged_ = len(path) - 1, flag == 0
        else:
            result = optimize.minimize(
                problem.both,
                start,
                jac=True,
                method="L-BFGS-B",
                options={
                    "maxiter": most,
                    "maxfun": 2 * most,
                    "maxcor": 20,
                    "gtol": 1e-4,
                    "ftol": 1e-8,
                },
            )
            flat, self.n_iter_, self.converged_ = result.x, int(result.nit), bool(result.success)
        table = np.asarray(flat, dtype=np.float64).reshape(problem.groups, -1)
        self.coef_, self.intercept_ = table[:, :-1], table[:, -1]

    def predict_scores(self, X: Any, s: Vector | None = None) -> Floats:
        """Return each row's probability under the model of its group."""
        assert s is not None
        every = self._features(X) @ self.coef_.T + self.intercept_
        return expit(every[np.arange(len(every)), s])


class Objective:
    """Loss and gradient, with the rows sorted by group and the probabilities shared.

    The groups' features stand in one block-diagonal matrix, so that all log-odds are one product
    with all coefficients and the gradient is one product back.

    Parameters
    ----------
    matrix : array of shape (n, d)
        Features; a constant is appended.
    y, s : arrays
        Labels 0 / 1 and group numbers.
    w : array, optional
        Weights.
    eta : float
        Strength of the penalty.
    kind : {"exact", "reference"}
        Which gradient to give.
    """

    def __init__(
        self, matrix: Floats, y: Vector, s: Vector, w: Weights, *, eta: float, kind: str
    ) -> None:
        self.eta, self.kind = eta, kind
        self.groups = int(s.max()) + 1
        order = np.argsort(s, kind="stable")
        self.y = y[order].astype(np.float64)
        self._other = 1.0 - self.y
        self.w = None if w is None else w[order]
        self.s = s[order]
        self.size = np.bincount(self.s, self.w, self.groups)
        self.first = np.searchsorted(self.s, np.arange(self.groups))
        self.width = matrix.shape[1] + 1
        rows: Any = np.column_stack([matrix[order], np.ones(len(order))])
        self.compressed = np.count_nonzero(matrix) <= SPARSE_BELOW * matrix.size
        if self.compressed:
            rows = sparse.csr_array(rows)
        ends = [*self.first[1:], len(order)]
        self.parts = [slice(*pair) for pair in zip(self.first, ends, strict=True)]
        self.rows = [rows[part] for part in self.parts]
        if self.compressed:
            self._block = sparse.block_diag(self.rows, format="csr")
            self._back = self._block.T
        self._at: Floats | None = None

    def start(self) -> Floats:
        """Return the coefficients of one plain logistic regression per group."""
        table = np.zeros((self.groups, self.width))
        for g, part in enumerate(self.parts):
            if np.ptp(self.y[part]) > 0.0:  # else one label only, and nothing to fit
                weight = None if self.w is None else self.w[part]
                table[g] = fit_plain(self.rows[g], self.y[part], weight)
        return table.ravel()

    def value(self, flat: Floats) -> float:
        """Return the loss."""
        self._visit(flat)
        return self._value

    def gradient(self, flat: Floats) -> Floats:
        """Return the gradient of the loss, or what the reference used in its place."""
        self._visit(flat)
        p, w = self._p, self.w
        spread = p * (1.0 - p)
        miss = p - self.y
        if w is not None:
            spread, miss = spread * w, miss * w
        share, overall = self._share, self._overall
        tilt = self.eta * (np.log(share / overall) - np.log((1.0 - share) / (1.0 - overall)))
        if self.kind == "exact":
            grad = self._pull_back(miss + tilt[self.s] * spread)
        else:
            # Beyond the true derivative, the reference lets the overall rate move and sums its
            # effect over a group's own rows only; over all rows that effect is nil.
            both = self._pull_back(np.column_stack([miss, spread]))
            bend = both[:, 1].reshape(self.groups, -1)
            drift = self.eta * self.size * (share - overall) / (overall * (1.0 - overall))
            mean = bend.sum(axis=0) / self.size.sum()
            grad = both[:, 0] + (tilt[:, None] * bend - np.outer(drift, mean)).ravel()
        return grad + RIDGE * flat

    def both(self, flat: Floats) -> tuple[float, Floats]:
        """Return the loss and its gradient."""
        return self.value(flat), self.gradient(flat)

    def _visit(self, flat: Floats) -> None:
        """Compute the probabilities once per point; value and gradient ask for the same ones."""
        if self._at is not None and np.array_equal(self._at, flat):
            return
        z = np.clip(self._push(flat), -LIMIT, LIMIT)
        odds = np.exp(-z)
        p = 1.0 / (1.0 + odds)
        loss = np.log1p(odds) + self._other * z
        if self.w is None:
            total, mass = loss.sum(), np.add.reduceat(p, self.first)
        else:
            total, mass = self.w @ loss, np.add.reduceat(self.w * p, self.first)
        self._share = mass / self.size
        self._overall = mass.sum() / self.size.sum()
        penalty = self.size.sum() * _entropy(self._overall) - self.size @ _entropy(self._share)
        self._value = float(total + self.eta * penalty + 0.5 * RIDGE * (flat @ flat))
        self._at, self._p = flat.copy(), p

    def _push(self, flat: Floats) -> Floats:
        if self.compressed:
            return np.asarray(self._block @ flat)
        table = flat.reshape(self.groups, -1)
        return np.concatenate([own @ row for own, row in zip(self.rows, table, strict=True)])

    def _pull_back(self, values: Floats) -> Floats:
        if self.compressed:
            return np.asarray(self._back @ values)
        pairs = zip(self.rows, self.parts, strict=True)
        return np.concatenate([own.T @ values[part] for own, part in pairs])


def fit_plain(rows: Any, y: Floats, w: Weights) -> Floats:
    """Fit a logistic regression as scikit-learn did up to version 1.0, when the studies ran.

    It minimised the sum of the losses, where today's minimises their mean: with the same
    tolerance it stops elsewhere, and where it stops is where the published search begins.
    """
    sign, flipped = 2.0 * y - 1.0, 1.0 - 2.0 * y
    back = rows.T

    def loss(x: Floats) -> tuple[float, Floats]:
        margin = sign * (rows @ x)
        odds = np.exp(-np.maximum(margin, -500.0))
        each = np.log1p(odds)
        pull = odds / (1.0 + odds) * flipped
        if w is not None:
            each, pull = w * each, w * pull
        return float(each.sum() + 0.5 * RIDGE * (x @ x)), back @ pull + RIDGE * x

    result = optimize.minimize(
        loss,
        np.zeros(rows.shape[1]),
        jac=True,
        method="L-BFGS-B",
        options={"gtol": 1e-4, "maxiter": 100},
    )
    return result.x


def _entropy(share: Any) -> Any:
    """Return the entropy in nats of an event that is neither certain nor impossible."""
    return -share * np.log(share) - (1.0 - share) * np.log(1.0 - share)
