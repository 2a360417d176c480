"""Standard output belongs to the result: nothing a query does may write to it."""

import duckdb
import pytest

from isonomy.metrics.query import connect


@pytest.mark.parametrize("ending", ["csv", "parquet", "duckdb"])
def test_no_progress_bar_on_standard_output(tmp_path, ending):
    path = tmp_path / f"rows.{ending}"
    with duckdb.connect(str(path) if ending == "duckdb" else ":memory:") as made:
        made.execute("CREATE TABLE t AS SELECT 1 AS y")
        if ending != "duckdb":
            made.execute(f"COPY t TO '{path}' (FORMAT {ending})")
    connection, _ = connect(path)
    with connection:
        shown = connection.execute("SELECT current_setting('enable_progress_bar')").fetchone()
    assert shown == (False,)
