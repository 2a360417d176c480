"""Our runs beside published ones: single cells against SciPy, tables by hand, the power note."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats as scipy_stats

from isonomy.errors import InputError
from isonomy.papers import PAPERS, Paper, PaperTable
from isonomy.papers.cells import Cause, compare_cells, fewest_pairs, same_part, same_repeats
from isonomy.papers.chen_2022 import tables as chen_2022
from isonomy.papers.chen_2022.cases import PERFORMANCE
from isonomy.papers.compare import (
    Comparison,
    _markdown,
    compare,
    compare_tables,
    compare_with_print,
)
from isonomy.papers.compare_tables import is_close, side_by_side
from isonomy.papers.table import Recipe
from isonomy.store import Record, combine, records_frame

METRICS = [*PERFORMANCE.values(), *chen_2022.BIAS.values()]


def runs(
    study: str, method: str, values: np.ndarray, *, model: str = "lr", **more: Any
) -> list[Record]:
    """Runs whose metrics all have the value of their repeat."""
    return [
        Record(study, "adult", "sex", model, method, i, dict.fromkeys(METRICS, float(v)), **more)
        for i, v in enumerate(values)
    ]


def line(study: str, model: str = "lr") -> list[Record]:
    return [
        Record(
            study,
            "adult",
            "sex",
            model,
            f"mutation(strategy=majority, degree={d:g})",
            None,
            {m: 0.9 - 0.3 * d if m in PERFORMANCE.values() else 0.3 - 0.3 * d for m in METRICS},
        )
        for d in (0.0, 0.5, 1.0)
    ]


@pytest.fixture(scope="module")
def pair() -> tuple[pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng(3)
    ours = runs("chen_2022", "unmitigated", rng.normal(0.8, 0.01, 20))
    ours += runs("chen_2022", "reweighing", rng.normal(0.7, 0.01, 20))
    theirs = runs("chen_2022:published", "unmitigated", rng.normal(0.8, 0.01, 50))
    theirs += runs("chen_2022:published", "reweighing", rng.normal(0.75, 0.01, 50))
    return records_frame(ours + line("chen_2022")), records_frame(
        theirs + line("chen_2022:published")
    )


@pytest.fixture(scope="module")
def found(pair: tuple[pd.DataFrame, pd.DataFrame]) -> Comparison:
    return compare(*pair, "chen")


def test_a_cell_holds_means_and_the_test_of_scipy(pair: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    ours, theirs = pair
    cells = compare_cells(ours, theirs, paired=False)
    assert len(cells) == 2 * len(METRICS)
    one = cells[(cells["mitigator"] == "reweighing") & (cells["metric"] == "accuracy")].iloc[0]
    a, b = (
        f[(f["mitigator"] == "reweighing") & (f["metric"] == "accuracy")]["value"].to_numpy()
        for f in (ours, theirs)
    )
    assert (one["runs"], one["published_runs"]) == (20, 50)
    assert one["difference"] == pytest.approx(a.mean() - b.mean())
    known = scipy_stats.mannwhitneyu(a, b, method="asymptotic")
    assert one["p"] == pytest.approx(known.pvalue, rel=1e-12)
    assert one["larger"] == pytest.approx(known.statistic / 1000)
    # every metric has the same p-value here, so Holm multiplies the 15 smallest alike
    assert one["adjusted"] == pytest.approx(min(1.0, 30 * one["p"]))
    assert bool(one["rejected"])
    same = cells[cells["mitigator"] == "unmitigated"]
    assert not same["rejected"].any()


def test_paired_cells_are_of_the_same_repeats_and_tested_by_signed_ranks(
    pair: tuple[pd.DataFrame, pd.DataFrame],
) -> None:
    """Twenty runs of ours meet the same twenty of the fifty published ones, in means and test."""
    ours, theirs = pair
    cells = compare_cells(ours, theirs)
    one = cells[(cells["mitigator"] == "reweighing") & (cells["metric"] == "accuracy")].iloc[0]
    a, b = (
        f[(f["mitigator"] == "reweighing") & (f["metric"] == "accuracy")]["value"].to_numpy()[:20]
        for f in (ours, theirs)
    )
    assert (one["runs"], one["published_runs"]) == (20, 20)
    assert one["published"] == pytest.approx(b.mean())
    assert one["difference"] == pytest.approx(a.mean() - b.mean())
    assert one["p"] == pytest.approx(scipy_stats.wilcoxon(a, b, method="exact").pvalue)
    assert one["larger"] == pytest.approx((a > b).mean())
    assert one["paired"] == pytest.approx(np.abs(a - b).mean())


def test_differences_beyond_the_published_digits_are_none() -> None:
    """Ours has sixteen digits and theirs six: always a little above, and yet the same."""
    values = np.linspace(0.5, 0.9, 30)
    cells = compare_cells(
        records_frame(runs("chen_2022", "reweighing", values + 4e-7)),
        records_frame(runs("x:published", "reweighing", values)),
    )
    assert set(cells["p"]) == {1.0}
    assert set(cells["larger"]) == {0.5}
    assert set(cells["equal_runs"]) == {1.0}


def test_seeds_worst_cells_and_causes(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.linspace(0.5, 0.9, 10)
    off = values + np.where(np.arange(10) < 4, 0.1, 0.0)
    ours, theirs = (
        records_frame(
            runs(name, "unmitigated", values)
            + runs(name, "reweighing", rw, model="rf")
            + runs(name, "unmitigated", values, model="rf")
            + line(name)
            + line(name, "rf")
        )
        for name, rw in (("chen_2022", off), ("chen_2022:published", values))
    )
    known = replace(PAPERS["chen"], causes=(Cause("bits", "reweighing", models=("rf",)),))
    monkeypatch.setattr("isonomy.papers.compare.PAPERS", {"chen": known})
    found = compare(ours, theirs, "chen")
    assert found.seeds()["adult/sex"].to_dict() == {
        ("lr", "unmitigated"): "10/10",
        ("rf", "reweighing"): "6/10",
        ("rf", "unmitigated"): "10/10",
    }
    assert found.causes().to_dict("records") == [{"cause": "bits", "unequal": 4, "runs": 10}]
    worst = found.worst(3)
    assert set(worst["mitigator"]) == {"reweighing"}
    assert worst["difference"].tolist() == pytest.approx([0.04] * 3)
    assert set(worst["cause"]) == {"bits"}
    text = found.markdown()
    # the original models are not applications
    assert "of 1 applications" in text
    assert "10 runs of the same seeds on both sides" in text
    assert "| rf | reweighing | 6/10 |" in text
    assert "| bits | 4 | 10 |" in text
    # the bars of a metric's name are no borders of columns
    assert r" | \|error_rate_difference\| | " in "\n".join(_markdown(found.worst(15)))
    assert set(found.cells[found.cells["equal_runs"] == 1]["cause"]) == {""}


def test_published_runs_beyond_ours_are_left_out_cell_by_cell() -> None:
    """A method that was run less often is compared with as many of its published runs."""
    ten, four = np.linspace(0.5, 0.9, 10), np.linspace(0.5, 0.7, 4)
    ours = records_frame(
        runs("chen_2022", "reweighing", ten) + runs("chen_2022", "fairway", four, model="rf")
    )
    theirs = records_frame(
        runs("x:published", "reweighing", ten) + runs("x:published", "fairway", ten)
    )
    part = same_repeats(theirs, ours).drop_duplicates(["mitigator", "repeat"])
    assert part["mitigator"].astype(str).value_counts().to_dict() == {
        "reweighing": 10,
        "fairway": 4,
    }


@pytest.mark.parametrize("tests", [1, 30, 1000, 6030])
def test_the_fewest_pairs_can_be_significant_and_one_fewer_cannot(tests: int) -> None:
    n = fewest_pairs(0.01, tests)
    assert 2.0 ** (1 - n) * tests < 0.01 <= 2.0 ** (2 - n) * tests


def test_the_share_that_agrees_is_counted(found: Comparison) -> None:
    share = found.agreement()
    assert share.loc["reweighing", "not rejected"] == 0.0
    assert share.loc["unmitigated", "not rejected"] == 1.0
    assert share.loc["all", "not rejected"] == 0.5
    assert share.loc["all", "cells"] == 30
    assert not any("cannot give a p-value" in note for note in found.notes)


def test_findings_that_need_more_than_our_runs_hold_are_a_note() -> None:
    ours = records_frame(runs("chen_2022", "unmitigated", np.linspace(0.5, 0.9, 5)))
    found = compare_with_print(ours, "chen")
    assert found.findings is None
    assert "findings are not counted: our runs lack baselines and runs." in found.notes


def test_equal_runs_are_found_seed_by_seed() -> None:
    values = np.linspace(0.5, 0.9, 10)
    other = values.copy()
    other[3] += 1e-5
    cells = compare_cells(
        records_frame(runs("chen_2022", "reweighing", values)),
        records_frame(runs("x:published", "reweighing", other.round(6))),
    )
    assert set(cells["equal_runs"]) == {0.9}


def test_without_the_same_rows_nothing_is_paired() -> None:
    frame = records_frame(runs("chen_2022", "reweighing", np.linspace(0.5, 0.9, 10)))
    cells = compare_cells(frame, frame, paired=False)
    assert cells["equal_runs"].isna().all()
    assert cells["paired"].isna().all()


def test_tables_of_paired_runs_are_made_of_the_same_repeats(
    pair: tuple[pd.DataFrame, pd.DataFrame],
) -> None:
    """Twelve of our fifty seeds give the tables of the same twelve published ones."""
    theirs = pair[1]
    first = theirs[(theirs["repeat"].isna() | (theirs["repeat"] < 12)).to_numpy()]
    found = compare(first, theirs, "chen")
    assert found.tables["equal"].all()
    assert len(found.tables) > 100
    assert found.cells["paired"].max() == 0.0


def test_tables_of_both_sides_have_their_rows_in_turn(
    pair: tuple[pd.DataFrame, pd.DataFrame],
) -> None:
    """The published rows are those of a table that is made of the same twelve seeds."""
    ours, theirs = pair
    paper = PAPERS["chen"]
    few = ours[(ours["repeat"].isna() | (ours["repeat"] < 12)).to_numpy()]
    made, left_out = side_by_side(few, theirs, paper, ["fig3", "fig4", "table2", "findings"])
    assert [table.name for table in made] == ["fig3", "fig4", "findings"]
    assert left_out[0].startswith("table2 cannot be made of both sides")
    same = same_repeats(same_part(theirs, few), few)
    for table in made[:2]:
        alone = {"ours": paper.make(table.name, few), "published": paper.make(table.name, same)}
        assert [*table.data.index.get_level_values(-1)] == ["ours", "published"] * (len(table.data) // 2)  # fmt: skip
        for whose, one in alone.items():
            half = table.data.xs(whose, level=-1).astype(one.data.dtypes)
            pd.testing.assert_frame_equal(half, one.data, check_names=False)
    assert "of ours" in made[0].notes[0]
    assert "ours" in made[2].data


def test_a_metric_that_one_side_lacks_is_no_difference() -> None:
    """The published runs of two attributes have no gap of one; ours have."""
    ours = records_frame(runs("chen_2022", "unmitigated", np.linspace(0.7, 0.8, 6)))
    theirs = records_frame(runs("chen_2022:published", "unmitigated", np.linspace(0.7, 0.8, 6)))
    both = pd.concat([theirs, theirs.assign(attributes="race")], ignore_index=True)
    lacks = both[~((both["attributes"] == "sex") & (both["metric"] == METRICS[-1])).to_numpy()]
    cells = compare_cells(ours, lacks)
    assert (cells["equal_runs"] == 1.0).all()


def test_too_few_runs_to_find_anything_is_said(pair: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    few = pair[0][(pair[0]["repeat"].isna() | (pair[0]["repeat"] < 2)).to_numpy()]
    found = compare(few, pair[1], "chen")
    assert not found.cells["rejected"].any()
    (note,) = [n for n in found.notes if "cannot give a p-value" in n]
    assert note.startswith("Too few runs: 30 of 30 cells")
    assert "2 pairs of runs cannot give a p-value below 0.5," in note
    assert "13 runs of ours are the fewest" in note


def test_too_few_runs_are_not_counted_as_agreement(
    pair: tuple[pd.DataFrame, pd.DataFrame],
) -> None:
    """Two runs cannot differ significantly: neither cells nor the tables of effects agree."""
    few = pair[1][(pair[1]["repeat"].isna() | (pair[1]["repeat"] < 2)).to_numpy()]
    found = compare(few, pair[1], "chen")
    share = found.agreement()
    assert share["not rejected"].isna().all()
    assert (share["testable"] == 0).all()
    assert not set(found.tables["table"]) & {"fig3", "fig4", "fig5", "fig6"}
    assert any(n.startswith("fig4 is not compared: Too few runs") for n in found.notes)
    assert found.to_dict()["agreement"][0]["not rejected"] is None
    assert "too few runs" in found.markdown()
    assert found.findings is not None
    assert "too few runs" in found.findings.data.loc["Finding 1", "ours"]


@pytest.mark.parametrize("runs_of_ours", [2, 12, 13, 15])
def test_a_cell_is_testable_where_the_largest_difference_would_be_rejected(
    runs_of_ours: int, pair: tuple[pd.DataFrame, pd.DataFrame]
) -> None:
    """What is called testable is what Holm would reject if the cell lay as far away as it can."""
    theirs = pair[1]
    alike = theirs[(theirs["repeat"].isna() | (theirs["repeat"] < runs_of_ours)).to_numpy()]
    cells = compare_cells(alike, theirs)
    far = alike.copy()
    first = ((far["mitigator"] == "reweighing") & (far["metric"] == "accuracy")).to_numpy()
    far.loc[first, "value"] += 10
    moved = compare_cells(far, theirs)
    at = ((cells["mitigator"] == "reweighing") & (cells["metric"] == "accuracy")).to_numpy()
    assert cells["testable"][at].tolist() == moved["rejected"][at].tolist()


def test_runs_that_failed_and_undefined_values_are_left_out_of_the_cells() -> None:
    values = np.linspace(0.5, 0.9, 10)
    ours = runs("chen_2022", "reweighing", values)
    ours[2] = Record(
        "chen_2022", "adult", "sex", "lr", "reweighing", 2, status="failed", reason="no memory"
    )
    cells = compare_cells(
        records_frame(ours), records_frame(runs("x:published", "reweighing", values))
    )
    assert set(cells["runs"]) == {9}
    assert set(cells["published_runs"]) == {9}
    assert cells["ours"].iloc[0] == pytest.approx(np.delete(values, 2).mean())


def test_a_method_with_its_own_learner_was_published_once_and_stands_for_every_model() -> None:
    values = np.linspace(0.5, 0.9, 10)
    ours = records_frame(
        runs("chen_2022", "fairway", values, model="rf")
        + runs("chen_2022", "reweighing", values, model="rf")
    )
    theirs = records_frame(
        runs("x:published", "fairway", values) + runs("x:published", "reweighing", values)
    )
    cells = compare_cells(ours, same_part(theirs, ours))
    assert set(cells["mitigator"]) == {"fairway"}
    assert set(cells["model"]) == {"rf"}


def test_signed_gaps_of_ours_meet_published_sizes() -> None:
    ours = records_frame(
        Record(
            "chen_2022",
            "adult",
            "sex",
            "lr",
            "reweighing",
            i,
            {"statistical_parity_difference": -v},
        )
        for i, v in enumerate((0.1, 0.2, 0.3))
    )
    theirs = records_frame(
        Record(
            "x:published",
            "adult",
            "sex",
            "lr",
            "reweighing",
            i,
            {"|statistical_parity_difference|": v},
        )
        for i, v in enumerate((0.1, 0.2, 0.3))
    )
    cells = compare_cells(ours, theirs)
    assert cells["difference"].tolist() == pytest.approx([0.0], abs=1e-15)
    assert cells["equal_runs"].tolist() == [1.0]


def test_tables_are_compared_on_the_part_both_hold(pair: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    ours, theirs = pair
    more = records_frame(runs("chen_2022:published", "equalized_odds", np.full(50, 0.1)))
    part = same_part(combine([theirs, more]), ours)
    assert len(part) == len(theirs)
    some = {name: chen_2022.TABLES[name] for name in ("fig4", "fig8", "table2")}
    tables, notes = compare_tables(ours, part, replace(PAPERS["chen"], tables=some))
    assert notes == ["table2 is not compared: A rank correlation needs three pairs or more; got 1."]
    fig4 = tables[tables["table"] == "fig4"]
    assert set(fig4["row"]) == {"RW"}
    # every performance metric falls largely on both sides
    large = fig4[fig4["column"] == "large"].iloc[0]
    assert (large["ours"], large["published"]) == ("1.000000", "1.000000")
    assert bool(large["equal"])


def test_every_table_is_counted(found: Comparison) -> None:
    table = found.table_agreement()
    assert table.loc["fig4", "cells"] == 4
    assert table.loc["fig4", "equal"] == 1.0
    assert {"fig3", "fig8", "table3", "table6"} <= set(table.index)


def test_findings_stand_side_by_side(found: Comparison) -> None:
    data = found.findings.data
    assert [c for c in data.columns if c.startswith("as published")]
    assert {"recomputed", "ours"} <= set(data.columns)
    assert "not yet run" not in set(data["ours"])


def test_the_markdown_part_and_the_data_hold_what_was_found(found: Comparison) -> None:
    text = found.markdown()
    assert "| reweighing | 15 |" in text
    assert "**Finding 1**" in text
    told = found.to_dict()
    assert told["agreement"][-1]["not rejected"] == 0.5
    assert len(told["cells"]) == 30


@pytest.mark.parametrize(
    ("one", "other", "close"),
    [
        (0.50, 0.54, True),
        (0.50, 0.56, False),
        ("good", "good", True),
        ("good", "poor", False),
        (0.01, "poor", False),
        ("0.865*(55/56)", "0.840*(50/56)", True),
        ("0.865*(55/56)", "0.840(50/56)", False),
        ("0.865*(55/56)", "0.700*(50/56)", False),
    ],
)
def test_close_cells(one: Any, other: Any, close: bool) -> None:
    assert is_close(one, other, 0.05) is close


def test_without_the_authors_files_only_the_print_is_compared(
    pair: tuple[pd.DataFrame, pd.DataFrame],
) -> None:
    found = compare_with_print(pair[0], "chen")
    assert found.cells.empty
    assert found.tables.empty  # one task of eight holds no printed cell in full
    assert any("files were not given" in note for note in found.notes)
    assert "Finding 6" in found.markdown()
    assert found.to_dict()["agreement"] == []


def test_a_paper_without_findings_is_compared_with_its_print(
    pair: tuple[pd.DataFrame, pd.DataFrame], monkeypatch: pytest.MonkeyPatch
) -> None:
    def table1(frame: pd.DataFrame) -> PaperTable:
        data = pd.DataFrame({"accuracy": [0.681]}, index=["reweighing"])
        return PaperTable(
            "table1", "", data, 1, printed=pd.DataFrame({"accuracy": ["0.70"]}, data.index)
        )

    recipe = Recipe(table1, "mean accuracy", frozenset({"runs"}))
    smith = Paper("smith", "", Path(), {"table1": recipe}, lambda _: frozenset({"runs"}))
    monkeypatch.setattr("isonomy.papers.compare.PAPERS", {"smith": smith})
    found = compare_with_print(pair[0], "smith")
    assert found.findings is None
    assert found.to_dict()["findings"] is None
    assert found.table_agreement().loc["table1", ["cells", "equal", "close"]].tolist() == [1, 0, 1]
    assert "table1" in found.markdown()


def test_frames_that_share_nothing_are_refused() -> None:
    ours = records_frame(runs("chen_2022", "reweighing", np.arange(3.0)))
    with pytest.raises(InputError, match="share a task, model and method"):
        compare_cells(ours, records_frame(runs("x:published", "fair_smote", np.arange(3.0))))
    other = records_frame(
        [Record("x:published", "adult", "sex", "lr", "reweighing", 0, {"mine": 1.0})]
    )
    with pytest.raises(InputError, match="share a metric"):
        compare_cells(ours, other)
