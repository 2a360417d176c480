"""Every command of the page Start prints what the page shows, in the order of the page."""

import doctest
import re
import shlex
from pathlib import Path

import matplotlib as mpl
import pytest

from tests.e2e.command import isonomy
from tests.registry import real

PAGE = Path(__file__).resolve().parents[2] / "docs" / "start.md"
BLOCK = re.compile(r"^(<!-- not run: .+ -->\n)?```(console|pycon)\n(.*?)^```$", re.M | re.S)
COMMAND = re.compile(r"^\$ (.+?[^\\])\n(.*?)(?=^\$ |\Z)", re.M | re.S)
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


@pytest.mark.slow
def test_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real("adult")
    mpl.use("agg")
    monkeypatch.chdir(tmp_path)
    checker, names, commands = doctest.OutputChecker(), {}, 0
    for skipped, kind, text in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if skipped:
            continue
        if kind == "pycon":
            session = doctest.DocTestParser().get_doctest(text, names, "start", str(PAGE), 0)
            said: list[str] = []
            runner = doctest.DocTestRunner(optionflags=FLAGS)
            runner.run(session, out=said.append, clear_globs=False)
            assert not runner.failures, "".join(said)
            names = session.globs
            continue
        for command, shown in COMMAND.findall(text):
            program, *arguments = shlex.split(command.replace("\\\n", " "))
            assert program == "isonomy"
            done = isonomy(*arguments)
            assert done.returncode == 0, done.stderr
            assert checker.check_output(shown, done.stdout, FLAGS), f"{command}\n{done.stdout}"
            commands += 1
    assert commands >= 6
    assert {"audit.html", "benchmark.html", "tail.html", "isonomy.toml"} <= {
        path.name for path in tmp_path.iterdir()
    }
    mpl.pyplot.close("all")
