"""How far long work is: a bar on a terminal, plain lines on standard error where there is none."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from isonomy.cli.output import messages, visible

if TYPE_CHECKING:
    from rich.console import Console

FIRST, LONGEST = 2.0, 60.0
"""Seconds until the first line, and the most between two; the time between lines doubles."""

Show = Callable[..., None]


@contextmanager
def counting(unit: str, *, resumed: bool = False) -> Iterator[Show]:
    """Show on standard error how much is done; yields a function of (done, total[, what]).

    With ``resumed`` the first call says how much was done before.
    """
    screen = messages()
    begun, before = time.monotonic(), 0
    state: dict[str, Any] = {"done": 0, "total": None, "what": ""}

    def line() -> str:
        past = time.monotonic() - begun
        done, total = state["done"], state["total"]
        if total is None:
            return f"starting; {_clock(past)} so far"
        said = f"{done} of {total} {unit}; {_clock(past)} so far"
        if done == total:
            said += ", finishing"
        elif done > before:
            said += f", about {_clock(past * (total - done) / (done - before))} left"
        return f"{said} ({state['what']})" if state["what"] else said

    with _bar(screen, unit) as bar, _lines(screen, line):
        task = bar.add_task("starting", total=None)

        def show(done: int, total: int, what: str = "") -> None:
            nonlocal resumed, before
            if resumed and done:
                more = "; going on" if done < total else ""
                screen.print(f"{done} of {total} {unit} were done before{more}.")
                before = done
            resumed = False
            state.update(done=done, total=total, what=what)
            bar.update(task, completed=done, total=total, description=what)

        yield show


@contextmanager
def working(what: str) -> Iterator[None]:
    """Say on standard error what is being done, such as ``"asking the model"``, if it takes long."""
    from rich.markup import escape

    screen, begun = messages(), time.monotonic()
    said = f"{escape(visible(what))} ..."
    with (
        screen.status(said),
        _lines(screen, lambda: f"{said} {_clock(time.monotonic() - begun)} so far"),
    ):
        yield


@contextmanager
def _lines(screen: "Console", line: Callable[[], str]) -> Iterator[None]:
    """Print what ``line`` returns from time to time, where no terminal shows a bar."""
    if screen.is_terminal or screen.quiet:
        yield
        return
    over = threading.Event()

    def speak() -> None:
        pause = FIRST
        while not over.wait(pause):
            screen.print(line(), soft_wrap=True)
            pause = min(2 * pause, LONGEST)

    speaker = threading.Thread(target=speak, daemon=True)
    speaker.start()
    try:
        yield
    finally:
        over.set()
        speaker.join()


def _clock(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))


def _bar(screen: "Console", unit: str) -> Any:
    """Make a bar that counts and says how long is left; on a terminal only."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    return Progress(
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TextColumn(unit),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.description}"),
        console=screen,
        transient=True,
        disable=not screen.is_terminal,
    )
