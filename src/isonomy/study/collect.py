"""What methods warn of is collected: it belongs into their records, not on a worker's screen."""

import contextlib
import warnings
from collections.abc import Iterable, Iterator
from typing import TextIO

from isonomy.errors import IsonomyWarning


@contextlib.contextmanager
def collected_warnings() -> Iterator[list[IsonomyWarning]]:
    """Collect every warning of Isonomy's own inside a block; others go where they went before.

    Examples
    --------
    >>> with collected_warnings() as collected:
    ...     warnings.warn("the limit was not reached.", IsonomyWarning)
    >>> [str(warning) for warning in collected]
    ['the limit was not reached.']
    """
    collected: list[IsonomyWarning] = []
    with warnings.catch_warnings():
        show = warnings.showwarning

        def collect(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if isinstance(message, IsonomyWarning):
                collected.append(message)
            else:
                show(message, category, filename, lineno, file, line)

        warnings.simplefilter("always", IsonomyWarning)
        warnings.showwarning = collect
        yield collected


def repeat_warnings(collected: Iterable[IsonomyWarning]) -> None:
    """Warn again of what was collected."""
    for warning in collected:
        warnings.warn(warning, stacklevel=3)


def as_lines(collected: Iterable[IsonomyWarning]) -> str:
    """Write each warning once, a line each."""
    return "\n".join(dict.fromkeys(" ".join(str(warning).split()) for warning in collected))
