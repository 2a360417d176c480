"""Base learners by name, and the one way to fit any of them with weights."""

import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from scipy.special import expit
from sklearn import config_context
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    clone,
    is_clusterer,
    is_outlier_detector,
    is_regressor,
)
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import has_fit_parameter, validate_data
from threadpoolctl import ThreadpoolController

from isonomy._registry import Registry
from isonomy._validate import check_weight, unknown_name
from isonomy.errors import InputError, NotApplicable
from isonomy.networks import NETWORKS, make_network


@lru_cache(maxsize=1)
def _thread_pools(modules: int) -> ThreadpoolController:
    """Return the libraries with thread pools: looked for again where modules were imported."""
    return ThreadpoolController()


def one_thread(api: str | None = "blas") -> Any:
    """Return a context that holds BLAS, or with None every library, to one thread.

    A search or a game is many small products, on which threads wait for each other. Looking for
    the libraries takes longer than a quick fit, so they are remembered.
    """
    return _thread_pools(len(sys.modules)).limit(limits=1, user_api=api)


__all__ = [
    "FitMeter",
    "LegacyLogisticRegression",
    "MODELS",
    "RECIPES",
    "WeightedNeighbors",
    "fit_model",
    "fit_steps",
    "innermost",
    "make_model",
    "metered_fit",
    "metered_fits",
    "network_factory",
    "one_job",
    "seeded",
    "weight_keyword",
    "with_scores",
]


class WeightedNeighbors(KNeighborsClassifier):  # type: ignore[misc]
    """The k nearest neighbours, each voting with the weight of its training row.

    scikit-learn's own classifier takes no ``sample_weight``, so it cannot serve reweighing; with
    weights all equal the two agree, ties included.

    Examples
    --------
    >>> model = WeightedNeighbors(n_neighbors=3).fit([[0], [1], [2]], [0, 1, 1], [5, 1, 1])
    >>> model.predict([[1]]).tolist()
    [0]
    """

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Remember the rows and their weights."""
        super().fit(X, y)
        n = self.n_samples_fit_
        self.row_weight_ = np.ones(n) if sample_weight is None else check_weight(sample_weight)
        if len(self.row_weight_) != n:
            raise InputError(
                f"sample_weight must have one entry per row; got {len(self.row_weight_):,} "
                f"for {n:,} rows."
            )
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return each class's share of the neighbours' weight."""
        distance, index = self.kneighbors(X)
        votes = self.row_weight_[index]
        if self.weights == "distance":
            with np.errstate(divide="ignore"):
                nearness = 1.0 / distance
            exact = np.isinf(nearness)
            nearness = np.where(exact.any(axis=1, keepdims=True), exact, nearness)
            votes = votes * nearness
        member = self._y[index][..., None] == np.arange(len(self.classes_))
        share: NDArray[np.float64] = (votes[..., None] * member).sum(axis=1)
        total = share.sum(axis=1, keepdims=True)
        # Neighbours that all weigh nothing say nothing: every class alike.
        even = np.full_like(share, 1.0 / share.shape[1])
        shares: NDArray[np.float64] = np.divide(share, total, out=even, where=total > 0)
        return shares

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with the largest share; a tie goes to the first class."""
        labels: NDArray[Any] = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return labels


class LegacyLogisticRegression(LogisticRegression):  # type: ignore[misc]
    """Logistic regression as scikit-learn fitted it up to version 1.0, when the studies ran.

    That version minimised the sum of the losses and today's minimises their mean, so that the
    same tolerances stop elsewhere: later on German and COMPAS, and on Adult after 100 steps
    whether converged or not. With this class the published results of the default model come out
    to the last digit; with today's, up to six test rows differ. Two classes, the penalty l2 and
    the solver L-BFGS only, which is all that the studies used. Stopping early is its purpose and
    is not warned of.

    Examples
    --------
    >>> model = LegacyLogisticRegression().fit([[0.0], [1.0], [2.0]], [0, 0, 1])
    >>> model.predict([[0.5], [2.5]]).tolist()
    [0, 1]
    """

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Minimise the weighted sum of the losses from zero."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        self.classes_, code = np.unique(y, return_inverse=True)
        if len(self.classes_) != 2:
            raise NotApplicable(
                f"The logistic regression of the studies takes two classes; got "
                f"{len(self.classes_)}."
            )
        weight = np.ones(len(code)) if sample_weight is None else check_weight(sample_weight)
        weight, sign, d = self.C * weight, 2.0 * code - 1.0, X.shape[1]

        def loss(w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            # The order of the operations is the old one: the last bits steer where it stops.
            coef, intercept = w[:d], w[d:]
            margin = sign * (X @ coef + intercept.sum())
            pull = weight * (expit(margin) - 1) * sign
            total = np.sum(weight * np.logaddexp(0.0, -margin)) + 0.5 * (coef @ coef)
            return float(total), np.append(X.T @ pull + coef, [pull.sum()] * len(intercept))

        result = minimize(
            loss,
            np.zeros(d + bool(self.fit_intercept)),
            jac=True,
            method="L-BFGS-B",
            options={"gtol": self.tol, "maxiter": self.max_iter},
        )
        self.coef_ = result.x[None, :d]
        self.intercept_ = result.x[d:] if self.fit_intercept else np.zeros(1)
        self.n_iter_ = np.array([result.nit], dtype=np.int32)
        return self


def _scaled(model: BaseEstimator) -> Pipeline:
    return make_pipeline(StandardScaler(), model)


Factory = Callable[[Any], BaseEstimator]


def network_factory(name: str, *, scaled: bool) -> Factory:
    """Return a factory of one of the networks, after a scaler or not."""

    def make(seed: Any) -> BaseEstimator:
        network = make_network(name, random_state=seed)
        return _scaled(network) if scaled else network

    return make


MODELS: dict[str, Factory] = {
    "lr": lambda seed: _scaled(LogisticRegression(max_iter=1000, random_state=seed)),
    "dt": lambda seed: DecisionTreeClassifier(min_samples_leaf=10, random_state=seed),
    "svm": lambda seed: _scaled(LinearSVC(random_state=seed)),
    "svc": lambda seed: _scaled(SVC(random_state=seed)),
    "rf": lambda seed: RandomForestClassifier(random_state=seed),
    "gbt": lambda seed: HistGradientBoostingClassifier(random_state=seed),
    "nb": lambda _: GaussianNB(),
    "knn": lambda _: _scaled(WeightedNeighbors()),
    **{name: network_factory(name, scaled=True) for name in NETWORKS},
}
"""The base learners of the recipe ``default``: scaled where scale matters."""

RECIPES: Registry[Mapping[str, Factory]] = Registry("recipe")
"""Recipe -> name -> factory; a recipe holds only the learners its study used."""

RECIPES.add("default", MODELS)


def make_model(name: str, recipe: str = "default", random_state: Any = 0) -> BaseEstimator:
    """Make a base learner from its short name.

    Parameters
    ----------
    name : {"lr", "dt", "svm", "svc", "rf", "gbt", "nb", "knn", "dnn", "dl", "dl2", "dl3", "dl4"}
        Logistic regression, decision tree, linear and RBF support vector machine, random forest,
        gradient-boosted trees, naive Bayes, nearest neighbours, and the networks of the studies
        (:func:`isonomy.networks.make_network`), whose ``fit`` needs the extra ``torch``. All
        accept ``sample_weight``.
    recipe : str
        ``default`` scales where scale matters and converges; the others (``chen``, ``fairea``,
        ``evt``) are the settings of the studies of :mod:`isonomy.papers`, whose data are scaled
        when they are prepared.
    random_state : int or RandomState
        Seed of the learners that draw random numbers.

    Returns
    -------
    estimator
        An unfitted scikit-learn classifier.

    Examples
    --------
    >>> make_model("lr", recipe="chen")
    LegacyLogisticRegression(random_state=0)
    """
    factories = RECIPES[recipe]
    if name not in factories:
        what = "model" if recipe == "default" else f"model of the recipe {recipe}"
        raise unknown_name(what, name, list(factories))
    return factories[name](random_state)


def seeded(estimator: BaseEstimator, random_state: Any) -> BaseEstimator:
    """Return the estimator, with a seed wherever it, or a part of it, has none.

    Of a generator a copy is drawn from, so that its own state does not change.

    Examples
    --------
    >>> seeded(RandomForestClassifier(), 3)
    RandomForestClassifier(random_state=3)
    >>> seeded(RandomForestClassifier(random_state=1), 3)
    RandomForestClassifier(random_state=1)
    """

    def seed() -> Any:  # drawn only where a learner has no seed: a stream may be shared by copies
        if isinstance(random_state, np.random.RandomState):
            return int(deepcopy(random_state).randint(2**31 - 1))
        if isinstance(random_state, np.random.Generator):
            return int(deepcopy(random_state).integers(2**31 - 1))
        return random_state

    return estimator if random_state is None else _settled(estimator, ("random_state",), seed)


def one_job(estimator: BaseEstimator) -> BaseEstimator:
    """Return the estimator, with one thread wherever a booster in it names no number.

    For workers side by side: learners outside scikit-learn take all cores where none is named, and
    scikit-learn's take one.

    Examples
    --------
    >>> one_job(RandomForestClassifier())
    RandomForestClassifier()
    """
    return _settled(estimator, ("n_jobs", "thread_count"), lambda: 1, but_of="sklearn.")


def _settled(
    estimator: BaseEstimator,
    names: Collection[str],
    value: Callable[[], Any],
    *,
    but_of: str = "(none)",
) -> BaseEstimator:
    """Return a copy in which parameters of these names that are None have a value.

    Those of parts from the package ``but_of`` stay as they are.
    """
    if not hasattr(estimator, "get_params"):
        return estimator
    parts = {"": estimator, **estimator.get_params(deep=True)}
    open_ends = [
        k
        for k, v in parts.items()
        if k and v is None and k.rpartition("__")[2] in names
        if not type(parts.get(k.rpartition("__")[0], estimator)).__module__.startswith(but_of)
    ]
    if not open_ends:
        return estimator
    return clone(estimator).set_params(**dict.fromkeys(open_ends, value()))


def weight_keyword(estimator: BaseEstimator) -> str | None:
    """Name the fit argument that takes the weights, or return None where there is none.

    Examples
    --------
    >>> weight_keyword(make_model("lr"))
    'logisticregression__sample_weight'
    """
    if isinstance(estimator, Pipeline):
        last, step = estimator.steps[-1]
        inner = weight_keyword(step)
        return None if inner is None else f"{last}__{inner}"
    if isinstance(estimator, CalibratedClassifierCV) and estimator.estimator is not None:
        # it takes weights itself and would keep them from a model that does not
        return None if weight_keyword(estimator.estimator) is None else "sample_weight"
    if has_fit_parameter(estimator, "sample_weight"):
        return "sample_weight"
    if isinstance(estimator, VotingClassifier | StackingClassifier):
        # they hand weights on to every part, under one name
        parts = [part for _, part in estimator.estimators if part != "drop"]
        parts += [last] if (last := getattr(estimator, "final_estimator", None)) else []
        alike = all(weight_keyword(part) == "sample_weight" for part in parts)
        return "sample_weight" if alike else None
    if hasattr(estimator, "best_estimator_") or type(estimator).__name__.endswith("SearchCV"):
        return weight_keyword(estimator.estimator)
    return None


@dataclass
class FitMeter:
    """The CPU seconds that fits took, and how many fits there were."""

    cpu: float = 0.0
    fits: int = 0


_METER: ContextVar[FitMeter | None] = ContextVar("isonomy_fit_meter", default=None)


@contextmanager
def metered_fits() -> Iterator[FitMeter]:
    """Measure what the fits of learners cost inside a ``with`` block, whoever asks for them.

    Only the block's own thread or task is measured, and nothing is left behind after it.

    Examples
    --------
    >>> with metered_fits() as meter:
    ...     _ = fit_model(make_model("nb"), [[0.0], [1.0]], [0, 1])
    >>> meter.fits
    1
    """
    meter = FitMeter()
    token = _METER.set(meter)
    try:
        yield meter
    finally:
        _METER.reset(token)


@contextmanager
def metered_fit() -> Iterator[None]:
    """Charge what is done inside a ``with`` block to the meter as one fit."""
    meter = _METER.get()
    if meter is None:
        yield
        return
    token = _METER.set(None)  # a fit inside this fit is part of it
    started = time.process_time()
    try:
        yield
    finally:
        _METER.reset(token)
        meter.cpu += time.process_time() - started
        meter.fits += 1


class Recoded(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A fitted learner that knows the classes as 0, 1, ... only, answering in their labels.

    Examples
    --------
    >>> inner = GaussianNB().fit([[0.0], [1.0], [8.0], [9.0]], [0, 0, 1, 1])
    >>> Recoded(inner, np.array(["no", "yes"])).predict([[8.0]]).tolist()
    ['yes']
    """

    def __init__(self, model: Any, classes: NDArray[Any]) -> None:
        self.model = model
        self.classes = classes
        self.classes_ = classes[np.asarray(model.classes_, dtype=np.intp)]
        for known in ("feature_names_in_", "n_features_in_"):  # which columns it was fitted on
            if hasattr(model, known):
                setattr(self, known, getattr(model, known))

    def __sklearn_clone__(self) -> Self:
        return self  # like scikit-learn's FrozenEstimator: an unfitted learner has no classes

    def fit(self, X: Any, y: Any) -> Self:
        """Leave the learner as it is."""
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the labels."""
        return np.asarray(self.classes[np.asarray(self.model.predict(X), dtype=np.intp)])

    @available_if(lambda self: hasattr(self.model, "predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probabilities, in the order of ``classes_``."""
        return np.asarray(self.model.predict_proba(X), dtype=np.float64)


def fit_model(
    estimator: BaseEstimator, X: Any, y: Any, sample_weight: NDArray[np.float64] | None = None
) -> BaseEstimator:
    """Fit a clone of an estimator, handing weights to the step of a pipeline that takes them.

    A learner that refuses the labels themselves, as gradient boosting outside scikit-learn may, is
    fitted on their positions 0, 1, ... and answers in labels.

    Examples
    --------
    >>> import numpy as np
    >>> model = fit_model(make_model("lr"), [[0.0], [1.0]], [0, 1], np.array([1.0, 2.0]))
    >>> model.predict([[2.0]]).tolist()
    [1]
    """
    with metered_fit():
        return _fit(estimator, X, y, sample_weight)


def fit_steps(estimator: BaseEstimator, X: Any, y: Any) -> tuple[Pipeline | None, Any, Any]:
    """Fit the steps of a pipeline before its last once, for a learner that is fitted many times.

    Weights never reach these steps, so every fit of the whole pipeline would fit them alike.

    Returns
    -------
    steps, learner, X
        The fitted steps or None, the last step unfitted, and the rows as it sees them.

    Examples
    --------
    >>> steps, learner, X = fit_steps(make_model("lr"), [[0.0], [2.0]], [0, 1])
    >>> X.ravel().tolist(), type(learner).__name__
    ([-1.0, 1.0], 'LogisticRegression')
    """
    if not isinstance(estimator, Pipeline) or len(estimator.steps) < 2:
        return None, estimator, X
    steps = clone(estimator[:-1])
    return steps, estimator.steps[-1][1], steps.fit_transform(X, y)


def _fit(
    estimator: BaseEstimator, X: Any, y: Any, sample_weight: NDArray[np.float64] | None
) -> BaseEstimator:
    try:
        return _fit_labels(estimator, X, y, sample_weight)
    except (TypeError, ValueError):
        # Labels go in as they are where they can: a learner may name them, in its class_weight.
        classes, codes = np.unique(np.asarray(y), return_inverse=True)
        if is_regressor(estimator) or np.array_equal(classes, np.arange(len(classes))):
            raise
        with suppress(TypeError, ValueError):
            return Recoded(_fit_labels(estimator, X, codes, sample_weight), classes)
        raise  # it was not the labels


def _fit_labels(
    estimator: BaseEstimator, X: Any, y: Any, sample_weight: NDArray[np.float64] | None
) -> BaseEstimator:
    model = clone(estimator)
    if sample_weight is None:
        return model.fit(X, y)
    keyword = weight_keyword(model)
    if keyword is None:
        raise NotApplicable(
            f"{type(innermost(model)).__name__} takes no sample_weight, which this method needs; "
            f'choose a learner that does, for instance make_model("knn") for neighbours.'
        )
    # A calibrated pipeline hands weights to the model inside only by routing; with routing any
    # other pipeline refuses step__argument and wants requests instead.
    routed = isinstance(model, CalibratedClassifierCV) and isinstance(model.estimator, Pipeline)
    with config_context(enable_metadata_routing=routed):
        if routed:
            for part in model.estimator.get_params(deep=True).values():
                if hasattr(part, "set_fit_request") and has_fit_parameter(part, "sample_weight"):
                    part.set_fit_request(sample_weight=False)
            innermost(model).set_fit_request(sample_weight=True)
        return model.fit(X, y, **{keyword: sample_weight})


def check_learner(estimator: Any, who: str) -> None:
    """Raise unless a base learner is a classifier, or may be one.

    Examples
    --------
    >>> check_learner(StandardScaler(), "reweighing")
    Traceback (most recent call last):
    ...
    isonomy.errors.InputError: reweighing needs a classifier as its learner; got StandardScaler, \
which predicts no labels: pass one such as LogisticRegression().
    """
    if estimator is None:
        return
    if isinstance(estimator, type):
        why = f"the class {estimator.__name__}, not an object: write {estimator.__name__}()"
        raise InputError(f"{who} needs a classifier as its learner; got {why}.")
    inner, name = innermost(estimator), type(innermost(estimator)).__name__
    # a stacked or frozen model has it on its class or on itself only
    if not all(hasattr(inner, m) or hasattr(type(inner), m) for m in ("fit", "predict")):
        why = "which predicts no labels"
    elif is_regressor(inner):
        why = "which predicts numbers"
    elif is_clusterer(inner) or is_outlier_detector(inner):
        why = "which learns from no labels"
    else:
        return
    raise InputError(
        f"{who} needs a classifier as its learner; got {name}, {why}: pass one such as "
        f"LogisticRegression()."
    )


def with_scores(estimator: BaseEstimator) -> BaseEstimator:
    """Return the estimator itself, or a calibrated version where it has no probabilities.

    The calibration is scikit-learn's default (sigmoid, five folds, averaged), which is what
    Chen et al. (2023) gave their linear support vector machine.

    Examples
    --------
    >>> type(with_scores(make_model("svm", recipe="chen"))).__name__
    'CalibratedClassifierCV'
    """
    if hasattr(estimator, "predict_proba") or not hasattr(estimator, "decision_function"):
        return estimator  # what has neither yet, such as a StackingClassifier, may have them fitted
    return CalibratedClassifierCV(estimator)


def innermost(estimator: BaseEstimator) -> Any:
    """Return the learner inside pipelines, searches and calibration; a search's best one.

    Examples
    --------
    >>> innermost(make_model("lr"))
    LogisticRegression(max_iter=1000, random_state=0)
    """
    if isinstance(estimator, Pipeline):
        return innermost(estimator.steps[-1][1])
    if isinstance(estimator, Recoded):
        return innermost(estimator.model)
    if type(estimator).__name__.endswith("SearchCV") or (
        isinstance(estimator, CalibratedClassifierCV) and estimator.estimator is not None
    ):
        return innermost(getattr(estimator, "best_estimator_", estimator.estimator))
    return estimator
