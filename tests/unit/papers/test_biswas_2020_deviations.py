"""Our means beside the published ones: how far apart, and the cause of every miss."""

import numpy as np
import pandas as pd
import pytest

from isonomy.papers import compare as comparing
from isonomy.papers.biswas_2020.deviations import KINDS, SPREAD, agreement, deviations
from isonomy.papers.biswas_2020.tables import BEFORE, LOGARITHMS, METHODS, METRICS
from isonomy.papers.paper import PAPERS
from isonomy.store import Record, records_frame

NUMBERS = {"Acc": 0.7, "F1": 0.8, "DI": -0.1, "SPD": -0.1, "EOD": 0.0, "AOD": 0.0, "ERD": 0.05, "CNT": -0.2, "TI": 0.1}  # fmt: skip


def runs(study: str, cells: dict[tuple[str, str], list[dict[str, float]]]) -> pd.DataFrame:
    """Make a frame of single runs; each says what differs from NUMBERS."""
    records = []
    for (model, method), changes in cells.items():
        for repeat, change in enumerate(changes):
            values = {METRICS[k]: v for k, v in (NUMBERS | change).items()}
            plain = {
                LOGARITHMS.get(name, name): float(np.exp(v)) if name in LOGARITHMS else v
                for name, v in values.items()
            }
            name = {"-": BEFORE}.get(method) or METHODS[method]
            records.append(Record(study, "german", "sex", model, name, repeat, plain))
    return records_frame(records)


PUBLISHED = runs(
    "biswas_2020:published",
    {("GC1", "-"): [{}], ("GC1", "A"): [{"F1": 0.5}], ("GC2", "-"): [{}], ("GC3", "-"): [{}]},
)


def test_distance_is_in_printed_deviations_of_the_same_number() -> None:
    ours = runs("biswas_2020", {("GC1", "-"): [{"Acc": 0.71, "DI": -0.34}] * 2})
    found = deviations(ours, PUBLISHED).set_index("number")
    assert found.loc["Acc", "apart"] == pytest.approx(0.01 / SPREAD["Acc"])
    assert found.loc["DI", "apart"] == pytest.approx(-0.24 / SPREAD["DI"])
    assert found.loc["TI", "apart"] == 0
    assert len(found) == 9
    assert (found["method"] == "-").all()
    assert (found["runs"] == 2).all()


def test_every_miss_has_the_cause_that_the_numbers_show() -> None:
    wide, steady = [{"TI": 0.14 + 0.02 * k} for k in range(-2, 3)], [{"TI": 0.2}] * 5
    cases = {
        ("GC1", "-"): (wide, "spread"),  # 0.04 apart, its own deviation is 0.03
        ("GC3", "-"): (steady, "open"),  # 0.1 apart and no spread at all
        ("GC2", "-"): (steady, "trees"),
    }
    for cell, (changes, kind) in cases.items():
        found = deviations(runs("biswas_2020", {cell: changes}), PUBLISHED)
        assert found["cause"][found["number"] == "TI"].tolist() == [kind]
        assert (found["cause"][found["number"] != "TI"] == "").all()
    one = runs("biswas_2020", {("GC5", "-"): [{}], ("GC5", "E"): [{}]})
    ours = runs("biswas_2020", {("GC5", "-"): [{}] * 5, ("GC5", "E"): [{"TI": 1.2}] * 5})
    found = deviations(ours, one.assign(study="biswas_2020:published"))
    assert found["cause"][found["number"] == "TI"].tolist() == ["", "answers"]
    few = deviations(runs("biswas_2020", {("GC3", "-"): steady[:4]}), PUBLISHED)
    assert [*few["cause"].unique()] == ["", "runs"]
    # no favourable prediction in one of the runs: its F1 is undefined
    ours = {("GC1", "-"): [{}] * 3, ("GC1", "A"): [{"F1": 0.8}, {"F1": 0.8}, {"F1": np.nan}]}
    after = deviations(runs("biswas_2020", ours), PUBLISHED)
    assert (
        after["cause"][(after["method"] == "A") & (after["number"] == "F1")].item() == "undefined"
    )


def test_a_distance_is_measured_against_what_chance_leaves_of_two_means() -> None:
    # a deviation of 0.0316 over five runs: three standard errors of a difference are 0.06
    changes = [{"TI": 0.155 + 0.02 * k} for k in range(-2, 3)]
    near = deviations(runs("biswas_2020", {("GC3", "-"): changes}), PUBLISHED)
    assert near["cause"][near["number"] == "TI"].tolist() == ["spread"]
    changes = [{"TI": 0.165 + 0.02 * k} for k in range(-2, 3)]
    far = deviations(runs("biswas_2020", {("GC3", "-"): changes}), PUBLISHED)
    assert far["cause"][far["number"] == "TI"].tolist() == ["open"]


def test_another_published_mean_of_the_same_quantity_is_a_measure_of_chance() -> None:
    # GC1 and GC4 keep the same columns, and P uses no model; GC3 keeps others
    both = {("GC1", "P"): [{"TI": 0.14}], ("GC4", "P"): [{"TI": 0.2}], ("GC3", "P"): [{}]}
    base = {(model, "-"): [{}] for model in ("GC1", "GC3", "GC4")}
    theirs = runs("biswas_2020:published", base | both)
    for model, kind in (("GC4", "twins"), ("GC3", "open")):
        ours = runs("biswas_2020", {(model, "-"): [{}] * 5, (model, "P"): [{"TI": 0.15}] * 5})
        found = deviations(ours, theirs)
        found = found[(found["number"] == "TI") & (found["method"] == "P")]
        assert found["cause"].tolist() == [kind]
    # E works on the labels of a model: another model's mean says nothing of it
    met = {(m, "E" if c == "P" else c): v for (m, c), v in both.items()}
    ours = runs("biswas_2020", {("GC4", "-"): [{}] * 5, ("GC4", "E"): [{"TI": 0.15}] * 5})
    found = deviations(ours, runs("biswas_2020:published", base | met))
    assert found["cause"][found["number"] == "TI"].tolist() == ["", "open"]


def test_agreement_counts_by_method_and_lists_the_misses() -> None:
    ours = runs("biswas_2020", {("GC1", "-"): [{}] * 3, ("GC3", "-"): [{"TI": 0.2}] * 5})
    shares, misses = agreement(ours, PUBLISHED)
    assert shares.data.loc["-", "TI"] == 0.5
    assert shares.data.loc["-", "misses"] == 1
    assert shares.notes[0].startswith("Our means: 17 of 18 lie within 3")
    assert len(shares.notes) == 2  # these files hold single runs and no means of ten
    assert misses.data.index.tolist() == [("GC3", "-", "TI")]
    assert misses.notes == (f"open (1): {KINDS['open']}.",)


def test_compare_shows_them_where_the_authors_splits_are_not_replayed() -> None:
    ours = runs("biswas_2020", {("GC1", "-"): [{}] * 3})
    assert PAPERS["biswas_2020"].beside is agreement
    result = comparing.compare(ours, PUBLISHED, "biswas_2020")
    assert [table.name for table in result.beside] == ["deviations", "misses"]
    assert "| - | 100% |" in result.markdown()
    assert result.findings is not None
    assert result.findings.data["ours"].iloc[7:].eq("no mitigated runs").all()
    assert result.to_dict()["beside"][0]["cases"] == 9
    assert comparing.compare(ours, PUBLISHED, "biswas_2020", paired=False).beside == ()
