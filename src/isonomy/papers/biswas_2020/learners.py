"""What the forty models are built of beyond scikit-learn: boosted trees, and a search over forests."""

import warnings
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import accuracy_score, precision_score, recall_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import check_random_state

from isonomy._arrays import Floats
from isonomy._validate import check_choice, optional
from isonomy.errors import InputError

HELD_OUT = 0.2
"""Share of the training rows that early stopping looks at where it is given no others."""

# What the libraries did by default in early 2020 and do otherwise today.
_XGBOOST = {
    "n_estimators": 100,
    "max_depth": 3,
    "learning_rate": 0.1,
    "base_score": 0.5,
    "eval_metric": "error",
    # cuts halfway between two values; those of histograms are at the values themselves, and rows
    # standardised by means of their own (BM1) fall on the wrong side of them
    "tree_method": "exact",
}
_LIBRARIES = {
    "xgboost": "XGBClassifier",
    "lightgbm": "LGBMClassifier",
    "catboost": "CatBoostClassifier",
}
_QUIET: dict[str, dict[str, Any]] = {
    "xgboost": {"n_jobs": 1, "verbosity": 0},
    "lightgbm": {"n_jobs": 1, "verbosity": -1, "deterministic": True, "force_col_wise": True},
    "catboost": {"thread_count": 1, "verbose": False, "allow_writing_files": False},
}
_TREES = {"xgboost": "n_estimators", "lightgbm": "n_estimators", "catboost": "iterations"}


class Boosted(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Boosted trees of another library, imported when they are fitted.

    Parameters
    ----------
    library : {"xgboost", "lightgbm", "catboost"}
        Whose trees; all come with the extra ``boost``.
    parameters : mapping, optional
        Arguments of the library's classifier. ``scale_pos_weight="balance"`` is the share of
        unfavourable labels among the training rows.
    stop : int, optional
        Rounds without progress after which no tree is added: on the rows given as ``watched``, else
        on a fifth of the training rows, held out.
    smote : bool
        Whether the trees are counted on training rows brought to balance by :func:`smote`; the model
        itself is then fitted on the rows as they are.
    random_state : int

    Attributes
    ----------
    model_ : estimator
        The library's own classifier, fitted.
    n_trees_ : int
        How many trees it has.

    Examples
    --------
    >>> Boosted("xgboost", {"max_depth": 4}).get_params()["stop"] is None
    True
    """

    def __init__(
        self,
        library: str = "xgboost",
        parameters: Mapping[str, Any] | None = None,
        *,
        stop: int | None = None,
        smote: bool = False,
        random_state: int = 0,
    ) -> None:
        self.library = library
        self.parameters = parameters
        self.stop = stop
        self.smote = smote
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        *,
        watched: tuple[Any, Any] | None = None,
    ) -> Self:
        """Fit the trees, and where asked to, count first how many are worth having."""
        X = np.asarray(X, dtype=np.float64)
        weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        self.classes_, y = np.unique(np.asarray(y), return_inverse=True)
        if watched is not None:
            watched = (watched[0], np.searchsorted(self.classes_, watched[1]))
        balance = 1.0 - float(np.mean(y))
        self.n_features_in_ = X.shape[1]
        if self.stop is None:
            self.model_ = self._make(balance).fit(X, y, sample_weight=weight)
        elif watched is not None and not self.smote:
            self.model_ = self._stopped(X, y, weight, watched, balance)
        else:
            fit_on = (X, y, weight)
            if watched is None:
                part = np.arange(len(y))
                kept, held = train_test_split(
                    part, test_size=HELD_OUT, stratify=y, random_state=self.random_state
                )
                fit_on = (X[kept], y[kept], None if weight is None else weight[kept])
                watched = (X[held], y[held])
            if self.smote:
                fit_on = (*smote(*fit_on[:2], random_state=self.random_state), None)
            best = _count(self._stopped(*fit_on, watched, balance))
            self.model_ = self._make(balance, best).fit(X, y, sample_weight=weight)
        self.n_trees_ = _count(self.model_)
        return self

    def settled(self) -> "Boosted":
        """Return the learner, unfitted, as the studies' scripts fitted it again.

        XGBoost's kept predicting with the number of trees that was found first; CatBoost's started
        anew with all of its trees; LightGBM's was stopped again.
        """
        if self.stop is None or self.library == "lightgbm":
            same: Boosted = clone(self)
            return same
        parameters = dict(self.parameters or {})
        if self.library == "xgboost":
            parameters["n_estimators"] = self.n_trees_
        return Boosted(self.library, parameters, random_state=self.random_state)

    def _make(self, balance: float, trees: int | None = None, **more: Any) -> Any:
        check_choice("library of boosted trees", self.library, list(_LIBRARIES))
        module = optional(self.library, extra="boost", purpose="This model")
        own = dict(_XGBOOST) if self.library == "xgboost" else {}
        settings = own | dict(self.parameters or {}) | _QUIET[self.library]
        if settings.get("scale_pos_weight") == "balance":
            settings["scale_pos_weight"] = balance
        if trees is not None:
            settings[_TREES[self.library]] = trees
        seed = "random_seed" if self.library == "catboost" else "random_state"
        return getattr(module, _LIBRARIES[self.library])(
            **settings | more, **{seed: self.random_state}
        )

    def _stopped(
        self,
        X: Floats,
        y: NDArray[Any],
        weight: Floats | None,
        watched: tuple[Any, Any],
        balance: float,
    ) -> Any:
        """Fit with an eye on other rows, keeping the trees up to the best of them."""
        if self.library == "xgboost":
            model = self._make(balance, early_stopping_rounds=self.stop)
            return model.fit(X, y, sample_weight=weight, eval_set=[watched], verbose=False)
        if self.library == "catboost":
            model = self._make(balance, eval_metric="AUC", od_type="Iter", od_wait=self.stop)
            return model.fit(X, y, sample_weight=weight, eval_set=watched, use_best_model=True)
        lightgbm = optional("lightgbm", extra="boost", purpose="This model")
        stop = lightgbm.early_stopping(self.stop, verbose=False)
        model = self._make(balance, metric="auc")  # otherwise the log loss stops it, too
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # eval_set has another name from 4.7 on
            return model.fit(
                X, y, sample_weight=weight, eval_set=[watched], eval_metric="auc", callbacks=[stop]
            )

    def predict_proba(self, X: Any) -> Floats:
        """Return each class's probability."""
        return np.asarray(
            self.model_.predict_proba(np.asarray(X, dtype=np.float64)), dtype=np.float64
        )

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the likelier class."""
        labels: NDArray[Any] = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return labels


def _count(model: Any) -> int:
    """Return how many trees a fitted model of one of the libraries predicts with."""
    if hasattr(model, "tree_count_"):
        return int(model.tree_count_)
    if hasattr(model, "best_iteration_"):
        return int(model.best_iteration_ or model.n_estimators)
    best = getattr(model, "best_iteration", None) if model.early_stopping_rounds else None
    return int(model.n_estimators if best is None else best + 1)


def smote(
    X: Floats, y: NDArray[Any], *, neighbours: int = 5, random_state: Any = 0
) -> tuple[Floats, NDArray[Any]]:
    """Add rows between neighbours of the rarer class until both classes are equally large.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [10.0], [20.0]])
    >>> more, labels = smote(X, np.array([0, 0, 0, 0, 1, 1]), neighbours=1)
    >>> np.bincount(labels).tolist(), bool((more[6:] >= 10).all())
    ([4, 4], True)
    """
    classes, sizes = np.unique(y, return_counts=True)
    if len(classes) != 2 or sizes.min() <= 1:
        raise InputError("SMOTE needs two classes with at least two rows each.")
    rare = np.flatnonzero(y == classes[sizes.argmin()])
    missing = int(sizes.max() - sizes.min())
    rng = np.random.default_rng(random_state)
    k = min(neighbours, len(rare) - 1)
    near = NearestNeighbors(n_neighbors=k).fit(X[rare]).kneighbors(return_distance=False)
    start = rng.integers(len(rare), size=missing)
    end = near[start, rng.integers(k, size=missing)]
    step = rng.random((missing, 1))
    between = X[rare[start]] + step * (X[rare[end]] - X[rare[start]])
    return np.vstack([X, between]), np.append(y, np.full(missing, y[rare[0]]))


_SCORES = {
    "accuracy": lambda y, share: accuracy_score(y, share > 0.5),
    "precision": lambda y, share: precision_score(y, share > 0.5, zero_division=0),
    "recall": lambda y, share: recall_score(y, share > 0.5, zero_division=0),
    "roc_auc": roc_auc_score,
}


class ForestSearch(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A grid search over random forests that grows every tree once.

    A forest's first trees are the smaller forest of the same seed, so for each choice of the other
    parameters one forest is grown in each fold, the largest, and all sizes are scored on it. The
    result is that of scikit-learn's ``GridSearchCV`` with five folds, ties included.

    Parameters
    ----------
    forest : RandomForestClassifier
        What the grid does not say.
    grid : mapping of str to values
        What to try; ``n_estimators`` among them.
    scoring : {"accuracy", "precision", "recall", "roc_auc"}
        Of the favourable label, 1.

    Attributes
    ----------
    best_params_ : dict
    best_score_ : float
    best_estimator_ : RandomForestClassifier
        Fitted on all rows.

    Examples
    --------
    >>> X, y = np.arange(40.0)[:, None], np.repeat([0, 1], 20)
    >>> grid = {"n_estimators": [1, 3], "max_depth": [1, 2]}
    >>> ForestSearch(RandomForestClassifier(random_state=0), grid).fit(X, y).best_params_["max_depth"]
    1
    """

    def __init__(
        self,
        forest: Any = None,
        grid: Mapping[str, Sequence[Any]] | None = None,
        *,
        scoring: str = "accuracy",
    ) -> None:
        self.forest = forest
        self.grid = grid
        self.scoring = scoring

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Search, then fit the best forest on all rows."""
        X, y = np.asarray(X), np.asarray(y)
        grid = {name: list(values) for name, values in (self.grid or {}).items()}
        check_choice("scoring of a forest search", self.scoring, list(_SCORES))
        if "n_estimators" not in grid:
            raise InputError("The grid of a forest search must name n_estimators; it does not.")
        weight = None if sample_weight is None else np.asarray(sample_weight)
        forest = clone(self.forest)
        if forest.random_state is None or not isinstance(forest.random_state, int):
            seed = check_random_state(forest.random_state).randint(2**31 - 1)
            forest.set_params(random_state=int(seed))
        sizes = grid.pop("n_estimators")
        names = sorted(grid)
        folds = list(StratifiedKFold(5).split(X, y))
        scored: dict[tuple[tuple[str, Any], ...], float] = {}
        for values in product(*(grid[name] for name in names)):
            chosen = dict(zip(names, values, strict=True))
            grown = clone(forest).set_params(**chosen, n_estimators=max(sizes))
            each = [self._sizes(grown, X, y, weight, train, test, sizes) for train, test in folds]
            for size, score in zip(sizes, np.mean(each, axis=0), strict=True):
                scored[(*chosen.items(), ("n_estimators", size))] = float(score)
        # the first of the best, in the order of scikit-learn's grid: by name, then as given
        order = sorted([*names, "n_estimators"])
        all_values = grid | {"n_estimators": sizes}
        best = None
        for values in product(*(all_values[name] for name in order)):
            params = dict(zip(order, values, strict=True))
            key = (*((n, params[n]) for n in names), ("n_estimators", params["n_estimators"]))
            if best is None or scored[key] > best[0]:
                best = (scored[key], params)
        assert best is not None
        self.best_score_, self.best_params_ = best
        self.best_estimator_ = clone(forest).set_params(**self.best_params_)
        self.best_estimator_.fit(X, y, sample_weight=weight)
        self.classes_ = self.best_estimator_.classes_
        self.n_features_in_ = X.shape[1]
        return self

    def _sizes(
        self,
        forest: RandomForestClassifier,
        X: Any,
        y: NDArray[Any],
        weight: Floats | None,
        train: NDArray[np.intp],
        test: NDArray[np.intp],
        sizes: Sequence[int],
    ) -> list[float]:
        """Return the score of every size of a forest grown on one fold."""
        grown = clone(forest).fit(
            X[train], y[train], sample_weight=None if weight is None else weight[train]
        )
        rows = np.ascontiguousarray(X[test], dtype=np.float32)
        good = int(np.flatnonzero(grown.classes_ == 1)[0])
        total = np.zeros(len(test))
        wanted, scores = set(sizes), {}
        for count, tree in enumerate(grown.estimators_, 1):
            total += tree.predict_proba(rows, check_input=False)[:, good]
            if count in wanted:
                scores[count] = float(_SCORES[self.scoring](y[test] == 1, total / count))
        return [scores[size] for size in sizes]

    def settled(self) -> RandomForestClassifier:
        """Return the best forest, unfitted."""
        return clone(self.best_estimator_)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the best forest's labels."""
        return np.asarray(self.best_estimator_.predict(X))

    def predict_proba(self, X: Any) -> Floats:
        """Return the best forest's probabilities."""
        return np.asarray(self.best_estimator_.predict_proba(X))
