"""Why some of our runs do not equal the authors' in every digit, as far as it was found out.

What is said of older libraries was tried with them: scikit-learn 0.24.2 and NumPy 1.21.6 on
Python 3.7, the split and the stream of random numbers being ours. A cause that was inferred from
the published code and not tried says so.
"""

from isonomy.papers.causes import TENSORFLOW
from isonomy.papers.cells import Cause

CAUSES = (
    TENSORFLOW,
    Cause(
        "the networks' first weights and the order of their rows were not seeded",
        models=("dl", "dl2", "dl3", "dl4"),
    ),
    Cause(
        "parents and values are drawn from Python's module random, which the study did not seed",
        "fair_smote",
    ),
    Cause(
        "settings to try are drawn from Python's module random, which the study did not seed; runs "
        "are equal where the winners predict alike",
        "fairway",
    ),
    Cause(
        "the linear program has many optima, and rows are drawn from the one that a solver ends in: "
        "another solver, another optimum (inferred, not tried with the study's)",
        "optimized_preprocessing",
    ),
    Cause(
        "points are drawn along singular vectors of a singular matrix, and how large the rounding "
        "errors are that stand for its zeros decides their signs: with the dgesdd of NumPy 1.21.6 "
        "(OpenBLAS 0.3.17, Haswell's kernels) all 15 metrics are equal for seeds 0 to 11 of German-sex "
        "and 0 to 9 of Adult-sex, with that of OpenBLAS 0.3.31 for 8 of the 12 by Haswell's kernels "
        "(OPENBLAS_CORETYPE=Haswell; Adult 10 of 10) and 5 by those for AVX-512; errors drawn at "
        "random give several patterns of signs per seed, so no convention brings the others back",
        "meta_fair_classifier",
    ),
    Cause(
        "weights are no binary fractions, and the last bits of their sums decide between columns "
        "that split alike, and whether a pure leaf is split on: with the trees of scikit-learn "
        "0.23 and 0.24 accuracy and SPD on German-sex are equal for seeds 0 to 2; with weights rounded to binary fractions "
        "the trees of 0.22, 0.24, 1.0 and 1.9 are the same",
        "reweighing",
        models=("rf",),
    ),
    Cause(
        "the transform leaves rows that differ in the last digits only, where rounding decides how "
        "trees split them (inferred)",
        "learning_fair_representations",
        models=("rf",),
    ),
    Cause(
        "the solver of logistic regression stops unconverged, where the last bits of sums have "
        "grown to a few test rows; thresholds chosen on the scores follow them (inferred)",
        models=("lr",),
        datasets=("adult", "bank", "meps", "compas"),
    ),
)
"""The first that covers a cell is its cause."""
