"""What a worker calls for a trial: records or a failure with a reason, never an error.

A trial with limits runs in a process of its own, the sandbox: a thread cannot be stopped, and a
signal does not reach a solver written in C; only the end of a process is certain. The sandbox
stays for many trials (data are loaded once) and is started again after it had to be stopped.

Its process runs this file by its path, so that it starts at once; what the work needs is imported
when the work is unpickled.
"""

import atexit
import contextlib
import importlib
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from isonomy.errors import InputError

Work = Callable[[Any], Iterable[Any]]

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
"""Variables that keep numerical libraries to one thread."""

_POLL = 0.05
_START = (
    "import sys, runpy; sys.path[:] = {path!r}; runpy.run_path({script!r}, run_name='__main__')"
)


@dataclass(frozen=True)
class Failure:
    """Why a trial returned no records.

    Attributes
    ----------
    status : {"failed", "timeout"}
    reason : str
        One line, the same wherever the trial ran.
    trace : str
        The traceback, for debugging.
    """

    status: str
    reason: str
    trace: str = field(default="", compare=False)


def lost_twice(how: str) -> Failure:
    """Return the failure of a trial during which two processes ended."""
    return Failure("failed", f"Its process ended twice under it ({how}).")


def describe(error: BaseException) -> str:
    """Return the type and the message of an error in one line."""
    message = " ".join(str(error).split())
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def pickled(work: Any) -> bytes:
    """Pickle a function, including one defined in a notebook or a script."""
    try:
        cloudpickle = importlib.import_module("cloudpickle")
    except ImportError:  # joblib before 1.6 brings its own
        cloudpickle = importlib.import_module("joblib.externals.cloudpickle")
    return bytes(cloudpickle.dumps(work))


def memory_of(pid: int) -> int:
    """Return the bytes of memory that a process holds; 0 if it has ended."""
    try:
        pages = Path(f"/proc/{pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")
    except FileNotFoundError:
        if Path("/proc/self/statm").exists():
            return 0
    except (OSError, IndexError):
        return 0
    if os.name != "posix":
        raise InputError("A memory limit needs Linux or macOS: leave it out on this system.")
    shown = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, check=False)
    return int(shown.stdout.strip() or 0) * 1024


@dataclass(frozen=True)
class Guard:
    """A picklable function of a trial that returns records or a :class:`Failure`.

    Parameters
    ----------
    work : callable
        Takes a trial, returns records.
    seconds : float, optional
        The time limit of a trial.
    memory : int, optional
        The most bytes that the process of a trial may hold, data and libraries included.
    isolate : bool
        Run in a process of its own even without limits.
    attempts : int
        How many processes may end during a trial before it counts as failed.
    """

    work: Work
    seconds: float | None = None
    memory: int | None = None
    isolate: bool = False
    attempts: int = 2

    def __post_init__(self) -> None:
        for name, value in (("time limit", self.seconds), ("memory limit", self.memory)):
            if value is not None and not value > 0:
                raise InputError(f"A {name} must be above 0; got {value}.")

    def alone(self) -> "Guard":
        """Return the guard for a trial during which a worker ended: it may have been the cause."""
        return replace(self, isolate=True)

    def __call__(self, trial: Any) -> "list[Any] | Failure":
        """Run the trial."""
        if not (self.isolate or self.seconds or self.memory) and _here.acquire(blocking=False):
            try:
                return list(self.work(trial))
            except Exception as error:
                return Failure("failed", describe(error), traceback.format_exc())
            finally:
                _here.release()
        sandbox = _borrow(pickled(self.work))
        try:
            for _ in range(self.attempts):
                answer = sandbox.run(trial, self.seconds, self.memory)
                if not isinstance(answer, Died):
                    return self._result(answer)
            return lost_twice(answer.how)
        finally:
            with _lock:
                _idle.setdefault(sandbox.work, []).append(sandbox)

    def _result(self, answer: Any) -> "list[Any] | Failure":
        if answer[0] == "done":
            return list(answer[1])
        if answer[0] == "timeout":
            return Failure("timeout", f"It took longer than the time limit of {self.seconds:g} s.")
        if answer[0] == "memory":
            size = f"{(self.memory or 0) / 2**20:,.0f} MiB"
            return Failure("failed", f"Its process needed more memory than the limit of {size}.")
        return Failure("failed", answer[1], answer[2])


# A worker keeps its sandboxes from trial to trial, as it keeps the data it has loaded; threads of
# one worker each have their own.
_idle: dict[bytes, list["Sandbox"]] = {}
_lock = threading.Lock()
# Held by the trial that runs in this process itself. The number of BLAS threads and the filters of
# warnings belong to the whole process: the end of one trial would change them under another, so
# that a second thread of a worker (Dask starts several by default) runs its trials elsewhere.
_here = threading.Lock()


def _borrow(work: bytes) -> "Sandbox":
    with _lock:
        if not _idle:
            atexit.register(stop_sandboxes)
        idle = _idle.setdefault(work, [])
        return idle.pop() if idle else Sandbox(work)


def begin_worker(parent: int) -> None:
    """Prepare a worker that would outlive its parent if it did not look."""
    _watch_parent(parent)
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


# ---- the supervisor's side ----------------------------------------------------------------------


@dataclass(frozen=True)
class Died:
    """The process ended during a trial."""

    how: str


class Sandbox:
    """One process, one trial at a time.

    Parameters
    ----------
    work : bytes
        The pickled function that is called with each trial.
    """

    def __init__(self, work: bytes) -> None:
        self.work = work
        self._process: subprocess.Popen[bytes] | None = None
        self._inbox: queue.Queue[Any] = queue.Queue()

    def run(self, item: Any, seconds: float | None, memory: int | None) -> Any:
        """Return ``("done", records)``, ``("raised", reason, traceback)``, ``("timeout",)``, ``("memory",)`` or :class:`Died`."""
        try:
            process, failure = self._start()
            if failure is not None:
                return failure
            end = None if seconds is None else time.monotonic() + seconds
            _send(process.stdin, pickled(item))
            while True:
                try:
                    return self._answer(self._inbox.get(timeout=_POLL))
                except queue.Empty:
                    if process.poll() is not None:
                        return self._last_answer()
                    # memory first: a full memory may have slowed this clock's own process
                    if memory is not None and memory_of(process.pid) > memory:
                        self.stop()
                        return ("memory",)
                    if end is not None and time.monotonic() > end:
                        self.stop()
                        return ("timeout",)
        except OSError:  # a broken pipe
            return self._answer(None)
        except BaseException:  # Ctrl-C: the trial is given up
            self.stop()
            raise

    def _start(self) -> "tuple[subprocess.Popen[bytes], Any]":
        if self._process is not None and self._process.poll() is None:
            return self._process, None
        self.stop()
        self._process = process = subprocess.Popen(
            [
                sys.executable,
                "-c",
                _START.format(path=sys.path, script=__file__),
                str(os.getpid()),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **dict.fromkeys(THREADS, "1")},
            start_new_session=True,  # Ctrl-C is for the process that runs the study
        )
        self._inbox = queue.Queue()
        reader = threading.Thread(target=_read, args=(process.stdout, self._inbox), daemon=True)
        reader.start()
        _send(process.stdin, self.work)
        # imports do not count against the limits of a trial
        ready = self._inbox.get()
        return process, None if ready == ("ready",) else self._answer(ready)

    def _last_answer(self) -> Any:
        """Return what a process has left that ended, though a child may hold its pipe open."""
        with contextlib.suppress(queue.Empty):
            return self._answer(self._inbox.get(timeout=1))
        return self._answer(None)

    def _answer(self, message: Any) -> Any:
        if message is not None:
            return message
        assert self._process is not None
        code = self._process.wait()
        self.stop()
        if code < 0:
            with contextlib.suppress(ValueError):
                return Died(f"killed by {signal.Signals(-code).name}")
        return Died(f"ended with code {code}")

    def stop(self) -> None:
        """End the process at once."""
        process, self._process = self._process, None
        if process is not None:
            started = started_by(process.pid)
            # what the trial started belongs to the same group, or descends from it: it ends, too
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
            process.kill()
            for pid in started:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            process.wait()
            with contextlib.suppress(OSError):
                if process.stdin is not None:
                    process.stdin.close()


def started_by(leader: int) -> set[int]:
    """Return the processes of a session and all that descend from them, where /proc lists them."""
    parents: dict[int, int] = {}
    found = {leader}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            # the name, in brackets, may hold anything
            words = stat.read_text(errors="replace").rpartition(")")[2].split()
            pid = int(stat.parent.name)
            parents[pid] = int(words[1])
            if int(words[3]) == leader:
                found.add(pid)
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {leader}


def _send(pipe: Any, message: Any) -> None:
    pickle.dump(message, pipe)
    pipe.flush()


def _read(pipe: Any, inbox: "queue.Queue[Any]") -> None:
    """Pass messages on until the pipe ends, then None."""
    # cut short by the end of the process, or closed by this one
    with contextlib.suppress(OSError, ValueError, EOFError, pickle.UnpicklingError):
        while True:
            inbox.put(pickle.load(pipe))
    inbox.put(None)
    # here, and not by whoever ends the process: a child that lives on would make them wait
    pipe.close()


# ---- the process of a sandbox -------------------------------------------------------------------


def _watch_parent(parent: int) -> None:
    """End this process when its parent has ended: nobody would take the results."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _serve() -> None:
    """Run one trial after the other until the supervisor has ended."""
    # what a library prints must not get between the answers
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    questions = sys.stdin.buffer
    _watch_parent(int(sys.argv[1]))
    with contextlib.suppress(EOFError):
        function = pickle.load(questions)
        try:
            work = pickle.loads(function)
        except Exception as error:  # reported like any other failure of a trial
            broken = error

            def work(item: Any) -> Any:
                raise broken

        _send(answers, ("ready",))
        while True:
            data = pickle.load(questions)
            try:
                answer = pickle.dumps(("done", list(work(pickle.loads(data)))))
            except Exception as error:
                answer = pickle.dumps(("raised", describe(error), traceback.format_exc()))
            answers.write(answer)
            answers.flush()


if __name__ == "__main__":
    _serve()
