"""Rows that a generator adds to a group of a trial, for a tail that its own rows are too few for.

``searched`` is Algorithm 1 of Monjezi et al. (2025): 500 rows at a time, until the paper's test of
the largest values passes. ``planned`` is ours: as many rows as the group lacks to 1,000, whatever
their values. A group that needs none by one of the rules stays as it is. The generator learns from
the training rows of the group, once per trial: all models and methods meet the same rows.

References
----------
Monjezi, Trivedi, Kreinovich and Tizpaz-Niari 2025, Fairness Testing through Extreme Value Theory,
arXiv:2501.11597, Algorithm 1.
"""

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from isonomy._arrays import Floats
from isonomy._names import parse_name
from isonomy.counterfactual.extremes import PAPER_K
from isonomy.counterfactual.sample import ENOUGH, tail_sample_search
from isonomy.data.prepared import Prepared
from isonomy.errors import IsonomyWarning, MissingExtra
from isonomy.generators import make_generator
from isonomy.study.workbench import Workbench
from isonomy.tails import cv_test

WAYS = {"searched": "as_published", "planned": "corrected"}
"""The rules by which rows are added, with the protocols of the search that they are."""

MOST = 10_000
"""The most rows that are generated for a group: the paper's 20 minutes, whatever the machine."""

Score = Callable[[Floats, NDArray[Any]], Floats]


class Extended(NamedTuple):
    """The discrimination of a group's rows with the generated ones.

    ``rows`` is how many were generated (NaN where they could not be), ``extremes`` how many of
    the 50 largest values they have, and ``passed`` whether the test of the rule passes.
    """

    cd: Floats
    rows: float = 0.0
    extremes: float = 0.0
    passed: float = 1.0


def extended(
    workbench: Workbench, scores: Score, X: Floats, s: NDArray[Any], cd: Floats
) -> dict[str, tuple[Extended, Extended]]:
    """Return, by the rule, the privileged and the unprivileged group with the rows it needs.

    Parameters
    ----------
    workbench : Workbench
        The data of the trial.
    scores : callable
        From rows and their groups (1: privileged) to a model's scores.
    X, s, cd : array
        All rows, the training rows first; their groups; their discrimination.
    """
    out = {}
    for way, protocol in WAYS.items():
        sides = []
        for group in (1, 0):
            own = cd[s == group]
            part = Extended(own, passed=_passes(own, protocol))
            if _needs_rows(own, protocol):
                try:
                    part = _filled(workbench, scores, X, s, group, protocol)
                except MissingExtra as error:
                    warnings.warn(f"No rows were generated: {error}", IsonomyWarning, stacklevel=2)
                    part = part._replace(rows=np.nan)
            sides.append(part)
        out[way] = (sides[0], sides[1])
    return out


def _passes(cd: Floats, protocol: str) -> float:
    if cd.size <= PAPER_K:
        return 0.0
    test = cv_test(cd, k_max=PAPER_K)
    return float(test.passed_as_published if protocol == "as_published" else test.passed)


def _needs_rows(cd: Floats, protocol: str) -> bool:
    if protocol == "as_published":
        return not _passes(cd, protocol)
    return cd.size < ENOUGH * PAPER_K


def _filled(
    workbench: Workbench, scores: Score, X: Floats, s: NDArray[Any], group: int, protocol: str
) -> Extended:
    ready = workbench.ready
    column, high = ready.sensitive_column, ready.values[ready.attribute][1]

    def ask(rows: Floats) -> Floats:
        return scores(rows, (rows[:, column] == high).astype(np.int8))

    generator = workbench.once(
        ("generator", group),
        lambda: _Learned(
            workbench.study.tail_generator, workbench.seed, int((ready.train.s == group).sum())
        ),
    )
    sample = tail_sample_search(
        ask,
        X,
        s,
        group=group,
        generator=generator,
        protocol=protocol,
        k_max=PAPER_K,
        timeout=np.inf,
        most=MOST,
        columns=[column],
        one_hot=one_hot_columns(ready),
        random_state=workbench.seed,
    )
    made = float(sample.synthetic.sum())
    return Extended(
        sample.cd, made, float(sample.synthetic_extremes(PAPER_K)), float(sample.passed)
    )


def one_hot_columns(ready: Prepared) -> list[list[int]]:
    """Return the positions of the columns that encode one thing each, as ``job=a`` and ``job=b``."""
    places: dict[str, list[int]] = {}
    for position, name in enumerate(ready.feature_names):
        column, sign, _ = name.partition("=")
        if sign:
            places.setdefault(column, []).append(position)
    return [positions for positions in places.values() if len(positions) > 1]


class _Learned:
    """A generator that learns once, from the training rows, which come first."""

    def __init__(self, written: str, seed: int, rows: int) -> None:
        name, options = parse_name(written)
        self.generator = make_generator(name, **options)
        if "random_state" in self.generator.get_params():
            self.generator.set_params(random_state=seed)
        self.rows = rows
        self.fitted = False

    def fit(self, points: pd.DataFrame, *, discrete: list[str]) -> Self:
        if not self.fitted:
            self.generator.fit(points.iloc[: self.rows], discrete=discrete)
            self.fitted = True
        return self

    def sample(self, n: int, rng: np.random.Generator) -> pd.DataFrame:
        return self.generator.sample(n, rng)
