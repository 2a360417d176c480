"""Protected columns and groups as every mitigator wants them: positions and small integers."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomy._bands import MANY, quarters, suggestion
from isonomy._groups import cross, read_attributes
from isonomy._tables import column_names, take
from isonomy._unknown import is_unknown_group
from isonomy._validate import MISSING, check_choice, listed, match_values, unknown_name
from isonomy.errors import InputError, IsonomyWarning


def find_columns(X: Any, wanted: Any, names: Sequence[Any]) -> tuple[int, ...]:
    """Return the positions of the protected columns of X: those wanted, else those named alike."""
    known = column_names(X)
    if wanted is None:
        return tuple(known.index(n) for n in names if n in known) if known else ()
    several = isinstance(wanted, list | tuple | set | np.ndarray)
    width = X.shape[1]
    positions = []
    for item in wanted if several else [wanted]:
        if known is not None and item in known:
            positions.append(known.index(item))
        elif isinstance(item, int | np.integer) and not isinstance(item, bool):
            if not -width <= item < width:
                raise InputError(
                    f"sensitive_columns must lie among the {width} columns of X; got {item}."
                )
            positions.append(int(item) % width)
        elif known is None:
            raise InputError(
                f"sensitive_columns must be positions when X is an array; got {item!r}: "
                f"pass a frame or a number."
            )
        else:
            raise unknown_name("column", str(item), known)
    return tuple(positions)


def _groups_of(columns: list[Any], n_rows: int) -> tuple[NDArray[np.intp], list[Any]]:
    """Return the group of each row; those of a single attribute are called by its plain values."""
    codes, groups = cross(dict(enumerate(columns)), n_rows)
    return codes, [group[0] if len(columns) == 1 else group for group in groups]


def _check_few(name: Any, values: list[Any]) -> None:
    """Raise where an attribute is a number such as age; words may have any number of groups."""
    if len(values) <= MANY or not suggestion(name, values):
        return
    cuts = ", ".join(f"{cut:g}" for cut in quarters([v for v in values if not isinstance(v, str)]))
    raise InputError(
        f"A protected attribute must have few groups; {'sensitive_features' if name is None else repr(name)} "
        f"has {len(values):,} numbers: cut it into bands, such as pd.cut(values, [-np.inf, {cuts}, "
        f"np.inf]).astype(str), or pass .astype(str) where its numbers are codes of groups."
    )


def known_rows(sensitive: Any, n_rows: int) -> NDArray[np.intp]:
    """Return the rows in which every protected attribute is known.

    Examples
    --------
    >>> known_rows(["f", None, "m", "Unknown"], 4).tolist()
    [0, 2]
    """
    _, columns = read_attributes(sensitive)
    codes, groups = cross(dict(enumerate(columns)), n_rows)
    return np.flatnonzero(~np.array([is_unknown_group(g) for g in groups], dtype=bool)[codes])


def _was(groups: Sequence[Any]) -> str:
    return "was" if len(groups) == 1 else "were"


@dataclass
class GroupEncoder:
    """Numbers the groups of a training set and recognises them again.

    ``codes`` are positions in ``labels``. Where exactly two groups occur, or where a method takes
    two only, 1 is the privileged one; ``labels`` always names the groups as they were given.
    """

    names: tuple[Any, ...]
    labels: list[Any]
    privileged: tuple[Any, ...] | None = None

    @classmethod
    def learn(
        cls, sensitive: Any, n_rows: int, rows: NDArray[np.intp] | None = None
    ) -> tuple["GroupEncoder", NDArray[np.intp]]:
        """Read the attributes, of some rows if asked, and number the groups in sorted order."""
        names, columns = read_attributes(sensitive)
        if rows is not None:
            columns = [take(column, rows) for column in columns]
        codes, labels = _groups_of(columns, n_rows)
        for j, name in enumerate(names):
            _check_few(name, list({label[j] if len(names) > 1 else label for label in labels}))
        return cls(names, labels), codes

    def encode(self, sensitive: Any, n_rows: int, *, missing: str = "group") -> NDArray[np.intp]:
        """Return the groups of other rows by the numbers they have in the training set.

        Columns are found by the names that they had in fit, so that others may stand beside them.
        With ``missing="drop"`` a group that is not among them has the number -1.
        """
        names, columns = read_attributes(sensitive)
        if None not in self.names and set(self.names) <= set(names):
            columns = [columns[names.index(n)] for n in self.names]
        elif len(columns) != len(self.names):
            raise InputError(
                f"sensitive_features must have the {len(self.names)} column(s) seen in fit; "
                f"got {len(columns)}."
            )
        codes, labels = _groups_of(columns, n_rows)
        known = {label: position for position, label in enumerate(self.labels)}
        strange = [label for label in labels if label not in known]
        if strange and missing != "drop":
            raise InputError(
                f"Every group must have been seen in fit; {listed(strange)} "
                f"{_was(strange)} not among {listed(self.labels)}: with missing='drop' such rows get the mean over the "
                f"groups."
            )
        groups = {label: label if isinstance(label, tuple) else (label,) for label in strange}
        new = [label for label, group in groups.items() if not is_unknown_group(group)]
        if new:
            warnings.warn(
                f"{listed(new)} {_was(new)} not among the groups seen in fit, "
                f"{listed(self.labels)}: such rows get the mean over the groups.",
                IsonomyWarning,
                stacklevel=4,
            )
        return np.array([known.get(label, -1) for label in labels], dtype=np.intp)[codes]

    def settle(self, privileged: Any, rates: NDArray[np.float64] | None) -> None:
        """Decide which groups are privileged: those named, else the better-off one of two."""
        if privileged is not None:
            if isinstance(privileged, Mapping):
                chosen = self._by_attribute(privileged)
            elif isinstance(privileged, tuple) and privileged in self.labels:
                chosen = (privileged,)
            else:
                chosen = match_values(privileged, self.labels, what="group")
            if len(chosen) == len(self.labels):
                raise InputError(
                    f"At least one group must be unprivileged; all of {listed(self.labels)} "
                    f"were named."
                )
            self.privileged = chosen
        elif len(self.labels) == 2 and rates is not None:
            if MISSING in self.labels:
                raise InputError(
                    f"The privileged group must be named where one of two groups is "
                    f"{MISSING!r}; the groups are {listed(self.labels)}: pass privileged=..."
                )
            self.privileged = (self.labels[int(np.argmax(rates))],)

    def _by_attribute(self, privileged: Mapping[Any, Any]) -> tuple[Any, ...]:
        """Return the groups that are privileged in every attribute named."""
        rows = [label if len(self.names) > 1 else (label,) for label in self.labels]
        chosen = set(range(len(rows)))
        for attribute, values in privileged.items():
            if set(self.names) == {None}:
                raise InputError(
                    f"privileged names the attribute {attribute!r}, and sensitive_features has no "
                    f"names: pass a Series or a frame, or the privileged value alone."
                )
            check_choice("protected attribute", attribute, self.names)
            j = self.names.index(attribute)
            known = list(dict.fromkeys(row[j] for row in rows))
            wanted = match_values(values, known, what=f"value of {attribute}")
            chosen &= {i for i, row in enumerate(rows) if row[j] in wanted}
        if not chosen:
            raise InputError("At least one group must be privileged; no row holds all the values.")
        return tuple(self.labels[i] for i in sorted(chosen))
