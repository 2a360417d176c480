"""From a user's data and wishes to the study that a benchmark runs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from isonomy._bands import MANY as MOST_GROUPS
from isonomy._bands import is_number
from isonomy._bands import quarters as band_cuts
from isonomy._files import is_table_file, is_workbook, write_table
from isonomy._groups import TOGETHER, bands, together
from isonomy._names import base_name, format_value, parse_name
from isonomy._validate import as_names, listed, match_values
from isonomy.audit import declared_model, unexamined_columns
from isonomy.benchmark.cases import MORE_SPLITS, ORIGINAL, frontier_specs
from isonomy.benchmark.recommend import FEWEST
from isonomy.data import Dataset, check_dataset, load, own_dataset, unknown_notes
from isonomy.errors import InputError
from isonomy.metrics import get_metric
from isonomy.mitigators import MITIGATORS
from isonomy.mitigators.aims import GOAL_OF, aim_at
from isonomy.models import MODELS, innermost
from isonomy.study import Method, OwnModel, Source, Study, Task
from isonomy.study.tuning import FOLDS, MOST_ROWS, ONE_SPLIT

MOST_OTHERS = 4
FEWEST_ROWS = 40
FEWEST_PER_SIDE = 10
MOST_SPLITS = 100
ROWS_TO_SPLIT = 500_000
ALL = "all"
"""The word for every mitigation method."""
# a search of hundreds of fits would cost more than all other methods together
_SHORT_SEARCH = {"ecd_fair": "ecd_fair(budget=40)"}
_WEIGHT = "weight (row)"


@dataclass(frozen=True)
class BenchmarkPlan:
    """The study to run, and what a reader must know of how it came about."""

    study: Study
    rows: int
    notes: tuple[str, ...] = ()


def plan_benchmark(
    data: Any,
    *,
    sensitive_features: str | Sequence[str],
    label: str | None = None,
    favorable: Any = None,
    privileged: Any = None,
    bins: Mapping[str, Sequence[float]] | None = None,
    drop: Sequence[str] = (),
    table: str | None = None,
    models: Any = "lr",
    methods: str | Sequence[str] = ALL,
    quick: bool = False,
    performance: str = "accuracy",
    fairness: str = "statistical_parity_difference",
    tune: bool | None = None,
    repeats: int = 10,
    random_state: int = 0,
    folder: str | Path | None = None,
) -> BenchmarkPlan:
    """Plan a benchmark of every method on one dataset.

    Parameters
    ----------
    data : str, path, frame or Dataset
        A dataset's name (``isonomy data list``), a CSV, Parquet or Excel file, a pandas or polars frame,
        or a :class:`isonomy.Dataset`.
    sensitive_features : str or sequence of str
        The protected attributes to mitigate, each by itself; ``"sex+race"`` mitigates two
        together, and the groups are their intersections.
    label, favorable, privileged, drop
        For a file or frame: the column to predict (or a cut, ``"income>50000"``), its favorable values, the privileged values of
        each attribute, columns not to learn from. Without ``privileged`` the group with the
        highest share of favorable labels is taken, and a note says so.
    bins : mapping of attribute to cut points, optional
        For a file or frame: cuts a number such as age into bands. Of a single attribute the cut
        points alone will do.
    table : str, optional
        Table of a DuckDB file, sheet of an Excel file.
    models : str, classifier, sequence of them, or mapping of name to classifier
        Base learners: by name; as written for :func:`isonomy.audit.declared_model`
        (``"rf(max_depth=8)"``, ``"sklearn.ensemble.ExtraTreesClassifier"``); or objects of
        scikit-learn's kind, pipelines included, which are cloned for every split. All get
        columns encoded as numbers, and labels 0 and 1 (favorable). A learner that draws random
        numbers and has no seed gets that of the split; one that names no number of threads gets
        one, as splits run side by side.
    methods : str or sequence of str
        Mitigators by name, variants included; ``all`` for every one.
    quick : bool
        Whether to leave out the methods of ``all`` that take many fits; a note names them.
    performance, fairness : str
        The metrics that decide: methods that can are aimed at them, and the second baseline is
        held to the latter. Parameters named in ``methods`` stay as they are.
    tune : bool, optional
        Whether the strength of each method is chosen on inner rows, a part of the training rows
        (:mod:`isonomy.study.tuning`): of all methods that have one, or of none. When None, of the
        methods that declare it to be cheap.
    repeats, random_state : int
        The number of splits, and their seed.
    folder : path, optional
        Where a copy of the data is stored; needed for frames, with ``bins``, and to examine a
        number that looks protected.

    Examples
    --------
    >>> plan = plan_benchmark(
    ...     "german", sensitive_features="age", methods=["reweighing"], repeats=3
    ... )
    >>> [str(task) for task in plan.study.tasks], plan.study.methods[1].label
    (['german/age'], 'reweighing')
    >>> aimed = plan_benchmark("german", sensitive_features="age", fairness="eod", tune=False)
    >>> next(m.mitigator for m in aimed.study.methods if m.label == "meta_fair_classifier")
    'meta_fair_classifier(constraint=tpr)'
    """
    tasks = list(dict.fromkeys(_as_list(sensitive_features, "sensitive_features")))
    attributes = list(dict.fromkeys(a for task in tasks for a in together(task)))
    if not attributes:
        raise InputError(
            "At least one protected attribute must be named: sensitive_features= (--sensitive)."
        )
    performance, fairness = get_metric(performance).name, get_metric(fairness).name
    notes: list[str] = []
    sources: tuple[Source, ...] = ()
    is_name = isinstance(data, str) and not is_table_file(data)
    options = {
        "label": label,
        "favorable": favorable,
        "privileged": privileged,
        "bins": bins,
        "table": table,
    }
    if is_name or isinstance(data, Dataset):
        if isinstance(data, str):
            check_dataset(data)
        given = {**options, "drop": drop}.items()
        # a favorable label may be 0 or False
        declared = [k for k, v in given if v or (k == "favorable" and v is not None)]
        if declared:
            raise InputError(
                f"{listed(declared)} must be left out for a dataset that declares them itself "
                f"(isonomy data info); got {data!r}."
            )
        whole: Dataset = load(data) if isinstance(data, str) else data
        names = whole.attributes
        known = {a: str(match_values(a, names, what="protected attribute")[0]) for a in attributes}
        attributes = [*dict.fromkeys(known.values())]
        tasks = [TOGETHER.join(known[a] for a in together(task)) for task in tasks]
        name = data if isinstance(data, str) else whole.name
        if not isinstance(data, str):
            sources = (_declare(whole, attributes, list(names), folder),)
    else:
        whole, source = _declare_table(
            data, attributes, options, _as_list(drop, "drop"), folder, notes
        )
        sources, name = (source,), source.name
    _check_size(whole, tasks)
    frontier = frontier_specs(fairness)
    if not frontier:
        notes.append(f"No second baseline: group thresholds cannot be held to {fairness}.")
    chosen, left_out = _chosen(_as_list(methods, "methods"), quick=quick)
    if left_out:
        notes.append(f"Left out because they take many fits: {', '.join(left_out)}.")
    aimed = [_aimed(method, performance, fairness, tune) for method in chosen]
    notes += _aim_notes(aimed, fairness)
    learners = _learners(models)
    study = Study(
        name=f"benchmark of {name}",
        tasks=tuple(Task(name, a) for a in tasks),
        models=tuple(learners),
        own_models=tuple(own for own in learners.values() if own is not None),
        methods=(
            Method.of(ORIGINAL),
            *aimed,
            *(Method(label=k, mitigator=v) for k, v in frontier.items()),
        ),
        repeats=repeats,
        seed=random_state,
        sources=sources,
    )
    return BenchmarkPlan(study, len(whole), tuple(notes))


def more_splits(planned: BenchmarkPlan) -> Study | None:
    """Return the study of the original model alone on more splits; None where there are enough.

    Whether there is a bias at all is asked of many splits: they cost little without the methods,
    and with ten of them the part of the training rows is known poorly. Large data need no more.
    """
    study = planned.study
    splits = min(MOST_SPLITS, ROWS_TO_SPLIT // planned.rows)
    if splits <= study.repeats or study.repeats < FEWEST:
        return None
    alone = Method(label=MORE_SPLITS, mitigator=ORIGINAL, preparation="default_once")
    return study.with_(methods=[alone], repeats=splits, counts_only=True)


def _learners(models: Any) -> dict[str, OwnModel | None]:
    """Return the base learners by name; those of ours are named only."""
    if isinstance(models, Mapping):
        pairs = [(str(name), model) for name, model in models.items()]
    else:
        several = isinstance(models, Iterable) and not isinstance(models, str)
        # an ensemble can be walked through, too
        some = list(models) if several and not hasattr(models, "fit") else [models]
        pairs = [(m if isinstance(m, str) else _kind(m), m) for m in some]
    learners: dict[str, OwnModel | None] = {}
    for name, model in pairs:
        if name in learners and learners[name] is not None:
            raise InputError(
                f"Each model must have a name of its own; two are called {name!r}: name them, "
                f"models={{name: classifier}}."
            )
        learners[name] = None if model == name and name in MODELS else _own(name, model)
    return learners


def _kind(model: Any) -> str:
    kind = model if isinstance(model, type) else type(innermost(model))
    return str(kind.__name__)


def _own(name: str, model: Any) -> OwnModel | None:
    if not isinstance(model, str):
        return OwnModel.of(name, model)
    if base_name(model) in MITIGATORS:  # one that brings its own model, such as prejudice_remover
        return None
    try:
        # without a seed: each split brings its own
        return OwnModel.of(name, declared_model(model, random_state=None))
    except InputError as error:
        said = str(error).replace(": hand others over as files.", ".")
        raise type(error)(
            f"{said} Other classifiers are passed in Python: models={{name: classifier}}."
        ) from None


def _as_list(values: Any, name: str) -> list[str]:
    several = as_names(values, name)
    # workers, the store and a later call find everything by its name
    strange = [type(v).__name__ for v in several if not isinstance(v, str | int)]
    if strange:
        raise InputError(
            f"{name} must be names, which are also stored with the results; got an object of type "
            f"{strange[0]}."
        )
    return [str(v) for v in several]


def _chosen(methods: list[str], *, quick: bool) -> tuple[list[str], list[str]]:
    """Return the methods to run, and those of ``all`` that a quick benchmark leaves out."""
    left_out = [m for m in MITIGATORS if quick and ALL in methods and MITIGATORS[m].costly]
    every = [_SHORT_SEARCH.get(m, m) for m in MITIGATORS if m not in left_out]
    names = [m for word in methods for m in (every if word == ALL else [word])]
    chosen = [m for m in dict.fromkeys(names) if m != ORIGINAL]
    if not chosen:
        raise InputError("At least one method must be named: see isonomy mitigators, or say all.")
    return chosen, [m for m in left_out if m not in chosen]


def _aimed(method: str, performance: str, fairness: str, tune: bool | None) -> Method:
    """Aim a method at the metrics that decide, and say in which values it is to be tuned."""
    name, named = parse_name(method)
    kind = MITIGATORS[name]
    tuned = kind.cheap_to_tune if tune is None else tune
    values = tuple(
        (k, tuple(v)) for k, v in kind.strength_values.items() if tuned and k not in named
    )
    return Method(
        label=method,
        mitigator=aim_at(method, fairness=fairness, performance=performance),
        tune=values,
        goals=(performance, fairness) if values else (),
    )


def _aim_notes(methods: Sequence[Method], fairness: str) -> list[str]:
    """Say what is tuned on how many fits, and that nobody can aim at a metric."""
    notes = []
    if fairness not in GOAL_OF:
        notes.append(f"No method can aim at {fairness}: all run as they are.")
    grids = [
        f"{m.label} {parameter} {', '.join(map(format_value, values))}"
        for m in methods
        for parameter, values in m.tune
    ]
    if grids:
        notes.append(
            f"Tuned on inner rows of each training set ({FOLDS} inner folds; one split and at most "
            f"{MOST_ROWS:,} rows from {ONE_SPLIT:,} rows on), by the smallest bias that beats "
            f"mutation: {'; '.join(grids)}. The chosen values are in the results; tune=False "
            "(--no-tune) leaves it out."
        )
    return notes


# ---------------------------------------------------------------------- a table of the user's own


def _declare_table(
    data: Any,
    attributes: list[str],
    options: dict[str, Any],
    drop: list[str],
    folder: str | Path | None,
    notes: list[str],
) -> tuple[Dataset, Source]:
    """Make a dataset of a file or frame, with the other columns that look protected."""
    file = Path(data) if isinstance(data, str | Path) else None
    whole, said = own_dataset(data, sensitive_features=attributes, drop=drop, **options)
    notes += said
    for attribute in attributes:
        groups = whole.groups(attribute)
        if len(groups) > MOST_GROUPS:
            raise InputError(
                f"A protected attribute must have {MOST_GROUPS} groups at most; {attribute!r} has "
                f"{len(groups)}: merge its values first."
            )
    table = whole.frame()
    others, quarters = _others(whole, folder is not None, notes)
    table = table.assign(**quarters)
    aside = [] if whole.aside is None else list(whole.aside.columns)
    # workers read a file as it is; a copy where it was changed, and where reading needs an extra
    changed = options["bins"] or quarters or options["table"] or is_workbook(file or "")
    source = Source.of_file(
        _stored(table, folder, whole.name) if file is None or changed else file,
        label=str(whole.y.name),
        sensitive_features=[*attributes, *others],
        favorable=list(whole.favorable),
        privileged=whole.privileged,
        drop=[*aside, *quarters],
        name=whole.name,
    )
    data = source.load()
    notes += unknown_notes(data, attributes)
    return data, source


def _declare(
    data: Dataset, attributes: list[str], every: list[str], folder: str | Path | None
) -> Source:
    """Declare a dataset in memory: groups take the place of the columns they are derived from."""
    derived = {c for a in every for c in data.sources_of(a)}
    table = data.X.drop(columns=list(derived)).assign(**data.sensitive)
    table[str(data.y.name)] = data.y
    if data.weight is not None:
        table[_WEIGHT] = np.asarray(data.weight)
    return Source.of_file(
        _stored(table, folder, data.name),
        label=str(data.y.name),
        sensitive_features=[*attributes, *(a for a in every if a not in attributes)],
        favorable=list(data.favorable),
        privileged=data.privileged,
        weight=None if data.weight is None else _WEIGHT,
        name=data.name,
    )


def _others(
    data: Dataset, may_add: bool, notes: list[str]
) -> tuple[list[str], "dict[str, pd.Series[Any]]"]:
    """Return the other columns that look protected, and the quarters of those that are numbers."""
    others: list[str] = []
    quarters: dict[str, pd.Series[Any]] = {}
    for column in unexamined_columns(data.X, data.attributes):
        values = data.X[column]
        count = int(values.nunique())
        if count < 2:
            continue
        if len(others) == MOST_OTHERS:
            notes.append(
                f"{column} looks protected and is not examined: at most {MOST_OTHERS} are, besides "
                "those that were asked about."
            )
        elif count <= MOST_GROUPS:
            others.append(column)
        elif is_number(values) and may_add and (cuts := band_cuts(values)):
            others.append(f"{column} (quarter)")
            quarters[others[-1]] = bands(values, cuts, column)
        else:
            notes.append(f"{column} looks protected and is not examined: it has {count} values.")
    return others, quarters


def _stored(table: pd.DataFrame, folder: str | Path | None, name: str) -> Path:
    """Write the table that workers read."""
    if folder is None:
        raise InputError("A folder must be named to store a copy of the data in: folder=.")
    path = Path(folder) / f"{name}.parquet"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"The runs must go to a folder that can be written; {str(path.parent)!r}: "
            f"{error.strerror}: choose another."
        ) from None
    write_table(table, path)  # whole: workers of a benchmark that still runs may be reading it
    return path


def _check_size(data: Dataset, tasks: list[str]) -> None:
    """Raise where no split could hold both labels in every group that is compared."""
    if len(data) < FEWEST_ROWS:
        raise InputError(
            f"A benchmark needs {FEWEST_ROWS} rows or more to learn and to test; {data.name!r} "
            f"has {len(data)}."
        )
    good = data.y01.astype(bool)
    if good.all() or not good.any():
        raise InputError(
            f"Both favorable and unfavorable labels must occur; all {len(data):,} rows of "
            f"{data.name!r} are alike."
        )
    for task in tasks:
        names = together(task)
        member = np.all([data.sensitive[a].isin(data.privileged[a]) for a in names], axis=0)
        known = np.all([data.known(a) for a in names], axis=0)
        for side, rows in {"privileged": member, "unprivileged": known & ~member}.items():
            if rows.sum() < FEWEST_PER_SIDE:
                raise InputError(
                    f"Each side of a comparison needs {FEWEST_PER_SIDE} rows or more; the {side} "
                    f"side of {task!r} has {int(rows.sum())}."
                )
