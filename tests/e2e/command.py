"""Run ``isonomy`` as a shell would, in this process: starting Python anew costs a second each time.

Tests of signals, and one of every exit code, start a real process.
"""

import contextlib
import io
import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any
from unittest import mock

from isonomy.cli import main


def isonomy(
    *arguments: str, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> CompletedProcess[str]:
    """Return exit code and outputs of a command."""
    out, err = io.StringIO(), io.StringIO()
    code: Any = 0
    with (
        contextlib.chdir(cwd or Path.cwd()),
        mock.patch.dict(os.environ, env or {}),
        mock.patch.object(sys, "argv", ["isonomy", *arguments]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        _shown_warnings(),
    ):
        try:
            main()
        except SystemExit as stop:
            code = stop.code or 0
    return CompletedProcess([*arguments], code, out.getvalue(), err.getvalue())


@contextlib.contextmanager
def _shown_warnings() -> Iterator[None]:
    """Let warnings go to standard error, as in a process of its own."""

    def show(message: Any, category: Any, filename: str, lineno: int, *more: Any) -> None:
        sys.stderr.write(warnings.formatwarning(message, category, filename, lineno))

    with warnings.catch_warnings():
        warnings.simplefilter("default")
        for quiet in (DeprecationWarning, PendingDeprecationWarning, ImportWarning):
            warnings.simplefilter("ignore", quiet)
        warnings.showwarning = show
        yield
