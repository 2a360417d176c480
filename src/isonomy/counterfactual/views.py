"""Tests of several attributes at once: the rows a model takes, and one report per attribute."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from isonomy._files import is_table_file, read_table
from isonomy._validate import check_columns, match_values, unknown_name
from isonomy.counterfactual.ecd import tail
from isonomy.counterfactual.flip import Companions
from isonomy.counterfactual.pairs import Scorer
from isonomy.counterfactual.report import EcdReport
from isonomy.counterfactual.sample import tail_sample_search
from isonomy.counterfactual.seek import seek_tail
from isonomy.data import load
from isonomy.data.label import source_of_label
from isonomy.errors import InputError


def model_table(
    data: str,
    model: Any,
    sensitive_features: Sequence[str],
    *,
    label: str | None = None,
    drop: Sequence[str] = (),
    favorable: Any = None,
) -> tuple[pd.DataFrame, Any, dict[str, Any]]:
    """Read the columns that a model takes from a file or a dataset.

    Returns
    -------
    X : pandas.DataFrame
        The rows, without the label and the columns to drop.
    favorable : label or None
        The favorable label: the one given, else the dataset's.
    privileged : dict
        The privileged values that a dataset declares, per attribute.
    """
    privileged: dict[str, Any] = {}
    removed = [*([label] if label else []), *drop]
    if is_table_file(data):
        table = read_table(data)
        if label:
            removed[0] = source_of_label(label, list(table.columns))
        check_columns([*removed, *sensitive_features], list(table.columns))
    else:
        dataset = load(data)
        table = dataset.X
        # an attribute derived from a column holds other values than the column that is flipped
        privileged = {
            a: list(v)
            for a, v in dataset.privileged.items()
            if a in table and set(v) <= set(table[a].unique())
        }
        if favorable is None:
            classes = {str(c) for c in getattr(model, "classes_", ())}
            favorable = next((str(v) for v in dataset.favorable if str(v) in classes), None)
    table = table.drop(columns=removed, errors="ignore")
    wanted = list(getattr(model, "feature_names_in_", table.columns))
    for column in wanted:
        if column not in table.columns:
            raise InputError(
                f"The data must hold every column that the model was fitted on; "
                f"{unknown_name('column', str(column), list(table.columns))}"
            )
    for column in sensitive_features:
        if column not in wanted:
            raise InputError(
                f"The model must take the protected attribute to be asked about it; it was "
                f"fitted without {column!r}, so that changing it changes nothing."
            )
    return table[wanted], favorable, privileged


def tail_reports(
    model: Any,
    X: pd.DataFrame,
    sensitive_features: Sequence[str],
    *,
    intersections: bool = False,
    groups: Mapping[str, Sequence[Any]] | None = None,
    privileged: Mapping[str, Any] | None = None,
    columns: Mapping[str, Sequence[Any]] | None = None,
    companions: Companions | None = None,
    one_hot: Sequence[Sequence[Any]] | None = None,
    favorable: Any = None,
    queries: int = 0,
    generator: Any = None,
    protocol: str = "corrected",
    timeout: float = 1200.0,
    random_state: int = 0,
    **options: Any,
) -> list[EcdReport]:
    """Test the tail of each attribute, and of all together, with search and generated rows.

    Parameters
    ----------
    model, X, favorable, one_hot, random_state
        As in ``tail``.
    sensitive_features : sequence of str
        The columns of the protected attributes.
    intersections : bool, default False
        Whether to flip all attributes together, too.
    groups, privileged, columns : mapping of attribute to values or columns
        As in ``tail``, per attribute.
    companions : mapping of column to mapping of group to mapping
        As in ``tail``; a rule applies to every attribute that has the group.
    queries : int, default 0
        The most rows that a search for worse rows may score; 0 for no search.
    generator, protocol, timeout
        As in ``tail_sample_search``, for every group; no rows are generated when None.
    **options
        Other options of ``tail``.

    Returns
    -------
    list of EcdReport
        One per attribute, then that of the intersections.
    """
    scorer = Scorer(model, favorable)
    rules = _rules_by_attribute(companions or {}, sensitive_features, X)
    chosen, coded = groups or {}, columns or {}
    views: list[list[str]] = [[name] for name in sensitive_features]
    if intersections and len(views) > 1:
        views.append(list(sensitive_features))
    reports = []
    for names in views:
        only, beside = chosen.get(names[0]), rules[names[0]]
        if len(names) > 1:
            only, beside = _combinations(names, X, chosen, rules)
        where: dict[str, Any] = {
            "columns": {n: coded[n] for n in names if n in coded} or None,
            "groups": only,
            "companions": beside,
            "one_hot": one_hot,
            "random_state": random_state,
        }
        first = {n: v for n, v in (privileged or {}).items() if n in names} or None
        report = tail(scorer, X, names, privileged=first, **where, **options)
        if queries:
            result = seek_tail(scorer, X, names, pairs=report.pairs, queries=queries, **where)
            report = report.with_parts(found=result)
        if generator is not None:
            samples = tuple(
                tail_sample_search(
                    scorer, X, names, group=g.group, generator=generator, protocol=protocol,
                    timeout=timeout, **where,
                )
                for g in report.groups
            )  # fmt: skip
            report = report.with_parts(samples=samples)
        reports.append(report)
    return reports


def _rules_by_attribute(
    companions: Companions, names: Sequence[str], X: pd.DataFrame
) -> dict[str, dict[str, dict[Any, Any]]]:
    """Return the companions of each attribute: of the one that has the group named."""
    known = {a: [str(v) for v in X[a].dropna().unique()] for a in names}
    rules: dict[str, dict[str, dict[Any, Any]]] = {a: {} for a in names}
    for column, by_group in companions.items():
        for group, words in by_group.items():
            owners = [a for a in names if str(group) in known[a]]
            if not owners:
                raise unknown_name("group", str(group), [g for a in names for g in known[a]])
            for owner in owners:
                rules[owner].setdefault(column, {})[str(group)] = words
    return rules


def _combinations(
    names: list[str],
    X: pd.DataFrame,
    chosen: Mapping[str, Sequence[Any]],
    rules: Mapping[str, Mapping[str, Mapping[Any, Any]]],
) -> tuple[list[tuple[Any, ...]] | None, dict[str, dict[Any, dict[Any, Any]]]]:
    """Return the groups and companions of single attributes for the combinations that occur."""
    rows = X[names].dropna().drop_duplicates()
    for name in (n for n in names if n in chosen):
        values = match_values(chosen[name], list(X[name].dropna().unique()), what="group")
        rows = rows[rows[name].isin(values)]
    groups = [tuple(row) for row in rows.itertuples(index=False)]
    joint: dict[str, dict[Any, dict[Any, Any]]] = {}
    for group in groups:
        for name, value in zip(names, group, strict=True):
            for column, words in rules[name].items():
                if str(value) in words:
                    joint.setdefault(column, {}).setdefault(group, {}).update(words[str(value)])
    return groups if any(n in chosen for n in names) else None, joint
