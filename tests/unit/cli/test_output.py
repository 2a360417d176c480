"""The screen: names from files are text there, whatever they hold."""

from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from isonomy.cli.output import console, make_table
from tests.e2e.command import isonomy

NAMES = [
    "\x1b[31mred\x1b]0;title\x07",
    ":x:",
    "[/b]",
    "[abc]",
    "[/bold]",
    "[bold",
    "a\\[b]",
    "\u202egnirts",
]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_shown_as_it_is(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    table = make_table("name", title=f"Groups of {name}")
    table.add_row(name)
    screen = console()
    screen.print(table)
    screen.print(f"plain {name}")
    shown = capsys.readouterr().out
    assert not set(shown) & {"\x1b", "\x07", "\u202e"}
    visible = name.replace("\x1b", "\\x1b").replace("\x07", "\\x07").replace("\u202e", "\\u202e")
    if name != "a\\[b]":  # an escaped bracket is one that was escaped before
        assert shown.count(visible) == 3


@pytest.mark.parametrize("width", [30, 60, 80])
@pytest.mark.parametrize("fixed", [(), ("method",)])
def test_no_name_is_cut_in_a_narrow_terminal(
    width: int,
    fixed: tuple[str, ...],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    numbers = ("equal runs", "mean difference", "not rejected", "cells of tables", "p below 0.05")
    table = make_table("method", *numbers, "what it is", right=numbers, fixed=fixed)
    names = ("fairness_constrained_thresholds", "disparate_impact_remover")
    for name in names:
        table.add_row(name, *["0.12345"] * len(numbers), "as it was declared")
    console().print(table)
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= width
    # folded or not, every letter is there: cells of one column are put together again
    everything = "".join(names) + "0.12345" * 2 * len(numbers) + "".join((*numbers, "method"))
    everything += "what it is" + "as it was declared" * 2
    assert Counter(shown.replace("\n", "").replace(" ", "")) == Counter(everything.replace(" ", ""))
    if width == 80:  # headings wrap before names do
        assert all(name[:12] in shown for name in names)


def test_our_own_styles_are_styles(capsys: pytest.CaptureFixture[str]) -> None:
    console().print("[bold red]Note[/bold red] [dim]x[/dim]")
    assert capsys.readouterr().out == "Note x\n"


@pytest.mark.parametrize("command", ["audit", "tradeoff"])
def test_a_command_shows_names_as_they_are(tmp_path: Path, command: str) -> None:
    n = 60 * len(NAMES)
    group = np.repeat(NAMES, 60)
    y = np.arange(n) % 2
    sensitive = "[/b]:x:\x1b[0m"
    table = pd.DataFrame(
        {"y": y, "y_base": y & (np.arange(n) % 3 > 0), "yhat": y, sensitive: group}
    )
    table.to_csv(tmp_path / "d.csv", index=False)
    done = isonomy(
        *(command, "d.csv", "--label", "y", "--prediction", "yhat", "--sensitive", sensitive),
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    assert "[/b]:x:" in done.stdout


def test_a_heading_above_wide_cells_stays_on_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    table = make_table("name", "what is predicted", fixed=["name"])
    table.add_row("adult", "does a person earn more than 50,000 dollars a year? " * 3)
    console().print(table)
    assert "what is predicted" in capsys.readouterr().out
