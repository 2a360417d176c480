"""Chen et al.: 17 methods on 8 tasks."""

from pathlib import Path

from isonomy.papers.chen_2022 import prepare  # noqa: F401 - registers itself
from isonomy.papers.chen_2022.cases import BIAS, PERFORMANCE
from isonomy.papers.chen_2022.causes import CAUSES
from isonomy.papers.chen_2022.findings import findings
from isonomy.papers.chen_2022.reader import ARCHIVE, read_chen
from isonomy.papers.chen_2022.tables import ALL, TABLES, parts_of
from isonomy.papers.paper import PAPERS, Paper
from isonomy.papers.table import Recipe

__all__ = ["PAPER"]

PAPER = PAPERS.add(
    "chen_2022",
    Paper(
        "chen_2022",
        "Chen, Zhang, Sarro and Harman 2023, A Comprehensive Empirical Study of Bias Mitigation "
        "Methods for Machine Learning Classifiers, TOSEM 32(4)",
        Path(__file__).parent,
        TABLES | {"findings": Recipe(findings, "the paper's six findings", ALL)},
        parts_of,
        metrics=(*PERFORMANCE.values(), *BIAS.values()),
        read=read_chen,
        archive=ARCHIVE,
        comparable=True,
        causes=CAUSES,
    ),
    aliases=("chen",),
)
