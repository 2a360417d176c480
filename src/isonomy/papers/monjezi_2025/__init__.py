"""Monjezi et al.: tails of counterfactual discrimination before and after mitigation."""

from pathlib import Path

from isonomy.papers.monjezi_2025 import prepare  # noqa: F401 - registers itself
from isonomy.papers.monjezi_2025.generated import run_generators
from isonomy.papers.monjezi_2025.readings import run_readings
from isonomy.papers.monjezi_2025.tables import TABLES, about_runs, parts_of
from isonomy.papers.paper import PAPERS, Paper

__all__ = ["PAPER"]

PAPER = PAPERS.add(
    "monjezi_2025",
    Paper(
        "monjezi_2025",
        "Monjezi, Trivedi, Kreinovich and Tizpaz-Niari 2025, Fairness Testing through Extreme "
        "Value Theory, arXiv:2501.11597",
        Path(__file__).parent,
        TABLES,
        parts_of,
        words=("evt",),
        runners={"generators": run_generators, "readings": run_readings},
        about_runs=about_runs,
    ),
    aliases=("monjezi",),
)
