"""Student performance: whether a pupil of a Portuguese school passes the final grade."""

from pathlib import Path
from typing import Any

import pandas as pd

from isonomy.data.catalog import DATASETS, Entry, as_categories, check_table
from isonomy.data.dataset import Dataset, DatasetInfo
from isonomy.data.fetch import cache_folder, sha256_of
from isonomy.errors import DataUnavailable

__all__ = ["load_student"]

TITLE = "Student performance: does a pupil pass the final grade?"
PARTS = {"mat": ("student-mat.csv", 395), "por": ("student-por.csv", 649)}
COLUMNS = (
    "school",
    "sex",
    "age",
    "address",
    "famsize",
    "Pstatus",
    "Medu",
    "Fedu",
    "Mjob",
    "Fjob",
    "reason",
    "guardian",
    "traveltime",
    "studytime",
    "failures",
    "schoolsup",
    "famsup",
    "paid",
    "activities",
    "nursery",
    "higher",
    "internet",
    "romantic",
    "famrel",
    "freetime",
    "goout",
    "Dalc",
    "Walc",
    "health",
    "absences",
    "G1",
    "G2",
    "G3",
)
BY_HAND = (
    "no registry carries both files: get 'Student Performance' from the UCI Machine Learning "
    "Repository (https://archive.ics.uci.edu/dataset/320/student+performance) and put "
    "student-mat.csv and student-por.csv into one folder: {folder}, or any other that you name "
    "with path= (--path on the command line)"
)
INFO = DatasetInfo(
    title=TITLE,
    source="UCI Machine Learning Repository, from two Portuguese schools, 2005 to 2006",
    licence="CC BY 4.0",
    citation="Cortez, P. and Silva, A. (2008). Using data mining to predict secondary school "
    "student performance. FUBUTEC 2008, 5-12.",
    caveats=(
        (
            "The rows of two courses are stacked: 382 pupils appear in both, so training and test "
            "rows are not independent. The course stands aside."
        ),
        "The label is the grade G3 (0 to 20); 10 and more is a pass, and favourable.",
        (
            "G1 and G2, the grades of the periods before, predict G3 almost alone; without them "
            "the task is far harder."
        ),
    ),
    rules={"sex": "as recorded; privileged: M"},
)


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
    folder = cache_folder() / "files" / "student" if path is None else Path(path).expanduser()
    missing = [name for name, _ in PARTS.values() if not (folder / name).is_file()]
    if missing:
        raise DataUnavailable(
            f"{missing[0]} of dataset 'student' must lie in {folder}; it does not: "
            f"{BY_HAND.format(folder=cache_folder() / 'files' / 'student')}."
        )
    table = pd.concat(
        [_read(folder / name, rows, course) for course, (name, rows) in PARTS.items()]
    )
    texts = [c for c in table.columns if not pd.api.types.is_numeric_dtype(table[c])]
    table = as_categories(table.reset_index(drop=True), texts)
    grades = table["G3"]
    sums: dict[str, Any] = {name: sha256_of(folder / name) for name, _ in PARTS.values()}
    return Dataset(
        name="student",
        X=table.drop(columns=["G3", "course"]),
        y=grades,
        favorable=sorted(set(grades[grades >= 10])),
        sensitive=table[["sex"]],
        privileged={"sex": "M"},
        aside=table[["course"]],
        info=DatasetInfo(**{**INFO.__dict__, "sha256": sums}),
    )


def _read(path: Path, rows: int, course: str) -> pd.DataFrame:
    with path.open(encoding="utf-8") as stream:
        separator = ";" if ";" in stream.readline() else ","  # both kinds of copies circulate
    table = pd.read_csv(path, sep=separator)
    table = check_table(f"student ({path.name})", table, rows=rows, columns=COLUMNS)
    return table[list(COLUMNS)].assign(course=course)


DATASETS.add("student", Entry("student", TITLE, 1_044, ("sex",), load_student, by_hand=BY_HAND))
