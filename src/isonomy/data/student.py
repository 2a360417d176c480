"""Student performance: whether a pupil of a Portuguese school passes the final grade."""

from dataclasses import replace
from pathlib import Path

import pandas as pd

from isonomy.data.catalog import as_categories, check_table, read_card
from isonomy.data.dataset import Dataset
from isonomy.data.fetch import sha256_of
from isonomy.errors import DataUnavailable

CARD = read_card(__file__)
PARTS = {"mat": ("student-mat.csv", 395), "por": ("student-por.csv", 649)}


@CARD.register
def load_student(*, path: str | Path | None = None) -> Dataset:
    """Load student performance: mathematics and Portuguese, 1,044 rows.

    Parameters
    ----------
    path : str or path, optional
        The folder that holds student-mat.csv and student-por.csv; by default
        ``files/student`` in the cache folder.

    Returns
    -------
    Dataset
        Protected attribute ``sex``; the label is the grade, favourable from 10 on.
    """
    folder = CARD.folder if path is None else Path(path).expanduser()
    missing = [name for name, _ in PARTS.values() if not (folder / name).is_file()]
    if missing:
        raise DataUnavailable(
            f"{missing[0]} of dataset 'student' must lie in {folder}; it does not: "
            f"{CARD.instructions}."
        )
    table = pd.concat(
        [_read(folder / name, rows, course) for course, (name, rows) in PARTS.items()]
    )
    table = as_categories(table.reset_index(drop=True))
    grades = table["G3"]
    checksums = {name: sha256_of(folder / name) for name, _ in PARTS.values()}
    return Dataset(
        name="student",
        X=table.drop(columns=["G3", "course"]),
        y=grades,
        favorable=sorted(set(grades[grades >= 10])),
        sensitive=table[["sex"]],
        privileged={"sex": "M"},
        aside=table[["course"]],
        info=replace(CARD.info, sha256=checksums),
    )


def _read(path: Path, rows: int, course: str) -> pd.DataFrame:
    with path.open(encoding="utf-8") as stream:
        separator = ";" if ";" in stream.readline() else ","  # both kinds of copies circulate
    table = pd.read_csv(path, sep=separator)
    table = check_table(f"student ({path.name})", table, rows=rows, columns=CARD.columns)
    chosen: pd.DataFrame = table[CARD.columns]
    return chosen.assign(course=course)
