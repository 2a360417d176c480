"""Fairea's tables on cases small enough to check by hand."""

import json

import numpy as np
import pandas as pd
import pytest

from isonomy.errors import InputError, UnknownName
from isonomy.papers import PAPERS, table_name
from isonomy.papers.fairea_2021 import tables as fairea_2021
from isonomy.papers.fairea_2021.figures import turning_points
from isonomy.papers.fairea_2021.findings import findings
from isonomy.store import Record, combine, records_frame

SPD, AOD = fairea_2021.GAPS.values()
METHODS = fairea_2021.METHODS


def values(accuracy: float, spd: float, aod: float | None = None) -> dict[str, float]:
    return {"accuracy": accuracy, SPD: spd, AOD: spd if aod is None else aod}


def line(model: str = "lr", *, falls: bool = True) -> list[Record]:
    """Accuracy from 0.9 to 0.5 and bias from 0.2 to 0 in a straight line of three points."""
    first, last = (0.9, 0.5) if falls else (0.4, 0.5)
    return [
        Record(
            "demo",
            "adult",
            "sex",
            model,
            f"mutation(strategy=majority, degree={degree:g})",
            None,
            values(first + degree * (last - first), 0.2 * (1 - degree)),
        )
        for degree in (0.0, 0.5, 1.0)
    ]


def runs(mitigator: str, *points: dict[str, float], model: str = "lr") -> list[Record]:
    return [
        Record("demo", "adult", "sex", model, mitigator, i, point) for i, point in enumerate(points)
    ]


# one point in each region: worse in both, under the line, better but more biased, above the
# line, better in both
FIVE = (values(0.6, 0.3), values(0.6, 0.1), values(0.95, 0.3), values(0.8, 0.1), values(0.95, 0.1))


def test_table4_counts_each_region_once() -> None:
    frame = records_frame([*line(), *runs("reweighing", *FIVE)])
    table = fairea_2021.table4(frame)
    assert table.data.loc["RW"].tolist() == [0.2] * 10
    assert table.text().loc["Mean", "SPD"].tolist() == ["20%"] * 5
    assert table.cases == 10
    assert table.compare().empty
    assert any("RW 5 of 700" in note for note in table.notes)


def test_a_gap_is_judged_by_its_own_baseline_and_a_sign_does_not_matter() -> None:
    def signed(record: Record) -> Record:
        metrics = dict(record.metrics)
        metrics["statistical_parity_difference"] = -metrics.pop(SPD)
        return Record("demo", "adult", "sex", "lr", record.mitigator, record.repeat, metrics)

    records = [*line(), *runs("reweighing", values(0.8, 0.1, 0.3))]
    shares = fairea_2021.table4(records_frame(map(signed, records))).data.loc["RW"]
    assert shares["SPD"]["good"] == 1.0
    assert shares["AOD"]["lose-lose"] == 1.0


def test_the_two_rules_part_where_everything_is_worse_than_the_end_of_the_line() -> None:
    frame = records_frame([*line(), *runs("reweighing", values(0.4, 0.3))])
    assert fairea_2021.table4(frame, rule="paper").data.loc["RW", "SPD"]["lose-lose"] == 1.0
    assert fairea_2021.table4(frame, rule="code").data.loc["RW", "SPD"]["inverted"] == 1.0


def test_constant_predictors_are_counted_in_words() -> None:
    frame = records_frame([*line(), *runs("learning_fair_representations", values(0.45, 0.0))])
    table = fairea_2021.table4(frame)
    assert table.data.loc["LFR", "SPD"]["win-win"] == 1.0
    assert any("1 runs have no bias" in n and "2 of the 2 win-win" in n for n in table.notes)


def test_a_model_below_the_constant_prediction_has_no_baseline() -> None:
    records = [*line(), *runs("reweighing", FIVE[3])]
    records += [*line("dt", falls=False), *runs("reweighing", FIVE[0], model="dt")]
    table = fairea_2021.table4(records_frame(records))
    assert table.cases == 2
    assert table.data.loc["RW", "SPD"]["good"] == 1.0
    assert any(note.startswith("dt on adult (sex) is left out") for note in table.notes)


def test_table5_leaves_own_models_out_of_the_model_rows_only() -> None:
    own = "prejudice_remover(eta=0)"
    records = [*line(), *runs("reweighing", FIVE[3])]
    records += [*line(own), *runs(METHODS["PR"], FIVE[1], model=own)]
    table = fairea_2021.table5(records_frame(records))
    assert table.data.index.tolist() == ["LR", "Adult-Sex"]
    assert table.data.loc["LR", "good"] == 1.0
    assert table.data.loc["Adult-Sex", ["poor", "good"]].tolist() == [0.5, 0.5]


def test_table6_and_7_measure_the_mean_of_the_runs() -> None:
    # mean (0.8, 0.1) is (0.5, 0.75) rescaled: a triangle with legs of 0.25 each
    own = "prejudice_remover(eta=0)"
    pair = (values(0.85, 0.05), values(0.75, 0.15))
    records = [*line(), *runs("equalized_odds", *pair)]
    records += [*line(own), *runs(METHODS["PR"], *pair, model=own)]
    frame = records_frame(records)
    six = fairea_2021.table6(frame)
    assert six.data.loc[("SPD", "EO"), ("LR", "Adult-Sex")] == pytest.approx(0.03125)
    assert six.text().loc[("AOD", "EO"), ("LR", "Adult-Sex")] == "0.031"
    assert six.text().loc[("SPD", "RW"), ("LR", "Adult-Sex")] == "NA"
    assert six.cases == 4
    seven = fairea_2021.table7(frame)
    assert seven.data.loc[("SPD", "PR"), "Adult-Sex"] == pytest.approx(0.03125)
    assert seven.text().loc[("SPD", "AD"), "Adult-Sex"] == "NA"


def test_printed_cells_are_compared_and_differences_named() -> None:
    own = "prejudice_remover(eta=0)"
    frame = records_frame([*line(own), *runs(METHODS["PR"], values(0.85, 0.1), model=own)])
    table = fairea_2021.table7(frame)
    agrees = table.compare().set_index(["row", "column"])["agrees"]
    assert not agrees[("SPD PR", "Adult-Sex")]
    assert agrees[("SPD PR", "COMPAS-Sex")]  # NA in both
    assert ("SPD PR", "Adult-Race") not in agrees.index  # no runs of it
    assert not any("AD" in row for row, _ in agrees.index)
    assert any("SPD PR: differs from the print" in note for note in table.notes)


def test_figures_follow_the_parameter() -> None:
    own = "adversarial_debiasing(adversary_loss_weight=0)"
    records = line(own)
    for weight, accuracy in ((0.05, 0.72), (0.1, 0.85), (0.15, 0.75)):
        name = f"adversarial_debiasing(adversary_loss_weight={weight})"
        records += runs(name, values(accuracy, 0.1), model=own)
    frame = records_frame(records)
    five = fairea_2021.fig5(frame)
    assert five.data["parameter"].tolist() == [0.05, 0.1, 0.15]
    assert five.cases == 3
    spd = next(note for note in five.notes if note.startswith("AD under SPD"))
    assert "at 0.1 (3 values from 0.05 to 0.15), a turning point." in spd
    four = fairea_2021.fig4(frame)
    assert four.data["curve"].tolist() == ["baseline"] * 3 + ["parameter"] * 3
    assert four.data["at"].tolist() == [0.0, 0.5, 1.0, 0.05, 0.1, 0.15]


def test_turning_points_admit_ends_dips_and_nothing_good() -> None:
    data = pd.DataFrame(
        {
            "method": "PR",
            "parameter": [1.0, 2.0, 3.0, 4.0],
            "area SPD": [0.1, "poor", 0.05, 0.3],
            "area AOD": ["lose-lose"] * 4,
        }
    )
    spd, aod = turning_points(data)
    assert "largest area 0.300 at 4" in spd
    assert "the end of the range" in spd
    assert "falls and rises again once" in spd
    assert "no value (4 values from 1 to 4) gives a good trade-off" in aod


@pytest.mark.parametrize(("drop", "on_or_below"), [(0.1, 8), (-0.05, 0)])
def test_fig6_counts_how_strict_the_majority_is(drop: float, on_or_below: int) -> None:
    other = [
        Record(
            "demo",
            "adult",
            "sex",
            "lr",
            record.mitigator.replace("majority", strategy),
            None,
            values(record.metrics["accuracy"] - drop, record.metrics[SPD]),
        )
        for strategy in ("random", "minority")
        for record in line()
    ]
    table = fairea_2021.fig6(records_frame([*line(), *other]))
    assert table.data["strategy"].unique().tolist() == ["majority", "random", "minority"]
    assert table.cases == 9
    assert table.notes[0].startswith(f"{on_or_below} of 8 points")


def test_findings_show_what_is_not_yet_run() -> None:
    frame = records_frame([*line(), *runs("reweighing", *FIVE)])
    told = findings(frame).data
    assert told.index.tolist() == ["RQ1", "RQ2", "RQ3", "RQ4"]
    assert told["ours"].unique().tolist() == ["not yet run"]
    assert told.loc["RQ1", "recomputed"].startswith("40% of 10 cases (lr)")
    swapped = findings(ours=frame).data
    assert swapped["recomputed"].unique().tolist() == ["the authors' files were not given"]
    # these runs are of Adult alone: of German they say nothing, not that no method is good
    assert "german is not held" in swapped.loc["RQ2", "ours"]
    assert "good on german" not in swapped.loc["RQ2", "ours"]
    assert swapped.loc["RQ1", "ours"] == told.loc["RQ1", "recomputed"]


def test_two_studies_in_one_frame_are_refused() -> None:
    one = records_frame([*line(), *runs("reweighing", *FIVE)])
    other = one.assign(study=pd.Categorical(["demo:published"] * len(one)))
    with pytest.raises(InputError, match="one study's runs"):
        fairea_2021.table4(combine([one, other]))


def test_tables_are_found_however_they_are_written() -> None:
    tables = fairea_2021.TABLES
    for written in ("4", "table4", "Table 4", "TABLE_4"):
        assert table_name(written, tables) == "table4"
    for written in ("fig5", "Figure 5", "fig. 5"):
        assert table_name(written, tables) == "fig5"
    with pytest.raises(UnknownName, match="did you mean 'table4'"):
        table_name("tabel4", tables)
    with pytest.raises(UnknownName, match="did you mean 'fairea'"):
        PAPERS["faira"]


def test_held_parts_decide_what_can_be_made() -> None:
    frame = records_frame(runs("reweighing", *FIVE))
    assert fairea_2021.parts_of(frame) == {"runs"}
    assert fairea_2021.TABLES["table4"].needs - fairea_2021.parts_of(frame) == {"baselines"}
    both = records_frame([*line(), *runs("reweighing", *FIVE)])
    assert fairea_2021.parts_of(both) == {"runs", "baselines"}


def test_summary_is_plain_data() -> None:
    frame = records_frame([*line(), *runs("reweighing", *FIVE)])
    summary = fairea_2021.table6(frame).to_dict()
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    first = fairea_2021.table4(frame).to_dict()["rows"][0]
    assert first["row"] == "RW"
    assert np.isclose(first["SPD good"], 0.2)


def test_corrected_a_constant_prediction_is_poor_and_coarse_data_are_left_out() -> None:
    constant = values(0.4, 0.0)
    frame = records_frame(
        [
            *line(),
            *runs("learning_fair_representations", constant),
            *runs("reweighing", *FIVE),
            *runs("equalized_odds", *FIVE),
        ]
    )
    plain = fairea_2021.table4(frame)
    table = fairea_2021.table4(frame, reading="corrected")
    assert plain.data.loc["LFR", ("SPD", "win-win")] == 1.0
    assert table.data.loc["LFR", ("SPD", "poor")] == 1.0
    assert "RW" in plain.data.index
    assert table.data.index.tolist() == ["LFR", "EO", "Mean"]
    assert table.printed is None
    assert fairea_2021.table5(frame, reading="corrected").cases == table.cases == 12
    told = findings(frame).data
    assert told.loc["RQ1", "corrected"].startswith("50% of 12 cases")
    cannot = "open: these runs cannot tell"
    assert told["survives"].tolist() == ["yes", cannot, cannot, cannot]
