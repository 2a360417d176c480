"""Trials for the tests of backends; workers import this file by its name."""

import os
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np


def work(item: tuple[str, Any]) -> list[tuple[Any, ...]]:
    """Do what the first word of a trial says."""
    kind, value = item
    if kind == "raise":
        raise ValueError(f"trial {value} is\nimpossible")
    if kind == "sleep":
        time.sleep(600)
    if kind == "burn":
        while True:
            pass
    if kind == "allocate":
        held = [np.ones(2**22) for _ in range(200)]  # 6.4 GB, page by page
        return [(len(held),)]
    if kind == "fork":
        if os.fork() == 0:
            Path(value).write_text(str(os.getpid()))
            time.sleep(600)
        time.sleep(600)
    if kind == "daemon":  # a child in a session of its own, which keeps what it has inherited
        if os.fork() == 0:
            os.setsid()
            Path(value).write_text(str(os.getpid()))
            time.sleep(600)
        time.sleep(600)
    if kind == "orphan":
        if os.fork() == 0:
            Path(value).write_text(str(os.getpid()))
            time.sleep(600)
        while not Path(value).exists() or not Path(value).read_text():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGKILL)
    if kind == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if kind == "die_once" and not Path(value).exists():
        Path(value).write_text("was here")
        os.kill(os.getpid(), signal.SIGKILL)
    if kind == "print":
        print("noise on standard output", flush=True)
    if kind == "threads":
        from threadpoolctl import threadpool_info

        np.ones((10, 10)) @ np.ones((10, 10))
        return [(max(pool["num_threads"] for pool in threadpool_info()),)]
    if kind == "pid":
        time.sleep(0.3)
        return [(os.getpid(),)]
    numbers = np.random.default_rng(len(str(value))).normal(size=(40, 40))
    return [(kind, str(value), float((numbers @ numbers).sum()))]


class Killing:
    """Work that kills its process in the middle of one trial, the first time it is tried."""

    def __init__(self, work: Any, repeat: int, marker: str) -> None:
        self.work, self.repeat, self.marker = work, repeat, marker

    def __call__(self, job: Any) -> Any:
        records = self.work(job)
        if job.trial.repeat == self.repeat and not Path(self.marker).exists():
            Path(self.marker).write_text(str(os.getpid()))
            os.kill(os.getpid(), signal.SIGKILL)
        return records


class Sleeping:
    """Work that never ends for one repeat."""

    def __init__(self, work: Any, repeat: int) -> None:
        self.work, self.repeat = work, repeat

    def __call__(self, job: Any) -> Any:
        if job.trial.repeat == self.repeat:
            time.sleep(600)
        return self.work(job)


class Forgetful:
    """Work that gives one record too few."""

    def __init__(self, work: Any) -> None:
        self.work = work

    def __call__(self, job: Any) -> Any:
        return self.work(job)[:-1]
