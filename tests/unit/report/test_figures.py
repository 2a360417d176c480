"""Figures of papers, drawn: a bar or a square for each number, at the place its value says."""

import re

import numpy as np
import pandas as pd
import pytest

from isonomy.papers.table import PaperTable, decimals
from isonomy.report.figures import figure_svg

ROWS = ["GC1", "GC2", "TM1"]


def bars(data: pd.DataFrame, **options: object) -> tuple[str, list[dict[str, float]]]:
    table = PaperTable(
        "fig3", "Bias & more", data, len(data), write=decimals(3), drawing="bars", **options
    )
    drawing = figure_svg(table)
    found = re.findall(r'class="bar m" x="(.*?)" y="(.*?)" width="(.*?)" height="(.*?)"', drawing)
    names = ("x", "y", "width", "height")
    return drawing, [dict(zip(names, map(float, bar), strict=True)) for bar in found]


def test_a_bar_is_as_long_as_its_number_and_starts_at_zero() -> None:
    data = pd.DataFrame({"DI": [0.2, -0.1, 0.3], "TI": [0.1, np.nan, 0.1]}, ROWS)
    drawing, found = bars(data)
    assert len(found) == 5  # the undefined one is not drawn
    di, ti = found[:3], found[3:]
    assert di[0]["height"] / di[1]["height"] == pytest.approx(2.0, abs=0.02)
    assert di[0]["height"] / ti[0]["height"] == pytest.approx(2.0, abs=0.02)
    # the foot of what is above zero is the head of what is below
    assert di[0]["y"] + di[0]["height"] == pytest.approx(di[1]["y"], abs=0.2)
    assert di[0]["x"] + di[0]["width"] == pytest.approx(ti[0]["x"], abs=0.2)
    assert "Bias &amp; more" in drawing
    assert "in print" not in drawing
    assert "cut off" not in drawing


def test_long_bars_are_cut_off_and_say_their_number() -> None:
    data = pd.DataFrame({"DI": [0.2, 0.1, -9.0]}, ROWS)
    drawing, found = bars(data)
    assert found[2]["height"] == pytest.approx(2 * found[0]["height"], rel=0.02)  # 2 x the median
    assert re.findall(r'class="cut">(.*?)<', drawing) == ["-9"]
    assert "cut off here" in drawing


def test_print_is_a_stroke_at_its_own_height() -> None:
    data = pd.DataFrame({"best": ["R", "A", "O"], "DI": [0.2, 0.1, 0.3]}, ROWS)
    printed = pd.DataFrame({"best": ["R", "A", "O"], "DI": [".100", "", ".300"]}, ROWS)
    drawing, found = bars(data, printed=printed)
    strokes = re.findall(r'y1="([^"]*)" y2="[^"]*" stroke="var\(--ink\)"', drawing)[
        :-1
    ]  # the legend
    assert len(strokes) == 2
    assert float(strokes[0]) == pytest.approx(found[1]["y"], abs=0.2)  # 0.1, the second bar
    assert float(strokes[1]) == pytest.approx(found[2]["y"], abs=0.2)
    assert "GC1, DI: 0.200, in print 0.100" in drawing
    # words are written below the names of their rows
    assert re.findall(r'class="row">(.*?)<', drawing) == [*ROWS, "R", "A", "O"]


def test_an_outer_level_is_written_once_and_families_are_separated() -> None:
    index = pd.MultiIndex.from_product([["GC1", "AC1"], ["sex", "age"]])
    drawing, _ = bars(pd.DataFrame({"DI": [0.1, 0.2, 0.3, 0.4]}, index))
    assert re.findall(r'class="row">(.*?)<', drawing) == ["sex", "age", "sex", "age", "GC1", "AC1"]
    assert len(re.findall(r'y1="12.0" y2="342.0" stroke="var\(--line\)"', drawing)) == 1


def test_only_the_columns_of_the_figure_are_drawn() -> None:
    drawing, found = bars(pd.DataFrame({"Acc": [0.9] * 3, "DI": [0.1] * 3}, ROWS), drawn=("DI",))
    assert len(found) == 3
    assert "Acc" not in drawing


def test_a_grid_shades_by_size_and_sign() -> None:
    data = pd.DataFrame({"a": [1.0, -0.5], "b": [np.nan, 0.0]}, ["a", "b"])
    drawing = figure_svg(PaperTable("fig5", "", data, 2, write=decimals(2), drawing="grid"))
    cells = re.findall(r'class="cell m".*?(fill=".*?"(?: fill-opacity=".*?")?)>', drawing)
    assert cells == [
        'fill="var(--dot)" fill-opacity="0.75"',
        'fill="var(--violated)" fill-opacity="0.38"',
        'fill="var(--line)"',
        'fill="var(--dot)" fill-opacity="0.00"',
    ]
    assert re.findall(r'class="n">(.*?)<', drawing) == ["1.00", "-0.50", "", "0.00"]


@pytest.mark.parametrize("drawing", ["bars", "grid"])
def test_what_is_undefined_is_left_out(drawing: str) -> None:
    values = pd.DataFrame({"DI": [0.1, 0.2], "AOD": [np.nan, np.nan]}, ["GC1", "GC2"])
    drawn = figure_svg(PaperTable("fig3", "Bias", values, 2, drawing=drawing))
    assert drawn.startswith("<svg")
    assert "nan" not in drawn
    for nothing in (values[["AOD"]], values.iloc[:0]):
        assert figure_svg(PaperTable("fig3", "Bias", nothing, 2, drawing=drawing)) == ""
