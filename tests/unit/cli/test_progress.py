"""Progress on standard error: plain lines where there is no terminal, none with --quiet."""

import time

import pytest

from isonomy.cli import progress
from isonomy.cli.output import silence, speak
from isonomy.cli.progress import counting, working


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first line comes at once; the others follow as they do for a user."""
    monkeypatch.setattr(progress, "FIRST", 0.01)


def wait_for_a_line(capsys: pytest.CaptureFixture[str]) -> str:
    told = ""
    while not told.endswith("\n"):
        time.sleep(0.01)
        caught = capsys.readouterr()
        assert caught.out == ""
        told += caught.err
    return told.splitlines()[-1]


def test_what_is_counted_is_told_line_by_line(capsys: pytest.CaptureFixture[str]) -> None:
    with counting("splits") as show:
        assert wait_for_a_line(capsys).startswith("starting; 0:00:0")
        show(0, 4)
        while "left" in (line := wait_for_a_line(capsys)) or line.startswith("starting"):
            pass
        assert line.startswith("0 of 4 splits; 0:00:0")
        show(1, 4, "german/sex, [red]2 failed[/red]")
        while not (line := wait_for_a_line(capsys)).startswith("1 of 4 splits; "):
            pass
        assert "so far, about 0:0" in line
        assert line.endswith(" left (german/sex, 2 failed)")
        show(4, 4)
        while not (line := wait_for_a_line(capsys)).startswith("4 of 4 splits; "):
            pass
        assert line.endswith(" so far, finishing")


def test_what_was_done_before_takes_no_time_now(capsys: pytest.CaptureFixture[str]) -> None:
    with counting("splits", resumed=True) as show:
        show(3, 4)
        while not (line := wait_for_a_line(capsys)).startswith("3 of 4 splits; "):
            assert line == "3 of 4 splits were done before; going on."
        assert "left" not in line


def test_work_that_cannot_be_counted_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with working("reading a[1].csv"):
        assert wait_for_a_line(capsys).startswith("reading a[1].csv ... 0:00:0")


def test_quiet_is_quiet_and_short_work_needs_no_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    silence(True, None, messages=True)
    try:
        with counting("splits") as show:
            show(1, 4)
            time.sleep(0.1)
    finally:
        speak()
    monkeypatch.setattr(progress, "FIRST", 60.0)
    with working("counting rows"):
        pass
    assert capsys.readouterr() == ("", "")
