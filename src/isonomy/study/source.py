"""A file of the user's own, declared so that every worker can load it by itself."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from isonomy._validate import unknown_name
from isonomy.data import Dataset, dataset_from
from isonomy.data.fetch import sha256_of
from isonomy.errors import DataUnavailable, InputError

__all__ = ["Source"]

Values = tuple[Any, ...]


@dataclass(frozen=True)
class Source:
    r"""A CSV or Parquet file, what its columns mean, and its checksum.

    Attributes
    ----------
    name : str
        How tasks call it.
    path : str
        Where it lies; every worker must see it there.
    label : str
        The column to predict.
    sensitive : tuple of str
        The protected columns.
    favorable : tuple
        The good labels; empty where labels are 0 / 1.
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
    ...     folder / "jobs.csv", label="hired", sensitive=["sex"], privileged={"sex": "m"}
    ... )
    >>> jobs.name, len(jobs.load())
    ('jobs', 4)
    """

    name: str
    path: str
    label: str
    sensitive: tuple[str, ...]
    favorable: Values = ()
    privileged: tuple[tuple[str, Values], ...] = ()
    weight: str | None = None
    drop: tuple[str, ...] = ()
    sha256: str = ""

    @classmethod
    def of_file(
        cls,
        path: str | Path,
        *,
        label: str,
        sensitive: str | list[str] | tuple[str, ...],
        favorable: Any = None,
        privileged: Mapping[str, Any] | None = None,
        weight: str | None = None,
        drop: tuple[str, ...] | list[str] = (),
        name: str | None = None,
    ) -> "Source":
        """Declare a file as it is now; its checksum is taken."""
        file = Path(path).expanduser()
        if not file.is_file():
            raise InputError(f"The file of a source must exist; {str(path)!r} does not.")
        return cls(
            name=name or file.stem,
            path=str(file.resolve()),
            label=label,
            sensitive=_several(sensitive),
            favorable=_several(favorable),
            privileged=tuple((a, _several(v)) for a, v in (privileged or {}).items()),
            weight=weight,
            drop=tuple(drop),
            sha256=sha256_of(file),
        )

    @classmethod
    def of(cls, written: "Mapping[str, Any] | Source", *, folder: Path | None = None) -> "Source":
        """Read a table of a TOML file; without a checksum the file is taken as it is now."""
        if isinstance(written, Source):
            return written
        given = dict(written)
        known = [f.name for f in fields(cls)]
        for key in given:
            if key not in known:
                raise unknown_name("entry of a source", key, known)
        for key in ("path", "label", "sensitive"):
            if key not in given:
                raise InputError(f"A source must have the entry {key!r}; got {dict(written)!r}.")
        path = Path(given.pop("path")).expanduser()
        if not path.is_absolute():
            path = ((folder or Path()) / path).resolve()  # a worker may start elsewhere
        stamp = given.pop("sha256", "")
        if not stamp:
            return cls.of_file(path, **given)
        return cls(
            name=given.get("name") or path.stem,
            path=str(path),
            label=given["label"],
            sensitive=_several(given["sensitive"]),
            favorable=_several(given.get("favorable")),
            privileged=tuple((a, _several(v)) for a, v in given.get("privileged", {}).items()),
            weight=given.get("weight"),
            drop=tuple(given.get("drop", ())),
            sha256=stamp,
        )

    def load(self) -> Dataset:
        """Give the dataset, or raise where the file is no longer the one that was declared."""
        path = Path(self.path)
        if not path.is_file():
            raise DataUnavailable(f"The file {self.path} of {self.name!r} must exist; it does not.")
        if self.sha256 and sha256_of(path) != self.sha256:
            raise DataUnavailable(
                f"The file {self.path} must be the one that the study declared; its content has "
                f"changed: declare it anew (a study of its own), or bring the old one back."
            )
        return dataset_from(
            path,
            label=self.label,
            sensitive_features=list(self.sensitive),
            favorable=list(self.favorable) or None,
            privileged={a: list(v) for a, v in self.privileged},
            weight=self.weight,
            drop=self.drop,
            name=self.name,
        )


def _several(value: Any) -> Values:
    if value is None:
        return ()
    if isinstance(value, list | tuple | set | frozenset):
        return tuple(value)
    return (value,)
