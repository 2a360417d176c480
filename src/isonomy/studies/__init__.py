"""The papers as studies: what each table and figure is computed from."""

import importlib
import re
from types import ModuleType

from isonomy._validate import unknown_name
from isonomy.studies.table import PaperTable, Recipe

__all__ = ["PaperTable", "Recipe", "STUDIES", "study_module", "table_name"]

STUDIES: dict[str, str] = {
    "fairea": "fairea_2021",
    "chen": "chen_2022",
    "biswas": "biswas_2020",
}
"""Modules of this room by the name the command line gives a paper."""


def study_module(paper: str) -> ModuleType:
    """Give the module of a paper: its ``TABLES`` and ``held``."""
    if paper not in STUDIES:
        raise unknown_name("published study", paper, list(STUDIES))
    return importlib.import_module(f"isonomy.studies.{STUDIES[paper]}")


def table_name(written: str, tables: dict[str, Recipe]) -> str:
    """Find the table a user means: ``4``, ``Table 4`` and ``table4`` are one; so is ``Figure 5``.

    Examples
    --------
    >>> table_name("Figure 5", {"fig5": None})
    'fig5'
    """
    name = re.sub(r"[\s_-]+", "", written.strip().lower())
    name = re.sub(r"^fig(ure|\.)?", "fig", name)
    if name.isdigit():
        name = f"table{name}"
    if name not in tables:
        raise unknown_name("table", written, list(tables))
    return name
