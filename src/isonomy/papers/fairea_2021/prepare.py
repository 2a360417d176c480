"""What Fairea's study learned from and with: preparation, splitter and learners ``fairea``.

References
----------
Hort, M., Zhang, J. M., Sarro, F. and Harman, M. (2021). Fairea. ESEC/FSE 2021.
"""

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from isonomy.data.aif360 import aif360_frame
from isonomy.data.prepare import PREPARATIONS, Preparation
from isonomy.data.splits import SPLITTERS
from isonomy.models import RECIPES, LegacyLogisticRegression

PREPARATIONS.add("fairea", Preparation("fairea", aif360_frame, scale="standard", one_table=True))

SPLITTERS.add_alias("fairea", "aif360")


class PlattSVC(SVC):  # type: ignore[misc]
    """The study's support vector machine: labels of the margin beside Platt's scores.

    libsvm makes the scores by folds of its own, which no calibration from outside repeats;
    ``probability`` is the deprecated switch for them.

    Examples
    --------
    >>> model = PlattSVC(random_state=0).fit([[0.0], [1.0]] * 10, [0, 1] * 10)
    >>> model.predict_proba([[2.0]]).shape
    (1, 2)
    """

    def __init__(
        self, *, gamma: Any = "scale", probability: bool = True, random_state: Any = None
    ) -> None:
        super().__init__(gamma=gamma, probability=probability, random_state=random_state)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the margin and the scores."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The `probability` parameter", FutureWarning)
            return super().fit(X, y, sample_weight)  # type: ignore[no-any-return]


class LenientTree(DecisionTreeClassifier):  # type: ignore[misc]
    """A decision tree that gives the favourable label where a leaf is divided evenly.

    A tree answers the first of its labels then, and the study's first label was the favourable
    one on COMPAS (0) and German (1), where ours is 1 and comes last.

    Examples
    --------
    >>> LenientTree().fit([[0.0], [0.0]], [0, 1]).predict([[0.0]]).tolist()
    [1]
    """

    def predict(self, X: Any, check_input: bool = True) -> NDArray[Any]:
        """Return the likelier label, the last one if they are alike."""
        share = np.asarray(self.predict_proba(X, check_input))[:, ::-1]
        labels: NDArray[Any] = self.classes_[::-1][share.argmax(axis=1)]
        return labels


RECIPES.add(
    "fairea",
    {
        "lr": lambda seed: LegacyLogisticRegression(random_state=seed),
        "dt": lambda seed: DecisionTreeClassifier(random_state=seed),
        "dt_lenient": lambda seed: LenientTree(random_state=seed),
        "svm": lambda seed: PlattSVC(random_state=seed),
        "svm_auto": lambda seed: PlattSVC(gamma="auto", random_state=seed),
    },
)
