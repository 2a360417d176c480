"""How we run it: what a study is made of, what comes out, and what others have published."""

from isonomy.study.plan import Trial, keys, plan
from isonomy.study.run import Outcome, records_of, run
from isonomy.study.source import Source
from isonomy.study.spec import Method, Study, Task
from isonomy.study.trial import run_trial

__all__ = [
    "Method",
    "Outcome",
    "Source",
    "Study",
    "Task",
    "Trial",
    "keys",
    "plan",
    "records_of",
    "run",
    "run_trial",
]
