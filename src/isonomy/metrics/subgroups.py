"""Worst case and average case over subgroups: how far their rates lie apart, whoever is privileged.

Where several attributes are protected the groups are their intersections. These are the gaps of the
studies of several attributes; they differ from those of :mod:`isonomy.metrics.gaps`, which compare
with a privileged group where one is declared.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from isonomy._arrays import Floats, divide
from isonomy.metrics.counts import Counts
from isonomy.metrics.gaps import compared
from isonomy.metrics.metric import GapParts, add_metric
from isonomy.metrics.rates import RATES

_ODDS = ("false_positive_rate", "true_positive_rate")


def _rate(counts: Counts, rates: tuple[str, ...]) -> Floats:
    """Return the mean of some rates by group."""
    return np.asarray(sum(RATES[name](counts) for name in rates) / len(rates))


def _worst_case(counts: Counts, *, rates: tuple[str, ...]) -> Floats:
    value, known = _known(_rate(counts, rates))
    high, low = (np.where(known, value, end) for end in (-np.inf, np.inf))
    return _where_two(high.max(axis=-1) - low.min(axis=-1), known)


def _average_case(counts: Counts, *, rates: tuple[str, ...]) -> Floats:
    whole = counts.regroup(np.zeros(len(counts.groups), dtype=np.intp), (counts.groups[0],))
    value, known = _known(np.abs(_rate(counts, rates) - _rate(whole, rates)))
    mean = divide(np.where(known, value, 0.0).sum(axis=-1), known.sum(axis=-1))
    return _where_two(mean, known)


def _known(value: Floats) -> tuple[Floats, Floats]:
    return value, ~np.isnan(value)


def _where_two(value: Floats, known: Floats) -> Floats:
    """Return the values that rest on two groups at least."""
    return np.where(known.sum(axis=-1) >= 2, value, np.nan)


def _over_groups(
    counts: Counts, *, rates: tuple[str, ...], how: Callable[..., Floats], compare: str = "max_min"
) -> Floats:
    groups, _ = compared(counts, compare)
    return how(groups, rates=rates)


def _why(counts: Counts, *, rates: tuple[str, ...], compare: str = "max_min") -> str | None:
    groups, _ = compared(counts, compare)
    of = [RATES[name].of for name in rates]
    rows = np.min([RATES[name].rows(groups) for name in rates], axis=0)
    if rows.ndim > 1 or (rows > 0).sum() >= 2:
        return None
    return f"fewer than two groups have {' and '.join(dict.fromkeys(of))}"


def _fewest_rows(counts: Counts, *, rates: tuple[str, ...], compare: str = "max_min") -> float:
    groups, _ = compared(counts, compare)
    rows = np.min([RATES[name].rows(groups) for name in rates], axis=0)
    return float(rows[rows > 0].min(initial=np.inf))


for _name, _short, _rates, _written, _known_as in (
    ("statistical_parity", "SPD", ("selection_rate",), "P(ŷ = fav)", "spd"),
    ("average_odds", "AOD", _ODDS, "½ (FPR + TPR)", "aod"),
    ("equal_opportunity", "EOD", ("true_positive_rate",), "TPR", "eod"),
):
    _described: dict[str, Any] = {
        "kind": "group",
        "goal": "zero",
        "labels": _name != "statistical_parity",
        "why_undefined": partial(_why, rates=_rates),
        "denominators": partial(_fewest_rows, rates=_rates),
        "sign": "0 when all subgroups agree; it does not say which one is worse off.",
    }
    # of one rate it is a gap between many groups, whose limits are known
    _parts = {"parts": GapParts(_rates, False, "only"), "parameters": {"compare": "max_min"}}
    add_metric(
        f"worst_case_{_name}_difference", partial(_over_groups, rates=_rates, how=_worst_case),
        label=f"worst-case {_short}",
        formula=f"max - min over the subgroups of {_written}",
        avoid="Do not compare it across numbers of subgroups: the more there are and the fewer rows "
        "they have, the larger it is by chance alone."
        + (" A higher TPR and a lower FPR cancel." if len(_rates) > 1 else ""),
        reference="Chen et al. 2024, Fairness Improvement with Multiple Protected Attributes, ICSE",
        aliases=(f"wc{_known_as}",),
        **(_described | (_parts if len(_rates) == 1 else {})),
    )  # fmt: skip
    add_metric(
        f"average_case_{_name}_difference", partial(_over_groups, rates=_rates, how=_average_case),
        label=f"average-case {_short}",
        formula=f"mean over the subgroups of |{_written} - overall {_written}|",
        avoid="Do not use it alone: one small subgroup that is treated badly hardly moves a mean."
        + (" A higher TPR and a lower FPR cancel." if len(_rates) > 1 else ""),
        reference="Chen et al. 2025, Diversity Drives Fairness: Ensemble of Higher Order Mutants for "
        "Intersectional Fairness of Machine Learning Software, ICSE",
        aliases=(f"ave{_known_as}", f"ac{_known_as}"),
        **_described,
    )  # fmt: skip
