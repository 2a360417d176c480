"""Optimized pre-processing (Calmon et al., 2017): the least change that brings parity."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog
from sklearn.base import BaseEstimator
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils import check_random_state

from isonomy._arrays import Floats
from isonomy._tables import column_names, get_column, numeric_columns, set_columns
from isonomy._validate import check_choice, listed
from isonomy.errors import InputError, NotApplicable
from isonomy.mitigators._distortion import ADULT, COMPAS, GERMAN, Costs, Distortion
from isonomy.mitigators._inputs import find_columns
from isonomy.mitigators.base import MITIGATORS, TrainingSet, Vector, Weights
from isonomy.mitigators.stages import PreProcessor

MOST_VARIABLES = 2_000_000


@MITIGATORS.register("optimized_preprocessing", aliases=("op",))
class OptimizedPreprocessing(PreProcessor):
    r"""Rewrites coarse features and labels at random, as little as parity of the labels allows.

    Every combination of group, features and label gets the probabilities with which its rows
    become other combinations. They are the solution of a linear program: change the joint
    distribution of features and label least (in total variation), such that (1) rows of a
    combination that are changed by a distortion of at least ``clist[k]`` are at most the share
    ``dlist[k]`` and (2) the rate of favourable labels differs between any two groups by at most
    ``epsilon``. Only for few, coarse columns: all combinations of their values are enumerated.
    The rows to be predicted are not rewritten, so the protected attribute is not needed then.

    Notes
    -----
    **Protocols**

    ==========  =================================  ============================================
    what        as_published                       corrected
    ==========  =================================  ============================================
    drawing     each row by itself                 in shares: a combination's rows are dealt
                                                   out so that counts are as probable to
                                                   within one row
    weights     ignored                            used
    ==========  =================================  ============================================

    The optimum is not unique, so that results depend on the solver where the published ones did
    too; the value of the optimum is the same.

    Parameters
    ----------
    estimator : classifier, optional
        The base learner; one-hot coded logistic regression when None.
    privileged, favorable, sensitive_columns, protocol, random_state
        See ``BaseMitigator``.
    columns : list of names or positions, optional
        The coarse columns; when None, all but the protected. Columns not named stay as they are.
    distortion : Distortion or callable, optional
        The price of changes. A callable takes two mappings of column name (and ``"label"``) to
        arrays that broadcast against each other, old and new, and returns the costs.
    epsilon : float
        Largest difference in rates.
    clist, dlist : sequence of float
        Distortions, and the share of a combination's rows that may be changed by so much.

    Attributes
    ----------
    levels_ : list of list
        The values of each coarse column.
    mapping_ : array of shape (groups, combinations, combinations)
        The probabilities; a combination counts the columns' levels, the last fastest, then the
        label.
    objective_ : float
        Total variation between old and new joint distribution.

    References
    ----------
    F. Calmon, D. Wei, B. Vinzamuri, K. N. Ramamurthy, K. Varshney, "Optimized pre-processing for
    discrimination prevention", NeurIPS 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from isonomy.mitigators import OptimizedPreprocessing
    >>> rng = np.random.default_rng(0)
    >>> s, skill = rng.integers(0, 2, 400), rng.integers(0, 3, 400)
    >>> y = (skill + s + rng.random(400) > 2).astype(int)
    >>> method = OptimizedPreprocessing(sensitive_columns=0, epsilon=0.2)
    >>> X, new, *_ = method.resample(np.c_[s, skill], y, s)
    >>> gap = lambda label: abs(label[s == 1].mean() - label[s == 0].mean())
    >>> bool(gap(y) > 0.25), bool(gap(new) < 0.21)
    (True, True)
    """

    label = "OP"
    advice = "A few coarse columns whose changes you can price; rewrites labels too."
    reference = "Calmon et al., NeurIPS 2017"
    aims: ClassVar = {"demographic_parity": {}}
    strength_values: ClassVar = {"epsilon": (0.2, 0.1, 0.05, 0.02)}
    transform_uses_estimator = False
    takes_frame = True
    dataset_options: ClassVar = {"distortion": {"adult": ADULT, "compas": COMPAS, "german": GERMAN}}
    randomized = True
    multi_group = True

    columns: Any = None
    distortion: Distortion | Callable[..., Any] | None = None
    epsilon: float = 0.05
    clist: Sequence[float] = (0.99, 1.99, 2.99)
    dlist: Sequence[float] = (0.1, 0.05, 0.0)

    def resample(self, X: Any, y: Vector, s: Vector, w: Weights = None) -> TrainingSet:
        """Solve the program and rewrite the rows."""
        if len(self.clist) != len(self.dlist):
            raise InputError(
                f"clist and dlist must be of one length; got {len(self.clist)} and "
                f"{len(self.dlist)}."
            )
        self.coarse_columns_ = self._coarse(X)
        words = set(range(X.shape[1])) - set(numeric_columns(X))
        self._categories = [*self.coarse_columns_, *sorted(words - set(self.coarse_columns_))]
        codes = self._learn_levels(X)
        sizes = [len(levels) for levels in self.levels_]
        cell = np.ravel_multi_index((*codes, y), (*sizes, 2))
        groups, cells = int(s.max()) + 1, 2 * int(np.prod(sizes))
        counts = np.bincount(s * cells + cell, None if self.published else w, groups * cells)
        self.mapping_, self.objective_ = optimal_mapping(
            counts.reshape(groups, cells),
            self._distortion(),
            epsilon=self.epsilon,
            clist=self.clist,
            dlist=self.dlist,
        )
        rng = check_random_state(self.random_state)
        row = s * cells + cell
        draw = rng.random_sample(len(y)) if self.published else _deal(row, rng)
        new = _draw(self.mapping_.reshape(groups * cells, cells), row, draw)
        *features, label = np.unravel_index(new, (*sizes, 2))
        return self._write(X, features), label, s, w

    def _coarse(self, X: Any) -> tuple[int, ...]:
        protected = self._positions(X)
        if self.columns is None:
            result = tuple(j for j in range(X.shape[1]) if j not in protected)
        else:
            result = find_columns(X, self.columns, ())
            both = set(result) & set(protected)
            if both:
                raise InputError(
                    f"columns must not name the protected ones; got position(s) {listed(both)}."
                )
        if not result:
            raise InputError("optimized_preprocessing needs a coarse column besides the protected.")
        return result

    def _learn_levels(self, X: Any) -> list[Vector]:
        """Return each column's values numbers, by its cost table where it has one."""
        known = column_names(X)
        self._names = [str(j if known is None else known[j]) for j in self.coarse_columns_]
        tables = self.distortion.columns if isinstance(self.distortion, Distortion) else {}
        self.levels_, codes = [], []
        for position, name in zip(self.coarse_columns_, self._names, strict=True):
            values = np.asarray(get_column(X, position))
            if name in tables:
                levels = list(tables[name].levels)
                result = pd.Index(levels).get_indexer(pd.Index(values))
                if (result < 0).any():
                    words = pd.Index([str(v) for v in levels])
                    result = words.get_indexer(pd.Index([str(v) for v in values]))
                if (result < 0).any():
                    strange = pd.unique(values[result < 0])
                    raise InputError(
                        f"Column {name!r} must hold the levels of its cost table "
                        f"({listed(levels)}); got {listed(strange)}."
                    )
            else:
                result, unique = pd.factorize(values, sort=True)
                if (result < 0).any():
                    raise NotApplicable(
                        f"Optimized pre-processing enumerates the values of its columns; {name!r} "
                        f"has missing ones: fill them first, or name other columns=."
                    )
                levels = unique.tolist()
            self.levels_.append(levels)
            codes.append(result)
        combinations = int(np.prod([len(levels) for levels in self.levels_], dtype=float))
        if combinations > 1000:
            raise NotApplicable(
                f"optimized_preprocessing enumerates all combinations of the columns' values and "
                f"there are {combinations:,} (at most 1,000): name few, coarse columns with "
                f"columns=..., and cut numbers into classes (pandas.cut)."
            )
        return codes

    def _distortion(self) -> Floats:
        """Price every change of one combination into another."""
        sizes = [len(levels) for levels in self.levels_]
        where = np.unravel_index(np.arange(2 * int(np.prod(sizes))), (*sizes, 2))
        if self.distortion is not None and not isinstance(self.distortion, Distortion):
            names = [*self._names, "label"]
            values = [np.asarray(v)[c] for v, c in zip(self.levels_, where, strict=False)]
            values.append(where[-1])
            old = {n: v[:, None] for n, v in zip(names, values, strict=True)}
            new = {n: v[None, :] for n, v in zip(names, values, strict=True)}
            return np.asarray(self.distortion(old, new), dtype=np.float64)
        spec = self.distortion or Distortion()
        check_choice("way to combine", spec.combine, ("sum", "max"))
        tables = [np.asarray(spec.label), *map(partial(_table, spec), self._names, self.levels_)]
        codes = [where[-1], *where[:-1]]
        costs = [t[np.ix_(c, c)] for t, c in zip(tables, codes, strict=True)]
        return np.asarray((np.sum if spec.combine == "sum" else np.max)(costs, axis=0))

    def _write(self, X: Any, features: list[Vector]) -> Any:
        columns: list[Any] = []
        for position, levels, codes in zip(
            self.coarse_columns_, self.levels_, features, strict=True
        ):
            old = X.iloc[:, position].dtype if isinstance(X, pd.DataFrame) else None
            if isinstance(old, pd.CategoricalDtype):
                kind = pd.CategoricalDtype(levels, ordered=old.ordered)
                columns.append(pd.Categorical.from_codes(codes, dtype=kind))
            else:
                columns.append(np.asarray(levels)[codes])
        changed = dict(zip(self.coarse_columns_, columns, strict=True))
        return set_columns(X, changed, keep_types=False)

    def base_learner(self) -> BaseEstimator:
        """Return the unfitted base learner; by default a logistic regression of one-hot codes."""
        if self.estimator is not None:
            return super().base_learner()
        names = getattr(self, "feature_names_in_", None)
        coarse = [j if names is None else names[j] for j in self._categories]
        one_hot = OneHotEncoder(handle_unknown="ignore")
        return make_pipeline(
            make_column_transformer((one_hot, coarse), remainder="passthrough"),
            LogisticRegression(max_iter=1000),
        )


def _table(spec: Distortion, name: str, levels: list[Any]) -> Floats:
    if name in spec.columns:
        return np.asarray(spec.columns[name].table, dtype=np.float64)
    if spec.other is None and all(isinstance(v, int | float) for v in levels):
        return np.asarray(Costs.ranked(*levels).table, dtype=np.float64)
    return np.where(np.eye(len(levels)) == 1, 0.0, 2.0 if spec.other is None else spec.other)


def _deal(row: Vector, rng: np.random.RandomState) -> Floats:
    """Return evenly spread draws within each combination, in random order."""
    order = np.lexsort((rng.random_sample(len(row)), row))
    result, start, count = np.unique(row[order], return_index=True, return_counts=True)
    rank = np.arange(len(row)) - np.repeat(start, count)
    draws = np.empty(len(row))
    draws[order] = (rank + np.repeat(rng.random_sample(len(result)), count)) / np.repeat(
        count, count
    )
    return draws


def _draw(mapping: Floats, row: Vector, draw: Floats) -> Vector:
    """Invert the distribution function of each row's combination, all rows at once."""
    edges = np.cumsum(mapping, axis=1)
    edges /= edges[:, -1:]
    k = mapping.shape[1]
    flat = (edges + np.arange(len(edges))[:, None]).ravel()
    # Two draws' width below the next combination's edges, so that rounding cannot cross over.
    result = np.searchsorted(flat, row + np.minimum(draw, 1.0 - 1e-12), side="right") - row * k
    return np.asarray(np.minimum(result, k - 1))


def optimal_mapping(
    counts: NDArray[Any],
    distortion: Floats,
    *,
    epsilon: float,
    clist: Sequence[float],
    dlist: Sequence[float],
) -> tuple[Floats, float]:
    """Solve the linear program.

    Parameters
    ----------
    counts : array of shape (groups, combinations)
        Rows per group and combination; odd combinations carry the favourable label.
    distortion : array of shape (combinations, combinations)
        Price of each change.
    epsilon, clist, dlist
        See ``OptimizedPreprocessing``.

    Returns
    -------
    mapping : array of shape (groups, combinations, combinations)
        Probabilities; combinations that do not occur stay as they are.
    objective : float
        Total variation between old and new distribution.

    Examples
    --------
    >>> import numpy as np
    >>> counts = np.array([[60, 40], [40, 60]])
    >>> mapping, change = optimal_mapping(
    ...     counts, 1.0 - np.eye(2), epsilon=0.1, clist=[0.5], dlist=[0.2])
    >>> round(change, 6)
    0.0
    """
    groups, cells = counts.shape
    p = counts / counts.sum()
    joint = p.sum(axis=0)
    group, cell = np.nonzero(p > 0)
    price = p[group, cell]
    # A distortion that no row may suffer is no variable: most of the program goes here.
    forbidden = np.zeros((cells, cells), dtype=bool)
    for c, share in zip(clist, dlist, strict=True):
        if share <= 0:
            forbidden |= distortion >= c
    row, target = np.nonzero(~forbidden[cell])
    n = len(row)
    if n > MOST_VARIABLES:
        raise NotApplicable(
            f"optimized_preprocessing would need {n:,} variables (at most {MOST_VARIABLES:,}): "
            f"name fewer or coarser columns, or forbid more changes with a 0 in dlist."
        )
    variable = np.arange(n)
    mass = price[row]
    # Half the L1 distance of two distributions is what the new one lacks, summed.
    filled = np.flatnonzero(joint > 0)
    slot = np.full(cells, -1)
    slot[filled] = np.arange(len(filled))
    hit = slot[target] >= 0
    places, bounds = [], []

    def require(rows: Vector, columns: Vector, values: Floats, bound: Floats) -> None:
        """Add inequalities: the rows times the variables must not exceed the bound."""
        shape = (len(bound), n + len(filled))
        places.append(sparse.csr_array((values, (rows, columns)), shape=shape))
        bounds.append(bound)

    require(
        np.concatenate([slot[target[hit]], np.arange(len(filled))]),
        np.concatenate([variable[hit], n + np.arange(len(filled))]),
        np.concatenate([-mass[hit], -np.ones(len(filled))]),
        -joint[filled],
    )
    for c, share in zip(clist, dlist, strict=True):
        if share <= 0:
            continue
        far = distortion[cell[row], target] >= c
        old = cell[row[far]]
        require(slot[old], variable[far], mass[far] / joint[old], np.full(len(filled), share))
    first, second = np.triu_indices(groups, 1)
    good = target % 2 == 1
    owner = group[row[good]]
    rate = mass[good] / p.sum(axis=1)[owner]
    pair, member = np.nonzero((first[:, None] == owner) | (second[:, None] == owner))
    for sign in (1.0, -1.0):
        side = np.where(owner[member] == first[pair], sign, -sign)
        values = side * rate[member]
        require(pair, variable[good][member], values, np.full(len(first), epsilon))
    total = sparse.csr_array((np.ones(n), (row, variable)), shape=(len(cell), n + len(filled)))
    solved = linprog(  # type: ignore[call-overload]  # the stubs know dense matrices only
        np.concatenate([np.zeros(n), np.ones(len(filled))]),
        A_ub=sparse.vstack(places, format="csr"),
        b_ub=np.concatenate(bounds),
        A_eq=total,
        b_eq=np.ones(len(cell)),
        bounds=(0, None),
        method="highs-ipm",
    )
    if solved.status == 2:
        raise NotApplicable(
            f"No change within the limits brings the groups' rates to within epsilon={epsilon}: "
            f"allow more with epsilon or dlist, or price changes lower."
        )
    if solved.x is None:
        raise NotApplicable(f"The linear program was not solved: {solved.message}")
    mapping = np.zeros((groups, cells, cells))
    mapping[:] = np.eye(cells)
    mapping[group, cell] = 0.0
    # What the solver leaves below 1e-8 is noise, in the reference too.
    mapping[group[row], cell[row], target] = np.where(solved.x[:n] < 1e-8, 0.0, solved.x[:n])
    mapping /= mapping.sum(axis=2, keepdims=True)
    return mapping, float(solved.fun)
