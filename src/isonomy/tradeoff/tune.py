"""Tuning a mitigator: the trade-off as a function of its parameters, and the value to choose."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np
import pandas as pd
from sklearn.base import clone

from isonomy._bands import is_number
from isonomy._shown import Shown
from isonomy._tables import plain
from isonomy._validate import optional
from isonomy.errors import InputError, NotApplicable
from isonomy.metrics.joint import JointCounts
from isonomy.mitigators import BaseMitigator, make_mitigator
from isonomy.search import Cache, Choice, Parameter, Real, Space, Whole, minimize
from isonomy.tradeoff.baseline import Baseline
from isonomy.tradeoff.regions import GOOD, WIN, Rule, region_names
from isonomy.tradeoff.validation import Validation, check_parameters
from isonomy.tradeoff.verdict import UNCHANGED, is_constant, measure

Config = dict[str, Any]

WITHOUT_AREA = {"poor": -0.25, "inverted": -0.5, "lose-lose": -1.0}
"""What regions without an area count for."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """One configuration on the validation rows; what a custom objective is given.

    Attributes
    ----------
    config : dict
        The parameters.
    performance, bias : float
        Means over the repeats.
    region : str or None
    area : float
    joint : JointCounts
        Original and mitigated predictions together, one leading index per repeat.
    """

    config: Config
    performance: float
    bias: float
    region: str | None
    area: float
    joint: JointCounts


Objective = str | tuple[str, str] | Callable[[Candidate], float]


@dataclass(frozen=True, eq=False)
class Tuning(Shown):
    """What a sweep or search found.

    Attributes
    ----------
    mitigator : BaseMitigator
        As given, with the chosen parameters set; not fitted.
    parameters : tuple of str
        What was varied.
    curve : DataFrame
        One row per configuration: parameters, performance, bias, region, area, objective,
        feasible, status, reason.
    chosen : dict or None
        The feasible configuration with the best objective; None where none is feasible.
    turning_point : dict or None
        Where the objective stops rising and begins to fall, for one ordered parameter; None where
        its best value lies at an end of the range.
    baseline : Baseline
        Of the original model on the validation rows.
    notes : tuple of str
    """

    page: ClassVar[str] = "tuning"

    mitigator: BaseMitigator
    parameters: tuple[str, ...]
    curve: pd.DataFrame
    chosen: Config | None
    turning_point: Config | None
    baseline: Baseline
    settings: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def mitigator_at(self, config: Mapping[str, Any]) -> BaseMitigator:
        """Return the mitigator, not fitted, at other parameters."""
        made: BaseMitigator = clone(self.mitigator).set_params(**config)
        return made

    def frame(self) -> pd.DataFrame:
        """Return the curve."""
        return self.curve.copy()

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data; undefined is None."""
        names = ("chosen", "turning_point", "settings", "notes", "curve")
        return {"method": self.mitigator.name, **{n: plain(getattr(self, n)) for n in names}}

    def __repr__(self) -> str:
        return f"Tuning({self.mitigator.name}: {len(self.curve)} evaluated, chosen {self.chosen})"


def tune(
    mitigator: BaseMitigator | str,
    space: Mapping[str, Parameter | Sequence[Any]],
    X: Any,
    y: Any,
    *,
    sensitive_features: Any,
    objective: Objective = "area",
    performance: str = "accuracy",
    fairness: str = "statistical_parity_difference",
    original: Any = None,
    max_loss: float | None = None,
    min_performance: float | None = None,
    validation: float = 0.3,
    repeats: int = 1,
    strategy: str | None = None,
    budget: int = 50,
    rule: Rule = "paper",
    cache: Cache | None = None,
    progress: Callable[[int, int], None] | None = None,
    random_state: int = 0,
) -> Tuning:
    """Vary the parameters of a mitigator and judge every setting on validation rows.

    What does not depend on the parameters is done once: the splits, the original model and its
    baseline, and the base model and scores of a post-processor.

    Parameters
    ----------
    mitigator : BaseMitigator or str
        What to tune; ``privileged`` and ``favorable`` are read from it.
    space : mapping of parameter to values
        A sequence of values, or ``Choice``, ``Whole`` or ``Real`` of :mod:`isonomy.search`.
    X, y, sensitive_features
        Training rows; validation rows are split off from them.
    objective : "area", (performance, fairness) or callable
        What to maximise. ``area``: the area between a good setting and the baseline; a win-win
        counts 1 and its gains, poor -0.25, inverted -0.5, lose-lose -1.
        A pair of metrics: performance minus bias. A callable takes a :class:`Candidate`.
    performance, fairness : str
        Metrics of the curve, the baseline and the constraint.
    original : classifier or mapping, optional
        The model that the baseline mutates: the mitigator's base learner by default, or the
        mitigator itself at certain parameters, as in ``{"eta": 0}``.
    max_loss : float, optional
        The most performance that may be lost against the original model.
    min_performance : float, optional
        The least performance that is accepted (the most, for an error rate).
    validation : float
        Share of the rows to judge on.
    repeats : int
        How many splits to average over.
    strategy : {"grid", "random", "flash", "mutation", "optuna"}, optional
        How to search; every configuration of a finite space by default, ``random`` otherwise.
        ``optuna`` searches for both goals at once and needs the extra of that name.
    budget : int
        The most configurations, except for a grid.
    rule : {"paper", "code"}
        See :func:`classify`.
    cache : Cache, optional
        Where evaluations are kept, anything with ``get(key)`` and ``put(key, value)``; the same
        call resumes from it.
    progress : callable, optional
        Called with (done, total) after every setting.
    random_state : int
        Seed of splits, search and baseline.

    Examples
    --------
    >>> from isonomy.data import load, make_splits, prepare
    >>> data = load("synthetic", n=1500)
    >>> ready = prepare(data, attribute="group", split=make_splits(data)[0])
    >>> result = tune(
    ...     "fairness_constrained_thresholds",
    ...     {"tolerance": [0.0, 0.05, 0.1]},
    ...     ready.X_train, ready.y_train, sensitive_features={"group": ready.s_train},
    ... )
    >>> len(result.curve), list(result.chosen)
    (3, ['tolerance'])
    """
    method = make_mitigator(mitigator) if isinstance(mitigator, str) else mitigator
    _space(method, space)
    if not 0 < validation < 1:
        raise InputError(f"validation must be a share between 0 and 1; got {validation!r}.")
    if repeats < 1:
        raise InputError(f"repeats must be at least 1; got {repeats}.")
    if max_loss is not None and max_loss < 0:
        raise InputError(f"max_loss must not be negative; got {max_loss}.")
    evaluated = Validation(
        method, original, X, y, sensitive_features, validation, repeats, random_state
    )
    return tune_on(
        evaluated,
        method,
        space,
        objective=objective,
        performance=performance,
        fairness=fairness,
        max_loss=max_loss,
        min_performance=min_performance,
        strategy=strategy,
        budget=budget,
        rule=rule,
        cache=cache,
        progress=progress,
        random_state=random_state,
    )


class Evaluated(Protocol):
    """Whatever judges settings on validation rows."""

    @property
    def splits(self) -> Sequence[Any]:
        """The pairs of training rows and validation rows."""
        ...

    @property
    def unchanged(self) -> JointCounts:
        """The original model against itself, one leading index per repeat."""
        ...

    def joint(self, config: Config, cache: Cache | None) -> JointCounts | str:
        """Return the counts of a setting, or why it failed."""
        ...


def tune_on(
    evaluated: Evaluated,
    mitigator: BaseMitigator,
    space: Mapping[str, Parameter | Sequence[Any]],
    *,
    objective: Objective = "area",
    performance: str = "accuracy",
    fairness: str = "statistical_parity_difference",
    max_loss: float | None = None,
    min_performance: float | None = None,
    strategy: str | None = None,
    budget: int = 50,
    rule: Rule = "paper",
    cache: Cache | None = None,
    progress: Callable[[int, int], None] | None = None,
    random_state: int = 0,
) -> Tuning:
    """Search the settings of a mitigator where something else evaluates them.

    Parameters
    ----------
    evaluated : Evaluated
        What returns the counts of a setting.
    mitigator, space, objective, performance, fairness, max_loss, min_performance, strategy, \
            budget, rule, cache, progress, random_state
        See :func:`tune`.
    """
    method, searched = mitigator, _space(mitigator, space)
    strategy = strategy or ("grid" if np.isfinite(searched.size) else "random")
    judge = _Judge(evaluated, objective, performance, fairness, rule, max_loss, min_performance)
    total = int(searched.size) if strategy == "grid" else int(min(budget, searched.size))
    rows: list[dict[str, Any]] = []

    def evaluate(config: Config) -> dict[str, Any]:
        rows.append(judge.row(config, evaluated.joint(config, cache)))
        if progress is not None:
            progress(len(rows), max(total, len(rows)))
        return rows[-1]

    if strategy == "optuna":
        _optuna(evaluate, searched, budget, random_state, judge.baseline.larger_is_better)
    else:
        minimize(
            lambda config: judge.loss(evaluate(config)),
            searched,
            strategy=strategy,
            budget=total,
            random_state=random_state,
        )
    return _result(method, searched, rows, judge, strategy, evaluated)


# ---------------------------------------------------------------------- parts


def _space(method: BaseMitigator, space: Mapping[str, Any]) -> Space:
    if not space:
        raise InputError("space must name at least one parameter; got none.")
    check_parameters(method, space)
    kinds = Choice | Whole | Real
    return Space({k: v if isinstance(v, kinds) else Choice(list(v)) for k, v in space.items()})


class _Judge:
    """Turn joint counts into a row of the curve."""

    def __init__(
        self,
        evaluated: Evaluated,
        objective: Objective,
        performance: str,
        fairness: str,
        rule: Rule,
        max_loss: float | None,
        min_performance: float | None,
    ) -> None:
        if isinstance(objective, str) and objective != "area":
            raise InputError(
                f"objective must be 'area', a pair of metrics or a function; got {objective!r}."
            )
        self.objective, self.rule = objective, rule
        self.performance, self.fairness = performance, fairness
        self.baseline = Baseline.from_counts(
            evaluated.unchanged.base, performance=performance, fairness=fairness, repetitions=200
        )
        if objective == "area" and self.baseline.reason is not None:
            raise NotApplicable(
                f"The area cannot be the objective: {self.baseline.reason}; pass a pair of "
                f"metrics, objective={(performance, fairness)!r} (on the command line --objective "
                f"{performance},{fairness})."
            )
        self.turn = 1.0 if self.baseline.larger_is_better else -1.0
        self.least = -np.inf
        if max_loss is not None:
            self.least = self.turn * self.baseline.performance[0] - max_loss
        if min_performance is not None:
            self.least = max(self.least, self.turn * min_performance)

    def row(self, config: Config, joint: JointCounts | str) -> dict[str, Any]:
        row: dict[str, Any] = {
            **config,
            "performance": np.nan,
            "bias": np.nan,
            "region": None,
            "area": np.nan,
            "objective": np.nan,
            "feasible": False,
            "constant": False,
            "status": "failed",
            "reason": joint if isinstance(joint, str) else None,
        }
        if isinstance(joint, str):
            return row
        y, x = (float(v.mean()) for v in measure(joint.method, self.performance, self.fairness))
        row |= {"performance": y, "bias": x, "status": "ok"}
        row["constant"] = bool(is_constant(joint.method).any())
        row["feasible"] = bool(self.turn * y >= self.least - 1e-12)
        code, unchanged = -1, not joint.changed().any()
        if unchanged:
            row["reason"] = UNCHANGED
        elif self.baseline.reason is None and np.isfinite(y) and np.isfinite(x):
            placed = self.baseline.place(y, x, rule=self.rule)
            code, row["area"] = int(placed.region), float(placed.area)
            row["region"] = str(region_names(code))
        candidate = Candidate(config, y, x, row["region"], row["area"], joint)
        if callable(self.objective):
            row["objective"] = float(self.objective(candidate))
        elif isinstance(self.objective, tuple):
            good, gap = (v.mean() for v in measure(joint.method, *self.objective))
            row["objective"] = float(self.turn * good - gap)
        elif unchanged:
            row["objective"] = 0.0  # nothing gained, and nothing lost
        elif code == GOOD:
            row["objective"] = row["area"]
        elif code == WIN:
            scaled = self.baseline.normalise(y, x)
            row["objective"] = 1 + max(float(scaled.y) - 1, 0.0) + (1 - float(scaled.x))
        elif row["region"] in WITHOUT_AREA:
            row["objective"] = WITHOUT_AREA[row["region"]]
        return row

    def loss(self, row: dict[str, Any]) -> float:
        """Return what a search minimises: infinite where a setting fails or loses too much."""
        if not row["feasible"] or not np.isfinite(row["objective"]):
            return float("inf")
        return -float(row["objective"])


def _optuna(
    evaluate: Callable[[Config], dict[str, Any]],
    space: Space,
    budget: int,
    seed: int,
    larger_is_better: bool,
) -> None:
    """Search both goals at once with Optuna's default multi-objective sampler."""
    library = optional("optuna", extra="optuna", purpose="strategy='optuna'")
    library.logging.set_verbosity(library.logging.WARNING)

    def suggest(trial: Any) -> Config:
        config: Config = {}
        for name, p in space.items():
            if isinstance(p, Choice):
                at = trial.suggest_categorical(name, list(range(len(p.values))))
                config[name] = p.values[at]
            elif isinstance(p, Whole):
                config[name] = trial.suggest_int(name, p.low, p.high)
            else:
                config[name] = trial.suggest_float(name, p.low, p.high, log=p.log)
        return config

    def goals(trial: Any) -> tuple[float, float]:
        row = evaluate(suggest(trial))
        if row["status"] != "ok" or not np.isfinite([row["performance"], row["bias"]]).all():
            raise library.TrialPruned
        return row["performance"], row["bias"]

    study = library.create_study(
        directions=["maximize" if larger_is_better else "minimize", "minimize"],
        sampler=library.samplers.TPESampler(seed=seed),
    )
    study.optimize(goals, n_trials=budget)


def _result(
    method: BaseMitigator,
    space: Space,
    rows: list[dict[str, Any]],
    judge: _Judge,
    strategy: str,
    evaluated: Evaluated,
) -> Tuning:
    curve = pd.DataFrame(rows)
    if (curve["status"] == "failed").all():
        raise NotApplicable(
            f"{method.name} failed at every setting; the first said: "
            f"{curve['reason'].iloc[0].removeprefix('InputError: ')}"
        )
    names = tuple(space)
    losses = np.array([judge.loss(row) for row in rows])
    notes = []
    chosen: Config | None = None
    tuned = clone(method)
    if np.isfinite(losses).any():
        best = rows[int(losses.argmin())]
        chosen = {name: best[name] for name in names}
        tuned.set_params(**chosen)
        if best["constant"]:
            notes.append("The chosen setting predicts one class for every row: it is of no use.")
        if best["reason"] == UNCHANGED:
            notes.append("The chosen setting changed no prediction: none did better than that.")
    else:
        notes.append(
            "No setting is feasible: every one failed or lost more performance than allowed."
        )
    turning = None
    if len(names) == 1 and strategy == "grid":
        turning = _turning_point(curve, names[0])
        varies = bool(curve["objective"].max() > curve["objective"].min())
        numbers = is_number(curve[names[0]].infer_objects())
        if turning is None and chosen is not None and varies and numbers:
            notes.append(
                "The objective has no turning point: its best value lies at an end of the range, "
                "so a wider range may hold a better one."
            )
    failed = int((curve["status"] == "failed").sum())
    if failed:
        said = curve.loc[curve["status"] == "failed", "reason"].iloc[0].removeprefix("InputError: ")
        notes.append(f"{failed} of {len(curve)} settings failed; the first said: {said}")
    return Tuning(
        mitigator=tuned,
        parameters=names,
        curve=curve,
        chosen=chosen,
        turning_point=turning,
        baseline=judge.baseline,
        settings={
            "strategy": strategy,
            "objective": _named(judge.objective),
            "performance": judge.baseline.performance_metric,
            "fairness": judge.baseline.fairness_metric,
            "rule": judge.rule,
            "repeats": len(evaluated.splits),
            "validation_rows": int(evaluated.splits[0][1].size),
        },
        notes=tuple(notes),
    )


def _named(objective: Objective) -> str:
    if isinstance(objective, str):
        return objective
    return " - ".join(objective) if isinstance(objective, tuple) else "custom"


def _turning_point(curve: pd.DataFrame, name: str) -> Config | None:
    """Return an inner maximum of the objective over an ordered parameter."""
    values = pd.to_numeric(curve[name], errors="coerce").to_numpy(dtype=np.float64)
    goal = curve["objective"].to_numpy(dtype=np.float64)
    known = np.flatnonzero(np.isfinite(values) & np.isfinite(goal))
    if known.size < 3:
        return None
    known = known[np.argsort(values[known], kind="stable")]
    at = int(np.argmax(goal[known]))
    if not 0 < at < known.size - 1:
        return None
    value = curve[name].iloc[known[at]]
    return {name: value.item() if isinstance(value, np.generic) else value}
