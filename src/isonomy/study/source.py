"""A file of the user's own, declared so that every worker can load it by itself."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isonomy._toml import check_entries
from isonomy.data import Dataset, dataset_from
from isonomy.data.fetch import sha256_of
from isonomy.errors import DataUnavailable, InputError

Values = tuple[Any, ...]


@dataclass(frozen=True)
class Source:
    r"""A CSV or Parquet file, what its columns mean, and its checksum.

    Attributes
    ----------
    name : str
        How tasks refer to it.
    path : str
        Where it lies; every worker must see it there.
    label : str
        The column to predict.
    sensitive_features : tuple of str
        The protected columns.
    favorable : tuple
        The favourable labels; empty if labels are 0 / 1.
    privileged : tuple of (str, values)
        Per attribute under test, the values of the privileged group.
    weight : str or None
        A column of weights.
    drop : tuple of str
        Columns not to learn from.
    sha256 : str
        The file's checksum; results of another content are never mixed with these.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "jobs.csv").write_text("sex,hours,hired\nf,40,1\nm,38,1\nm,20,0\nf,45,0\n")
    >>> jobs = Source.of_file(
    ...     folder / "jobs.csv", label="hired", sensitive_features="sex", privileged={"sex": "m"}
    ... )
    >>> jobs.name, len(jobs.load())
    ('jobs', 4)
    """

    name: str
    path: str
    label: str
    sensitive_features: tuple[str, ...]
    favorable: Values = ()
    privileged: tuple[tuple[str, Values], ...] = ()
    weight: str | None = None
    drop: tuple[str, ...] = ()
    sha256: str = ""

    def __post_init__(self) -> None:
        for name in ("sensitive_features", "favorable", "drop"):
            object.__setattr__(self, name, _as_tuple(getattr(self, name)))
        pairs = dict(self.privileged or ()).items()
        object.__setattr__(self, "privileged", tuple((a, _as_tuple(v)) for a, v in pairs))

    @classmethod
    def of_file(cls, path: str | Path, *, name: str | None = None, **entries: Any) -> "Source":
        """Declare a file as it is now; its checksum is taken.

        Parameters
        ----------
        path : path
        name : str, optional
            By default the file's name without its ending.
        **entries
            The other attributes, but for the checksum.
        """
        file = Path(path).expanduser()
        if not file.is_file():
            raise InputError(f"The file of a source must exist; {str(path)!r} does not.")
        return cls(name or file.stem, str(file.resolve()), sha256=sha256_of(file), **entries)

    @classmethod
    def of(cls, written: "Mapping[str, Any] | Source", *, folder: Path | None = None) -> "Source":
        """Read a table of a TOML file; without a checksum the file is taken as it is now."""
        if isinstance(written, Source):
            return written
        entries = dict(written)
        if "sensitive" in entries:  # as stores of the first releases wrote it
            entries["sensitive_features"] = entries.pop("sensitive")
        check_entries("source", entries, cls, needed=("path", "label", "sensitive_features"))
        path = Path(entries.pop("path")).expanduser()
        if not path.is_absolute():
            path = ((folder or Path()) / path).resolve()  # a worker may start elsewhere
        if not entries.get("sha256"):
            return cls.of_file(path, **entries)
        return cls(name=entries.pop("name", "") or path.stem, path=str(path), **entries)

    def load(self) -> Dataset:
        """Return the dataset, or raise if the file is no longer the one that was declared."""
        path = Path(self.path)
        if not path.is_file():
            raise DataUnavailable(f"The file {self.path} of {self.name!r} must exist; it does not.")
        if self.sha256 and sha256_of(path) != self.sha256:
            raise DataUnavailable(
                f"The file {self.path} must be the one that the study declared; its content has "
                f"changed: declare it anew (a study of its own), or restore the old one."
            )
        return dataset_from(
            path,
            label=self.label,
            sensitive_features=list(self.sensitive_features),
            favorable=list(self.favorable) or None,
            privileged={a: list(v) for a, v in self.privileged},
            weight=self.weight,
            drop=self.drop,
            name=self.name,
        )


def _as_tuple(value: Any) -> Values:
    if isinstance(value, list | tuple | set | frozenset):
        return tuple(value)
    return () if value is None else (value,)
