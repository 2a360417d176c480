"""What every mitigator is: a scikit-learn classifier around its stage.

A method is one class in one file. It inherits from its stage and overrides what the stage asks:

- ``PreProcessor``: ``resample(X, y, s, w)`` learns and gives the training set that the base
  learner sees, ``transform(X, s)`` prepares the rows to be predicted;
- ``InProcessor``: ``fit_model(X, y, s, w)`` and ``predict_scores(X, s)``;
- ``PostProcessor``: ``fit_scores(scores, labels, y, s, w)``, ``adjust(scores, labels, s)`` and
  ``adjust_scores(scores, labels, s)``.

These work on plain arrays, so that a study can fit a base model or a transform once and share it:
``y`` is 1 where the label is favourable, ``s`` numbers the groups (with two groups 1 is the
privileged one), ``w`` is None or a vector. The classes below turn what users have (frames, text
labels, several attributes) into these arrays and back. Used directly, a stage wants a fresh clone.
"""

import inspect
import warnings
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.metrics import accuracy_score
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples, check_is_fitted, validate_data

from isonomy._registry import Registry
from isonomy._validate import (
    check_length,
    check_same_order,
    check_weight,
    listed,
    resolve_favorable,
    unknown_name,
)
from isonomy.errors import DegenerateOutputWarning, InputError, NotApplicable
from isonomy.mitigators._inputs import (
    GroupEncoder,
    as_vector,
    column_names,
    find_columns,
)
from isonomy.models import fit_model, make_model, with_scores

__all__ = [
    "BaseMitigator",
    "InProcessor",
    "MITIGATORS",
    "PROTOCOLS",
    "PostProcessor",
    "PreProcessor",
    "STAGES",
    "make_mitigator",
]

PROTOCOLS = ("as_published", "corrected")
STAGES = ("pre", "in", "post", "ensemble")

Vector = NDArray[Any]
Weights = NDArray[np.float64] | None


class BaseMitigator(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """The arguments, checks and encoding that all mitigators share.

    Parameters
    ----------
    estimator : classifier, optional
        The base learner, a pipeline included; a scaled logistic regression when None.
    privileged : value, several values, or mapping of attribute to values, optional
        The privileged group. When None and there are exactly two groups it is the one with the
        higher rate of favourable labels in the training data; ``privileged_`` records it. A
        method for two groups sets the privileged against all others together; a method for many
        groups treats each group by itself.
    favorable : label, optional
        The favourable label; need not be given when labels are 0 / 1, False / True or -1 / 1.
    sensitive_columns : name, position or several, optional
        The columns of X that hold the protected attributes; when None, those named like the
        columns of ``sensitive_features``. Where ``sensitive_features`` is not passed, it is read
        from these columns, which is how a fitted mitigator serves code that knows only X.
    protocol : {"corrected", "as_published"}
        Whether to do what the method means or what the published study's code did.
    random_state : int or RandomState
        Seed; the default makes every result repeatable.

    Attributes
    ----------
    classes_ : array
        The labels, sorted; columns of ``predict_proba``.
    favorable_ : label
        The favourable label, None where a method serves more than two classes.
    groups_ : list
        The groups as given, a tuple of values where there are several attributes.
    privileged_ : tuple or None
        The privileged groups.
    sensitive_columns_ : tuple of int
        Positions of the protected columns in X.
    degenerate_ : bool
        Whether all training rows are predicted to be of one class.
    """

    name: ClassVar[str]
    stage: ClassVar[str]
    label: ClassVar[str]
    advice: ClassVar[str]
    reference: ClassVar[str]
    version: ClassVar[str] = "1"
    needs_sensitive_at_predict: ClassVar[bool] = False
    randomized: ClassVar[bool] = False
    multi_group: ClassVar[bool] = False
    multi_class: ClassVar[bool] = False
    uses_estimator: ClassVar[bool] = True
    probabilities_from_estimator: ClassVar[bool] = False

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        *,
        privileged: Any = None,
        favorable: Any = None,
        sensitive_columns: Any = None,
        protocol: str = "corrected",
        random_state: Any = 0,
    ) -> None:
        self.estimator = estimator
        self.privileged = privileged
        self.favorable = favorable
        self.sensitive_columns = sensitive_columns
        self.protocol = protocol
        self.random_state = random_state

    # What users call.

    def fit(
        self, X: Any, y: Any, *, sensitive_features: Any = None, sample_weight: Any = None
    ) -> Self:
        """Learn the mitigation and, where the method has one, the base model.

        Parameters
        ----------
        X : frame or array of shape (n, d)
            Rows to learn from.
        y : vector of length n
            Labels of any type.
        sensitive_features : vector, series, mapping or frame
            The protected attributes; several columns make intersectional groups.
        sample_weight : vector of length n, optional
            Weights of the rows.

        Returns
        -------
        self
        """
        X, y01, s, w = self._open(X, y, sensitive_features, sample_weight)
        self._fit(X, y01, s, w)
        self._warn_if_degenerate(X, s)
        return self

    def predict(self, X: Any, *, sensitive_features: Any = None) -> Vector:
        """Give the mitigated labels, coded as in fit."""
        X, s = self._reopen(X, sensitive_features)
        return self._predict(X, s)

    def _gives_probabilities(self) -> bool:
        """Say whether there are any: a method that asks its base learner has none where it has."""
        learner = getattr(self, "estimator_", self.estimator)
        return (
            not self.probabilities_from_estimator
            or learner is None
            or hasattr(learner, "predict_proba")
        )

    @available_if(_gives_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any, *, sensitive_features: Any = None) -> NDArray[np.float64]:
        """Give each class's probability, in the order of ``classes_``."""
        X, s = self._reopen(X, sensitive_features)
        return self._predict_proba(X, s)

    def score(
        self, X: Any, y: Any, sample_weight: Any = None, *, sensitive_features: Any = None
    ) -> float:
        """Give the accuracy."""
        labels = self.predict(X, sensitive_features=sensitive_features)
        return float(accuracy_score(y, labels, sample_weight=sample_weight))

    # What a stage overrides.

    def _fit(self, X: Any, y: Vector, s: Vector, w: Weights) -> None:
        raise NotImplementedError

    def _predict(self, X: Any, s: Vector | None) -> Vector:
        raise NotImplementedError

    def _predict_proba(self, X: Any, s: Vector | None) -> NDArray[np.float64]:
        raise NotImplementedError

    # Encoding.

    def _open(
        self, X: Any, y: Any, sensitive: Any, weight: Any
    ) -> tuple[Any, Vector, Vector, Weights]:
        """Check what fit was given and turn it into arrays."""
        if self.protocol not in PROTOCOLS:
            raise unknown_name("protocol", str(self.protocol), PROTOCOLS)
        X = self._table(X, reset=True)
        n = _num_samples(X)
        if n == 0:
            raise InputError("X must have rows; got none.")
        check_same_order(X, y, name="y")
        check_same_order(X, sensitive, name="sensitive_features")
        labels = as_vector(y, name="y")
        check_length("y", len(labels), "X", n)
        w = None
        if weight is not None:
            w = check_weight(as_vector(weight, name="sample_weight"))
            check_length("sample_weight", len(w), "X", n)
        y01 = self._learn_labels(labels)
        s = self._learn_groups(X, sensitive, y01, w)
        return X, y01, s, w

    def _table(self, X: Any, *, reset: bool) -> Any:
        if not hasattr(X, "shape"):
            X = np.asarray(X)
        if len(X.shape) != 2:
            raise InputError(f"X must be rows and columns; got {len(X.shape)} dimension(s).")
        validate_data(self, X, reset=reset, skip_check_array=True)
        return X

    def _learn_labels(self, labels: Vector) -> Vector:
        """Give 1 to the favourable class; where there are many, give each its position."""
        try:
            self.classes_, codes = np.unique(labels, return_inverse=True)
        except TypeError:
            raise InputError("y must hold labels of one type; got a mixture.") from None
        k = len(self.classes_)
        if k < 2:
            raise InputError(f"y must have at least two classes; got only {listed(self.classes_)}.")
        if k > 2:
            if not self.multi_class:
                raise NotApplicable(
                    f"{self.name} takes two classes and y has {k}; merge the classes into a "
                    f"favourable and an unfavourable one, or fit one class against the rest."
                )
            self.favorable_ = None
            self._label_of_code = self.classes_
            return codes
        (favorable,) = resolve_favorable(self.classes_.tolist(), self.favorable)
        self._favorable_at = self.classes_.tolist().index(favorable)
        self.favorable_ = favorable
        self._label_of_code = self.classes_[[1 - self._favorable_at, self._favorable_at]]
        y01: Vector = (codes == self._favorable_at).astype(np.intp)
        return y01

    def _learn_groups(self, X: Any, sensitive: Any, y: Vector, w: Weights) -> Vector:
        """Give each group its number: 1 is the privileged one wherever there are two."""
        if sensitive is None and self.sensitive_columns is None:
            raise InputError(
                f"{self.name} needs the protected attribute: pass sensitive_features to fit, or "
                f"name the columns of X that hold it with sensitive_columns."
            )
        if sensitive is None:
            sensitive = self._from_columns(X, find_columns(X, self.sensitive_columns, ()))
        encoder, codes = GroupEncoder.learn(sensitive, len(y))
        self.sensitive_columns_ = find_columns(X, self.sensitive_columns, encoder.names)
        if len(encoder.labels) < 2:
            raise NotApplicable(
                f"{self.name} needs at least two groups; sensitive_features holds only "
                f"{listed(encoder.labels)}."
            )
        rates = None
        if self.favorable_ is not None:
            total = np.bincount(codes, w, len(encoder.labels))
            good = np.bincount(codes, y if w is None else y * w, len(encoder.labels))
            rates = np.divide(good, total, out=np.zeros_like(good, dtype=float), where=total > 0)
        encoder.settle(self.privileged, rates)
        if len(encoder.labels) == 2 and encoder.privileged == (encoder.labels[0],):
            encoder.labels = encoder.labels[::-1]
            codes = 1 - codes
        self._encoder = encoder
        self.groups_ = encoder.labels
        self.privileged_ = encoder.privileged
        self._code_of_group = np.arange(len(encoder.labels))
        if len(encoder.labels) > 2 and not self.multi_group:
            if encoder.privileged is None:
                raise NotApplicable(
                    f"{self.name} takes two groups and there are {len(encoder.labels)} "
                    f"({listed(encoder.labels)}): name the privileged ones with privileged=..., "
                    f"which sets them against all others."
                )
            self._code_of_group = np.array([g in encoder.privileged for g in encoder.labels]) * 1
        return self._code_of_group[codes]

    def _from_columns(self, X: Any, positions: tuple[int, ...]) -> Any:
        names = column_names(X)
        if names is None:
            return np.asarray(_safe_indexing(X, list(positions), axis=1))
        return {names[p]: _safe_indexing(X, p, axis=1) for p in positions}

    def _reopen(self, X: Any, sensitive: Any) -> tuple[Any, Vector | None]:
        """Check what predict was given; groups are read only where the method needs them."""
        check_is_fitted(self)
        X = self._table(X, reset=False)
        if not self.needs_sensitive_at_predict:
            return X, None
        if sensitive is None:
            if self.sensitive_columns is None:
                raise InputError(
                    f"{self.name} needs the protected attribute to predict: pass "
                    f"sensitive_features, or name the columns of X with sensitive_columns."
                )
            sensitive = self._from_columns(X, self.sensitive_columns_)
        check_same_order(X, sensitive, name="sensitive_features")
        return X, self._code_of_group[self._encoder.encode(sensitive, _num_samples(X))]

    def _positions(self, X: Any) -> tuple[int, ...]:
        """Give the protected columns of X, also when a stage is used without fit."""
        found: tuple[int, ...] | None = getattr(self, "sensitive_columns_", None)
        return find_columns(X, self.sensitive_columns, ()) if found is None else found

    def _base(self) -> BaseEstimator:
        """Give the base learner, the default one where none was passed."""
        return make_model("lr") if self.estimator is None else self.estimator

    def _favorable_scores(self, estimator: Any, X: Any) -> NDArray[np.float64]:
        """Give a model's probability of the favourable label."""
        column = np.flatnonzero(estimator.classes_ == self.favorable_)
        if not column.size:
            raise InputError(
                f"The estimator must know the favourable label {self.favorable_!r}; "
                f"it was fitted on {listed(estimator.classes_)}."
            )
        scores: NDArray[np.float64] = estimator.predict_proba(X)[:, column[0]]
        return scores

    def _two_columns(self, favorable: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give the probabilities of both classes in the order of ``classes_``."""
        both = np.empty((len(favorable), 2))
        both[:, self._favorable_at] = favorable
        both[:, 1 - self._favorable_at] = 1.0 - favorable
        return both

    def _warn_if_degenerate(self, X: Any, s: Vector) -> None:
        """Warn when all training rows get one label; a look at the first rows mostly suffices."""
        groups = s if self.needs_sensitive_at_predict else None
        head = min(1000, len(s))
        first = self._predict(
            _safe_indexing(X, np.arange(head)), None if groups is None else groups[:head]
        )
        self.degenerate_ = bool((first == first[0]).all())
        if self.degenerate_ and head < len(s):
            every = self._predict(X, groups)
            self.degenerate_ = bool((every == every[0]).all())
        if self.degenerate_:
            warnings.warn(
                f"{self.name} predicts {listed(first[:1])} for every training row: no disparity and no "
                f"use; weaken the mitigation or try another method.",
                DegenerateOutputWarning,
                stacklevel=3,
            )


class PreProcessor(BaseMitigator):
    """Changes the training data, then fits the base learner on it."""

    stage = "pre"
    probabilities_from_estimator = True

    def resample(
        self, X: Any, y: Vector, s: Vector, w: Weights = None
    ) -> tuple[Any, Vector, Vector, Weights]:
        """Learn from a training set and give the one that the base learner shall see."""
        return X, y, s, w

    def transform(self, X: Any, s: Vector | None = None) -> Any:
        """Prepare rows to be predicted."""
        return X

    def _fit(self, X: Any, y: Vector, s: Vector, w: Weights) -> None:
        X, y, s, w = self.resample(X, y, s, w)
        self.estimator_ = fit_model(self._base(), X, self._label_of_code[y], w)

    def _predict(self, X: Any, s: Vector | None) -> Vector:
        labels: Vector = self.estimator_.predict(self.transform(X, s))
        return labels

    def _predict_proba(self, X: Any, s: Vector | None) -> NDArray[np.float64]:
        given: NDArray[np.float64] = self.estimator_.predict_proba(self.transform(X, s))
        if len(self.estimator_.classes_) == len(self.classes_):
            return given
        # A resampled training set may have lost a class, which then has probability 0.
        every = np.zeros((len(given), len(self.classes_)))
        every[:, np.searchsorted(self.classes_, self.estimator_.classes_)] = given
        return every


class InProcessor(BaseMitigator):
    """Learns a model under a fairness penalty or constraint."""

    stage = "in"
    uses_estimator = False

    def fit_model(self, X: Any, y: Vector, s: Vector, w: Weights = None) -> None:
        """Learn the model."""
        raise NotImplementedError

    def predict_scores(self, X: Any, s: Vector | None = None) -> NDArray[np.float64]:
        """Give the probability of the favourable label."""
        raise NotImplementedError

    def predict_labels(self, X: Any, s: Vector | None = None) -> Vector:
        """Give 1 where the favourable label is predicted; a tie is unfavourable."""
        return (self.predict_scores(X, s) > 0.5).astype(np.intp)

    def _fit(self, X: Any, y: Vector, s: Vector, w: Weights) -> None:
        self.fit_model(X, y, s, w)

    def _predict(self, X: Any, s: Vector | None) -> Vector:
        labels: Vector = self._label_of_code[self.predict_labels(X, s)]
        return labels

    def _predict_proba(self, X: Any, s: Vector | None) -> NDArray[np.float64]:
        return self._two_columns(self.predict_scores(X, s))


class PostProcessor(BaseMitigator):
    """Changes the predictions of a base learner, with the protected attribute at hand.

    Parameters
    ----------
    fit_on : {"out_of_fold", "train", "validation", "given"}, optional
        Where the scores come from that the rule is learnt on. ``out_of_fold``: five-fold scores
        of the training rows, the base learner then being fitted on all of them. ``train``: its
        scores of the very rows it was fitted on, as the published studies did. ``validation``:
        30 % of the rows, held out from the base learner. ``given``: the estimator is fitted
        already (a model in production) and only the rule is learnt; wrap it in
        ``sklearn.frozen.FrozenEstimator`` where the mitigator will be cloned. When None:
        ``out_of_fold``, and ``train`` under as_published.
    """

    stage = "post"
    needs_sensitive_at_predict = True
    needs_scores: ClassVar[bool] = True

    FIT_ON: ClassVar[tuple[str, ...]] = ("out_of_fold", "train", "validation", "given")

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        *,
        fit_on: str | None = None,
        privileged: Any = None,
        favorable: Any = None,
        sensitive_columns: Any = None,
        protocol: str = "corrected",
        random_state: Any = 0,
    ) -> None:
        super().__init__(
            estimator,
            privileged=privileged,
            favorable=favorable,
            sensitive_columns=sensitive_columns,
            protocol=protocol,
            random_state=random_state,
        )
        self.fit_on = fit_on

    def fit_scores(
        self, scores: NDArray[np.float64], labels: Vector, y: Vector, s: Vector, w: Weights = None
    ) -> None:
        """Learn the rule from scores and labels of a base model and the true labels."""
        raise NotImplementedError

    def adjust(self, scores: NDArray[np.float64], labels: Vector, s: Vector) -> Vector:
        """Give the mitigated labels, 1 = favourable."""
        raise NotImplementedError

    def adjust_scores(
        self, scores: NDArray[np.float64], labels: Vector, s: Vector
    ) -> NDArray[np.float64]:
        """Give the mitigated probability of the favourable label."""
        return self.adjust(scores, labels, s).astype(np.float64)

    def _fit(self, X: Any, y: Vector, s: Vector, w: Weights) -> None:
        where = self.fit_on or ("train" if self.protocol == "as_published" else "out_of_fold")
        if where not in self.FIT_ON:
            raise unknown_name("fit_on", str(where), self.FIT_ON)
        truth = self._label_of_code[y]
        if where == "given":
            self.estimator_ = self._given()
        else:
            model = with_scores(self._base()) if self.needs_scores else self._base()
            every = np.arange(len(y))
            inner = every
            if where == "validation":
                inner, held = train_test_split(
                    every,
                    test_size=0.3,
                    stratify=_strata(y, s, 2),
                    random_state=self.random_state,
                )
            self.estimator_ = fit_model(
                model,
                _safe_indexing(X, inner),
                truth[inner],
                None if w is None else w[inner],
            )
            if where == "validation":
                X, y, s = _safe_indexing(X, held), y[held], s[held]
                w = None if w is None else w[held]
        if where == "out_of_fold":
            scores, labels = self._out_of_fold(model, X, y, s, w)
        else:
            scores, labels = self._outputs(self.estimator_, X)
        self.fit_scores(scores, labels, y, s, w)

    def _given(self) -> BaseEstimator:
        if self.estimator is None:
            raise InputError('fit_on="given" needs an estimator that is fitted already; got None.')
        check_is_fitted(self.estimator)
        if self.needs_scores and not hasattr(self.estimator, "predict_proba"):
            raise NotApplicable(
                f"{self.name} needs probabilities and {type(self.estimator).__name__} has none; "
                f"wrap it in CalibratedClassifierCV."
            )
        return self.estimator

    def _out_of_fold(
        self, model: BaseEstimator, X: Any, y: Vector, s: Vector, w: Weights
    ) -> tuple[NDArray[np.float64], Vector]:
        scores, labels = np.empty(len(y)), np.empty(len(y), dtype=np.intp)
        folds = StratifiedKFold(5, shuffle=True, random_state=self.random_state)
        for train, test in folds.split(np.zeros(len(y)), _strata(y, s, 5)):
            fitted = fit_model(
                model,
                _safe_indexing(X, train),
                self._label_of_code[y[train]],
                None if w is None else w[train],
            )
            scores[test], labels[test] = self._outputs(fitted, _safe_indexing(X, test))
        return scores, labels

    def _outputs(self, estimator: Any, X: Any) -> tuple[NDArray[np.float64], Vector]:
        """Give a model's scores and labels in our coding; labels stand in for absent scores."""
        labels = (estimator.predict(X) == self.favorable_).astype(np.intp)
        if not hasattr(estimator, "predict_proba"):
            return labels.astype(np.float64), labels
        return self._favorable_scores(estimator, X), labels

    def _predict(self, X: Any, s: Vector | None) -> Vector:
        assert s is not None
        scores, labels = self._outputs(self.estimator_, X)
        adjusted: Vector = self._label_of_code[self.adjust(scores, labels, s)]
        return adjusted

    def _predict_proba(self, X: Any, s: Vector | None) -> NDArray[np.float64]:
        assert s is not None
        scores, labels = self._outputs(self.estimator_, X)
        return self._two_columns(self.adjust_scores(scores, labels, s))


def _strata(y: Vector, s: Vector, least: int) -> Vector:
    """Give class-by-group strata, or the classes alone where a cell is too small to spread."""
    cells = s * 2 + y
    counts = np.bincount(cells)
    return cells if counts[counts > 0].min() >= least else y


MITIGATORS: Registry[type[BaseMitigator]] = Registry("mitigator")
"""Every mitigator by name, and by the short label of the papers."""


def make_mitigator(spec: str, estimator: BaseEstimator | None = None, **params: Any) -> Any:
    """Make a mitigator from its name, with its variant in brackets.

    Parameters
    ----------
    spec : str
        A registered name, for instance ``"reweighing"``, ``"rw"`` or
        ``"reject_option(metric=spd)"``.
    estimator : classifier, optional
        The base learner.
    **params
        Further arguments; they go before those in ``spec``.

    Returns
    -------
    BaseMitigator

    Examples
    --------
    >>> make_mitigator("reweighing(protocol=as_published)")
    Reweighing(protocol='as_published')
    """
    name, _, inside = spec.partition("(")
    cls = MITIGATORS[name.strip()]
    known = [
        p for p in inspect.signature(cls.__init__).parameters if p not in ("self", "estimator")
    ]
    given: dict[str, Any] = {}
    for part in filter(str.strip, inside.rstrip(") ").split(",")):
        key, sign, value = part.partition("=")
        if not sign or not inside.rstrip().endswith(")"):
            raise InputError(f"A variant is written name(parameter=value); got {spec!r}.")
        given[key.strip()] = _literal(value.strip())
    for key in {**given, **params}:
        if key not in known:
            raise unknown_name(f"parameter of {cls.name}", key, known)
    return cls(estimator, **{**given, **params})


def _literal(text: str) -> Any:
    """Read a number, True, False or None; anything else is text."""
    words = {"None": None, "True": True, "False": False}
    if text in words:
        return words[text]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
