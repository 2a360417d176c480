"""Long work, one after the other: each in a process of its own that ends with the server.

What is asked for is a file in the run's folder, so that a server that was killed finds it again and
goes on. A process is stopped by closing its input: so does the system when the server dies.
"""

import contextlib
import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from isonomy.app.runs import Run, Runs

KINDS = ("benchmark", "tail")
WAITING, RUNNING, DONE, CANCELLED, FAILED = "waiting", "running", "done", "cancelled", "failed"
_PATIENCE = 20.0
"""Seconds that a process has to end by itself."""


@dataclass(frozen=True)
class Declared:
    """A model that whoever started the server named: a file, or a program."""

    name: str
    file: str | None = None
    command: str | None = None
    trust: bool = False

    def written(self) -> str:
        """Return how the command line names it; where a file lies is nobody's business."""
        if self.command is not None:
            return shlex.join(["--command", self.command])
        return shlex.quote(Path(self.file or "").name)


class Jobs:
    """The queue of long work, and the one process that runs."""

    def __init__(
        self, runs: Runs, *, workers: int = 1, models: Mapping[str, Declared] | None = None
    ) -> None:
        self.runs, self.workers, self.models = runs, workers, dict(models or {})
        self._queue: SimpleQueue[tuple[str, str] | None] = SimpleQueue()
        self._lock = threading.RLock()
        self._now: tuple[str, str, subprocess.Popen[bytes]] | None = None
        self._thread: threading.Thread | None = None
        self._stopping = False

    # ------------------------------------------------------------------ the server's side

    def start(self) -> None:
        """Begin to work, first on what an earlier server left undone."""
        self._stopping = False
        left = [
            (held.get("asked", 0.0), run.id, kind)
            for run in self.runs
            for kind in KINDS
            if (held := self.held(run, kind)).get("state") in {WAITING, RUNNING}
        ]
        for _, key, kind in sorted(left):
            self._queue.put((key, kind))
        self._thread = threading.Thread(target=self._work, name="jobs", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop; what was running or waiting goes on when the server is started again."""
        with self._lock:
            self._stopping = True
            now = self._now
        if now is not None:
            _end(now[2])
        self._queue.put(None)
        if self._thread is not None:
            self._thread.join(2 * _PATIENCE)

    # ------------------------------------------------------------------ the pages' side

    def held(self, run: Run, kind: str) -> dict[str, Any]:
        """Return what was asked for and how it stands; empty where nothing was."""
        return run.read(f"{kind}.json") or {}

    def ask(self, run: Run, kind: str, options: Mapping[str, Any]) -> None:
        """Ask for work, or for the same again after it was cancelled or failed."""
        with self._lock:
            if self.held(run, kind).get("state") in {WAITING, RUNNING}:
                return
            for name in ("page.json", "verdict.json", "error.txt", "progress.json"):
                (run.folder / f"{kind}-{name}").unlink(missing_ok=True)
            run.write(
                f"{kind}.json", {"state": WAITING, "asked": time.time(), "options": dict(options)}
            )
        self._queue.put((run.id, kind))

    def cancel(self, run: Run, kind: str) -> None:
        """Stop work; what was done stays, and asking again goes on from there."""
        with self._lock:
            if self.held(run, kind).get("state") not in {WAITING, RUNNING}:
                return
            self._set(run, kind, CANCELLED)
            now = self._now
        if now is not None and now[:2] == (run.id, kind):
            _end(now[2])

    def progress(self, run: Run, kind: str) -> dict[str, Any]:
        """Return how far the work is: done, total, seconds so far and left, notes."""
        held: dict[str, Any] = run.read(f"{kind}-progress.json") or {}
        if "begun" not in held:
            return held
        past = max(0.0, time.time() - held["begun"])
        done, total, before = (held.get(name, 0) for name in ("done", "total", "before"))
        left = past_of = None
        if total and done > before:
            past_of = held["at"] - held["begun"]
            left = max(0.0, past_of * (total - before) / (done - before) - past)
        return {**held, "past": past, "left": left if done < total else None}

    def ahead(self, run: Run, kind: str) -> int:
        """Return how many others come before work that waits."""
        asked = self.held(run, kind).get("asked", 0.0)
        return sum(
            held.get("state") == RUNNING
            or (held.get("state") == WAITING and held.get("asked", 0.0) < asked)
            for other in self.runs
            for other_kind in KINDS
            if (other.id, other_kind) != (run.id, kind) and (held := self.held(other, other_kind))
        )

    # ------------------------------------------------------------------ the thread

    def _set(self, run: Run, kind: str, state: str, error: str = "") -> None:
        run.write(f"{kind}.json", {**self.held(run, kind), "state": state, "error": error})

    def _work(self) -> None:
        while (asked := self._queue.get()) is not None:
            key, kind = asked
            run = self.runs.get(key)
            try:
                if run is not None and not self._stopping:
                    self._run(run, kind)
            except OSError as error:  # the folder is gone, or the disk is full
                with contextlib.suppress(OSError):
                    if run is not None:
                        self._set(run, kind, FAILED, f"{error.strerror or error}.")

    def _run(self, run: Run, kind: str) -> None:
        told: dict[str, Any] = {"workers": self.workers}
        with self._lock:
            held = self.held(run, kind)
            if self._stopping or held.get("state") not in {WAITING, RUNNING}:
                return
            if kind == "tail":
                name = held["options"].get("model")
                if name not in self.models:
                    self._set(run, kind, FAILED, f"The model {name!r} is not declared any more.")
                    return
                told["model"] = vars(self.models[name])
            self._set(run, kind, RUNNING)
            process = self._begin(run, kind, told)
            self._now = (run.id, kind, process)
        code = process.wait()
        with self._lock:
            self._now = None
            if process.stdin is not None:
                with contextlib.suppress(OSError):
                    process.stdin.close()
            if self._stopping or self.held(run, kind).get("state") != RUNNING:
                return
            if code == 0:
                self._set(run, kind, DONE)
            else:
                self._set(run, kind, FAILED, _why(run, kind, code))

    def _begin(self, run: Run, kind: str, told: Mapping[str, Any]) -> "subprocess.Popen[bytes]":
        one = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
        with (run.folder / f"{kind}.log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "isonomy.app.job", str(run.folder), kind],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=log,
                env={**os.environ, **one},
                start_new_session=True,
            )
        if process.stdin is not None:
            process.stdin.write(json.dumps(told).encode() + b"\n")
            process.stdin.flush()
        return process


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Close the input of a process, and kill it with its workers if it does not end by that."""
    if process.stdin is not None:
        with contextlib.suppress(OSError):
            process.stdin.close()
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        if os.name == "nt":  # pragma: no cover
            process.kill()
        else:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _why(run: Run, kind: str, code: int) -> str:
    try:
        return (run.folder / f"{kind}-error.txt").read_text(encoding="utf-8")
    except OSError:
        return f"The program ended by itself (code {code}); it is run again when asked again."
