"""What the tests of the command line's own parts share."""

import pytest

from isonomy.cli.output import speak


@pytest.fixture(autouse=True)
def _audible() -> None:
    """Begin as a command does: one that an earlier test ran with --quiet leaves its silence."""
    speak()
