"""One dataset, prepared and split one way: what the methods of a trial share is done once here.

Shared are the prepared arrays, every base model's fit and its scores, out-of-fold scores, and
what a pre-processor makes of the data. Sharing changes nothing: each prediction is the one that
``mitigator.fit(...).predict(...)`` gives, which the tests hold every method to.
"""

import hashlib
import zlib
from collections.abc import Callable, Hashable, Mapping
from contextlib import nullcontext
from copy import copy
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, ClassVar, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from isonomy._arrays import Floats
from isonomy._groups import cross
from isonomy._names import base_name, parse_name
from isonomy.data import Dataset, Encoded, encode, load, make_split
from isonomy.data.prepare import PREPARATIONS
from isonomy.data.prepared import Prepared
from isonomy.errors import InputError, NotApplicable
from isonomy.metrics import Neighbours, neighbours
from isonomy.metrics.joint import JointCounts
from isonomy.mitigators import (
    MITIGATORS,
    BaseMitigator,
    PostProcessor,
    PreProcessor,
    Unmitigated,
    make_mitigator,
)
from isonomy.models import fit_model, make_model, metered_fit, with_scores
from isonomy.networks import is_network
from isonomy.study.collect import collected_warnings, repeat_warnings
from isonomy.study.plan import Trial, recipe_of
from isonomy.study.source import Source
from isonomy.study.spec import WORKBENCHES, Method, Study

Labels = NDArray[np.intp]
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Outputs:
    """Predicted labels (1 is favourable) and, where there are any, scores in between.

    ``measured`` are metrics as a workbench of its own kind measured them, in place of those that
    follow from the labels.
    """

    labels: Labels
    scores: Floats | None
    measured: Mapping[str, float] = field(default_factory=dict)


class SharedStream(np.random.RandomState):
    """NumPy's old stream that clones share instead of copying: one order of draws for all."""

    def __deepcopy__(self, memo: dict[int, Any]) -> "SharedStream":
        return self


def outputs(model: Any, X: Any) -> Outputs:
    """Return a fitted model's labels and its scores of the favourable label, 1."""
    scored = hasattr(model, "predict_proba")
    if scored and isinstance(model, RandomForestClassifier):
        # a forest's label is its likeliest class; asking for both would walk the trees twice
        share = model.predict_proba(X)
        good = np.flatnonzero(model.classes_ == 1)
        likeliest = model.classes_.take(share.argmax(axis=1))
        scores = share[:, good[0]] if good.size else np.zeros(len(share))
        return Outputs((likeliest == 1).astype(np.intp), scores)
    labels = (model.predict(X) == 1).astype(np.intp)
    if not scored:
        return Outputs(labels, None)
    good = np.flatnonzero(model.classes_ == 1)
    share = model.predict_proba(X)
    return Outputs(labels, share[:, good[0]] if good.size else np.zeros(len(labels)))


@lru_cache(maxsize=8)
def _dataset(source: Source | str) -> Dataset:
    """Load data once per process: what workers receive are names."""
    return load(source) if isinstance(source, str) else source.load()


@lru_cache(maxsize=8)
def _encoded(source: Source | str, preparation: str, attribute: str | None) -> Encoded:
    recipe, options = parse_name(preparation)
    return encode(_dataset(source), recipe, attribute=attribute, **options)


@lru_cache(maxsize=8)
def _groups(source: Source | str) -> tuple[NDArray[np.intp], tuple[tuple[Any, ...], ...]]:
    """Return numbers to the joint groups of all protected attributes, over all rows of the dataset.

    All rows, so that every split and every preparation counts the same groups.
    """
    table = _dataset(source).sensitive
    return cross({name: table[name] for name in table}, len(table))


@WORKBENCHES.register("default")
class Workbench:
    """The data of a trial under one preparation and splitter, and what has been done with them.

    Parameters
    ----------
    study : Study
        What is run.
    trial : Trial
        Which part of it.
    preparation, splitter : str
        How the data are prepared and split here.
    """

    version: ClassVar[str] = "1"
    """Rises when the same specification gives other results; counted for kinds of their own."""

    def __init__(self, study: Study, trial: Trial, preparation: str, splitter: str) -> None:
        self.study, self.trial = study, trial
        self.is_inner = False  # there settings are compared: nobody reads warnings and scores
        self.preparation, self.splitter = preparation, splitter
        self.seed = study.seed + trial.repeat
        self.attributes = trial.task.names
        self._source = study.source_of(trial.dataset) or trial.dataset
        data = _dataset(self._source)
        one_table = PREPARATIONS[parse_name(preparation)[0]].one_table
        encoded = _encoded(self._source, preparation, None if one_table else self.attributes[0])
        rows = encoded.rows
        for attribute in self.attributes[1:]:
            rows = rows[data.known(attribute)[rows]]
        split = make_split(data, trial.repeat, study.seed, splitter=splitter, rows=rows)
        self._drawn = len(rows)
        self.majority = int(2 * int(encoded.y.sum()) >= len(encoded.y))
        self.privileged = data.privileged
        self.attribute_names = data.attributes
        self._take(encoded.at(split, self.attributes[0]))

    def _take(self, ready: Prepared) -> None:
        """Learn from and test on these rows, with nothing done yet."""
        self.ready = ready
        self.X, self.y = ready.X_train, ready.y_train.astype(int)
        self.X_test, self.y_test = ready.X_test, ready.y_test.astype(int)
        self.s, self.s_test = (self._sensitive(p.frame) for p in (ready.train, ready.test))
        weighted = self.study.uses_weights
        self.w = ready.train.weight if weighted else None
        self.w_test = ready.test.weight if weighted else None
        self.rows = hashlib.sha256(ready.test.rows.astype("<i8").tobytes()).hexdigest()[:16]
        self._done: dict[tuple[Hashable, ...], Any] = {}
        self.ahead: dict[tuple[Method | None, str], Any] = {}

    def inner(self, train: NDArray[np.intp], held_out: NDArray[np.intp]) -> "Workbench":
        """Return the workbench that learns from some training rows and tests on others of them.

        The test rows are not in it.
        """
        inner = copy(self)
        inner.is_inner = True
        rows = self.ready.train
        inner._take(
            replace(self.ready, train=rows.at(train), test=rows.at(held_out), validation=None)
        )
        return inner

    def _sensitive(self, frame: pd.DataFrame) -> Any:
        columns = {a: frame[a].to_numpy().astype(int) for a in self.attributes}
        return columns if len(columns) > 1 else columns[self.attributes[0]]

    def once(self, key: tuple[Hashable, ...], do: Callable[[], T]) -> T:
        """Do a thing the first time it is asked for; what failed once fails again, at no cost."""
        if key not in self._done:
            with collected_warnings() as collected:
                try:
                    self._done[key] = (do(), None, collected)
                except Exception as error:
                    self._done[key] = (None, error, collected)
        value, failure, warned = self._done[key]
        repeat_warnings(warned)  # whoever asks hears them, not only who asked first
        if failure is not None:
            raise failure
        result: T = value
        return result

    # Making models and mitigators.

    def random_state(self) -> Any:
        """Return a seed, or as published NumPy's old stream where the split left it.

        The studies' learners and methods drew from the global stream, one after the other; what is
        made with one stream of ours shares it in the same way.
        """
        if self.study.protocol != "as_published":
            return self.seed
        stream = SharedStream(self.seed)
        stream.permutation(self._drawn)
        return stream

    def learner(self, model: str, random_state: Any = None) -> BaseEstimator:
        """Make a base learner, unfitted."""
        if self.study.stands_in(model):
            raise NotApplicable(
                f"The method takes a base learner and {model} is a method with a model of its "
                f"own: name the models that it is to run with."
            )
        random_state = self.random_state() if random_state is None else random_state
        own = self.study.own_model(model)
        if own is not None:
            return own.make(random_state)
        return make_model(model, recipe_of(self.study, model), random_state=random_state)

    def make(self, method: Method, model: str | None) -> Any:
        """Make a mitigator around an unfitted learner, as this study wants it."""
        kind = MITIGATORS[base_name(method.mitigator)]
        random_state = self.random_state()
        learner = None if model is None else self.learner(model, random_state)
        if kind.takes_frame and learner is not None:
            learner = self._one_hot(learner)
        return make_mitigator(
            method.mitigator,
            learner,
            protocol=self.study.protocol,
            privileged=1 if len(self.attributes) == 1 else dict.fromkeys(self.attributes, 1),
            favorable=1,
            sensitive_columns=list(self.attributes)
            if kind.takes_frame
            else [self.ready.columns[a] for a in self.attributes],
            # what is drawn to predict must not depend on how often it was asked before
            **{"random_state": self.seed if kind.draws_to_predict else random_state}
            | {name: self._option(kind, name, value) for name, value in method.options},
        )

    def _option(self, kind: type[BaseMitigator], name: str, value: Any) -> Any:
        if value == "@protected":
            # the studies declared every protected column, whichever of them was under test
            return sorted(self.ready.columns.values())
        if value == "@dataset":
            declared = kind.dataset_options.get(name, {})
            if self.trial.dataset not in declared:
                raise InputError(
                    f"'@dataset' must be something that the method declares; {name!r} of "
                    f"{self.trial.dataset!r} is not: leave the option out."
                )
            return declared[self.trial.dataset]
        return list(value) if isinstance(value, tuple) else value

    def _one_hot(self, learner: BaseEstimator) -> BaseEstimator:
        words = list(self.ready.train.frame.select_dtypes("category").columns)
        coder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
        return make_pipeline(
            make_column_transformer((coder, words), remainder="passthrough", sparse_threshold=0),
            learner,
        )

    def tables(self, mitigator: Any) -> tuple[Any, Any]:
        """Return the training and the test table as a mitigator takes them."""
        if mitigator.takes_frame:
            return self.ready.train.frame, self.ready.test.frame
        return self.X, self.X_test

    # What is shared.

    def base(self, model: str) -> Outputs:
        """Return the predictions of the original model on the test rows."""
        if self.study.stands_in(model):
            off = Method(model, model)
            return self.once(("base", model), lambda: self.fit_alone(self.make(off, None)))
        return self.on_test(model, calibrated=False)

    def fitted(self, model: str, *, calibrated: bool) -> Any:
        """Return a base learner fitted on the training rows, once."""

        def fit() -> Any:
            if (None, model) in self.ahead and not calibrated:
                return self.ahead.pop((None, model))
            learner = self.learner(model)
            return fit_model(
                with_scores(learner) if calibrated else learner, self.X, self.y, self.w
            )

        return self.once(("fit", model, calibrated), fit)

    def on_test(self, model: str, *, calibrated: bool) -> Outputs:
        """Return a fitted base learner's labels and scores on the test rows."""
        return self.once(
            ("test", model, calibrated),
            lambda: outputs(self.fitted(model, calibrated=calibrated), self.X_test),
        )

    def on_train(self, model: str, *, calibrated: bool) -> Outputs:
        """Return a fitted base learner's labels and scores on the rows it was fitted on."""
        return self.once(
            ("train", model, calibrated),
            lambda: outputs(self.fitted(model, calibrated=calibrated), self.X),
        )

    def near(self) -> Neighbours:
        """Find each test row's neighbours, for consistency."""
        return self.once(("near",), lambda: neighbours(self.X_test))

    # Running a method.

    def run(self, method: Method, model: str) -> Outputs:
        """Return a method's predictions on the test rows, doing only what was not done before."""
        kind = MITIGATORS[base_name(method.mitigator)]
        if kind is Unmitigated:
            return self.base(model)
        if kind.uses_estimator and method.learner is None:
            return self._with_model(method, model)
        own = method.learner if kind.uses_estimator else None
        return self.once(("alone", method), lambda: self._with_model(method, own))

    def _with_model(self, method: Method, model: str | None) -> Outputs:
        """Fit and predict, sharing what the method declares not to depend on the learner."""
        mitigator = self.make(method, model)
        free = {k: v for k, v in method.options if k in mitigator.free_after_fit}
        if free and self.is_inner:
            options = tuple((k, v) for k, v in method.options if k not in free)
            same = replace(method, options=options)
            fitted = self.once(("fitted", same, model), lambda: self._learn(self.make(same, model)))
            return self._ask(copy(fitted).set_params(**free))
        if model is None:
            return self.fit_alone(mitigator)
        if isinstance(mitigator, PreProcessor) and not mitigator.transform_uses_estimator:
            return self._pre(method, mitigator, model)
        if (
            isinstance(mitigator, PostProcessor)
            and not mitigator.rule_uses_estimator
            and mitigator.scores_from() in ("train", "out_of_fold")
        ):
            return self._post(mitigator, model)
        return self.fit_alone(mitigator)

    def fit_alone(self, mitigator: Any) -> Outputs:
        """Fit and predict, sharing nothing."""
        return self._ask(self._learn(mitigator))

    def _learn(self, mitigator: Any) -> Any:
        X, _ = self.tables(mitigator)
        # a method that is its own model is a learner, and its fit a learner's
        with metered_fit() if not mitigator.uses_estimator else nullcontext():
            return mitigator.fit(X, self.y, sensitive_features=self.s, sample_weight=self.w)

    def _ask(self, mitigator: Any) -> Outputs:
        _, X_test = self.tables(mitigator)
        s_test = self.s_test if mitigator.needs_sensitive_at_predict else None
        labels = mitigator.predict(X_test, sensitive_features=s_test)
        scores = None
        if not self.is_inner and hasattr(mitigator, "predict_proba"):
            scores = mitigator.predict_proba(X_test, sensitive_features=s_test)[:, 1]
        return Outputs((labels == 1).astype(np.intp), scores)

    def _pre(self, method: Method, mitigator: PreProcessor, model: str) -> Outputs:
        """Learn a transform for the first model that asks, and fit every model on its rows."""
        if ("transform", method) not in self._done:
            # methods come one after the other: keep one set of rows
            self._done = {k: v for k, v in self._done.items() if k[0] != "transform"}
        X, y, w, X_test = self._changed(method, mitigator)
        if (method, model) in self.ahead:
            return outputs(self.ahead.pop((method, model)), X_test)
        return outputs(fit_model(mitigator.base_learner(), X, y, w), X_test)

    def _changed(self, method: Method, mitigator: PreProcessor) -> tuple[Any, Any, Any, Any]:
        """Return the training rows, labels and weights that a method makes, and its test rows."""

        def learn() -> Any:
            X, X_test = self.tables(mitigator)
            X, y, _, w = mitigator.resample(
                *mitigator.encode(X, self.y, sensitive_features=self.s, sample_weight=self.w)
            )
            rows = mitigator.encode_rows(X_test, sensitive_features=self.s_test)
            ready = X, mitigator.decode(y), w, mitigator.transform(*rows)
            return *ready, stream.get_state() if isinstance(stream, SharedStream) else None

        stream = mitigator.random_state
        X, y, w, X_test, drawn = self.once(("transform", method), learn)
        if drawn is not None:
            stream.set_state(drawn)  # each model continues where the transform left the stream
        return X, y, w, X_test

    def network_fit(self, method: Method | None, model: str) -> tuple[Any, ...] | None:
        """Return a network and what it is to be fitted on: the training rows, or a method's.

        None where there is none: a method that does not fit a network on rows of its own.
        """
        if method is None:
            network: Any = self.learner(model)
            return (network, self.X, self.y, self.w) if is_network(network) else None
        if method.is_baseline or method.tune or method.learner is not None:
            return None
        mitigator = self.make(method, model)
        if not isinstance(mitigator, PreProcessor) or mitigator.transform_uses_estimator:
            return None
        if isinstance(mitigator, Unmitigated):
            return None
        with collected_warnings():  # heard when the method runs
            X, y, w, _ = self._changed(method, mitigator)
        network = mitigator.base_learner()
        return (clone(network), X, y, w) if is_network(network) else None

    def _post(self, mitigator: PostProcessor, model: str) -> Outputs:
        """Learn a rule on the scores of a base model that all post-processors share."""
        X, y, s, w = mitigator.encode(
            self.X, self.y, sensitive_features=self.s, sample_weight=self.w
        )
        _, s_test = mitigator.encode_rows(self.X_test, sensitive_features=self.s_test)
        assert s_test is not None
        calibrated = isinstance(mitigator.base_learner(), CalibratedClassifierCV)
        if mitigator.scores_from() == "train":
            train = self.on_train(model, calibrated=calibrated)
            scores, labels = _scores(train), train.labels
        else:
            groups = zlib.crc32(s.tobytes())  # folds are made by class and group
            scores, labels = self.once(
                ("fold", model, calibrated, groups), lambda: mitigator.out_of_fold(X, y, s, w)
            )
        mitigator.fit_scores(scores, labels, y, s, w)
        test = self.on_test(model, calibrated=calibrated)
        rows = _scores(test), test.labels, s_test
        return Outputs(mitigator.adjust(*rows).astype(np.intp), mitigator.adjust_scores(*rows))

    # Counting.

    def count(self, base: Labels, labels: Labels, *, weight: Floats | None = None) -> JointCounts:
        """Count the test rows by joint group, label, original prediction and prediction."""
        codes, groups = _groups(self._source)
        cell = ((codes[self.ready.test.rows] * 2 + self.y_test) * 2 + base) * 2 + labels
        shape = (len(groups), 2, 2, 2)
        weight = self.w_test if weight is None else weight

        def add(values: Floats | None) -> Floats:
            return np.bincount(cell, values, int(np.prod(shape))).reshape(shape).astype(np.float64)

        return JointCounts(
            n=add(None),
            attributes=self.attribute_names,
            groups=groups,
            classes=(0, 1),
            favorable=(1,),
            privileged={a: tuple(v) for a, v in self.privileged.items()},
            w=None if weight is None else add(weight),
            w2=None if weight is None else add(weight**2),
        )


def _scores(given: Outputs) -> Floats:
    """Let labels stand in for absent scores, as post-processors do."""
    return given.labels.astype(np.float64) if given.scores is None else given.scores
