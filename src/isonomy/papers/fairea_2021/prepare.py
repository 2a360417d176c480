"""What Fairea's study learned from and with: preparation, splitter and learners ``fairea``.

References
----------
Hort, M., Zhang, J. M., Sarro, F. and Harman, M. (2021). Fairea. ESEC/FSE 2021.
"""

from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from isonomy.data.aif360 import aif360_frame
from isonomy.data.prepare import PREPARATIONS, Preparation
from isonomy.data.splits import SPLITTERS
from isonomy.models import RECIPES, LegacyLogisticRegression

PREPARATIONS.add("fairea", Preparation("fairea", aif360_frame, scale="standard", one_table=True))

SPLITTERS.add_alias("fairea", "aif360")

RECIPES.add(
    "fairea",
    {
        "lr": lambda seed: LegacyLogisticRegression(random_state=seed),
        "dt": lambda seed: DecisionTreeClassifier(random_state=seed),
        # Platt's scores next to the margin's labels, as SVC(probability=True) gave them: see
        # with_scores, which adds them without the deprecated switch.
        "svm": lambda seed: SVC(random_state=seed),
    },
)
