"""The contract of a paper: what its folder tells the rest of the package about it."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from isonomy._registry import Registry
from isonomy._validate import unknown_name
from isonomy.errors import InputError
from isonomy.papers.cells import Cause
from isonomy.papers.table import PaperTable, Recipe
from isonomy.store.record import combine

if TYPE_CHECKING:
    from isonomy.store import Store

FINDINGS = "findings"
"""The table that sets the paper's claims beside what was computed."""


def _no_notes(table: str, runs: pd.DataFrame) -> list[str]:
    return []


@dataclass(frozen=True)
class Paper:
    """A paper whose study can be run, whose tables can be made, or both.

    Attributes
    ----------
    name : str
        Its folder and its study, such as ``chen_2022``.
    reference : str
        Authors, year, title, venue.
    folder : path
        Where its files are: ``study.toml``, and ``printed/*.csv`` for the numbers in print.
    tables : mapping of str to Recipe
        What can be made of a result frame, by name. A recipe named ``findings`` takes the keyword
        ``ours`` (our own runs) and, where the paper has a ``read``, ``published`` (the authors').
    parts : callable
        Names the parts that a result frame holds, which the recipes' ``needs`` refer to.
    metrics : tuple of str
        The metrics that the tables are made of; all that a store holds where empty.
    read : callable, optional
        Reads the files that the authors published, from a folder to a result frame.
    archive : str
        What a folder of these files looks like, for those who name another one.
    comparable : bool
        Whether the authors' runs can be compared with ours, run by run.
    words : tuple of str
        What only this folder may name besides its own name and the first author, such as recipes.
    more : callable, optional
        From a store to rows that its tables need beyond the stored metrics, made of joint counts.
    beside : callable, optional
        From our runs and the published ones to tables of how they agree, where the authors published
        means and not single runs that could be compared.
    causes : tuple of Cause
        Why runs of ours cannot equal published ones in every digit; the first that covers a cell.
    runners : mapping of str to callable
        By the part of a frame that runs of the study do not make, what makes it: from the study's
        store to the number of records added.
    about_runs : callable
        From the name of a table and ``Store.runs()`` to notes below that table.

    Examples
    --------
    >>> paper = PAPERS["chen_2022"]
    >>> list(paper.studies), paper.tables["table6"].title
    (['chen_2022'], 'who has the best trade-off, by task')
    """

    name: str
    reference: str
    folder: Path
    tables: Mapping[str, Recipe]
    parts: Callable[[pd.DataFrame], frozenset[str]]
    metrics: tuple[str, ...] = ()
    read: Callable[[str | Path], pd.DataFrame] | None = None
    archive: str = ""
    comparable: bool = False
    words: tuple[str, ...] = ()
    more: "Callable[[Store], pd.DataFrame] | None" = None
    beside: Callable[[pd.DataFrame, pd.DataFrame], tuple[PaperTable, ...]] | None = None
    causes: tuple[Cause, ...] = ()
    runners: "Mapping[str, Callable[[Store], int]]" = field(default_factory=dict)
    about_runs: Callable[[str, pd.DataFrame], list[str]] = _no_notes

    @property
    def studies(self) -> dict[str, Path]:
        """The TOML files by the name of the study: ``study.toml`` has the paper's name."""
        files = sorted(self.folder.glob("*.toml"))
        return {self.name if file.stem == "study" else file.stem: file for file in files}

    def listing(self, frame: pd.DataFrame) -> list[dict[str, Any]]:
        """Return one row per table: its name, its title, and what the frame lacks for it."""
        parts = self.parts(frame)
        return [
            {"table": name, "title": recipe.title, "missing": sorted(recipe.needs - parts)}
            for name, recipe in self.tables.items()
        ]

    def make(
        self,
        table: str,
        frame: pd.DataFrame,
        *,
        published: bool = False,
        reading: str | None = None,
        beside: pd.DataFrame | None = None,
    ) -> PaperTable:
        """Make a table of a result frame.

        Parameters
        ----------
        table : str
            One of ``tables``.
        frame : DataFrame
            A result frame.
        published : bool
            Whether the frame holds the authors' own runs: findings have a column for each side.
        reading : {"as_published", "corrected"}, optional
            For a table that has both.
        beside : DataFrame, optional
            Our runs of the paper's other studies, which findings use, too.
        """
        recipe = self.tables[table]
        if reading is not None and not recipe.has_readings:
            raise InputError(f"{table} has one reading only; leave --reading out.")
        if reading not in (None, "as_published", "corrected"):
            raise InputError(f"--reading must be as_published or corrected; got {reading!r}.")
        if missing := recipe.needs - self.parts(frame):
            raise InputError(
                f"{table} needs {' and '.join(sorted(missing))}, which these results do not hold; "
                "list what they hold by leaving --table out."
            )
        options = {} if reading is None else {"reading": reading}
        if table == FINDINGS:
            runs = with_others(frame, beside)
            return recipe.make(**{"published" if published else "ours": runs}, **options)
        return recipe.make(frame, **options)

    def make_all(
        self, tables: Iterable[str], frame: pd.DataFrame, *, skip: bool = True, **options: Any
    ) -> tuple[list[PaperTable], list[str]]:
        """Make several tables; ``skip`` those that cannot be made, and return the reasons."""
        made, left_out = [], []
        for table in tables:
            try:
                made.append(self.make(table, frame, **options))
            except InputError as error:
                if not skip:
                    raise
                reason = str(error)
                known = reason.startswith(table)
                left_out.append(reason if known else f"{table} cannot be made: {reason}")
        return made, left_out

    def frame_of(self, store: "Store") -> pd.DataFrame:
        """Read the metrics of the tables from a store."""
        if not self.metrics:
            whole = store.frame()
            return whole if self.more is None else _with_more(whole, self.more(store))
        # runs hold signed gaps, points of a baseline the mean of their sizes
        stored = {m: [n for n in (m, m.strip("|")) if n in store.metrics] for m in self.metrics}
        absent = [metric for metric, names in stored.items() if not names]
        if absent:
            raise InputError(
                f"The run must hold the metrics of the paper's tables; {absent[0]} is missing: add "
                f"it with isonomy study score {store.path} METRIC."
            )
        return store.frame(metrics=list(dict.fromkeys(n for ns in stored.values() for n in ns)))

    def run_parts(self, tables: Iterable[str], store: "Store") -> int:
        """Make what tables need beyond runs of the study, and return the number of records added."""
        needed = [part for table in tables for part in sorted(self.tables[table].needs)]
        return sum(
            self.runners[part](store) for part in dict.fromkeys(needed) if part in self.runners
        )

    def with_notes(self, made: PaperTable, store: "Store") -> PaperTable:
        """Add what a store's runs tell about a table."""
        if self.about_runs is _no_notes:
            return made
        return replace(made, notes=(*made.notes, *self.about_runs(made.name, store.runs())))


def _with_more(whole: pd.DataFrame, more: pd.DataFrame) -> pd.DataFrame:
    """Add rows to a result frame; where both hold a run's metric, that of ``more`` is the paper's."""
    key = ["dataset", "attributes", "model", "mitigator", "repeat", "metric"]
    own, new = (pd.MultiIndex.from_frame(f[key].astype(str)) for f in (whole, more))
    return combine([whole[~own.isin(new)], more])


def with_others(ours: pd.DataFrame, beside: pd.DataFrame | None) -> pd.DataFrame:
    """Return our runs of a study, with those of the paper's other studies where there are any."""
    return ours if beside is None else combine([ours, beside])


PAPERS: Registry[Paper] = Registry("paper")
"""The papers by name, and by the first author or the method as an alias."""


def paper_of(study: str) -> Paper:
    """Return the paper that a study belongs to.

    Examples
    --------
    >>> paper_of("chen_2022").name, paper_of("chen").name
    ('chen_2022', 'chen_2022')
    """
    owners = {name: paper for paper in PAPERS.values() for name in paper.studies}
    if study not in owners and study not in PAPERS:
        raise InputError(
            f"Tables belong to a paper's study ({', '.join(owners)}); this run holds {study!r}: "
            "query it with isonomy study query."
        )
    return owners[study] if study in owners else PAPERS[study]


def read_published(paper: str, folder: str | Path) -> pd.DataFrame:
    """Read what a paper's authors published.

    A reader takes whatever part of the authors' repository a folder holds, wherever in it the
    files are, loose or inside a zip archive, and recognises them by their names. What is odd about
    a file is in the column ``reason`` of its rows. Gaps that the authors stored without their sign
    are named ``|gap|``. The study of their rows ends in ``:published``, so that they are never
    mixed with our own runs of the same study.

    Parameters
    ----------
    paper : str
        A paper whose authors published their runs: ``fairea``, ``chen``, ``biswas``.
    folder : path
        The authors' repository, or any part of it.

    Returns
    -------
    DataFrame
        The result frame of :mod:`isonomy.store.record`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> place = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (place / "rew_lr_adult_sex_0_50.txt").write_text("0.10 0.84 0.05")
    >>> read_published("fairea", place)[["mitigator", "metric", "value"]].values.tolist()[1]
    ['reweighing', 'accuracy', 0.84]
    """
    read = PAPERS[paper].read
    if read is None:
        readable = ", ".join(name for name, other in PAPERS.items() if other.read)
        raise InputError(
            f"The authors' runs must be published to be read ({readable}); those of {paper!r} are "
            "not."
        )
    try:
        return read(folder)
    except InputError as error:
        said = str(error).rstrip(".")
        looks = PAPERS[paper].archive
        if not looks or looks in said:
            raise
        raise InputError(
            f"{said}; a folder of this paper holds {looks}: name the root of its authors' "
            f"repository, or a part of it, and nothing beside it."
        ) from error


_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x")


def table_name(written: str, tables: Mapping[str, Any]) -> str:
    """Return the table a user means: ``4``, ``Table 4`` and ``table4`` are one; so is ``Figure 5``.

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
