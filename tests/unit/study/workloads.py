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
