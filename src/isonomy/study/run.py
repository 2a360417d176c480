"""Run what is missing of a study: plan, leave out what is stored, stream, append."""

import contextlib
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from isonomy._validate import unknown_name
from isonomy.store.record import STATUSES, Record
from isonomy.store.store import Store
from isonomy.study.backends import Backend, make_backend
from isonomy.study.isolation import Failure
from isonomy.study.plan import Trial, keys, plan
from isonomy.study.spec import Study
from isonomy.study.trial import run_trial

__all__ = ["Job", "Outcome", "Progress", "pending", "records_of", "run"]

_TRY_AGAIN = ("failed", "timeout")
_NO_RECORD = (
    "The trial gave no record of it: its worker must have the same versions of Isonomy and "
    "scikit-learn as the process that runs the study."
)


@dataclass(frozen=True)
class Job:
    """A trial and the keys that are missing of it."""

    trial: Trial
    only: frozenset[str]


@dataclass(frozen=True)
class _Work:
    """What travels to the workers: the study's specification, and no data."""

    study: Study

    def __call__(self, job: Job) -> list[Record]:
        return run_trial(self.study, job.trial, job.only)


@dataclass(frozen=True)
class Progress:
    """How far a run is, told after every trial.

    Attributes
    ----------
    done, total : int
        Trials that were run now, and that were missing when it began.
    trial : Trial
        The one that has just ended.
    statuses : mapping of str to int
        Records of this run by status.
    seconds : float
        Since the first trial was sent out.
    """

    done: int
    total: int
    trial: Trial
    statuses: Mapping[str, int]
    seconds: float


@dataclass(frozen=True)
class Outcome:
    """What became of a run.

    Attributes
    ----------
    study : str
    path : str
        The folder of the store.
    trials : int
        Trials that were missing; ``done`` of them were run now.
    done : int
    kept : int
        Records that were stored before.
    statuses : mapping of str to int
        Records of this run by status.
    interrupted : bool
        Whether Ctrl-C ended it; what is done is kept.
    seconds, cpu, fit_cpu : float
        Wall time, and CPU time of the trials and of the fits in them.
    """

    study: str
    path: str
    trials: int
    done: int
    kept: int
    statuses: Mapping[str, int] = field(default_factory=dict)
    interrupted: bool = False
    seconds: float = 0.0
    cpu: float = 0.0
    fit_cpu: float = 0.0

    @property
    def complete(self) -> bool:
        """Whether nothing is missing any more."""
        return self.done == self.trials

    @property
    def advice(self) -> str:
        """How to go on, where something is missing."""
        if self.complete:
            return ""
        return (
            f"{self.trials - self.done:,} of {self.trials:,} trials are missing; what is done is "
            f"kept: isonomy study resume {self.path}"
        )


def pending(
    study: Study, store: Store, *, retry: Iterable[str] = (), refuse: bool = True
) -> tuple[list[Job], dict[str, tuple[str, str]]]:
    """Give what is missing of a study, and (model, label) of every planned key.

    Parameters
    ----------
    study : Study
    store : Store
    retry : iterable of str
        Statuses that do not count as done: ``failed``, ``timeout``.
    refuse : bool
        Whether to raise where the store holds planned runs under another key, which is what
        happens after an upgrade of scikit-learn.
    """
    again = tuple(retry)
    for status in again:
        if status not in _TRY_AGAIN:
            raise unknown_name("status to try again", status, _TRY_AGAIN)
    planned = {trial: keys(study, trial) for trial in plan(study)}
    if refuse:
        _refuse_others(store, planned)
    done = store.keys([s for s in STATUSES if s not in again])
    jobs = [
        Job(trial, frozenset(named.keys() - done))
        for trial, named in planned.items()
        if named.keys() - done
    ]
    return jobs, {key: row for named in planned.values() for key, row in named.items()}


def _refuse_others(store: Store, planned: dict[Trial, dict[str, tuple[str, str]]]) -> None:
    """Raise where the store holds one of these runs under another key."""
    rows = [
        (trial.dataset, trial.attributes, model, label, trial.repeat, key)
        for trial, named in planned.items()
        for key, (model, label) in named.items()
    ]
    names = ["dataset", "attributes", "model", "mitigator", "repeat", "key"]
    store.refuse_conflicts(pd.DataFrame(rows, columns=names))


def run(
    study: Study,
    store: Store | str | os.PathLike[str],
    *,
    backend: str | Backend = "serial",
    workers: int | None = None,
    scheduler: str | None = None,
    time_limit: float | None = None,
    memory_limit: int | None = None,
    retry: Iterable[str] = (),
    progress: Callable[[Progress], None] | None = None,
) -> Outcome:
    """Run every trial of a study that is not in the store yet.

    Each trial is stored as soon as it ends, so that a kill loses only what was in flight and the
    same call goes on where it stopped. A trial that fails, takes too long or brings its process
    down becomes rows with that status and a reason, and the others go on.

    Parameters
    ----------
    study : Study
        What to run.
    store : Store or path
        Where to; a folder that does not exist is made.
    backend : {"serial", "loky", "dask", "ray"} or Backend
        Where trials run; the results are the same.
    workers : int, optional
        Processes of a local engine; one per core by default.
    scheduler : str, optional
        Address of a Dask or Ray cluster; without it one is started on this machine.
    time_limit : float, optional
        The most seconds that a trial may take.
    memory_limit : int, optional
        The most bytes that the process of a trial may hold.
    retry : iterable of {"failed", "timeout"}
        Run those again that ended so.
    progress : callable, optional
        Called with a :class:`Progress` after every trial.

    Returns
    -------
    Outcome
        After Ctrl-C, too: it says what is missing.

    Examples
    --------
    >>> import tempfile
    >>> from isonomy.study import Study
    >>> study = Study("tiny", ["synthetic(n=400)/group"], ["lr"], ["unmitigated"], repeats=2)
    >>> folder = tempfile.mkdtemp()
    >>> outcome = run(study, folder)
    >>> outcome.done, dict(outcome.statuses)
    (2, {'ok': 2})
    >>> run(study.with_(repeats=3), folder).done
    1
    """
    if not isinstance(backend, Backend):
        backend = make_backend(
            backend,
            workers=workers,
            scheduler=scheduler,
            time_limit=time_limit,
            memory_limit=memory_limit,
        )
    if not isinstance(store, Store):
        store = Store.create(store, study.name, study.toml())
    store.check_study(study.name)
    with store.writer() as writer:
        jobs, named = pending(study, store, retry=retry)
        kept = len(store)
        writer.declare(study.toml())
        statuses: Counter[str] = Counter()
        spent = {"cpu": 0.0, "fit_cpu": 0.0}
        done, start, interrupted = 0, time.monotonic(), False
        with _sigterm_as_interrupt(), contextlib.ExitStack() as stack:
            stream = backend.run(_Work(study), jobs) if jobs else iter(())
            if hasattr(stream, "close"):
                stack.callback(stream.close)
            try:
                for job, result in stream:
                    records = _records(study, job, result, named)
                    writer.append(records)
                    done += 1
                    statuses.update(r.status for r in records)
                    for name in spent:
                        spent[name] += sum(getattr(r, name) for r in records)
                    if progress is not None:
                        since = time.monotonic() - start
                        progress(Progress(done, len(jobs), job.trial, dict(statuses), since))
            except KeyboardInterrupt:
                interrupted = True
    return Outcome(
        study=study.name,
        path=str(store.path),
        trials=len(jobs),
        done=done,
        kept=kept,
        statuses=dict(statuses),
        interrupted=interrupted,
        seconds=time.monotonic() - start,
        **spent,
    )


def records_of(study: Study, store: Store) -> list[Record]:
    """Return the store's records of a study as it is now, in the order of its plan."""
    order = {key: k for k, key in enumerate(k for t in plan(study) for k in keys(study, t))}
    return sorted((r for r in store.records() if r.key in order), key=lambda r: order[r.key])


@contextlib.contextmanager
def _sigterm_as_interrupt() -> Iterator[None]:
    """Treat SIGTERM, by which a cluster takes its machine back, like Ctrl-C."""
    try:
        before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    except ValueError:  # not the main thread: nobody sends it signals
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _records(
    study: Study, job: Job, result: Any, named: dict[str, tuple[str, str]]
) -> list[Record]:
    """Give one record for each missing key: what the trial gave, or why it gave none."""
    if isinstance(result, Failure):
        given: dict[str, Record] = {}
        status, reason = result.status, result.reason
    else:
        given = {record.key: record for record in result}
        status, reason = "failed", _NO_RECORD
    trial = job.trial
    ways = {
        (model, label): study.preparation_of(method)
        for model, method in study.rows(trial.task)
        for label in method.labels
    }
    for key in job.only - given.keys():
        model, label = named[key]
        preparation, splitter = ways[model, label]
        given[key] = Record(
            study=study.name,
            dataset=trial.dataset,
            attributes=trial.attributes,
            model=model,
            mitigator=label,
            repeat=trial.repeat,
            status=status,
            reason=reason,
            key=key,
            preparation=preparation,
            splitter=splitter,
        )
    return [given[key] for key in sorted(job.only)]
