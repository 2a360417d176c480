"""Chen et al. 2025: what bias mitigation gives to some, and takes from others."""

from pathlib import Path

from isonomy.papers.paper import PAPERS, Paper
from isonomy.papers.several_causes import CAUSES
from isonomy.papers.subgroups import beside
from isonomy.papers.table import Recipe
from isonomy.papers.zerosum_2025.cases import BOTH
from isonomy.papers.zerosum_2025.findings import findings
from isonomy.papers.zerosum_2025.reader import ARCHIVE, read_zerosum
from isonomy.papers.zerosum_2025.tables import NEEDS, TABLES, parts_of
from isonomy.store.record import combine

__all__ = ["PAPER"]

PAPER = PAPERS.add(
    "zerosum_2025",
    Paper(
        "zerosum_2025",
        "Chen, Li, Zhang, Sarro and Liu 2025, Is Bias Mitigation a Zero-Sum Game?, FSE",
        Path(__file__).parent,
        TABLES | {"findings": Recipe(findings, "the paper's answers", NEEDS)},
        parts_of,
        read=read_zerosum,
        archive=ARCHIVE,
        more=lambda store: combine([beside(store, BOTH)]),
        comparable=True,
        causes=CAUSES,
    ),
    aliases=("zerosum",),
)
