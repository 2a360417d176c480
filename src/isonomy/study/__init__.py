"""How we run it: what a study is made of, its trials, and where they run."""

from isonomy.study.own_model import OwnModel
from isonomy.study.pack import export_results
from isonomy.study.plan import Trial, keys, plan
from isonomy.study.results import Results
from isonomy.study.run import Outcome, Progress, Status, records_of, run, status
from isonomy.study.source import Source
from isonomy.study.spec import Method, Study, Task
from isonomy.study.trial import run_trial

__all__ = [
    "Method",
    "Outcome",
    "OwnModel",
    "Progress",
    "Results",
    "Source",
    "Status",
    "Study",
    "Task",
    "Trial",
    "export_results",
    "keys",
    "plan",
    "records_of",
    "run",
    "run_trial",
    "status",
]
