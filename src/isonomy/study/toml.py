"""The file of a study: its entries checked, and written; reading is the standard library's."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from isonomy._validate import listed, unknown_name
from isonomy.errors import InputError


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


def written(entries: Mapping[str, Any], tables: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """Write entries, then arrays of tables; None and empty text are left out.

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
    lines = [f"{_key(k)} = {_value(v)}" for k, v in entries.items() if v not in (None, "")]
    for name, rows in tables.items():
        for row in rows:
            lines += ["", f"[[{name}]]", *(f"{_key(k)} = {_value(v)}" for k, v in row.items())]
    return "\n".join(lines) + "\n"


def _key(name: str) -> str:
    plain = name.replace("_", "").replace("-", "")
    return name if plain.isalnum() and name.isascii() else json.dumps(name)


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(str(k))} = {_value(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, bool | int | str):
        # JSON's escapes are TOML's, but for the DEL character that TOML wants escaped
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    raise InputError(
        f"A study's file can hold numbers, text, booleans and lists of them; got {value!r}."
    )
