"""GerryFair (Kearns et al., 2018): equal error rates for all subgroups that a plane cuts out."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LinearRegression

from isonomy._arrays import Floats
from isonomy._tables import as_matrix
from isonomy._validate import check_choice, check_least
from isonomy.errors import NotApplicable
from isonomy.mitigators._post import uniform
from isonomy.mitigators._protected import protected_columns
from isonomy.mitigators.base import MITIGATORS, Vector, Weights
from isonomy.mitigators.stages import InProcessor

RATES = ("false_positive_rate", "false_negative_rate")


@MITIGATORS.register("gerry_fair", aliases=("gerryfair", "gry"))
class GerryFair(InProcessor):
    r"""Learns against an auditor who looks for the worst subgroup, not for one that was named.

    A *subgroup* is any set of rows that a plane through the protected columns cuts out; with
    attributes of two values each these are most of their intersections, and unions of them.
    Learner and auditor play in turn. The auditor finds the subgroup whose rate is farthest from that of all rows, times
    its size. The learner answers with a linear model that minimises errors plus a price on that
    subgroup. The answers of all rounds make a mixture.

    Both use the same oracle: a linear regression of the cost of the favourable label, which is
    given where that cost is below 0.

    Parameters
    ----------
    estimator
        Unused: the learner is the oracle's.
    rate : {"false_positive_rate", "false_negative_rate"}
        What shall be equal.
    gamma : float
        The largest violation allowed: a subgroup's distance from the rate of all rows times its
        share of all rows. Smaller ones cost nothing.
    price : float
        The most that a violation may cost, the study's ``C``.
    rounds : int
        How many answers are mixed.
    privileged, favorable, sensitive_columns, protocol, random_state
        See ``BaseMitigator``. ``sensitive_columns`` may be left out where columns of X are decided
        by the groups.

    Attributes
    ----------
    coef_ : array of shape (rounds, columns)
    intercept_ : array of shape (rounds,)
        The cost of the favourable label in each round's answer.
    violations_ : array
        What the auditor found in each round, in the mixture up to there.

    Notes
    -----
    **Protocols**

    ===========  =======================================  =======================================
    what         as_published                             corrected
    ===========  =======================================  =======================================
    price        all rows of the audited label pay what   members of the subgroup pay what they
                 the first one of them owes: a counter    owe, the others the opposite
                 is set back inside the loop
    rounds       one fewer than asked for                 as many as asked for
    stop         from the fifth round on, when an error   never early
                 or a violation repeats and is below
                 ``gamma``
    prediction   the side that most rounds take: what     one round drawn for each row, which is
                 was made equal in the mixture need not   what the rates are equal for
                 be equal there
    ===========  =======================================  =======================================

    With the slip of the first line every row of the audited label pays the same, so that fewer (or
    more) of all groups are favoured and the rates of all of them fall towards 0.

    A mixture's guarantee is for the training rows, and for the oracle's own idea of the best plane: no
    regression finds the worst subgroup for certain.

    References
    ----------
    M. Kearns, S. Neel, A. Roth and Z. S. Wu, "Preventing fairness gerrymandering: auditing and
    learning for subgroup fairness", ICML 2018; the same, "An empirical study of rich subgroup
    fairness for machine learning", FAT* 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from isonomy.mitigators import GerryFair
    >>> rng = np.random.default_rng(0)
    >>> X = np.column_stack([rng.integers(0, 2, (800, 2)), rng.normal(size=800)])
    >>> y = (X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=800) > 0.5).astype(int)
    >>> fair = GerryFair(sensitive_columns=[0, 1]).fit(X, y, sensitive_features=X[:, :2])
    >>> bool(fair.violations_[-1] < fair.violations_[0])
    True
    """

    label = "GerryFair"
    advice = "Many attributes at once: subgroups need not be named; random."
    reference = "Kearns et al., ICML 2018"
    aims: ClassVar = {
        "predictive_equality": {"rate": "false_positive_rate"},
        "equal_opportunity": {"rate": "false_negative_rate"},
    }
    uses_estimator = False
    needs_numbers = True
    draws_to_predict = True
    randomized = True
    several = "every subgroup that a plane through all protected columns cuts out, named or not"
    multi_group = True

    rate: str = "false_positive_rate"
    gamma: float = 0.01
    price: float = 15.0
    rounds: int = 30

    def fit_model(self, X: Any, y: Vector, s: Vector, w: Weights = None) -> None:
        """Play the game and keep all answers."""
        check_choice("rate", self.rate, RATES)
        check_least("rounds", self.rounds, 2)
        check_least("gamma", self.gamma, 0)
        check_least("price", self.price, 0)
        if w is not None and (w != w[0]).any():
            raise NotApplicable(
                f"{self.name} takes no sample_weight, as its authors' code does not: repeat rows."
            )
        matrix = as_matrix(X, who=self.name)
        protected = matrix[:, list(protected_columns(matrix, s, self._positions(X), needed_by=self.name))]  # fmt: skip
        # of false negatives: the same game with the labels turned round
        turned = self.rate == "false_negative_rate"
        asked = np.flatnonzero(y == turned)
        if not 0 < asked.size < len(y):
            raise NotApplicable(f"{self.name} needs rows of both labels.")
        own = protected[asked]
        flat = 1.0 / len(y)
        cost = np.where(y == turned, flat, -flat)  # of the label that asked rows should not get
        mixed, answers, violations, errors = np.zeros(len(y)), [], list[float](), list[float]()
        for k in range(1, self.rounds + (not self.published)):
            fitted = LinearRegression().fit(matrix, cost)
            worth = fitted.predict(matrix)
            wrong = (worth <= 0 if turned else worth < 0).astype(np.float64)
            answers.append((fitted.coef_, fitted.intercept_))
            mixed = mixed * (k - 1) / k + wrong / k
            members, sign, violation = worst_subgroup(own, mixed[asked], len(y))
            violations.append(violation)
            errors.append(float(np.abs(mixed - (y != turned)).mean()))
            owed = members.mean() - (members[0] if self.published else members)
            new = flat * sign * self.price / k * owed if violation >= self.gamma else 0.0
            cost[asked] = (cost[asked] - flat) * (k - 1) / k + new + flat
            if self.published and _repeats(errors, violations, self.gamma):
                break
        coefs, intercepts = zip(*answers, strict=True)
        side = -1.0 if turned else 1.0  # the cost of the favourable label
        self.coef_, self.intercept_ = side * np.array(coefs), side * np.array(intercepts)
        self.violations_ = np.array(violations)

    def predict_scores(self, X: Any, s: Vector | None = None) -> Floats:
        """Return the share of the answers that favour a row."""
        cost = as_matrix(X, who=self.name) @ self.coef_.T + self.intercept_
        return np.asarray((cost < 0).mean(axis=1))

    def predict_labels(self, X: Any, s: Vector | None = None) -> Vector:
        """Draw one answer for each row; as published, take the side of most of them."""
        share = self.predict_scores(X)
        if self.published:
            return (share >= 0.5).astype(np.intp)
        return (uniform(self.random_state, len(share)) < share).astype(np.intp)


def worst_subgroup(
    protected: Floats, rates: Floats, rows: int
) -> tuple[NDArray[np.float64], int, float]:
    """Find the subgroup that is farthest from the mean rate, times its share of all rows.

    Parameters
    ----------
    protected : array of shape (n, columns)
        The protected columns of the rows audited.
    rates : array of shape (n,)
        How often each of them is given the wrong label.
    rows : int
        All rows, those of the other label included.

    Returns
    -------
    members : array of 0 and 1
    sign : int
        1 where its rate is below the mean, -1 where it is above.
    violation : float

    Examples
    --------
    >>> members, sign, size = worst_subgroup(
    ...     np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([0.0, 0.0, 1.0, 1.0]), 8
    ... )
    >>> members.tolist(), sign, size
    ([1.0, 1.0, 0.0, 0.0], 1, 0.125)
    """
    mean = float(rates.mean())
    away = LinearRegression().fit(protected, (rates - mean) / rows).predict(protected)
    found = []
    for sign in (1, -1):
        members = (sign * away < 0).astype(np.float64)
        own = float(rates @ members / members.sum()) if members.any() else 0.0
        found.append((members, sign, abs(own - mean) * float(members.sum()) / rows))
    return found[1] if found[1][2] > found[0][2] else found[0]


def _repeats(errors: list[float], violations: list[float], gamma: float) -> bool:
    """Return whether the published game ends: nothing moves, and nothing is violated."""
    return (
        len(errors) >= 5
        and (errors[-1] == errors[-2] or violations[-1] == violations[-2])
        and violations[-1] < gamma
    )
