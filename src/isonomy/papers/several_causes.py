"""Why some runs of the three studies of several attributes do not equal the authors' in every digit.

Their scripts come from one laboratory and share their methods. A cause that was inferred and not
tried says so.
"""

from isonomy.papers.causes import TENSORFLOW
from isonomy.papers.cells import Cause

CAUSES = (
    TENSORFLOW,
    Cause(
        "the network's first weights and the order of its rows were not seeded",
        models=("dl",),
    ),
    Cause(
        "parents and values are drawn from Python's module random, which the studies did not seed",
        "fair_smote",
    ),
    Cause(
        "the study's copy of AIF360 seeds this method with 1, so that all runs share the normal "
        "numbers behind their points; how singular vectors turn these into points is left to the "
        "library of linear algebra: under one of the 128 patterns of signs runs 0 and 4 of "
        "COMPAS-sex equal the published ones in accuracy and SPD, the other four tried, and runs 0 "
        "to 5 of Adult-race, under none",
        "meta_fair_classifier",
    ),
    Cause(
        "weights are no binary fractions, and the last bits of their sums decide between columns "
        "that split alike (as in the study of 17 methods, where it was tried)",
        "reweighing",
        models=("rf",),
    ),
    Cause(
        "neighbours at equal distance, of which one-hot columns and the shares of a forest's trees "
        "have many, and splits of a tree that are alike are told apart by last bits, and by the order of "
        "a search (inferred)",
        "fair_mask",
    ),
    Cause(
        "the least squares of collinear columns have many solutions, and rounding decides the sign "
        "of a cost that is 0 but for it (inferred)",
        "gerry_fair",
    ),
    Cause(
        "the solver of logistic regression stops unconverged, where the last bits of sums have "
        "grown to a few test rows; thresholds chosen on the scores follow them (inferred)",
        models=("lr",),
        datasets=("adult", "compas", "bank", "meps"),
    ),
)
"""The first that covers a cell is its cause."""
