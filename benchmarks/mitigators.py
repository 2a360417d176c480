"""Part 3: the pre- and post-processing methods on Adult-sex, against AIF360's.

Fits of base models are on neither side's clock: both get the same scores. A stage is what a study calls
(arrays in, arrays out); the whole estimator adds checks, encoding of labels and groups, and prediction.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from peers import measure
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from table import Row, faster
from timing import cpu_seconds

from isonomy.data import load, make_splits, prepare, rows_of
from isonomy.mitigators import (
    CalibratedEqualizedOdds,
    DisparateImpactRemover,
    EqualizedOdds,
    LearningFairRepresentations,
    OptimizedPreprocessing,
    RejectOption,
    Reweighing,
    optimized_preprocessing,
)

__all__ = ["TITLE", "rows"]

TITLE = "Part 3: mitigators"
PEER = "AIF360"
PEER_ENV = "aif360"
TEST_FILE_ROWS = 16_281  # those of adult.test come first
PUBLISHED = {"protocol": "as_published"}


@dataclass(frozen=True)
class Task:
    """Adult-sex: the rows of adult.data without missing values, split 70 / 30."""

    X: np.ndarray
    y: np.ndarray
    s: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    s_test: np.ndarray
    score: np.ndarray
    label: np.ndarray
    score_test: np.ndarray
    label_test: np.ndarray
    column: int

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """What a post-processor of the peer is given."""
        return {
            **self.tables,
            "score_train": self.score,
            "label_train": self.label,
            "score_test": self.score_test,
            "label_test": self.label_test,
        }

    @property
    def tables(self) -> dict[str, np.ndarray]:
        """What a pre-processor of the peer is given."""
        return {
            "X_train": self.X,
            "y_train": self.y,
            "s_train": self.s,
            "X_test": self.X_test,
            "y_test": self.y_test,
            "s_test": self.s_test,
        }


def adult_sex() -> Task:
    data = load("adult")
    kept = rows_of(data, "chen")
    split = make_splits(data, splitter="chen", rows=kept[kept >= TEST_FILE_ROWS])[0]
    ready = prepare(data, "chen", attribute="sex", split=split)
    y, s = ready.y_train.astype(np.intp), ready.s_train.astype(np.intp)
    model = LogisticRegression(max_iter=1000).fit(ready.X_train, y)
    scores = [model.predict_proba(X)[:, 1] for X in (ready.X_train, ready.X_test)]
    labels = [(score > 0.5).astype(np.intp) for score in scores]
    return Task(
        X=ready.X_train,
        y=y,
        s=s,
        X_test=ready.X_test,
        y_test=ready.y_test.astype(np.intp),
        s_test=ready.s_test.astype(np.intp),
        score=scores[0],
        label=labels[0],
        score_test=scores[1],
        label_test=labels[1],
        column=ready.sensitive_column,
    )


class Recorded(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A base learner whose fit and predictions cost nothing: it looks its scores up by length."""

    def __init__(self, scores: tuple[np.ndarray, ...] = ()) -> None:
        self.scores = scores
        self.classes_ = np.array([0, 1])
        self.n_features_in_ = 98

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn nothing."""
        self.weight_ = sample_weight
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Give the recorded scores of so many rows."""
        score = next((s for s in self.scores if len(s) == len(X)), self.scores[0][: len(X)])
        return np.column_stack([1 - score, score])

    def predict(self, X: Any) -> np.ndarray:
        """Give the recorded labels of so many rows."""
        return (self.predict_proba(X)[:, 1] > 0.5).astype(np.intp)

    def __sklearn_is_fitted__(self) -> bool:
        return True


def _same(ours: np.ndarray, theirs: np.ndarray, what: str) -> str:
    different = int((np.asarray(ours) != np.asarray(theirs)).sum())
    return f"same {what}" if not different else f"{different:,} of {np.size(ours):,} {what} DIFFER"


def _close(ours: np.ndarray, theirs: np.ndarray, what: str) -> str:
    gap = float(np.abs(np.asarray(ours) - np.asarray(theirs)).max())
    return f"{what} agree to {gap:.0e}"


def _reweighing(task: Task) -> list[Row]:
    ours, given = cpu_seconds(
        lambda: Reweighing(**PUBLISHED).resample(task.X, task.y, task.s), repeat=9
    )
    peer, out = measure(PEER_ENV, "reweighing", {"X": task.X, "y": task.y, "s": task.s}, repeat=9)
    note = _close(given[3], out["weight"], "weights")
    base = Recorded((task.score,))

    def whole() -> Recorded:
        method = Reweighing(base, privileged=1, favorable=1, **PUBLISHED)
        return method.fit(task.X, task.y, sensitive_features=task.s).estimator_

    through, fitted = cpu_seconds(whole, repeat=9)
    return [
        faster("reweighing, stage", PEER, ours, peer, 20, note),
        faster(
            "reweighing, whole estimator",
            PEER,
            through,
            peer,
            3,
            _close(fitted.weight_, out["weight"], "weights"),
        ),
    ]


def _repair(task: Task) -> list[Row]:
    def call() -> tuple[np.ndarray, np.ndarray]:
        method = DisparateImpactRemover(sensitive_columns=task.column, **PUBLISHED)
        train, *_ = method.resample(task.X, task.y, task.s)
        return train, method.transform(task.X_test, task.s_test)

    ours, mine = cpu_seconds(call, repeat=5)
    peer, out = measure(
        PEER_ENV, "disparate_impact_remover", task.tables, repeat=1, column=task.column
    )
    theirs = [np.delete(out[part], task.column, axis=1) for part in ("train", "test")]
    note = _same(np.vstack(mine), np.vstack(theirs), "repaired values")
    return [faster("disparate impact remover, train and test", PEER, ours, peer, 50, note)]


def _representation(task: Task) -> list[Row]:
    def call() -> tuple[LearningFairRepresentations, np.ndarray]:
        method = LearningFairRepresentations(random_state=0, **PUBLISHED)
        method.resample(task.X, task.y, task.s)
        return method, method.transform(task.X_test)

    ours, (method, _) = cpu_seconds(call, repeat=3)
    peer, out = measure(PEER_ENV, "learning_fair_representations", task.tables, repeat=1, seed=0)
    note = (
        f"{method.evaluations_} evaluations; objective {method.objective_:.8f}, "
        f"AIF360's {float(out['objective']):.8f}"
    )
    return [faster("learning fair representations, same budget", PEER, ours, peer, 300, note)]


def _optimized() -> list[Row]:
    data = load("adult")
    split = make_splits(data, splitter="aif360", rows=rows_of(data, "coarse"))[0]
    ready = prepare(data, "coarse", attribute="sex", split=split)
    frame, y, s = ready.train.frame, ready.y_train.astype(np.intp), ready.s_train.astype(np.intp)

    def call() -> OptimizedPreprocessing:
        method = OptimizedPreprocessing(
            distortion=optimized_preprocessing.ADULT,
            sensitive_columns="sex",
            random_state=0,
            **PUBLISHED,
        )
        method.resample(frame, y, s)
        return method

    ours, method = cpu_seconds(call, repeat=3)
    arrays = {"race": frame["race"].to_numpy(), "s": s, "y": y}
    for name in ("Age (decade)", "Education Years"):
        arrays[name] = frame[name].astype(str).to_numpy().astype("U8")
    peer, out = measure(PEER_ENV, "optimized_preprocessing", arrays, repeat=1)
    note = f"optimum {method.objective_:.8f}, AIF360's {float(out['objective']):.8f}"
    job = f"optimized pre-processing, coarse Adult, {len(y):,} rows"
    return [faster(job, PEER, ours, peer, 25, note)]


def _post(
    task: Task, make: Callable[..., Any], job: str, floor: float, repeat: int, **options: Any
) -> tuple[Row, float, np.ndarray]:
    """Time fit on the training scores and application to the test scores, as a stage."""

    def call() -> np.ndarray:
        method = make(**options, **PUBLISHED)
        method.fit_scores(task.score, task.label, task.y, task.s)
        return method.adjust(task.score_test, task.label_test, task.s_test)

    ours, labels = cpu_seconds(call, repeat=9)
    peer, out = measure(PEER_ENV, make.name, task.arrays, repeat=repeat, **options)
    written = ", ".join(map(str, options.values()))
    title = f"{job}{' ' + written if written else ''}, stage"
    return (
        faster(title, PEER, ours, peer, floor, _same(labels, out["labels"], "labels")),
        peer,
        out["labels"],
    )


def _whole(task: Task, make: Callable[..., Any], peer: float, labels: np.ndarray) -> Row:
    base = Recorded((task.score, task.score_test))

    def call() -> np.ndarray:
        method = make(base, fit_on="given", privileged=1, favorable=1, **PUBLISHED)
        method.fit(task.X, task.y, sensitive_features=task.s)
        return method.predict(task.X_test, sensitive_features=task.s_test)

    ours, mine = cpu_seconds(call, repeat=9)
    return faster(
        "equalized odds, whole estimator", PEER, ours, peer, 3, _same(mine, labels, "labels")
    )


def rows() -> list[Row]:
    """Measure every line of Part 3."""
    task = adult_sex()
    found = [*_reweighing(task), *_repair(task), *_representation(task), *_optimized()]
    found += [
        _post(task, RejectOption, "reject option", 5000, 1, metric=metric)[0]
        for metric in ("spd", "aod", "eod")
    ]
    found += [
        _post(task, CalibratedEqualizedOdds, "calibrated equalized odds", 15, 5, cost=cost)[0]
        for cost in ("fnr", "fpr", "weighted")
    ]
    stage, peer, labels = _post(task, EqualizedOdds, "equalized odds", 5, 9)
    return [*found, stage, _whole(task, EqualizedOdds, peer, labels)]
