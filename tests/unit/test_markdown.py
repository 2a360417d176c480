"""Nothing that a name holds is a mark."""

import re

from isonomy._markdown import escaped, table


def test_every_mark_is_escaped_and_nothing_is_lost() -> None:
    hostile = "a|b\r\n# c <script> &lt; [x](y) @all `code` **bold** ~~gone~~ {z} \\ d_e\u2028f"
    text = escaped(hostile)
    assert not re.search(r"(?<!\\)[`*_{}\[\]<>|~@#&]", text)
    assert not re.search(r"[\r\n\u2028]", text)
    assert re.sub(r"\\(.)", r"\1", text) == re.sub(r"[\r\n\u2028]+", " ", hostile)


def test_cells_stay_in_their_columns() -> None:
    lines = table(["a", "b"], "lr", [[escaped("x|y\nz"), "1"]]).splitlines()
    assert lines == ["| a | b |", "| --- | ---: |", "| x\\|y z | 1 |"]
