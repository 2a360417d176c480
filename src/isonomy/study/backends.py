"""Where trials run: here, in processes of this machine, on a Dask or on a Ray cluster.

All backends give the same results: a trial is a pure function of its specification, workers
receive names and load the data themselves, and BLAS runs on one thread everywhere. What a worker
does with a trial stands in :mod:`isonomy.study.guard`; a backend only passes trials out and
results in, as they come. Where a worker ends under a trial, the trial is tried once more in a
process of its own, so that it can bring down nobody else, and counts as failed if that ends too.
"""

import contextlib
import logging
import os
import socket
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import joblib
from joblib.externals import loky

from isonomy._registry import Registry
from isonomy._validate import optional
from isonomy.errors import InputError
from isonomy.study.guard import Failure, Guard, lost_twice, stop_sandboxes
from isonomy.study.isolation import words

__all__ = ["BACKENDS", "Backend", "Failure", "make_backend"]

Item = TypeVar("Item")
Work = Callable[[Any], Iterable[Any]]
Result = list[Any] | Failure

_LOST = "the worker was lost"


@dataclass(frozen=True)
class Backend:
    """How trials are run; a subclass for each engine.

    Parameters
    ----------
    workers : int, optional
        Processes of a local engine; by default one per core.
    scheduler : str, optional
        Address of a cluster that is already there.
    time_limit : float, optional
        The most seconds that a trial may take.
    memory_limit : int, optional
        The most bytes that a trial's process may hold.
    """

    workers: int | None = None
    scheduler: str | None = None
    time_limit: float | None = None
    memory_limit: int | None = None

    name: ClassVar[str] = ""
    takes_scheduler: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.workers is not None and self.workers < 1:
            raise InputError(f"workers must be at least 1; got {self.workers}.")
        if self.scheduler is not None and not self.takes_scheduler:
            raise InputError(
                f"The backend {self.name!r} runs on this machine and takes no scheduler; got "
                f"{self.scheduler!r}: choose 'dask' or 'ray'."
            )
        self.guard(list)  # raises for limits that make no sense

    @property
    def count(self) -> int:
        """How many processes a local engine starts."""
        return self.workers or int(joblib.cpu_count())

    def guard(self, work: Work, **more: Any) -> Guard:
        """Give what a worker calls for a trial."""
        return Guard(work, self.time_limit, self.memory_limit, **more)

    def run(self, work: Work, items: Sequence[Item]) -> Iterator[tuple[Item, Result]]:
        """Run the work for each item; give each with its records or failure, as they come.

        Parameters
        ----------
        work : callable
            ``work(item)`` gives the records of a trial; it and the items must be picklable.
        items : sequence
            The trials.
        """
        raise NotImplementedError


BACKENDS: Registry[type[Backend]] = Registry("backend")
"""Backends by name."""


def make_backend(name: str, **options: Any) -> Backend:
    """Make a backend by its name.

    Examples
    --------
    >>> backend = make_backend("serial")
    >>> list(backend.run(range, [1, 2]))
    [(1, [0]), (2, [0, 1])]
    """
    return BACKENDS[name](**options)


@BACKENDS.register("serial")
class Serial(Backend):
    """One trial after the other, in this process; in a second one where there are limits."""

    name = "serial"

    def run(self, work: Work, items: Sequence[Item]) -> Iterator[tuple[Item, Result]]:
        """Run the work for each item."""
        guard = self.guard(work)
        try:
            for item in items:
                yield item, guard(item)
        finally:
            stop_sandboxes()


@BACKENDS.register("loky", aliases=("joblib",))
class Loky(Backend):
    """Processes of this machine, by joblib."""

    name = "loky"

    def run(self, work: Work, items: Sequence[Item]) -> Iterator[tuple[Item, Result]]:
        """Run the work for each item."""
        guard = self.guard(work, orphans=True)
        left = dict(enumerate(items))
        lost: dict[int, int] = {}
        try:
            yield from self._passes(guard, left, lost)
        finally:
            if left:  # given up half-way: nobody waits for what still runs
                loky.get_reusable_executor().shutdown(wait=True, kill_workers=True)

    def _passes(
        self, guard: Guard, left: dict[int, Any], lost: dict[int, int]
    ) -> Iterator[tuple[Any, Result]]:
        while left:
            sent: set[int] = set()
            try:
                with contextlib.closing(self._pass(guard, left, lost, sent)) as found:
                    for number, result in found:
                        yield left.pop(number), result
            except BrokenProcessPool:
                # all workers ended with the one that did; which trial it was is not told
                for number in sent & left.keys():
                    lost[number] = lost.get(number, 0) + 1
                    if lost[number] > 2:
                        yield left.pop(number), lost_twice(_LOST)

    def _pass(
        self, guard: Guard, left: dict[int, Any], lost: dict[int, int], sent: set[int]
    ) -> Generator[tuple[int, Result], None, None]:
        def calls() -> Iterator[Any]:
            for number in sorted(left, key=lambda k: (k not in lost, k)):
                sent.add(number)
                mine = guard.alone() if number in lost else guard
                yield joblib.delayed(_numbered)(mine, number, left[number])

        pool = joblib.Parallel(
            n_jobs=self.count, backend="loky", return_as="generator_unordered", batch_size=1
        )
        found = pool(calls())
        try:
            # not "yield from", which would close it before warnings are off
            for one in found:  # noqa: UP028
                yield one
        finally:
            with warnings.catch_warnings():
                # trials given up half-way are what an interrupted study asks for
                warnings.simplefilter("ignore")
                found.close()


def _numbered(guard: Guard, number: int, item: Any) -> tuple[int, Result]:
    return number, guard(item)


@BACKENDS.register("dask")
class Dask(Backend):
    """A Dask cluster: the one at ``scheduler``, or processes of this machine."""

    name = "dask"
    takes_scheduler = True
    patience: ClassVar[int] = 60

    def run(self, work: Work, items: Sequence[Item]) -> Iterator[tuple[Item, Result]]:
        """Run the work for each item."""
        distributed = optional("distributed", extra="dask", purpose="The backend 'dask'")
        with self._client(distributed) as client:
            yield from self._stream(distributed, client, self.guard(work), items)

    @contextlib.contextmanager
    def _client(self, distributed: Any) -> Iterator[Any]:
        if self.scheduler is not None:
            try:
                client = distributed.Client(self.scheduler, timeout=10, set_as_default=False)
            except (OSError, ValueError) as error:
                raise InputError(
                    f"A Dask scheduler must answer at {self.scheduler!r}; it does not "
                    f"({words(error)}): start one with `dask scheduler`."
                ) from None
            with client:
                try:
                    client.wait_for_workers(1, timeout=self.patience)
                except TimeoutError:
                    raise InputError(
                        f"The Dask cluster at {self.scheduler!r} must have workers; none came in "
                        f"{self.patience} s: start some with `dask worker {self.scheduler}`."
                    ) from None
                yield client
            return
        import dask

        # a worker that ends is told at once: trying again is done here, and alone
        with (
            dask.config.set({"distributed.scheduler.allowed-failures": 0}),
            distributed.LocalCluster(
                n_workers=self.count,
                threads_per_worker=1,
                processes=True,
                memory_limit=0,
                dashboard_address="127.0.0.1:0",
                silence_logs=logging.CRITICAL,
            ) as cluster,
            distributed.Client(cluster, set_as_default=False) as client,
        ):
            yield client

    def _stream(
        self, distributed: Any, client: Any, guard: Guard, items: Sequence[Item]
    ) -> Iterator[tuple[Item, Result]]:
        waiting = iter(items)
        running: dict[Any, tuple[Item, int]] = {}
        stream = distributed.as_completed(loop=client.loop)

        def submit(item: Item, times: int) -> None:
            future = client.submit(guard.alone() if times else guard, item, pure=False, retries=0)
            running[future] = (item, times)
            stream.add(future)

        def fill() -> None:
            room = max(100, 4 * sum(client.nthreads().values())) - len(running)
            for item, _ in zip(waiting, range(room), strict=False):
                submit(item, 0)

        fill()
        while running:
            future = next(stream)
            if future.status not in ("finished", "error", "cancelled"):
                # its worker ended before the result was fetched: the scheduler does it again
                stream.add(future)
                continue
            item, times = running.pop(future)
            result, error = _dask_result(future)
            if error is None:
                yield item, result
            elif not isinstance(error, distributed.scheduler.KilledWorker):
                yield item, Failure("failed", words(error))
            elif times < 2:
                submit(item, times + 1)
            else:
                yield item, lost_twice(_LOST)
            del future
            if len(running) < 50:
                fill()


def _dask_result(future: Any) -> tuple[Any, Exception | None]:
    """Give what a trial gave, or the error with which it, or its worker, ended."""
    try:
        return future.result(), None
    except Exception as error:
        if future.status == "cancelled":
            raise InputError(
                "The Dask cluster must stay until the study is done; it let go of its trials: "
                "what is done is kept, run the study again to go on."
            ) from None
        return None, error


@BACKENDS.register("ray")
class Ray(Backend):
    """A Ray cluster: the one at ``scheduler``, or processes of this machine."""

    name = "ray"
    takes_scheduler = True

    def run(self, work: Work, items: Sequence[Item]) -> Iterator[tuple[Item, Result]]:
        """Run the work for each item."""
        ray = optional("ray", extra="ray", purpose="The backend 'ray'")
        with self._cluster(ray):
            yield from self._stream(ray, self.guard(work), items)

    @contextlib.contextmanager
    def _cluster(self, ray: Any) -> Iterator[None]:
        if ray.is_initialized():  # the caller's own: it stays as it is
            yield
            return
        options: dict[str, Any] = {"address": self.scheduler}
        if self.scheduler is None:
            options = {"address": "local", "num_cpus": self.count, "include_dashboard": False}
        try:
            if self.scheduler is not None:
                _knock(self.scheduler)
            with _environment(RAY_USAGE_STATS_ENABLED="0"):
                ray.init(log_to_driver=False, logging_level=logging.ERROR, **options)
        except (OSError, ValueError, RuntimeError) as error:
            raise InputError(
                f"A Ray cluster must answer at {self.scheduler!r}; it does not "
                f"({words(error)}): start one with `ray start --head`, or set the token that it asks for."
            ) from None
        try:
            yield
        finally:
            ray.shutdown()

    def _stream(
        self, ray: Any, guard: Guard, items: Sequence[Item]
    ) -> Iterator[tuple[Item, Result]]:
        call = ray.remote(num_cpus=1, max_retries=0)(_call)
        usual, alone = ray.put(guard), ray.put(guard.alone())
        waiting = iter(items)
        running: dict[Any, tuple[Item, int]] = {}

        def submit(item: Item, times: int) -> None:
            running[call.remote(alone if times else usual, item)] = (item, times)

        def fill() -> None:
            room = max(100, int(4 * ray.cluster_resources().get("CPU", 1))) - len(running)
            for item, _ in zip(waiting, range(room), strict=False):
                submit(item, 0)

        fill()
        while running:
            done, _ = ray.wait(list(running), num_returns=1)
            for ref in done:
                item, times = running.pop(ref)
                try:
                    yield item, ray.get(ref)
                except ray.exceptions.RayTaskError as error:
                    yield item, Failure("failed", words(error.cause))
                except ray.exceptions.RayError:
                    if times < 2:
                        submit(item, times + 1)
                    else:
                        yield item, lost_twice(_LOST)
            if len(running) < 50:
                fill()


def _knock(address: str) -> None:
    """Raise at once where nobody answers; Ray itself would try for minutes."""
    host, colon, port = address.rpartition("://")[2].rpartition(":")
    if colon and port.isdigit():
        socket.create_connection((host, int(port)), timeout=10).close()


def _call(guard: Guard, item: Any) -> Result:
    return guard(item)


@contextlib.contextmanager
def _environment(**values: str) -> Iterator[None]:
    """Set variables of the environment for as long as an engine starts."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
