"""What Parfait-ML turns of each learner, and how a configuration becomes a learner.

As published: its spaces (Tizpaz-Niari et al., 2022), with the ranges, scales and defaults of its
code, and its repairs of settings that a solver does not know. Corrected: the same parameters where
they matter, on scales that fit them; of a logistic regression the penalty, its strength and the
intercept, because fits that converge are the same whatever the solver. Left out of both are parameters that the code forces to one
value or that cannot change a model of two classes. Its random forest is a regressor whose mean is
compared with one half; ours is the classifier that was passed, whose criterion takes the place of
the regressor's. A network is no subject of Parfait-ML: that space is ours.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from isonomy.errors import NotApplicable
from isonomy.networks import NetworkClassifier
from isonomy.search import Choice, Config, Real, Space, Whole

_BOTH = [False, True]


@dataclass(frozen=True)
class Family:
    """A kind of learner: its spaces and what a configuration of them means to scikit-learn.

    Attributes
    ----------
    name : str
        As in ``isonomy.models``.
    learner : type
        The class.
    published, corrected : Space
        What can be turned.
    repair : callable
        From a configuration and the learner to parameters that the learner takes.
    """

    name: str
    learner: type
    published: Space
    corrected: Space
    repair: Callable[[Config, Any], Config]


# ---------------------------------------------------------------------- logistic regression

_SOLVERS = ["lbfgs", "newton-cg", "liblinear", "sag", "saga"]
_PENALTIES = ["l2", "l1", "elasticnet", "none"]
_ONLY_L2 = ("lbfgs", "newton-cg", "sag")
# corrected: what only decides how a fit gets to its end, and when it stops before it, is settled
_SETTLED = {"dual": False, "intercept_scaling": 10.0, "max_iter": 1000}


def _logistic(config: Config, learner: Any) -> Config:
    if "solver" not in config:
        l1 = config["penalty"] == "l1"
        quickest = {"solver": "liblinear", "tol": 1e-3} if l1 else {"solver": "lbfgs", "tol": 1e-4}
        config = {**_SETTLED, **quickest, **config}
    solver, penalty = config["solver"], config["penalty"]
    if solver in _ONLY_L2 and penalty in ("l1", "elasticnet"):
        penalty = "l2"
    if solver == "liblinear" and penalty in ("elasticnet", "none"):
        penalty = "l1"
    settings = {name: config[name] for name in ("solver", "tol", "C", "fit_intercept", "max_iter")}
    if solver == "liblinear":
        # its columns hold a constant of this height; 0 would be no intercept at all
        settings["intercept_scaling"] = max(config["intercept_scaling"], 1e-3)
        settings["dual"] = bool(config["dual"]) and penalty == "l2"
    else:
        settings |= {"intercept_scaling": 1.0, "dual": False}
    share = {"l1": 1.0, "elasticnet": config.get("l1_ratio", 0.0)}.get(penalty, 0.0)
    if learner.get_params()["penalty"] == "deprecated":
        # scikit-learn 1.8 turned the penalty's name into a share, and none into no strength
        return settings | {"l1_ratio": share, **({"C": np.inf} if penalty == "none" else {})}
    named = {"none": None}.get(penalty, penalty)
    return settings | {"penalty": named, "l1_ratio": share if penalty == "elasticnet" else None}


def _logistic_space(*, published: bool) -> Space:
    if not published:
        return Space(
            penalty=Choice(["l2", "l1", "none"]),
            C=Real(1e-3, 100.0, 1.0, log=True),
            fit_intercept=Choice(_BOTH, start=True),
        )
    return Space(
        solver=Choice(_SOLVERS),
        penalty=Choice(_PENALTIES),
        dual=Choice(_BOTH),
        tol=Real(0.0, 1.0, start=1e-4),
        C=Real(0.01, 100.0, start=10.0),
        fit_intercept=Choice(_BOTH),
        intercept_scaling=Real(0.0, 10.0, start=1.0),
        max_iter=Whole(95, 105, 100),
        l1_ratio=Real(0.0, 1.0, start=0.5),
    )


# ---------------------------------------------------------------------- linear support vectors


def _linear_svm(config: Config, learner: Any) -> Config:
    if config["loss"] == "hinge":
        return config | {"penalty": "l2", "dual": True}
    return config | {"dual": config["dual"] and config["penalty"] != "l1"}


def _svm_space(*, published: bool) -> Space:
    return Space(
        penalty=Choice(["l2", "l1"]),
        loss=Choice(["squared_hinge", "hinge"]),
        dual=Choice(_BOTH, start=True),
        tol=Real(1e-6, 0.1, start=1e-4, log=not published),
        C=Real(0.1, 10.0, 1.0) if published else Real(1e-3, 100.0, 1.0, log=True),
        fit_intercept=Choice(_BOTH, start=True),
        intercept_scaling=Real(0.1, 10.0, start=1.0),
        class_weight=Choice([None, "balanced"]),
        max_iter=Whole(950, 1050, 1000) if published else Whole(1000, 5000, 1000),
    )


# ---------------------------------------------------------------------- trees


def _as_is(config: Config, learner: Any) -> Config:
    return config


def _tree_space(*, published: bool) -> Space:
    return Space(
        criterion=Choice(["gini", "entropy"]),
        splitter=Choice(["best", "random"]),
        max_depth=Choice([None, *range(5, 21)]),
        min_samples_split=Whole(2, 5, 2),
        min_samples_leaf=Whole(1, 5, 1) if published else Whole(1, 50, 1),
        min_weight_fraction_leaf=Real(0.0, 0.5 if published else 0.1, start=0.0),
        max_features=Choice([None, "sqrt", "log2"]),
        # an alpha of 0.1 leaves the root alone nearly everywhere
        ccp_alpha=Real(0.0, 1.0 if published else 0.02, start=0.0),
    )


def _forest_space(*, published: bool) -> Space:
    return Space(
        criterion=Choice(["gini", "entropy"]),
        max_depth=Choice([None, *range(5, 21)]),
        min_samples_split=Whole(2, 10, 2),
        min_samples_leaf=Whole(1, 5, 1) if published else Whole(1, 50, 1),
        min_weight_fraction_leaf=Real(0.0, 0.1, start=0.0),
        # the published default of a regressor, all features, is no forest of classifiers
        max_features=Choice(["sqrt", "log2", None]),
        n_estimators=Whole(50, 100, 100),
    )


# ---------------------------------------------------------------------- networks

_SHAPES = [
    (64, 32, 16, 8, 4),
    (128, 64, 32, 16, 8),
    (30, 20, 15, 10, 5),
    (64, 32, 16),
    (32, 16),
    (64,),
    (16,),
]


def _network_space(*, published: bool) -> Space:
    return Space(
        hidden=Choice(_SHAPES),
        optimizer=Choice(["adam", "nadam", "sgd"]),
        learning_rate=Real(1e-4, 1e-2, start=1e-3, log=True),
        l2=Choice([0.0, 1e-5, 1e-4, 1e-3, 1e-2]),
        n_epochs=Whole(5, 50, 25),
        batch_size=Choice([32, 16, 64, 128, 256]),
    )


FAMILIES = tuple(
    Family(name, learner, space(published=True), space(published=False), repair)
    for name, learner, space, repair in (
        ("lr", LogisticRegression, _logistic_space, _logistic),
        ("svm", LinearSVC, _svm_space, _linear_svm),
        ("rf", RandomForestClassifier, _forest_space, _as_is),
        ("dt", DecisionTreeClassifier, _tree_space, _as_is),
        ("dnn", NetworkClassifier, _network_space, _as_is),
    )
)


@dataclass(frozen=True)
class Tuned:
    """A learner that is to be configured: where it stands in what was passed, and its family.

    Examples
    --------
    >>> from isonomy.models import make_model
    >>> tuned = family_of(make_model("lr"))
    >>> tuned.prefix, tuned.family.name
    ('logisticregression__', 'lr')
    >>> tuned.configure(tuned.family.corrected.default | {"penalty": "l1"})[-1].solver
    'liblinear'
    """

    estimator: BaseEstimator
    prefix: str
    learner: Any
    family: Family | None

    def settings(self, config: Config) -> Config:
        """Return what a configuration means to the learner; several may mean the same."""
        return config if self.family is None else self.family.repair(config, self.learner)

    def configure(self, config: Config) -> Any:
        """Return a fresh copy of the estimator with a configuration of its learner."""
        settings = self.settings(config)
        return clone(self.estimator).set_params(**{self.prefix + k: v for k, v in settings.items()})


def family_of(estimator: BaseEstimator) -> Tuned:
    """Find the learner inside pipelines and calibrations, and the family it belongs to."""
    prefix, learner = "", estimator
    while True:
        if isinstance(learner, Pipeline):
            step, learner = learner.steps[-1]
            prefix += f"{step}__"
        elif isinstance(learner, CalibratedClassifierCV) and learner.estimator is not None:
            prefix, learner = f"{prefix}estimator__", learner.estimator
        else:
            break
    for family in FAMILIES:
        if isinstance(learner, family.learner):
            return Tuned(estimator, prefix, learner, family)
    names = ", ".join(family.learner.__name__ for family in FAMILIES)
    raise NotApplicable(
        f"ecd_fair knows what to turn of {names}; got {type(learner).__name__}: pass space=... "
        f"with its parameters."
    )
