"""MAAT (Chen et al., 2022): a performance model and a fairness model decide together."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from isonomy._arrays import Floats
from isonomy._validate import make_rng
from isonomy.errors import InputError, NotApplicable
from isonomy.mitigators._post import check_cells
from isonomy.mitigators.base import MITIGATORS, BaseMitigator, Vector, Weights
from isonomy.models import fit_model, with_scores


def wae_removed(counts: Any) -> Floats:
    r"""Return how many rows of each cell to remove so that all groups have one favourable rate.

    Every group loses the same share of its rows, :math:`p_{max} - p_{min}`, the difference between
    the largest and the smallest favourable rate: group :math:`g` of :math:`n_g` rows and rate
    :math:`p_g` loses :math:`(p_g - p_{min}) n_g` favourable and :math:`(p_{max} - p_g) n_g`
    unfavourable ones. For two groups this is the smaller root of the quadratic equation in the
    released code.

    Parameters
    ----------
    counts : array of shape (groups, 2)
        Rows, or their weights, by group; the second column is the favourable label.

    Returns
    -------
    array of shape (groups, 2)
        What to remove, not rounded.

    Examples
    --------
    >>> import numpy as np
    >>> removed = wae_removed([[10000, 1200], [14000, 6500]])
    >>> removed.round(2).tolist()
    [[2351.22, 0.0], [0.0, 4303.57]]
    """
    n = np.asarray(counts, dtype=np.float64)
    total = n.sum(axis=1)
    rate = n[:, 1] / total
    return np.column_stack([(rate.max() - rate) * total, (rate - rate.min()) * total])


@MITIGATORS.register("maat")
class Maat(BaseMitigator):
    r"""Averages a model of the data as they are with a model of a sample where groups are even.

    The *performance model* is fitted on all training rows. The *fairness model* is fitted on a
    sample in which every group has the same favourable rate ("we're all equal"): favourable rows
    of the better-off group and unfavourable rows of the worse-off one are left out at random, the
    same share of every group. The favourable label is predicted where the weighted mean of the
    two probabilities is at least 0.5.

    With several protected attributes there is one fairness model for each, and all models weigh
    the same. A learner without probabilities is calibrated.

    Parameters
    ----------
    estimator : classifier, optional
        The base learner of all models; a scaled logistic regression when None.
    weight : float in [0, 1], optional
        The weight of the performance model; the fairness models share the rest. When None, all
        models weigh the same.
    privileged, favorable, sensitive_columns, protocol, random_state
        As in every mitigator.

    Notes
    -----
    **Protocols**

    ============  ======================================  =======================================
    what          as_published                            corrected
    ============  ======================================  =======================================
    direction     the privileged group is taken to be     read from the data, any number of
                  better off; refused where it is not     groups
                  (the released code then crashes)
    sizes         cut to whole rows                       rounded
    draws         from a RandomState as the released      NumPy's generator
                  code draws: its runs can be replayed
    scaling       a MinMax scaler before each model       as the base learner has it
    ============  ======================================  =======================================

    ``sample_weight`` counts in the rates and goes to the fits.

    Attributes
    ----------
    estimators_ : list
        The performance model, then a fairness model for each attribute.
    weights_ : array
        Their weights.
    samples_ : list of array of int
        The training rows of each fairness model.

    References
    ----------
    Z. Chen, J. M. Zhang, F. Sarro and M. Harman, "MAAT: a novel ensemble approach to addressing
    fairness and performance bugs for machine learning software", ESEC/FSE 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from isonomy.mitigators import Maat
    >>> rng = np.random.default_rng(0)
    >>> s = np.arange(400) % 2
    >>> X = np.column_stack([s, rng.normal(size=400)])
    >>> y = (X[:, 1] + s > 0.5).astype(int)
    >>> model = Maat().fit(X, y, sensitive_features=s)
    >>> even = model.samples_[0]
    >>> [round(float(y[even][s[even] == g].mean()), 2) for g in (0, 1)]
    [0.48, 0.48]
    """

    stage = "ensemble"
    label = "MAAT"
    advice = "A middle way between the data and even rates, set by one weight."
    reference = "Chen et al., ESEC/FSE 2022"
    aims: ClassVar = {"demographic_parity": {}}
    strength_values: ClassVar = {"weight": (0.5, 0.25, 0.0)}
    cheap_to_tune = True
    free_after_fit = ("weight",)
    randomized = True
    several = (
        "one fairness model for each attribute, learnt where its own groups are even; "
        "all models weigh the same"
    )
    multi_group = True
    version = "2"  # as published, rows are drawn as the released code draws them
    corrected_version = "1"

    weight: float | None = None

    def _fit(self, X: Any, y: Vector, s: Vector, w: Weights) -> None:
        if self.weight is not None and not 0 <= self.weight <= 1:
            raise InputError(f"weight must lie between 0 and 1; got {self.weight}.")
        model = with_scores(self.base_learner())
        if self.published:
            model = make_pipeline(MinMaxScaler(), model)
        stream = self.random_state
        replayed = self.published and isinstance(stream, np.random.RandomState)
        rng = stream if replayed else make_rng(stream)
        self.samples_ = [
            self._even_sample(y, codes, names, w, rng) for codes, names in self._attributes(s)
        ]
        self.estimators_ = [fit_model(model, X, self.decode(y), w)]
        self.estimators_ += [self.fit_rows(model, X, y, w, rows) for rows in self.samples_]

    @property
    def weights_(self) -> Floats:
        """The weights of the models, which follow ``weight`` without another fit."""
        fairness = len(self.samples_)
        first = 1 / (1 + fairness) if self.weight is None else self.weight
        return np.array([first, *[(1 - first) / fairness] * fairness])

    def _attributes(self, s: Vector) -> list[tuple[Vector, list[Any]]]:
        """Return each attribute's own groups: their numbers by row, and their names."""
        if len(self._encoder.names) == 1:
            return [(s, list(self.groups_))]
        attributes = []
        for values in zip(*self.groups_, strict=True):
            names = list(dict.fromkeys(values))
            if len(names) > 1:
                attributes.append((np.array([names.index(v) for v in values])[s], names))
        return attributes

    def _even_sample(
        self,
        y: Vector,
        s: Vector,
        names: list[Any],
        w: Weights,
        rng: np.random.Generator | np.random.RandomState,
    ) -> NDArray[np.intp]:
        """Draw the rows on which every group has the same favourable rate.

        From NumPy's old stream they are drawn and laid as the released code does: by label, then by
        group, and whole cells without a draw.
        """
        size = 2 * len(names)
        cell = s * 2 + y
        counts = np.bincount(cell, minlength=size)
        weight = np.bincount(cell, w, size).reshape(-1, 2).astype(np.float64)
        rows = counts.reshape(-1, 2).sum(axis=1)
        check_cells(weight, names, who=self.name, rows=rows, kind=NotApplicable)
        removed = wae_removed(weight)
        two = len(names) == 2 and len(self._encoder.names) == 1
        if self.published and two and removed[1, 0] > 0:
            raise NotApplicable(
                f"{self.name} as published takes the privileged group to be better off; "
                f"{names[1]!r} is not: use protocol='corrected'."
            )
        left = counts * (1 - (removed / weight).ravel())
        # A count that is whole but for rounding error must not lose a row to the cut.
        sizes = np.floor(left + 1e-9) if self.published else np.rint(left)
        replayed = isinstance(rng, np.random.RandomState)
        order = [*range(0, size, 2), *range(1, size, 2)] if replayed else range(size)
        kept = []
        for c in order:
            rows_of = np.flatnonzero(cell == c)
            if replayed and removed.ravel()[c] <= 0:
                kept.append(rows_of)
            elif counts[c]:
                kept.append(rows_of[rng.permutation(len(rows_of))][: int(sizes[c])])
        found = np.concatenate(kept)
        return found if replayed else np.sort(found)

    def _scores(self, X: Any) -> Floats:
        every = np.array([self._favorable_scores(model, X) for model in self.estimators_])
        return np.asarray(np.clip(self.weights_ @ every, 0.0, 1.0))

    def _predict(self, X: Any, s: Vector | None) -> Vector:
        return self.decode((self._scores(X) >= 0.5).astype(np.intp))

    def _predict_proba(self, X: Any, s: Vector | None) -> Floats:
        return self._two_columns(self._scores(X))
