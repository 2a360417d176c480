"""Chen et al. 2024: eleven methods and two protected attributes at once."""

from pathlib import Path

from isonomy.papers.icse24_multi import prepare  # noqa: F401 - registers itself
from isonomy.papers.icse24_multi.cases import ATTRIBUTES
from isonomy.papers.icse24_multi.findings import findings
from isonomy.papers.icse24_multi.reader import ARCHIVE, read_icse24
from isonomy.papers.icse24_multi.tables import ALL, TABLES, parts_of
from isonomy.papers.paper import PAPERS, Paper
from isonomy.papers.several_causes import CAUSES
from isonomy.papers.subgroups import beside
from isonomy.papers.table import Recipe
from isonomy.store.record import combine

__all__ = ["PAPER"]

PAPER = PAPERS.add(
    "icse24_multi",
    Paper(
        "icse24_multi",
        "Chen, Zhang, Sarro and Harman 2024, Fairness Improvement with Multiple Protected "
        "Attributes: How Far Are We?, ICSE",
        Path(__file__).parent,
        TABLES | {"findings": Recipe(findings, "the paper's answers", ALL)},
        parts_of,
        read=read_icse24,
        archive=ARCHIVE,
        more=lambda store: combine([beside(store, ATTRIBUTES)]),
        comparable=True,
        causes=CAUSES,
        words=("icse24",),
    ),
    aliases=("icse24",),
)
