"""From a study to its trials, and the key of every result: what a resumed study compares."""

import hashlib
import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import sklearn
from sklearn.pipeline import Pipeline

from isonomy._names import base_name, parse_name
from isonomy.data.catalog import DATASETS
from isonomy.data.prepare import PREPARATIONS
from isonomy.data.splits import SPLITTERS
from isonomy.mitigators import MITIGATORS
from isonomy.models import RECIPES, make_model
from isonomy.study.spec import MUTATION, WORKBENCHES, Method, Study, Task, is_mitigator

_LAYOUT = 1
"""Rises when trials do something else for the same specification."""

_SOURCE = (
    *("name", "sha256", "label", "sensitive_features"),
    *("favorable", "privileged", "weight", "drop"),
)


@dataclass(frozen=True, order=True)
class Trial:
    """The unit of work: one split of one task, with all models and methods.

    Examples
    --------
    >>> Trial("german", "sex", 3).task
    Task(dataset='german', attributes='sex')
    """

    dataset: str
    attributes: str
    repeat: int

    @property
    def task(self) -> Task:
        """The task without the repeat."""
        return Task(self.dataset, self.attributes)

    def __str__(self) -> str:
        return f"{self.task} #{self.repeat}"


def plan(study: Study) -> tuple[Trial, ...]:
    """Return the trials of a study: every task's first repeat before any second.

    So a study that was stopped half-way has results for all of its tasks.

    Examples
    --------
    >>> study = Study("demo", ["german/sex", "german/age"], ["lr"], ["reweighing"], repeats=2)
    >>> [str(trial) for trial in plan(study)]
    ['german/sex #0', 'german/age #0', 'german/sex #1', 'german/age #1']
    """
    return tuple(
        Trial(task.dataset, task.attributes, repeat)
        for repeat in range(study.repeats)
        for task in study.tasks
    )


def keys(study: Study, trial: Trial) -> dict[str, tuple[str, str]]:
    """Return the key of every result of a trial, with its (model, label).

    A key is a hash of what decides the result: data (the checksums of their files), preparation,
    split, model and its settings, mitigator, protocol and seed, the versions of preparation,
    network and mitigator, and the minor version of scikit-learn. Neither the study's name nor its
    number of repeats is in it, nor are metrics: results outlive both.

    Examples
    --------
    >>> study = Study("demo", ["german/sex"], ["lr"], ["unmitigated", "reweighing"])
    >>> named = keys(study, Trial("german", "sex", 0))
    >>> [*named.values()]
    [('lr', 'unmitigated'), ('lr', 'reweighing')]
    >>> named.keys() == keys(study.with_(repeats=9, name="other"), Trial("german", "sex", 0)).keys()
    True
    """
    named: dict[str, tuple[str, str]] = {}
    for model, method in study.rows(trial.task):
        frozen = _frozen(study, trial, model, method)
        for label in method.labels:
            text = json.dumps([*frozen, label], sort_keys=True, default=str)
            named[hashlib.sha256(text.encode()).hexdigest()[:32]] = (model, label)
    return named


def recipe_of(study: Study, model: str) -> str:
    """Return the recipe of a model: the study's if it has the model."""
    return study.recipe if model in RECIPES[study.recipe] else "default"


def _frozen(study: Study, trial: Trial, model: str, method: Method) -> list[Any]:
    preparation, splitter = study.preparation_of(method, model)
    learner = model if method.learner is None else [model, _model(study, method.learner)]
    return [
        _LAYOUT,
        _data(study, trial.dataset),
        trial.attributes,
        trial.repeat,
        study.seed,
        study.protocol,
        study.uses_weights,
        [preparation, PREPARATIONS[parse_name(preparation)[0]].version],
        SPLITTERS.resolve(splitter),
        [_model(study, model), learner],
        _mitigator(study, method.mitigator),
        sorted(method.options),
        ".".join(sklearn.__version__.split(".")[:2]),
        # 2: base learners draw from the stream of the split, too
        *(["stream 2"] if study.protocol == "as_published" else []),
        # metrics are not in the key, but no record without tails can get them later; 3: mixtures
        # by their probabilities, too
        *(["tails 3"] if study.tails else []),
        *(["tail generator 1", study.tail_generator] if study.tail_generator else []),
        *(["tuned 1", method.tune, method.goals] if method.tune else []),
        *_workbench(study),
    ]


def _data(study: Study, dataset: str) -> list[Any]:
    source = study.source_of(dataset)
    if source is not None:
        return [getattr(source, name) for name in _SOURCE]
    entry = DATASETS[parse_name(dataset)[0]]
    return [dataset, [file.sha256 for file in entry.files]]


def _model(study: Study, model: str) -> list[str]:
    own = study.own_model(model)
    if own is not None:
        return [model, "own", own.text]
    if is_mitigator(model):
        return _mitigator(study, model)
    return [model, *_settings(model, recipe_of(study, model))]


@lru_cache(maxsize=128)
def _settings(model: str, recipe: str) -> tuple[str, ...]:
    """Return the settings of a learner as text: other settings are another model."""
    learner = make_model(model, recipe)  # needs no extra: only fitting does
    with sklearn.config_context(print_changed_only=True):  # whatever the caller has set
        words = " ".join(repr(learner).split())
    last = learner.steps[-1][1] if isinstance(learner, Pipeline) else learner
    version = getattr(last, "version", None)  # of our own learners, where they count it
    return (recipe, words) if version is None else (recipe, words, str(version))


def _workbench(study: Study) -> list[Any]:
    if study.workbench == "default":
        return []
    return [study.workbench, WORKBENCHES[study.workbench].version]


def _mitigator(study: Study, spec: str) -> list[str]:
    name = base_name(spec)
    return [spec, "1" if name == MUTATION else MITIGATORS[name].version_of(study.protocol)]
