"""What the columns of a table may be: a guess by their names and values, for a person to correct."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from isonomy._bands import MANY, is_number, quarters
from isonomy._groups import sorted_values
from isonomy.audit.unexamined import looks_protected, words_of
from isonomy.data.leaks import distinct
from isonomy.data.own import names_rows

Role = Literal["label", "prediction", "score", "sensitive", "drop", "feature"]
MOST_SENSITIVE = 4
"""Of more columns that look protected only the first are taken: each is judged by itself."""
EXAMPLES = 12
"""The most values that are named of a column."""

_LABEL = (
    "label",
    "target",
    "outcome",
    "truth",
    "actual",
    "true",
    "observed",
    "response",
    "class",
    "y",
)
_DECIDED = (
    "approved", "approve", "approval", "granted", "grant", "accepted", "accept", "admitted", "admit",
    "admission", "hired", "hire", "selected", "passed", "pass", "survived", "released", "income",
    "default", "defaulted", "recid", "recidivism", "repaid", "denied", "deny", "denial", "rejected",
    "reject", "refused", "fraud", "churn", "churned", "credit", "risk",
)  # fmt: skip
_PREDICTION = (
    "pred",
    "preds",
    "predicted",
    "prediction",
    "predictions",
    "yhat",
    "forecast",
    "decision",
    "hat",
)
_SCORE = ("score", "scores", "prob", "probs", "proba", "probability", "likelihood", "p")
_GOOD = frozenset(
    [
        "1",
        "1.0",
        "yes",
        "y",
        "true",
        "t",
        "good",
        "approved",
        "approve",
        "accepted",
        "accept",
        "granted",
        "grant",
        "admitted",
        "hired",
        "hire",
        "selected",
        "pass",
        "passed",
        "paid",
        "repaid",
        "positive",
        "favorable",
        "favourable",
        ">50k",
        ">50k.",
        "survived",
        "success",
    ]
)
_BAD = frozenset(
    [
        "default",
        "defaulted",
        "recid",
        "recidivism",
        "denied",
        "deny",
        "denial",
        "rejected",
        "reject",
        "fraud",
        "churn",
        "bad",
        "failed",
        "failure",
        "refused",
        "arrest",
        "arrested",
        "late",
        "delinquent",
        "dropout",
    ]
)


@dataclass(frozen=True)
class ColumnGuess:
    """What was seen of a column, and what it may be.

    Attributes
    ----------
    name : str
    role : str
        ``label``, ``prediction``, ``score``, ``sensitive`` (it looks protected), ``drop`` (an
        identifier) or ``feature``.
    number : bool
        Whether it holds numbers.
    distinct : int
        How many values were seen.
    missing : float
        The share of rows without a value.
    values : tuple
        The values that were seen, in order, ``EXAMPLES`` at most.
    favorable : value or None
        Of a column of few values the one that is probably good to get.
    cuts : tuple of float
        Where a number with many values may be cut into bands.
    """

    name: str
    role: Role
    number: bool
    distinct: int
    missing: float
    values: tuple[Any, ...]
    favorable: Any = None
    cuts: tuple[float, ...] = ()

    @property
    def many(self) -> bool:
        """Whether it is a number of more values than groups or classes have."""
        return self.number and self.distinct > MANY


def guess_columns(table: pd.DataFrame) -> tuple[ColumnGuess, ...]:
    """Guess what each column of a table is: label, prediction, score, protected, identifier.

    Nothing is asked of the guess but that it saves a person time: it is to be shown and corrected.

    Examples
    --------
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 60, "age": np.arange(120) % 50 + 18.0})
    >>> people["id"] = range(5000, 5120)
    >>> people["hired"], people["y_pred"] = [1, 0, 0, 1] * 30, [1, 0, 1, 0] * 30
    >>> {c.name: c.role for c in guess_columns(people)}
    {'sex': 'sensitive', 'age': 'sensitive', 'id': 'drop', 'hired': 'label', 'y_pred': 'prediction'}
    >>> [c.favorable for c in guess_columns(people)][3]
    1
    """
    seen = {str(name): _see(str(name), table.iloc[:, k]) for k, name in enumerate(table.columns)}
    roles: dict[str, Role] = {}

    def take(role: Role, words: Sequence[str], fits: Any) -> None:
        found = [(rank, name) for name, c in seen.items() if name not in roles and fits(c)
                 and (rank := _rank(name, words)) is not None]  # fmt: skip
        if found:
            roles[min(found)[1]] = role

    take("score", _SCORE, lambda c: c.number and c.many and 0 <= c.values[0] <= c.values[-1] <= 1)
    take("prediction", _PREDICTION, _few)
    take("label", (*_LABEL, *_DECIDED), lambda c: _few(c) and not looks_protected(c.name, c.values))
    shown = (c for c in seen.values() if c.name not in roles and c.distinct > 1)
    for c in [c for c in shown if looks_protected(c.name, c.values)][:MOST_SENSITIVE]:
        roles[c.name] = "sensitive"
    if "label" not in roles.values():
        two = [c for n, c in seen.items() if n not in roles and c.distinct == 2]
        last = [c.name for c in two if not looks_protected(c.name, c.values)]
        roles |= dict.fromkeys(last[-1:], "label")
    for k, (name, c) in enumerate(seen.items()):
        if name not in roles and names_rows(table.iloc[:, k].dropna()):
            roles[c.name] = "drop"
    return tuple(
        ColumnGuess(**{**vars(c), "role": roles.get(name, "feature")}) for name, c in seen.items()
    )


def _few(c: ColumnGuess) -> bool:
    return 2 <= c.distinct <= MANY


def _see(name: str, column: "pd.Series[Any]") -> ColumnGuess:
    known = distinct(column)
    number = is_number(column)
    if number:
        ends = np.asarray(known, dtype=float)
        ends = np.sort(ends[np.isfinite(ends)])
        whole = bool((ends % 1 == 0).all())
        shown = ends if ends.size <= EXAMPLES else ends[[0, *range(1, EXAMPLES - 1), -1]]
        values: tuple[Any, ...] = tuple(int(v) if whole else float(v) for v in shown)
    else:
        values = sorted_values(pd.Series(known[: 50 * EXAMPLES]))[:EXAMPLES]
    many = number and len(known) > MANY
    return ColumnGuess(
        name=name,
        role="feature",
        number=number,
        distinct=len(known),
        missing=float(column.isna().mean()) if len(column) else 0.0,
        values=values,
        favorable=None if len(known) > MANY else _favorable(name, values),
        cuts=tuple(quarters(column.to_numpy(dtype=float))) if many else (),
    )


def _rank(name: str, words: Sequence[str]) -> int | None:
    """Return the place of the first word that a name holds.

    A letter with a number, as ``y94`` of the year 1994, says nothing.
    """
    numbered = any(map(str.isdigit, name))
    held = {word for word in words_of(name) if len(word) > 1 or not numbered}
    return next((k for k, word in enumerate(words) if word in held), None)


def _favorable(name: str, values: Sequence[Any]) -> Any:
    if not values:
        return None
    good = [v for v in values if str(v).strip().casefold() in _GOOD]
    if good and len(values) == 2 and _BAD.intersection(words_of(name)):
        return next(v for v in values if v is not good[0])
    return good[0] if good else values[-1]
