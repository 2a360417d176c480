"""A local web page for people who do not program: bring a table, get the audit, watch a benchmark.

``isonomy serve`` starts it. Nothing is computed here: every page asks the function that the command
line asks, and shows the command that does the same. Needs the extra ``app``.
"""

from isonomy._validate import optional

for _module in ("starlette", "uvicorn", "python_multipart"):
    optional(_module, extra="app", purpose="The local web page")

from isonomy.app.jobs import Declared  # noqa: E402
from isonomy.app.runs import Limits  # noqa: E402
from isonomy.app.server import is_loopback, listening, make_app, read_token, serve  # noqa: E402

__all__ = ["Declared", "Limits", "is_loopback", "listening", "make_app", "read_token", "serve"]
