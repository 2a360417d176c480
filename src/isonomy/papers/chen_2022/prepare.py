"""What the study of Chen et al. learned from and with: preparation, splitter and learners ``chen``.

References
----------
Chen, Z., Zhang, J. M., Sarro, F. and Harman, M. (2023). A comprehensive empirical study of bias
mitigation methods for machine learning classifiers. TOSEM 32(4).
"""

from math import ceil

from sklearn.svm import LinearSVC

from isonomy.data.aif360 import aif360_frame
from isonomy.data.prepare import PREPARATIONS, Preparation
from isonomy.data.splits import SPLITTERS, Parts, legacy_order
from isonomy.models import RECIPES, LegacyLogisticRegression, network_factory
from isonomy.papers.chen_2022.forest import LegacyRandomForest

PREPARATIONS.add("chen", Preparation("chen", aif360_frame, scale="minmax", one_table=True))


@SPLITTERS.register("chen")
def _first_part_is_test(n: int, name: str, seed: int, repeat: int) -> Parts:
    """Split as scikit-learn's ``train_test_split`` after ``np.random.seed(repeat)``."""
    order = legacy_order(n, seed + repeat)
    cut = ceil(0.3 * n)
    return order[cut:], order[:cut], None


# The data are scaled when they are prepared; settings are scikit-learn's. The machine was fitted in
# its dual when the study ran; today's default is the primal, which stops elsewhere: a test row or
# two of some runs differ, and which runs depends on the processor.
RECIPES.add(
    "chen",
    {
        "lr": lambda seed: LegacyLogisticRegression(random_state=seed),
        "rf": lambda seed: LegacyRandomForest(random_state=seed),
        "svm": lambda seed: LinearSVC(dual=True, random_state=seed),
        **{name: network_factory(name, scaled=False) for name in ("dl", "dl2", "dl3", "dl4")},
    },
)
