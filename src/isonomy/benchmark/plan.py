"""From a user's data and wishes to the study that a benchmark runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from isonomy._files import is_table_file, write_table
from isonomy._validate import listed, match_values, unknown_name
from isonomy.audit.unexamined import looks_protected
from isonomy.benchmark.cases import frontier_specs
from isonomy.data import Dataset, dataset_from, load
from isonomy.errors import InputError
from isonomy.mitigators import MITIGATORS
from isonomy.study import Method, Source, Study, Task

__all__ = ["BenchmarkPlan", "METHODS_OF_ALL", "plan_benchmark"]

MOST_GROUPS = 12
MOST_OTHERS = 4
FEWEST_ROWS = 40
METHODS_OF_ALL = "all"
# a search of hundreds of fits would cost more than all other methods together
_BRIEF = {"ecd_fair": "ecd_fair(budget=40)"}


@dataclass(frozen=True)
class BenchmarkPlan:
    """The study to run, and what a reader must know of how it came about."""

    study: Study
    rows: int
    notes: tuple[str, ...] = ()


def plan_benchmark(
    data: str | Path,
    sensitive: Sequence[str],
    *,
    label: str | None = None,
    favorable: Any = None,
    privileged: Mapping[str, Any] | None = None,
    bins: Mapping[str, Sequence[float]] | None = None,
    drop: Sequence[str] = (),
    models: Sequence[str] = ("lr",),
    methods: Sequence[str] = (METHODS_OF_ALL,),
    fairness: str = "statistical_parity_difference",
    repeats: int = 10,
    seed: int = 0,
    folder: str | Path | None = None,
) -> BenchmarkPlan:
    """Plan a benchmark of every method on one dataset.

    Parameters
    ----------
    data : str or path
        A dataset that ``isonomy data list`` names, or a CSV or Parquet file.
    sensitive : sequence of str
        The protected attributes to mitigate, each for itself.
    label, favorable, privileged, drop
        For a file: the column to predict, its good values, the privileged values of each
        attribute, columns not to learn from. Without ``privileged`` the group with the highest
        share of favourable labels is taken, and a note says so.
    bins : mapping of attribute to cut points, optional
        For a file: cuts a number such as age into bands.
    models : sequence of str
        Base learners by name.
    methods : sequence of str
        Mitigators by name, variants included; ``all`` for every one.
    fairness : str
        The metric that the second baseline is held to.
    repeats, seed : int
        How many splits, and their seed.
    folder : path, optional
        Where a copy of a file with bands is kept; needed with ``bins``, and where a number looks
        protected.

    Examples
    --------
    >>> plan = plan_benchmark("german", ["age"], methods=["reweighing"], repeats=3)
    >>> [str(task) for task in plan.study.tasks], plan.study.methods[1].label
    (['german/age'], 'reweighing')
    """
    asked = list(dict.fromkeys(sensitive))
    if not asked:
        raise InputError(
            "At least one protected attribute must be named: --sensitive COLUMN (may be repeated)."
        )
    notes: list[str] = []
    sources: tuple[Source, ...] = ()
    if is_table_file(data):
        if label is None:
            raise InputError(f"--label must name the column of {str(data)!r} to predict.")
        whole, source = _declared(
            Path(data), asked, label, favorable, privileged or {}, bins or {}, drop, folder, notes
        )
        sources, name = (source,), source.name
    else:
        whole, asked = _registered(str(data), asked, privileged, favorable, bins, label)
        name = str(data)
    _check_size(whole, asked)
    frontier = frontier_specs(fairness)
    if not frontier:
        notes.append(f"No second baseline: group thresholds cannot be held to {fairness}.")
    chosen = _chosen(methods)
    study = Study(
        name=f"benchmark of {name}",
        tasks=tuple(Task(name, a) for a in asked),
        models=tuple(models),
        methods=(
            Method.of("unmitigated"),
            *(Method.of(m) for m in chosen),
            *(Method(label=k, mitigator=v) for k, v in frontier.items()),
        ),
        repeats=repeats,
        seed=seed,
        sources=sources,
    )
    return BenchmarkPlan(study, len(whole), tuple(notes))


def _chosen(methods: Sequence[str]) -> list[str]:
    out: list[str] = []
    for word in methods:
        out += [_BRIEF.get(m, m) for m in MITIGATORS] if word == METHODS_OF_ALL else [word]
    found = [m for m in dict.fromkeys(out) if m != "unmitigated"]
    if not found:
        raise InputError("At least one method must be named: see isonomy mitigators, or say all.")
    return found


def _registered(
    name: str,
    asked: list[str],
    privileged: Any,
    favorable: Any,
    bins: Any,
    label: Any,
) -> tuple[Dataset, list[str]]:
    whole = load(name)
    given = {"--label": label, "--favorable": favorable, "--privileged": privileged, "--bins": bins}
    odd = [option for option, value in given.items() if value]
    if odd:
        raise InputError(
            f"{listed(odd)} must be left out for a dataset of the catalogue: {name!r} declares "
            "them itself (isonomy data info)."
        )
    found = [str(match_values(a, whole.attributes, what="protected attribute")[0]) for a in asked]
    return whole, found


# ---------------------------------------------------------------------- a file of the user's own


def _declared(
    file: Path,
    asked: list[str],
    label: str,
    favorable: Any,
    privileged: Mapping[str, Any],
    bins: Mapping[str, Sequence[float]],
    drop: Sequence[str],
    folder: str | Path | None,
    notes: list[str],
) -> tuple[Dataset, Source]:
    for named in (*bins, *privileged):
        if named not in asked:
            raise unknown_name("--sensitive attribute", named, asked)
    first = dataset_from(
        file, label=label, sensitive_features=asked, favorable=favorable or None, drop=list(drop)
    )
    table = first.frame()
    changed = False
    for attribute, cuts in bins.items():
        table[attribute] = _bands(table[attribute], cuts, attribute)
        changed = True
    for attribute in asked:
        _check_groups(table[attribute], attribute, file)
    others: list[str] = []
    hidden: list[str] = []
    for column in map(str, table.columns):
        if column in (label, *asked, *drop) or not looks_protected(column):
            continue
        values = table[column]
        count = int(values.nunique())
        if 2 <= count <= MOST_GROUPS and len(others) < MOST_OTHERS:
            others.append(column)
        elif count > MOST_GROUPS and _is_number(values) and folder and len(others) < MOST_OTHERS:
            quarter = f"{column} (quarter)"
            table[quarter] = _quarters(values)
            others.append(quarter)
            hidden.append(quarter)
            changed = True
        elif count > 1:
            notes.append(f"{column} looks protected and is not examined: it has {count} values.")
    chosen = {
        a: list(match_values(privileged[a], _known(table[a]), what=f"privileged value of {a!r}"))
        for a in privileged
    }
    good = table[label].isin(first.favorable)
    for attribute in asked:
        if attribute not in chosen:
            rates = good.groupby(table[attribute].astype(object)).mean()
            chosen[attribute] = [rates.idxmax()]
            notes.append(
                f"--privileged was not given for {attribute}: {rates.idxmax()!r}, the group with "
                f"the highest share of favourable labels ({rates.max():.0%}), is compared with the "
                "others."
            )
        unknown = int(table[attribute].isna().sum())
        if unknown:
            notes.append(f"{unknown:,} rows without {attribute} are left out.")
    kept = file
    if changed:
        if folder is None:
            raise InputError("A folder must be named to keep the banded copy of the data in.")
        kept = _written(table, Path(folder) / f"{file.stem}.parquet")
    source = Source.of_file(
        kept,
        label=label,
        sensitive=[*asked, *others],
        favorable=list(first.favorable),
        privileged=chosen,
        drop=[*drop, *hidden],
        name=file.stem,
    )
    return source.load(), source


def _known(values: "pd.Series[Any]") -> list[Any]:
    return list(values.dropna().unique())


def _is_number(values: "pd.Series[Any]") -> bool:
    return pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values)


def _check_groups(values: "pd.Series[Any]", attribute: str, file: Path) -> None:
    found = _known(values)
    if len(found) < 2:
        raise InputError(
            f"A protected attribute must have two groups or more to compare; {attribute!r} of "
            f"{file.name!r} holds only {listed(found)}."
        )
    if len(found) > MOST_GROUPS:
        hint = (
            f"cut it into bands: --bins {attribute}={np.nanmedian(values.astype(float)):g}"
            if _is_number(values)
            else "merge its values first"
        )
        raise InputError(
            f"A protected attribute must have {MOST_GROUPS} groups at most; {attribute!r} has "
            f"{len(found)}: {hint}."
        )


def _bands(values: "pd.Series[Any]", cuts: Sequence[float], attribute: str) -> "pd.Series[Any]":
    if not _is_number(values):
        raise InputError(f"--bins cuts numbers; {attribute!r} holds {listed(_known(values)[:3])}.")
    edges = sorted(cuts)
    low = [f"{cut:g}" for cut in edges]
    names = [f"under {low[0]}", *(f"{a} to {b}" for a, b in pairwise(low)), f"{low[-1]} and over"]
    cut = pd.cut(values, [-np.inf, *edges, np.inf], right=False, labels=names)
    return cut.astype(object).where(values.notna(), None)


def _quarters(values: "pd.Series[Any]") -> "pd.Series[Any]":
    edges = np.unique(np.nanquantile(values.to_numpy(dtype=float), [0.25, 0.5, 0.75]))
    return _bands(values, edges.tolist(), str(values.name))


def _written(table: pd.DataFrame, path: Path) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"The runs must go to a folder that can be written; {str(path.parent)!r}: "
            f"{error.strerror}: choose another with --out."
        ) from None
    write_table(table, path)  # whole: workers of a benchmark that still runs may be reading it
    return path


def _check_size(data: Dataset, asked: list[str]) -> None:
    """Raise where no split could hold both labels in every group that is compared."""
    if len(data) < FEWEST_ROWS:
        raise InputError(
            f"A benchmark needs {FEWEST_ROWS} rows or more to learn and to test; {data.name!r} "
            f"has {len(data)}."
        )
    good = data.y01.astype(bool)
    if good.all() or not good.any():
        raise InputError(
            f"Both favourable and unfavourable labels must occur; all {len(data):,} rows of "
            f"{data.name!r} are alike."
        )
    for attribute in asked:
        member = data.sensitive[attribute].isin(data.privileged[attribute]).to_numpy()
        known = data.known(attribute)
        for who, rows in (("privileged", member), ("unprivileged", known & ~member)):
            count = int(rows.sum())
            if count < 10:
                raise InputError(
                    f"Each side of a comparison needs 10 rows or more; the {who} side of "
                    f"{attribute!r} has {count}."
                )
