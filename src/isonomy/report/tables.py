"""A paper's tables and figures, made from any runs, as one page."""

from collections.abc import Sequence

from isonomy.papers import PaperTable
from isonomy.papers.table import label_of
from isonomy.report.figures import figure_svg
from isonomy.report.html import environment


def tables_page(
    tables: Sequence[PaperTable],
    *,
    title: str,
    notes: Sequence[str] = (),
    digits: int | None = None,
) -> str:
    """Turn tables into one self-contained page.

    Parameters
    ----------
    tables : sequence of PaperTable
    title : str
        The study's name.
    notes : sequence of str
        What could not be made.
    digits : int, optional
        Decimals to show.
    """
    shown = []
    for table in tables:
        text = table.shown(digits)
        rows = [(label_of(row), [str(c) for c in cells]) for row, *cells in text.itertuples()]
        shown.append((table, [label_of(c) for c in text.columns], rows, figure_svg(table)))
    page = environment().get_template("tables.html")
    return str(page.render(title=title, tables=shown, notes=notes))
