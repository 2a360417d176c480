"""The page of a paper's tables and figures: drawings, and the print beside our numbers."""

import pandas as pd

from isonomy.papers.table import PaperTable, decimals
from isonomy.report import summarize, to_html, to_markdown
from isonomy.report.figures import figure_svg

ROWS = ["GC1", "GC2", "TM1"]


def test_a_page_has_a_drawing_above_the_numbers_of_a_figure_and_none_of_a_table() -> None:
    data = pd.DataFrame({"DI": [0.2, 0.1, 0.3]}, ROWS)
    table = PaperTable("table2", "Table", data, 3)
    figure = PaperTable("fig3", "Figure", data, 3, drawing="bars")
    assert figure_svg(table) == ""
    page = to_html(summarize([table, figure], title="paper"))
    assert page.count("<svg") == page.count("<details>") == 1
    assert page.index("<h3>fig3") < page.index("<svg") < page.index("<details>")


def test_the_print_stands_beside_a_cell_that_differs() -> None:
    data = pd.DataFrame({"DI": [0.2, 0.1, 0.3], "TI": [0.5, 0.5, 0.5]}, ROWS)
    printed = pd.DataFrame({"DI": ["0.2", "0.4", ""]}, ROWS)
    page = to_html(
        summarize([PaperTable("t", "", data, 3, printed=printed, write=decimals(1))], title="p")
    )
    assert "0.1<small>in print 0.4</small>" in page
    assert page.count("<small>") == 1
    assert "what the paper prints" in page
    same = PaperTable("t", "", data, 3, printed=printed.iloc[:1], write=decimals(1))
    assert "what the paper prints" not in to_html(summarize(same, title="p"))


def test_a_table_that_is_too_wide_is_one_for_each_part_of_its_columns() -> None:
    columns = pd.MultiIndex.from_product([["before", "after"], [f"M{k}" for k in range(7)]])
    data = pd.DataFrame([range(14)] * 3, ROWS, columns)
    printed = data.map(str).replace("13", "99")
    page = summarize(PaperTable("table2", "Models", data, 3, printed=printed, write=str))
    tables = [
        block for part in page["parts"] for block in part["blocks"] if block["type"] == "table"
    ]
    assert [t["caption"] for t in tables] == ["table2: Models, before", "table2: Models, after"]
    assert [c["label"] for c in tables[1]["columns"]] == ["row", *(f"M{k}" for k in range(7))]
    assert tables[1]["rows"][0][0]["text"] == "GC1"
    assert tables[1]["rows"][0][-1] == {"text": "13", "small": "in print 99"}
    assert [bool(t["note"]) for t in tables] == [False, True]
    # without parts to cut at, every cell has a row
    [long] = [
        block
        for part in summarize(PaperTable("t", "", data.set_axis(range(14), axis=1), 3))["parts"]
        for block in part["blocks"]
        if block["type"] == "table"
    ]
    assert len(long["rows"]) == 3 * 14


def test_findings_are_listed_one_after_another() -> None:
    said = pd.DataFrame(
        {"as published": ["7 of 40", "all"], "survives": ["no", "yes"]}, ["1. Few", "2. Many"]
    )
    page = summarize(PaperTable("findings", "Two findings", said, 2, unit="findings"))
    text = to_markdown(page)
    assert "**2. Many**\n\n- as published: all\n- survives: yes" in text
    assert "<details open><summary>1. Few</summary>" in to_html(page)
