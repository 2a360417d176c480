"""Where trials run: here, in processes of this machine, on a Dask or on a Ray cluster.

All backends give the same results: a trial is a pure function of its specification, workers
receive names and load the data themselves, and BLAS runs on one thread everywhere. What a worker
does with a trial is in :mod:`isonomy.study.isolation`; a backend only sends trials out and passes
results on as they arrive. If a worker ends during a trial, the trial is tried again in a process
of its own, so that it can harm no other, and counts as failed if that process ends too.
"""

import contextlib
import importlib
import logging
import os
import socket
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar, TypeVar

import joblib
from joblib.externals import loky

from isonomy._registry import Registry
from isonomy._validate import optional
from isonomy.errors import InputError
from isonomy.study.isolation import (
    THREADS,
    Failure,
    Guard,
    Work,
    begin_worker,
    describe,
    lost_twice,
    stop_sandboxes,
)

Item = TypeVar("Item")
_LOSSES = 20
Result = list[Any] | Failure


@dataclass(frozen=True)
class Backend:
    """How trials are run; a subclass for each engine.

    Parameters
    ----------
    workers : int, optional
        Processes of a local engine; by default one per core.
    scheduler : str, optional
        Address of a running cluster.
    time_limit : float, optional
        Time limit of a trial, in seconds.
    memory_limit : int, optional
        The most bytes that the process of a trial may hold.
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

    def guard(self, work: Work) -> Guard:
        """Return what a worker calls for a trial."""
        return Guard(work, self.time_limit, self.memory_limit)

    def run(self, work: Work, items: Sequence[Item]) -> Iterator[tuple[Item, Result]]:
        """Run the work for each item; yield each with its records or failure, as they arrive.

        Parameters
        ----------
        work : callable
            ``work(item)`` returns the records of a trial; it and the items must be picklable.
        items : sequence
            The trials.
        """
        raise NotImplementedError


BACKENDS: Registry[type[Backend]] = Registry("backend")
"""Backends by name."""


def make_backend(name: str, **options: Any) -> Backend:
    """Return a backend by its name.

    Examples
    --------
    >>> backend = make_backend("serial")
    >>> list(backend.run(range, [1, 2]))
    [(1, [0]), (2, [0, 1])]
    """
    return BACKENDS[name](**options)


def _stream(
    guard: Guard,
    items: Iterable[Item],
    *,
    submit: Callable[[Guard, Item], Any],
    completed: Callable[[Iterable[Any]], Iterable[Any]],
    result: Callable[[Any], Result],
    lost: type[Exception],
    cpus: Callable[[], float],
) -> Iterator[tuple[Item, Result]]:
    """Keep an engine busy and yield results as they arrive.

    Parameters
    ----------
    guard : Guard
    items : iterable
    submit : callable
        ``submit(guard, item)`` sends a trial out and returns a handle.
    completed : callable
        Waits until at least one of the handles is done, and returns those that are.
    result : callable
        The result of a handle; raises ``InputError`` if the cluster ended.
    lost : type of exception
        What ``result`` raises if the worker of a handle ended.
    cpus : callable
        How many trials the engine runs at a time, now.
    """
    waiting = iter(items)
    running: dict[Any, tuple[Item, int]] = {}
    full = 0
    while True:
        if 2 * len(running) <= full:
            full = int(4 * max(cpus(), 1))
            for item in islice(waiting, full - len(running)):
                running[submit(guard, item)] = (item, 0)
        if not running:
            return
        for handle in completed(running):
            item, losses = running.pop(handle)
            try:
                outcome = result(handle)
            except InputError:
                raise
            except lost:
                # alone, a trial ends its own process and not the worker: somebody else did that
                if losses < _LOSSES:
                    running[submit(guard.alone(), item)] = (item, losses + 1)
                    continue
                outcome = lost_twice("the worker was lost")
            except Exception as error:
                outcome = Failure("failed", describe(error))
            yield item, outcome


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
    """Processes of this machine, by joblib's loky."""

    name = "loky"

    def run(self, work: Work, items: Sequence[Item]) -> Iterator[tuple[Item, Result]]:
        """Run the work for each item."""

        def pool() -> Any:
            # all workers end with the one that does; this starts new ones
            env = dict.fromkeys(THREADS, "1")
            return loky.get_reusable_executor(
                self.count, timeout=300, env=env, initializer=begin_worker, initargs=(os.getpid(),)
            )

        def submit(guard: Guard, item: Item) -> Any:
            while True:
                with contextlib.suppress(BrokenProcessPool):
                    return pool().submit(guard, item)

        finished = False
        try:
            yield from _stream(
                self.guard(work),
                items,
                submit=submit,
                completed=lambda running: wait(running, return_when=FIRST_COMPLETED).done,
                result=lambda future: future.result(),
                lost=BrokenProcessPool,
                cpus=lambda: self.count / 2,
            )
            finished = True
        finally:
            if not finished:  # given up half-way: nobody waits for what still runs
                pool().shutdown(wait=True, kill_workers=True)


@BACKENDS.register("dask")
class Dask(Backend):
    """A Dask cluster: the one at ``scheduler``, or processes of this machine."""

    name = "dask"
    takes_scheduler = True
    patience: ClassVar[int] = 60
    look_every: ClassVar[float] = 5.0

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
                    f"({describe(error)}): start one with `dask scheduler`."
                ) from None
            with client:
                try:
                    client.wait_for_workers(1, timeout=self.patience)
                except TimeoutError:
                    raise InputError(
                        f"The Dask cluster at {self.scheduler!r} must have workers; none joined in "
                        f"{self.patience} s: start some with `dask worker {self.scheduler}`."
                    ) from None
                yield client
            return
        import dask

        # the end of a worker is reported at once: the trial is tried again here, and alone
        with (
            dask.config.set(
                {
                    "distributed.scheduler.allowed-failures": 0,
                    # a busy machine may take long to start a worker anew
                    "distributed.deploy.lost-worker-timeout": "120s",
                }
            ),
            distributed.LocalCluster(
                n_workers=self.count,
                threads_per_worker=1,
                processes=True,
                memory_limit=0,
                dashboard_address="127.0.0.1:0",
                silence_logs=logging.CRITICAL,
            ) as cluster,
            distributed.Client(cluster, set_as_default=False) as client,
            self._replacing_workers(distributed, cluster),
        ):
            yield client

    @contextlib.contextmanager
    def _replacing_workers(self, distributed: Any, cluster: Any) -> Iterator[None]:
        """Start workers anew that Dask has given up: with none left it would wait for ever."""
        gone = {distributed.Status.closed, distributed.Status.failed}

        def replace() -> None:
            for name in [n for n, nanny in cluster.workers.items() if nanny.status in gone]:
                del cluster.workers[name]
            cluster.scale(self.count)

        over = threading.Event()

        def watch() -> None:
            while not over.wait(self.look_every):
                cluster.loop.add_callback(replace)

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            yield
        finally:
            over.set()
            watcher.join()

    def _stream(
        self, distributed: Any, client: Any, guard: Guard, items: Sequence[Item]
    ) -> Iterator[tuple[Item, Result]]:
        stream = distributed.as_completed(loop=client.loop)

        def submit(guard: Guard, item: Item) -> Any:
            future = client.submit(guard, item, pure=False, retries=0)
            stream.add(future)
            return future

        def completed(running: Iterable[Any]) -> list[Any]:
            future = next(stream)
            while future.status not in ("finished", "error", "cancelled"):
                # its worker ended before the result was fetched: the scheduler does it again
                stream.add(future)
                future = next(stream)
            return [future]

        def result(future: Any) -> Result:
            try:
                return future.result()  # type: ignore[no-any-return]
            except Exception:
                if future.status != "cancelled":
                    raise
                raise InputError(
                    "The Dask cluster must stay until the study is done; it let go of its "
                    "trials: results so far are stored, run the study again to continue."
                ) from None

        return _stream(
            guard,
            items,
            submit=submit,
            completed=completed,
            result=result,
            lost=distributed.KilledWorker,
            cpus=lambda: max(25, int(sum(client.nthreads().values()))),
        )


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
            options["_node_ip_address"] = "127.0.0.1"
        try:
            if self.scheduler is not None:
                _knock(self.scheduler)
            with (
                _environment("RAY_USAGE_STATS_ENABLED", "0"),
                _loopback() if self.scheduler is None else contextlib.nullcontext(),
            ):
                ray.init(log_to_driver=False, logging_level=logging.ERROR, **options)
        except (OSError, ValueError, RuntimeError) as error:
            raise InputError(
                f"A Ray cluster must answer at {self.scheduler!r}; it does not "
                f"({describe(error)}): start one with `ray start --head`, or set its token."
            ) from None
        try:
            yield
        finally:
            ray.shutdown()

    def _stream(
        self, ray: Any, guard: Guard, items: Sequence[Item]
    ) -> Iterator[tuple[Item, Result]]:
        call = ray.remote(num_cpus=1, max_retries=0)(_call)
        stored = {g.isolate: ray.put(g) for g in (guard, guard.alone())}

        def result(handle: Any) -> Result:
            try:
                return ray.get(handle)  # type: ignore[no-any-return]
            except ray.exceptions.RayTaskError as error:
                raise error.cause from None

        return _stream(
            guard,
            items,
            submit=lambda guard, item: call.remote(stored[guard.isolate], item),
            completed=lambda running: ray.wait(list(running), num_returns=1)[0],
            result=result,
            lost=ray.exceptions.RayError,
            cpus=lambda: max(25, ray.cluster_resources().get("CPU", 1)),
        )


@contextlib.contextmanager
def _loopback() -> Iterator[None]:
    """Let a Ray that is started listen on loopback, so that nobody outside can connect.

    On Linux Ray takes the machine's own address for 127.0.0.1, unless clusters are switched off,
    as they are elsewhere; it reads that variable only once, when it is imported.
    """
    constants = importlib.import_module("ray._private.ray_constants")
    name = "ENABLE_RAY_CLUSTER"
    before = getattr(constants, name, None)
    with _environment("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0"):
        setattr(constants, name, False)
        try:
            yield
        finally:
            setattr(constants, name, before)


def _call(guard: Guard, item: Any) -> Result:
    return guard(item)


def _knock(address: str) -> None:
    """Raise at once where nobody answers; Ray itself would try for minutes."""
    host, colon, port = address.rpartition("://")[2].rpartition(":")
    if colon and port.isdigit():
        socket.create_connection((host, int(port)), timeout=10).close()


@contextlib.contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    """Set a variable of the environment while an engine starts."""
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        del os.environ[name]
        if before is not None:
            os.environ[name] = before
