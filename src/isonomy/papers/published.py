"""Readers for the results three papers published, each giving the result frame.

A reader takes whatever part of the authors' repository a folder holds, wherever in it the files
lie, loose or inside a zip archive, and recognises them by their names. What is odd about a file
stands in the column ``reason`` of its rows. Gaps that the authors stored without their sign are
named ``|gap|``. The study of their rows ends in ``:published``, so that
they are never mixed with our own runs of the same study.
"""

from collections.abc import Callable
from pathlib import Path

import pandas as pd

from isonomy._validate import unknown_name
from isonomy.papers.archive import BASELINE, PUBLISHED
from isonomy.papers.biswas_2020.reader import read_biswas
from isonomy.papers.chen_2022.reader import read_chen
from isonomy.papers.fairea_2021.reader import read_fairea

__all__ = [
    "BASELINE",
    "PUBLISHED",
    "READERS",
    "read_biswas",
    "read_chen",
    "read_fairea",
    "read_published",
]

READERS: dict[str, Callable[[str | Path], pd.DataFrame]] = {
    "fairea": read_fairea,
    "chen": read_chen,
    "biswas": read_biswas,
}
"""Readers by the name the command line gives them."""


def read_published(study: str, folder: str | Path) -> pd.DataFrame:
    """Read what a paper's authors published: ``fairea``, ``chen`` or ``biswas``.

    Parameters
    ----------
    study : {"fairea", "chen", "biswas"}
    folder : path
        The authors' repository, or any part of it.

    Returns
    -------
    DataFrame
        The result frame of :mod:`isonomy.store.record`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> place = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (place / "rew_lr_adult_sex_0_50.txt").write_text("0.10 0.84 0.05")
    >>> read_published("fairea", place)[["mitigator", "metric", "value"]].values.tolist()[1]
    ['reweighing', 'accuracy', 0.84]
    """
    if study not in READERS:
        raise unknown_name("published study", study, list(READERS))
    return READERS[study](folder)
