"""Synthetic data whose base rates, counterfactual effect and tail are known exactly."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from isonomy._validate import check_least, check_share, make_rng
from isonomy.data.catalog import read_card
from isonomy.data.dataset import Dataset
from isonomy.errors import InputError

CARD = read_card(__file__)
PRIVILEGED, UNPRIVILEGED = "privileged", "unprivileged"


@dataclass(frozen=True)
class BiasedTruth:
    """The law that synthetic rows are drawn from.

    A row has a ``merit`` c and an ``exposure`` d. Its probability of the favourable label is
    c + d/2 for a member of the privileged group and c - d/2 for a member of the other, so d is
    exactly what the same person would gain by belonging to the privileged group. With
    probability ``tail_probability`` the exposure exceeds ``threshold``, by an amount that follows
    a generalised Pareto law; else it is uniform between 0 and the threshold.

    Parameters
    ----------
    base_rates : (float, float), default (0.3, 0.5)
        The share of favourable labels in the unprivileged and the privileged group.
    privileged_share : float, default 0.6
        The share of the privileged group.
    threshold : float, default 0.05
        Where the tail of the exposure begins.
    tail_probability : float, default 0.1
        The share of rows in the tail.
    tail_scale : float, default 0.05
        Scale of the generalised Pareto law.
    tail_shape : float, default -0.25
        Its shape; negative, as a probability cannot change by more than 1.

    Examples
    --------
    >>> truth = BiasedTruth()
    >>> truth.endpoint, round(truth.mean_exposure, 4), truth.survival(0.05)
    (0.25, 0.0315, 0.1)
    """

    base_rates: tuple[float, float] = (0.3, 0.5)
    privileged_share: float = 0.6
    threshold: float = 0.05
    tail_probability: float = 0.1
    tail_scale: float = 0.05
    tail_shape: float = -0.25

    def __post_init__(self) -> None:
        for name in ("privileged_share", "tail_probability"):
            check_share(name, getattr(self, name))
        if self.tail_shape >= 0 or self.tail_scale <= 0 or self.threshold <= 0:
            raise InputError(
                f"The tail must have a negative shape, a positive scale and a positive threshold; "
                f"got {self.tail_shape:g}, {self.tail_scale:g} and {self.threshold:g}."
            )
        if min(self.merit_room()) < 0:
            raise InputError(
                f"Base rates must leave room for the largest exposure ({self.endpoint:g}) inside "
                f"0 to 1; got {self.base_rates}: choose rates nearer 0.5 or a shorter tail."
            )

    @property
    def endpoint(self) -> float:
        """The largest exposure there can be."""
        return self.threshold - self.tail_scale / self.tail_shape

    @property
    def mean_exposure(self) -> float:
        """The mean exposure."""
        beyond = self.tail_scale / (1 - self.tail_shape)
        p = self.tail_probability
        return (1 - p) * self.threshold / 2 + p * (self.threshold + beyond)

    def survival(self, t: ArrayLike) -> Any:
        """Return the probability that the exposure of a row exceeds ``t``."""
        t = np.asarray(t, dtype=float)
        p, u = self.tail_probability, self.threshold
        base = np.maximum(1 + self.tail_shape * (t - u) / self.tail_scale, 0)
        tail = p * base ** (-1 / self.tail_shape)
        body = p + (1 - p) * (1 - np.clip(t, 0, u) / u)
        value = np.where(t >= u, tail, body)
        return float(value) if value.ndim == 0 else value

    def quantile(self, q: ArrayLike) -> Any:
        """Return the exposure that a share ``q`` of the rows stays below."""
        q = np.asarray(q, dtype=float)
        p, u = self.tail_probability, self.threshold
        above = np.clip((1 - q) / p, 0, 1)
        tail = u + self.tail_scale / self.tail_shape * (above ** (-self.tail_shape) - 1)
        value = np.where(q > 1 - p, tail, u * q / (1 - p))
        return float(value) if value.ndim == 0 else value

    def score(self, X: pd.DataFrame) -> NDArray[np.float64]:
        """Return the true probability of the favourable label of rows."""
        sign = np.where(X["group"].to_numpy(dtype=object) == PRIVILEGED, 0.5, -0.5)
        return np.asarray(
            X["merit"].to_numpy(dtype=float) + sign * X["exposure"].to_numpy(dtype=float)
        )

    def effect(self, X: pd.DataFrame) -> NDArray[np.float64]:
        """Return the true counterfactual effect: the score after flipping the group minus before."""
        sign = np.where(X["group"].to_numpy(dtype=object) == PRIVILEGED, -1.0, 1.0)
        return np.asarray(sign * X["exposure"].to_numpy(dtype=float))

    def merit_means(self) -> tuple[float, float]:
        """Return the mean merit of the unprivileged and of the privileged group."""
        half = self.mean_exposure / 2
        return self.base_rates[0] + half, self.base_rates[1] - half

    def merit_room(self) -> tuple[float, float]:
        """Return how far the merit may spread around its mean, per group."""
        low, high = (min(m, 1 - m) - self.endpoint / 2 for m in self.merit_means())
        return low, high


@CARD.register
def make_biased(
    n: int = 2_000,
    *,
    truth: BiasedTruth | None = None,
    random_state: int | np.random.Generator = 0,
    **law: Any,
) -> Dataset:
    """Draw a dataset whose disparity is known.

    Parameters
    ----------
    n : int, default 2000
        The number of rows.
    truth : BiasedTruth, optional
        The law to draw from.
    random_state : int or numpy.random.Generator, default 0
        The source of randomness.
    **law
        Parameters of ``BiasedTruth``, where ``truth`` is not given.

    Returns
    -------
    Dataset
        Protected attribute ``group``; columns ``merit`` and ``exposure`` that decide,
        ``region`` and ``noise`` that do not; favourable label 1.

    Examples
    --------
    >>> data = make_biased(20_000, base_rates=(0.3, 0.5))
    >>> data.base_rates()["favorable"].round(2).tolist()
    [0.5, 0.3]
    """
    check_least("n", n, 2)
    truth = BiasedTruth(**law) if truth is None else truth
    rng = make_rng(random_state)
    privileged = rng.random(n) < truth.privileged_share
    privileged[:2] = (True, False)  # both groups exist in the smallest sample
    exposure = truth.quantile(rng.random(n))
    mean = np.where(privileged, truth.merit_means()[1], truth.merit_means()[0])
    room = np.where(privileged, truth.merit_room()[1], truth.merit_room()[0])
    X = pd.DataFrame(
        {
            "group": pd.Categorical(np.where(privileged, PRIVILEGED, UNPRIVILEGED)),
            "merit": mean + room * rng.uniform(-1, 1, n),
            "exposure": exposure,
            "region": pd.Categorical(rng.choice(["east", "north", "west"], n)),
            "noise": rng.normal(size=n),
        }
    )
    label = (rng.random(n) < truth.score(X)).astype(np.int64)
    if label.min() == label.max():
        label[0] = 1 - label[0]  # a dataset has two classes
    return Dataset(
        name="synthetic",
        X=X,
        y=pd.Series(label, name="favorable"),
        favorable=1,
        sensitive=X[["group"]],
        privileged={"group": PRIVILEGED},
        info=CARD.info,
    )
