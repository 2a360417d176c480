"""Results that show themselves: on a page, as Markdown, in a notebook.

A result of any room says in ``page`` which file of :mod:`isonomy.report` summarises it. The room is
imported when something is to be shown, so that a result costs no more than its numbers.
"""

from collections.abc import Callable
from typing import Any, ClassVar

from isonomy._registry import Registry

Summary = dict[str, Any]

SUMMARIES: Registry[Callable[..., Summary]] = Registry("kind of page", room="isonomy.report")
"""From a result to its summary, by the kind of page."""
FACES: Registry[Callable[[Summary], str]] = Registry("face", room="isonomy.report")
"""From a summary to text: ``html``, ``markdown``, ``notebook``."""
SUFFIXES = (".html", ".md", ".json")
"""What a report's name may end in, which says how it is written."""


class Shown:
    """A result with a summary, from which pages, Markdown and notebooks are drawn."""

    page: ClassVar[str]

    def summary(self, **about: Any) -> Summary:
        """Return what a page says, as plain data: see :func:`isonomy.report.summarize`."""
        return SUMMARIES[self.page](self, **about)

    def to_html(self, **about: Any) -> str:
        """Return one self-contained page; options are those of :func:`isonomy.report.summarize`."""
        return FACES["html"](self.summary(**about))

    def to_markdown(self, **about: Any) -> str:
        """Return the page as Markdown; options are those of :func:`isonomy.report.summarize`."""
        return FACES["markdown"](self.summary(**about))

    def _repr_html_(self) -> str:
        return FACES["notebook"](self.summary())
