"""Part 4: the in-processing methods on Adult-sex, against AIF360's.

Both sides fit on the training rows and predict the test rows; ours is the whole estimator, checks included.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from mitigators import Task, adult_sex
from peers import measure
from table import Row, faster
from timing import cpu_seconds

from isonomy.mitigators import AdversarialDebiasing, MetaFairClassifier, PrejudiceRemover

__all__ = ["TITLE", "rows"]

TITLE = "Part 4: in-processing"
PEER = "AIF360"
ETA, SEED = 25.0, 0
DRAWS = (
    "the 160 points drawn hang on signs of singular vectors, which each LAPACK chooses; on the same "
    "points scores are equal to 1e-13 (tests/oracle)"
)


def _ours(task: Task, make: Callable[..., Any], repeat: int, **options: Any) -> tuple[float, Any]:
    def call() -> np.ndarray:
        model = make(privileged=1, favorable=1, sensitive_columns=[task.column], **options)
        model.fit(task.X, task.y, sensitive_features=task.s)
        return model.predict(task.X_test, sensitive_features=task.s_test)

    return cpu_seconds(call, repeat=repeat)


def _theirs(
    task: Task, env: str, job: str, repeat: int = 1, **options: Any
) -> tuple[float, np.ndarray]:
    seconds, out = measure(env, job, task.tables, repeat=repeat, column=task.column, **options)
    return seconds, out["labels"]


def _quality(task: Task, labels: np.ndarray) -> str:
    """Give accuracy and the gap of favourable rates."""
    rates = [labels[task.s_test == g].mean() for g in (0, 1)]
    return f"{(labels == task.y_test).mean():.3f}, {abs(rates[1] - rates[0]):.3f}"


def _alike(task: Task, mine: np.ndarray, theirs: np.ndarray) -> str:
    """Say how both sides agree."""
    different = int((mine != theirs).sum())
    words = "same labels" if not different else f"{different:,} of {len(mine):,} labels differ"
    return f"{words}; accuracy and parity gap {_quality(task, mine)}, AIF360's {_quality(task, theirs)}"


def _prejudice(task: Task) -> list[Row]:
    peer, theirs = _theirs(task, "aif360-in", "prejudice_remover", eta=ETA)
    published, mine = _ours(task, PrejudiceRemover, 5, eta=ETA, protocol="as_published")
    start = "ours starts from scikit-learn 1.0's logistic regression, as the study did"
    corrected, better = _ours(task, PrejudiceRemover, 3, eta=ETA)
    return [
        faster(
            f"prejudice remover, eta {ETA:g}, as published",
            PEER,
            published,
            peer,
            100,
            f"{_alike(task, mine, theirs)}; {start}",
        ),
        faster(
            f"prejudice remover, eta {ETA:g}, exact gradient, to convergence",
            PEER,
            corrected,
            peer,
            note=f"accuracy and parity gap {_quality(task, better)}",
        ),
    ]


def _adversary(task: Task) -> list[Row]:
    peer, theirs = _theirs(task, "aif360-in", "adversarial_debiasing", seed=SEED)
    ours, mine = _ours(task, AdversarialDebiasing, 1, protocol="as_published", random_state=SEED)
    note = (
        f"accuracy and parity gap {_quality(task, mine)}, AIF360's {_quality(task, theirs)}; "
        f"other random numbers, same distribution (fidelity.md)"
    )
    return [
        faster("adversarial debiasing, 50 epochs", f"{PEER} on TensorFlow", ours, peer, 3, note)
    ]


def _meta(task: Task, kind: str) -> list[Row]:
    peer, theirs = _theirs(task, "aif360-mfc", "meta_fair_classifier", kind=kind, seed=SEED)
    published, mine = _ours(
        task,
        MetaFairClassifier,
        5,
        constraint=kind,
        protocol="as_published",
        random_state=np.random.RandomState(SEED),
    )
    corrected, better = _ours(task, MetaFairClassifier, 5, constraint=kind)
    name = f"{PEER} on SciPy 1.9"
    return [
        faster(
            f"meta fair classifier {kind}, as published",
            name,
            published,
            peer,
            50,
            f"{_alike(task, mine, theirs)}; {DRAWS}",
        ),
        faster(
            f"meta fair classifier {kind}, corrected",
            name,
            corrected,
            peer,
            note=f"accuracy and parity gap {_quality(task, better)}",
        ),
    ]


def rows() -> list[Row]:
    """Measure every method; three take AIF360 half a minute together."""
    task = adult_sex()
    return [*_prejudice(task), *_adversary(task), *_meta(task, "sr"), *_meta(task, "fdr")]
