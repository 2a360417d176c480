"""TOML files in and out: read, their entries checked, and written."""

import datetime as dt
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from isonomy._validate import listed, unknown_name
from isonomy.errors import InputError


def read_toml(path: Path) -> dict[str, Any]:
    """Return what a TOML file holds, or say in one sentence why it cannot be read."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be read: {error.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{str(path)!r} must be a TOML file; {error}.") from None


def check_entries(
    what: str, entries: Mapping[str, Any], kind: Any, *, needed: Sequence[str] = ()
) -> None:
    """Raise unless entries are fields of a dataclass and those that it needs are there."""
    known = [f.name for f in fields(kind)]
    for name in entries:
        if name not in known:
            raise unknown_name(f"entry of a {what}", name, known)
    for name in needed:
        if name not in entries:
            raise InputError(f"A {what} must have the entry {name!r}; it has {listed(entries)}.")


def written(
    entries: Mapping[str, Any],
    tables: Mapping[str, Mapping[str, Any] | Sequence[Mapping[str, Any]]],
    comments: Mapping[str, str] | None = None,
) -> str:
    """Write entries, then tables and arrays of tables; None and empty text are left out.

    A comment stands behind the entry that it is named after, or above the table.

    Examples
    --------
    >>> print(written({"name": "demo", "models": ("lr",)}, {"method": [{"mitigator": "rw"}]}))
    name = "demo"
    models = ["lr"]
    <BLANKLINE>
    [[method]]
    mitigator = "rw"
    <BLANKLINE>
    """
    said = comments or {}

    def entry(key: str, value: Any) -> str:
        return f"{_key(key)} = {_value(value)}" + (f"  # {said[key]}" if key in said else "")

    lines = [entry(k, v) for k, v in entries.items() if v not in (None, "")]
    for name, rows in tables.items():
        single = isinstance(rows, Mapping)
        for row in [rows] if isinstance(rows, Mapping) else rows:
            lines += ["", *([f"# {said[name]}"] if name in said else [])]
            lines.append(f"[{name}]" if single else f"[[{name}]]")
            lines += [entry(k, v) for k, v in row.items()]
    return "\n".join(lines) + "\n"


def _key(name: str) -> str:
    plain = name.replace("_", "").replace("-", "")
    return name if plain.isalnum() and name.isascii() else _text(name)


def _text(value: Any) -> str:
    # JSON's escapes are TOML's, but for the DEL character that TOML wants escaped
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(str(k))} = {_value(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, bool | int | str):
        return _text(value)
    raise InputError(
        f"A TOML file can hold numbers, text, booleans, dates and lists of them; got {value!r}."
    )
