"""What a worker calls: a trial becomes its records or a failure with a reason, never an error."""

import atexit
import signal
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from isonomy.errors import InputError
from isonomy.study.isolation import one_thread, watch_parent, words
from isonomy.study.sandbox import Died, Sandbox, pickled

__all__ = ["Failure", "Guard", "lost_twice", "stop_sandboxes"]

Work = Callable[[Any], Iterable[Any]]


@dataclass(frozen=True)
class Failure:
    """Why a trial gave no records.

    Attributes
    ----------
    status : {"failed", "timeout"}
    reason : str
        One line, the same wherever the trial ran.
    trace : str
        Where it was raised, for whoever looks for the mistake.
    """

    status: str
    reason: str
    trace: str = field(default="", compare=False)


def lost_twice(how: str) -> Failure:
    """Give the failure of a trial under which two processes ended."""
    return Failure("failed", f"Its process ended twice under it ({how}).")


@dataclass(frozen=True)
class Guard:
    """A picklable function of a trial.

    Parameters
    ----------
    work : callable
        Takes a trial, gives records.
    seconds : float, optional
        The most time that a trial may take.
    memory : int, optional
        The most bytes that the process of a trial may hold, data and libraries included.
    isolate : bool
        Run in a process of its own even without limits.
    attempts : int
        How many processes may end under a trial before it counts as failed.
    orphans : bool
        Whether this worker's process would outlive its parent if nobody looked.
    """

    work: Work
    seconds: float | None = None
    memory: int | None = None
    isolate: bool = False
    attempts: int = 2
    orphans: bool = False

    def __post_init__(self) -> None:
        for name, value in (("time limit", self.seconds), ("memory limit", self.memory)):
            if value is not None and not value > 0:
                raise InputError(f"A {name} must be above 0; got {value}.")

    def alone(self) -> "Guard":
        """Give the guard for a trial under which a worker ended: it may have been the reason."""
        return replace(self, isolate=True, attempts=1)

    def __call__(self, trial: Any) -> "list[Any] | Failure":
        """Run the trial."""
        if self.orphans:
            _watch_once()
        if not (self.isolate or self.seconds or self.memory) and _here.acquire(blocking=False):
            try:
                return one_thread(self.work, trial)
            except Exception as error:
                return Failure("failed", words(error), _trace(error))
            finally:
                _here.release()
        sandbox = _borrow(pickled(self.work))
        try:
            for _ in range(self.attempts):
                answer = sandbox.run(trial, self.seconds, self.memory)
                if not isinstance(answer, Died):
                    return self._told(answer)
            return lost_twice(answer.how)
        finally:
            _give_back(sandbox)

    def _told(self, answer: Any) -> "list[Any] | Failure":
        if answer[0] == "done":
            return list(answer[1])
        if answer[0] == "timeout":
            return Failure("timeout", f"It took longer than the time limit of {self.seconds:g} s.")
        if answer[0] == "memory":
            assert self.memory is not None
            size = f"{self.memory / 2**20:,.0f} MiB"
            return Failure("failed", f"Its process needed more memory than the limit of {size}.")
        return Failure("failed", answer[1], answer[2])


def _trace(error: BaseException) -> str:
    import traceback

    return "".join(traceback.format_exception(error))


# A worker keeps its sandboxes from trial to trial, as it keeps the data it has loaded; threads of
# one worker each have their own.
_idle: dict[bytes, list[Sandbox]] = {}
_lock = threading.Lock()
# Held by the trial that runs in this process itself. The number of BLAS threads and the filters of
# warnings belong to the whole process: the end of one trial would change them under another, so
# that a second thread of a worker (Dask's have several unless told) runs its trials elsewhere.
_here = threading.Lock()
_watching: list[bool] = []


def _borrow(work: bytes) -> Sandbox:
    with _lock:
        if not _idle:
            atexit.register(stop_sandboxes)
        mine = _idle.setdefault(work, [])
        return mine.pop() if mine else Sandbox(work)


def _give_back(sandbox: Sandbox) -> None:
    with _lock:
        _idle.setdefault(sandbox.work, []).append(sandbox)


def _watch_once() -> None:
    with _lock:
        if not _watching:
            _watching.append(True)
            watch_parent()
            # Ctrl-C is for the process that runs the study; it ends its workers itself
            signal.signal(signal.SIGINT, signal.SIG_IGN)


def stop_sandboxes() -> None:
    """End the idle sandboxes of this process."""
    with _lock:
        for sandboxes in _idle.values():
            for sandbox in sandboxes:
                sandbox.stop()
        _idle.clear()
    atexit.unregister(stop_sandboxes)
