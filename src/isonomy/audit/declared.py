"""Models declared in a TOML file, made by name and trained on one part of the data."""

import importlib
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline, make_pipeline

from isonomy._names import parse_name
from isonomy._toml import read_toml
from isonomy._validate import in_one_line, listed, optional, unknown_name
from isonomy.data import Dataset
from isonomy.data.frames import make_transformer, with_categories
from isonomy.data.splits import seeded_order
from isonomy.errors import InputError, IsonomyError
from isonomy.models import MODELS, fit_model, make_model

LIBRARIES = {"sklearn": None, "xgboost": "boost", "lightgbm": "boost", "catboost": "boost"}
"""Where a class may come from, and the extra that brings it; other models come as files."""

_QUIET: dict[str, dict[str, Any]] = {
    "lightgbm": {"verbosity": -1},
    "catboost": {"verbose": False, "allow_writing_files": False},
}
"""What keeps a library from writing to the screen and into the folder at hand."""
_SPOKEN = frozenset({"verbose", "verbosity", "verbose_eval", "silent", "logging_level"})


@dataclass(frozen=True, eq=False)
class TrainedModels:
    """Models that were trained here, the rows that none of them has seen, and what went wrong."""

    models: Mapping[str, Any]
    left_out: Mapping[str, str]
    test: Dataset
    train_rows: int
    notes: tuple[str, ...] = ()


def read_declared(path: str | Path) -> dict[str, str]:
    """Return the models that a TOML file declares: its table ``[models]``, name to model."""
    path = Path(path)
    content = read_toml(path)
    for name in content:
        if name != "models":
            raise unknown_name(f"entry of {path.name}", name, ["models"])
    models = content.get("models")
    if not isinstance(models, dict) or not models:
        raise InputError(
            f"{path.name!r} must declare models in a table [models], such as forest = "
            f'"rf(max_depth=8)"; it has none.'
        )
    for name, text in models.items():
        if not isinstance(text, str):
            raise InputError(f'A model must be declared as text, {name} = "rf"; got {text!r}.')
    return models


def declared_model(text: str, *, random_state: int | None = 0) -> Any:
    """Make a model, unfitted, from ``name(parameter=value)``.

    Parameters
    ----------
    text : str
        A short name of :func:`isonomy.make_model`, or a classifier's path in scikit-learn,
        XGBoost, LightGBM or CatBoost, with its parameters.
    random_state : int
        Seed of the learners that draw random numbers, unless it is among the parameters.

    Examples
    --------
    >>> declared_model("sklearn.tree.DecisionTreeClassifier(max_depth=3)")
    DecisionTreeClassifier(max_depth=3, random_state=0)
    >>> declared_model("lr(C=10)")[-1].C
    10
    """
    name, parameters = parse_name(text)
    if name in MODELS:
        model = make_model(name, random_state=random_state)
        learner = model.steps[-1][1] if isinstance(model, Pipeline) else model
    else:
        model = learner = _class_of(name)()
    known = learner.get_params(deep=False)
    for key in parameters:
        # boosters take parameters that they do not list
        if key not in known and not name.startswith(("xgboost.", "lightgbm.", "catboost.")):
            raise unknown_name(f"parameter of {name}", key, sorted(known))
    if "random_state" in known:
        parameters = {"random_state": random_state, **parameters}
    if _SPOKEN.isdisjoint(parameters):  # naming it twice is an error of theirs
        parameters = {**_QUIET.get(name.partition(".")[0], {}), **parameters}
    learner.set_params(**parameters)
    return model


def _class_of(path: str) -> Any:
    module, _, name = path.rpartition(".")
    library = module.partition(".")[0]
    if not module:
        raise unknown_name("model", path, list(MODELS))
    if library not in LIBRARIES:
        raise InputError(
            f"A model must be one of {listed(MODELS, most=20)}, or a class of "
            f"{listed(LIBRARIES)}; got {path!r}: hand others over as files."
        )
    extra = LIBRARIES[library]
    if extra:
        optional(library, extra=extra, purpose=f"The model {path}")
    try:
        kind = getattr(importlib.import_module(module), name)
        classifier = isinstance(kind, type) and is_classifier(kind())
    except (ImportError, AttributeError, TypeError):
        classifier = False
    if not classifier:
        raise InputError(f"A model must be a classifier that needs no arguments; {path!r} is none.")
    return kind


def train_models(
    declared: Mapping[str, str], data: Dataset, *, train: float = 0.7, random_state: int = 0
) -> TrainedModels:
    """Train declared models on a part of the data; one that fails is left out, with its reason.

    Numbers are imputed and scaled, categories one-hot encoded, all learned from the training rows
    (the preparation ``default``); every column of ``data.X`` is learned from, protected ones too.

    Parameters
    ----------
    declared : mapping of name to text
        As :func:`read_declared` returns them.
    data : Dataset
    train : float
        The share of the rows to learn from; the models are to be judged on the others.
    random_state : int
        Seed of the split and of the learners.

    Returns
    -------
    TrainedModels

    Examples
    --------
    >>> from isonomy import load
    >>> done = train_models({"lr": "lr", "odd": "rf(depth=2)"}, load("synthetic", n=500))
    >>> list(done.models), len(done.test)
    (['lr'], 150)
    >>> done.left_out["odd"]
    "There is no parameter of rf 'depth'; did you mean 'max_depth'?"
    """
    if not 0 < train < 1:
        raise InputError(f"The share to train on must lie between 0 and 1; got {train}.")
    order = seeded_order(len(data), data.name, random_state, 0)
    cut = int(np.floor(train * len(data)))
    rows, test = data.take(order[:cut]), data.take(order[cut:])
    X = with_categories(rows.X)
    weight = None if rows.weight is None else np.asarray(rows.weight)
    models: dict[str, Any] = {}
    left_out: dict[str, str] = {}
    notes: list[str] = []
    for name, text in declared.items():
        try:
            learner = declared_model(text, random_state=random_state)
            pipeline = make_pipeline(make_transformer(X), learner)
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                models[name] = fit_model(pipeline, X, np.asarray(rows.y), weight)
            notes += [f"{name} warns: {str(w.message).strip().splitlines()[0]}" for w in said]
        except IsonomyError as error:
            left_out[name] = str(error)
        except Exception as error:  # whatever a learner raises: the others go on
            left_out[name] = f"It could not be trained: {in_one_line(error)}"
    return TrainedModels(models, left_out, test, cut, tuple(dict.fromkeys(notes)))
