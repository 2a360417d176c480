"""The random forest of the study: one that counts rows drawn, and then weighs them."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from isonomy._validate import check_weight


class LegacyRandomForest(RandomForestClassifier):  # type: ignore[misc]
    """A random forest as scikit-learn fitted it when the study ran.

    Each tree's rows were drawn with equal chances and the weight of a row was multiplied by how
    often it was drawn. Today's forest draws rows in proportion to their weights instead, and fits
    the trees without. Without weights the two are the same; after reweighing they are not.

    Examples
    --------
    >>> rows, labels = [[0.0], [1.0]] * 20, [0, 1] * 20
    >>> model = LegacyRandomForest(n_estimators=5, random_state=0).fit(rows, labels, [1, 2] * 20)
    >>> model.predict([[0.0], [1.0]]).tolist()
    [0, 1]
    """

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the trees; weights multiply the counts of the bootstrap."""
        if sample_weight is None:
            return super().fit(X, y)  # type: ignore[no-any-return]
        X, y = validate_data(self, X, y, dtype=np.float32)
        weight, n = check_weight(sample_weight), len(X)
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.n_classes_, self.n_outputs_ = len(self.classes_), 1
        shape = {
            name: getattr(self, name) for name in self.estimator_params if name != "random_state"
        }
        stream = check_random_state(self.random_state)
        seeds = [stream.randint(np.iinfo(np.int32).max) for _ in range(self.n_estimators)]
        self.estimators_ = []
        for seed in seeds:
            drawn = np.bincount(np.random.RandomState(seed).randint(0, n, n), minlength=n)
            tree = DecisionTreeClassifier(**shape, random_state=seed)
            tree.fit(X, codes.astype(np.float64), weight * drawn, check_input=False)
            self.estimators_.append(tree)
        return self
