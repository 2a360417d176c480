"""Figure 7 of the forty-model study: the same models by their datasets' second attribute.

A model without mitigation does not know which attribute it is asked about, so its second attribute
needs no run of its own: the joint counts of a stored run hold it.

References
----------
Biswas and Rajan 2020, Do the Machine Learning Models on a Crowd Sourced Platform Exhibit Bias? An
Empirical Study on Model Fairness, ESEC/FSE.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd

from isonomy.papers.biswas_2020.tables import (
    BEFORE,
    BIAS,
    SECOND,
    means,
    printed_text,
    three_decimals,
)
from isonomy.papers.table import PaperTable
from isonomy.store.record import Record, records_frame
from isonomy.study.measure import measure_counts

if TYPE_CHECKING:
    from isonomy.store import Store


def second_attributes(store: "Store") -> pd.DataFrame:
    """Return a store's unmitigated runs of German and Adult by their second attribute."""
    found: list[Record] = []
    for dataset, attribute in SECOND.items():
        where = f"dataset = '{dataset}' and mitigator = '{BEFORE}' and status = 'ok'"
        runs = [
            (record, record.counts)
            for record in store.records(where)
            if record.counts is not None and attribute in record.counts.attributes
        ]
        measured = measure_counts([counts for _, counts in runs], attribute)
        found += [
            replace(r, attributes=attribute, metrics={**r.metrics, **values}, key="", reason="")
            for (r, _), values in zip(runs, measured, strict=True)
            if r.attributes != attribute
        ]
    return records_frame(found)


def _by_attribute(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the seven measures of the models before mitigation, by dataset and attribute."""
    parts = {}
    for dataset, second in SECOND.items():
        part = frame[((frame["dataset"] == dataset) & (frame["mitigator"] == BEFORE)).to_numpy()]
        is_second = (part["attributes"] == second).to_numpy()
        for chosen in (part[~is_second], part[is_second]):
            if len(chosen):
                attribute = str(chosen["attributes"].iloc[0])
                laid, _ = means(chosen, second=attribute == second)
                parts[f"{dataset} {attribute}"] = laid[BIAS].droplevel("mitigator")
    return parts


def totals_by_attribute(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the total bias of each model before mitigation, a column by dataset and attribute."""
    return pd.DataFrame(
        {name: part.abs().sum(axis=1, skipna=False) for name, part in _by_attribute(frame).items()}
    )


def fig7(frame: pd.DataFrame) -> PaperTable:
    """Make Figure 7: the seven measures of German's and Adult's models by both attributes."""
    parts = _by_attribute(frame)
    data = pd.concat(
        {
            (model, name.split()[1]): row
            for name, part in parts.items()
            for model, row in part.iterrows()
        },
        axis=1,
    ).T
    models = [*data.index.get_level_values(0).unique()]
    data = data.loc[sorted(data.index, key=lambda row: models.index(row[0]))]
    sums = ", ".join(f"{k} {v:.2f}" for k, v in totals_by_attribute(frame).sum().items())
    start = "total bias by "
    theirs = ", ".join(
        f"{name.removeprefix(start)} {value:.2f}"
        for name, value in printed_text().items()
        if name.startswith(start)
    )
    return PaperTable(
        "fig7",
        "Measures of bias before mitigation by two protected attributes",
        data,
        len(data),
        "models and attributes",
        (f"Total bias: {sums}; in print: {theirs}.",),
        None,
        three_decimals,
        drawing="bars",
    )
