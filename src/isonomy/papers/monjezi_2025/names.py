"""The paper's tasks, models and methods: its names and ours."""

import pandas as pd

from isonomy._names import base_name, format_name, parse_name
from isonomy._validate import listed
from isonomy.errors import InputError

TASKS: dict[str, tuple[str, str]] = {
    "adult race": ("adult", "race"),
    "adult sex": ("adult", "sex"),
    "german sex": ("german", "sex"),
    "bank age": ("bank(version=full)", "age"),
    "compas race": ("compas", "race"),
    "default sex": ("default_credit", "sex"),
    "heart sex": ("heart", "sex"),
    "meps15 sex": ("meps(panel=19)", "sex"),
    "meps16 sex": ("meps(panel=21)", "sex"),
    "student sex": ("student", "sex"),
}
"""Tasks in the paper's order; the data of its MEPS15 and MEPS16 are panels 19 and 21."""

MODELS: tuple[str, ...] = ("dnn", "lr", "svm", "rf")
"""In the paper's order."""

ORIGINAL = "unmitigated"

METHODS: dict[str, str] = {
    "EG": "exponentiated_gradient",
    "Fair-SMOTE": "fair_smote",
    "STEALTH": "stealth",
    "MAAT": "maat",
    "MiniMax": "minimax",
    "ECD-Fair": "ecd_fair",
}
"""Methods by the paper's label, in the order of Tables V to VII."""

GENERATOR = "generator"
"""Takes the place of a model in records about generated rows."""


def labels_of(mitigators: pd.Series) -> list[str | None]:
    """Return the paper's labels; ``minimax(rounds=2000)`` is MiniMax, but not beside another."""
    known = {name: label for label, name in METHODS.items()} | {ORIGINAL: ORIGINAL}
    written = mitigators.astype(str)
    labels = {name: known.get(base_name(name)) for name in written.unique()}
    for label in known.values():
        variants = [name for name, own in labels.items() if own == label]
        if len(variants) > 1:
            raise InputError(
                f"A table has one variant of a method; the frame holds {listed(variants)}: choose "
                f"one of them."
            )
    return [labels[name] for name in written]


def task_of(dataset: str, attributes: str) -> str | None:
    """Return the paper's name of a task, wherever its files are; None for another.

    Examples
    --------
    >>> task_of("meps(panel=21)", "sex"), task_of("student(path=files)", "sex"), task_of("bank", "age")
    ('meps16 sex', 'student sex', None)
    """
    name, options = parse_name(dataset)
    options.pop("path", None)
    place = (format_name(name, options), attributes)
    return next((task for task, known in TASKS.items() if known == place), None)


def tasks_of(table: pd.DataFrame) -> list[str | None]:
    """Return the paper's name of every row's task."""
    places = table[["dataset", "attributes"]].astype(str)
    return [task_of(*place) for place in places.itertuples(index=False)]
