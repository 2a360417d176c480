"""A result in one line: what a prompt shows of it."""

from dataclasses import fields
from typing import Any

import numpy as np

_LONGEST = 60


def brief(result: Any) -> str:
    """Return a dataclass in one line: short values in full, sizes of the rest, nothing empty.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(repr=False)
    ... class Fit:
    ...     k: int
    ...     scale: float
    ...     values: object
    ...     note: str = ""
    ...     __repr__ = brief
    >>> Fit(3, 0.123456, np.zeros((40, 2)))
    Fit(k=3, scale=0.1235, values=<40 x 2>)
    """
    shown = {field.name: _short(getattr(result, field.name)) for field in fields(result)}
    return f"{type(result).__name__}({', '.join(f'{k}={v}' for k, v in shown.items() if v)})"


def _short(value: Any) -> str:
    """Return a value in a few characters; nothing for what is empty."""
    if value is None or (isinstance(value, str | tuple | list | dict) and not value):
        return ""
    if isinstance(value, float | np.floating):
        return f"{value:.4g}"
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and shape:
        return f"<{' x '.join(map(str, shape))}>"
    if shape == ():
        return _short(value.item())
    text = repr(value)
    if len(text) <= _LONGEST:
        return text
    if isinstance(value, str):
        return f"{text[: _LONGEST - 4]}...{text[0]}"
    return f"<{len(value)}>" if hasattr(value, "__len__") else f"<{type(value).__name__}>"
