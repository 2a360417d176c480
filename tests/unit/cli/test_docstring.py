from io import StringIO

from rich.console import Console

from isonomy.cli.docstring import show

TEXT = """One sentence of ``code``
and :math:`m`.

Parameters
----------
first : int
    Of two
    lines.

Notes
-----
**Protocols**

====  ========
what  how
====  ========
a     one and
      the other
b     two
====  ========

References
----------
A. Author, 2020.

Examples
--------
>>> 1
"""


def test_markup_is_gone_paragraphs_are_joined_and_tables_are_tables() -> None:
    out = StringIO()
    show(Console(file=out, width=60), TEXT)
    lines = [line.rstrip() for line in out.getvalue().splitlines()]
    assert lines[0] == "One sentence of code and m."
    at = lines.index("Parameters")
    assert lines[at + 1 : at + 3] == ["first : int", "    Of two lines."]
    at = lines.index("Protocols")
    assert lines[at + 1 : at + 4] == ["what  how", "a     one and the other", "b     two"]
    assert lines[-2:] == ["References", "A. Author, 2020."]
