"""Learning fair representations as AIF360 had it until release 0.3.

Distances are squared and weighted by columns, with weights of its own for each group; losses are
sums; gradients are forward differences, whose error steers the few steps that the budget allows.
The labels enter as the numbers they are written with, 1 and 2 in German.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from isonomy._arrays import Floats
from isonomy.mitigators.base import Vector

STEP = 1e-5
"""Of the forward differences; it may lead out of the bounds, as SciPy's did up to 1.4."""


@dataclass(frozen=True)
class Parameters:
    """The vector that is optimised: column weights of both groups, scores, prototypes."""

    vector: Floats
    k: int

    @property
    def columns(self) -> int:
        """The number of columns of X."""
        return (len(self.vector) - self.k) // (self.k + 2)

    @property
    def weights(self) -> Floats:
        """Weights of the columns by group; the privileged group, number 1, comes first."""
        return self.vector[: 2 * self.columns].reshape(2, -1)[::-1]

    @property
    def scores(self) -> Floats:
        """Scores of the prototypes."""
        return self.vector[2 * self.columns : 2 * self.columns + self.k]

    @property
    def prototypes(self) -> Floats:
        """The prototypes, one per row."""
        return self.vector[2 * self.columns + self.k :].reshape(self.k, -1)

    def distances(self, X: Floats, s: Vector) -> Floats:
        """Return weighted squared distances (prototypes, rows)."""
        out = np.empty((self.k, len(X)))
        for group, weight in enumerate(self.weights):
            rows = X[s == group]
            own = np.zeros((self.k, len(rows)))
            for j, prototype in enumerate(self.prototypes):
                own[j] = (rows - prototype) ** 2 @ weight
            out[:, s == group] = own
        return out

    def mixtures(self, X: Floats, s: Vector) -> Floats:
        """Return rows as mixtures of the prototypes."""
        return np.asarray(shares(self.distances(X, s)).T @ self.prototypes)


def shares(distance: Floats) -> Floats:
    """Return the memberships (prototypes, rows); rows far from every prototype have none."""
    # Weights of columns may turn negative, and the exponentials then overflow, here as there.
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        near = np.exp(-distance)
        total = near.sum(axis=0)
        return np.asarray(near / np.where(total == 0, 1e-6, total))


def bounds(d: int, k: int) -> list[Any]:
    """Return the bounds of the parameters: scores lie between 0 and 1."""
    return [(None, None)] * (2 * d) + [(0.0, 1.0)] * k + [(None, None)] * (k * d)


def first_objective(
    X: Floats,
    y: Vector,
    s: Vector,
    k: int,
    weights: tuple[float, float, float],
    codes: Sequence[float],
) -> Callable[[Floats], tuple[float, Floats]]:
    """Make the function that gives loss and gradient by forward differences.

    A difference changes one column weight, score or coordinate, so that only what depends on it is
    computed again: memberships of one group, or those of one prototype.

    Examples
    --------
    >>> y, s = np.array([0, 1]), np.array([0, 1])
    >>> loss = first_objective(np.eye(2), y, s, 2, (0.01, 1.0, 50.0), (0, 1))
    >>> value, gradient = loss(np.array([1, 1, 1, 1, 0.2, 0.8, 1, 0, 0, 1.0]))
    >>> round(value, 4), gradient.shape
    (76.7936, (10,))
    """
    Ax, Ay, Az = weights
    d = X.shape[1]
    order = np.argsort(s, kind="stable")  # the unprivileged rows first, so that groups are slices
    X, first = np.ascontiguousarray(X[order]), int((s == 0).sum())
    label = np.asarray(codes, dtype=np.float64)[y[order]]
    slices = (slice(first), slice(first, len(X)))
    groups = s[order]
    signed = np.where(groups == 0, 1.0 / first, -1.0 / (len(X) - first))
    squares = float(np.vdot(X, X))

    def label_loss(raw: Floats) -> float:
        p = np.where(raw <= 0, 1e-6, raw)
        p = np.where(p >= 1, 0.999, p)
        return float(-(label @ np.log(p)) - (1.0 - label) @ np.log(1.0 - p))

    def total(M: Floats, scores: Floats, fit: float, gram: Floats) -> float:
        """Return the loss from memberships, the sum of M V X' and V V'."""
        rebuilt = squares - 2.0 * fit + float(((M @ M.T) * gram).sum())
        # summed prototype by prototype: at p = 1 the last bit decides what is cut off
        raw = np.zeros(M.shape[1])
        for share, score in zip(M, scores, strict=True):
            raw += share * score
        return Ax * rebuilt + Ay * label_loss(raw) + Az * float(np.abs(M @ signed).sum())

    def evaluate(vector: Floats) -> tuple[float, Floats]:
        at = Parameters(vector, k)
        V, scores = at.prototypes, at.scores
        distance = at.distances(X, groups)
        M, cross, gram = shares(distance), V @ X.T, V @ V.T
        fit = float(np.vdot(M, cross))
        value = total(M, scores, fit, gram)
        changed = np.empty(len(vector))
        for group, part in enumerate(slices):
            rows = X[part]
            for p in range(d):
                moved = M.copy()
                moved[:, part] = shares(
                    distance[:, part] + STEP * (rows[:, p] - V[:, p, None]) ** 2
                )
                place = p + d * (1 - group)
                changed[place] = total(moved, scores, float(np.vdot(moved, cross)), gram)
        for j in range(k):
            other = scores.copy()
            other[j] += STEP
            changed[2 * d + j] = total(M, other, fit, gram)
        weight = at.weights[groups]
        for j in range(k):
            for p in range(d):
                there = V[j, p] + STEP
                further = distance.copy()
                x = X[:, p]
                further[j] += weight[:, p] * ((x - there) ** 2 - (x - V[j, p]) ** 2)
                moved = shares(further)
                other = gram.copy()
                other[j] += STEP * V[:, p]
                other[:, j] += STEP * V[:, p]
                other[j, j] += STEP**2
                fitted = float(np.vdot(moved, cross)) + STEP * float(moved[j] @ x)
                changed[2 * d + k + j * d + p] = total(moved, scores, fitted, other)
        return value, (changed - value) / STEP

    return evaluate
