"""What every mitigator is: a scikit-learn classifier around its stage.

:class:`BaseMitigator` turns what users have into plain arrays (:mod:`isonomy.mitigators._encoded`), has a
stage (:mod:`isonomy.mitigators.stages`) work on them, and answers in the user's own labels.
"""

import inspect
import warnings
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.metrics import accuracy_score
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples

from isonomy._arrays import Floats
from isonomy._names import parse_name
from isonomy._registry import Registry
from isonomy._tables import as_vector, get_column
from isonomy._validate import (
    MISSING,
    check_choice,
    listed,
)
from isonomy.errors import (
    DegenerateOutputWarning,
    InputError,
    IsonomyError,
    IsonomyWarning,
    NotApplicable,
)
from isonomy.mitigators._encode import selects_columns
from isonomy.mitigators._encoded import PROTOCOLS as PROTOCOLS
from isonomy.mitigators._encoded import Encoded
from isonomy.mitigators._encoded import TrainingSet as TrainingSet
from isonomy.mitigators._encoded import Vector as Vector
from isonomy.mitigators._encoded import Weights as Weights
from isonomy.models import fit_model, one_thread

STAGES = ("pre", "in", "post", "ensemble")


class BaseMitigator(Encoded, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """What all mitigators share: arguments, fit, predict, and the checks around them.

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
        Seed; the default makes every result repeatable. A base learner that draws random numbers
        and was given no seed gets this one.
    missing : {"group", "drop", "error"}
        What becomes of rows whose protected attribute is not known (missing, or a word such as
        ``Unknown``). ``group``: those that are missing are a group of their own, in fit and to be
        predicted. ``drop``: fit leaves them out; where predict needs the attribute, rows that
        lack it, and rows of a group that fit has not seen, get the mean of the groups'
        predictions, weighted by the groups' shares of the training rows. ``error``: they are
        refused. The same holds for rows whose protected column of X is missing or new, where X is
        encoded inside and the prediction depends on it.

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
    one_for_each_ : list
        Of more than two classes, where the method serves them one against the rest: a fitted
        mitigator for each. The class with the largest probability is predicted; what the method
        makes equal is equal for each of these mitigators, and not exactly for that label.
    """

    # scikit-learn's metadata routing, where a user has it enabled: nothing more to request
    __metadata_request__fit: ClassVar = {"sensitive_features": True}
    __metadata_request__predict: ClassVar = {"sensitive_features": True}
    __metadata_request__predict_proba: ClassVar = {"sensitive_features": True}
    __metadata_request__score: ClassVar = {"sensitive_features": True}

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
        if isinstance(self.estimator, str):
            raise InputError(
                f"The estimator must be a classifier; got the text {self.estimator!r}: use "
                f"isonomy.models.make_model({self.estimator!r})."
            )
        if self.estimator is not None and not self.uses_estimator:
            warnings.warn(
                f"{self.name} is a model of its own and leaves the learner that was passed "
                f"({type(self.estimator).__name__}) unused: leave it out, or choose a method that "
                f"takes one.",
                IsonomyWarning,
                stacklevel=2,
            )
        self.one_for_each_: list[BaseMitigator] = []
        if self.one_against_rest and len(classes := np.unique(as_vector(y, name="y"))) > 2:
            return self._fit_each(classes, X, y, sensitive_features, sample_weight)
        X, y01, s, w = self.encode(
            X, y, sensitive_features=sensitive_features, sample_weight=sample_weight
        )
        with one_thread():
            try:
                self._fit(X, y01, s, w)
                self._warn_if_degenerate(X, s)
            except (IsonomyError, ValueError, TypeError) as error:
                if isinstance(error, TypeError) and not sparse.issparse(X):
                    raise  # a mistake in code; only a sparse matrix is refused this way
                refusal = self._refusal(error, len(y01))
                if refusal is error:
                    raise
                raise refusal from error
        return self

    def _fit_each(self, classes: Vector, X: Any, y: Any, s: Any, w: Any) -> Self:
        """Fit one mitigator for each class, against the others together."""
        if classes.dtype.kind == "f" and (classes % 1 != 0).any():
            self._learn_labels(as_vector(y, name="y"))  # refuses numbers that are no classes
        self.classes_ = classes
        self.favorable_: Any = None
        labels = as_vector(y, name="y")
        with warnings.catch_warnings(action="ignore", category=DegenerateOutputWarning):
            # a class may well be the likeliest of all and never likelier than the rest
            self.one_for_each_ = [
                clone(self)
                .set_params(favorable=True)
                .fit(X, labels == c, sensitive_features=s, sample_weight=w)
                for c in classes
            ]
        first = self.one_for_each_[0]
        names = ("groups_", "privileged_", "sensitive_columns_", "n_features_in_", "feature_names_in_")  # fmt: skip
        for name in names:
            if hasattr(first, name):
                setattr(self, name, getattr(first, name))
        found = self.predict(X, sensitive_features=s)
        self.degenerate_ = bool((found == found[0]).all())
        self._say_if_degenerate(found[:1])
        return self

    def _each(self, X: Any, s: Any) -> Floats:
        """Return the chance of each class by its own mitigator, the chances of a row adding up to 1."""
        p = np.column_stack(
            [one.predict_proba(X, sensitive_features=s)[:, 1] for one in self.one_for_each_]
        )
        total = p.sum(axis=1, keepdims=True)
        even = np.full_like(p, 1.0 / p.shape[1])
        return np.asarray(np.divide(p, total, out=even, where=total > 0))

    def _refusal(self, error: Exception, rows: int) -> Exception:
        """Return an error as one of ours, with the way out where a group of unknown rows is one."""
        if not isinstance(error, IsonomyError):
            # what a learner or a solver says, such as too few rows of a class
            said = " ".join(str(error).split()).rstrip(".")
            refused = f"{self.name} could not be fitted on these {rows:,} rows: {said}."
            if selects_columns(self.estimator) and ("column" in said or "feature" in said):
                # the learner looks for columns that the method has encoded or taken away
                refused += (
                    f" {self.name} changes the columns of X before the learner sees them: pass a "
                    f"learner that takes all columns, such as the last step of the pipeline."
                )
            return InputError(refused)
        unknown = [g for g in self.groups_ if MISSING in (g if isinstance(g, tuple) else (g,))]
        if not unknown:
            return error
        return type(error)(
            f"{error} Rows whose attribute is not known count as a group here "
            f"({listed(unknown)}); missing='drop' leaves them out."
        )

    def predict(self, X: Any, *, sensitive_features: Any = None) -> Vector:
        """Return the mitigated labels, coded as in fit."""
        if getattr(self, "one_for_each_", None):
            return np.asarray(self.classes_[self._each(X, sensitive_features).argmax(axis=1)])
        X, s = self.encode_rows(X, sensitive_features=sensitive_features)
        lost = self._without_group(X, s)
        if not lost.size:
            return self._predict(X, s)
        votes = self._mean_over_groups(self._one_votes, X, s, lost)
        return np.asarray(self.classes_[votes.argmax(axis=1)])

    def _gives_probabilities(self) -> bool:
        """Return whether there are any: a method that asks its base learner has none without it."""
        learner = getattr(self, "estimator_", self.estimator)
        return (
            not self.probabilities_from_estimator
            or learner is None
            or hasattr(learner, "predict_proba")
        )

    @available_if(_gives_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any, *, sensitive_features: Any = None) -> Floats:
        """Return each class's probability, in the order of ``classes_``."""
        if getattr(self, "one_for_each_", None):
            return self._each(X, sensitive_features)
        X, s = self.encode_rows(X, sensitive_features=sensitive_features)
        lost = self._without_group(X, s)
        if not lost.size:
            return self._checked(self._predict_proba(X, s))
        return self._checked(self._mean_over_groups(self._predict_proba, X, s, lost))

    def score(
        self, X: Any, y: Any, sample_weight: Any = None, *, sensitive_features: Any = None
    ) -> float:
        """Return the accuracy."""
        labels = self.predict(X, sensitive_features=sensitive_features)
        return float(accuracy_score(y, labels, sample_weight=sample_weight))

    # What a stage overrides.

    def _fit(self, X: Any, y: Vector, s: Vector, w: Weights) -> None:
        raise NotImplementedError

    def _predict(self, X: Any, s: Vector | None) -> Vector:
        raise NotImplementedError

    def _predict_proba(self, X: Any, s: Vector | None) -> Floats:
        raise NotImplementedError

    def _one_votes(self, X: Any, s: Vector | None) -> Floats:
        """Return 1 in the column of each row's label."""
        labels = self._predict(X, s)
        return np.asarray(labels[:, None] == self.classes_, dtype=np.float64)

    def _without_group(self, X: Any, s: Vector | None) -> Vector:
        """Return the rows that are of no group seen in fit, by s or by the protected columns."""
        lost = np.zeros(_num_samples(X), dtype=bool) if s is None else s < 0
        for column in self._protected if self._usual is not None else ():
            lost = lost | pd.isna(get_column(X, column))
        return np.flatnonzero(lost)

    def _mean_over_groups(
        self,
        answer: Callable[[Any, Vector | None], Floats],
        X: Any,
        s: Vector | None,
        lost: Vector,
    ) -> Floats:
        """Return a method's answers; rows without a group get the mean over the groups.

        Unless such rows are to be dropped, they must not depend on the group.
        """
        known = np.setdiff1d(np.arange(_num_samples(X)), lost)
        result = np.empty((_num_samples(X), len(self.classes_)))
        if known.size:
            result[known] = answer(_safe_indexing(X, known), None if s is None else s[known])
        rows, answers = _safe_indexing(X, lost), []
        for g in range(len(self._group_shares)):
            group = np.full(len(lost), g) if s is None else np.where(s[lost] < 0, g, s[lost])
            answers.append(answer(self._of_group(rows, group), None if s is None else group))
        if self.missing != "drop" and any((a != answers[0]).any() for a in answers):
            raise InputError(
                f"The protected columns of X must hold values seen in fit; {len(lost):,} of "
                f"{len(result):,} rows hold none: with missing='drop' such rows get the mean over "
                f"the groups."
            )
        result[lost] = np.tensordot(self._group_shares, answers, 1)
        return result

    def _checked(self, p: Floats) -> Floats:
        """Return probabilities, or say that the learner gives none that are numbers."""
        if np.isfinite(p).all():
            return p
        learner = type(getattr(self, "estimator_", self)).__name__
        raise NotApplicable(
            f"{self.name} needs probabilities that are numbers; {learner} gives NaN for "
            f"{int((~np.isfinite(p)).any(axis=1).sum()):,} of {len(p):,} rows: leave constant "
            f"columns out, or choose another learner."
        )

    def fit_rows(
        self, learner: BaseEstimator, X: Any, y: Vector, w: Weights, rows: Vector | slice
    ) -> BaseEstimator:
        """Fit a copy of a learner on some of the training rows."""
        weight = None if w is None else w[rows]
        return fit_model(learner, _safe_indexing(X, rows), self.decode(y[rows]), weight)

    def _favorable_scores(self, estimator: Any, X: Any) -> Floats:
        """Return a model's probability of the favourable label."""
        column = np.flatnonzero(estimator.classes_ == self.favorable_)
        if not column.size:
            raise InputError(
                f"The estimator must know the favourable label {self.favorable_!r}; "
                f"it was fitted on {listed(estimator.classes_)}."
            )
        return self._checked(np.asarray(estimator.predict_proba(X)))[:, column[0]]

    def _two_columns(self, favorable: Floats) -> Floats:
        """Return the probabilities of both classes in the order of ``classes_``."""
        both = np.empty((len(favorable), 2))
        both[:, self._favorable_at] = favorable
        both[:, 1 - self._favorable_at] = 1.0 - favorable
        return both

    def _warn_if_degenerate(self, X: Any, s: Vector) -> None:
        """Warn when all training rows get one label; a look at the first rows mostly suffices."""
        groups = s if self.needs_sensitive_at_predict else None
        head = min(1000, len(s))
        first = self._predict(
            _safe_indexing(X, slice(head)), None if groups is None else groups[:head]
        )
        self.degenerate_ = bool((first == first[0]).all())
        if self.degenerate_ and head < len(s):
            every = self._predict(X, groups)
            self.degenerate_ = bool((every == every[0]).all())
        self._say_if_degenerate(first[:1])

    def _say_if_degenerate(self, label: Vector) -> None:
        if self.degenerate_:
            warnings.warn(
                f"{self.name} predicts {listed(label)} for every training row: no disparity and no "
                f"use; weaken the mitigation or try another method.",
                DegenerateOutputWarning,
                stacklevel=4,
            )


MITIGATORS: Registry[type[BaseMitigator]] = Registry("mitigator", room="isonomy.mitigators")
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
    name, parameters = parse_name(spec)
    cls = MITIGATORS[name]
    known = [
        p for p in inspect.signature(cls.__init__).parameters if p not in ("self", "estimator")
    ]
    parameters |= params
    for key in parameters:
        check_choice(f"parameter of {cls.name}", key, known)
    return cls(estimator, **parameters)
