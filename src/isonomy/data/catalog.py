"""The shelf of datasets: what there is, how to get it, how to load it."""

import shutil
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from isonomy._files import is_table_file, open_table, read_table, replacing
from isonomy._names import base_name, parse_name
from isonomy._registry import Registry
from isonomy._validate import given_as, listed
from isonomy.data.cache import cached_table
from isonomy.data.dataset import Dataset, DatasetInfo
from isonomy.data.fetch import File, Wheel, cache_folder, is_fetched, sha256_of
from isonomy.errors import DataUnavailable, InputError

_WHEELS = Path(__file__).with_name("wheels.toml")
_CARD = ("title", "source", "licence", "citation", "caveats", "rows", "attributes")


class _Shelf(Registry["Entry"]):
    def add(self, name: str, item: "Entry", *, aliases: Iterable[str] = ()) -> "Entry":
        if not isinstance(item, Entry):
            raise InputError(
                f"A dataset must be registered with what it holds: Entry(name={name!r}, info=..., "
                f"rows=..., attributes=...).register, or the card of a file, read_card(...).register; "
                f"got {given_as(item)}. A file of your own needs neither: a study takes it as a source."
            )
        return super().add(name, item, aliases=aliases)


DATASETS: Registry["Entry"] = _Shelf("dataset")
"""Every dataset by name: its card and its loader."""


@dataclass(frozen=True)
class Entry:
    """A dataset on the shelf: the facts that its card states, and its loader.

    Parameters
    ----------
    name : str
        Its name.
    info : DatasetInfo
        What it holds, where it comes from and what a user must know.
    rows : int
        The number of rows of its default version.
    attributes : tuple of str
        Its protected attributes.
    files : tuple of File
        What ``isonomy data fetch`` gets; empty where no registry carries the data.
    columns : tuple of str, or mapping of version to tuple
        The columns of the raw table, in its order.
    by_hand : str
        What the user has to do where no registry carries the data; else empty.
    made : bool
        Whether the rows are drawn by a generator instead of read.
    loader : callable, optional
        Returns the Dataset; keyword parameters choose a version.
    """

    name: str
    info: DatasetInfo
    rows: int
    attributes: tuple[str, ...]
    files: tuple[File, ...] = ()
    columns: Any = ()
    by_hand: str = ""
    made: bool = False
    loader: Callable[..., Dataset] | None = None

    def register(self, loader: Callable[..., Dataset]) -> Callable[..., Dataset]:
        """Put the dataset on the shelf with the decorated loader."""
        DATASETS.add(self.name, replace(self, loader=loader))
        return loader

    @property
    def folder(self) -> Path:
        """The folder of the cache in which files brought by hand are looked for."""
        return cache_folder() / "files" / self.name

    @property
    def instructions(self) -> str:
        """What the user has to do where no registry carries the data."""
        return self.by_hand.format(folder=self.folder)

    @property
    def where(self) -> str:
        """Where the data is: ``ready``, ``cached``, ``registry`` or ``by hand``."""
        if self.made:
            return "ready"
        if self.by_hand:
            return "cached" if any(self.folder.glob("*.csv")) else "by hand"
        return "cached" if all(is_fetched(file) for file in self.files) else "registry"

    def place(self, folder: str | Path) -> list[Path]:
        """Copy files that were brought by hand into the cache, where they are looked for.

        The dataset is loaded from them first: files that are missing, or have other rows or
        columns, are refused and nothing is copied. A copy has the checksum of its original.
        """
        assert self.loader is not None
        found = self.loader(path=folder).info.sha256
        self.folder.mkdir(parents=True, exist_ok=True)
        placed = []
        for name, checksum in found.items():
            target = self.folder / name
            with replacing(target) as partial:
                shutil.copyfile(Path(folder).expanduser() / name, partial)
                if sha256_of(partial) != checksum:
                    raise DataUnavailable(
                        f"The copy of {name} must equal its original; it does not: try again."
                    )
            placed.append(target)
        return placed

    def to_dict(self) -> dict[str, Any]:
        """Return the entry as plain data."""
        return {
            "name": self.name,
            "title": self.info.title,
            "rows": self.rows,
            "attributes": list(self.attributes),
            "where": self.where,
            "by_hand": self.instructions,
        }

    def table(
        self,
        read: Callable[[], pd.DataFrame],
        *,
        version: str = "",
        files: Iterable[File] | None = None,
        rows: int | None = None,
        columns: Iterable[str] | None = None,
        categories: Iterable[str] | None = None,
        layout: int = 1,
    ) -> pd.DataFrame:
        """Return the raw table from the cache, or read, check and keep it.

        Parameters
        ----------
        read : callable
            Reads the table from the files.
        version, files, rows, columns
            Of one version of the dataset where it has several; by default those of the card.
        categories : iterable of str, optional
            The categorical columns; by default every column that holds no numbers.
        layout : int
            Rises when ``read`` returns another table for the same files.
        """
        wanted = list(self.columns if columns is None else columns)
        files = self.files if files is None else files

        def read_and_check() -> pd.DataFrame:
            table = check_table(self.name, read(), rows=rows or self.rows, columns=wanted)
            return as_categories(table[wanted], categories)

        stamp = " ".join([str(layout), *(file.sha256 for file in files)])
        return cached_table("-".join(filter(None, [self.name, version])), stamp, read_and_check)


def read_card(module: str, **facts: Any) -> Entry:
    """Read the card of a dataset: the TOML file beside the module that loads it.

    Parameters
    ----------
    module : str
        The file of the loader's module, ``__file__``; the dataset has its name.
    **facts
        What the module states itself, such as columns that follow a rule.
    """
    path = Path(module).with_suffix(".toml")
    card = tomllib.loads(path.read_text(encoding="utf-8")) | facts
    wheels = tomllib.loads(_WHEELS.read_text(encoding="utf-8"))
    files = tuple(
        File(dataset=path.stem, **file | {"wheel": _wheel_of(path.name, file, wheels)})
        for file in card.get("files", ())
    )
    if missing := [key for key in _CARD if key not in card]:
        raise InputError(f"A card must state {listed(_CARD)}; {path.name} lacks {listed(missing)}.")
    texts = {key: card[key] for key in ("title", "source", "licence", "citation")}
    return Entry(
        name=path.stem,
        info=DatasetInfo(
            **texts,
            caveats=tuple(card["caveats"]),
            sha256={file.name: file.sha256 for file in files},
            rules=card.get("rules", {}),
        ),
        rows=card["rows"],
        attributes=tuple(card["attributes"]),
        files=files,
        columns=card.get("columns", ()),
        by_hand=card.get("by_hand", ""),
        made=card.get("made", False),
    )


def _wheel_of(card: str, file: Mapping[str, Any], wheels: Mapping[str, Any]) -> Wheel | None:
    """Return the package that carries a file; there need be none where the file has an address."""
    name = file.get("wheel")
    if name is None and "url" not in file:
        raise InputError(
            f"A file of a card must have a wheel (a name in {_WHEELS.name}) or a url; "
            f"{file.get('name')!r} in {card} has neither."
        )
    if name is not None and name not in wheels:
        raise InputError(
            f"The wheel of a file must be in {_WHEELS.name}; {name!r}, which {card} names, is not: "
            f"add it there."
        )
    return None if name is None else Wheel(**wheels[name])


def load(name: str, **options: Any) -> Dataset:
    """Load a dataset by name; it is fetched first where it is not in the cache.

    Parameters
    ----------
    name : str
        A name that ``isonomy data list`` shows; parameters may follow in brackets, as in
        ``meps(panel=21)``.
    **options
        Parameters of the dataset, such as ``panel=21`` for ``meps``, ``version="full"`` for
        ``bank`` and ``path=`` for those that have to be brought by hand.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> load("synthetic", n=500).y01.shape
    (500,)
    """
    name, given = parse_name(name)
    options = {**given, **options}
    loader = DATASETS[name].loader
    assert loader is not None
    try:
        return loader(**options)
    except TypeError as error:
        if "unexpected keyword" not in str(error):
            raise
        raise InputError(
            f"The parameters of dataset {name!r} must be those it has; {error}."
        ) from None


def dataset_from(source: str | Path, **options: Any) -> Dataset:
    """Load a dataset by name, or make one of a CSV, Parquet, Excel or DuckDB file.

    Parameters
    ----------
    source : str or path
        A name that ``isonomy data list`` shows, or a file ending in ``.csv``, ``.parquet``,
        ``.xlsx`` or ``.duckdb``.
    **options
        For a name, those of ``load``; for a file, those of ``Dataset.from_frame``, and ``table``
        (of a DuckDB file; the sheet of an Excel file).

    Returns
    -------
    Dataset
    """
    if not is_table_file(source):
        return load(str(source), **options)
    options.setdefault("name", Path(source).stem)
    return Dataset.from_frame(read_table(source, table=options.pop("table", None)), **options)


def as_categories(table: pd.DataFrame, columns: Iterable[str] | None = None) -> pd.DataFrame:
    """Mark columns as categorical, with the raw values as sorted levels."""
    texts = [c for c in table if not pd.api.types.is_numeric_dtype(table[c])]
    chosen = set(texts if columns is None else columns)
    return pd.DataFrame({c: v.astype("category") if c in chosen else v for c, v in table.items()})


def check_table(
    name: str, table: pd.DataFrame, *, rows: int, columns: Iterable[str]
) -> pd.DataFrame:
    """Raise unless a table has the rows and columns that were expected of it."""
    wanted = list(columns)
    missing = [c for c in wanted if c not in table.columns]
    if missing or len(table) != rows:
        result = f"without {missing[0]!r}" if missing else f"of {len(table):,} rows"
        raise DataUnavailable(
            f"{name!r} must be a table of {rows:,} rows with {len(wanted)} known columns; what "
            f"arrived is one {result}: the source has changed, please report it."
        )
    return table


def check_dataset(name: str) -> None:
    """Raise where a name is no dataset; of a file, say why it cannot be read.

    Examples
    --------
    >>> check_dataset("meps(panel=21)")
    """
    if base_name(name) not in DATASETS and Path(name).is_file():
        with open_table(name):
            pass
    DATASETS.resolve(base_name(name))
