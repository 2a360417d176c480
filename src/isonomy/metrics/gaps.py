"""Group fairness: gaps between the rates of groups."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np

from isonomy._arrays import Floats, divide
from isonomy._validate import check_choice
from isonomy.metrics.counts import Counts
from isonomy.metrics.individual import benefits, generalized_entropy
from isonomy.metrics.metric import Combine, GapParts, add_metric
from isonomy.metrics.rates import RATES

Comparison = Literal["privileged", "max_min", "each"]

COMPARISONS: tuple[Comparison, ...] = ("privileged", "max_min", "each")
"""Unprivileged against privileged; largest against smallest; each group against the privileged."""


def default_comparison(counts: Counts) -> Comparison:
    """Compare with the privileged group where it is declared, else largest with smallest."""
    mask = counts.is_privileged()
    if mask is None or not mask.any():
        return "max_min"
    return "privileged" if (~mask & counts.known).any() else "max_min"


def compared(counts: Counts, compare: str | None = None) -> tuple[Counts, Comparison]:
    """Return the counts whose groups are to be compared, and how.

    Rows whose attribute is not known are no group to compare, unless fewer than two others are.
    """
    chosen = default_comparison(counts) if compare is None else compare
    check_choice("comparison of groups", chosen, COMPARISONS)
    if chosen == "max_min":
        known = counts.known
        if known.all() or known.sum() < 2:
            return counts, "max_min"
        groups = tuple(g for g, k in zip(counts.groups, known, strict=True) if k)
        return counts.map_cells(lambda cells: cells[..., known, :, :], groups=groups), "max_min"
    if chosen == "privileged":
        return counts.by_privilege(), "privileged"
    counts.by_privilege()  # raises where nothing is declared
    return counts, "each"


def _sides(name: str, counts: Counts, compare: Comparison) -> tuple[Floats, Floats]:
    """Return the rates to compare and those they are compared with."""
    rate = RATES[name](counts)
    if compare == "privileged":
        return rate[..., 0], rate[..., 1]
    if compare == "max_min":
        return _extremes(rate)
    mask = counts.is_privileged()
    assert mask is not None
    return rate[..., ~mask], RATES[name](counts.by_privilege())[..., 1:]


def _difference(name: str, counts: Counts, compare: Comparison) -> Floats:
    rate, other = _sides(name, counts, compare)
    return np.asarray(other - rate if compare == "max_min" else rate - other)


def _ratio(name: str, counts: Counts, compare: Comparison) -> Floats:
    return divide(*_sides(name, counts, compare))


def _extremes(rate: Floats) -> tuple[Floats, Floats]:
    """Find the smallest and largest rate among the groups that have one (two at least)."""
    known = ~np.isnan(rate)
    enough = known.sum(axis=-1) >= 2
    low = np.where(known, rate, np.inf).min(axis=-1)
    high = np.where(known, rate, -np.inf).max(axis=-1)
    return np.where(enough, low, np.nan), np.where(enough, high, np.nan)


# ---------------------------------------------------------------------- how gaps combine


def _log(gaps: Sequence[Floats]) -> Floats:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(gaps[0]))


def _farthest(gaps: Sequence[Floats]) -> Floats:
    """Return the ratio farthest from 1, turned so that it is at most 1."""
    turned = [np.minimum(g, divide(np.ones_like(g), g)) for g in gaps]
    return np.asarray(np.min(turned, axis=0))


_COMBINE: dict[Combine, Callable[[Sequence[Floats]], Floats]] = {
    "only": lambda gaps: gaps[0],
    "mean": lambda gaps: np.asarray(np.mean(gaps, axis=0)),
    "mean_absolute": lambda gaps: np.asarray(np.mean(np.abs(gaps), axis=0)),
    "largest": lambda gaps: np.asarray(np.max(np.abs(gaps), axis=0)),
    "log": _log,
    "farthest": _farthest,
}


def _gap(
    counts: Counts,
    *,
    compare: str | None,
    rates: Sequence[str],
    how: Callable[[str, Counts, Comparison], Floats],
    combine: Combine,
) -> Floats:
    groups, chosen = compared(counts, compare)
    return _COMBINE[combine]([how(name, groups, chosen) for name in rates])


def _why(counts: Counts, *, compare: str | None, rates: Sequence[str], ratio: bool) -> str | None:
    """Name the first group without rows to divide by, or without a rate to compare with."""
    groups, chosen = compared(counts, compare)
    for name in rates:
        rate = RATES[name]
        rows = rate.rows(groups)
        if rows.ndim > 1:
            return None
        empty = [label for label, n in zip(groups.labels(), rows, strict=True) if n == 0]
        if empty and (chosen != "max_min" or rows.size - len(empty) < 2):
            return f"group {empty[0]!r} has no {rate.of}"
        idle = [
            label
            for label, weight in zip(groups.labels(), rate.denominator(groups), strict=True)
            if weight == 0 and label not in empty
        ]
        if idle and (chosen != "max_min" or rows.size - len(empty) - len(idle) < 2):
            return f"all {rate.of} of group {idle[0]!r} have the weight 0"
        if ratio:
            values = rate(groups)
            bottom = np.nanmax(values) if chosen == "max_min" else values[-1]
            if chosen == "each":
                bottom = rate(groups.by_privilege())[1]
            if bottom == 0:
                what = "every group's" if chosen == "max_min" else "the privileged group's"
                return f"{what} {rate.label} is 0, so there is nothing to divide by"
    return None


def _fewest_rows(counts: Counts, *, compare: str | None, rates: Sequence[str]) -> float:
    """Return the smallest number of rows any compared rate rests on."""
    groups, _ = compared(counts, compare)
    return float(min(RATES[name].rows(groups).min() for name in rates))


def _add(
    name: str,
    label: str,
    formula: str,
    rates: Sequence[str],
    *,
    how: Callable[[str, Counts, Comparison], Floats] = _difference,
    combine: Combine = "only",
    **described: Any,
) -> None:
    ratio = how is _ratio
    usual = {"goal": "one", "bounds": (0.0, np.inf)} if ratio else {"goal": "zero"}
    add_metric(
        name,
        partial(_gap, rates=rates, how=how, combine=combine),
        label=label,
        formula=formula,
        kind="group",
        parameters={"compare": None},
        labels=list(rates) != ["selection_rate"],
        why_undefined=partial(_why, rates=rates, ratio=ratio),
        denominators=partial(_fewest_rows, rates=rates),
        parts=GapParts(tuple(rates), ratio, combine),
        **{"bounds": (-1.0, 1.0), "signed": True, **usual, **described},
    )


HARDT = "Hardt, Price, Srebro 2016, Equality of Opportunity in Supervised Learning"
LESS = "Negative: the unprivileged group gets it less often. Between many groups: largest minus smallest."
ERRS = "Positive: the unprivileged group suffers more of these errors. Between many groups: largest minus smallest."
UNDER = "Below 1: the unprivileged group gets it less often. Between many groups: smallest over largest."
OVER = "Above 1: the unprivileged group suffers more of these errors. Between many groups: smallest over largest."
LABELS = "Do not use it where the labels themselves are biased: it takes them as the truth."

_add(
    "statistical_parity_difference", "SPD", "P(ŷ = fav | unprivileged) - P(ŷ = fav | privileged)",
    ["selection_rate"],
    sign=LESS,
    avoid="Do not use it alone where base rates differ for good reasons: a perfect classifier fails it.",
    reference="Calders, Verwer 2010, Three Naive Bayes Approaches for Discrimination-Free Classification",
    aliases=("spd", "demographic_parity_difference", "mean_difference"),
)  # fmt: skip
_add(
    "disparate_impact", "DI", "P(ŷ = fav | unprivileged) / P(ŷ = fav | privileged)",
    ["selection_rate"], how=_ratio,
    sign=UNDER,
    avoid="Do not use it where few are selected: a small denominator makes it jump.",
    reference="EEOC 1978, Uniform Guidelines on Employee Selection Procedures (four-fifths rule); "
    "Feldman et al. 2015, Certifying and Removing Disparate Impact",
    aliases=("di", "statistical_parity_ratio", "demographic_parity_ratio"),
)  # fmt: skip
_add(
    "log_disparate_impact", "ln DI", "ln of disparate impact",
    ["selection_rate"], how=_ratio, combine="log", goal="zero", bounds=(-np.inf, np.inf),
    sign="Negative: the unprivileged group is selected less often; symmetric, so 0.5 and 2 weigh the same.",
    avoid="Do not use it where a group is never selected: it is infinite.",
    reference="Biswas, Rajan 2020, Do the Machine Learning Models on a Crowd Sourced Platform Exhibit Bias?",
    aliases=("ln_di",),
)  # fmt: skip
_add(
    "equal_opportunity_difference", "EOD", "TPR(unprivileged) - TPR(privileged)",
    ["true_positive_rate"], sign=LESS, avoid=LABELS, reference=HARDT,
    aliases=("eod", "true_positive_rate_difference", "tpr_difference", "recall_difference"),
)  # fmt: skip
_add(
    "average_odds_difference", "AOD",
    "½ [(FPR(unprivileged) - FPR(privileged)) + (TPR(unprivileged) - TPR(privileged))]",
    ["false_positive_rate", "true_positive_rate"], combine="mean",
    sign=LESS,
    avoid="Do not read 0 as equalized odds: a gap in TPR and an opposite gap in FPR cancel. "
    "`average_absolute_odds_difference` does not.",
    reference="Bellamy et al. 2018, AI Fairness 360",
    aliases=("aod",),
)  # fmt: skip
_add(
    "average_absolute_odds_difference", "AAOD",
    "½ [|FPR(unprivileged) - FPR(privileged)| + |TPR(unprivileged) - TPR(privileged)|]",
    ["false_positive_rate", "true_positive_rate"], combine="mean_absolute",
    bounds=(0.0, 1.0), signed=False,
    sign="0 when both rates agree; it does not say who is worse off.",
    avoid=LABELS + " The studies of Hort 2021 and Chen 2022 call this one AOD.",
    reference="Bellamy et al. 2018, AI Fairness 360",
    aliases=("aaod", "average_abs_odds_difference"),
)  # fmt: skip
_add(
    "equalized_odds_difference", "EqOdds",
    "max(|FPR(unprivileged) - FPR(privileged)|, |TPR(unprivileged) - TPR(privileged)|)",
    ["false_positive_rate", "true_positive_rate"], combine="largest",
    bounds=(0.0, 1.0), signed=False,
    sign="0 when both rates agree; it does not say who is worse off.",
    avoid=LABELS, reference=HARDT,
)  # fmt: skip
_add(
    "equalized_odds_ratio", "EqOdds ratio",
    "the smaller of the FPR ratio and the TPR ratio, each turned so that it is at most 1",
    ["false_positive_rate", "true_positive_rate"], how=_ratio, combine="farthest",
    bounds=(0.0, 1.0), signed=False,
    sign="1 when both rates agree; it does not say who is worse off.",
    avoid="Do not use it where false positives are rare: the FPR ratio decides it alone.",
    reference=HARDT,
)  # fmt: skip
_add(
    "error_rate_difference", "ERD", "P(ŷ ≠ y | unprivileged) - P(ŷ ≠ y | privileged)",
    ["error_rate"], sign=ERRS,
    avoid="Do not use it alone: mutating all predictions to one label does not make it small.",
    reference="Biswas, Rajan 2020 (whose text prints FPR + FNR; their code computes this)",
    aliases=("erd",),
)  # fmt: skip
_add(
    "error_rate_ratio", "error rate ratio", "P(ŷ ≠ y | unprivileged) / P(ŷ ≠ y | privileged)",
    ["error_rate"], how=_ratio, sign=OVER,
    avoid="Do not use it where errors are rare.", reference="Bellamy et al. 2018, AI Fairness 360",
)  # fmt: skip
_add(
    "accuracy_difference", "accuracy gap", "P(ŷ = y | unprivileged) - P(ŷ = y | privileged)",
    ["accuracy"], sign=LESS,
    avoid="Do not use it where base rates differ: accuracy follows them.",
    reference="Berk et al. 2018, Fairness in Criminal Justice Risk Assessments",
)  # fmt: skip
_add(
    "accuracy_ratio", "accuracy ratio", "P(ŷ = y | unprivileged) / P(ŷ = y | privileged)",
    ["accuracy"], how=_ratio, sign=UNDER,
    avoid="Do not use it where base rates differ: accuracy follows them.",
    reference="Berk et al. 2018, Fairness in Criminal Justice Risk Assessments",
)  # fmt: skip

for _rate, _short, _text, _sense in (
    ("false_positive_rate", "FPR", "wrongly given the favourable outcome", "gets it"),
    ("false_negative_rate", "FNR", "wrongly denied the favourable outcome", "suffers it"),
    ("false_discovery_rate", "FDR", "favoured and did not merit it", "gets it"),
    ("false_omission_rate", "FOR", "denied and did merit it", "suffers it"),
    ("precision", "precision", "favoured and did merit it", "gets it"),
):
    _add(
        f"{_rate}_difference", f"{_short} gap", f"{_short}(unprivileged) - {_short}(privileged)",
        [_rate],
        sign=f"Positive: the unprivileged group {_sense} more often ({_text}). "
        "Between many groups: largest minus smallest.",
        avoid=LABELS, reference="Verma, Rubin 2018, Fairness Definitions Explained",
        aliases=("predictive_parity_difference",) if _rate == "precision" else (),
    )  # fmt: skip
    _add(
        f"{_rate}_ratio", f"{_short} ratio", f"{_short}(unprivileged) / {_short}(privileged)",
        [_rate], how=_ratio,
        sign=f"Above 1: the unprivileged group {_sense} more often ({_text}). "
        "Between many groups: smallest over largest.",
        avoid="Do not use it where the rate itself is near 0.",
        reference="Verma, Rubin 2018, Fairness Definitions Explained",
    )  # fmt: skip
_add(
    "true_positive_rate_ratio", "TPR ratio", "TPR(unprivileged) / TPR(privileged)",
    ["true_positive_rate"], how=_ratio,
    sign=UNDER, avoid=LABELS, reference=HARDT, aliases=("equal_opportunity_ratio", "tpr_ratio"),
)  # fmt: skip
_add(
    "treatment_equality_difference", "treatment equality",
    "FN / FP (unprivileged) - FN / FP (privileged)",
    ["false_negatives_per_false_positive"], bounds=(-np.inf, np.inf),
    sign="Positive: the unprivileged group is wrongly denied more often for each wrongly given.",
    avoid="Do not use it where false positives are few: it is unbounded.",
    reference="Berk et al. 2018, Fairness in Criminal Justice Risk Assessments",
    aliases=("treatment_equality",),
)  # fmt: skip


# ---------------------------------------------------------------------- inequality between groups


def _between(counts: Counts, *, alpha: float) -> Floats:
    weight = counts.values.sum(axis=(-1, -2))
    total = (counts.values * benefits(counts)).sum(axis=(-1, -2))
    return generalized_entropy(divide(total, weight), weight, alpha)


for _name, _label, _alpha, _more in (
    ("generalized_entropy", "GE", 2, ("between_group_generalized_entropy_index",)),
    ("theil_index", "Theil", 1, ()),
):
    add_metric(
        f"between_group_{_name}", _between, label=f"between-group {_label}", kind="group", goal="zero",
        formula=f"generalised entropy of b = ŷ - y + 1 with each b replaced by its group's mean (α = {_alpha})",
        bounds=(0.0, np.inf),
        sign="0 when every group gets the same mean benefit; it does not say who is worse off.",
        avoid="Do not compare it across data sets with different numbers of groups.",
        reference="Speicher et al. 2018, A Unified Approach to Quantifying Algorithmic Unfairness",
        aliases=_more, parameters={"alpha": _alpha},
        why_undefined=lambda counts, **_: "nobody benefits (every benefit is 0)",
    )  # fmt: skip
