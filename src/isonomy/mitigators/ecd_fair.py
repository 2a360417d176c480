"""ECD-Fair (Monjezi et al., 2025): settings of a learner under which the worst case is even."""

import hashlib
import json
import math
import warnings
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import joblib
import numpy as np
import pandas as pd
import sklearn
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from isonomy._arrays import Floats, divide
from isonomy._tables import as_matrix, column_names
from isonomy._validate import check_choice, check_least, check_share, listed, make_rng
from isonomy.counterfactual.extremes import (
    PAPER_K,
    Extremes,
    conditional_value_at_risk,
    extremes,
    return_level,
)
from isonomy.counterfactual.flip import Attribute
from isonomy.counterfactual.pairs import score_pairs
from isonomy.errors import NotApplicable
from isonomy.mitigators._parfait import Tuned, family_of
from isonomy.mitigators._protected import protected_columns
from isonomy.mitigators.base import MITIGATORS, Vector, Weights
from isonomy.mitigators.fairway import plain
from isonomy.mitigators.stages import WrappedModel, strata
from isonomy.models import fit_model, fit_steps, with_scores
from isonomy.search import Cache, Config, Parameter, Search, Space, minimize

TAIL_METRICS = ("ecd", "acd", "cvar", "max")
"""What can be made even: the fitted extreme, the mean, the mean of the worst 5 %, the largest."""

Sides = tuple[Attribute, NDArray[np.intp], Vector]
"""The protected columns, the group of each row in them, and each group's side."""

HOUR = 3600.0
UNLIMITED = 100_000  # Parfait-ML's most iterations; the hour ends it long before


def extreme(
    cd: Floats, metric: str = "ecd", *, horizon: float = 1000.0, protocol: str = "corrected"
) -> float:
    """Return one number for how large the counterfactual discrimination of a group gets.

    Parameters
    ----------
    cd : array
        Counterfactual discrimination of the rows of a group.
    metric : {"ecd", "acd", "cvar", "max"}
        ``ecd``: the level that is passed once in ``horizon`` queries, from peaks over a
        threshold, or as observed where these are too few or too alike for a fit. ``acd``: the
        mean. ``cvar``: the mean of the largest 5 %. ``max``: the largest.
    horizon : float
        Queries.
    protocol : {"corrected", "as_published"}
        As published, ``ecd`` is the location of a generalised extreme value law fitted to the 50
        largest values (``location``).

    Examples
    --------
    >>> cd = np.linspace(0.0, 0.2, 1001)
    >>> round(extreme(cd, "acd"), 3), round(extreme(cd, "cvar"), 3), extreme(cd, "max")
    (0.1, 0.195, 0.2)
    >>> round(extreme(cd), 2)
    0.2
    """
    check_choice("tail metric", metric, TAIL_METRICS)
    if metric == "acd":
        return float(cd.mean())
    if metric == "max":
        return float(cd.max())
    if metric == "cvar":
        return conditional_value_at_risk(cd, resamples=0).value
    queries = math.ceil(horizon)
    if protocol == "as_published":
        return location(extremes(cd, horizons=(queries,), resamples=0))
    return return_level(cd, queries)


def location(result: Extremes) -> float:
    """Return the location of the extreme value law of a group's 50 largest values.

    The location of such a law is passed with a chance of 1 - 1/e. Where the largest values are
    too few or too alike for a fit, that quantile of them takes its place, so that locations of
    two groups can be compared whether or not both have a law.

    Examples
    --------
    >>> steps = np.repeat([0.0, 0.1, 0.2], [900, 60, 40])
    >>> location(extremes(steps, resamples=0))
    0.2
    """
    if result.paper is not None:
        return result.location.value
    return float(np.quantile(result.values[:PAPER_K], math.exp(-1), method="higher"))


@MITIGATORS.register("ecd_fair")
class EcdFair(WrappedModel):
    r"""Searches the settings of a learner for those whose worst cases are the same for both groups.

    The counterfactual discrimination of a row is what the probability of the favourable label
    gains when the row is put in the other group. Its extreme in a group (``metric``) is how bad
    it gets for somebody there. Among settings whose accuracy on held-out rows is at most
    ``slack`` below that of the learner as it was passed, the search looks for the smallest
    difference of the two groups' extremes. The model that was measured is the model you get: it
    is fitted on the rows that were not held out, and no setting is better than what was passed,
    that is kept.

    Rates of favourable predictions are not looked at, and may differ more than before.

    A small difference is not a small worst case: two groups may both be hurt badly.
    ``compare="larger"`` makes the larger of the two extremes small instead. And the shortest way to
    no difference is a model that does not look at the attribute: an l1 penalty may take it out
    of a logistic regression, whose proxies stay.

    Parameters
    ----------
    estimator : classifier, optional
        The base learner, at the end of a pipeline or inside a calibration too: logistic
        regression, LinearSVC, random forest, decision tree or ``NetworkClassifier``; any other
        needs ``space``. One without probabilities is calibrated.
    metric : {"ecd", "acd", "cvar", "max"}
        What is made even; see ``extreme``.
    compare : {"difference", "larger"}
        Whether the size of the groups' difference counts, or the larger of their extremes.
    slack : float
        How much accuracy may be given up, on the held-out rows.
    strategy : {"mutation", "random", "guided", "flash"}
        How to search; the first three are those of Parfait-ML. ``guided`` tells kinds of
        behaviour by the held-out rows' rates of errors in each group, in whole per cent, where
        the released code hashes the lines of source that ran.
    budget : int, optional
        The most settings tried. When None: 40, and no limit but the time under as_published.
    seconds : float, optional
        The most time for the search. When None: no limit, and an hour under as_published. What a
        search with a time limit finds depends on the machine.
    space : mapping of str to Choice, Whole or Real, optional
        What to turn, by parameter of ``estimator``; Parfait-ML's space of its kind when None
        (for a network ours: layers, optimiser, step, penalty, epochs, batch).
    validation : float in (0, 1)
        The share of the rows that is held out from fitting.
    measure_on : {"held_out", "all"}
        Which rows the extremes are taken from; accuracy always from the held-out ones. ``all``
        has four times as many extremes, but a forest says other things about rows it was fitted
        on: what looks even there is less so for people it has not seen.
    horizon : float
        The number of queries that ``metric="ecd"`` speaks of.
    cache : object with ``get`` and ``put``, optional
        Where evaluations are kept, for instance ``isonomy.search.JsonLinesCache(file)``: the same
        fit resumes where an earlier one was stopped.
    privileged, favorable, sensitive_columns, protocol, random_state
        As in every mitigator. The protected attribute must be a column of X: without one no
        counterfactual can be asked for.

    Notes
    -----
    **Protocols**

    ==============  ======================================  =====================================
    what            as_published                            corrected
    ==============  ======================================  =====================================
    extreme         location of a GEV law of the 50         level of ``horizon`` queries, the
                    largest values, whatever the group's    same for both groups, from peaks over
                    size                                    a threshold
    space           Parfait-ML's ranges, evenly             the same parameters, less those that
                                                            decide only how a fit gets to its end;
                                                            strengths and step sizes on log scales
    reference       Parfait-ML's defaults (logistic         the learner as it was passed
                    regression: C = 10, no intercept)
    search          with the released code's slips          without them (``isonomy.search``)
    limit           one hour                                40 settings
    ==============  ======================================  =====================================

    Not replayed: Parfait-ML judges accuracy on the test rows. The paper says neither how the sign
    of ECD is treated nor what is searched of a network.

    Attributes
    ----------
    trials_ : DataFrame
        Every setting tried: ``accuracy``, ``value`` (infinite where the accuracy fell too far),
        ``accepted``, and the parameters. The first row is the reference.
    search_ : Search
        The same as the search saw it.
    best_ : dict
        The parameters chosen, of the learner's space; empty where the reference was kept.
    value_, accuracy_, reference_value_, reference_accuracy_ : float
        Of the model chosen and of the reference.

    References
    ----------
    V. Monjezi, A. Trivedi, V. Kreinovich and S. Tizpaz-Niari, "Fairness testing through extreme
    value theory", ICSE 2025; S. Tizpaz-Niari, A. Kumar, G. Tan and A. Trivedi, "Fairness-aware
    configuration of machine learning libraries", ICSE 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from isonomy.mitigators import EcdFair
    >>> rng = np.random.default_rng(0)
    >>> s = np.arange(600) % 2
    >>> X = np.column_stack([s, rng.normal(size=(600, 2))])
    >>> y = (X[:, 1] + 0.5 * s + rng.normal(size=600) > 0.3).astype(int)
    >>> model = EcdFair(budget=15, sensitive_columns=[0]).fit(X, y, sensitive_features=s)
    >>> model.value_ < model.reference_value_, model.accuracy_ >= model.reference_accuracy_ - 0.01
    (True, True)
    """

    label = "ECD-Fair"
    advice = "When the worst case counts more than the average; many fits."
    reference = "Monjezi et al., ICSE 2025"
    costly = True
    randomized = True
    corrected_version = "2"

    metric: str = "ecd"
    compare: str = "difference"
    slack: float = 0.01
    strategy: str = "mutation"
    budget: int | None = None
    seconds: float | None = None
    space: Mapping[str, Parameter] | None = None
    validation: float = 0.25
    measure_on: str = "held_out"
    horizon: float = 1000.0
    cache: Cache | None = None

    def _fit(self, X: Any, y: Vector, s: Vector, w: Weights) -> None:
        self._check()
        base = with_scores(plain(self.base_learner()))
        if self.space is not None:
            tuned, space = Tuned(base, "", base, None), Space(self.space)
        else:
            tuned = family_of(base)
            assert tuned.family is not None
            space = tuned.family.published if self.published else tuned.family.corrected
        rng = make_rng(self.random_state)
        sides = _sides(self, X, s, self._positions(X))
        objective = _Objective(self, tuned, X, y, s, w, sides, seed=int(rng.integers(2**31 - 1)))
        start = space.default if self.published and self.space is None else None
        objective.refer(start)
        budget = (UNLIMITED if self.published else 40) if self.budget is None else self.budget
        seconds = HOUR if self.published and self.seconds is None and self.budget is None else None
        options: dict[str, Any] = {}
        if self.strategy in ("mutation", "guided"):
            options["protocol"] = self.protocol
        if self.strategy == "guided":
            options["signature"] = objective.signature
        self.search_: Search = minimize(
            objective,
            space,
            strategy=self.strategy,
            budget=budget,
            seconds=seconds if self.seconds is None else self.seconds,
            random_state=rng,
            **options,
        )
        best, first = objective.best(), objective.trials[0]
        self.estimator_ = objective.model(best)
        self.best_ = dict(best.config or {})
        self.value_, self.accuracy_ = best.value, best.accuracy
        self.reference_value_, self.reference_accuracy_ = first.value, first.accuracy
        self.trials_ = pd.DataFrame(
            {"accuracy": t.accuracy, "value": t.value, "accepted": math.isfinite(t.value)}
            | (t.config or {})
            for t in objective.trials
        )

    def _check(self) -> None:
        check_choice("tail metric", self.metric, TAIL_METRICS)
        check_choice("measure_on", self.measure_on, ("held_out", "all"))
        check_choice("compare", self.compare, ("difference", "larger"))
        check_share("validation", self.validation)
        check_least("slack", self.slack, 0)
        check_least("horizon", self.horizon, 1)


@dataclass(eq=False)
class _Trial:
    """One setting and what it gave; ``config`` None is the learner as it was passed."""

    config: Config | None
    accuracy: float
    value: float


class _Objective:
    """The objective: fits a setting, and keeps the best model that it saw."""

    def __init__(
        self,
        rule: EcdFair,
        tuned: Tuned,
        X: Any,
        y: Vector,
        s: Vector,
        w: Weights,
        sides: Sides,
        *,
        seed: int,
    ) -> None:
        self.rule, self.tuned, self.X, self.y, self.s, self.w = rule, tuned, X, y, s, w
        self.inner, self.held = train_test_split(
            np.arange(len(y)),
            test_size=rule.validation,
            random_state=seed,
            stratify=strata(y, s, 2),
        )
        if w is not None and not w[self.held].any():
            raise NotApplicable(
                f"{rule.name} judges on held-out rows, and these must carry weight; the "
                f"{len(self.held)} that were drawn weigh nothing: give more rows."
            )
        self.X_inner, self.X_held = _safe_indexing(X, self.inner), _safe_indexing(X, self.held)
        # what is before the learner does not change with its settings
        self.steps = None
        if tuned.family is not None:
            labels = rule.decode(y[self.inner])
            self.steps, _, self.X_inner = fit_steps(tuned.estimator, self.X_inner, labels)
        self.attribute, self.codes, self.side = sides
        self.bar = -math.inf
        self.trials: list[_Trial] = []
        self._kept: tuple[_Trial, Any] | None = None
        self._seen: dict[str, tuple[_Trial, Hashable]] = {}
        self._behaviour: Hashable = None
        self._mark = "" if rule.cache is None else self._fingerprint()

    def refer(self, config: Config | None) -> None:
        """Evaluate what all others are compared with."""
        trial = self._evaluate(config)
        if not math.isfinite(trial.value):
            raise NotApplicable(
                f"{self.rule.name} needs a reference whose {self.rule.metric} is defined; that of "
                f"{type(self.tuned.learner).__name__} is not: choose another metric."
            )
        self.bar = trial.accuracy - self.rule.slack

    def __call__(self, config: Config) -> float:
        """Return the value of a setting, infinite where its accuracy is too low."""
        first = self.trials[0]
        if len(self.trials) == 1 and config == first.config:
            return first.value  # as published, the reference is where the search starts
        return self._evaluate(config).value

    def signature(self, config: Config) -> Hashable:
        """Say what the last model did: rates of errors by group, in whole per cent."""
        return self._behaviour

    def best(self) -> _Trial:
        """Return the smallest value; of several the most accurate, of these the first."""
        return min(self.trials, key=lambda t: (t.value, -t.accuracy))

    def model(self, trial: _Trial) -> Any:
        """Return the model of a trial, fitted anew where only a cache remembers it."""
        if self._kept is not None and self._kept[0] is trial:
            return self._kept[1]
        return self._fitted(trial.config)

    def _evaluate(self, config: Config | None) -> _Trial:
        cache = self.rule.cache
        key = ""
        if cache is not None:
            text = json.dumps([self._mark, config], sort_keys=True, default=str)
            key = hashlib.sha256(text.encode()).hexdigest()
            known = cache.get(key)
            # kept without a value: refused under a smaller slack, which this one may not refuse
            if known is not None and (known["value"] is not None or known["accuracy"] < self.bar):
                value = known["value"] if known["accuracy"] >= self.bar else math.inf
                self._behaviour = tuple(known["behaviour"])
                self.trials.append(_Trial(config, known["accuracy"], value))
                return self.trials[-1]
        # as published a learner may draw from a stream, so that no two fits are alike
        afresh = self.rule.published
        settings = "" if config is None or afresh else repr(self.tuned.settings(config))
        if settings in self._seen:
            same, self._behaviour = self._seen[settings]
            self.trials.append(replace(same, config=config))
            return self.trials[-1]
        model = self._fitted(config)
        right = self._right(model)
        accuracy = float(np.average(right, weights=None if self.w is None else self.w[self.held]))
        value = self._tail(model) if accuracy >= self.bar else math.inf
        trial = _Trial(config, accuracy, value)
        self.trials.append(trial)
        if settings:
            self._seen[settings] = trial, self._behaviour
        if self.best() is trial:
            self._kept = trial, model
        if cache is not None:
            entry = {
                "accuracy": accuracy,
                "value": value if math.isfinite(value) else None,
                "behaviour": list(self._behaviour),  # type: ignore[call-overload]
                "config": None if config is None else {k: str(v) for k, v in config.items()},
            }
            cache.put(key, entry)
        return trial

    def _fitted(self, config: Config | None) -> Any:
        model = self.tuned.estimator if config is None else self.tuned.configure(config)
        labels = self.rule.decode(self.y[self.inner])
        with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
            # The number of iterations and the tolerance are among the things turned.
            weight = None if self.w is None else self.w[self.inner]
            if self.steps is None:
                return fit_model(model, self.X_inner, labels, weight)
            name, learner = model.steps[-1]
            fitted = fit_model(learner, self.X_inner, labels, weight)
            return Pipeline([*self.steps.steps, (name, fitted)])

    def _right(self, model: Any) -> NDArray[np.bool_]:
        predicted = (model.predict(self.X_held) == self.rule.favorable_).astype(np.intp)
        y, s = self.y[self.held], self.s[self.held]
        cell = s * 2 + y
        wrong = np.bincount(cell, predicted != y, 4)
        rates = divide(100 * wrong, np.bincount(cell, minlength=4))
        self._behaviour = tuple(np.nan_to_num(rates, nan=-1.0).round().astype(int).tolist())
        return np.asarray(predicted == y)

    def _tail(self, model: Any) -> float:
        rule = self.rule
        asked = slice(None) if rule.measure_on == "all" else self.held
        codes, s = self.codes[asked], self.s[asked]
        pairs = score_pairs(
            model,
            self.X if rule.measure_on == "all" else self.X_held,
            attribute=self.attribute,
            codes=codes,
            favorable=rule.favorable_,
            together=True,
        )
        # only groups of the other side are counterfactuals; of several the kindest counts
        other = self.side[None, :] != self.side[codes][:, None]
        cd = np.where(other, pairs.scores, -np.inf).max(axis=1) - pairs.score
        result = [
            extreme(cd[s == g], rule.metric, horizon=rule.horizon, protocol=rule.protocol)
            for g in (0, 1)
        ]
        value = max(result) if rule.compare == "larger" else abs(result[0] - result[1])
        return value if math.isfinite(value) else math.inf

    def _fingerprint(self) -> str:
        rule = self.rule
        settings = [rule.metric, rule.compare, rule.horizon, rule.measure_on]
        settings += [rule.protocol, rule.version_of(rule.protocol)]
        parts = [self.X, self.y, self.s, self.w, self.inner]
        return f"{joblib.hash(parts)} {self.tuned.estimator!r} {settings} {sklearn.__version__}"


def _sides(rule: EcdFair, X: Any, s: Vector, positions: tuple[int, ...]) -> Sides:
    """Find the protected columns, the group of each row in them, and each group's side."""
    if not positions:
        positions = protected_columns(as_matrix(X, who=rule.name), s, (), needed_by=rule.name)
    names = column_names(X)
    called = [f"column {p}" if names is None else str(names[p]) for p in positions]
    where = dict(zip(called, positions, strict=True))
    values = {name: np.asarray(_safe_indexing(X, p, axis=1)) for name, p in where.items()}
    attribute, codes = Attribute.learn(X, values, columns=where)
    side = np.full(len(attribute.groups), -1)
    for group in range(len(side)):
        inside = np.unique(s[codes == group])
        if len(inside) > 1:
            raise NotApplicable(
                f"{rule.name} swaps the protected columns of X, so each value there must belong "
                f"to one group; {listed([attribute.groups[group]])} belongs to several: put the "
                f"grouped attribute into X instead of the column it was made from."
            )
        side[group] = inside[0]
    return attribute, codes, side
