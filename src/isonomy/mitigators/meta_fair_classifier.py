"""Meta fair classifier (Celis et al., 2019): the best rule under a Gaussian model of the data."""

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from isonomy._arrays import Floats
from isonomy._validate import check_choice
from isonomy.errors import InputError, NotApplicable, UnmetConstraintWarning
from isonomy.mitigators._features import Features
from isonomy.mitigators.base import MITIGATORS, Vector, Weights
from isonomy.mitigators.stages import InProcessor

CELLS = np.array([[-1.0, 0.0], [-1.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
"""The four (label, group) whose densities are compared; columns of every posterior."""
SMOOTH = 0.01
"""Rounds off the kink of the dual's absolute value and positive part."""
CONSTRAINTS = ("fdr", "fpr", "ppr", "sr", "tpr")
FLOOR = 1e-6
"""Least variance of a direction, as a share of the largest, under the corrected protocol."""
MOST = 2000
"""Rows over which the corrected dual takes its mean."""
STEP = 0.02
"""Distance of the lower bounds that the corrected protocol tries."""
BLOCK = 2048
"""Rows whose distances from the centre are taken at a time: what is in the way stays in the cache."""
FRACTIONAL = ("fdr", "ppr")
PUBLISHED = ("fdr", "sr")


@MITIGATORS.register("meta_fair_classifier", aliases=("mfc",))
class MetaFairClassifier(InProcessor):
    r"""The most accurate rule whose group rates are within a ratio, for data taken as Gaussian.

    Features, label and group are modelled as one normal distribution, which gives
    :math:`P(y, s \mid x)`. For a lower and an upper bound on a rate of every group the best rule
    is a threshold on :math:`P(y{=}1|x) - \tfrac12` plus a sum of :math:`P(y, s|x)`, whose
    multipliers minimise the dual; of the rules for a grid of bounds the most accurate one is kept
    among those whose smallest group rate is at least ``tau`` of the largest.

    Notes
    -----
    **Protocols**

    ============  =============================  ===========================================
    what          as_published                   corrected
    ============  =============================  ===========================================
    dual          mean of :math:`|t|`, which     mean of the positive part of :math:`t`:
                  holds a rate between           rates between :math:`a` and :math:`b`;
                  :math:`(1+a)/2` and            no multiplier of a bound is negative
                  :math:`(1+b)/2`; for ``fdr``
                  multipliers of any sign
    expectation   20 points drawn from the       the training rows, at most 2,000 of them
                  normal distribution
    search        nine starts of 49 steps; of    the minimum, by Newton's method
                  the start that met the
                  minimum, where it ended
    bounds        a = 0, 0.1, ... and            a = 0.02, 0.04, ... and b = a / ``tau``
                  b = (a + 0.01) / ``tau``
    kept if       ratio at least ``tau`` - 0.2,  ratio at least ``tau`` and not less accurate than
                  else the unconstrained rule    one label for all rows, else the unconstrained
                                                 rule, with a warning
    constraint    ``fdr`` unless another is      ``sr`` unless another is named
                  named
    collinear     directions without variance    they have a little variance, so a group
    columns       are ignored, so a group shown  shown by the features is known
                  by the features is not known
    densities     exponentials, which overflow   logarithms
                  with many columns; 0/0 is
                  unfavourable
    score         :math:`(t+1)/2`                :math:`t + 1/2`, the model's probability
                                                 where no constraint binds
    features      as given                       scaled to 0 ... 1 inside
    ============  =============================  ===========================================

    The published results for COMPAS, with 401 columns, are those overflows: with but few
    exceptions both constraints give the same labels there.

    Parameters
    ----------
    estimator : None
        Not used: the method is its own model.
    constraint : {"fdr", "fpr", "ppr", "sr", "tpr"}, optional
        The rate to hold equal: of false discoveries P(y=0 | favourable), of false positives, of
        true discoveries P(y=1 | favourable), of favourable predictions, of true positives. The
        published study has ``fdr`` and ``sr``. When None, as the protocol says. Rates of errors
        (``fdr``, ``fpr``) may be made equal by more errors in the better-served group: look at
        the accuracy, and at the rates of favourable predictions.
    tau : float, default 0.8
        The ratio of group rates to reach, between 0 and 1.
    privileged, favorable, sensitive_columns, protocol, random_state
        As for every mitigator; a RandomState is drawn from as the published code drew from
        NumPy's global one.

    Attributes
    ----------
    gaussian_ : Gaussian
        The normal distribution of features, label and group.
    bounds_ : tuple of float
        The lower and upper bound that the kept rule was made for.
    rule_ : array of 4 floats
        What is added to :math:`P(y{=}1|x) - \tfrac12`: the weights, per group, of the rate's
        numerator and of its denominator.
    constraint_ : str
        The rate that is held equal.
    ratio_ : float
        The ratio reached on the training rows, NaN where the unconstrained rule was kept.

    References
    ----------
    L. E. Celis, L. Huang, V. Keswani and N. K. Vishnoi, "Classification with fairness
    constraints: a meta-algorithm with provable guarantees", FAT* 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from isonomy.mitigators import MetaFairClassifier
    >>> rng = np.random.default_rng(0)
    >>> s = rng.integers(0, 2, 600)
    >>> X = rng.normal(size=(600, 2)) + s[:, None]
    >>> y = (X[:, 0] + rng.normal(size=600) > 0.5).astype(int)
    >>> model = MetaFairClassifier(constraint="sr", tau=0.9).fit(X, y, sensitive_features=s)
    >>> bool(model.ratio_ >= 0.9)
    True
    """

    label = "MFC"
    advice = "For a ratio of rates as target, when the features are near normal."
    reference = "Celis, Huang, Keswani and Vishnoi, FAT* 2019"
    needs_numbers = True
    aims: ClassVar = {
        "demographic_parity": {"constraint": "sr"},
        "equal_opportunity": {"constraint": "tpr"},
        "predictive_equality": {"constraint": "fpr"},
        "predictive_parity": {"constraint": "fdr"},
    }
    strength_values: ClassVar = {"tau": (0.6, 0.7, 0.8, 0.9)}
    uses_estimator = False
    randomized = True
    corrected_version = "2"  # sr by default; rules of no use are not kept

    constraint: str | None = None
    tau: float = 0.8

    def fit_model(self, X: Any, y: Vector, s: Vector, w: Weights = None) -> None:
        """Fit the normal distribution, then a rule for each pair of bounds."""
        self.constraint_ = self.constraint or ("fdr" if self.published else "sr")
        check_choice("constraint", self.constraint_, CONSTRAINTS)
        if self.published and self.constraint_ not in PUBLISHED:
            raise NotApplicable(
                f"as_published knows the constraints fdr and sr only; got {self.constraint_!r}: "
                f"use the protocol 'corrected'."
            )
        if not 0 < self.tau <= 1:
            raise InputError(f"tau must be above 0 and at most 1; got {self.tau}.")
        self._features, matrix = Features.learn(X, who=self.name, scale=not self.published)
        self.gaussian_ = Gaussian.learn(matrix, y, s, w, drop=self.published)
        cells = np.bincount(2 * y + s, w, 4)
        self._shares = cells / cells.sum()
        fractional = self.constraint_ in FRACTIONAL
        needed = cells[:2] + cells[2:] if fractional else self._counted(cells)
        if not needed.all():
            raise NotApplicable(
                f"{self.name} needs rows of every group to hold their {self.constraint_} equal; a "
                f"group has none of that label: choose another constraint."
            )
        base, terms = self._terms(matrix)
        rng = check_random_state(self.random_state)
        if self.published:
            low = np.arange(0.0, np.ceil(self.tau / 0.01), 10) * 0.01
            high = np.minimum(1.0, (low + 0.01) / self.tau)
            points = self.gaussian_.draw(rng, len(low) * 20)
            start, slopes = self._terms(points)
            shape = (len(low), 20)
            rules = descend(start.reshape(shape), slopes.reshape(*shape, 4), low, high, fractional)
        else:
            low = np.append(np.arange(STEP, self.tau, STEP), self.tau)
            high = low / self.tau
            some = np.arange(len(y)) if len(y) <= MOST else rng.permutation(len(y))[:MOST]
            weight = np.ones(len(some)) if w is None else w[some]
            rules = minimise(base[some], terms[some], weight / weight.sum(), low, high, fractional)
        chosen, ratio = self._best(base, terms, rules, 2 * y + s, w)
        if chosen is None:
            if not self.published:
                warnings.warn(
                    f"{self.name} found no rule with a ratio of the groups' {self.constraint_} of "
                    f"at least {self.tau} that is as accurate as one label for all; the "
                    f"unconstrained rule is kept: lower tau or choose another constraint.",
                    UnmetConstraintWarning,
                    stacklevel=4,
                )
            self.rule_, self.bounds_, self.ratio_ = np.zeros(4), (0.0, 0.0), float("nan")
        else:
            self.rule_, self.ratio_ = rules[chosen], ratio
            self.bounds_ = (float(low[chosen]), float(high[chosen]))

    def predict_labels(self, X: Any, s: Vector | None = None) -> Vector:
        """Return 1 where the rule is above 0."""
        return (self._rule(X) > 0.0).astype(np.intp)

    def predict_scores(self, X: Any, s: Vector | None = None) -> Floats:
        """Return the rule's value on the scale of a probability, within 0 and 1."""
        t = self._rule(X)
        score = (t + 1.0) / 2.0 if self.published else t + 0.5
        # Densities that overflow leave no value, and the published rule then says no.
        return np.clip(np.nan_to_num(score, nan=0.0), 0.0, 1.0)

    def _rule(self, X: Any) -> Floats:
        base, terms = self._terms(self._features(X))
        return base + terms @ self.rule_

    def _terms(self, matrix: Floats) -> tuple[Floats, Floats]:
        """Return the unconstrained rule, and per group the rate's numerator and denominator."""
        p = self.gaussian_.posterior(matrix, plain=self.published)
        # What the rate divides by is known where it does not depend on the rule.
        share = 1.0 if self.constraint_ in FRACTIONAL else self._counted(self._shares)
        terms = np.hstack([self._counted(p.T).T / share, p[:, :2] + p[:, 2:]])
        return p[:, 2] + p[:, 3] - 0.5, terms

    def _counted(self, cells: Vector) -> Vector:
        """Return, per group, what the rate counts of the four cells: a label, or both."""
        if self.constraint_ == "sr":
            return cells[:2] + cells[2:]
        return cells[2:] if self.constraint_ in ("ppr", "tpr") else cells[:2]

    def _best(
        self, base: Floats, terms: Floats, rules: Floats, cell: Vector, w: Weights
    ) -> tuple[int | None, float]:
        """Return the most accurate rule whose ratio of rates suffices, and that ratio."""
        yes = (base[:, None] + terms @ rules.T > 0.0).astype(np.float64)
        member = np.zeros((4, len(cell)))
        member[cell, np.arange(len(cell))] = 1.0 if w is None else w
        taken = member @ yes
        total = member.sum(axis=1)[:, None]
        right = taken[2:].sum(axis=0) + (total[:2] - taken[:2]).sum(axis=0)
        fractional = self.constraint_ in FRACTIONAL
        bottom = taken[:2] + taken[2:] if fractional else self._counted(total)
        rate = np.divide(
            self._counted(taken), bottom, out=np.zeros_like(taken[:2]), where=bottom > 0
        )
        most = rate.max(axis=0)
        # A group without a single one counts as a ratio of 0, here as in the reference.
        ratio = np.divide(rate.min(axis=0), most, out=np.zeros_like(most), where=most > 0)
        enough = ratio >= self.tau - 0.2
        if not self.published:
            # To raise a low rate of errors, a rule may err where it need not: of no use to anyone.
            of_label = total[2:].sum()
            enough = (ratio >= self.tau) & (right >= max(of_label, total.sum() - of_label))
        if not enough.any():
            return None, float("nan")
        chosen = int(np.argmax(np.where(enough, right, -1.0)))
        return chosen, float(ratio[chosen])


@dataclass
class Gaussian:
    """A normal distribution of features, label (-1, 1) and group (0, 1), singular or not.

    Parameters
    ----------
    mean : array of shape (d + 2,)
        Its centre.
    root : array of shape (d + 2, rank)
        A root of the precision on the space that the covariance spans.
    covariance : array of shape (d, d)
        That of the features.
    log_scale : float
        Logarithm of the density at the centre.
    """

    mean: Floats
    root: Floats
    covariance: Floats
    log_scale: float

    @classmethod
    def learn(cls, matrix: Floats, y: Vector, s: Vector, w: Weights, *, drop: bool) -> "Gaussian":
        """Fit by moments; directions without variance are dropped or given a little."""
        beside = np.column_stack([2.0 * y - 1.0, s])
        mean = np.average(matrix, axis=0, weights=w), np.average(beside, axis=0, weights=w)
        # The features by themselves: the last bits of their covariance decide the signs of its
        # singular vectors, hence what is drawn; this form gives what was drawn for German seeds 2-5.
        weight = np.ones(len(y)) if w is None else w
        norm = weight.sum() - (weight @ weight) / weight.sum()
        around = matrix - mean[0]
        inner = around.T @ (around if w is None else around * w[:, None])
        inner *= 1.0 / norm  # as NumPy's cov has it, whose mean of the features is ours
        centred = beside - mean[1]
        weighted = centred * (weight / norm)[:, None]
        cross = (weighted.T @ matrix).T  # three times as fast as matrix.T @ weighted
        outer = centred.T @ weighted
        values, vectors = np.linalg.eigh(np.block([[inner, cross], [cross.T, outer]]))
        if drop:
            kept = values > 1e6 * np.finfo(np.float64).eps * np.abs(values).max()
            values, vectors = values[kept], vectors[:, kept]
        else:
            values = np.maximum(values, FLOOR * values.max())
        log_scale = -0.5 * float(len(values) * np.log(2.0 * np.pi) + np.log(values).sum())
        return cls(np.concatenate(mean), vectors / np.sqrt(values), inner, log_scale)

    def posterior(self, matrix: Floats, *, plain: bool) -> Floats:
        """Return P(label, group | x), columns in the order of ``CELLS``.

        The four log-densities differ by a linear function of x. With ``plain`` the densities
        themselves are divided, which overflows or underflows where the reference did.
        """
        beside = (CELLS - self.mean[-2:]) @ self.root[-2:]
        slope = -self.root[:-2] @ beside.T
        constant = 0.5 * (beside**2).sum(axis=1)
        if plain:
            logs = np.empty((len(matrix), len(CELLS)))
            slope = np.hstack([slope, self.root[:-2]])
            origin = self.mean[:-2] @ slope
            for start in range(0, len(matrix), BLOCK):
                rows = slice(start, start + BLOCK)
                moved = matrix[rows] @ slope
                moved -= origin
                distance = np.einsum("ij,ij->i", moved[:, 4:], moved[:, 4:])
                logs[rows] = moved[:, :4] - constant
                logs[rows] += (self.log_scale - 0.5 * distance)[:, None]
        else:
            logs = matrix @ slope
            logs -= self.mean[:-2] @ slope
            logs -= constant
            logs -= logs.max(axis=1, keepdims=True)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            density = np.exp(logs)
            share: Floats = density / density.sum(axis=1, keepdims=True)
        return share

    def draw(self, rng: np.random.RandomState, n: int) -> Floats:
        """Draw features, by the same numbers as ``RandomState.multivariate_normal``."""
        normal = rng.standard_normal((n, len(self.covariance)))
        _, values, vectors = np.linalg.svd(self.covariance)
        return np.asarray(normal @ (np.sqrt(values)[:, None] * vectors) + self.mean[:-2])


def descend(base: Floats, terms: Floats, low: Floats, high: Floats, fractional: bool) -> Floats:
    """Search as the reference does, for all bounds and all starts at once.

    Parameters
    ----------
    base : array of shape (bounds, points)
        The unconstrained rule at the drawn points.
    terms : array of shape (bounds, points, 4)
        Numerators and denominators of both groups there.
    low, high : arrays of shape (bounds,)
        The bounds.
    fractional : bool
        Whether the denominator of the rate depends on the rule.

    Returns
    -------
    array of shape (bounds, 4)
        The rules.
    """
    a, b = low[:, None, None], high[:, None, None]
    slope = terms[..., :2]
    start = np.arange(1.0, 10.0)
    if fractional:
        slope = np.concatenate([slope - a * terms[..., 2:], b * terms[..., 2:] - slope], axis=2)
    else:
        start -= 5.0
    size = slope.shape[2]
    x = np.tile(start[:, None], (len(low), 1, size)).reshape(len(low), 9, size)
    seen_t, seen_x = np.empty((49, len(low), 9, base.shape[1])), np.empty((49, *x.shape))
    across = slope.swapaxes(1, 2)
    t = base[:, None] + x @ across
    for k in range(1, 50):
        grad = (t / np.sqrt(t * t + SMOOTH**2)) @ slope / t.shape[2]
        if not fractional:
            grad += (b - a) * (0.5 + x / (2.0 * np.sqrt(x * x + SMOOTH**2))) - b
        x = x - grad / k
        t = base[:, None] + x @ across
        seen_t[k - 1], seen_x[k - 1] = t, x
    value = np.abs(seen_t).mean(axis=3)
    if not fractional:
        value += ((b - a) * np.maximum(seen_x, 0.0) - b * seen_x).sum(axis=3)
    value[~(value < 2.0**32)] = np.inf  # points without a density never improve on the start
    flat = np.moveaxis(value, 0, 2).reshape(len(low), -1)
    best = flat.argmin(axis=1)
    # The reference remembers the list that it goes on changing: the start that saw the minimum,
    # but where that start ended.
    x = x[np.arange(len(low)), best // 49]
    x[np.isinf(flat.min(axis=1))] = 0.0
    if fractional:
        return _as_rule(x[:, :2], x[:, 2:], low, high, fractional)
    return _as_rule(x, np.zeros_like(x), low, high, fractional)


def minimise(
    base: Floats, terms: Floats, weight: Floats, low: Floats, high: Floats, fractional: bool
) -> Floats:
    """Minimise the dual for all bounds at once, by Newton's method.

    To maximise accuracy with a <= rate <= b in both groups has the dual: the mean of the positive
    part of t, less a times the multipliers of the lower bounds, plus b times those of the upper
    ones. Of a group's two multipliers one is 0 at the minimum, so their difference x stands for
    both, and what the bounds cost is the convex c(x) = -b x + (b - a) max(x, 0). Where the
    denominator of the rate depends on the rule, c(x) multiplies it inside t instead. Both kinks
    are rounded off, first much and then little.

    Parameters
    ----------
    base : array of shape (rows,)
        The unconstrained rule.
    terms : array of shape (rows, 4)
        Numerators and denominators of both groups.
    weight : array of shape (rows,)
        Weights that sum to 1.
    low, high : arrays of shape (bounds,)
        The bounds.
    fractional : bool
        Whether the denominator of the rate depends on the rule.

    Returns
    -------
    array of shape (bounds, 4)
        The rules.
    """
    x = np.zeros((len(low), 2))
    a, b = low[:, None], high[:, None]
    for smooth in (0.1, 0.03, SMOOTH, SMOOTH / 3):
        damp = np.full(len(low), 1e-6)
        value, grad, hess = dual(x, base, terms, weight, a, b, fractional, smooth)
        for _ in range(12):
            # Two unknowns each: the damped system is solved by hand.
            p, q, r = hess[:, 0] + damp, hess[:, 1], hess[:, 2] + damp
            step = np.column_stack(
                [r * grad[:, 0] - q * grad[:, 1], p * grad[:, 1] - q * grad[:, 0]]
            )
            tried = x - step / (p * r - q * q)[:, None]
            result = dual(tried, base, terms, weight, a, b, fractional, smooth)
            better = result[0] <= value
            x = np.where(better[:, None], tried, x)
            gain = np.where(better, value - result[0], np.inf).max()
            value = np.where(better, result[0], value)
            grad = np.where(better[:, None], result[1], grad)
            hess = np.where(better[:, None], result[2], hess)
            damp = np.where(better, damp / 8.0, damp * 64.0)
            if gain < 1e-9:
                break
    return _as_rule(np.maximum(x, 0.0), np.maximum(-x, 0.0), low, high, fractional)


def dual(
    x: Floats,
    base: Floats,
    terms: Floats,
    weight: Floats,
    a: Floats,
    b: Floats,
    fractional: bool,
    smooth: float,
) -> tuple[Floats, Floats, Floats]:
    """Return the dual, its gradient and its second derivatives (00, 01, 11), per bounds."""
    far = np.sqrt(x * x + smooth**2)
    cost = 0.5 * (b - a) * (x + far) - b * x
    cost1 = 0.5 * (b - a) * (1.0 + x / far) - b
    cost2 = 0.5 * (b - a) * smooth**2 / far**3
    t = terms[:, :2] @ x.T + base[:, None]
    if fractional:
        t += terms[:, 2:] @ cost.T
    length = np.sqrt(t * t + smooth**2)
    value = 0.5 * (weight @ (t + length))
    lean = 0.5 * (1.0 + t / length)
    bend = 0.5 * smooth**2 / length**3
    first = lean.T @ (terms * weight[:, None])
    n0, n1, s0, s1 = terms.T
    square = [n0 * n0, n0 * n1, n1 * n1]
    if fractional:
        square += [n0 * s0, n0 * s1, n1 * s0, n1 * s1, s0 * s0, s0 * s1, s1 * s1]
    second = bend.T @ (np.column_stack(square) * weight[:, None])
    if not fractional:
        hess = second.copy()
        hess[:, [0, 2]] += cost2
        return value + cost.sum(axis=1), first[:, :2] + cost1, hess
    u, v = cost1.T
    hess = np.column_stack(
        [
            second[:, 0] + 2.0 * u * second[:, 3] + u * u * second[:, 7],
            second[:, 1] + v * second[:, 4] + u * second[:, 5] + u * v * second[:, 8],
            second[:, 2] + 2.0 * v * second[:, 6] + v * v * second[:, 9],
        ]
    )
    hess[:, [0, 2]] += first[:, 2:] * cost2
    return value, first[:, :2] + cost1 * first[:, 2:], hess


def _as_rule(lower: Floats, upper: Floats, low: Floats, high: Floats, fractional: bool) -> Floats:
    """Return the weights of numerators and denominators that multipliers of bounds amount to."""
    size = high[:, None] * upper - low[:, None] * lower if fractional else np.zeros_like(lower)
    return np.hstack([lower - upper, size])
