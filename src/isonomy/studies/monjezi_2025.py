"""Tails of counterfactual discrimination (Monjezi et al.): what is printed, and its claims counted.

The paper's own runs are not public, so the claims are recomputed from the printed tables.

References
----------
Monjezi, Trivedi, Kreinovich and Tizpaz-Niari 2025, Fairness Testing through Extreme Value Theory,
ICSE; arXiv:2501.11597v1.
"""

import numpy as np
import pandas as pd

from isonomy.studies import _monjezi_printed as printed
from isonomy.studies._monjezi_claims import PUBLISHED, Results, sentences
from isonomy.studies.table import PaperTable

__all__ = ["findings", "printed_results"]

_FINDING_NOTES = (
    (
        "Discrimination is a difference of 0.05 or more: with this reading (the text says "
        "'exceeding') the paper's counts of ECD, ACD and ECD above ACD come out."
    ),
    (
        "19 cases of ECD follow from its column, where LR on Compas (-.06) and RF on Adult sex "
        "(-.18) have the wrong sign; the printed locations give 21."
    ),
    (
        "The text gives Fair-SMOTE 9 cases of AOD up to 0.05 and its table 19; STEALTH's mean ECD "
        "is 0.04 in the text and 0.030 in the table."
    ),
    (
        "27 of the 80 tails have a shape of -0.5 or less, where the errors of the fit are not "
        "valid, 17 of them -1 or less, where the likelihood has no maximum; the paper counts them "
        "as type III."
    ),
)


def printed_results() -> Results:
    """Give the numbers of the printed tables, as the claims are counted on them.

    Examples
    --------
    >>> results = printed_results()
    >>> results.types.value_counts().to_dict()
    {'III': 62, 'I': 14, 'II': 4}
    """
    groups = printed.groups()
    mu = groups["mu"].astype(float)
    cases = printed.cases().astype(float)
    cases["locations"] = mu.xs(2, level="group") - mu.xs(1, level="group")
    mitigated = printed.mitigated().replace("NV", np.nan).astype(float)
    return Results(cases, groups["type"], mitigated, None, printed.generators().astype(float))


def findings(frame: pd.DataFrame | None = None) -> PaperTable:
    """Give every counted claim of RQ1 to RQ4: as published, recounted in print, and from our runs.

    Parameters
    ----------
    frame : DataFrame, optional
        The result frame of our runs; without one the last column says "not yet run".

    Examples
    --------
    >>> findings().data.loc["RQ3 AOD at most .05", "recounted in the printed tables"]
    'EG 32 of 40, STEALTH 22 of 40, MAAT 22 of 40, Fair-SMOTE 19 of 40'
    """
    ours = Results()
    data = pd.DataFrame(
        {
            "as published": PUBLISHED,
            "recounted in the printed tables": sentences(printed_results()),
            "ours": sentences(ours),
        }
    )
    return PaperTable(
        "findings", "The paper's counted claims", data, len(data), "claims", _FINDING_NOTES
    )
