"""Names in a result frame for what the studies of several attributes measure beside the whole.

A metric by another attribute than the one under test is ``gap[race]``, the rate of a subgroup
``selection_rate[sex=0,race=1]``, where 1 is the privileged side of an attribute. Runs of ours get
them from their stored joint counts.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from isonomy.metrics import RATES, Counts, get_metric
from isonomy.papers.archive import BASELINE
from isonomy.store.record import Record, magnitude, records_frame
from isonomy.study.measure import measure_counts, measure_mutation, tested
from isonomy.tradeoff.mutation import check_degrees, resolve_target

if TYPE_CHECKING:
    from isonomy.store import Store

GAPS: dict[str, str] = {
    "spd": "statistical_parity_difference",
    "aod": "average_odds_difference",
    "eod": "equal_opportunity_difference",
}
"""The gaps of one attribute by the studies' short name, with their sign."""

WORST: dict[str, str] = {f"wc{short}": f"worst_case_{name}" for short, name in GAPS.items()}
"""The worst cases over all subgroups, by the studies' short name."""

AVERAGE: dict[str, str] = {f"ave{short}": f"average_case_{name}" for short, name in GAPS.items()}
"""The average cases over all subgroups, by the studies' short name."""

PERFORMANCE: dict[str, str] = {
    "accuracy": "accuracy",
    "precision": "macro_precision(zero_division=0)",
    "recall": "macro_recall(zero_division=0)",
    "f1score": "macro_f1(zero_division=0)",
    "mcc": "mcc(zero_division=0)",
}
"""The performance metrics by the studies' short name."""

SHARES: dict[str, str] = {
    "sr": "selection_rate",
    "fpr": "false_positive_rate",
    "tpr": "true_positive_rate",
}
"""The rates of a subgroup by the studies' short name."""

REPETITIONS = 50
"""How often a degree of mutation is drawn, as in Fairea."""


def by_attribute(metric: str, attribute: str) -> str:
    """Return the name of a metric by another attribute than the one under test.

    Examples
    --------
    >>> by_attribute("|statistical_parity_difference|", "race")
    '|statistical_parity_difference[race]|'
    """
    bare = metric.strip("|")
    return metric.replace(bare, f"{bare}[{attribute}]")


def of_group(rate: str, attributes: Iterable[str], sides: Iterable[int | str]) -> str:
    """Return the name of a subgroup's rate; 1 is the privileged side of an attribute.

    Examples
    --------
    >>> of_group("selection_rate", ["sex", "race"], "01")
    'selection_rate[sex=0,race=1]'
    """
    pairs = zip(attributes, sides, strict=True)
    return f"{rate}[{','.join(f'{name}={side}' for name, side in pairs)}]"


def size_of(gap: str, attribute: str) -> str:
    """Return the name of the size of a gap by one attribute of several."""
    return by_attribute(magnitude(GAPS[gap]), attribute)


def by_side(counts: Counts) -> Counts:
    """Return counts of privileged (1) and unprivileged (0) sides, as the studies code groups."""
    sides = [
        tuple(int(v in counts.privileged[a]) for a, v in zip(counts.attributes, g, strict=True))
        for g in counts.groups
    ]
    groups = tuple(product((0, 1), repeat=len(counts.attributes)))
    return counts.regroup(np.array([groups.index(side) for side in sides]), groups)


def subgroup_rates(counts: Counts) -> dict[str, float]:
    """Return every rate of every subgroup of counts whose privileged values are declared.

    Subgroups are of privileged and unprivileged sides, as the studies code them; of several
    attributes the worst and average cases over these are returned, too.

    Examples
    --------
    >>> counts = Counts.from_labels(
    ...     [1, 0, 1, 0], [1, 1, 1, 0],
    ...     sensitive_features={"sex": ["f", "f", "m", "m"]}, privileged={"sex": "m"},
    ... )
    >>> subgroup_rates(counts)["selection_rate[sex=0]"]
    1.0
    """
    laid = by_side(counts)
    found = {
        of_group(rate, laid.attributes, group): float(value)
        for rate in SHARES.values()
        for group, value in zip(laid.groups, RATES[rate](laid), strict=True)
    }
    for name in (*WORST.values(), *AVERAGE.values()) if len(counts.attributes) > 1 else ():
        metric = get_metric(name)
        found[name] = float(metric.fn(laid, **metric.parameters))
    return found


def mutation_baseline(record: Record) -> list[Record]:
    """Return the mutation baseline of an original model's run, from its stored counts.

    Its gaps are the worst and average cases over sides of several attributes, which a baseline that
    was run with the study does not hold: that one knows the groups as they are in the data.

    Parameters
    ----------
    record : Record
        A run of the original model, with joint counts.

    Returns
    -------
    list of Record
        One per degree of mutation.
    """
    assert record.counts is not None
    counts = by_side(tested(record.counts, record.attributes))
    means = measure_mutation(
        counts.map_cells(lambda cells: cells[None]),
        label=resolve_target(counts).label,
        repetitions=REPETITIONS,
        seeds=[(record.repeat or 0, record.dataset, record.attributes, record.model)],
        metrics=[*PERFORMANCE.values(), *WORST.values(), *AVERAGE.values()],
    )
    return [
        replace(
            record,
            mitigator=f"{BASELINE}(strategy=majority, degree={degree:g})",
            metrics={name: float(values[i, 0]) for name, values in means.items()},
            counts=None,
            key="",
            reason="",
        )
        for i, degree in enumerate(check_degrees(None))
    ]


def beside(store: "Store", attributes: Mapping[str, tuple[str, ...]]) -> pd.DataFrame:
    """Return what a store's runs tell beside their metrics: other attributes, subgroups, baselines.

    Parameters
    ----------
    store : Store
        Runs of a study; those without joint counts tell nothing.
    attributes : mapping
        By dataset, the attributes of interest.
    """
    found: list[Record] = []
    for record in store.records("status = 'ok' and repeat is not null"):
        counts = record.counts
        if counts is None:
            continue
        more = {
            by_attribute(gap, other): value
            for other in attributes.get(record.dataset, ())
            if other in counts.attributes and other != record.attributes
            for gap, value in measure_counts([counts], other, GAPS.values())[0].items()
        }
        own = tested(counts, record.attributes)
        if all(name in own.privileged for name in own.attributes):
            more |= subgroup_rates(own)
            if record.mitigator == "unmitigated" and len(own.attributes) > 1:
                found += mutation_baseline(record)
        found.append(replace(record, metrics=more, key="", reason=""))
    return records_frame(found)
