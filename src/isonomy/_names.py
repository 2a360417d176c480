"""The one grammar for a thing and its parameters: ``name(key=value, ...)``.

Mitigators, metrics, datasets, preparations and the columns of a store are all named this way.

* ``None``, ``True`` and ``False`` are read in any capitalisation.
* What Python reads as a whole or decimal number is a number.
* ``(a, b)`` and ``[a, b]`` are tuples of values.
* Everything else is text. Quotes make text of what would be read otherwise, so ``'none'`` is the
  word, and keep commas and brackets inside it.

A number that is whole is written without its point, so that one thing has one name.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from isonomy.errors import InputError

_WORDS = {"none": None, "true": True, "false": False}
_CLOSING = {"(": ")", "[": "]"}
_NEEDS_QUOTES = re.compile(r"""[,()\[\]'"=]|^\s|\s$|^$""")


def split_commas(texts: str | Iterable[str]) -> list[str]:
    """Split text at its commas, except for those inside brackets or quotes.

    Examples
    --------
    >>> split_commas(["reweighing,reject_option(metric=spd, low=0.1)", "fairway"])
    ['reweighing', 'reject_option(metric=spd, low=0.1)', 'fairway']
    """
    parts, expected, quote = [""], [], ""
    for letter in texts if isinstance(texts, str) else ",".join(texts):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"" and parts[-1].rstrip()[-1:] in ("", "=", "(", "[", ","):
            quote = letter  # an apostrophe inside a word opens nothing
        elif letter in _CLOSING:
            expected.append(_CLOSING[letter])
        elif expected and letter == expected[-1]:
            expected.pop()
        elif letter == "," and not expected:
            parts.append("")
            continue
        parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def base_name(text: str) -> str:
    """Return the name without its parameters; text of any other form is returned as it is.

    Examples
    --------
    >>> base_name("prejudice_remover(eta=25)")
    'prejudice_remover'
    """
    name, bracket, _ = text.partition("(")
    return name.strip() if bracket and text.rstrip().endswith(")") else text.strip()


def parse_name(text: str) -> tuple[str, dict[str, Any]]:
    """Split ``name(key=value, ...)`` into the name and its parameters.

    Examples
    --------
    >>> parse_name("meps(panel=21)")
    ('meps', {'panel': 21})
    >>> parse_name("demo(metric=spd, low=none, word='none', cuts=(25, 40))")
    ('demo', {'metric': 'spd', 'low': None, 'word': 'none', 'cuts': (25, 40)})
    """
    text = text.strip()
    name, bracket, inside = text.partition("(")
    parameters: dict[str, Any] = {}
    for part in split_commas(inside.removesuffix(")")):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not key.isidentifier() or key in parameters:
            raise _malformed(text)
        parameters[key] = parse_value(value)
    if (bracket and not text.endswith(")")) or not name.strip() or ")" in name:
        raise _malformed(text)
    return name.strip(), parameters


def _malformed(text: str) -> InputError:
    return InputError(
        f"A name with parameters must be written name(key=value, ...), each key once; got {text!r}."
    )


def parse_value(text: str) -> Any:
    """Read one value of the grammar.

    Examples
    --------
    >>> [parse_value(text) for text in ("25", "0.5", "True", "spd", "'25'", "(1, a)")]
    [25, 0.5, True, 'spd', '25', (1, 'a')]
    """
    text = text.strip()
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    ends = text[:1] + text[-1:]
    if len(text) > 1 and ends in ("''", '""'):
        return text[1:-1]
    if ends in ("()", "[]"):
        return tuple(map(parse_value, split_commas(text[1:-1])))
    return text


def format_name(name: str, parameters: Mapping[str, Any]) -> str:
    """Write a name and its parameters so that :func:`parse_name` reads the same.

    Examples
    --------
    >>> format_name("reject_option", {"metric": "spd", "low": 0.1})
    'reject_option(metric=spd, low=0.1)'
    >>> format_name("reweighing", {})
    'reweighing'
    """
    pairs = ", ".join(f"{key}={format_value(value)}" for key, value in parameters.items())
    return f"{name}({pairs})" if pairs else name


def format_value(value: Any) -> str:
    """Write one value of the grammar.

    Examples
    --------
    >>> [format_value(value) for value in (25.0, (-0.05, 0.05), "spd")]
    ['25', '(-0.05, 0.05)', 'spd']
    """
    if isinstance(value, tuple | list):
        return f"({', '.join(map(format_value, value))})"
    if isinstance(value, float):
        return f"{value:g}" if float(f"{value:g}") == value else repr(float(value))
    if not isinstance(value, str) or (parse_value(value) == value and not _needs_quotes(value)):
        return str(value)
    quote = "'" if "'" not in value else '"'
    if quote in value:
        raise InputError(f"A value must not hold both kinds of quotes; got {value!r}.")
    return f"{quote}{value}{quote}"


def _needs_quotes(value: str) -> bool:
    return bool(_NEEDS_QUOTES.search(value))
