"""The papers: their studies, their tables, and our runs compared with what they published.

Each paper is a folder of this room. It registers a :class:`Paper` and whatever exists only because
of the paper: preparations, splitters, learner recipes. A folder that is added is found by itself.
"""

import importlib
import pkgutil
from importlib import resources
from pathlib import Path

from isonomy._validate import check_choice
from isonomy.errors import InputError
from isonomy.papers.paper import PAPERS, Paper, paper_of, read_published, table_name
from isonomy.papers.printed import read_printed
from isonomy.papers.table import PaperTable, Recipe
from isonomy.study.spec import Study

__all__ = [
    "PAPERS",
    "Paper",
    "PaperTable",
    "Recipe",
    "load_study",
    "paper_of",
    "read_printed",
    "read_published",
    "study_names",
    "table_name",
]

for _found in pkgutil.iter_modules(__path__):
    if _found.ispkg:
        importlib.import_module(f"{__name__}.{_found.name}")


def _studies() -> dict[str, Path]:
    files = {name: file for paper in PAPERS.values() for name, file in paper.studies.items()}
    return files | {"demo": Path(str(resources.files("isonomy.study") / "demo.toml"))}


def study_names() -> tuple[str, ...]:
    """Return the names of the studies that come with the package and its plug-ins.

    Examples
    --------
    >>> "chen_2022" in study_names()
    True
    """
    return tuple(sorted(_studies()))


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
    files = _studies()
    study = PAPERS.resolve(str(name)) if str(name) in PAPERS else str(name)
    if study not in files and Path(f"{name}.toml").is_file():
        raise InputError(f"There is no study {name!r}; did you mean the file '{name}.toml'?")
    check_choice("study", study, sorted(files))
    return Study.from_toml(files[study].read_text(encoding="utf-8"))
