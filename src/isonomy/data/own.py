"""A table of the user's own: read, cut into bands, and checked before anything learns from it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from isonomy._bands import is_number, too_many_numbers
from isonomy._files import read_table
from isonomy._groups import bands, choose_privileged, sorted_values
from isonomy._tables import as_pandas, check_cells
from isonomy._unknown import code_notes
from isonomy._validate import as_names, check_choice, comma_hint, listed
from isonomy.data.dataset import Dataset, by_attribute
from isonomy.data.label import absent_label_notes, check_label, source_of_label
from isonomy.data.leaks import distinct, drop_option, leak_notes, proxy_notes
from isonomy.errors import InputError

_NUMBER_OF = re.compile(r"(?i)(id|id_?(num|nr|no|number|code)|[^a-z](num|nr|no|number|key))$")
FEWEST_ROWS = 100
"""Of fewer rows nothing is said of identifiers: a few words may all differ."""


def own_dataset(
    data: Any,
    *,
    label: str | None,
    sensitive_features: Sequence[str],
    favorable: Any = None,
    privileged: Any = None,
    bins: Mapping[str, Sequence[float]] | None = None,
    drop: Sequence[str] = (),
    table: str | None = None,
    weight: str | None = None,
) -> tuple[Dataset, list[str]]:
    """Make a dataset to learn from of a file or frame, and say what a reader must know of it.

    Parameters
    ----------
    data : str, path or frame
        A file of rows, or a table held in memory.
    label : str
        The column to predict, or a number cut in two, ``"income>50000"``.
    sensitive_features : sequence of str
        The protected columns; each must hold two groups or more.
    favorable, drop, weight
        As in :meth:`Dataset.from_frame`.
    privileged : mapping of attribute to values, optional
        Of a single attribute its values alone will do. Where an attribute is left out, the group with the highest share of favorable labels.
    bins : mapping of attribute to cut points, optional
        Cuts a number such as age into bands, which take its place; of a single attribute the
        cut points alone will do.
    table : str, optional
        Table of a DuckDB file, sheet of an Excel file.

    Returns
    -------
    dataset : Dataset
    notes : list of str
        The privileged groups that were chosen, labels that may be missing, columns that give the
        label away, identifiers, and proxies.

    Examples
    --------
    >>> import pandas as pd
    >>> people = pd.DataFrame({"black": [0, 1, 0, 1] * 20, "wage": range(80)})
    >>> made, notes = own_dataset(people, label="wage>30", sensitive_features=["black"])
    >>> made.privileged, made.y01.sum()
    ({'black': (1,)}, np.int64(49))
    >>> notes[0]
    'No privileged group was named for black: 1, the group with the highest share of favorable
    labels (62%), is compared with the others.'
    """
    check_label(label)
    # columns of a frame may be numbered; a file, a store and a page know names only
    label, attributes = str(label), [str(a) for a in as_names(sensitive_features)]
    drop = [str(c) for c in as_names(drop, "drop")]
    named = {str(k): v for k, v in by_attribute(privileged, attributes, "privileged").items()}
    cuts = {str(k): v for k, v in by_attribute(bins, attributes, "bins").items()}
    for attribute in (*cuts, *named):
        check_choice("protected attribute", attribute, attributes)
    is_file = isinstance(data, str | Path)
    rows = read_table(data, table=table) if is_file else as_pandas(data)
    rows = rows.set_axis(rows.columns.map(str), axis=1)
    for attribute in (*attributes, *drop):
        check_choice("column", attribute, list(rows.columns))
    for column in drop:
        if column in (*attributes, source_of_label(label, list(rows.columns))):
            raise InputError(
                f"Only a feature can be left out of learning; {column!r} is the label or protected: "
                f"take it out of drop= (--drop), or use the method suppression."
            )
    notes = repeat_notes(rows)
    rows = rows.assign(**{a: bands(rows[a], edges, a) for a, edges in cuts.items()})
    for attribute in attributes:
        groups = sorted_values(rows[attribute])
        if len(groups) < 2:
            raise InputError(
                f"A protected attribute must have two groups or more to compare; {attribute!r} "
                f"holds only {listed(groups)}."
            )
        counts = rows[attribute].value_counts()
        if many := too_many_numbers(attribute, counts.index.tolist(), counts.tolist()):
            raise InputError(f"A protected attribute must have few groups; {many}")
    check_cells(rows.drop(columns=drop), advice="leave it out, drop= (--drop)")
    made = Dataset.from_frame(
        rows,
        label=label,
        sensitive_features=attributes,
        favorable=favorable,
        privileged=named,
        drop=drop,
        weight=weight,
        name=Path(data).stem if is_file else "data",
    )
    chosen = dict(made.privileged)
    good = made.y.isin(made.favorable)
    for attribute in attributes:
        if attribute not in chosen:
            best, note = choose_privileged(attribute, made.sensitive[attribute], good)
            chosen[attribute] = (best,)
            notes.append(note)
    made = replace(made, privileged=chosen)
    notes += absent_label_notes(made.y.value_counts().to_dict(), made.favorable)
    commas = [c for c in made.X if comma_hint(made.X[c].dropna().unique())]
    if commas:
        notes.append(
            f"{listed(commas)} {'holds' if len(commas) == 1 else 'hold'} numbers with commas, which "
            f"are taken for words: {comma_hint(made.X[commas[0]].dropna().unique())}."
        )
    notes += [*leak_notes(made), *identifier_notes(made)]
    return made, [*notes, *proxy_notes(made.X, attributes)]


def unknown_notes(data: Dataset, attributes: Sequence[str]) -> list[str]:
    """Say how many rows are not learned from, because the protected attribute is not known.

    Values that may be codes for unknown (9, ``UNK``) are asked about.

    Examples
    --------
    >>> import pandas as pd
    >>> people = pd.DataFrame({"sex": ["f", "m", None, "Unknown"] * 2, "y": [0, 1] * 4})
    >>> made = Dataset.from_frame(people, label="y", sensitive_features="sex")
    >>> unknown_notes(made, ["sex"])
    ['4 rows without sex are left out.']
    """
    missing = {attribute: int((~data.known(attribute)).sum()) for attribute in attributes}
    rows = {a: f"{n:,} rows" if n > 1 else "1 row" for a, n in missing.items() if n}
    left = [f"{n} without {a} {'is' if n == '1 row' else 'are'} left out." for a, n in rows.items()]
    return left + [note for a in attributes for note in code_notes(a, data.groups(a))]


def identifier_notes(data: Dataset) -> list[str]:
    """Ask about columns that name each row anew: what is learned of them holds for no other row.

    Words that hardly repeat, and whole numbers that count the rows or hardly repeat and are called
    ``id``, ``caseid``, ``pid_num`` ..., are taken for identifiers.

    Examples
    --------
    >>> import pandas as pd
    >>> people = pd.DataFrame({"case": [f"A{k}" for k in range(200)], "sex": ["f", "m"] * 100})
    >>> people["y"] = [0, 1, 1, 0] * 50
    >>> identifier_notes(Dataset.from_frame(people, label="y", sensitive_features="sex"))
    ['case has another value in nearly every row: if it is an identifier, leave it out (--drop
    case).']
    """
    found = [column for column in data.X if names_rows(data.X[column].dropna())]
    if not found:
        return []
    names, one = ", ".join(map(str, found)), len(found) == 1
    has = "has another value in nearly every row: if it is an identifier, leave it out"
    have = "have another value in nearly every row: if they are identifiers, leave them out"
    return [f"{names} {has if one else have} ({drop_option(found)})."]


def names_rows(known: "pd.Series[Any]") -> bool:
    """Return whether a column without its missing cells names each row anew, as an identifier does."""
    values = distinct(known)
    if len(known) < FEWEST_ROWS or len(values) < 0.95 * len(known):
        return False
    if not is_number(known):
        return True
    # numbers that hardly repeat may well be measured; those that count from one row to the next, or
    # are called a number of something, are not
    low, high = known.min(), known.max()
    counts = high - low < 1.1 * len(known) or _NUMBER_OF.search(str(known.name)) is not None
    return bool(counts and (known % 1 == 0).all())


def repeat_notes(rows: pd.DataFrame) -> list[str]:
    """Warn of rows that repeat another one in every column: they would be in training and test rows.

    Where columns are coarse, people may well be alike: nothing is said unless repeats are far more
    frequent than different rows that agree in the finest column.

    Examples
    --------
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 50, "pay": range(100)})
    >>> repeat_notes(pd.concat([people, people.head(30)]))
    ['30 of 130 rows repeat another row in every column: if they are the same people, drop them, or
    they are in training and test rows at once and flatter every method.']
    """
    try:
        repeats = int(rows.duplicated().sum())
    except TypeError:  # lists and other values that cannot be compared
        return []
    if repeats < 0.01 * len(rows) or not repeats:
        return []
    different = rows.drop_duplicates()
    if repeats <= 2 * (len(different) - int(different.nunique().max())):
        return []
    they = (
        "people, drop them, or they are in training and test rows at once and flatter every method"
    )
    of = f"{repeats:,} of {len(rows):,} rows repeat another row in every column"
    return [f"{of}: if they are the same {they}."]
