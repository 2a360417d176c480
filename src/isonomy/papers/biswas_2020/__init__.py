"""Biswas and Rajan: 40 Kaggle models and seven methods."""

from pathlib import Path

from isonomy.papers.biswas_2020 import prepare, workbench  # noqa: F401 - register themselves
from isonomy.papers.biswas_2020.deviations import agreement
from isonomy.papers.biswas_2020.figures import fig3, fig5, fig6, fig8, fig9, fig10
from isonomy.papers.biswas_2020.findings import findings
from isonomy.papers.biswas_2020.reader import ARCHIVE, read_biswas
from isonomy.papers.biswas_2020.second import fig7, second_attributes
from isonomy.papers.biswas_2020.tables import BOTH, TABLES, parts_of
from isonomy.papers.paper import PAPERS, Paper
from isonomy.papers.table import Recipe

__all__ = ["PAPER"]

_BEFORE = frozenset({"original runs"})
FIGURES = {
    "fig3": Recipe(fig3, "measures of bias before mitigation", _BEFORE),
    "fig5": Recipe(fig5, "correlation of the measures over runs", _BEFORE, 0.1),
    "fig6": Recipe(fig6, "standard deviations over runs", _BEFORE, 0.01),
    "fig7": Recipe(
        fig7,
        "measures of bias by two protected attributes",
        frozenset({"original runs", "runs by a second attribute"}),
    ),
    "fig8": Recipe(fig8, "measures of bias after the best mitigation", BOTH),
    "fig9": Recipe(fig9, "what the best mitigation changes", BOTH),
    "fig10": Recipe(fig10, "best against second best mitigation", BOTH),
}


def _order(item: tuple[str, Recipe]) -> tuple[bool, int]:
    """Return a key: tables first, then figures, each by number."""
    return item[0].startswith("fig"), int(item[0].strip("tablefig"))


PAPER = PAPERS.add(
    "biswas_2020",
    Paper(
        "biswas_2020",
        "Biswas and Rajan 2020, Do the Machine Learning Models on a Crowd Sourced Platform Exhibit "
        "Bias? An Empirical Study on Model Fairness, ESEC/FSE",
        Path(__file__).parent,
        dict(sorted((TABLES | FIGURES).items(), key=_order))
        | {"findings": Recipe(findings, "the paper's twelve findings", BOTH)},
        parts_of,
        read=read_biswas,
        archive=ARCHIVE,
        more=second_attributes,
        beside=agreement,
        words=("kaggle40",),
    ),
    aliases=("biswas",),
)
