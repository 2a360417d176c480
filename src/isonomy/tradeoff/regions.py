"""The five regions of a trade-off and the area won, for any number of points and baselines at once.

A baseline is a polyline in the plane of bias (x) and performance (y), both rescaled so that the
baseline spans 0 to 1. A method is judged by where its point falls. Everything here takes plain
arrays: performance where more is better, bias where less is better and never negative.
"""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isonomy._arrays import Floats
from isonomy._validate import check_choice
from isonomy.errors import InputError

Codes = NDArray[np.int8]
Rule = Literal["paper", "code"]

REGIONS: tuple[str, ...] = ("lose-lose", "poor", "inverted", "good", "win-win")
"""What the codes 0 to 4 of :func:`classify` stand for, from worst to best."""
UNDEFINED = -1
"""The code of a point that cannot be placed: a NaN, or a baseline without any extent."""

LOSE, POOR, INVERTED, GOOD, WIN = range(5)


class Normalised(NamedTuple):
    """Points and baselines on the common scale of 0 to 1."""

    x: Floats
    y: Floats
    baseline_x: Floats
    baseline_y: Floats


class Placed(NamedTuple):
    """Where points fall, and the area of those that are good."""

    region: Codes
    area: Floats


def normalise(
    performance: ArrayLike,
    bias: ArrayLike,
    baseline_performance: ArrayLike,
    baseline_bias: ArrayLike,
) -> Normalised:
    """Rescale points and baselines so that each baseline spans 0 to 1 in both directions.

    Parameters
    ----------
    performance, bias : array-like of shape (...)
        The points. They are not clipped: better than the original model is above 1.
    baseline_performance, baseline_bias : array-like of shape (..., degrees)
        The baselines, from degree 0 (the original model) to the last. Their leading axes
        broadcast against those of the points.

    Examples
    --------
    >>> scaled = normalise(0.75, 0.1, [0.8, 0.7, 0.6], [0.2, 0.1, 0.0])
    >>> round(float(scaled.x), 6), round(float(scaled.y), 6)
    (0.5, 0.75)

    References
    ----------
    Hort, Zhang, Sarro, Harman 2021, Fairea, section 4.1.
    """
    line_y, line_x = _check_line(baseline_performance, baseline_bias)
    y, by = _rescale(np.asarray(performance, dtype=np.float64), line_y)
    x, bx = _rescale(np.asarray(bias, dtype=np.float64), line_x)
    return Normalised(x, y, bx, by)


def classify(
    performance: ArrayLike,
    bias: ArrayLike,
    baseline_performance: ArrayLike,
    baseline_bias: ArrayLike,
    *,
    rule: Rule = "paper",
) -> Codes:
    """Return for every point in which of the five :data:`REGIONS` it falls.

    On a falling baseline b(x) with bias x and performance y, both rescaled: *good* is
    b(x) <= y <= 1 with 0 <= x <= 1 (the line itself is good), *win-win* y > 1 with x <= 1,
    *poor* y < b(x) with x <= 1, *lose-lose* x > 1 with y <= 1, *inverted* x > 1 and y > 1.
    Any polyline is accepted, one that bends back included.

    Parameters
    ----------
    performance, bias, baseline_performance, baseline_bias : array-like
        As for :func:`normalise`: baselines broadcast against points.
    rule : {"paper", "code"}
        The authors' code and the tables of their paper differ in two places. Code: x > 1 and y < 0
        is *inverted*, and x < 0 is *lose-lose*. Paper: x > 1 and y < 0 is *lose-lose*, and x < 0
        is judged by y alone (above 1 win-win, 0 to 1 good, below 0 poor). Both call x = 0 with
        y < 0 *win-win*: a constant predictor in a split whose majority share is small. Flag those.

    Returns
    -------
    ndarray of int8
        Indices into :data:`REGIONS`, -1 where a point cannot be placed.

    Examples
    --------
    >>> codes = classify([0.75, 0.85, 0.62], [0.1, 0.1, 0.15], [0.8, 0.7, 0.6], [0.2, 0.1, 0.0])
    >>> [REGIONS[c] for c in codes]
    ['good', 'win-win', 'poor']

    References
    ----------
    Hort, Zhang, Sarro, Harman 2021, Fairea, section 4.2 and the authors' repository.
    """
    points = _scaled((performance, bias), (baseline_performance, baseline_bias), rule)
    return _place(points, rule, _cut(points) if _falls(points) else None)


def area(
    performance: ArrayLike,
    bias: ArrayLike,
    baseline_performance: ArrayLike,
    baseline_bias: ArrayLike,
    *,
    rule: Rule = "paper",
) -> Floats:
    """Measure the area between each *good* point and its baseline, in rescaled units.

    The area is closed by the horizontal and the vertical from the point to the nearest place
    where each meets the baseline. Points in other regions have none: NaN.

    Parameters
    ----------
    performance, bias, baseline_performance, baseline_bias : array-like
        As for :func:`normalise`.
    rule : {"paper", "code"}
        As for :func:`classify`. The authors' code gives up where the vertical meets the end of
        the baseline and counts 0 there; rule "paper" measures that area like any other, and
        for x < 0 the part of it that lies in 0 <= x.

    Examples
    --------
    >>> line = [0.8, 0.7, 0.6], [0.2, 0.1, 0.0]
    >>> round(float(area(0.75, 0.1, *line)), 6)
    0.03125
    >>> float(area(0.85, 0.1, *line))  # win-win
    nan

    References
    ----------
    Hort, Zhang, Sarro, Harman 2021, Fairea, section 4.3.
    """
    return place(performance, bias, baseline_performance, baseline_bias, rule=rule).area


def place(
    performance: ArrayLike,
    bias: ArrayLike,
    baseline_performance: ArrayLike,
    baseline_bias: ArrayLike,
    *,
    rule: Rule = "paper",
) -> Placed:
    """Return region and area of every point at once.

    Parameters and rules are those of :func:`classify` and :func:`area`.

    Examples
    --------
    >>> placed = place([0.75, 0.85], 0.1, [0.8, 0.7, 0.6], [0.2, 0.1, 0.0])
    >>> placed.region.tolist(), placed.area.round(6).tolist()
    ([3, 4], [0.03125, nan])
    """
    points = _scaled((performance, bias), (baseline_performance, baseline_bias), rule)
    cut = _cut(points) if _falls(points) else None
    codes = _place(points, rule, cut)
    return Placed(codes, _measure(points, codes == GOOD, rule, cut))


def region_names(codes: ArrayLike) -> NDArray[np.object_]:
    """Turn codes into words; a point that cannot be placed is ``"undefined"``.

    Examples
    --------
    >>> region_names([3, -1]).tolist()
    ['good', 'undefined']
    """
    words = np.array([*REGIONS, "undefined"], dtype=object)  # -1 picks the last
    return np.asarray(words[np.asarray(codes)])


# ---------------------------------------------------------------------- checks


def _check_line(performance: ArrayLike, bias: ArrayLike) -> tuple[Floats, Floats]:
    y, x = np.asarray(performance, dtype=np.float64), np.asarray(bias, dtype=np.float64)
    if x.ndim == 0 or y.ndim == 0 or x.shape[-1] != y.shape[-1] or x.shape[-1] < 2:
        raise InputError(
            "A baseline needs a performance and a bias for each of two degrees or more; "
            f"got shapes {y.shape} and {x.shape}."
        )
    return y, x


def _rescale(values: Floats, line: Floats) -> tuple[Floats, Floats]:
    low, high = line.min(axis=-1), line.max(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        span = np.where(high > low, high - low, np.nan)
        return (values - low) / span, (line - low[..., None]) / span[..., None]


def _scaled(points: Sequence[ArrayLike], line: Sequence[ArrayLike], rule: str) -> Normalised:
    """Return points and baselines rescaled, the points broadcast to one shape."""
    check_choice("rule of regions", rule, ("paper", "code"))
    line_y, line_x = _check_line(*line)
    y, x = (np.asarray(part, dtype=np.float64) for part in points)
    try:
        lead = np.broadcast_shapes(line_y.shape[:-1], line_x.shape[:-1])
        shape = np.broadcast_shapes(x.shape, y.shape, lead)
    except ValueError:
        raise InputError(
            "The leading axes of points and baselines must broadcast; points have "
            f"{y.shape} and {x.shape}, baselines {line_y.shape[:-1]} and {line_x.shape[:-1]}."
        ) from None
    line_y, line_x = (np.broadcast_to(v, (*lead, v.shape[-1])) for v in (line_y, line_x))
    return normalise(np.broadcast_to(y, shape), np.broadcast_to(x, shape), line_y, line_x)


# ---------------------------------------------------------------------- geometry


def _segments(line: Normalised) -> Iterator[tuple[Floats, Floats, Floats, Floats]]:
    bx, by = line.baseline_x, line.baseline_y
    for k in range(bx.shape[-1] - 1):  # ten segments, not points
        yield bx[..., k], by[..., k], bx[..., k + 1], by[..., k + 1]


def _meet(
    at: Floats, a1: Floats, b1: Floats, a2: Floats, b2: Floats
) -> tuple[NDArray[np.bool_], Floats, Floats | None]:
    """Cut a segment by the line a = at: whether it is met, and where (lowest, highest b).

    The line may run along the segment, then it is met in a stretch; otherwise highest is None.
    Knots are met exactly: at a knot the interpolation must not miss it by one rounding.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        swap = a1 > a2
        low_a, low_b = np.where(swap, a2, a1), np.where(swap, b2, b1)
        high_a, high_b = np.where(swap, a1, a2), np.where(swap, b1, b2)
        flat = low_a == high_a
        slope = np.where(flat, 0.0, (high_b - low_b) / (high_a - low_a))
        where = (at - low_a) * slope + low_b
        where = np.where(at == high_a, high_b, where)
        met = (at >= low_a) & (at <= high_a)
    if not flat.any():
        return met, where, None
    lowest = np.where(flat, np.minimum(b1, b2), where)
    highest = np.where(flat, np.maximum(b1, b2), where)
    return met, lowest, highest


class _Cut(NamedTuple):
    """Where the vertical and the horizontal through each point meet a baseline that only falls."""

    below: Floats
    beside: Floats
    on_below: NDArray[np.intp]
    on_beside: NDArray[np.intp]


def _falls(line: Normalised) -> bool:
    """Return whether bias and performance of all baselines fall at every step."""
    return bool(
        (np.diff(line.baseline_x, axis=-1) < 0).all()
        and (np.diff(line.baseline_y, axis=-1) < 0).all()
    )


def _cut(points: Normalised) -> _Cut:
    """Meet falling baselines once in each direction: the segment is found by counting knots."""
    degrees = points.baseline_x.shape[-1]
    lead = points.baseline_x.shape[:-1]
    start = np.arange(int(np.prod(lead))).reshape(lead) * degrees

    def meet(at: Floats, a: Floats, b: Floats) -> tuple[Floats, NDArray[np.intp]]:
        low, rise = a[..., ::-1], b[..., ::-1]
        segment = np.zeros(at.shape, dtype=np.intp)
        for k in range(1, degrees - 1):  # inner knots, not points
            segment += at >= low[..., k]
        with np.errstate(invalid="ignore", divide="ignore"):
            slope = np.diff(rise, axis=-1) / np.diff(low, axis=-1)
            slope = np.concatenate([slope, slope[..., -1:]], axis=-1)
        here = segment + start
        value = (at - low.ravel()[here]) * slope.ravel()[here] + rise.ravel()[here]
        value = np.where(at == low[..., -1], rise[..., -1], value)
        return value, degrees - 2 - segment

    below, on_below = meet(np.maximum(points.x, 0.0), points.baseline_x, points.baseline_y)
    beside, on_beside = meet(points.y, points.baseline_y, points.baseline_x)
    return _Cut(below, beside, on_below, on_beside)


def _place(points: Normalised, rule: Rule, cut: _Cut | None) -> Codes:
    """Follow the authors' order: good, win-win, bad, lose-lose, inverted.

    Their test shoots four segments from the point: down to y = 0, right to x = 2, up to y = 2,
    left to x = 0. On a polyline inside the unit square each test needs only the lowest and the
    highest place where the vertical, and the horizontal, through the point meets the polyline.
    """
    x, y = points.x, points.y
    if cut is not None:
        across, along = (x >= 0) & (x <= 1), (y >= 0) & (y <= 1)
        down = across & (cut.below <= np.maximum(y, 0.0))
        right = along & (cut.beside >= x) & (x <= 2)
        up = across & (cut.below >= y) & (y <= 2)
        left = along & (cut.beside <= np.maximum(x, 0.0))
    else:
        low_v, high_v, low_u, high_u = _envelope(points)
        down = low_v <= np.maximum(y, 0.0)  # for y < 0 "down" leads up to y = 0
        right = (high_u >= x) & (x <= 2)
        up = (high_v >= y) & (y <= 2)
        left = low_u <= np.maximum(x, 0.0)
    out = np.full(x.shape, INVERTED, dtype=np.int8)
    out[left | (x < 0)] = LOSE
    out[up] = POOR
    out[down] = WIN
    out[down & right] = GOOD
    if rule == "paper":
        out[(x > 1) & (y < 0)] = LOSE
        beyond = x < 0
        if beyond.any():
            out[beyond] = np.where(y > 1, WIN, np.where(y >= 0, GOOD, POOR))[beyond]
    known = np.isfinite(x) & np.isfinite(y) & np.isfinite(points.baseline_x).all(axis=-1)
    out[~(known & np.isfinite(points.baseline_y).all(axis=-1))] = UNDEFINED
    return out


def _envelope(points: Normalised) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the lowest and highest place met on the vertical and on the horizontal."""
    x, y = points.x, points.y
    low_v, low_u = np.full(x.shape, np.inf), np.full(x.shape, np.inf)
    high_v, high_u = np.full(x.shape, -np.inf), np.full(x.shape, -np.inf)
    for x1, y1, x2, y2 in _segments(points):
        met, lowest, highest = _meet(x, x1, y1, x2, y2)
        np.minimum(low_v, lowest, out=low_v, where=met)
        np.maximum(high_v, lowest if highest is None else highest, out=high_v, where=met)
        met, lowest, highest = _meet(y, y1, x1, y2, x2)
        np.minimum(low_u, lowest, out=low_u, where=met)
        np.maximum(high_u, lowest if highest is None else highest, out=high_u, where=met)
    return low_v, high_v, low_u, high_u


def _measure(points: Normalised, good: NDArray[np.bool_], rule: Rule, cut: _Cut | None) -> Floats:
    """Shoelace over point, nearest place to the right, the baseline between, nearest place below.

    The part along the baseline comes from a running sum of cross products, so each point costs
    the same however many corners lie between.
    """
    out = np.full(points.x.shape, np.nan)
    if not good.any():
        return out
    bx = np.broadcast_to(points.baseline_x, (*points.x.shape, points.baseline_x.shape[-1]))[good]
    by = np.broadcast_to(points.baseline_y, (*points.x.shape, points.baseline_y.shape[-1]))[good]
    x, y = np.maximum(points.x[good], 0.0), points.y[good]
    if cut is not None:
        below, beside, on_below, on_beside = (v[good] for v in cut)
    else:
        below, beside, on_below, on_beside = _nearest(Normalised(x, y, bx, by))
    cross = bx[:, :-1] * by[:, 1:] - bx[:, 1:] * by[:, :-1]
    run = np.concatenate([np.zeros((x.size, 1)), np.cumsum(cross, axis=1)], axis=1)
    rows = np.arange(x.size)
    # walk from the earlier to the later of the two places; the way back only turns the sign
    first = np.minimum(on_below, on_beside)
    last = np.maximum(on_below, on_beside)
    turned = on_beside > on_below
    ax, ay = np.where(turned, x, beside), np.where(turned, below, y)
    zx, zy = np.where(turned, beside, x), np.where(turned, y, below)
    between = (
        (ax * by[rows, first + 1] - bx[rows, first + 1] * ay)
        + (run[rows, last] - run[rows, first + 1])
        + (bx[rows, last] * zy - zx * by[rows, last])
    )
    between = np.where(first == last, ax * zy - zx * ay, between)
    ends = (x * ay - ax * y) + (zx * y - x * zy)
    sizes = 0.5 * np.abs(between + ends)
    if rule == "code":
        sizes[points.x[good] == 0] = 0.0
    out[good] = sizes
    return out


def _nearest(line: Normalised) -> _Cut:
    """Find the nearest places below and to the right on any polyline, and their segments."""
    x, y = line.x, line.y
    below = np.full(x.shape, -np.inf)
    beside = np.full(x.shape, np.inf)
    on_below = np.zeros(x.shape, dtype=np.intp)
    on_beside = np.zeros(x.shape, dtype=np.intp)
    for k, (x1, y1, x2, y2) in enumerate(_segments(line)):
        met, lowest, highest = _meet(x, x1, y1, x2, y2)
        nearest = (
            lowest if highest is None else np.where(highest >= y, np.maximum(y, lowest), highest)
        )
        closer = met & (nearest <= y) & (nearest > below)
        below[closer], on_below[closer] = nearest[closer], k
        met, lowest, highest = _meet(y, y1, x1, y2, x2)
        nearest = (
            lowest if highest is None else np.where(lowest <= x, np.minimum(x, highest), lowest)
        )
        closer = met & (nearest >= x) & (nearest < beside)
        beside[closer], on_beside[closer] = nearest[closer], k
    return _Cut(below, beside, on_below, on_beside)
