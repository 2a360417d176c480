"""Checks of what is passed in, each failing with one sentence."""

import difflib
import importlib
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import fields
from numbers import Integral, Real
from types import ModuleType, NoneType, UnionType
from typing import Any, get_args

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from isonomy.errors import InputError, MissingExtra, UnknownName

MISSING = "(missing)"
"""The group of the rows whose protected attribute is not known."""

_KINDS: dict[Any, tuple[Any, str]] = {
    bool: (bool | np.bool_, "True or False"),
    int: (Integral, "a whole number"),
    float: (Real, "a number"),
    str: (str, "a word"),
    tuple[float, float]: (tuple | list, "two numbers"),
}


def listed(values: Iterable[Any], *, most: int = 8) -> str:
    """Write values as ``'a', 'b' and 'c'``, cut after ``most``."""
    words = [repr(v.item() if isinstance(v, np.generic) else v) for v in values] or ["none"]
    if len(words) > most:
        words = [*words[:most], f"{len(words) - most} more"]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def in_one_line(error: Exception) -> str:
    """Return the kind of an error and the first line of what it says.

    Examples
    --------
    >>> in_one_line(KeyError("age"))
    "KeyError: 'age'"
    """
    lines = str(error).strip().splitlines()
    return ": ".join([type(error).__name__, *lines[:1]])


def given_as(value: Any) -> str:
    """Return what was given, for a sentence that refuses it: a small value itself, else its type.

    Examples
    --------
    >>> given_as("income"), given_as(None), given_as({"a": [1]})
    ("'income'", 'None', 'a dict')
    """
    small = value is None or isinstance(value, str | int | float | np.generic)
    return repr(value) if small else f"a {type(value).__name__}"


def no_rows(name: str, value: Any) -> InputError:
    """Build the error for something that should be a column and is a single thing."""
    such = f", such as X[{value!r}]" if isinstance(value, str) else ""
    return InputError(
        f"{name} must hold a value for every row; got {given_as(value)}: pass the column itself{such}."
    )


def as_names(names: Any, what: str = "sensitive_features") -> list[Any]:
    """Return one name or several as a list; a column itself is none."""
    if type(names).__name__ == "Series":  # of pandas or polars
        raise InputError(
            f"{what} must be names of columns; got a Series: pass its name, {names.name!r}."
        )
    several = isinstance(names, Iterable) and not isinstance(names, str)
    listing = list(names) if several else [names]
    # the values of a column repeat, and names of columns do not
    table = getattr(names, "ndim", 1) > 1 and not hasattr(names, "columns")
    if table or _is_column(listing):
        raise InputError(
            f"{what} must be names of columns; got {given_as(names)} of {len(listing):,} values: put "
            f"it into the table as a column, and pass the name of that."
        )
    return listing


def _is_column(names: Sequence[Any]) -> bool:
    try:
        return len(names) > max(10, 2 * len(set(names)))
    except TypeError:  # lists and the like, which are no names either
        return False


def unknown_name(kind: str, name: str, options: Sequence[Any]) -> UnknownName:
    """Build the error for a name that does not exist, with a did-you-mean."""
    known = list(dict.fromkeys(str(option) for option in options))
    near = difflib.get_close_matches(str(name), known, n=1, cutoff=0.6)
    near = near or [option for option in known if name and option.startswith(str(name))][:1]
    folded = {option.casefold(): option for option in known}
    if str(name).casefold() in folded:
        near = [folded[str(name).casefold()]]
    hint = f"did you mean {near[0]!r}?" if near else f"available: {listed(known, most=20)}."
    return UnknownName(f"There is no {kind} {name!r}; {hint}")


def check_choice(kind: str, value: Any, options: Sequence[Any]) -> None:
    """Raise unless a value is one of the options, with the one that was probably meant."""
    if value not in options:
        raise unknown_name(kind, str(value), options)


def check_least(name: str, value: Any, least: float) -> None:
    """Raise unless a number is so large at least; NaN is not."""
    if not isinstance(value, Real) or not float(value) >= least:
        raise InputError(f"{name} must be at least {least:g}; got {value}.")


def check_share(name: str, value: Any) -> None:
    """Raise unless ``alpha`` or ``confidence`` lies strictly between 0 and 1."""
    if not isinstance(value, Real) or not 0.0 < float(value) < 1.0:
        example = "0.05 is 5 per cent" if name == "alpha" else "0.95 is 95 per cent"
        raise InputError(f"{name} must lie between 0 and 1; got {value!r} ({example}).")


def check_types(owner: Any) -> None:
    """Raise unless the parameters of a dataclass are of the plain types that it declares.

    Of other types, and of parameters that take several, the method itself knows best.
    """
    for declared in fields(owner):
        value = getattr(owner, declared.name)
        several = get_args(declared.type) if isinstance(declared.type, UnionType) else ()
        kinds = [kind for kind in several or (declared.type,) if kind is not NoneType]
        if len(kinds) != 1 or kinds[0] not in _KINDS or (value is None and several):
            continue
        kind, words = _KINDS[kinds[0]]
        # a truth is a whole number to Python, and to nobody else
        fits = isinstance(value, kind) and (kinds[0] is bool or not isinstance(value, bool))
        if fits and kinds[0] == tuple[float, float]:
            fits = len(value) == 2 and all(isinstance(one, Real) for one in value)
        if not fits:
            raise InputError(
                f"{declared.name} must be {words}{' or None' if several else ''}; got {value!r}."
            )


def optional(module: str, *, extra: str, purpose: str) -> ModuleType:
    """Import an optional library or say which extra brings it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        library = module.split(".", maxsplit=1)[0]
        raise MissingExtra(
            f"{purpose} needs {library}, which is not installed; "
            f'run: pip install "isonomy[{extra}]".'
        ) from error


def check_columns(names: Sequence[str], known: Sequence[str]) -> None:
    """Raise unless every column exists and plays one part."""
    for name in names:
        if name not in known:
            raise unknown_name("column", name, known)
    doubled = {name for name in names if list(names).count(name) > 1}
    if doubled:
        raise InputError(
            f"Each column may play one part; {listed(sorted(doubled))} plays several: name another "
            f"column for one of them."
        )


def repeated_names(names: Sequence[str]) -> list[tuple[int, int]]:
    """Return where a name stands first and again, capital letters aside.

    Examples
    --------
    >>> repeated_names(["sex", "score", "Sex", ""])
    [(0, 2)]
    """
    first: dict[str, int] = {}
    found = ((first.setdefault(n.strip().casefold(), k), k) for k, n in enumerate(names))
    return [(start, k) for start, k in found if start != k and names[k].strip()]


def check_names(names: Iterable[Any], *, what: str, fold: bool = False) -> None:
    """Raise where two columns of a table have the same name: which is meant cannot be known.

    With ``fold`` names that differ in capital letters or outer spaces only are the same, as they
    are to DuckDB, which would rename one; columns without a name are left to it.
    """
    names = list(names)
    keys = [str(name).strip().casefold() for name in names] if fold else names
    times = Counter(keys)
    doubled = dict.fromkeys(
        name
        for name, key in zip(names, keys, strict=True)
        if times[key] > 1 and not (fold and key == "")
    )
    if doubled:
        aside = ", capital letters aside" if fold else ""
        raise InputError(
            f"Each column of {what} must have a name of its own{aside}; {listed(doubled)} occur"
            f"{'s'[: len(doubled) == 1]} more than once: rename or drop one."
        )


def check_length(name: str, length: int, other: str, expected: int) -> None:
    """Raise unless two things have the same number of rows."""
    if length != expected:
        raise InputError(
            f"{name} and {other} must have the same number of rows; "
            f"{name} has {length:,} and {other} has {expected:,}."
        )


def check_same_order(first: Any, other: Any, *, name: str, to: str = "X") -> None:
    """Raise where two pandas objects hold the same rows in another order."""
    index, other_index = getattr(first, "index", None), getattr(other, "index", None)
    if not isinstance(index, pd.Index) or not isinstance(other_index, pd.Index):
        return
    if index.equals(other_index) or len(index) != len(other_index):
        return
    if index.is_unique and other_index.is_unique and bool(index.isin(other_index).all()):
        raise InputError(
            f"{to} and {name} must have their rows in one order; their indexes hold the same rows "
            f"in different orders: use {name}.loc[{to}.index]."
        )


def as_numbers(given: ArrayLike, name: str) -> NDArray[np.float64]:
    """Return a float vector; raise where a value is no number."""
    try:
        return np.asarray(given, dtype=np.float64).ravel()
    except (TypeError, ValueError, OverflowError):
        cells = np.asarray(given, dtype=object).ravel()
        words = list(dict.fromkeys(str(v) for v in cells if not is_real(v)))
        raise InputError(
            f"{name} must be numbers; got {listed(words, most=3)}: "
            f"{comma_hint(words) or 'name another column'}."
        ) from None


def comma_hint(words: Iterable[Any]) -> str:
    """Return what to do where words are numbers with commas; empty where they are not.

    Examples
    --------
    >>> comma_hint(["0,5", "1,25"])
    "write their decimals with a point ('0.5') and their thousands without a comma"
    >>> comma_hint(["nurse"])
    ''
    """
    texts = [str(word).strip() for word in words]
    if not texts or not all(re.fullmatch(r"[+-]?[\d.]*(,\d+)*", t) and t for t in texts):
        return ""
    if not any("," in t for t in texts):
        return ""
    return "write their decimals with a point ('0.5') and their thousands without a comma"


def is_real(value: Any) -> bool:
    """Return whether a value is, or can be read as, a number that a float holds."""
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def check_score(score: ArrayLike) -> NDArray[np.float64]:
    """Return scores as a float vector; raise unless all are finite numbers."""
    shape = np.shape(score)
    if len(shape) == 2 and shape[1] > 1:
        raise InputError(
            f"Scores must be one column, those of the favourable label; got an array of shape "
            f"{shape}: pass one of them, as in predict_proba(X)[:, list(classes_).index('yes')]."
        )
    values = as_numbers(score, "Scores")
    if not np.isfinite(values).all():
        raise InputError("Scores must be finite numbers; some are NaN or infinite.")
    return values


def check_weight(weight: ArrayLike, *, name: str = "sample_weight") -> NDArray[np.float64]:
    """Return weights as a float vector; raise unless all are finite and none is negative."""
    values = as_numbers(weight, name)
    bad = ~np.isfinite(values)
    if bad.any():
        raise InputError(
            f"{name} must be finite numbers; row {int(bad.argmax())} holds "
            f"{values[bad.argmax()]}: drop or correct such rows."
        )
    if (values < 0).any():
        row = int((values < 0).argmax())
        raise InputError(f"{name} must not be negative; row {row} holds {values[row]:g}.")
    if values.size and values.sum() <= 0:
        raise InputError(f"{name} must not all be zero.")
    return values


def check_seed(random_state: Any) -> None:
    """Raise unless a seed is one that every generator of random numbers takes."""
    whole = isinstance(random_state, int | np.integer) and random_state >= 0
    if not whole and not isinstance(
        random_state, NoneType | np.random.Generator | np.random.RandomState
    ):
        raise InputError(
            f"random_state must be a whole number of 0 or more, a generator or None; got "
            f"{random_state!r}."
        )


def make_rng(random_state: Any) -> np.random.Generator:
    """Return the generator of random numbers for a seed.

    Examples
    --------
    >>> int(make_rng(0).integers(100))
    85
    """
    check_seed(random_state)
    if isinstance(random_state, np.random.RandomState):  # as scikit-learn takes it
        random_state = random_state.randint(2**31 - 1)
    return np.random.default_rng(random_state)


def match_values(wanted: Any, known: Sequence[Any], *, what: str) -> tuple[Any, ...]:
    """Find the values a user named (one or several) among those that occur.

    Text is compared as written and then as a number, so ``"1"`` from a command line finds 1.
    """
    several = isinstance(wanted, Collection) and not isinstance(wanted, str | bytes)
    result: list[Any] = []
    for value in wanted if several else [wanted]:
        hits = [k for k in known if k is value or (type(k) is type(value) and k == value)]
        hits = hits or [k for k in known if str(k) == str(value)]
        hits = hits or [k for k in known if _same_number(k, value)]
        if not hits:
            raise unknown_name(what, value, known)
        result.extend(h for h in hits if h not in result)
    if not result:
        raise InputError(f"At least one {what} must be named; got none.")
    return tuple(result)


def _same_number(known: Any, wanted: Any) -> bool:
    """Compare across the types a file, a frame and a command line may give one number."""
    try:
        return float(known) == float(wanted)
    except (TypeError, ValueError, OverflowError):
        return False


def resolve_favorable(classes: Sequence[Any], favorable: Any = None) -> tuple[Any, ...]:
    """Return the favourable classes: those named, else the 1 of labels that are 0 / 1.

    Labels that are True / False or -1 / 1 are as plain as 0 / 1; anything else must be named.
    """
    if favorable is not None:
        named = match_values(favorable, classes, what="favourable label")
        if len(named) == len(classes):
            raise InputError(
                f"At least one class must be unfavourable; all of {listed(classes)} were named."
            )
        return named
    try:
        plain = {float(c) for c in classes}
    except (TypeError, ValueError, OverflowError):
        plain = set()
    if plain in ({0.0, 1.0}, {-1.0, 1.0}):
        return tuple(c for c in classes if float(c) == 1.0)
    if len(classes) < 2:
        raise InputError(
            f"A label must have two classes or more; every row holds {listed(classes)}: name "
            f"another column, or another cut."
        )
    raise InputError(
        f"The favourable label must be named, the one that is good to get; the classes are "
        f"{listed(classes)}: pass favorable= (on the command line --favorable)."
    )
