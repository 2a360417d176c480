"""Extreme counterfactual discrimination: how much its own group can cost a person."""

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from isonomy._tables import column_names, get_column, take
from isonomy._validate import check_choice
from isonomy.counterfactual.domain import Domain
from isonomy.counterfactual.extremes import (
    FEWEST_ROWS,
    ROUNDING,
    Estimate,
    Extremes,
    extremes,
    extremes_difference,
)
from isonomy.counterfactual.flip import Attribute, Companions, group_name, match_groups
from isonomy.counterfactual.linear import ExactMaximum, exact_maximum, is_linear_logistic
from isonomy.counterfactual.pairs import Pairs, Scorer, score_pairs
from isonomy.counterfactual.report import EcdReport, GroupReport
from isonomy.counterfactual.telling import telling_order
from isonomy.errors import InputError
from isonomy.stats import wilson_interval
from isonomy.tails import Diagnosis, diagnose

CURVE = 13
"""Points of a curve of return levels."""


def tail(
    model: Any,
    X: Any,
    sensitive_features: Any,
    *,
    privileged: Any = None,
    favorable: Any = None,
    columns: Any = None,
    groups: Sequence[Any] | None = None,
    companions: Companions | None = None,
    against: Any = None,
    threshold: float = 0.5,
    horizons: Sequence[int] = (500, 1000, 2000),
    k: int | str | None = None,
    cvar_quantile: float = 0.95,
    intervals: str = "profile",
    resamples: int = 999,
    confidence: float = 0.95,
    worst: int = 10,
    one_hot: Sequence[Sequence[Any]] | None = None,
    curves: bool = False,
    random_state: int = 0,
) -> EcdReport:
    """Measure what changing a protected attribute does to a model's scores, at worst above all.

    Every row is scored as it is and as a member of every other group; the difference CD is
    positive where its own group costs the person. The model is asked twice, whatever the number
    of groups. This is the sensitivity of the model to the attribute: proxies are not changed.

    Parameters
    ----------
    model : estimator or callable
        A fitted scikit-learn classifier, Pipeline or mitigator, or a function that takes rows
        and returns the probability of the favourable label.
    X : frame, array or sparse matrix
        Rows as the model takes them, the attribute among the columns.
    sensitive_features : str, list of str, Series, frame, array or mapping
        Names of columns of a frame, or the values of the protected attributes. With several
        attributes, every combination that occurs is a group.
    privileged : group or mapping of attribute to value, optional
        The group that others are compared with; by default the one with the highest mean score.
    favorable : label, optional
        The label that is good to get; may be left out when the classes are 0 / 1.
    columns, groups, companions
        As in ``flip``.
    against : group, optional
        Compare everybody with this group; by default with the group that would serve each best.
        With two groups this is the same.
    threshold : float, default 0.5
        The score from which on the favourable label is predicted, for the flip rate.
    horizons : sequence of int, default (500, 1000, 2000)
        The numbers of queries for which return levels are computed.
    k : int or "auto", optional
        How many of the largest values make the tail: by default 50, or as many as the shortest
        horizon needs, and at most a quarter of the group; ``auto`` lets goodness of fit choose.
    cvar_quantile : float, default 0.95
        The conditional value at risk is the mean beyond this quantile (ours: the paper does not
        define its own).
    intervals : {"profile", "bootstrap", "delta"}
        How intervals of return levels are computed; see ``isonomy.tails.TailFit.interval``.
    resamples : int, default 999
        Bootstrap resamples, for the location and where likelihood has no maximum; 0 for no
        intervals at all.
    confidence : float, default 0.95
        Confidence level of the intervals.
    worst : int, default 10
        How many individuals to show.
    one_hot : sequence of sequences of columns, optional
        Columns of ``X`` that encode one thing, or belong together as education and its number
        do, for the exact maximum on the domain.
    curves : bool, default False
        Whether to compute return levels between and beyond the horizons, too, so that a page
        shows them as a curve; their limits take a second or more a group.
    random_state : int, default 0
        Seed of the resamples.

    Returns
    -------
    EcdReport

    References
    ----------
    Monjezi, V., Trivedi, A., Kreinovich, V. and Tizpaz-Niari, S. (2025). Fairness testing through
    extreme value theory. arXiv:2501.11597.

    Examples
    --------
    >>> from isonomy.data import make_biased
    >>> from isonomy.data.synthetic import BiasedTruth
    >>> data = make_biased(4000)
    >>> report = tail(BiasedTruth().score, data.X, "group")
    >>> report
    EcdReport('group', privileged: mean -0.031, largest
    -0.000; unprivileged: mean +0.032, largest +0.235)
    """
    scorer = model if isinstance(model, Scorer) else Scorer(model, favorable)
    asked = scorer.calls
    horizons = _horizons(horizons)
    attribute, codes = Attribute.learn(
        X, sensitive_features, columns=columns, groups=groups, companions=companions,
        outside=scorer.takes_groups,
    )  # fmt: skip
    rows = np.flatnonzero(codes >= 0)
    table = X if rows.size == codes.size else take(X, rows)
    notes = []
    if rows.size < codes.size:
        notes.append(
            f"{codes.size - rows.size:,} of {codes.size:,} rows belong to none of the groups "
            f"compared and were left out."
        )
    pairs = score_pairs(
        scorer, table, attribute=attribute, codes=codes[rows], against=against, threshold=threshold
    )
    first = _privileged(privileged, pairs)
    if privileged is None:
        notes.append(
            f"No privileged group was named; {group_name(attribute.groups[first[0]])} has the "
            f"highest mean score and is compared with."
        )
    exact = _exact(scorer, table, pairs, one_hot)
    options: dict[str, Any] = {
        "horizons": horizons, "k": k, "cvar_quantile": cvar_quantile, "resamples": resamples, "confidence": confidence,
        "intervals": intervals,
    }  # fmt: skip
    parts = []
    for g, name in enumerate(attribute.groups):
        members = pairs.codes == g
        at_most = exact[g].anywhere if exact and g in exact else 1.0
        numbers = extremes(
            pairs.cd[members], upper=at_most, random_state=random_state + g, **options
        )
        share = float(pairs.flipped[members].mean())
        low, high = wilson_interval(share, int(members.sum()), confidence=confidence)
        parts.append(
            GroupReport(
                group=name,
                privileged=g in first,
                extremes=numbers,
                diagnosis=_diagnosis(numbers, confidence, resamples, random_state),
                flip_rate=Estimate(share, float(low), float(high)),
                exact=(exact or {}).get(g),
                sentence=_sentence(numbers, pairs, members),
                levels=_levels(numbers, confidence if curves else None),
            )
        )
    reference = (
        parts[first[0]].extremes
        if len(first) == 1
        else extremes(
            pairs.cd[np.isin(pairs.codes, first)],
            random_state=random_state + len(parts),
            **options,
        )
    )
    differences = {
        p.group: extremes_difference(
            p.extremes,
            reference,
            intervals=intervals,
            confidence=confidence,
            random_state=random_state,
        )
        for p in parts
        if not p.privileged
    }
    notes += _remarks(pairs, parts)
    return EcdReport(
        attribute=attribute,
        groups=tuple(parts),
        differences=differences,
        worst=_worst(X, rows, pairs, worst),
        pairs=pairs,
        rows=rows,
        notes=tuple(notes),
        settings={
            "privileged": [group_name(attribute.groups[i]) for i in first],
            "horizons": list(horizons),
            "cvar_quantile": cvar_quantile,
            "confidence": confidence,
            "intervals": intervals,
            "resamples": resamples,
            "threshold": threshold,
            "random_state": random_state,
            "against": None if against is None else group_name(against),
        },
        calls=scorer.calls - asked,
    )


def _horizons(given: Sequence[int]) -> tuple[int, ...]:
    whole = all(isinstance(m, Integral) for m in given)
    out = tuple(int(m) for m in given) if whole else ()
    if not out or min(out) < 2:
        raise InputError(f"Horizons must be numbers of queries from 2 on; got {list(given)}.")
    return tuple(sorted(set(out)))


def _privileged(privileged: Any, pairs: Pairs) -> list[int]:
    attribute = pairs.attribute
    size = len(attribute.groups)
    if privileged is None:
        means = [float(pairs.score[pairs.codes == g].mean()) for g in range(size)]
        return [int(np.argmax(means))]
    if isinstance(privileged, Mapping):
        chosen = set(range(size))
        for name, value in privileged.items():
            check_choice("protected attribute", str(name), attribute.names)
            j = attribute.names.index(str(name))
            single = [g[j] if len(attribute.names) > 1 else g for g in attribute.groups]
            values = list(dict.fromkeys(single))
            wanted = {values[i] for i in match_groups(value, values)}
            chosen &= {i for i, v in enumerate(single) if v in wanted}
        result = sorted(chosen)
    else:
        result = match_groups(privileged, attribute.groups)
    if not result or len(result) == size:
        raise InputError(
            f"Some groups must be privileged and some not; {len(result)} of {size} were named."
        )
    return result


def _exact(
    scorer: Scorer, table: Any, pairs: Pairs, one_hot: Any
) -> dict[int, ExactMaximum] | None:  # fmt: skip
    if not is_linear_logistic(scorer.model):
        return None
    domain = Domain(table, one_hot=one_hot, fixed=pairs.attribute.columns)
    at = scorer.places[0] if scorer.places else 1
    return exact_maximum(scorer.model, table, pairs, domain=domain, favorable_at=at)


def _diagnosis(
    numbers: Extremes, confidence: float, resamples: int, random_state: int
) -> Diagnosis | None:  # fmt: skip
    if numbers.fit is None:
        return None
    # the envelope needs some resamples, also where no other interval is wanted
    draws = 499 if resamples else 99
    return diagnose(numbers.fit, confidence=confidence, resamples=draws, random_state=random_state)


def _levels(numbers: Extremes, confidence: float | None) -> pd.DataFrame:
    """Return the levels of the horizons, or with a confidence those of a grid beyond all of them."""
    if numbers.fit is None:
        return pd.DataFrame(columns=["horizon", "level", "low", "high"], dtype=float)
    if confidence is None:
        rows = [(m, e.value, e.low, e.high) for m, e in numbers.levels.items()]
        return pd.DataFrame(rows, columns=["horizon", "level", "low", "high"], dtype=float)
    last = max(10.0 * numbers.rows, 2.0 * max(numbers.levels))
    grid = np.geomspace(max(2.0, 1 / numbers.fit.rate), last, CURVE)
    return numbers.fit.levels(grid, confidence=confidence)


def _sentence(numbers: Extremes, pairs: Pairs, members: NDArray[np.bool_]) -> str:
    if pairs.score.max() == pairs.score.min() and numbers.largest == 0 == numbers.values[-1]:
        return (
            f"The model gives every row the score {pairs.score[0]:.4g}, whatever the group: "
            f"there is no tail to fit."
        )
    return numbers.reason


def _is_cut_off(part: GroupReport) -> bool:
    """Return whether a level, or the limit of one, ends at the exact maximum."""
    ends = [end for level in part.extremes.levels.values() for end in (level.value, level.high)]
    return part.exact is not None and bool(np.nanmax(ends) >= part.exact.anywhere - ROUNDING)


def _remarks(pairs: Pairs, parts: Sequence[GroupReport]) -> list[str]:
    out = []
    for p in parts:
        e = p.extremes
        if e.largest <= ROUNDING and e.values[-1] < -ROUNDING:
            out.append(
                f"No member of {p.name} is disadvantaged by belonging to it: the largest value is "
                f"{round(e.largest, 9) + 0.0:.4g}, so its tail describes the smallest advantages."
            )
        if p.exact is not None and e.fit is not None and float(e.fit.shape) < -0.5:
            out.append(
                f"The tail of {p.name} ends abruptly, as it must for a linear-logistic model: "
                f"read the exact maximum, not the fitted law."
            )
        elif p.exact is not None and e.fit is not None and _is_cut_off(p):
            out.append(
                f"The levels of {p.name}, or their limits, are cut off at its exact maximum, "
                f"{round(p.exact.anywhere, 9) + 0.0:.4g}, which no row can pass."
            )
        if e.rows < FEWEST_ROWS and max(e.levels) > e.rows:
            out.append(
                f"Levels of more than {e.rows:,} queries are not supported for {p.name}: they are "
                f"the largest value of its {e.rows:,} rows."
            )
        if e.fit is not None and e.fit.step > 0:
            out.append(
                f"The values of {p.name} come in steps of {e.fit.step:.2g}; ties were spread evenly "
                f"within half a step before the fit."
            )
        beyond = [m for m in e.levels if m > p.horizon]
        if beyond:
            out.append(
                f"Levels of more than {p.horizon:,.0f} queries are not supported for {p.name}: "
                f"{p.diagnosis.horizon_reason if p.diagnosis else ''}."
            )
    if len(pairs.attribute.groups) > 2:
        out.append(
            "With more than two groups, each person is compared with the group that would serve "
            "that person best; pass against= for one group."
        )
    return out


def _worst(X: Any, rows: NDArray[np.intp], pairs: Pairs, count: int) -> pd.DataFrame:
    """Return the rows with the largest discrimination, their scores and telling columns first."""
    order = np.argsort(-pairs.cd, kind="stable")[:count]
    names = pairs.attribute.groups
    frame = pd.DataFrame(
        {
            "row": rows[order],
            "group": [group_name(names[c]) for c in pairs.codes[order]],
            "counterfactual": [group_name(names[t]) for t in pairs.target[order]],
            "score": pairs.score[order],
            "counterfactual_score": pairs.other[order],
            "cd": pairs.cd[order],
            # of the group that is shown, where `flipped` asks for any
            "label_changes": (pairs.score >= pairs.threshold)[order]
            != (pairs.other >= pairs.threshold)[order],
        }
    )
    people = take(X, rows[order])
    held = column_names(X)
    for p in telling_order(take(X, rows), pairs, order):
        name = str(held[p]) if held else f"column {p}"
        name = f"{name} (column)" if name in frame.columns else name
        frame[name] = np.asarray(get_column(people, p))
    return frame
