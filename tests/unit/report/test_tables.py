"""The page of a paper's tables and figures: drawings, and the print beside our numbers."""

import pandas as pd

from isonomy.papers.table import PaperTable, decimals
from isonomy.report import summarize, to_html
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
