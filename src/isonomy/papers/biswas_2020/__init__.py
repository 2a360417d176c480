"""Biswas and Rajan: 40 Kaggle models and seven methods."""

from pathlib import Path

from isonomy.papers.biswas_2020 import prepare  # noqa: F401 - registers itself
from isonomy.papers.biswas_2020.reader import read_biswas
from isonomy.papers.biswas_2020.tables import TABLES, parts_of
from isonomy.papers.paper import PAPERS, Paper

__all__ = ["PAPER"]

PAPER = PAPERS.add(
    "biswas_2020",
    Paper(
        "biswas_2020",
        "Biswas and Rajan 2020, Do the Machine Learning Models on a Crowd Sourced Platform Exhibit "
        "Bias? An Empirical Study on Model Fairness, ESEC/FSE",
        Path(__file__).parent,
        TABLES,
        parts_of,
        read=read_biswas,
        words=("kaggle40",),
    ),
    aliases=("biswas",),
)
