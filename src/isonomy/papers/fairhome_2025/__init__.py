"""Chen et al. 2025: FairHOME, an ensemble of mutants, beside seven methods."""

from pathlib import Path

from isonomy.papers.fairhome_2025.cases import ATTRIBUTES
from isonomy.papers.fairhome_2025.findings import findings
from isonomy.papers.fairhome_2025.reader import ARCHIVE, read_fairhome
from isonomy.papers.fairhome_2025.tables import NEEDS, TABLES, parts_of
from isonomy.papers.paper import PAPERS, Paper
from isonomy.papers.several_causes import CAUSES
from isonomy.papers.subgroups import beside
from isonomy.papers.table import Recipe
from isonomy.store.record import combine

__all__ = ["PAPER"]

PAPER = PAPERS.add(
    "fairhome_2025",
    Paper(
        "fairhome_2025",
        "Chen, Li, Zhang, Sarro and Liu 2025, Diversity Drives Fairness: Ensemble of Higher Order "
        "Mutants for Intersectional Fairness of Machine Learning Software, ICSE",
        Path(__file__).parent,
        TABLES | {"findings": Recipe(findings, "the paper's answers", NEEDS)},
        parts_of,
        read=read_fairhome,
        archive=ARCHIVE,
        more=lambda store: combine([beside(store, ATTRIBUTES)]),
        comparable=True,
        causes=CAUSES,
    ),
    aliases=("fairhome",),
)
