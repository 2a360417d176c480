"""The 17-method study's tables from the authors' files (six tasks) against their own outputs."""

import re
from pathlib import Path

import pandas as pd
import pytest

from isonomy.papers.chen_2022 import tables as chen_2022
from isonomy.papers.chen_2022.reader import read_chen
from isonomy.papers.chen_2022.statistics import printed

SIX = [*chen_2022.TASKS][:6]
PLACE = Path(__file__).parents[2].parent / "shared" / "published" / "chen"


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    if not PLACE.is_dir():
        pytest.skip("needs Chen's archive in shared/published beside the repository")
    return read_chen(PLACE)


def output(name: str) -> dict[str, list[str]]:
    """Rows of an output of the authors' scripts, as they printed them."""
    path = PLACE / "Analysis_code" / f"{name}_result"
    if not path.is_file():
        pytest.skip(f"{path.name} of the authors' archive is not beside the repository")
    rows = {}
    for line in path.read_text().splitlines():
        between = r"\t" if "\t" in line else r"\s*&\s*"
        words = re.split(between, line.replace("\\\\", "").replace("\\%", "%").strip())
        if len(words) > 1:
            rows[words[0].strip()] = [word.strip() for word in words[1:]]
    return rows


@pytest.mark.parametrize("name", ["fig4", "fig6"])
def test_the_row_of_op_in_the_effect_figures(frame: pd.DataFrame, name: str) -> None:
    table = chen_2022.TABLES[name].make(frame)
    assert table.text().loc["OP"].tolist() == output(name)["OP"]
    assert set(table.compare()["row"]) == {"OP"}


def test_fig8_by_method_for_op_and_by_task_for_six(frame: pd.DataFrame) -> None:
    table = chen_2022.fig8(frame)
    theirs = output("fig8")
    assert table.text().loc[("a", "OP")].tolist() == theirs["OP"]
    for task in SIX:
        assert table.text().loc[("c", task)].tolist() == theirs[task]
    compared = table.compare()
    assert len(compared) == 5 * 7
    assert compared["agrees"].all()
    assert table.cases == 6 * 7 * 17 * 50 * 15


@pytest.mark.parametrize("name", ["table3", "table5"])
def test_the_column_of_op_in_the_rank_tables(frame: pd.DataFrame, name: str) -> None:
    table = chen_2022.TABLES[name].make(frame)
    theirs = output(name)
    assert table.text()["OP"].to_dict() == {row: cells[0] for row, cells in theirs.items()}
    assert set(table.compare()["column"]) == {"OP"}


def test_table6_of_the_six_tasks(frame: pd.DataFrame) -> None:
    table = chen_2022.table6(frame)
    theirs = output("table6")
    for task in SIX:
        assert table.text().loc[task].tolist() == theirs[task]
    assert table.text().loc["Overall", "OP"] == theirs["Overall"][0]
    compared = table.compare()
    assert len(compared) == 6 * 17 + 1
    assert compared["agrees"].all()


def test_pooled_tables_say_that_two_tasks_are_missing(frame: pd.DataFrame) -> None:
    for name in ("fig3", "fig5", "table2", "table4"):
        table = chen_2022.TABLES[name].make(frame)
        assert table.compare().empty
        assert any("Bank-Age, Mep-Race" in note for note in table.notes)
    assert chen_2022.table2(frame).cases == 6 * 7 * 17


def test_embedded_outputs_are_the_authors(frame: pd.DataFrame) -> None:
    for name in ("fig3", "fig4", "fig5", "fig6", "table2", "table3", "table4", "table5", "table6"):
        kept = printed(name)
        assert {row: cells.tolist() for row, cells in kept.iterrows()} == output(name)
    every = output("fig8")
    for (_, row), cells in printed("fig8", index=2).iterrows():
        assert cells.tolist() == every[row]
