"""The papers as studies: what each table and figure is computed from."""

import importlib
import re
from importlib import resources
from pathlib import Path
from types import ModuleType

from isonomy._validate import unknown_name
from isonomy.papers.published import read_biswas, read_chen, read_fairea, read_published
from isonomy.papers.table import PaperTable, Recipe
from isonomy.study.spec import Study

__all__ = [
    "PaperTable",
    "Recipe",
    "STUDIES",
    "load_study",
    "read_biswas",
    "read_chen",
    "read_fairea",
    "read_published",
    "study_module",
    "study_names",
    "table_name",
]

STUDIES: dict[str, str] = {
    "fairea": "fairea_2021",
    "chen": "chen_2022",
    "biswas": "biswas_2020",
    "monjezi": "monjezi_2025",
}
"""Modules of this room by the name the command line gives a paper."""


def study_names() -> tuple[str, ...]:
    """Name the studies that come with the package.

    Examples
    --------
    >>> "chen_2022" in study_names()
    True
    """
    folders = resources.files("isonomy.papers").iterdir()
    return tuple(sorted([f.name for f in folders if (f / "study.toml").is_file()] + ["demo"]))


def load_study(name: str | Path) -> Study:
    """Load a study that comes with the package, or one from a TOML file of your own.

    Parameters
    ----------
    name : str or path
        ``chen_2022``, ``fairea_2021`` (or ``chen``, ``fairea``), ``demo``; or a file ending in
        ``.toml``.

    Examples
    --------
    >>> study = load_study("chen_2022")
    >>> len(study.tasks), study.repeats, study.protocol
    (8, 50, 'as_published')
    """
    if str(name).endswith(".toml"):
        return Study.from_toml(Path(name))
    found = STUDIES.get(str(name), str(name))
    if found not in study_names():
        raise unknown_name("study", str(name), study_names())
    if found == "demo":
        file = resources.files("isonomy.study") / "demo.toml"
    else:
        file = resources.files("isonomy.papers") / found / "study.toml"
    return Study.from_toml(file.read_text(encoding="utf-8"))


def study_module(paper: str) -> ModuleType:
    """Give the module of a paper: its ``TABLES`` and ``held``."""
    if paper not in STUDIES:
        raise unknown_name("published study", paper, list(STUDIES))
    return importlib.import_module(f"isonomy.papers.{STUDIES[paper]}.tables")


_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x")


def table_name(written: str, tables: dict[str, Recipe]) -> str:
    """Find the table a user means: ``4``, ``Table 4`` and ``table4`` are one; so is ``Figure 5``.

    Examples
    --------
    >>> table_name("Figure 5", {"fig5": None}), table_name("Table IV", {"table4": None})
    ('fig5', 'table4')
    """
    name = re.sub(r"[\s_-]+", "", written.strip().lower())
    name = re.sub(r"^fig(ure|\.)?", "fig", name)
    roman = name.removeprefix("table")
    if roman in _ROMAN:
        name = f"table{_ROMAN.index(roman) + 1}"
    if name.isdigit():
        name = f"table{name}"
    if name not in tables:
        raise unknown_name("table", written, list(tables))
    return name
