"""``isonomy published``: short for ``isonomy study tables PAPER --published FOLDER``."""

from typing import Annotated

import typer

from isonomy.cli.options import Digits, Json, Quiet, Report
from isonomy.cli.paper_tables import Reading, Tables, show_tables


def published_command(
    paper: Annotated[str, typer.Argument(help="A paper (see `isonomy study list`).")],
    folder: Annotated[str, typer.Argument(help="The authors' repository, or any part of it.")],
    table: Tables = [],
    reading: Reading = None,
    digits: Digits = None,
    json_file: Json = None,
    report_files: Report = [],
    quiet: Quiet = False,
) -> None:
    """Recompute a paper's tables from the files its authors published."""
    show_tables(paper, table, folder, reading, digits, json_file, report_files)
