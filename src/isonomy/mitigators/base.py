"""What every mitigator is: a scikit-learn classifier around its stage.

The classes here turn what users have (frames, text labels, several attributes) into the plain
arrays that the stages of ``isonomy.mitigators.stages`` work on, and back.
"""

import inspect
import warnings
from collections.abc import Callable
from dataclasses import field
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.metrics import accuracy_score
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples, check_is_fitted, validate_data

from isonomy._arrays import Floats
from isonomy._names import parse_name
from isonomy._registry import Registry
from isonomy._tables import as_vector, check_cells, column_names, get_column, set_columns
from isonomy._validate import (
    MISSING,
    check_choice,
    check_length,
    check_names,
    check_same_order,
    check_seed,
    check_types,
    check_weight,
    given_as,
    listed,
    resolve_favorable,
)
from isonomy.errors import (
    DegenerateOutputWarning,
    InputError,
    IsonomyError,
    IsonomyWarning,
    NotApplicable,
    UnknownName,
)
from isonomy.mitigators._declared import Declared
from isonomy.mitigators._encode import TableEncoder, is_plain, selects_columns, takes_table
from isonomy.mitigators._inputs import GroupEncoder, find_columns, known_rows
from isonomy.models import check_learner, fit_model, make_model, one_thread, seeded

PROTOCOLS = ("as_published", "corrected")
STAGES = ("pre", "in", "post", "ensemble")
WHERE_MISSING = ("group", "drop", "error")

Vector = NDArray[Any]
Weights = Floats | None
TrainingSet = tuple[Any, Vector, Vector, Weights]
"""X, y, group numbers and weights."""


class BaseMitigator(Declared, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
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

    estimator: BaseEstimator | None = field(default=None, kw_only=False)
    privileged: Any = None
    favorable: Any = None
    sensitive_columns: Any = None
    protocol: str = "corrected"
    random_state: Any = 0
    missing: str = "group"

    # scikit-learn's metadata routing, where a user has it enabled: nothing more to request
    __metadata_request__fit: ClassVar = {"sensitive_features": True}
    __metadata_request__predict: ClassVar = {"sensitive_features": True}
    __metadata_request__predict_proba: ClassVar = {"sensitive_features": True}
    __metadata_request__score: ClassVar = {"sensitive_features": True}

    @property
    def published(self) -> bool:
        """Whether it does what the published study's code did."""
        return self.protocol == "as_published"

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

    def _of_group(self, X: Any, group: Vector) -> Any:
        """Return rows with what most rows of a group hold where a protected column is not known."""
        if self._usual is None or not self._protected:
            return X
        filled = {}
        for column, usual in zip(self._protected, self._usual[group].T, strict=True):
            values = np.asarray(get_column(X, column), dtype=np.float64)
            filled[column] = np.where(np.isnan(values), usual, values)
        return set_columns(X, filled)

    def _usual_values(self, X: Any, s: Vector) -> Floats:
        """Return what the protected columns hold in most rows of each group."""
        held = pd.DataFrame({p: np.asarray(get_column(X, p)) for p in self._protected})
        usual = [held[s == g].value_counts().index[0] for g in np.unique(s) if self._protected]
        return np.array(usual, dtype=np.float64)

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

    # Encoding.

    def encode(
        self, X: Any, y: Any, *, sensitive_features: Any = None, sample_weight: Any = None
    ) -> TrainingSet:
        """Check a training set and return it as a stage takes it: X, y, groups and weights.

        y is 1 where the label is favourable (its position in ``classes_`` where there are more
        than two), groups are numbered, and with two of them 1 is the privileged one.
        """
        check_types(self)
        check_choice("protocol", self.protocol, PROTOCOLS)
        check_seed(self.random_state)
        check_learner(self.estimator, self.name)
        check_choice("way to treat missing attributes", self.missing, WHERE_MISSING)
        X = self._table(X, reset=True)
        n = _num_samples(X)
        check_same_order(X, y, name="y")
        check_same_order(X, sensitive_features, name="sensitive_features")
        labels = as_vector(y, name="y")
        check_length("y", len(labels), "X", n)
        w = None
        if sample_weight is not None:
            w = check_weight(as_vector(sample_weight, name="sample_weight"))
            check_length("sample_weight", len(w), "X", n)
        sensitive = self._sensitive(X, sensitive_features)
        rows = None if self.missing == "group" else self._known(sensitive, n)
        if rows is not None:
            X, labels = _safe_indexing(X, rows), labels[rows]
            w = None if w is None else check_weight(w[rows])
        y01 = self._learn_labels(labels)
        s = self._learn_groups(X, sensitive, rows, y01, w)
        return self._learn_table(X, s), y01, s, w

    def _table(self, X: Any, *, reset: bool) -> Any:
        given = X
        if not hasattr(X, "shape"):
            try:
                X = np.asarray(X)
            except ValueError:
                raise InputError(
                    "X must be rows and columns; its rows are of different lengths."
                ) from None
        if len(X.shape) != 2:
            one = " column or row: pass X[['name']], or X.iloc[[0]]" if len(X.shape) == 1 else None
            what = given_as(given) if not X.shape else f"{len(X.shape)} dimensions"
            raise InputError(
                f"X must be a table held in memory, rows and columns; got "
                f"{f'one{one}' if one else what}."
            )
        if not _num_samples(X):
            raise InputError("X must have rows; got none.")
        if not X.shape[1]:
            raise InputError("X must have columns; got none.")
        check_names(column_names(X) or (), what="X")
        check_cells(X, advice="drop it")
        validate_data(self, X, reset=reset, skip_check_array=True)
        return X.tocsr() if sparse.issparse(X) else X  # type: ignore[attr-defined]

    def _learn_table(self, X: Any, s: Vector) -> Any:
        """Return X as it is, or as numbers where neither the method nor its learner takes words."""
        self._table_encoder: TableEncoder | None = None
        self._protected = self.sensitive_columns_
        # where nothing was missing in fit, a missing attribute is no group that a model has seen
        plain = is_plain(X)
        self._usual = self._usual_values(X, s) if plain else None
        if self.takes_frame or self._is_prefit() or plain:
            return X
        if not self.needs_numbers and takes_table(self.base_learner(), X):
            return X
        self._table_encoder, X, self._protected = TableEncoder.learn(
            X, self.sensitive_columns_, who=self.name
        )
        self._usual = self._usual_values(X, s)
        return X

    def _is_prefit(self) -> bool:
        """Return whether the learner is fitted already, on X as it is."""
        return False

    def _learn_labels(self, labels: Vector) -> Vector:
        """Return 1 for the favourable class and 0 for the other; of more classes, their positions."""
        try:
            self.classes_ = np.unique(labels)  # without codes: finding those sorts all rows
        except TypeError:
            raise InputError("y must hold labels of one type; got a mixture.") from None
        k = len(self.classes_)
        if self.classes_.dtype.kind == "f" and (self.classes_ % 1 != 0).any():
            raise InputError(
                f"y must hold classes; got numbers such as {listed(self.classes_[:2])}: cut them in "
                f"two, y > {self.classes_[k // 2]:g}."
            )
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
            return np.searchsorted(self.classes_, labels)
        try:
            (favorable,) = resolve_favorable(self.classes_.tolist(), self.favorable)
        except UnknownName as error:
            if self.classes_.tolist() != [0, 1]:
                raise
            raise UnknownName(
                f"{error} Some parts of scikit-learn, such as VotingClassifier and "
                f"cross_val_predict of probabilities, pass the positions of sorted labels, 0 and 1, "
                f"instead of labels: name the favourable one's position there."
            ) from None
        self._favorable_at = self.classes_.tolist().index(favorable)
        self.favorable_ = favorable
        self._label_of_code = self.classes_[[1 - self._favorable_at, self._favorable_at]]
        return np.asarray(labels == self.classes_[self._favorable_at]).astype(np.intp)

    def _sensitive(self, X: Any, given: Any, *, hint: str = "") -> Any:
        """Return the protected attributes that were given, or those that X holds."""
        if given is not None:
            held = column_names(X) or []
            words = isinstance(given, list | tuple) and all(isinstance(g, str) for g in given)
            if words and len(given) != _num_samples(X) and set(given) <= set(held):
                raise InputError(
                    f"sensitive_features must hold a value for every row; got names of columns: "
                    f"pass the columns, X[{list(given)!r}], or name them with sensitive_columns."
                )
            return given
        if self.sensitive_columns is None:
            raise InputError(
                f"{self.name} needs the protected attribute: pass sensitive_features, or name the "
                f"columns of X that hold it with sensitive_columns.{hint}"
            )
        positions, names = find_columns(X, self.sensitive_columns, ()), column_names(X)
        if names is None:
            return np.asarray(_safe_indexing(X, list(positions), axis=1))
        return {names[p]: _safe_indexing(X, p, axis=1) for p in positions}

    def _known(self, sensitive: Any, n: int) -> Vector:
        """Return the rows whose attribute is known, where others are dropped or refused."""
        rows = known_rows(sensitive, n)
        if self.missing == "error" and len(rows) < n:
            raise InputError(
                f"The protected attribute must be known in every row; it is not in {n - len(rows):,} "
                f"of {n:,}: missing='drop' leaves such rows out."
            )
        if not len(rows):
            raise InputError(f"The protected attribute must be known in some row; {n:,} lack it.")
        return rows

    def _learn_groups(
        self, X: Any, sensitive: Any, rows: Vector | None, y: Vector, w: Weights
    ) -> Vector:
        """Return the number of each row's group: 1 is the privileged one wherever there are two."""
        encoder, codes = GroupEncoder.learn(sensitive, len(y), rows)
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
        s = self._code_of_group[codes]
        weight = np.bincount(s, w).astype(np.float64)
        self._group_shares = weight / weight.sum()
        return s

    def encode_rows(self, X: Any, *, sensitive_features: Any = None) -> tuple[Any, Vector | None]:
        """Check rows to be predicted; groups are read only where the method needs them."""
        check_is_fitted(self)
        X = self._table(X, reset=False)
        if not self.needs_sensitive_at_predict:
            return self._coded(X), None
        sensitive = self._sensitive(
            X,
            sensitive_features,
            hint=" A scorer of scikit-learn passes nothing to predict; isonomy.scorer(...) does.",
        )
        check_same_order(X, sensitive, name="sensitive_features")
        codes = self._encoder.encode(sensitive, _num_samples(X), missing=self.missing)
        return self._coded(X), np.where(codes < 0, -1, self._code_of_group[codes])

    def _coded(self, X: Any) -> Any:
        return X if self._table_encoder is None else self._table_encoder(X)

    def decode(self, codes: Vector) -> Vector:
        """Return labels as they were given to ``encode``."""
        return self._label_of_code[codes]

    def _positions(self, X: Any) -> tuple[int, ...]:
        """Return the protected columns of X, also when a stage is used without fit."""
        result: tuple[int, ...] | None = getattr(self, "_protected", None)
        return find_columns(X, self.sensitive_columns, ()) if result is None else result

    def base_learner(self) -> BaseEstimator:
        """Return the unfitted base learner, the default one where none was passed."""
        if self.estimator is None:
            return make_model("lr")
        return seeded(self.estimator, self.random_state)

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
