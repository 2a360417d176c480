"""Write the little TOML that a study needs; reading is the standard library's."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from isonomy.errors import InputError

__all__ = ["written"]


def written(entries: Mapping[str, Any], tables: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """Write entries, then arrays of tables; what is None or empty text is left out.

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
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        # JSON's escapes are TOML's, but for the DEL character that TOML wants escaped
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(str(k))} = {_value(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    raise InputError(
        f"A study's file can hold numbers, text, truth values and lists of them; got {value!r}."
    )
