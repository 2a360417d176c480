"""Every example in a docstring runs and prints what it says."""

import doctest
import importlib
import inspect
import pkgutil
import re

import pytest

import isonomy

MODULES = [m.name for m in pkgutil.walk_packages(isonomy.__path__, "isonomy.")]


@pytest.mark.parametrize("name", [m for m in MODULES if not m.endswith("__main__")])
def test_examples(name: str) -> None:
    module = importlib.import_module(name)
    failed, _ = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert failed == 0


@pytest.mark.parametrize("name", [m for m in MODULES if not m.endswith("__main__")])
def test_tables_are_drawn_as_the_site_reads_them(name: str) -> None:
    """Text that crosses from one column of a table into the next stops the build of the site."""
    module = importlib.import_module(name)
    for thing in vars(module).values():
        if not (inspect.isclass(thing) or inspect.isfunction(thing)) or thing.__module__ != name:
            continue
        for border, line in table_lines(inspect.cleandoc(thing.__doc__ or "")):
            for gap in re.finditer(" +", border):
                assert not line[gap.start() : gap.end()].strip(), f"{thing.__qualname__}: {line}"


def table_lines(text: str) -> list[tuple[str, str]]:
    """Return the lines of the tables of a docstring, each with the border that gives its columns."""
    found, border = [], ""
    for line in text.splitlines():
        if re.fullmatch(r"=+( +=+)+", line):
            border = line
        elif not line.strip() or not border:
            border = ""
        else:
            found.append((border, line))
    return found


def test_a_table_whose_text_crosses_columns_is_found() -> None:
    border = "====  ===="
    assert table_lines(f"{border}\na     b\n{border}\nab    c\n{border}\n\ntext") == [
        (border, "a     b"),
        (border, "ab    c"),
    ]
    ((_, line),) = table_lines(f"{border}\nabcdef  g\n{border}")
    assert line[4:6].strip()
