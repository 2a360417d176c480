"""Hort et al.: Fairea, 12 methods on 5 tasks."""

from pathlib import Path

from isonomy.papers.fairea_2021 import prepare  # noqa: F401 - registers itself
from isonomy.papers.fairea_2021.cases import METRICS
from isonomy.papers.fairea_2021.causes import CAUSES
from isonomy.papers.fairea_2021.findings import findings
from isonomy.papers.fairea_2021.reader import ARCHIVE, read_fairea
from isonomy.papers.fairea_2021.tables import JUDGED, TABLES, parts_of
from isonomy.papers.paper import PAPERS, Paper
from isonomy.papers.table import Recipe

__all__ = ["PAPER"]

PAPER = PAPERS.add(
    "fairea_2021",
    Paper(
        "fairea_2021",
        "Hort, Zhang, Sarro and Harman 2021, Fairea: A Model Behaviour Mutation Approach to "
        "Benchmarking Bias Mitigation Methods, ESEC/FSE",
        Path(__file__).parent,
        TABLES | {"findings": Recipe(findings, "the paper's four answers", JUDGED, 0.0)},
        parts_of,
        metrics=tuple(METRICS),
        read=read_fairea,
        archive=ARCHIVE,
        comparable=True,
        causes=CAUSES,
    ),
    aliases=("fairea",),
)
