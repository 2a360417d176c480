"""Learning fair representations (Zemel et al., 2013): rows as mixtures of a few prototypes."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import minimize
from sklearn.utils import check_random_state

from isonomy._arrays import Floats
from isonomy._tables import as_matrix, like
from isonomy._validate import check_choice, check_least
from isonomy.mitigators import _lfr_first
from isonomy.mitigators._declared import ByParameters
from isonomy.mitigators._features import unit_scale
from isonomy.mitigators.base import MITIGATORS, TrainingSet, Vector, Weights
from isonomy.mitigators.stages import PreProcessor
from isonomy.models import one_thread

Objective = Callable[[Floats], tuple[float, Floats]]
EPS = float(np.finfo(np.float64).eps)


@MITIGATORS.register("learning_fair_representations", aliases=("lfr",))
class LearningFairRepresentations(PreProcessor):
    r"""Replaces each row by a mixture of a few prototypes that are as common in either group.

    Row :math:`x` belongs to prototype :math:`v_k` to the degree :math:`M_k = \mathrm{softmax}_k
    (-\lVert x - v_k \rVert)` and becomes :math:`\sum_k M_k v_k`. Prototypes and their scores are
    chosen to minimise :math:`A_x L_x + A_y L_y + A_z L_z`: how far rows are moved, the log loss of
    predicting y from M, and the mean difference between the groups in the prototypes' shares. The
    base learner is then fitted on the new rows and the old labels. Where the result predicts one
    class only, a warning says so. The protected attribute is not needed to predict.

    Notes
    -----
    **Protocols**

    ============  ==================================  =========================================
    what          as_published                        corrected
    ============  ==================================  =========================================
    optimiser     L-BFGS-B stopped after about        the same, ``max_iter`` iterations
                  5,000 / (k (d + 1) + 1)
                  evaluations, because the study's
                  library spent its budget of 5,000
                  on finite differences: far from
                  an optimum
    parity        an absolute value, at whose kink    rounded off within 0.001, so that the
                  the optimiser can get stuck with    search goes on; on one split each of
                  all rows alike                      Adult-sex, COMPAS-race and German-sex it
                                                      did not collapse at the default weights
    start         scores and prototypes uniform in    scores from 0.4 to 0.6, prototypes rows
                  0 to 1                              of the training set
    scale         as given                            columns scaled to 0 to 1 inside
    weights       ignored                             used
    ============  ==================================  =========================================

    Parameters
    ----------
    estimator, privileged, favorable, sensitive_columns, protocol, random_state
        See ``BaseMitigator``.
    k : int
        Number of prototypes.
    Ax, Ay, Az : float
        Weights of reconstruction, prediction and parity.
    max_iter : int
        Bound on the iterations of the corrected protocol.
    release : {"0.4", "0.3"}
        Which release of AIF360 the as_published protocol replays. Up to 0.3 the distances were
        squared and weighted by columns and groups, losses were sums, and the protected attribute
        is needed to predict.
    codes : pair of numbers
        The unfavourable and the favourable label as release 0.3 read them into its log loss: it
        took German's 1 and 2 for probabilities.

    Attributes
    ----------
    scores_ : array of shape (k,)
        Score of each prototype.
    prototypes_ : array of shape (k, d)
        The prototypes, in the scale of X.
    objective_ : float
        The value reached.
    evaluations_ : int
        How often value and gradient were computed.

    References
    ----------
    R. Zemel, Y. Wu, K. Swersky, T. Pitassi, C. Dwork, "Learning fair representations", ICML 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from isonomy.mitigators import LearningFairRepresentations
    >>> rng = np.random.default_rng(0)
    >>> s = rng.integers(0, 2, 200)
    >>> X = np.c_[s, rng.random((200, 2))]
    >>> y = (X.sum(axis=1) > 1.5).astype(int)
    >>> model = LearningFairRepresentations(Az=1.0).fit(X, y, sensitive_features=s)
    >>> model.prototypes_.shape
    (5, 3)
    """

    label = "LFR"
    advice = "Strong but blunt: lower Az until the result is not one class only."
    reference = "Zemel et al., ICML 2013"
    needs_numbers = True
    costly = True
    aims: ClassVar = {"demographic_parity": {}}
    strength_values: ClassVar = {"Az": (1.0, 5.0, 20.0, 50.0)}
    transform_uses_estimator = False
    randomized = True
    # in release 0.3 each group has weights of its own
    needs_sensitive_at_predict = ByParameters(False, lambda self: self._is_first)

    k: int = 5
    Ax: float = 0.01
    Ay: float = 1.0
    Az: float = 50.0
    max_iter: int = 300
    release: str = "0.4"
    codes: Sequence[float] = (0, 1)

    def resample(self, X: Any, y: Vector, s: Vector, w: Weights = None) -> TrainingSet:
        """Learn prototypes and return the rows as mixtures of them."""
        check_least("k, the number of prototypes,", self.k, 2)
        check_choice("release", self.release, ("0.4", "0.3"))
        matrix = as_matrix(X, who=self.name)
        d = matrix.shape[1]
        if self._is_first:
            return self._resample_first(X, matrix, y, s, w)
        self._low, self._span = (np.zeros(d), np.ones(d)) if self.published else unit_scale(matrix)
        scaled = (matrix - self._low) / self._span
        terms = (self.k, self.Ax, self.Ay, self.Az)
        # At the kink of the parity term L-BFGS-B stops at 0.56 on Adult; rounded off, at 0.43.
        weight, smooth = (None, 0.0) if self.published else (w, 1e-3)
        loss = objective(scaled, y, s, *terms, weight, smooth)
        start = self._start(scaled)
        bounds = [(0.0, 1.0)] * self.k + [(None, None)] * (self.k * d)
        result = self._minimise(loss, start, bounds)
        self.scores_ = result.x[: self.k]
        self._scaled_prototypes = result.x[self.k :].reshape(self.k, d)
        self.prototypes_ = self._scaled_prototypes * self._span + self._low
        self.objective_ = float(result.fun)
        return self.transform(X), y, s, w

    @property
    def _is_first(self) -> bool:
        return self.published and self.release == "0.3"

    def _resample_first(
        self, X: Any, matrix: Floats, y: Vector, s: Vector, w: Weights
    ) -> TrainingSet:
        """Learn as release 0.3 did."""
        d, k = matrix.shape[1], self.k
        terms = (self.Ax, self.Ay, self.Az)
        loss = _lfr_first.first_objective(matrix, y, s, k, terms, self.codes)
        start = check_random_state(self.random_state).uniform(size=2 * d + k + k * d)
        result = self._minimise(loss, start, _lfr_first.bounds(d, k))
        self._first = _lfr_first.Parameters(result.x, k)
        self.scores_, self.prototypes_ = self._first.scores, self._first.prototypes
        self.objective_ = float(result.fun)
        return self.transform(X, s), y, s, w

    def _minimise(self, loss: Objective, start: Floats, bounds: list[Any]) -> Any:
        # The budget of 5,000 went to forward differences: one gradient cost len(start) + 1.
        budget = 5000 / (len(start) + 1) if self.published else np.inf
        self.evaluations_ = 0

        def counted(parameters: Floats) -> tuple[float, Floats]:
            self.evaluations_ += 1
            return loss(parameters)

        def stop(intermediate_result: Any) -> None:
            if self.evaluations_ > budget:
                raise StopIteration

        with one_thread():
            return minimize(
                counted,
                start,
                jac=True,
                method="L-BFGS-B",
                bounds=bounds,
                callback=stop,
                options={"maxiter": 5000 if self.published else self.max_iter, "maxfun": 100_000},
            )

    def transform(self, X: Any, s: Vector | None = None) -> Any:
        """Return rows as mixtures of the prototypes."""
        matrix = as_matrix(X, who=self.name)
        if self._is_first:
            assert s is not None
            return like(X, self._first.mixtures(matrix, s))
        scaled = (matrix - self._low) / self._span
        return like(X, memberships(scaled, self._scaled_prototypes) @ self.prototypes_)

    def _start(self, scaled: Floats) -> Floats:
        rng = check_random_state(self.random_state)
        d = scaled.shape[1]
        if self.published:
            return np.asarray(rng.uniform(size=self.k + self.k * d))
        rows = rng.choice(len(scaled), self.k, replace=len(scaled) < self.k)
        # Equal rows would stay equal for ever: a little noise tells them apart.
        prototypes = scaled[rows] + rng.normal(0, 0.01, (self.k, d))
        return np.concatenate([np.linspace(0.4, 0.6, self.k), prototypes.ravel()])


def _distances(cross: Floats, norms: Floats, prototypes: Floats) -> Floats:
    """Return Euclidean distances (prototypes, rows) from V X', the rows' squared norms and V."""
    squared = cross * -2.0
    squared += norms
    squared += (prototypes**2).sum(axis=1)[:, None]
    np.maximum(squared, 0.0, out=squared)
    return np.sqrt(squared, out=squared)


def _shares(distance: Floats) -> Floats:
    """Return the softmax of minus the distances over the prototypes, which come first."""
    shares: Floats = np.exp(distance.min(axis=0) - distance)
    shares /= shares.sum(axis=0)
    return shares


def memberships(X: Floats, prototypes: Floats) -> Floats:
    """Return the degree to which each row belongs to each prototype."""
    norms = np.einsum("ij,ij->i", X, X)
    return _shares(_distances(prototypes @ X.T, norms, prototypes)).T


def objective(
    X: NDArray[Any],
    y: Vector,
    s: Vector,
    k: int = 5,
    Ax: float = 0.01,
    Ay: float = 1.0,
    Az: float = 50.0,
    w: Weights = None,
    smooth: float = 0.0,
) -> Objective:
    """Make the function that gives loss and gradient at (scores, prototypes), laid end to end.

    The reconstruction is never formed: its error needs only M, X V' and V V'. One-hot data are
    mostly zeros, so the two products with X are sparse where that is faster. ``smooth`` rounds off
    the kink of the absolute difference between the groups: |g| becomes
    sqrt(g**2 + smooth**2) - smooth.

    Examples
    --------
    >>> import numpy as np
    >>> loss = objective(np.eye(2), np.array([0, 1]), np.array([0, 1]), k=2)
    >>> value, gradient = loss(np.array([0.2, 0.8, 1, 0, 0, 1.0]))
    >>> round(value, 4), gradient.shape
    (30.8255, (6,))
    """
    X = np.ascontiguousarray(X, dtype=np.float64)
    n, d = X.shape
    norms = np.einsum("ij,ij->i", X, X)
    table: Any = sparse.csr_array(X) if np.count_nonzero(X) < 0.4 * X.size else X
    weight = np.ones(n) if w is None else np.asarray(w, dtype=np.float64)
    privileged = np.asarray(s) == 1
    mass = np.where(privileged, weight[privileged].sum(), weight[~privileged].sum())
    # Rows' parts in the three means: reconstruction within groups, log loss over all, parity.
    part = weight / mass
    to_rebuild = Ax * part / d
    to_predict = Ay * weight / weight.sum()
    signed = np.where(privileged, -part, part)
    favorable = np.asarray(y) == 1

    # Prototypes come first in all arrays: five long rows are summed faster than n short ones.
    def evaluate(parameters: Floats) -> tuple[float, Floats]:
        scores, prototypes = parameters[:k], parameters[k:].reshape(k, d)
        cross = np.ascontiguousarray((table @ prototypes.T).T)
        distance = _distances(cross, norms, prototypes)
        M = _shares(distance)
        mixed = prototypes @ prototypes.T @ M
        error = norms + (M * (mixed - 2.0 * cross)).sum(axis=0)
        raw = scores @ M
        p = np.clip(raw, EPS, 1.0 - EPS)
        gap = M @ signed
        size = np.sqrt(gap**2 + smooth**2)
        value = (
            to_rebuild @ error
            - to_predict @ np.log(np.where(favorable, p, 1.0 - p))
            + Az * (size - smooth).mean()
        )
        slope = np.where(raw == p, to_predict * (p - favorable) / (p * (1.0 - p)), 0.0)
        lean = np.divide(gap, size, out=np.zeros(k), where=size > 0)
        toward = 2.0 * to_rebuild * (mixed - cross)
        toward += scores[:, None] * slope
        toward += (Az / k * lean)[:, None] * signed
        # Through the softmax and the distance; at distance 0 the distance has no gradient.
        back = M * ((M * toward).sum(axis=0) - toward)
        pull = np.divide(back, distance, out=np.zeros_like(back), where=distance > 0)
        rebuilt = 2.0 * to_rebuild * M
        gradient = np.empty_like(parameters)
        gradient[:k] = M @ slope
        to_prototypes = (rebuilt @ M.T) @ prototypes + pull.sum(axis=1)[:, None] * prototypes
        to_prototypes -= (rebuilt + pull) @ table
        gradient[k:] = to_prototypes.ravel()
        return float(value), gradient

    return evaluate
