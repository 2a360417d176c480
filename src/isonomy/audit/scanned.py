"""Search all conjunctions of columns for groups that nobody thought of."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from isonomy._bands import MANY, is_number, quarters, read_cut
from isonomy._files import open_table, sql_name
from isonomy._groups import (
    MOST_GROUPS,
    MOST_VALUES,
    as_column,
    attribute_columns,
    bands,
    factorize,
    sort_key,
    too_many,
)
from isonomy._unknown import is_unknown
from isonomy._validate import (
    as_names,
    check_columns,
    check_length,
    check_same_order,
    check_score,
    listed,
    resolve_favorable,
    unknown_name,
)
from isonomy.audit.judge import FEWEST_ROWS
from isonomy.audit.scan_result import Scan
from isonomy.audit.scan_search import CALIBRATION, Table, scan_table
from isonomy.errors import InputError
from isonomy.metrics import RATES, Counts, Metric, get_metric
from isonomy.metrics.query import outcome
from isonomy.metrics.tally import from_arrays
from isonomy.stats.conjunctions import Codes

SCANNED = (
    "selection_rate",
    "error_rate",
    "false_positive_rate",
    "false_negative_rate",
    "precision",
)
"""The rates that a scan asks about; with scores, calibration takes the place of precision."""
SCORE_BINS = 20
"""Calibration compares people whose scores lie in the same of so many bins of equal size."""
NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "U", "FLOAT", "DOUBLE", "DECIMAL")
"""How the names of types of numbers begin in DuckDB."""
MOST_ROWS = 2_000_000
"""Rows that are read from a file."""


def scan(
    y_true: ArrayLike | None,
    y_pred: ArrayLike,
    *,
    sensitive_features: Any,
    score: ArrayLike | None = None,
    favorable: Any = None,
    bins: Mapping[str, Sequence[float]] | None = None,
    rates: Iterable[str] | None = None,
    depth: int = 3,
    fewest_rows: int = FEWEST_ROWS,
    confirm: bool = False,
    confidence: float = 0.95,
    permutations: int = 999,
    random_state: int | None = 0,
) -> Scan:
    """Search all conjunctions of columns for groups whose rates depart most from everybody else's.

    The chance that any group is listed where none departs is at most one less the confidence, over
    all groups, both directions and all rates: outcomes are permuted among the rows that a rate is of,
    and each group is judged beside the largest departure of any group.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        Labels and predictions. Without labels (None) only ``selection_rate`` is asked about.
    sensitive_features : array-like, Series, frame or mapping of name to array
        The columns whose values make the groups. Numbers with more than twelve values are cut into
        quarters; values that are not known are no group.
    score : array-like of shape (n,), optional
        Probability of the favourable outcome: asks about calibration, which is whether labels depart
        among people of like scores.
    favorable : value or collection, optional
        The label(s) that are good to get; may be left out when labels are 0 / 1.
    bins : mapping of column to cut points, optional
        Cuts numbers otherwise: ``{"age": [25, 60]}``.
    rates : iterable of str, optional
        Rates to ask about, and ``"calibration"``; by default error rates, selection and precision
        (calibration where there are scores).
    depth : int
        The most columns of a conjunction.
    fewest_rows : int
        A group needs so many rows that the rate is of.
    confirm : bool
        Whether to search one half of the rows and to test what was found on the other.
    confidence : float
        One less the chance that any group is listed where none departs.
    permutations : int
        How often outcomes are permuted.
    random_state : int or None
        Seed.

    Returns
    -------
    Scan

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> sex, city = rng.choice(["F", "M"], 4000), rng.choice(["a", "b", "c"], 4000)
    >>> chance = np.where((sex == "F") & (city == "b"), 0.2, 0.5)
    >>> selected = (rng.random(4000) < chance).astype(int)
    >>> found = scan(None, selected, sensitive_features={"sex": sex, "city": city})
    >>> [f.group for f in found.findings]
    ['sex = F & city = b']

    References
    ----------
    Westfall and Young 1993, Resampling-Based Multiple Testing. Zhang and Neill 2016, Identifying
    Significant Predictive Bias in Classifiers.
    """
    columns = attribute_columns(sensitive_features)
    labels = y_pred if y_true is None else y_true
    rows = len(as_column(y_pred, "y_pred"))
    for name, column in columns.items():
        check_same_order(labels, column, name=f"sensitive_features[{name!r}]", to="y_true")
        check_length(f"sensitive feature {name!r}", len(column), "y_pred", rows)
    if unasked := [name for name in bins or {} if name not in columns]:
        raise unknown_name("column to cut into bands", unasked[0], list(columns))
    stratum, strata = np.zeros(rows, dtype=np.intp), 1
    if score is not None:
        check_same_order(labels, score, name="score", to="y_true")
        numbers = check_score(score)
        check_length("score", numbers.size, "y_pred", rows)
        edges = np.unique(np.quantile(numbers, np.arange(1, SCORE_BINS) / SCORE_BINS))
        stratum = np.searchsorted(edges, numbers, side="right")
        strata = len(edges) + 1
    coded = [_coded(name, column, (bins or {}).get(name)) for name, column in columns.items()]
    joint = np.zeros(rows, dtype=np.int64)
    for codes, values in coded:
        joint = np.unique(joint * (len(values) + 1) + codes + 1, return_inverse=True)[1]
    cells, first, joint = np.unique(joint, return_index=True, return_inverse=True)
    if cells.size * strata > MOST_GROUPS:
        raise InputError(
            f"The combinations of {listed(columns)} must be at most {MOST_GROUPS // strata:,}; there "
            f"are {cells.size:,}: name fewer columns, or cut numbers into fewer bands."
        )
    place = joint * strata + stratum
    made = from_arrays(labels, y_pred, {"cell": place}, most=MOST_GROUPS)
    counts = Counts.from_cells(made, favorable=favorable)
    whole = np.zeros((cells.size * strata, *counts.n.shape[1:]))
    whole[[group[0] for group in counts.groups]] = counts.n
    table = Table(
        tuple(columns),
        tuple(tuple(values) for _, values in coded),
        np.stack([codes[first] for codes, _ in coded], axis=1),
        replace(counts, n=whole, groups=tuple((k,) for k in range(len(whole)))),
        strata,
    )
    return scan_table(
        table, rates=_rates(rates, y_true is not None, score is not None), depth=depth,
        fewest_rows=fewest_rows, confirm=confirm, confidence=confidence,
        permutations=permutations, random_state=random_state,
    )  # fmt: skip


def quarters_of_file(
    source: str | os.PathLike[str],
    names: Sequence[str],
    *,
    table: str | None = None,
    bins: Mapping[str, Sequence[float]] | None = None,
) -> dict[str, Sequence[float]]:
    """Return ``bins`` with the quarters of the numbers of a file that have more than twelve values."""
    out = dict(bins or {})
    with open_table(source, table) as file:
        check_columns(names, list(file.columns))
        for name in names:
            if name in out or not file.columns[name].startswith(NUMBERS):
                continue
            column = sql_name(name)
            query = (
                f"SELECT {column}, COUNT(*) FROM {file.rows} WHERE {column} IS NOT NULL GROUP BY 1"
            )
            values = file.execute(query).fetchall()
            if len(values) > MANY:
                out[name] = quarters([float(v) for v, _ in values], [n for _, n in values])
    return {name: cuts for name, cuts in out.items() if len(cuts)}


def rates_of(metrics: Iterable[str | Metric], *, scored: bool) -> tuple[str, ...] | None:
    """Return the rates behind the gaps of an audit, with calibration where there are scores.

    None, the usual ones, where no metric is a gap between rates.

    Examples
    --------
    >>> rates_of(["statistical_parity_difference", "equalized_odds_difference"], scored=False)
    ('selection_rate', 'false_positive_rate', 'true_positive_rate')
    """
    found = [parts.rates for parts in (get_metric(m).parts for m in metrics) if parts is not None]
    rates = dict.fromkeys(rate for some in found for rate in some if rate in _known_rates())
    return (*rates, *([CALIBRATION] if scored else [])) if rates else None


def _known_rates() -> list[str]:
    return [name for name in RATES if RATES[name].of != "false positives"]  # which is an odds


def _coded(name: str, column: Any, cuts: Sequence[float] | None) -> tuple[Codes, list[Any]]:
    """Code a column, its numbers in bands; what is not known is -1."""
    series = column if isinstance(column, pd.Series) else pd.Series(column)
    if cuts is None and is_number(series) and series.nunique() > MANY:
        cuts = quarters(series)
    if cuts:
        series = bands(series, cuts, name)
    codes, values = factorize(series)
    if len(values) > MOST_VALUES:
        raise InputError(too_many(name, len(values), MOST_VALUES))
    order = sorted(
        (k for k, v in enumerate(values) if not is_unknown(v)), key=lambda k: sort_key(values[k])
    )
    rank = np.full(len(values) + 1, -1, dtype=np.intp)
    rank[order] = np.arange(len(order))
    return rank[codes], [values[k] for k in order]


def _rates(asked: Iterable[str] | None, labelled: bool, scored: bool) -> tuple[str, ...]:
    """Return the rates to ask about, those that these rows can tell."""
    usual = (*SCANNED[:-1], CALIBRATION if scored else SCANNED[-1]) if labelled else SCANNED[:1]
    if asked is None:
        return usual
    chosen = tuple(dict.fromkeys([asked] if isinstance(asked, str) else asked))
    known = _known_rates()
    for name in chosen:
        if name != CALIBRATION and name not in known:
            raise unknown_name("rate to scan for", name, [*known, CALIBRATION])
        if name == CALIBRATION and not scored:
            raise InputError("calibration needs scores; pass score=... (--score COLUMN).")
        if not labelled and name != "selection_rate":
            raise InputError(
                f"{name} needs labels; pass y_true, or ask about selection_rate alone."
            )
    if not chosen:
        raise InputError("At least one rate must be asked about; got none.")
    return chosen


def scan_counts(
    counts: Counts, *, labelled: bool = True, rates: Iterable[str] | None = None, **options: Any
) -> Scan:
    """Scan counts that were made elsewhere: from a file, a warehouse or merged shards.

    Takes the arguments of :func:`scan` that make sense without rows; numbers must be in bands.
    ``labelled`` says whether the counts have labels besides predictions.

    Examples
    --------
    >>> made = Counts.from_labels([1, 0] * 40, [1, 0] * 40, sensitive_features=["a", "b"] * 40)
    >>> scan_counts(made, rates=["selection_rate"]).findings[0].group  # as far as group = b
    'group = a'
    """
    if counts.weighted:
        raise InputError("A scan permutes rows, so that they must have no weights; leave them out.")
    if counts.shape:
        raise InputError(f"A scan needs counts without leading axes; these have {counts.shape}.")
    values = [
        sorted({g[j] for g in counts.groups if not is_unknown(g[j])}, key=sort_key)
        for j in range(len(counts.attributes))
    ]
    places = [{value: k for k, value in enumerate(some)} for some in values]
    codes = [[place.get(v, -1) for v, place in zip(g, places, strict=True)] for g in counts.groups]
    table = Table(
        counts.attributes, tuple(map(tuple, values)), np.array(codes, dtype=np.intp), counts
    )
    return scan_table(table, rates=_rates(rates, labelled, scored=False), **options)


def scan_file(
    source: str | os.PathLike[str],
    *,
    label: str | None,
    prediction: str,
    sensitive_features: str | Sequence[str],
    score: str | None = None,
    table: str | None = None,
    favorable: Any = None,
    **options: Any,
) -> Scan:
    """Scan a Parquet, CSV or DuckDB file of predictions; see :func:`scan`.

    Parameters
    ----------
    source : path
        The file.
    label, prediction, sensitive_features, score : str
        Columns; a label or prediction may also be a number cut in two: ``"score>=0.5"``. Without a
        label (None) only selection is asked about.
    table : str, optional
        Table of a DuckDB file.
    favorable, **options
        As in :func:`scan`.
    """
    names = as_names(sensitive_features)
    with open_table(source, table) as file:
        known = list(file.columns)
        check_columns([*names, *([score] if score else [])], known)
        wanted = [f"{outcome(prediction, known, what='prediction')} AS {sql_name('ŷ')}"]
        if label is not None:
            wanted.append(f"{outcome(label, known)} AS {sql_name('y')}")
        wanted += [sql_name(c) for c in dict.fromkeys([*names, *([score] if score else [])])]
        rows = int(file.execute(f"SELECT COUNT(*) FROM {file.rows}").fetchall()[0][0])
        if rows > MOST_ROWS:
            raise InputError(
                f"A scan reads at most {MOST_ROWS:,} rows; the file has {rows:,}: count it first "
                f"(isonomy audit --print-sql) and scan the counts (--counts)."
            )
        frame = file.execute(f"SELECT {', '.join(wanted)} FROM {file.rows}").df()
    predicted, true = frame.iloc[:, 0], None if label is None else frame.iloc[:, 1]
    if true is not None and read_cut(prediction, known, what="prediction"):
        classes = factorize(true)[1]
        good = resolve_favorable(classes, favorable)
        bad = next(c for c in classes if c not in good)
        predicted = predicted.map({1: good[0], 0: bad})
    return scan(
        true, predicted, sensitive_features=frame.iloc[:, 1 + (label is not None) :][names],
        score=None if score is None else frame[score], favorable=favorable, **options,
    )  # fmt: skip
