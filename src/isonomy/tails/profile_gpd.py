"""The profiles of the generalised Pareto law: shape, scale, end of the tail and return level.

With theta = shape / scale the data enter through B(theta) = mean of log(1 + theta y) / theta
alone: the mean negative log-likelihood is ``log(scale) + (1 + shape) * B(theta) / scale``.
"""

import numpy as np

from isonomy._arrays import Floats, Rows
from isonomy.tails.laws import gpd_value, means, transform
from isonomy.tails.profile import crossing


class _Gpd:
    """What the profiles of one batch of excesses share.

    Parameters
    ----------
    y : array of (samples, excesses)
        In units of their mean.
    scale, shape : array of (samples,)
        The maximum-likelihood estimate.
    """

    def __init__(self, y: Floats, scale: Floats, shape: Floats) -> None:
        self.y, self.top = y, y.max(axis=1)
        self.scale, self.shape = scale, shape
        self.ready = False
        # where the last evaluation was: scale, shape, how both move with the nuisance parameter
        # and the curvature in it
        self.kept = np.ones((scale.size, 5))

    def rows_of(self, rows: Rows) -> Floats:
        return self.y if rows.size == self.y.shape[0] else self.y[rows]

    def means(self, theta: Floats, rows: Rows) -> tuple[Floats, Floats, Floats]:
        """Return B(theta) and its first two derivatives."""
        result = means(self.rows_of(rows), theta)
        return result.ell, result.a, result.b

    def prepare(self) -> None:
        """Compute what the tangent exponential model needs at the estimate, once."""
        _, v, a, _, _ = transform(self.y / self.scale[:, None], self.shape)
        # how each observation moves with the parameters while its probability is held
        self.carry = np.stack([self.y, -a * self.scale[:, None] / v])
        self.phi, self.jacobian = self.canonical(self.scale, self.shape, np.arange(self.y.shape[0]))
        at = np.stack([np.log(self.scale), self.shape], axis=-1)
        self.information = gpd_value(at, self.y).hessian
        self.ready = True

    def canonical(self, scale: Floats, shape: Floats, rows: Rows) -> tuple[Floats, Floats]:
        """Return the tangent model's canonical parameter and its Jacobian in (log scale, shape)."""
        y = self.rows_of(rows)
        carry = self.carry if rows.size == self.y.shape[0] else self.carry[:, rows]
        n, up = y.shape[1], 1.0 + shape
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            u = 1.0 / (scale[:, None] + shape[:, None] * y)
            u2 = u * u
            once = np.einsum("cij,ij->ic", carry, u) / n
            twice = np.einsum("cij,ij->ic", carry, u2) / n
            tilted = np.einsum("cij,ij->ic", carry, y * u2) / n
            by_scale = (up * scale)[:, None] * twice
            by_shape = up[:, None] * tilted - once
            return -up[:, None] * once, np.stack([by_scale, by_shape], axis=-1)

    def keep(self, rows: Rows, *parts: Floats | float) -> None:
        """Remember where the profile was evaluated, for `third`."""
        self.kept[rows] = np.stack(np.broadcast_arrays(*parts), axis=-1)

    def __call__(self, x: Floats, rows: Rows) -> tuple[Floats, Floats]:
        """Return the profile and its slope."""
        raise NotImplementedError

    def third(self, x: Floats, rows: Rows) -> tuple[Floats, Floats, Floats]:
        """Return the profile, its slope and |q|."""
        value, slope = self(x, rows)
        if not self.ready:
            self.prepare()
        scale, shape, along_scale, along_shape, bend = self.kept[rows].T
        along = np.stack([along_scale, along_shape], axis=-1)
        phi, jacobian = self.canonical(scale, shape, rows)
        with np.errstate(invalid="ignore", divide="ignore"):
            turn = np.einsum("bij,bj->bi", jacobian, along)
            gap = self.phi[rows] - phi
            q = self.size(gap, turn, jacobian, bend, rows)
        return value, slope, q

    def size(self, gap: Floats, turn: Floats, jacobian: Floats, bend: Floats, rows: Rows) -> Floats:
        """Return |q| where the nuisance parameter moves the canonical one along a direction."""
        cross = np.abs(gap[:, 0] * turn[:, 1] - gap[:, 1] * turn[:, 0])
        norm = np.sqrt(np.linalg.det(self.information[rows]) / bend)
        norm /= np.abs(np.linalg.det(self.jacobian[rows]))
        return np.asarray(np.sqrt(self.y.shape[1]) * cross * norm)


class Shape(_Gpd):
    """The profile of the shape: the best scale solves a monotone equation."""

    def __init__(self, y: Floats, scale: Floats, shape: Floats) -> None:
        super().__init__(y, scale, shape)
        self.warm = np.log(scale)

    def __call__(self, x: Floats, rows: Rows) -> tuple[Floats, Floats]:
        """Return the profile and its slope."""
        log_top = np.log(self.top[rows])
        short = np.log(np.maximum(-x, 1e-300))
        low = np.maximum(log_top - 40.0, np.where(x < 0, short + log_top + 1e-12, -np.inf))
        high = np.maximum(log_top + 5.0, low)

        def score(s: Floats, which: Rows) -> tuple[Floats, Floats]:
            shape = x[which]
            w = self.rows_of(rows[which]) * np.exp(-s)[:, None]
            v = 1.0 / (1.0 + shape[:, None] * w)
            wv = w * v
            up = 1.0 + shape
            return 1.0 - up * wv.mean(axis=1), up * np.einsum("ij,ij->i", wv, v) / w.shape[1]

        s = crossing(score, self.warm[rows], low, high)
        self.warm[rows] = s
        sigma = np.exp(s)
        b, db, ddb = self.means(x / sigma, rows)
        theta = x / sigma
        value = s + (1.0 + x) * b / sigma
        slope = b / sigma + (1.0 + x) * db / sigma**2
        # the second derivative in log scale, from B
        bend = (1.0 + x) / sigma * (b + 3.0 * theta * db + theta**2 * ddb)
        self.keep(rows, sigma, x, 1.0, 0.0, np.where(s < high - 1e-9, bend, np.nan))
        return np.where(x > -1.0, value, np.inf), slope


class Scale(_Gpd):
    """The profile of the logarithm of the scale."""

    def __init__(self, y: Floats, scale: Floats, shape: Floats) -> None:
        super().__init__(y, scale, shape)
        self.warm = shape.copy()

    def __call__(self, x: Floats, rows: Rows) -> tuple[Floats, Floats]:
        """Return the profile and its slope."""
        sigma = np.exp(x)
        low = np.maximum(-1.0, -sigma / self.top[rows] * (1.0 - 1e-12))
        high = np.maximum(20.0, low)

        def score(xi: Floats, which: Rows) -> tuple[Floats, Floats]:
            at = sigma[which]
            b, db, ddb = self.means(xi / at, rows[which])
            up = 1.0 + xi
            return b / at + up * db / at**2, 2.0 * db / at**2 + up * ddb / at**3

        xi = crossing(score, self.warm[rows], low, high)
        self.warm[rows] = xi
        theta = xi / sigma
        b, db, ddb = self.means(theta, rows)
        bend = 2.0 * db / sigma**2 + (1.0 + xi) * ddb / sigma**3
        held = (xi > high - 1e-9) | (xi < -1.0 + 1e-9)
        self.keep(rows, sigma, xi, 0.0, 1.0, np.where(held, np.nan, bend))
        value = x + (1.0 + xi) * b / sigma
        return value, 1.0 - (1.0 + xi) * (b + theta * db) / sigma


class End(_Gpd):
    """The profile of theta, in closed form; the tail ends at -1 / theta where that is negative."""

    def __call__(self, x: Floats, rows: Rows) -> tuple[Floats, Floats]:
        """Return the profile and its slope."""
        b, db, _ = self.means(x, rows)
        shape = x * b
        # at the best scale, b, the second derivative in its logarithm is b / scale = 1
        self.keep(rows, b, shape, 1.0, shape, 1.0)
        value = np.log(b) + shape + 1.0
        # where the likelihood is largest at shape -1, that law up to any later end is allowed too
        held = (shape <= -1.0) & (self.shape[rows] <= -1.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            uniform = np.log(-1.0 / x)
            slope = np.where(held, -1.0 / x, db / b + b + x * db)
        return np.where(shape > -1.0, value, np.where(held, uniform, np.inf)), slope


class Level(_Gpd):
    """The profile of the logarithm of the excess that is passed once in ``rate * n / k`` queries.

    The nuisance is theta, since the data enter through B(theta) alone. Where the share of
    exceedances, k / n, is itself an estimate, the expected number of exceedances within the
    horizon is a second one; it is fitted inside each evaluation from the binomial likelihood, at
    no cost in data.

    Parameters
    ----------
    log_rate : float
        Logarithm of the exceedances expected within the horizon, above 0.
    n : int
        The observations that the excesses were taken from; as many as excesses where the rate is
        known.
    """

    def __init__(
        self,
        y: Floats,
        scale: Floats,
        shape: Floats,
        *,
        log_rate: float,
        n: int,
    ) -> None:
        super().__init__(y, scale, shape)
        self.warm = shape / scale
        self.log_rate, self.known = log_rate, n == y.shape[1]
        self.others = n / y.shape[1] - 1.0
        self.log_m = log_rate + np.log(n / y.shape[1])
        self.rate = np.ones((scale.size, 2))
        self.warm_rate = np.full(scale.size, log_rate)
        self.least = 0.0 if self.known else float(self._share(np.array(log_rate))[0])

    def _share(self, L: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the rate's mean negative log-likelihood and two derivatives in L."""
        share = np.exp(L - self.log_m)
        odds = share / (1.0 - share)
        return (
            -(L - self.log_m) - self.others * np.log1p(-share),
            self.others * odds - 1.0,
            self.others * odds / (1.0 - share),
        )

    def _rate(self, ratio: Floats, rows: Rows) -> tuple[Floats, Floats, Floats]:
        """Return the best L for B / A, what its rate costs, and the curvature in L."""
        if self.known:
            L = np.full(ratio.shape, self.log_rate)
            return L, np.zeros_like(L), np.full_like(L, np.inf)
        L = self.warm_rate[rows]
        for _ in range(50):
            _, slope, bend = self._share(L)
            step = (slope + ratio - 1.0 / L) / (bend + 1.0 / L**2)
            L = np.minimum(np.maximum(L - step, L / 4.0), 0.5 * (L + self.log_m))
            if np.abs(step).max(initial=0.0) < 1e-6:
                break  # the next one would be of 1e-12
        self.warm_rate[rows] = L
        cost, _, bend = self._share(L)
        return L, cost - self.least, bend + 1.0 / L**2

    def _pieces(self, r: Floats, theta: Floats, rows: Rows) -> tuple[Floats, ...]:
        A, _, dA, ddA = (part[:, 0] for part in transform(r[:, None], theta)[:4])
        B, dB, ddB = self.means(theta, rows)
        L, cost, bend = self._rate(B / A, rows)
        cross = dB / A - B * dA / A**2
        first = dA / A + B + theta * dB + L * cross
        second = ddA / A - (dA / A) ** 2 + 2.0 * dB + theta * ddB
        second += L * (ddB / A - 2.0 * dB * dA / A**2 - B * ddA / A**2 + 2.0 * B * dA**2 / A**3)
        value = np.log(A / L) + theta * B + L * B / A + cost
        outer = r / (1.0 + theta * r) / A * (1.0 - L * B / A)
        # the L that follows theta flattens the curve
        return value, first, second - cross**2 / bend, outer, A, dA, L, bend

    def __call__(self, x: Floats, rows: Rows) -> tuple[Floats, Floats]:
        """Return the profile and its slope."""
        r = np.exp(x)
        low = np.maximum(
            -(1.0 - 1e-12) / np.maximum(self.top[rows], r), np.expm1(-self.log_rate) / r
        )
        high = np.maximum(1e12, low)

        def score(theta: Floats, which: Rows) -> tuple[Floats, Floats]:
            _, first, second, *_ = self._pieces(r[which], theta, rows[which])
            return first, second

        theta = crossing(score, self.warm[rows], low, high)
        self.warm[rows] = theta
        value, _, bend, outer, A, dA, L, bend_L = self._pieces(r, theta, rows)
        held = (theta > high - 1e-9 * np.abs(high)) | (theta < low + 1e-9 * np.abs(low))
        bend = np.where(held, np.nan, bend)
        self.keep(rows, A / L, theta * A / L, dA / A, (A + theta * dA) / L, bend)
        self.rate[rows] = np.stack([L, bend_L], axis=-1)
        return value, outer

    def size(self, gap: Floats, turn: Floats, jacobian: Floats, bend: Floats, rows: Rows) -> Floats:
        """Return |q|; an estimated rate is a second nuisance parameter."""
        if self.known:
            return super().size(gap, turn, jacobian, bend, rows)
        L, bend_L = self.rate[rows].T
        by_L = np.stack([-1.0 / L, -self.kept[rows, 1] / L], axis=-1)
        matrix = np.zeros((rows.size, 3, 3))
        matrix[:, :2, 0], matrix[:, :2, 1] = gap, turn
        matrix[:, :2, 2] = np.einsum("bij,bj->bi", jacobian, by_L)
        # the canonical parameter of a binomial count is the log-odds of its share
        share, base = np.exp(L - self.log_m), np.exp(self.log_rate - self.log_m)
        matrix[:, 2, 0] = np.log(base / (1.0 - base)) - np.log(share / (1.0 - share))
        matrix[:, 2, 2] = 1.0 / (1.0 - share)
        there = np.abs(np.linalg.det(matrix))
        here = np.abs(np.linalg.det(self.jacobian[rows])) / (1.0 - base)
        information = np.linalg.det(self.information[rows])
        information *= self._share(np.array(self.log_rate))[2]
        return np.asarray(there / here * np.sqrt(self.y.shape[1] * information / (bend * bend_L)))
