"""A process of its own for trials, so that one which runs away can be stopped without loss.

A thread cannot be stopped, and a signal does not reach a solver written in C: only the end of a
process is certain. The sandbox stays for many trials (data are loaded once); it is started anew
after it had to be stopped. Its supervisor lives in whatever process the backend calls a worker.
"""

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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isonomy.errors import InputError
from isonomy.study.isolation import receive, send_bytes

__all__ = ["Died", "Sandbox", "memory_of", "pickled"]

_POLL = 0.05
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
_SCRIPT = str(Path(__file__).with_name("_sandbox_process.py"))
_START = (
    "import sys, runpy; sys.path[:] = {path!r}; runpy.run_path({script!r}, run_name='__main__')"
)


@dataclass(frozen=True)
class Died:
    """The process ended under a trial."""

    how: str


def pickled(work: Any) -> bytes:
    """Pickle a function, one of a notebook or a script included."""
    try:
        cloudpickle = importlib.import_module("cloudpickle")
    except ImportError:  # joblib before 1.6 brings its own
        cloudpickle = importlib.import_module("joblib.externals.cloudpickle")
    return bytes(cloudpickle.dumps(work))


def memory_of(pid: int) -> int:
    """Give the bytes of memory that a process holds; 0 where it is gone."""
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
    told = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, check=False)
    return int(told.stdout.strip() or 0) * 1024


# ---- the supervisor -----------------------------------------------------------------------------


class Sandbox:
    """The supervisor's side: one process, one trial at a time.

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
        """Give what the work gave, ``("timeout",)``, ``("memory",)`` or :class:`Died`."""
        process = self._start()
        if isinstance(process, Died):
            return process
        assert process.stdin is not None
        end = None if seconds is None else time.monotonic() + seconds
        try:
            send_bytes(process.stdin, pickled(item))
            while True:
                try:
                    return self._answer(self._inbox.get(timeout=_POLL if end or memory else None))
                except queue.Empty:
                    # memory first: who took it all may have slowed this clock's own process
                    if memory is not None and memory_of(process.pid) > memory:
                        self.stop()
                        return ("memory",)
                    if end is not None and time.monotonic() > end:
                        self.stop()
                        return ("timeout",)
        except (BrokenPipeError, OSError):
            return self._answer(None)
        except BaseException:  # Ctrl-C: the trial is given up
            self.stop()
            raise

    def _start(self) -> "subprocess.Popen[bytes] | Died":
        if self._process is not None and self._process.poll() is None:
            return self._process
        self.stop()
        environment = {**os.environ, **dict.fromkeys(_THREADS, "1")}
        self._process = process = subprocess.Popen(
            [sys.executable, "-c", _START.format(path=sys.path, script=_SCRIPT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            start_new_session=True,  # Ctrl-C is for the one who asked for the study
        )
        self._inbox = queue.Queue()
        reader = threading.Thread(target=_read, args=(process.stdout, self._inbox), daemon=True)
        reader.start()
        assert process.stdin is not None
        try:
            send_bytes(process.stdin, self.work)
        except OSError:
            return self._answer(None)  # type: ignore[no-any-return]
        # imports do not count against the limits of a trial
        ready = self._inbox.get()
        return process if ready == ("ready",) else self._answer(ready)

    def _answer(self, message: Any) -> Any:
        if message is not None:
            return message
        process = self._process
        assert process is not None
        code = process.wait()
        self.stop()
        if code < 0:
            with contextlib.suppress(ValueError):
                return Died(f"killed by {signal.Signals(-code).name}")
        return Died(f"ended with code {code}")

    def stop(self) -> None:
        """End the process at once."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                with contextlib.suppress(OSError):
                    if pipe is not None:
                        pipe.close()


def _read(pipe: Any, inbox: "queue.Queue[Any]") -> None:
    """Pass messages on until the pipe ends; None says that it did."""
    with contextlib.suppress(OSError, ValueError):  # closed under the reader
        while (data := receive(pipe)) is not None:
            inbox.put(pickle.loads(data))
    inbox.put(None)
