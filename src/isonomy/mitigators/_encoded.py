"""From what users give to the plain arrays that stages work on, and back.

Frames, text labels and several attributes become X, y, group numbers and weights.
"""

from dataclasses import field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples, check_is_fitted, validate_data

from isonomy._arrays import Floats
from isonomy._tables import as_vector, check_cells, column_names, get_column, set_columns
from isonomy._validate import (
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
from isonomy.errors import InputError, NotApplicable, UnknownName
from isonomy.mitigators._declared import Declared
from isonomy.mitigators._encode import TableEncoder, is_plain, takes_table
from isonomy.mitigators._inputs import GroupEncoder, find_columns, known_rows
from isonomy.models import check_learner, make_model, seeded

PROTOCOLS = ("as_published", "corrected")
WHERE_MISSING = ("group", "drop", "error")

Vector = NDArray[Any]
Weights = Floats | None
TrainingSet = tuple[Any, Vector, Vector, Weights]
"""X, y, group numbers and weights."""


class Encoded(Declared):
    """The parameters that all mitigators share, and the encoding that they settle.

    :class:`~isonomy.mitigators.base.BaseMitigator` documents the parameters.
    """

    estimator: BaseEstimator | None = field(default=None, kw_only=False)
    privileged: Any = None
    favorable: Any = None
    sensitive_columns: Any = None
    protocol: str = "corrected"
    random_state: Any = 0
    missing: str = "group"

    @property
    def published(self) -> bool:
        """Whether it does what the published study's code did."""
        return self.protocol == "as_published"

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

    def base_learner(self) -> BaseEstimator:
        """Return the unfitted base learner, the default one where none was passed."""
        if self.estimator is None:
            return make_model("lr")
        return seeded(self.estimator, self.random_state)
