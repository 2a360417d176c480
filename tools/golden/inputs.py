"""The generated inputs the mitigators are frozen on: 400 rows to fit, 200 to apply, eight columns.

NumPy's legacy stream never changes, so the same seeds give the same rows in every environment; the
rows are stored beside the results all the same, and a test needs nothing from here.
"""

from dataclasses import dataclass, field

import numpy as np

COLUMNS = ["sex", "age", "hours", "income", "grade", "flag", "only_privileged", "count"]


def people(seed: int, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (X, s, y): continuous, integer and 0/1 columns, one of them empty in one group."""
    rng = np.random.RandomState(seed)
    s = (rng.random_sample(n) < 0.6).astype(int)
    age = np.clip(np.rint(38 + 12 * rng.standard_normal(n) + 3 * s), 18, 80)
    hours = np.clip(np.rint(36 + 8 * rng.standard_normal(n) + 4 * s), 5, 70)
    # Multiples of 1/64, so that nothing is lost when a value is written down.
    income = np.rint(64 * np.exp(0.5 * rng.standard_normal(n) + 0.3 * s)) / 64
    grade = np.rint(64 * (rng.standard_normal(n) + 0.2 * s)) / 64
    flag = (rng.random_sample(n) < 0.3 + 0.2 * s).astype(int)
    only = ((rng.random_sample(n) < 0.2) & (s == 1)).astype(int)
    count = rng.poisson(1.2 + 0.4 * s, n)
    logit = (
        0.04 * (age - 38) + 0.05 * (hours - 38) + 0.9 * np.log(income + 0.1) + 0.5 * grade + 0.4 * s
    )
    y = (rng.random_sample(n) < 1 / (1 + np.exp(-(logit - 0.5)))).astype(int)
    X = np.column_stack([s, age, hours, income, grade, flag, only, count]).astype(float)
    return X, s, y


def scale(fit: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Scale both by the minimum and maximum of the first."""
    low, high = fit.min(axis=0), fit.max(axis=0)
    return (fit - low) / (high - low), (other - low) / (high - low)


@dataclass
class Scores:
    """Truth, scores and groups for a post-processor; 1 is the favourable label throughout."""

    s: np.ndarray
    y: np.ndarray
    score: np.ndarray
    weight: np.ndarray = field(default_factory=lambda: np.empty(0))

    def __post_init__(self) -> None:
        if not len(self.weight):
            self.weight = np.ones(len(self.s))

    @property
    def label(self) -> np.ndarray:
        """The base model's own decision."""
        return (self.score > 0.5).astype(int)


def scored(seed: int, n: int, *, tilt: float = 0.4, noise: float = 1.0) -> Scores:
    """Scores that know something of y; `tilt` lifts the privileged group's."""
    rng = np.random.RandomState(seed)
    s = (rng.random_sample(n) < 0.6).astype(int)
    y = (rng.random_sample(n) < np.where(s == 1, 0.5, 0.35)).astype(int)
    logit = 1.6 * (y - 0.45) + tilt * (s - 0.5) + noise * rng.standard_normal(n)
    score = np.rint(2**20 / (1 + np.exp(-logit))) / 2**20
    return Scores(s, y, score)


def coarse(data: Scores, steps: int) -> Scores:
    return Scores(data.s, data.y, np.rint(data.score * steps) / steps, data.weight)


def score_cases() -> dict[str, tuple[Scores, Scores]]:
    """Return name -> (fit, apply)."""
    made = {
        "plain": (scored(101, 400), scored(102, 200)),
        "reversed": (scored(103, 400, tilt=-0.6), scored(104, 200, tilt=-0.6)),
        "overconfident": (scored(105, 400, tilt=2.5), scored(106, 200, tilt=2.5)),
        "weak": (scored(107, 400, noise=4.0), scored(108, 200, noise=4.0)),
    }
    # Scores on multiples of 1/20 meet the searched thresholds exactly or nearly.
    made["coarse"] = (coarse(scored(109, 400), 20), coarse(scored(110, 200), 20))
    # A decision tree on its own training data: scores are 0 or 1, and right.
    tree = scored(111, 400)
    tree.score = tree.y.astype(float)
    made["perfect"] = (tree, coarse(scored(112, 200), 1))
    hard = coarse(scored(113, 400), 1)
    made["zero_one"] = (hard, coarse(scored(114, 200), 1))
    constant = scored(115, 400)
    constant.score = np.full(400, 0.75)
    made["constant"] = (constant, scored(116, 200))
    # No threshold and margin brings these together: a margin only ever helps the unprivileged.
    for name, seed in (("infeasible", 117), ("infeasible_all", 119)):
        pair = (scored(seed, 400), scored(seed + 1, 200))
        for data in pair:
            share = 2 if name == "infeasible" else 1
            first = np.arange(len(data.s)) % share == 0
            data.score = np.where(first & (data.s == 0), 0.999, data.score)
            data.score = np.where(first & (data.s == 1), 0.001, data.score)
        made[name] = pair
    weighted = (scored(121, 400), scored(122, 200))
    for i, data in enumerate(weighted):
        data.weight = np.random.RandomState(123 + i).randint(1, 33, len(data.s)) / 8
    made["weighted"] = weighted
    # One cell of the table is empty: no unprivileged row with the favourable truth.
    empty = scored(125, 400)
    empty.y = np.where(empty.s == 0, 0, empty.y)
    made["empty_cell"] = (empty, scored(126, 200))
    return made
