"""How we run it: what a study is made of, what comes out, and what others have published."""

from isonomy.study.plan import Trial, keys, plan
from isonomy.study.published import read_biswas, read_chen, read_fairea, read_published
from isonomy.study.record import COLUMNS, Record, combine, records_frame, wide
from isonomy.study.run import Outcome, run
from isonomy.study.source import Source
from isonomy.study.spec import Method, Study, Task
from isonomy.study.store import Store
from isonomy.study.trial import run_trial

__all__ = [
    "COLUMNS",
    "Method",
    "Outcome",
    "Record",
    "Source",
    "Store",
    "Study",
    "Task",
    "Trial",
    "combine",
    "keys",
    "plan",
    "read_biswas",
    "read_chen",
    "read_fairea",
    "read_published",
    "records_frame",
    "run",
    "run_trial",
    "wide",
]
