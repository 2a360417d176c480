"""The steps that preparations share: choosing columns, coding attributes, one-hot encoding."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from isonomy._arrays import Floats
from isonomy._validate import MISSING, unknown_name
from isonomy.data.dataset import Dataset


def coded(dataset: Dataset, attributes: Iterable[str]) -> pd.DataFrame:
    """Return protected attributes as columns of 1 = privileged and 0 = everybody else.

    Where an attribute is not known it is coded as unprivileged, so callers drop such rows.
    """
    return pd.DataFrame(
        {
            a: dataset.sensitive[a].isin(dataset.privileged[a]).to_numpy().astype(np.int8)
            for a in attributes
        },
        index=range(len(dataset)),
    )


def columns_of(dataset: Dataset, names: Iterable[str]) -> pd.DataFrame:
    """Return feature columns, from ``X`` or ``aside``, indexed by the position of the row."""
    taken = {}
    for name in names:
        home = dataset.X if name in dataset.X.columns else dataset.aside
        if home is None or name not in home.columns:
            raise unknown_name("column", name, list(dataset.X.columns))
        taken[name] = home[name].array
    return pd.DataFrame(taken, index=range(len(dataset)))


def features_of(dataset: Dataset) -> pd.DataFrame:
    """Return all features: protected attributes as 0 / 1 in place of their sources, the rest raw."""
    attributes = [a for a in dataset.attributes if a in dataset.privileged]
    replaced = {*attributes, *(c for a in attributes for c in dataset.sources_of(a))}
    rest = [c for c in dataset.X.columns if c not in replaced]
    return pd.concat(
        [coded(dataset, attributes), with_categories(columns_of(dataset, rest))], axis=1
    )


def with_categories(frame: pd.DataFrame) -> pd.DataFrame:
    """Mark truth values and what is no number as categories."""
    kinds = frame.dtypes.items()
    words = [
        c
        for c, kind in kinds
        if pd.api.types.is_bool_dtype(kind) or not pd.api.types.is_numeric_dtype(kind)
    ]
    return frame.astype(dict.fromkeys(words, "category"))


def one_hot(frame: pd.DataFrame) -> tuple[Floats, tuple[str, ...]]:
    """Turn a frame into floats: numbers first, then one column per level of each category."""
    names: list[str] = []
    numeric = [c for c in frame.columns if not _is_category(frame[c])]
    categories = {c: frame[c].cat.remove_unused_categories().cat for c in frame if c not in numeric}
    names.extend(map(str, numeric))
    widths = {c: len(cat.categories) for c, cat in categories.items()}
    matrix = np.zeros((len(frame), len(numeric) + sum(widths.values())))
    matrix[:, : len(numeric)] = frame[numeric].to_numpy(dtype=np.float64)
    line, start = np.arange(len(frame)), len(numeric)
    for column, cat in categories.items():
        codes = cat.codes.to_numpy().astype(np.intp)
        known = codes >= 0
        matrix[line[known], start + codes[known]] = 1.0
        names.extend(f"{column}={level}" for level in cat.categories)
        start += widths[column]
    return matrix, tuple(names)


def make_transformer(frame: pd.DataFrame) -> Any:
    """Build the unfitted ColumnTransformer of the ``default`` preparation.

    Numbers: median where missing, then standardised. Categories: one column per level, missing
    as a level of its own, levels of fewer than ten training rows gathered in one, and levels
    that training never saw put there too. 0 / 1 columns pass as they are.

    Parameters
    ----------
    frame : pandas.DataFrame
        A frame with the columns to expect.

    Returns
    -------
    sklearn.compose.ColumnTransformer
    """
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

    category = [c for c in frame.columns if _is_category(frame[c])]
    coded = [c for c in frame.columns if frame[c].dtype == np.int8]
    number = [c for c in frame.columns if c not in category and c not in coded]
    return ColumnTransformer(
        [
            ("coded", "passthrough", coded),
            ("number", make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), number),
            (
                "category",
                make_pipeline(
                    FunctionTransformer(_as_text, feature_names_out="one-to-one"),
                    OneHotEncoder(
                        handle_unknown="infrequent_if_exist",
                        min_frequency=10,
                        sparse_output=False,
                        feature_name_combiner=_feature_name,
                    ),
                ),
                category,
            ),
        ],
        verbose_feature_names_out=False,
    )


def _as_text(frame: pd.DataFrame) -> pd.DataFrame:
    """Turn categories into text, a missing one into a level; by level, as rows are many."""
    text = {}
    for column, values in frame.items():
        known = values.astype("category").cat
        levels = np.array([*map(str, known.categories), MISSING], dtype=object)
        text[column] = levels[known.codes.to_numpy()]  # the code of missing is -1, the last
    return pd.DataFrame(text, index=frame.index, dtype=object)


def _feature_name(column: str, level: object) -> str:
    return f"{column}={level}"


def _is_category(column: "pd.Series[Any]") -> bool:
    return isinstance(column.dtype, pd.CategoricalDtype)
