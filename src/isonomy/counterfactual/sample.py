"""Tail sample search: rows enough for a tail, as published and as it should be done."""

import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from isonomy._arrays import Floats
from isonomy._tables import stack, take
from isonomy._validate import check_choice, make_rng
from isonomy.counterfactual.domain import Domain
from isonomy.counterfactual.flip import Attribute
from isonomy.counterfactual.pairs import Scorer, score_pairs
from isonomy.errors import InputError
from isonomy.generators import make_generator
from isonomy.stats.results import Result
from isonomy.tails import cv_test

PROTOCOLS = ("corrected", "as_published")
ENOUGH = 20
"""The corrected plan fills a group up to this many rows per value of the tail (ours)."""


@dataclass(frozen=True, eq=False, repr=False)
class TailSample(Result):
    """Rows of one group, some of them generated, with their discrimination.

    Parameters
    ----------
    X : table
        The rows of the group, then the generated ones.
    cd : ndarray
        The counterfactual discrimination of each.
    synthetic : ndarray of bool
        Which rows were generated.
    passed : bool
        Whether the coefficient of variation of the largest values allows an exponential or
        shorter tail, with the generated rows.
    passed_real : bool
        The same for the real rows alone.
    cv : ndarray
        The coefficient of variation at each number of values from ``k_min`` to ``k_max``.
    rounds : int
        How often rows were generated.
    stopped : str
        ``passed``, ``timeout``, ``most`` or ``plan``: why the search ended.
    protocol, generator : str
        How rows were sought, and what made them.
    seconds : float
        How long it took.
    """

    X: Any
    cd: Floats
    synthetic: NDArray[np.bool_]
    passed: bool
    passed_real: bool
    cv: Floats
    rounds: int
    stopped: str
    protocol: str
    generator: str
    seconds: float

    def synthetic_extremes(self, k: int = 50) -> int:
        """Count the generated rows among the k largest; real rows win ties."""
        order = np.lexsort((self.synthetic, -self.cd))
        return int(self.synthetic[order[:k]].sum())

    def sentence(self) -> str:
        """Return a sentence on the rows gathered and the verdict of the test."""
        real, made = int((~self.synthetic).sum()), int(self.synthetic.sum())
        verdict = "passes" if self.passed else "fails"
        alone = "pass" if self.passed_real else "fail"
        return (
            f"{real:,} real and {made:,} generated rows ({self.generator}, {self.protocol}): "
            f"{self.synthetic_extremes()} of the 50 largest are generated, the largest is "
            f"{self.cd.max() + 0.0:.3f} ({self.cd[~self.synthetic].max() + 0.0:.3f} among real rows); "
            f"the test of an exponential or shorter tail {verdict}, the real rows alone {alone}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return how rows were gathered and what the test made of them, as plain data."""
        return {
            "protocol": self.protocol,
            "generator": self.generator,
            "real": int((~self.synthetic).sum()),
            "synthetic": int(self.synthetic.sum()),
            "synthetic_extremes": self.synthetic_extremes(),
            "passed": self.passed,
            "passed_real": self.passed_real,
            "rounds": self.rounds,
            "stopped": self.stopped,
            "seconds": self.seconds,
        }

    def frame(self) -> pd.DataFrame:
        """Return the same as one row."""
        return pd.DataFrame([self.to_dict()])


def tail_sample_search(
    model: Any,
    X: Any,
    sensitive_features: Any,
    *,
    group: Any,
    generator: Any = "independent",
    protocol: str = "corrected",
    k_min: int = 10,
    k_max: int = 50,
    m: int = 500,
    timeout: float = 1200.0,
    most: int | None = None,
    synthetic: int | None = None,
    favorable: Any = None,
    one_hot: Sequence[Sequence[Any]] | None = None,
    random_state: int | np.random.Generator | None = 0,
    **where: Any,
) -> TailSample:
    """Gather rows of one group until its tail can be judged, or by a plan made beforehand.

    ``as_published`` is Algorithm 1 of the paper: the largest values must have a coefficient of
    variation below 1 + 1/(4k) for every k from ``k_min`` to ``k_max``; where they do not, ``m``
    generated rows are added, until they do or the time is up. The printed loop runs "while in
    time or passed", which cannot be meant; we read "while in time and not passed". The test is
    applied to the values themselves, not to their excesses, and so hardly ever fails unless the
    values are near 0. The paper gives m = 1, but all its synthetic counts are multiples of 500.

    ``corrected`` decides how many rows to generate before it looks at any value (adding rows until
    a test passes makes it pass), applies the test to the excesses with a one-sided limit
    1 + 1.96/√k, and says how the real rows fare alone and how many extremes are synthetic.

    Parameters
    ----------
    model : estimator or callable
        As in ``tail``.
    X : table
        The rows.
    sensitive_features
        As in ``flip``.
    group : group
        The group whose tail is sought.
    generator : str or object, default "independent"
        A name in ``GENERATORS``, or something with ``fit(frame, discrete=...)`` and
        ``sample(n, rng)``. It learns from the rows of the group only.
    protocol : {"corrected", "as_published"}
        See above.
    k_min, k_max : int, default 10 and 50
        The numbers of largest values that are tested.
    m : int, default 500
        How many rows are generated at a time, as published.
    timeout : float, default 1200
        Seconds after which the published search gives up.
    most : int, optional
        How many rows the published search generates at most, for results that do not depend on
        the speed of a machine.
    synthetic : int, optional
        How many rows the corrected plan generates; by default as many as the group lacks to 20
        rows per value of the tail.
    favorable : label, optional
        The label that is good to get.
    one_hot : sequence of sequences of columns, optional
        Columns that encode one thing.
    random_state : int or Generator, default 0
        The source of randomness.
    **where
        ``columns``, ``groups``, ``companions`` and ``against``.

    Returns
    -------
    TailSample

    References
    ----------
    Monjezi, V., Trivedi, A., Kreinovich, V. and Tizpaz-Niari, S. (2025). Fairness testing through
    extreme value theory. arXiv:2501.11597. Algorithm 1.

    Examples
    --------
    >>> from isonomy.data import make_biased
    >>> from isonomy.data.synthetic import BiasedTruth
    >>> data = make_biased(1500)
    >>> result = tail_sample_search(BiasedTruth().score, data.X, "group", group="unprivileged")
    >>> result.stopped, int(result.synthetic.sum()), len(result.cd)
    ('plan', 384, 1000)
    """
    check_choice("protocol", protocol, PROTOCOLS)
    if not 2 <= k_min <= k_max or m < 1:
        raise InputError(
            f"k_min must lie between 2 and k_max, and m must be at least 1; got {k_min}, {k_max} "
            f"and {m}."
        )
    start = time.monotonic()
    scorer = model if isinstance(model, Scorer) else Scorer(model, favorable)
    against = where.pop("against", None)
    attribute, codes = Attribute.learn(X, sensitive_features, outside=scorer.takes_groups, **where)
    code = attribute.code_of(group)
    own = take(X, np.flatnonzero(codes == code))
    domain = Domain(own, one_hot=one_hot, fixed=attribute.columns)
    rows_like = _RowsLike(own, domain, generator, make_rng(random_state))

    def measure(rows: Any) -> Floats:
        size = rows.shape[0]
        return score_pairs(
            scorer, rows, attribute=attribute, codes=np.full(size, code, dtype=np.intp),
            against=against,
        ).cd  # fmt: skip

    tables, cd = [own], measure(own)
    real, rounds, stopped = cd.size, 0, "plan"
    passed_real, cv = _test(cd, k_min, k_max, protocol)
    passed = passed_real
    published = protocol == "as_published"
    plan = max(0, ENOUGH * k_max - real) if synthetic is None else synthetic
    for size in itertools.repeat(m) if published else [plan] * (plan > 0):
        if published and passed:
            stopped = "passed"
            break
        if published and most is not None and rounds * m >= most:
            stopped = "most"
            break
        if published and time.monotonic() - start > timeout:
            stopped = "timeout"
            break
        tables.append(rows_like.draw(size))
        cd = np.concatenate([cd, measure(tables[-1])])
        rounds += 1
        passed, cv = _test(cd, k_min, k_max, protocol)
    return TailSample(
        X=stack(tables),
        cd=cd,
        synthetic=np.arange(cd.size) >= real,
        passed=passed,
        passed_real=passed_real,
        cv=cv,
        rounds=rounds,
        stopped=stopped,
        protocol=protocol,
        generator=rows_like.name,
        seconds=time.monotonic() - start,
    )


def _test(cd: Floats, k_min: int, k_max: int, protocol: str) -> tuple[bool, Floats]:
    """Apply the test of a protocol; too few values fail it."""
    if cd.size <= k_max:
        return False, np.full(k_max - k_min + 1, np.nan)
    test = cv_test(cd, k_min=k_min, k_max=k_max)
    if protocol == "as_published":
        return bool(test.passed_as_published), np.asarray(test.raw)
    return bool(test.passed), np.asarray(test.cv)


class _RowsLike:
    """Draws rows of one group inside the domain of its rows."""

    def __init__(self, own: Any, domain: Domain, generator: Any, rng: np.random.Generator) -> None:
        self.own, self.domain, self.generator, self.rng = own, domain, generator, rng
        self.name = generator if isinstance(generator, str) else type(generator).__name__
        self.fitted = False

    def draw(self, count: int) -> Any:
        """Draw rows; the generator learns when the first are asked for."""
        if not self.fitted:
            self._fit()
        drawn = self.generator.sample(count, self.rng)
        points = np.array(drawn, dtype=np.float64)
        for j in range(points.shape[1]):
            points[:, j] = self.domain.clip(j, points[:, j])
        return self.domain.decode(points, take(self.own, np.zeros(count, dtype=np.intp)))

    def _fit(self) -> None:
        if isinstance(self.generator, str):
            self.generator = make_generator(self.generator)
        kinds = {f"c{j}": c.kind for j, c in enumerate(self.domain.coordinates)}
        points = pd.DataFrame(self.domain.encode(self.own), columns=list(kinds)).dropna()
        if points.empty:
            raise InputError(
                "A generator must have rows without missing numbers to learn from; there are none."
            )
        points = points.astype({n: np.int64 for n, kind in kinds.items() if kind != "number"})
        discrete = [name for name, kind in kinds.items() if kind == "values"]
        self.generator = self.generator.fit(points, discrete=discrete) or self.generator
        self.fitted = True
