"""Minimax group fairness (Diana et al., 2021): the worst-off group's error as low as it can be."""

import warnings
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression

from isonomy._arrays import Floats
from isonomy._validate import check_choice, check_least
from isonomy.errors import InputError, NotApplicable, UnmetConstraintWarning
from isonomy.mitigators._mixture import check_scores, favorable_share
from isonomy.mitigators._post import check_cells, uniform
from isonomy.mitigators._refits import Afresh, Refits
from isonomy.mitigators.base import MITIGATORS, Vector, Weights
from isonomy.mitigators.stages import InProcessor
from isonomy.models import fit_steps

ERRORS = ("zero_one", "log_loss", "false_positive", "false_negative")
CLIP = 1e-15  # the reference's, so that no loss is infinite


@MITIGATORS.register("minimax")
class Minimax(InProcessor):
    r"""Fits a mixture of models whose largest group error is as low as the learner allows.

    A game of many rounds: a regulator holds a weight for each group, the learner fits a model on
    rows weighted by their group, and the weights of the groups with larger errors grow,
    :math:`w_g \propto w_g \exp(\eta_t\, \mathrm{err}_g)` with :math:`\eta_t = t^{-1/2}`. The
    mixture of all rounds' models is an approximate solution. Instead of the lowest largest error
    one can ask for the lowest error of all rows under the condition that no group's exceeds
    ``gamma``: the weights are then :math:`p_g + \lambda_g` with the group's share :math:`p_g` and
    :math:`\lambda_g \leftarrow \max(0, \lambda_g + \eta_t(\mathrm{err}_g - \gamma))`.

    Nobody's rates are made equal: a group is only ever made worse off where that helps the
    worst-off one. Do not expect a smaller gap in rates of favourable predictions.

    Parameters
    ----------
    estimator : classifier, optional
        The base learner, a pipeline included; must take ``sample_weight``. The steps of a
        pipeline before its last are fitted once, on all rows.
    gamma : float, optional
        The largest group error allowed; when None the largest error is minimised.
    error : {"zero_one", "log_loss", "false_positive", "false_negative"}
        What counts as error of a group; the last two need ``gamma``, because alone they are
        minimised by one label for all.
    rounds : int, optional
        Rounds of the game, each a fit. When None: 200, and 2,000 under as_published. Name fewer for
        a learner that fits several models itself: calibrated in five folds, 200 are 1,000 fits.
    step, decay : float
        :math:`\eta_t` = ``step`` * t ** -``decay``.
    scores : {"votes", "probabilities"}
        What ``predict_proba`` is the mean of where the error is no log-loss: the models' labels,
        which makes it the probability of the label that ``predict`` draws, or the models' own
        probabilities, which change gradually from row to row. Labels are drawn by the votes either
        way.
    threshold : float
        The game ends early when no row's weight changes by more than this, as in the reference.
    privileged, favorable, sensitive_columns, protocol, random_state
        See ``BaseMitigator``.

    Attributes
    ----------
    models_ : list
        The models of all rounds, in equal parts.
    group_errors_ : array of shape (groups,)
        The expected errors of the mixture on the training rows.
    largest_error_, error_ : float
        The largest of them, and the error of all rows.
    error_path_, weight_path_ : array of shape (rounds, groups)
        Each round's group errors, and the groups' weights that its model was fitted with.

    Notes
    -----
    **Protocols**

    ==============  ======================================  =====================================
    what            as_published                            corrected
    ==============  ======================================  =====================================
    rounds          2,000                                   200; ask for more where it matters
    solver          begins anew in every round              Newton's method for a logistic
                                                            regression, from where the round
                                                            before ended
    row weights     sum to one, so that a learner with a    are one on average, so that a penalty
                    penalty sees little but the penalty     keeps its meaning
    ==============  ======================================  =====================================

    Not replayed: the reference's network grows by a layer each round, its error of all rows is
    that of the second round, and it has no predict. Here the mixture predicts. With ``log_loss``
    ``predict_proba`` is the mean of the models' probabilities and a label says whether it exceeds
    one half; otherwise it is the share of models that say favourable (``scores``), and a label is
    drawn with that probability, because the errors of the game are those of a model drawn at random. Weights
    are honoured; any number of groups.

    References
    ----------
    E. Diana, W. Gill, M. Kearns, K. Kenthapadi and A. Roth, "Minimax group fairness: algorithms
    and experiments", AIES 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from isonomy.mitigators import Minimax
    >>> rng = np.random.default_rng(0)
    >>> group = np.arange(300) % 3 // 2
    >>> x = rng.normal(size=300)
    >>> y = (np.where(group == 1, -x, x) + 0.3 * rng.normal(size=300) > 0).astype(int)
    >>> fair = Minimax(rounds=50).fit(x[:, None], y, sensitive_features=group)
    >>> bool(fair.largest_error_ < fair.error_path_[0].max())
    True
    """

    label = "MiniMax"
    advice = "When no group should be harmed for equality's sake: mind the worst off."
    reference = "Diana et al., AIES 2021"
    costly = True
    # no rates are made equal, but the largest error comes down
    aims: ClassVar = {"error_rate_parity": {"error": "zero_one"}}
    draws_to_predict = True
    randomized = True
    corrected_version = "4"  # 4: fits of separable classes go on to their optimum
    multi_group = True
    free_after_fit = ("scores",)

    gamma: float | None = None
    error: str = "zero_one"
    rounds: int | None = None
    step: float = 1.0
    decay: float = 0.5
    threshold: float = 1e-12
    scores: str = "votes"

    def fit_model(self, X: Any, y: Vector, s: Vector, w: Weights = None) -> None:
        """Play the game."""
        check_choice("error of minimax", self.error, ERRORS)
        if self.gamma is None and self.error.startswith("false"):
            raise NotApplicable(
                f"minimax needs gamma for the error {self.error}: the lowest possible rate of it "
                f"alone is reached by one label for all."
            )
        rounds = (2000 if self.published else 200) if self.rounds is None else self.rounds
        check_least("rounds", rounds, 1)
        check_scores(self.scores, self.base_learner(), who=self.name)
        learner, X = self._prepare(X, y)
        own = np.ones(len(y)) if w is None else w / w.mean()
        names = getattr(self, "groups_", range(int(s.max()) + 1))
        game = _Game(self, y, s, own, len(names))
        check_cells(np.column_stack([game.counted, game.counted]), names, who=self.name)
        self.models_ = []
        errors, weights = [], []
        before = None
        fits = (Afresh if self.published else Refits)(learner, X)
        for t in range(1, rounds + 1):
            weight = game.row_weights()
            if t > 4 and before is not None and np.abs(weight - before).max() < self.threshold:
                break
            before = weight
            model, labels = fits.fit(y, weight if self.published else weight * len(y))
            self.models_.append(model)
            weights.append(game.weights.copy())
            judged = favorable_share(model, X) if self.error == "log_loss" else labels
            errors.append(game.errors(np.asarray(judged, dtype=np.float64)))
            game.update(errors[-1], self.step * t**-self.decay)
        self.error_path_, self.weight_path_ = np.array(errors), np.array(weights)
        self.group_errors_ = self.error_path_.mean(axis=0)
        self.largest_error_ = float(self.group_errors_.max())
        self.error_ = float(self.group_errors_ @ game.counted / game.counted.sum())
        if self.gamma is not None and self.largest_error_ > self.gamma + 0.001:
            warnings.warn(
                f"minimax could not bring every group's error down to {self.gamma:g}; the "
                f"largest is {self.largest_error_:.3g}: allow more, or play more rounds.",
                UnmetConstraintWarning,
                stacklevel=2,
            )

    def _prepare(self, X: Any, y: Vector) -> tuple[BaseEstimator, Any]:
        """Fit what comes before the learner once; weights would not reach it anyway."""
        self.preparation_, base, X = fit_steps(self.base_learner(), X, y)
        if self.error == "log_loss" and not hasattr(base, "predict_proba"):
            raise NotApplicable(
                f"minimax needs probabilities for the error log_loss and "
                f'{type(base).__name__} has none; use error="zero_one".'
            )
        return base, X

    def predict_scores(self, X: Any, s: Vector | None = None) -> Floats:
        """Return the mean of the models' probabilities or labels."""
        return self._mean(X, soft="probabilities" in (self.scores, self._judged))

    @property
    def _judged(self) -> str:
        """What the game judges and labels follow from."""
        return "probabilities" if self.error == "log_loss" else "votes"

    def _mean(self, X: Any, *, soft: bool) -> Floats:
        if self.preparation_ is not None:
            X = self.preparation_.transform(X)
        if all(type(model) is LogisticRegression for model in self.models_):
            return self._linear_mean(X, soft=soft)
        answers = (favorable_share(m, X) if soft else m.predict(X) for m in self.models_)
        return np.asarray(sum(answers) / len(self.models_), dtype=np.float64)

    def _linear_mean(self, X: Any, *, soft: bool) -> Floats:
        """Ask all logistic regressions in one product, a block of rows at a time."""
        table = X if hasattr(X, "tocsr") else np.asarray(X, dtype=np.float64)
        slope = np.concatenate([model.coef_ for model in self.models_]).T
        start = np.concatenate([model.intercept_ for model in self.models_])
        block = max(1, 4_000_000 // len(start))
        parts = []
        for first in range(0, table.shape[0], block):
            logit = np.asarray(table[first : first + block] @ slope) + start
            if np.isnan(logit).any():  # compared with 0 it would be the unfavourable label
                raise InputError(
                    f"{self.name} needs finite numbers; fill missing values first (SimpleImputer)."
                )
            parts.append((expit(logit) if soft else logit > 0).mean(axis=1))
        return np.concatenate(parts)

    def predict_labels(self, X: Any, s: Vector | None = None) -> Vector:
        """Draw labels from the mixture, or compare its probability with one half."""
        if self._judged == "probabilities":
            return np.asarray(self._mean(X, soft=True) > 0.5, dtype=np.intp)
        p = self._mean(X, soft=False)
        return np.asarray(p > uniform(self.random_state, len(p)), dtype=np.intp)


class _Game:
    """The regulator: the groups' weights and what follows from them."""

    def __init__(self, rule: Minimax, y: Vector, s: Vector, own: Floats, groups: int) -> None:
        self.y, self.s, self.own, self.kind, self.gamma = y, s, own, rule.error, rule.gamma
        judged = {"false_positive": y == 0, "false_negative": y == 1}.get(
            rule.error, np.ones(len(y), dtype=bool)
        )
        self.judged = own * judged
        self.counted = np.bincount(s, self.judged, groups)
        self.total = np.bincount(s, own, groups)
        self.share = self.total / own.sum()
        self.price = np.zeros(groups)  # the multipliers of the relaxed game
        self.weights = self.share.copy()

    def row_weights(self) -> Floats:
        """Return each row its part of the weight of its group."""
        if self.kind.startswith("false"):
            # only the rows that can be wrong in this way are paid for
            paid = (self.price / self.counted)[self.s] * self.judged
            return np.asarray(self.own / self.own.sum() + paid)
        return np.asarray((self.weights / self.total)[self.s] * self.own)

    def errors(self, answers: Floats) -> Floats:
        """Return the groups' errors."""
        if self.kind == "log_loss":
            p = np.clip(answers, CLIP, 1 - CLIP)
            loss = -np.log(np.where(self.y == 1, p, 1 - p))
        else:
            loss = np.abs(answers - self.y)
        return np.asarray(np.bincount(self.s, self.judged * loss, len(self.total)) / self.counted)

    def update(self, errors: Floats, eta: float) -> None:
        """Move the weight towards the groups with larger errors."""
        if self.gamma is None:
            self.weights = self.weights * np.exp(eta * errors)
            self.weights /= self.weights.sum()
        else:
            self.price = np.maximum(0.0, self.price + eta * (errors - self.gamma))
            self.weights = self.share + self.price
