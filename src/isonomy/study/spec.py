"""What a study is: tasks, models and methods, frozen, as Python or as a TOML file."""

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from isonomy._names import base_name, format_name, parse_name
from isonomy._registry import Registry
from isonomy._toml import check_entries, written
from isonomy._validate import check_choice, listed, unknown_name
from isonomy.data.catalog import DATASETS
from isonomy.data.prepare import PREPARATIONS
from isonomy.data.splits import SPLITTERS
from isonomy.errors import InputError
from isonomy.generators import make_generator
from isonomy.metrics import get_metric
from isonomy.mitigators import MITIGATORS, make_mitigator
from isonomy.mitigators.base import PROTOCOLS
from isonomy.models import MODELS, RECIPES
from isonomy.study.own_model import OwnModel
from isonomy.study.source import Source
from isonomy.tradeoff.mutation import check_degrees

MUTATION = "mutation"
"""The name of the method that is no method: the mutation baseline."""

MODEL = "@model"
"""Stands for the model's name in a preparation that is different for every model."""

WORKBENCHES: Registry[Any] = Registry("workbench")
"""Kinds of :class:`isonomy.study.workbench.Workbench`: how the methods of a trial are run."""

_MUTATION = {"strategy": "majority", "repetitions": 50, "weights": None}


def is_mitigator(name: str) -> bool:
    """Return whether a name is a mitigator, as ``prejudice_remover(eta=0)``, not a base learner."""
    # learners first: a name that no mitigator has is looked for in all of their files
    return not any(name in learners for learners in RECIPES.so_far()) and (
        base_name(name) in MITIGATORS
    )


@dataclass(frozen=True, order=True)
class Task:
    """A dataset and the protected attribute under test; several are joined by ``+``.

    Examples
    --------
    >>> Task("adult", "sex+race").names
    ('sex', 'race')
    >>> Task.of("german/age")
    Task(dataset='german', attributes='age')
    """

    dataset: str
    attributes: str

    @classmethod
    def of(cls, written: "str | Task") -> "Task":
        """Read ``dataset/attribute``."""
        if isinstance(written, Task):
            return written
        dataset, slash, attributes = str(written).rpartition("/")
        if not slash or not dataset or not attributes:
            raise InputError(f"A task is written dataset/attribute; got {written!r}.")
        return cls(dataset, attributes)

    @property
    def names(self) -> tuple[str, ...]:
        """The protected attributes one by one."""
        return tuple(self.attributes.split("+"))

    def __str__(self) -> str:
        return f"{self.dataset}/{self.attributes}"


@dataclass(frozen=True)
class Method:
    """A mitigator as a study runs it.

    Attributes
    ----------
    label : str
        Its name in the results; the mitigator's own when empty.
    mitigator : str
        What runs: ``reject_option(metric=spd)``, or ``mutation(strategy=majority)`` for a
        baseline.
    preparation, splitter : str or None
        Where they differ from the study's; ``coarse(scale=standard)`` is a variant.
    models : tuple of str or None
        The models it is run with; when None all base learners of the study.
    tasks : tuple of Task or None
        The tasks it is run on; all when None.
    learner : str or None
        The one base learner it always uses: it runs once and is listed beside every model.
    options : tuple of (str, value)
        Further arguments of the mitigator. ``"@protected"`` stands for the positions of all
        protected columns, ``"@dataset"`` for what the studies declared for the dataset.
    tune : tuple of (str, values)
        Parameters to be chosen on inner rows (:mod:`isonomy.study.tuning`), with the values to try.
    goals : (str, str), or empty
        The performance and the fairness metric that they are chosen by.

    Examples
    --------
    >>> Method.of("reweighing").label
    'reweighing'
    """

    label: str
    mitigator: str
    preparation: str | None = None
    splitter: str | None = None
    models: tuple[str, ...] | None = None
    tasks: tuple[Task, ...] | None = None
    learner: str | None = None
    options: tuple[tuple[str, Any], ...] = ()
    tune: tuple[tuple[str, tuple[Any, ...]], ...] = ()
    goals: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.label:
            object.__setattr__(self, "label", self.mitigator)
        for field in ("options", "tune"):
            value = getattr(self, field)
            pairs = value.items() if isinstance(value, Mapping) else value
            object.__setattr__(self, field, tuple((k, _frozen(v)) for k, v in pairs))
        object.__setattr__(self, "goals", tuple(self.goals))
        if self.tune and len(self.goals) != 2:
            raise InputError(
                f"A method that is tuned must name its goals, a performance and a fairness metric; "
                f"{self.label!r} names {listed(self.goals) if self.goals else 'none'}."
            )
        for goal in self.goals:
            get_metric(goal)
        name, parameters = parse_name(self.mitigator)
        if name == MUTATION:
            for key in parameters:
                if key not in _MUTATION:
                    raise unknown_name(f"parameter of {MUTATION}", key, list(_MUTATION))
            return
        # raises where the name or a parameter does not exist
        first = {parameter: values[0] for parameter, values in self.tune}
        make_mitigator(self.mitigator, **dict(self.options) | first)

    def with_options(self, options: Mapping[str, Any]) -> "Method":
        """Return the method with further options, and nothing left to tune."""
        return replace(self, options=tuple((dict(self.options) | dict(options)).items()), tune=())

    @property
    def settings(self) -> str:
        """The mitigator as it is run; empty where the label says it."""
        name, parameters = parse_name(self.mitigator)
        written = format_name(name, parameters | dict(self.options))
        return "" if written == self.label else written

    @classmethod
    def of(cls, written: "str | Mapping[str, Any] | Method") -> "Method":
        """Read a mitigator's name, or a table of a TOML file."""
        if isinstance(written, Method):
            return written
        if isinstance(written, str):
            return cls(written, written)
        entries = {"label": "", **written}
        check_entries("method", entries, cls, needed=("mitigator",))
        if entries.get("models") is not None:
            entries["models"] = tuple(entries["models"])
        if entries.get("tasks") is not None:
            entries["tasks"] = tuple(map(Task.of, entries["tasks"]))
        return cls(**entries)

    @property
    def is_baseline(self) -> bool:
        """Whether it is a mutation baseline."""
        return base_name(self.mitigator) == MUTATION

    @property
    def mutation(self) -> dict[str, Any]:
        """The parameters of a mutation baseline."""
        return {**_MUTATION, **parse_name(self.mitigator)[1]}

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of its results: its label, or one for each degree of mutation."""
        if not self.is_baseline:
            return (self.label,)
        strategy = self.mutation["strategy"]
        return tuple(
            format_name(MUTATION, {"strategy": strategy, "degree": d})
            for d in check_degrees(None).tolist()
        )


@dataclass(frozen=True)
class Study:
    """Everything that decides the results of a study, frozen and hashable.

    Parameters
    ----------
    name : str
        Its name in the results.
    tasks : sequence of Task or str
        ``"adult/sex"``: a registered dataset or one of ``sources``, and the attribute under test.
    models : sequence of str
        Base learners of the recipe; a mitigator that brings its own model may stand in for one
        (``prejudice_remover(eta=0)``: the method switched off).
    methods : sequence of Method, mapping or str
        What is compared.
    repeats, seed : int
        How many splits, and the seed that they and all else are drawn from.
    protocol : {"corrected", "as_published"}
        Whether methods do what their papers say or what the published code did.
    preparation, splitter, recipe : str
        How data are prepared and split, and whose settings the base learners have.
        ``@model`` in a preparation stands for the model's name.
    weighted : bool, optional
        Whether a dataset's weights are used to fit and to count; by default only when corrected.
    models_of : mapping of str to models
        By dataset, the models that are run on it; on a dataset that is not named, all of them.
    workbench : str
        How the methods of a trial are run, where a paper's scripts went ways of their own.
    sources : sequence of Source
        Files of the user's own that tasks name.
    own_models : sequence of OwnModel
        Learners of the user's own that ``models`` names. A study's file holds their text only.
    tails : bool
        Whether to measure the tails of counterfactual discrimination as well
        (:mod:`isonomy.study.tails`); every method is then fitted by itself.
    tail_generator : str
        What makes rows for groups that have too few for a tail, such as ``tvae``
        (:mod:`isonomy.study.generated`); real rows only where empty.
    counts_only : bool
        Whether records hold their joint counts and no metrics, which saves time where nobody reads
        them; those of counts can be added later (:meth:`isonomy.store.Store.score`).
    title : str
        A line for people.

    Examples
    --------
    >>> study = Study("demo", ["german/sex"], ["lr"], ["unmitigated", "reweighing"], repeats=2)
    >>> study.with_(repeats=5).repeats
    5
    >>> Study.from_toml(study.toml()) == study
    True
    """

    name: str
    tasks: tuple[Task, ...]
    models: tuple[str, ...]
    methods: tuple[Method, ...]
    repeats: int = 1
    protocol: str = "corrected"
    preparation: str = "default"
    splitter: str = "holdout"
    recipe: str = "default"
    seed: int = 0
    weighted: bool | None = None
    models_of: tuple[tuple[str, tuple[str, ...]], ...] = ()
    workbench: str = "default"
    sources: tuple[Source, ...] = ()
    own_models: tuple[OwnModel, ...] = ()
    tails: bool = False
    tail_generator: str = ""
    counts_only: bool = False
    title: str = ""

    def __post_init__(self) -> None:
        settle = object.__setattr__
        settle(self, "tasks", tuple(map(Task.of, self.tasks)))
        settle(self, "models", tuple(self.models))
        settle(self, "methods", tuple(map(Method.of, self.methods)))
        settle(self, "sources", tuple(map(Source.of, self.sources)))
        settle(self, "own_models", tuple(self.own_models))
        by_dataset = self.models_of
        pairs = by_dataset.items() if isinstance(by_dataset, Mapping) else by_dataset
        settle(self, "models_of", tuple((name, tuple(models)) for name, models in pairs))
        name = self.name  # results go to a folder of this name
        if not name.isprintable() or {*"/\\"} & {*name} or name in ("", ".", ".."):
            raise InputError(f"A study's name must be the name of a folder; got {name!r}.")
        for what in ("tasks", "models", "methods"):
            if not getattr(self, what):
                raise InputError(f"A study must have {what}; {self.name!r} has none.")
        if not isinstance(self.repeats, int) or self.repeats < 1:
            raise InputError(f"repeats must be a whole number, at least 1; got {self.repeats!r}.")
        if not isinstance(self.seed, int | np.integer) or self.seed < 0:
            raise InputError(
                f"seed (random_state) must be a whole number of 0 or more, which is stored with the "
                f"results; got {self.seed!r}."
            )
        if self.protocol not in PROTOCOLS:
            raise unknown_name("protocol", self.protocol, PROTOCOLS)
        if self.recipe not in RECIPES:
            raise unknown_name("recipe", self.recipe, list(RECIPES))
        for task in self.tasks:
            if self.source_of(task.dataset) is None:
                dataset = parse_name(task.dataset)[0]
                if self.sources and dataset not in DATASETS:
                    own = [source.name for source in self.sources]
                    raise unknown_name("dataset", dataset, [*own, *DATASETS])
                entry = DATASETS[dataset]
                for attribute in task.names if self.workbench == "default" else ():
                    check_choice(
                        f"protected attribute of {entry.name}", attribute, entry.attributes
                    )
        learners = [method.learner for method in self.methods if method.learner is not None]
        for dataset, _ in self.models_of:
            if self.source_of(dataset) is None:
                DATASETS.resolve(dataset)
        by_name = [model for _, models in self.models_of for model in models]
        for model in dict.fromkeys((*self.models, *learners, *by_name)):
            self._check_model(model)
        tuned = [method.label for method in self.methods if method.tune]
        if tuned and self.protocol == "as_published":
            raise InputError(
                f"Methods as published have published settings; {listed(tuned)} must not be tuned: "
                'use protocol="corrected".'
            )
        if self.workbench != "default":
            WORKBENCHES.resolve(self.workbench)
        for preparation, splitter in (self.preparation_of(m, MODEL) for m in self.methods):
            PREPARATIONS.resolve(base_name(preparation))
            SPLITTERS.resolve(splitter)
        if self.tail_generator:
            generator, options = parse_name(self.tail_generator)
            make_generator(generator, **options)
        self._refuse_twins()

    def _check_model(self, name: str) -> None:
        if self.own_model(name) is not None:
            if name in RECIPES[self.recipe] or name in MODELS or is_mitigator(name):
                raise InputError(
                    f"A model of one's own must have a name of its own; {name!r} is one of ours: "
                    f"choose another."
                )
        elif is_mitigator(name):
            if make_mitigator(name).uses_estimator:
                raise InputError(
                    f"A mitigator that stands in for a model must bring its own; {name} needs a "
                    f"base learner: name one of {listed(MODELS)}."
                )
        elif name not in RECIPES[self.recipe] and name not in MODELS:
            raise unknown_name("model", name, [*RECIPES[self.recipe], *MODELS])

    def _refuse_twins(self) -> None:
        for task in self.tasks:
            seen: set[tuple[str, str]] = set()
            for model, method in self.rows(task):
                for label in method.labels:
                    if (model, label) in seen:
                        raise InputError(
                            f"A study must run a method once per task and model; {label!r} with "
                            f"{model!r} is listed twice for {task}: give one of them another label."
                        )
                    seen.add((model, label))

    def rows(self, task: Task) -> Iterator[tuple[str, Method]]:
        """Yield the (model, method) pairs that a task is run with, method by method."""
        own = dict(self.models_of).get(parse_name(task.dataset)[0], self.models)
        for method in self.methods:
            if method.tasks is not None and task not in method.tasks:
                continue
            for model in self.models if method.models is None else method.models:
                if model not in self.models or model not in own:
                    continue
                if method.models is None and self.stands_in(model):
                    continue  # a method that stands in for a model is run only by methods that name it
                yield model, method

    @property
    def uses_weights(self) -> bool:
        """Whether weights of a dataset are used."""
        return self.protocol == "corrected" if self.weighted is None else self.weighted

    def preparation_of(self, method: Method, model: str) -> tuple[str, str]:
        """Return the preparation and the splitter that a method is run on with a model."""
        preparation = (method.preparation or self.preparation).replace(MODEL, model)
        return preparation, method.splitter or self.splitter

    def source_of(self, dataset: str) -> Source | None:
        """Return the declared file behind a dataset's name, None for a registered one."""
        return next((s for s in self.sources if s.name == dataset), None)

    def own_model(self, name: str) -> OwnModel | None:
        """Return the learner of the user's own behind a model's name, None for any other."""
        return next((m for m in self.own_models if m.name == name), None)

    def stands_in(self, model: str) -> bool:
        """Return whether a model is a mitigator that brings its own."""
        return self.own_model(model) is None and is_mitigator(model)

    def with_(self, **changes: Any) -> Self:
        """Return the study with some of its fields changed.

        ``tasks`` and ``methods`` may also be named as in this study: a dataset, with or without
        its version, for all its tasks, a label for a method with its preparation and options.
        """
        check_entries("study", changes, self)
        if "tasks" in changes:
            changes["tasks"] = self._named_tasks(changes["tasks"])
        if "methods" in changes:
            changes["methods"] = self._named_methods(changes["methods"])
        return replace(self, **changes)

    def _named_tasks(self, wanted: Iterable[Any]) -> tuple[Task, ...]:
        out: list[Task] = []
        for item in [wanted] if isinstance(wanted, str | Task) else wanted:
            own = [t for t in self.tasks if item in (t, str(t), t.dataset)]
            # a version need not be written where the study has one: bank for bank(version=full)
            own = own or [t for t in self.tasks if item in _short_names(t)]
            if not own and isinstance(item, str) and "/" not in item:
                raise unknown_name("task", item, [str(t) for t in self.tasks])
            out += own or [Task.of(item)]
        return tuple(dict.fromkeys(out))

    def _named_methods(self, wanted: Iterable[Any]) -> tuple[Method, ...]:
        out: list[Method] = []
        for item in [wanted] if isinstance(wanted, str | Method) else wanted:
            names = (
                (m, (m.label, m.mitigator, MUTATION if m.is_baseline else m.label))
                for m in self.methods
            )
            own = [m for m, known in names if isinstance(item, str) and item in known]
            out += own or [Method.of(item)]
        return tuple(dict.fromkeys(out))

    @classmethod
    def from_toml(cls, source: str | Path) -> Self:
        """Read a study from a TOML file, or from its text.

        Paths of a user's own files are relative to the study's file.
        """
        folder: Path | None = None
        text = str(source)
        if isinstance(source, Path) or ("\n" not in text and text.endswith(".toml")):
            path = Path(source)
            if not path.is_file():
                raise unknown_name("file", str(path), sorted(map(str, path.parent.glob("*.toml"))))
            folder, text = path.parent, path.read_text(encoding="utf-8")
        try:
            table = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise InputError(f"A study must be valid TOML; {error}.") from None
        names = {"source": "sources", "method": "methods", "own_model": "own_models"}
        entries = {names.get(name, name): value for name, value in table.items()}
        check_entries("study", entries, cls, needed=("name", "tasks", "models", "methods"))
        entries["sources"] = [Source.of(s, folder=folder) for s in entries.get("sources", [])]
        for model in entries.get("own_models", []):
            check_entries("model", model, OwnModel, needed=("name", "text"))
        entries["own_models"] = [OwnModel(**model) for model in entries.get("own_models", [])]
        return cls(**entries)

    def toml(self) -> str:
        """Return the study as the text of a TOML file, which ``from_toml`` reads back unchanged."""
        plain = {f.name: getattr(self, f.name) for f in fields(self)}
        plain["tasks"] = [str(t) for t in self.tasks]
        plain["models_of"] = dict(self.models_of) or None
        plain["counts_only"] = self.counts_only or None
        plain["workbench"] = "" if self.workbench == "default" else self.workbench
        tables = {
            "own_model": [{"name": m.name, "text": m.text} for m in plain.pop("own_models")],
            "source": [_table(s) for s in plain.pop("sources")],
            "method": [_table(m) for m in plain.pop("methods")],
        }
        return written(plain, tables)


def _short_names(task: Task) -> tuple[str, str]:
    dataset = parse_name(task.dataset)[0]
    return dataset, f"{dataset}/{task.attributes}"


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list | tuple) else value


def _table(item: Method | Source) -> dict[str, Any]:
    out = {f.name: getattr(item, f.name) for f in fields(item)}
    if isinstance(item, Method):
        out["label"] = "" if item.label == item.mitigator else item.label
        out["tasks"] = None if item.tasks is None else [str(t) for t in item.tasks]
        out |= {"options": dict(item.options), "tune": dict(item.tune)}
    else:
        out["privileged"] = dict(item.privileged)
    return {k: v for k, v in out.items() if v not in (None, (), "", {})}
