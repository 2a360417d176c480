"""The profiles of the generalised extreme value law: its parameters and its return level."""

import numpy as np
from numpy.typing import NDArray

from isonomy.tails.likelihood import Value, gev_value, growth
from isonomy.tails.newton import minimize
from isonomy.tails.profile import Rows

__all__ = ["GevProfile"]

Floats = NDArray[np.float64]


class GevProfile:
    """The profile of one coordinate of (location or level, log scale, shape).

    Parameters
    ----------
    x : array of (samples, values)
    theta : array of (samples, 3)
        The maximum-likelihood estimate: location, log scale, shape.
    index : int
        Which coordinate is held.
    log_rate : float, optional
        Replaces the location by the return level, ``location + scale * g(shape, log_rate)``.
    """

    def __init__(
        self, x: Floats, theta: Floats, index: int, *, log_rate: float | None = None
    ) -> None:
        self.x, self.index, self.log_rate = x, index, log_rate
        self.free = tuple(i for i in range(3) if i != index)
        self.warm = theta.copy()
        if log_rate is not None:
            self.warm[:, 0] += np.exp(theta[:, 1]) * growth(theta[:, 2], np.array(log_rate))[0]
        self.hessian = self.value(self.warm, np.arange(x.shape[0])).hessian

    def value(self, at: Floats, rows: Rows) -> Value:
        """Give the mean negative log-likelihood with derivatives in our coordinates."""
        x = self.x if rows.size == self.x.shape[0] else self.x[rows]
        if self.log_rate is None:
            return gev_value(at, x)
        scale = np.exp(at[:, 1])
        g, dg, ddg = growth(at[:, 2], np.array(self.log_rate))
        moved = at.copy()
        moved[:, 0] -= scale * g
        value, gradient, hessian = gev_value(moved, x)
        # location = level - scale * g(shape): one row of the Jacobian is not the identity's
        jacobian = np.broadcast_to(np.eye(3), hessian.shape).copy()
        jacobian[:, 0, 1], jacobian[:, 0, 2] = -scale * g, -scale * dg
        out = np.einsum("bji,bjk,bkl->bil", jacobian, hessian, jacobian)
        pull = gradient[:, 0] * scale
        out[:, 1, 1] -= pull * g
        out[:, 1, 2] -= pull * dg
        out[:, 2, 1] -= pull * dg
        out[:, 2, 2] -= pull * ddg
        return Value(value, np.einsum("bji,bj->bi", jacobian, gradient), out)

    def __call__(self, x: Floats, rows: Rows) -> tuple[Floats, Floats]:
        """Give the profile and its slope."""
        free = np.array(self.free)
        start = self.warm[rows].copy()
        step = x - start[:, self.index]
        start[:, self.index] = x
        # where the nuisance parameters go to first order, if that is allowed
        block = self.hessian[rows][:, free[:, None], free]
        side = self.hessian[rows][:, free, self.index]
        guess = start.copy()
        guess[:, free] -= step[:, None] * np.linalg.solve(block, side[..., None])[..., 0]
        allowed = np.isfinite(self.value(guess, rows).value)
        start = np.where(allowed[:, None], guess, start)
        point, found, _ = minimize(
            lambda at, which: self.value(at, rows[which]), start, free=self.free, tolerance=1e-8
        )
        fine = np.isfinite(found.value)
        self.warm[rows[fine]] = point[fine]
        self.hessian[rows[fine]] = found.hessian[fine]
        return found.value, found.gradient[:, self.index]

    def third(self, x: Floats, rows: Rows) -> tuple[Floats, Floats, Floats]:
        """Give the profile and its slope; there is no q here."""
        value, slope = self(x, rows)
        return value, slope, np.full(x.shape, np.nan)
