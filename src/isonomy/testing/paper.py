"""The contract of a paper."""

from collections.abc import Callable

from isonomy.papers import PAPERS, Paper, PaperTable, load_study, read_printed, table_name
from isonomy.papers.paper import FINDINGS
from isonomy.store.record import records_frame


def check_paper(paper: Paper | str) -> None:
    """Raise AssertionError unless a paper keeps the contract of :class:`isonomy.papers.Paper`.

    Nothing is run and no file of the authors is read: studies are loaded, printed tables are read,
    and findings are made without runs.

    Parameters
    ----------
    paper : Paper or str
        The paper, or its name.

    Examples
    --------
    >>> check_paper("fairea_2021")
    """
    chosen = PAPERS[paper] if isinstance(paper, str) else paper
    for check in PAPER_CHECKS.values():
        check(chosen)


def _is_registered(paper: Paper) -> None:
    assert PAPERS[paper.name] is paper, "it is registered under its name"
    assert paper.folder.name == paper.name, "its folder has its name"
    assert paper.reference, "it has a reference"


def _studies_load(paper: Paper) -> None:
    for name in paper.studies:
        study = load_study(name)  # preparations, splitters, recipes and methods must be known
        assert study.name == name, f"{name}.toml is named {study.name}"
        assert study.title, "a study has a title, which `isonomy study list` shows"


def _tables_are_described(paper: Paper) -> None:
    assert paper.tables, "it has a table"
    for name, recipe in paper.tables.items():
        assert table_name(name, paper.tables) == name, f"{name} is found by its own name"
        assert recipe.title, f"{name} has a title"
        assert recipe.needs, f"{name} says what it needs"
    assert paper.read is not None or not paper.comparable, "who compares must be able to read"


def _nothing_is_made_of_nothing(paper: Paper) -> None:
    empty = records_frame([])
    assert not paper.parts(empty), "an empty frame holds no part"
    assert all(row["missing"] for row in paper.listing(empty))


def _print_is_text(paper: Paper) -> None:
    for file in paper.folder.glob("printed/*.csv"):
        cells = read_printed(str(paper.folder / "__init__.py"), file.stem, index=0)
        assert len(cells), f"{file.name} has rows"
        assert cells.map(lambda cell: isinstance(cell, str)).all(axis=None), "cells are text"


def _findings_need_no_runs(paper: Paper) -> None:
    if FINDINGS in paper.tables:
        made = paper.tables[FINDINGS].make()
        assert isinstance(made, PaperTable)
        assert "ours" in made.data.columns, "findings have a column for our runs"


PAPER_CHECKS: dict[str, Callable[[Paper], None]] = {
    "is registered": _is_registered,
    "studies load": _studies_load,
    "tables are described": _tables_are_described,
    "nothing is made of nothing": _nothing_is_made_of_nothing,
    "print is text": _print_is_text,
    "findings need no runs": _findings_need_no_runs,
}
"""The checks by what they say."""
