"""What we show: one summary of a result, drawn as HTML, Markdown or JSON; nothing here computes."""

from isonomy.report.faces import summarize, to_json, write
from isonomy.report.html import to_html
from isonomy.report.markdown import to_markdown

__all__ = ["summarize", "to_html", "to_json", "to_markdown", "write"]
