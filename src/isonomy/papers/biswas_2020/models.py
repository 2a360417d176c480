"""The forty models: one line each in ``models.csv``, and the learner that a line stands for.

================  ===================================================================================
``family``        the paper's letters, see :data:`FAMILIES`
``parameters``    of the learner, where they are not the library's defaults of early 2020
``seed``          that the kernel fixed; empty where every fit drew its own
``keep``          the numeric columns kept; as in AIF360 protected and categorical ones stay anyway
``drop``          the columns dropped; ``-`` is a list that drops nothing. Where there is a list at
                  all, Adult's survey weight fnlwgt is a feature
``scaling``       standardised inside the ``model``; in the ``data`` themselves; only the ``test``
                  rows of the data (AC1); or both ``parts``, each by its own means (BM1)
``search``        the grid that was searched, and ``scoring`` by what
``stop``          the rounds without progress on the test rows after which trees were no longer added
``instead``       what stands in the place of what no longer exists
================  ===================================================================================

References
----------
Biswas, S. and Rajan, H. (2020). Do the machine learning models on a crowd sourced platform exhibit
bias? ESEC/FSE 2020.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import pandas as pd
from sklearn.base import BaseEstimator, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    BaggingClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from isonomy._names import parse_name
from isonomy._validate import unknown_name
from isonomy.models import RECIPES, LegacyLogisticRegression, WeightedNeighbors
from isonomy.papers.biswas_2020.learners import Boosted, ForestSearch

FAMILIES: dict[str, str] = {
    "RFT": "random forest",
    "XGB": "XGBoost",
    "SVC": "support vector machine",
    "EVC": "vote of six learners",
    "KNN": "nearest neighbours",
    "LRG": "logistic regression",
    "GBC": "gradient boosting",
    "CBC": "CatBoost",
    "DCT": "decision tree",
    "LGB": "LightGBM",
    "GNB": "naive Bayes",
    "EBG": "bagged trees",
}
"""The paper's letters of the families of models."""

_BOOSTED = {"XGB": "xgboost", "LGB": "lightgbm", "CBC": "catboost"}


@dataclass(frozen=True)
class Kernel:
    """One of the forty models, as its line in ``models.csv`` has it."""

    model: str
    dataset: str
    family: str
    parameters: dict[str, Any]
    seed: int | None
    keep: tuple[str, ...] | None
    drop: tuple[str, ...] | None
    scaling: str
    search: dict[str, Any]
    scoring: str
    stop: int | None
    instead: str

    @property
    def library(self) -> str | None:
        """The library of the extra ``boost`` that fits it, if one does."""
        return _BOOSTED.get(self.family)

    def make(self, seed: Any = 0) -> BaseEstimator:
        """Make the learner, unfitted; ``seed`` where the kernel fixed none."""
        learner = self._learner(seed if self.seed is None else self.seed)
        return make_pipeline(StandardScaler(), learner) if self.scaling == "model" else learner

    def _learner(self, seed: Any) -> BaseEstimator:
        if self.library is not None:
            return Boosted(
                self.library,
                self.parameters,
                stop=self.stop,
                smote=self.model == "GC2",
                random_state=seed,
            )
        if self.family == "EVC":
            forest = ForestSearch(
                RandomForestClassifier(random_state=seed), self.search, scoring=self.scoring
            )
            return _vote(forest, seed)
        learner = _PLAIN[self.family](seed, **self.parameters)
        if self.search:
            return ForestSearch(learner, self.search, scoring=self.scoring)
        return learner


def _vote(forest: BaseEstimator, seed: Any) -> VotingClassifier:
    members = [
        ("lr", LegacyLogisticRegression(random_state=seed)),
        ("best_rf", forest),
        ("svc", CalibratedClassifierCV(_margin(seed), ensemble=False)),
        ("knn", WeightedNeighbors()),
        ("mlp", MLPClassifier(random_state=seed)),
        ("tree", DecisionTreeClassifier(random_state=seed)),
    ]
    return VotingClassifier(members, voting="soft")


def _margin(seed: Any, **parameters: Any) -> SVC:
    # the same model with room for its kernel matrix (MB, taken as needed): a sixth of the time on Bank
    return SVC(random_state=seed, cache_size=2000, **parameters)


def _seeded(kind: Callable[..., BaseEstimator]) -> Callable[..., BaseEstimator]:
    return lambda seed, **parameters: kind(random_state=seed, **parameters)


def _logistic(seed: Any, **parameters: Any) -> BaseEstimator:
    kind = LogisticRegression if parameters else LegacyLogisticRegression
    return kind(random_state=seed, **parameters)


_PLAIN: dict[str, Callable[..., BaseEstimator]] = {
    "RFT": _seeded(RandomForestClassifier),
    "SVC": _margin,
    "KNN": lambda _, **parameters: WeightedNeighbors(**parameters),
    "LRG": _logistic,
    "GBC": _seeded(GradientBoostingClassifier),
    "DCT": _seeded(DecisionTreeClassifier),
    "GNB": lambda _, **parameters: GaussianNB(**parameters),
    "EBG": _seeded(BaggingClassifier),
}


@cache
def kernels() -> dict[str, Kernel]:
    """Return the forty models by name, in the paper's order.

    Examples
    --------
    >>> kernels()["AC2"].parameters
    {'n_estimators': 250, 'max_features': 5}
    >>> len(kernels()), kernels()["GC3"].keep
    (40, ('age', 'sex'))
    """
    table = pd.read_csv(Path(__file__).parent / "models.csv", dtype=str, keep_default_na=False)
    return {
        line["model"]: Kernel(
            model=line["model"],
            dataset=line["dataset"],
            family=line["family"],
            parameters=_pairs(line["parameters"]),
            seed=int(line["seed"]) if line["seed"] else None,
            keep=_words(line["keep"]),
            drop=_words(line["drop"]),
            scaling=line["scaling"],
            search=_pairs(line["search"]),
            scoring=line["scoring"],
            stop=int(line["stop"]) if line["stop"] else None,
            instead=line["instead"],
        )
        for line in table.to_dict(orient="records")
    }


def kernel(model: str) -> Kernel:
    """Return one of the forty models."""
    if model not in kernels():
        raise unknown_name("model of the forty", model, list(kernels()))
    return kernels()[model]


def _pairs(text: str) -> dict[str, Any]:
    return parse_name(f"x({text})")[1] if text else {}


def _words(text: str) -> tuple[str, ...] | None:
    if text == "-":
        return ()
    return tuple(text.split()) if text else None


def settled(fitted: Any) -> BaseEstimator:
    """Return a fitted learner unfitted, with what it searched for or stopped at settled.

    Examples
    --------
    >>> settled(make_pipeline(StandardScaler(), GaussianNB()))
    Pipeline(steps=[('standardscaler', StandardScaler()), ('gaussiannb', GaussianNB())])
    """
    if isinstance(fitted, Boosted | ForestSearch):
        return fitted.settled()
    if isinstance(fitted, Pipeline):
        return Pipeline([(name, settled(step)) for name, step in fitted.steps])
    if isinstance(fitted, VotingClassifier):
        members = [(name, settled(member)) for name, member in fitted.named_estimators_.items()]
        return VotingClassifier(members, voting=fitted.voting)
    return clone(fitted)


RECIPES.add("kaggle40", {name: partial(Kernel.make, row) for name, row in kernels().items()})
