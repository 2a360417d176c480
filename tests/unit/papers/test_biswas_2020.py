"""The forty-model study's tables on models made up to be checked by hand."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from isonomy.errors import InputError
from isonomy.papers.biswas_2020 import figures
from isonomy.papers.biswas_2020 import tables as biswas_2020
from isonomy.store import Record, records_frame

LETTERS = biswas_2020.METHODS
NINE = (
    "accuracy",
    "favorable_f1",
    "disparate_impact",
    "statistical_parity_difference",
    "equal_opportunity_difference",
    "average_odds_difference",
    "error_rate_difference",
    "consistency",
    "theil_index",
)


def run(model: str, letter: str, bias: float, repeat: int = 0, **other: float) -> Record:
    """A run whose only bias is SPD, unless said otherwise."""
    values = dict.fromkeys(NINE, 0.0) | {"accuracy": 0.8, "favorable_f1": 0.7}
    values |= {"disparate_impact": 1.0, "consistency": 1.0}
    values |= {"statistical_parity_difference": -bias} | other
    name = LETTERS.get(letter, "unmitigated")
    return Record("demo", "german", "sex", model, name, repeat, values)


def model(name: str, before: float, **after: float) -> list[Record]:
    return [run(name, "", before), *(run(name, letter, bias) for letter, bias in after.items())]


@pytest.fixture
def frame() -> pd.DataFrame:
    return records_frame(
        [
            *model("GC1", 0.4, R=0.1, D=0.2, A=0.3, P=0.4, E=0.5, C=0.6, O=0.05),
            *model("GC2", 0.2, R=0.3, D=0.1, A=0.1, P=0.5, E=0.6, C=0.7, O=0.8),
        ]
    )


def test_totals_add_the_sizes_of_seven_measures() -> None:
    one = run(
        "GC1",
        "",
        0.1,
        disparate_impact=float(np.exp(-0.2)),
        equal_opportunity_difference=-0.03,
        average_odds_difference=0.04,
        error_rate_difference=0.05,
        consistency=float(np.exp(-0.3)),
        theil_index=0.06,
    )
    total = biswas_2020.totals(records_frame([one, run("GC1", "R", 0.0)]))
    assert total.loc["GC1", "before"] == pytest.approx(0.2 + 0.1 + 0.03 + 0.04 + 0.05 + 0.3 + 0.06)
    assert total.loc["GC1", "R"] == 0.0
    assert np.isnan(total.loc["GC1", "D"])


def test_table2_ranks_and_draws_the_stroke(frame: pd.DataFrame) -> None:
    table = biswas_2020.table2(frame)
    ranks = table.data["ranks"]
    # equal to before (P) is no improvement; D and A tie in the paper's order
    assert ranks["Rank"].tolist() == ["ORDA/PEC", "DA/RPECO"]
    assert ranks["Algo"].tolist() == ["O", "D"]
    assert table.data["before"]["SPD"].tolist() == [-0.4, -0.2]
    assert table.data["after"]["SPD"].tolist() == [-0.05, -0.1]
    assert table.compare().empty
    assert any("GC2" in note and "R D A P E C O" in note for note in table.notes)


def test_table3_means_ranks_over_least_and_most_biased(frame: pd.DataFrame) -> None:
    table = biswas_2020.table3(frame, most=1)
    # GC2 is the least biased: D 1, A 2, R 3, P 4, E 5, C 6, O 7
    assert table.data["LBM"].tolist() == [3.0, 1.0, 2.0, 4.0, 5.0, 6.0, 7.0]
    assert table.data["MBM"].tolist() == [2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 1.0]
    assert table.data["All"].tolist() == [2.5, 2.0, 3.0, 4.5, 5.5, 6.5, 4.0]
    assert table.text()["All"].tolist()[:3] == ["2.5", "2", "3"]
    assert any("overlap" in note for note in biswas_2020.table3(frame).notes)


def test_an_undefined_value_reads_as_no_change_only_where_asked() -> None:
    records = [run("GC1", "", 0.4), run("GC1", "R", 0.1, disparate_impact=np.inf)]
    records[0] = run("GC1", "", 0.4, disparate_impact=float(np.exp(-0.5)))
    frame = records_frame(records)
    filled, notes = biswas_2020.means(frame)
    assert filled.loc[("GC1", "reweighing"), "DI"] == -0.5
    assert any(note.startswith("1 undefined values") for note in notes)
    kept, _ = biswas_2020.means(frame, fill=False)
    assert np.isnan(kept.loc[("GC1", "reweighing"), "DI"])


def test_logarithms_are_taken_run_by_run() -> None:
    runs = [
        run("GC1", letter, 0.1, repeat, disparate_impact=float(np.exp(x)))
        for letter in ("", "R")
        for repeat, x in enumerate((-0.2, -0.6))
    ]
    laid, notes = biswas_2020.means(records_frame(runs))
    assert laid.loc[("GC1", "unmitigated"), "DI"] == -0.4
    assert notes == ["From 4 single runs of demo."]


def test_fig4_and_held(frame: pd.DataFrame) -> None:
    table = biswas_2020.fig4(frame)
    assert table.data["Total bias"].tolist() == [0.4, 0.2]
    assert table.cases == 2
    assert biswas_2020.parts_of(frame) == {"original runs", "mitigated runs"}


def test_figures_8_to_10_follow_the_ranks(frame: pd.DataFrame) -> None:
    assert figures.fig8(frame).data["best"].to_dict() == {"GC1": "O", "GC2": "D"}
    assert figures.fig8(frame).data.loc["GC1", "SPD"] == -0.05
    assert figures.fig9(frame).data["Bias"].round(6).to_dict() == {"GC1": -0.35, "GC2": -0.1}
    assert figures.fig10(frame).data["Bias"].round(6).to_dict() == {"GC1": 0.05, "GC2": 0.0}
    assert figures.fig3(frame).data.loc["GC2", "SPD"] == -0.2


def test_figures_5_and_6_are_of_single_runs() -> None:
    runs = [run("GC1", "", bias, repeat) for repeat, bias in enumerate((0.1, 0.2, 0.3))]
    spread = figures.fig6(records_frame(runs))
    assert spread.data.loc["GC1", "SPD"] == pytest.approx(0.1)
    assert "SPD 0.10" in spread.notes[0]
    two = [
        replace(r, dataset=dataset, model=model, metrics=r.metrics | values)
        for dataset, model, signs in (("german", "GC1", -1), ("titanic", "TM1", 1))
        for r, k in zip(runs, (0, 1, 3), strict=True)
        for values in [{"consistency": float(np.exp(-k / 10)), "theil_index": -signs * k / 10}]
    ]
    grid = figures.fig5(records_frame(two))
    assert grid.notes[0].endswith("here -1.00 and 1.00.")
    with pytest.raises(InputError, match="three runs of titanic"):
        figures.fig5(records_frame(runs))
    with pytest.raises(InputError, match="two runs"):
        figures.fig6(records_frame(runs[:1]))


def test_models_that_were_run_in_part_are_ranked_only_where_they_can_be(
    frame: pd.DataFrame,
) -> None:
    part = records_frame(
        [run("GC3", "", 0.1), run("GC4", "R", 0.1)]
    )  # one without methods, one without a base
    both = pd.concat([frame, part], ignore_index=True)
    assert biswas_2020.totals(both).index.tolist() == ["GC1", "GC2", "GC3"]
    assert biswas_2020.ranks(both).equals(biswas_2020.ranks(frame))
    for make in (biswas_2020.table2, figures.fig8, figures.fig9, figures.fig10):
        assert make(both).data.index.tolist() == ["GC1", "GC2"]
    assert biswas_2020.table3(both).data.equals(biswas_2020.table3(frame).data)
    assert biswas_2020.fig4(both).data.index.tolist() == ["GC1", "GC2", "GC3"]
