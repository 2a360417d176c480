"""Which costly methods a benchmark stops running, because others are shown to be better.

After 3, 6, 12, ... splits each costly method is compared with every method that is worth it by
then. A method is dropped where one of them has a larger advantage by a one-sided corrected
resampled t-test, at the level ``alpha`` divided by the number of looks and of the others. By
Bonferroni's inequality the method with the truly largest advantage is dropped in at most ``alpha``
of all benchmarks, however many methods and looks there are.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isonomy._arrays import Floats
from isonomy._names import base_name
from isonomy.benchmark.recommend import MethodVerdict, Section, word_of
from isonomy.mitigators import MITIGATORS
from isonomy.stats import split_mean
from isonomy.study import Method, Study

FIRST_LOOK = 3
"""Splits before the first look; the number doubles from look to look."""
ALPHA = 0.05
"""In how many benchmarks at most the best method is dropped."""

Place = tuple[str, str, str]
"""Attribute, model and method."""


@dataclass(frozen=True)
class Beaten:
    """A method that is not run on further splits."""

    verdict: MethodVerdict
    by: str
    lead: float
    p: float

    def as_verdict(self) -> MethodVerdict:
        """Return what is known of the method, with the reason why there is no more."""
        seen = self.verdict
        reason = (
            f"after {seen.runs} splits ({seen.performance.after:.3f} at a bias of "
            f"{seen.bias.after:.3f}): {self.by} keeps {self.lead:.3f} more at the same bias "
            f"(p = {self.p:.2g}, corrected for all methods and looks)"
        )
        return replace(seen, status="dropped", reason=reason)


def looks(repeats: int) -> tuple[int, ...]:
    """Return after how many splits methods are compared.

    Examples
    --------
    >>> looks(10), looks(50), looks(3)
    ((3, 6), (3, 6, 12, 24, 48), ())
    """
    out = []
    splits = FIRST_LOOK
    while splits < repeats:
        out.append(splits)
        splits *= 2
    return tuple(out)


def is_costly(method: str) -> bool:
    """Return whether a method declares many fits or a search.

    Examples
    --------
    >>> is_costly("ecd_fair(budget=40)"), is_costly("reweighing")
    (True, False)
    """
    name = base_name(method)
    return name in MITIGATORS and MITIGATORS[name].costly


def beaten(
    section: Section,
    candidates: Collection[str],
    *,
    looks: int,
    alpha: float = ALPHA,
    sure: float = 0.95,
    max_loss: float | None = None,
    test_share: float = 0.3,
) -> list[Beaten]:
    """Return the candidates that some method worth it is shown to be better than.

    Parameters
    ----------
    section : Section
        The splits so far, judged.
    candidates : collection of str
        Methods that may be dropped.
    looks : int
        How often the benchmark looks in all.
    alpha, sure, max_loss, test_share
        The level of all looks together; and as in ``recommend``.
    """
    tested = [v for v in section.judged if v.by_repeat.size == section.repeats > 1]
    if len(tested) < 2:
        return []
    words = [word_of(v, sure=sure, max_loss=max_loss) for v in tested]
    by, lead, p = leaders(
        np.column_stack([v.by_repeat for v in tested]),
        [word == "worth it" for word in words],
        looks=looks,
        test_share=test_share,
    )
    return [
        Beaten(v, tested[by[k]].method, float(lead[k]), float(p[k]))
        for k, v in enumerate(tested)
        if v.method in candidates and p[k] < alpha
    ]


def leaders(
    advantages: ArrayLike, eligible: Sequence[bool], *, looks: int = 1, test_share: float = 0.3
) -> tuple[NDArray[np.intp], Floats, Floats]:
    """Return for each method which eligible one leads it most surely, by how much, and p.

    Parameters
    ----------
    advantages : array-like of shape (splits, methods)
    eligible : sequence of bool
        Which methods may lead others.
    looks : int
        How often such a table is looked at in all.
    test_share : float
        The share of the rows that each split tests on.

    Returns
    -------
    by, lead, p : ndarrays of shape (methods,)
        p is one-sided and corrected for the other methods and for the looks: the chance that a
        method that is nobody's inferior is led so.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> by, lead, p = leaders(rng.normal([0.0, 0.0, 9.0], 1.0, size=(6, 3)), [True] * 3)
    >>> by[:2].tolist(), (p < 0.05).tolist()
    ([2, 2], [True, True, False])
    """
    table = np.asarray(advantages, dtype=np.float64)
    apart = table[:, None, :] - table[:, :, None]  # [split, method, other]
    result = split_mean(np.moveaxis(apart, 0, -1), test_share=test_share)
    tests = max(table.shape[1] - 1, 1) * looks
    p = np.where(result.mean > 0, np.minimum(result.pvalue / 2 * tests, 1.0), 1.0)
    p = np.where(np.asarray(eligible)[None, :] & np.isfinite(p), p, 1.0)
    by = p.argmin(axis=1)
    at = np.arange(len(by))
    return by, result.mean[at, by], p[at, by]


def without(study: Study, dropped: Iterable[Place]) -> Study:
    """Return a study that does not run some methods with some attributes and models."""
    gone = set(dropped)
    methods: list[Method] = []
    for method in study.methods:
        if not any(label == method.label for _, _, label in gone):
            methods.append(method)
            continue
        for task in study.tasks:
            models = tuple(
                m for m in study.models if (task.attributes, m, method.label) not in gone
            )
            if models:
                methods.append(replace(method, tasks=(task,), models=models))
    return replace(study, methods=tuple(methods))
