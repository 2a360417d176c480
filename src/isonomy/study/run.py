"""Run the missing trials of a study, and report how far it is."""

import contextlib
import os
import signal
import time
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from html import escape
from itertools import chain
from typing import Any

import pandas as pd

from isonomy._brief import brief
from isonomy._validate import unknown_name
from isonomy.errors import DataUnavailable, InputError, VersionChangeWarning
from isonomy.store.record import RUN, STATUSES, Record
from isonomy.store.store import Store
from isonomy.store.writer import Writer
from isonomy.study.backends import Backend, make_backend
from isonomy.study.brought import Brought
from isonomy.study.isolation import Failure
from isonomy.study.plan import Trial, keys, plan
from isonomy.study.spec import Study
from isonomy.study.trial import blank_records, run_trial
from isonomy.study.versions import changed_versions, versions_of

Planned = dict[Trial, dict[str, tuple[str, str]]]

_TRY_AGAIN = ("failed", "timeout")
_RETRY = (*_TRY_AGAIN, "skipped")
_NO_RECORD = (
    "The trial returned no record of it: its worker must have the same versions of Isonomy and "
    "scikit-learn as the process that runs the study."
)


@dataclass(frozen=True)
class Job:
    """A trial and its keys that are missing."""

    trial: Trial
    only: frozenset[str]


@dataclass(frozen=True)
class RunJob:
    """What is sent to the workers: the study and what it names of the user's own, and no data."""

    study: Study
    brought: Brought = field(default_factory=Brought)

    def __call__(self, job: Job) -> list[Record]:
        """Run the missing rows of a trial."""
        self.brought.register()
        return run_trial(self.study, job.trial, job.only)


@dataclass(frozen=True)
class Progress:
    """How far a run is, reported after every trial.

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

    @property
    def failed(self) -> int:
        """How many records of this run failed or took too long."""
        return sum(self.statuses.get(word, 0) for word in _TRY_AGAIN)


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run.

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
    changed : sequence of str
        Versions that differ from those of the records that were stored before.
    interrupted : bool
        Whether Ctrl-C ended it; results so far are stored.
    taken : int
        Records that came from the store given as ``start``; they are among those kept.
    seconds, cpu, fit_cpu : float
        Wall time, and CPU time of the trials and of the fits in them.
    """

    study: str
    path: str
    trials: int
    done: int
    kept: int
    statuses: Mapping[str, int] = field(default_factory=dict)
    changed: Sequence[str] = ()
    interrupted: bool = False
    taken: int = 0
    seconds: float = 0.0
    cpu: float = 0.0
    fit_cpu: float = 0.0

    @property
    def failed(self) -> int:
        """How many records of this run failed or took too long."""
        return sum(self.statuses.get(word, 0) for word in _TRY_AGAIN)

    @property
    def complete(self) -> bool:
        """Whether nothing is missing any more."""
        return self.done == self.trials

    @property
    def advice(self) -> str:
        """How to continue, if something is missing."""
        if self.complete:
            return ""
        return (
            f"Trials that are missing: {self.trials - self.done:,}; the others are stored: "
            f"isonomy study resume {self.path}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as plain data."""
        return asdict(self)


@dataclass(frozen=True, repr=False)
class Status:
    """How far a stored study is.

    Attributes
    ----------
    study : str
    path : str
        The folder of the store.
    trials, trials_done : int
        Trials that are planned, and those that are complete.
    records, records_done : int
        The same of records.
    records_beyond : int
        Stored records that are not of the study as it was last run: of more repeats, for example.
    statuses : mapping of str to int
        Stored records by status, the most frequent first.
    cpu_seconds, fit_cpu_seconds : float
        CPU time of the trials and of the fits in them.
    versions : mapping of str to str
        What it was last run with: Python, libraries, loaders of datasets.
    changed : sequence of str
        Which of them are others now.
    stale : str
        Why the run cannot be continued: its records are of other versions or settings.
    problems : DataFrame
        The most frequent reasons of runs that are not ok.
    """

    study: str
    path: str
    trials: int
    trials_done: int
    records: int
    records_done: int
    records_beyond: int
    statuses: Mapping[str, int]
    cpu_seconds: float
    fit_cpu_seconds: float
    versions: Mapping[str, str]
    changed: Sequence[str]
    stale: str
    problems: pd.DataFrame = field(compare=False)

    __repr__ = brief

    def frame(self) -> pd.DataFrame:
        """Return the reasons of runs that are not ok."""
        return self.problems.copy()

    def to_dict(self) -> dict[str, Any]:
        """Return the status as plain data."""
        problems = self.problems.to_dict("records")
        return {f.name: getattr(self, f.name) for f in fields(self)} | {"problems": problems}

    def _repr_html_(self) -> str:
        text = f"{self.trials_done:,} of {self.trials:,} trials of {self.study}"
        return f"<p>{escape(text)}</p>{self.problems.to_html(index=False)}"


def study_of(store: Store) -> Study:
    """Return the study that a store was last run with."""
    if not store.spec:
        raise InputError(
            f"The store {str(store.path)!r} must say what its study is; it holds records only: "
            "run the study into it."
        )
    return Study.from_toml(store.spec)


def status(store: Store | str | os.PathLike[str]) -> Status:
    """Return how far a stored study is, and what has failed; it may be running meanwhile.

    Examples
    --------
    >>> import tempfile
    >>> study = Study("tiny", ["synthetic(n=400)/group"], ["lr"], ["unmitigated"], repeats=2)
    >>> now = status(run(study, tempfile.mkdtemp()).path)
    >>> now.trials_done, dict(now.statuses)
    (2, {'ok': 2})
    """
    if not isinstance(store, Store):
        store = Store.open(store)
    study, stale = study_of(store), ""
    planned = {trial: keys(study, trial) for trial in plan(study)}
    try:
        _refuse_others(store, planned)
    except InputError as error:
        stale = f"Its records can be read, but none can be added. {error}"
    jobs = _missing(planned, store.keys())
    records = sum(map(len, planned.values()))
    records_done = records - sum(len(job.only) for job in jobs)
    counts = store.query("select status, count(*) n from runs group by status order by n desc")
    cpu, fit = store.query(
        "select coalesce(sum(cpu), 0), coalesce(sum(fit_cpu), 0) from runs"
    ).iloc[0]
    return Status(
        study=study.name,
        path=str(store.path),
        trials=len(planned),
        trials_done=len(planned) - len(jobs),
        records=records,
        records_done=records_done,
        records_beyond=len(store) - records_done,
        statuses={str(word): int(n) for word, n in counts.itertuples(index=False)},
        cpu_seconds=float(cpu),
        fit_cpu_seconds=float(fit),
        versions=(store.versions or [{}])[-1],
        changed=changed_versions(store.versions, versions_of(study)),
        stale=stale,
        problems=store.query(
            f"select status, {_one_or_many('mitigator', 'methods')}, "
            f"{_one_or_many('model', 'models')}, count(*) as runs, reason from runs "
            "where status <> 'ok' group by status, reason order by status, runs desc, reason limit 20"
        ),
    )


def _one_or_many(column: str, noun: str) -> str:
    """Write in SQL the one value that a column has in a group, or how many it has."""
    several = f"count(distinct {column})"
    return f"if({several} = 1, min({column}), {several} || ' {noun}') as {column}"


def pending(study: Study, store: Store, *, retry: Iterable[str] = ()) -> list[Job]:
    """Return the trials of a study that the store does not hold completely.

    Raises if the store holds planned runs under another key, which is what happens after an
    upgrade of scikit-learn.

    Parameters
    ----------
    study : Study
    store : Store
    retry : iterable of str
        Statuses that do not count as done: ``failed``, ``timeout``, ``skipped``.
    """
    return _pending({trial: keys(study, trial) for trial in plan(study)}, store, tuple(retry))


def _pending(planned: Planned, store: Store, again: Collection[str]) -> list[Job]:
    for word in again:
        if word not in _RETRY:
            raise unknown_name("status to try again", word, _RETRY)
    _refuse_others(store, planned)
    return _missing(planned, store.keys([s for s in STATUSES if s not in again]))


def _take(planned: Planned, store: Store, start: Store, writer: Writer, spec: str) -> int:
    """Take the planned records of another store that are missing here, or not ok; count them."""
    start.check_study(store.name)
    wanted = {key for named in planned.values() for key in named}
    taken = writer.take(start.views, wanted & (start.keys("ok") | (start.keys() - store.keys())))
    for versions in start.versions if taken else ():
        writer.declare(spec, versions)
    return taken


def _missing(planned: Planned, done: set[str]) -> list[Job]:
    jobs = (Job(trial, frozenset(named.keys() - done)) for trial, named in planned.items())
    return [job for job in jobs if job.only]


def _check_sources(study: Study) -> None:
    """Raise if a declared file is not as declared: otherwise every row of it would fail.

    A file that only the workers can see is left to them.
    """
    for source in study.sources:
        attributes = [t.attributes.split("+") for t in study.tasks if t.dataset == source.name]
        for name in chain.from_iterable(attributes):
            if name not in source.sensitive_features:
                raise unknown_name(
                    f"protected attribute of {source.name!r}", name, source.sensitive_features
                )
        if attributes:
            with contextlib.suppress(DataUnavailable):
                source.load()


def _refuse_others(store: Store, planned: Planned) -> None:
    """Raise if the store holds one of these runs under another key."""
    rows = [
        (trial.dataset, trial.attributes, model, label, trial.repeat, key)
        for trial, named in planned.items()
        for key, (model, label) in named.items()
    ]
    store.refuse_conflicts(pd.DataFrame(rows, columns=[*RUN[1:], "key"]))


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
    start: Store | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Outcome:
    """Run every trial of a study that is not in the store yet.

    Each trial is stored as soon as it ends, so that a kill loses only what was in flight and the
    same call continues where it stopped. A trial that fails, takes too long or ends its process
    becomes rows with that status and a reason, and the others continue.

    Parameters
    ----------
    study : Study
        What to run.
    store : Store or path
        Where results are stored; a folder that does not exist is made.
    backend : {"serial", "loky", "dask", "ray"} or Backend
        Where trials run; the results are the same.
    workers : int, optional
        Processes of a local engine; one per core by default.
    scheduler : str, optional
        Address of a Dask or Ray cluster; without it one is started on this machine.
    time_limit : float, optional
        Time limit of a trial, in seconds.
    memory_limit : int, optional
        The most bytes that the process of a trial may hold.
    retry : iterable of {"failed", "timeout", "skipped"}
        Statuses of runs to try again.
    start : Store, optional
        Of the same study, such as :class:`isonomy.study.Results` from another machine: records
        whose keys are planned are taken from it, and are not run again.
    progress : callable, optional
        Called with a :class:`Progress` after every trial.

    Returns
    -------
    Outcome
        Also after Ctrl-C: it says what is missing.

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
    planned = {trial: keys(study, trial) for trial in plan(study)}
    with store.writer() as writer:
        taken = 0 if start is None else _take(planned, store, start, writer, study.toml())
        jobs = _pending(planned, store, tuple(retry))
        kept, versions = len(store), versions_of(study)
        if jobs:
            for own in study.own_models:
                own.make(0)  # refused here, and not in every trial
        if jobs and not kept:
            _check_sources(study)
        changed = changed_versions(store.versions, versions) if jobs and kept else []
        if changed:
            warnings.warn(
                f"Results so far were made with other versions: {'; '.join(changed)}. New ones may "
                f"differ from them by that alone; to compare, run the study into a new folder.",
                VersionChangeWarning,
                stacklevel=2,
            )
        writer.declare(study.toml(), versions if jobs else None)
        statuses: Counter[str] = Counter()
        spent = {"cpu": 0.0, "fit_cpu": 0.0}
        done, begun, interrupted = 0, time.monotonic(), False
        with _sigterm_as_interrupt(), contextlib.ExitStack() as stack:
            stream = backend.run(RunJob(study, Brought.of(study)), jobs) if jobs else iter(())
            if hasattr(stream, "close"):
                stack.callback(stream.close)
            try:
                for job, result in stream:
                    records = _records(study, job, result)
                    writer.append(records)
                    done += 1
                    statuses.update(r.status for r in records)
                    for name in spent:
                        spent[name] += sum(getattr(r, name) for r in records)
                    if progress is not None:
                        since = time.monotonic() - begun
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
        changed=changed,
        interrupted=interrupted,
        taken=taken,
        seconds=time.monotonic() - begun,
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


def _records(study: Study, job: Job, result: list[Record] | Failure) -> list[Record]:
    """Return one record for each missing key: the trial's, or why there is none."""
    failure = result if isinstance(result, Failure) else Failure("failed", _NO_RECORD)
    records = {} if isinstance(result, Failure) else {record.key: record for record in result}
    if job.only - records.keys():
        blank = blank_records(study, job.trial).items()
        lost = {k: replace(r, status=failure.status, reason=failure.reason) for k, r in blank}
        records = lost | records
    return [records[key] for key in sorted(job.only)]
