"""Words and missing values in X, as numbers where neither the method nor its learner takes them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.utils import get_tags

from isonomy._tables import as_pandas, column_names, numeric_columns
from isonomy._validate import listed
from isonomy.errors import InputError


def is_plain(X: Any) -> bool:
    """Return whether a table holds numbers and nothing else.

    Examples
    --------
    >>> is_plain(np.eye(2)), is_plain(pd.DataFrame({"job": ["nurse"]}))
    (True, False)
    """
    return not (has_words(X) or has_gaps(X))


def has_words(X: Any) -> bool:
    """Return whether a column holds something else than numbers."""
    if sparse.issparse(X):
        return False
    if column_names(X) is not None:
        return len(numeric_columns(X)) < int(X.shape[1])
    X = np.asarray(X)
    if X.dtype.kind not in "OUS":
        return False
    try:
        X.astype(np.float64)
    except (TypeError, ValueError):
        return True
    return False


def has_gaps(X: Any) -> bool:
    """Return whether a number is missing."""
    if sparse.issparse(X):
        X = X.data  # type: ignore[attr-defined]
    elif isinstance(X, pd.DataFrame):
        return bool(X.iloc[:, numeric_columns(X)].isna().to_numpy().any())
    elif column_names(X) is not None:
        frame = nw.from_native(X, eager_only=True)
        columns = [frame[:, j] for j in numeric_columns(X)]
        return any(bool(c.is_null().any()) or bool(np.isnan(c.to_numpy()).any()) for c in columns)
    X = np.asarray(X)
    if X.dtype.kind == "O":
        return bool(pd.isna(X).any())
    return X.dtype.kind == "f" and X.size > 0 and bool(np.isnan(X.min()))


def takes_table(learner: Any, X: Any) -> bool:
    """Return whether a learner takes a table as it is, words and missing values included.

    A pipeline that begins with a ColumnTransformer or an encoder does, and so do learners from
    outside scikit-learn as far as anyone can tell; of scikit-learn's own, trees take missing
    values, and none takes words. XGBoost, LightGBM and CatBoost take words as pandas' categories, or
    where the learner names them (``cat_features``).
    """
    if hasattr(learner, "estimator") and not isinstance(learner, Pipeline):
        return learner.estimator is None or takes_table(learner.estimator, X)
    steps = [step for _, step in learner.steps] if isinstance(learner, Pipeline) else [learner]
    steps = [step for step in steps if step is not None and not isinstance(step, str)]
    first = steps[0]
    library = type(first).__module__.partition(".")[0]
    if library in {"xgboost", "lightgbm", "catboost"}:
        named = first.get_params().get("cat_features") is not None
        return named or not has_words(X) or _are_categories(X)
    if library not in {"sklearn", "isonomy"}:
        return True
    tags = get_tags(first)
    if isinstance(first, ColumnTransformer | FeatureUnion) or tags.no_validation:
        return True
    if has_words(X) and not (tags.input_tags.categorical or _takes_categories(first, X)):
        return False
    if not has_gaps(X) or tags.input_tags.categorical:
        return True
    fills = [type(step).__module__.startswith("sklearn.impute") for step in steps]
    needed = steps[: fills.index(True)] if any(fills) else steps
    return all(get_tags(step).input_tags.allow_nan for step in needed)


def selects_columns(learner: Any) -> bool:
    """Return whether a learner is a pipeline that begins by selecting columns of its table."""
    return isinstance(learner, Pipeline) and isinstance(learner.steps[0][1], ColumnTransformer)


def _takes_categories(learner: Any, X: Any) -> bool:
    """Return whether a learner reads words off pandas' categories, as gradient boosting does."""
    return getattr(learner, "categorical_features", None) == "from_dtype" and _are_categories(X)


def _are_categories(X: Any) -> bool:
    """Return whether all columns of words are pandas' categories."""
    return isinstance(X, pd.DataFrame) and all(
        isinstance(kind, pd.CategoricalDtype)
        for j, kind in enumerate(X.dtypes)
        if j not in numeric_columns(X)
    )


_REFUSED = str.maketrans(
    {"[": "(", "]": ")", "{": "(", "}": ")", "<": "lt", ",": ";", ":": " ", '"': "'"}
)


def _plain_names(made: Sequence[str]) -> list[str]:
    """Return names of columns without what XGBoost and LightGBM refuse in them, each still its own.

    Examples
    --------
    >>> _plain_names(["age", "school=< HS", "place=a, b", "place=a; b"])
    ['age', 'school=lt HS', 'place=a; b (2)', 'place=a; b (3)']
    """
    plain = [str(name).translate(_REFUSED) for name in made]
    times = Counter(plain)
    return [p if times[p] == 1 else f"{p} ({j})" for j, p in enumerate(plain)]


def _source(made: str, columns: Sequence[str]) -> str:
    """Return the column that an encoded one comes from; names may hold ``=`` themselves."""
    return max((c for c in columns if made == c or made.startswith(f"{c}=")), key=len)


@dataclass
class TableEncoder:
    """The encoder of the preparation ``default``, fitted on the rows that a mitigator learns from.

    Missing numbers become the median and numbers are standardised; words become one column per
    level. A protected column of two values is one column of 0 and 1, so that it can be swapped.
    What a protected column of words or of two values held nowhere in fit is NaN: no group.
    """

    who: str
    names: list[str]
    words: list[str]
    ones: dict[str, Any]
    transformer: Any = None
    seen: dict[str, list[Any]] = field(default_factory=dict)
    gaps: list[str] = field(default_factory=list)

    @classmethod
    def learn(
        cls, X: Any, protected: Sequence[int], *, who: str
    ) -> tuple["TableEncoder", pd.DataFrame, tuple[int, ...]]:
        """Fit the encoder; return it, the encoded rows and the protected columns among them."""
        from isonomy.data.frames import make_transformer, with_categories

        given = column_names(X)
        names = [f"x{j}" if given is None else str(given[j]) for j in range(X.shape[1])]
        if len(set(names)) < len(names):  # 1 and "1" are two names until they are text
            names = [f"x{j}" for j in range(X.shape[1])]
        encoder = cls(who, names, [], {})
        frame = with_categories(encoder._frame(X))
        for j in protected:
            column = frame[names[j]]
            values = sorted(column.dropna().unique().tolist(), key=str)
            if len(values) == 2 and not column.isna().any():
                encoder.ones[names[j]] = values[1]
        empty = [c for c in frame.columns if frame[c].isna().all()]
        frame = frame.astype(dict.fromkeys(empty, "category"))  # a median of nothing is none
        encoder.words = [
            c for c in frame.columns if isinstance(frame[c].dtype, pd.CategoricalDtype)
        ]
        for name in (names[j] for j in protected):
            if name in encoder.ones or name in encoder.words:
                encoder.seen[name] = frame[name].dropna().unique().tolist()
        encoder.gaps = [c for c in encoder.seen if frame[c].isna().any()]
        frame = encoder._coded(frame)
        encoder.transformer = make_transformer(frame).fit(frame)
        made = encoder.transformer.get_feature_names_out()
        marked = {names[j] for j in protected}
        positions = [j for j, name in enumerate(made) if _source(name, names) in marked]
        return encoder, encoder._transform(frame, X), tuple(positions)

    def __call__(self, X: Any) -> pd.DataFrame:
        """Encode other rows with the same columns."""
        frame = self._frame(X)
        for column in self.names:
            if column in self.words:
                frame[column] = frame[column].astype("category")
            else:
                frame[column] = self._numbers(frame[column])
        strange = {c: ~self._known(frame[c]) for c in self.seen}
        table = self._transform(self._coded(frame), X)
        for column, rows in strange.items():
            if rows.any():
                made = self.transformer.get_feature_names_out()
                pairs = zip(table.columns, made, strict=True)
                its = [name for name, c in pairs if _source(c, self.names) == column]
                table.loc[rows.to_numpy(), its] = np.nan
        return table

    def _known(self, column: "pd.Series[Any]") -> "pd.Series[bool]":
        """Return where a protected column holds what it held in fit."""
        missing = column.isna()
        seen = column.astype(object).isin(self.seen[str(column.name)])
        return seen.where(~missing, str(column.name) in self.gaps)

    def _numbers(self, column: "pd.Series[Any]") -> "pd.Series[Any]":
        try:
            return column.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(
                f"Column {column.name!r} must hold numbers, as in fit; got {error}."
            ) from None

    def _frame(self, X: Any) -> pd.DataFrame:
        if column_names(X) is None:
            whole = X.toarray() if sparse.issparse(X) else np.asarray(X)  # type: ignore[attr-defined]
            return pd.DataFrame(whole, columns=self.names).infer_objects()
        return as_pandas(X).set_axis(self.names, axis=1)

    def _coded(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return protected columns of two values as 0 and 1, numbers as finite floats."""
        frame = frame.copy(deep=False)
        for column, one in self.ones.items():
            frame[column] = (frame[column].astype(object) == one).astype(np.int8)
        for column in frame.columns:
            if column in self.ones or isinstance(frame[column].dtype, pd.CategoricalDtype):
                continue
            frame[column] = frame[column].to_numpy(dtype=np.float64, na_value=np.nan)
            if np.isinf(frame[column].to_numpy()).any():
                raise InputError(
                    f"{self.who} needs finite numbers; column {listed([column])} holds infinite "
                    f"ones: correct or drop such rows."
                )
        return frame

    def _transform(self, frame: pd.DataFrame, X: Any) -> pd.DataFrame:
        return pd.DataFrame(
            self.transformer.transform(frame),
            columns=_plain_names(self.transformer.get_feature_names_out()),
            index=X.index if isinstance(X, pd.DataFrame) else None,
        )
