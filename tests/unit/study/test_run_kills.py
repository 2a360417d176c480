"""Thirty kills on each backend, of workers and of whole runs: nothing is lost, nothing differs."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from isonomy.store import Store, verify_store
from isonomy.study import Study, run
from isonomy.study.backends import BACKENDS
from isonomy.study.isolation import started_by
from tests.unit.study.engines import engine
from tests.unit.study.test_backends import ends
from tests.unit.study.test_run import same

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes")

LEADER = """
import sys
from isonomy.study import Study, run
if __name__ == "__main__":
    study = Study.from_toml({toml!r})
    run(study, {folder!r}, backend={name!r}, {options}
        progress=lambda now: print("done", flush=True))
    print("end", flush=True)
"""


def workers_of(leader: int) -> list[int]:
    """Return the Python processes that a run has started."""
    found = []
    for pid in started_by(leader):
        with contextlib.suppress(OSError):
            if b"python" in Path(f"/proc/{pid}/cmdline").read_bytes():
                found.append(pid)
    return found


def kill_often(study: Study, folder: Path, name: str, kills: int, seed: int) -> int:
    """Run a study to its end under kills of its workers and of itself; return how many hit."""
    dice = random.Random(seed)
    # without limits a serial run has no second process that could be killed
    options = "time_limit=60.0," if name == "serial" else "workers=2,"
    script = folder.with_suffix(".py")
    script.write_text(
        LEADER.format(toml=study.toml(), folder=str(folder), name=name, options=options)
    )
    hit = 0
    while True:
        with subprocess.Popen(
            [sys.executable, "-W", "ignore", str(script)],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True,
        ) as leader:  # fmt: skip
            assert leader.stdout is not None
            family: set[int] = set()
            for line in leader.stdout:
                family |= started_by(leader.pid)
                if line == "end\n" or hit == kills:
                    continue
                time.sleep(dice.uniform(0, 0.2))
                victims = workers_of(leader.pid) if dice.random() < 0.7 else []
                victim = dice.choice(victims) if victims else leader.pid
                with contextlib.suppress(ProcessLookupError):
                    os.kill(victim, signal.SIGKILL)
                    hit += 1
            code = leader.wait()
        if name in ("serial", "loky"):
            assert all(map(ends, family)), "a process outlives its run"
        if code == 0:
            return hit


def thirty_kills(name: str, kills: int, folder: Path) -> None:
    study = Study(
        "tiny",
        ["synthetic(n=400)/group"],
        ["lr"],
        ["unmitigated", "reweighing"],
        repeats=4 * kills,
    )
    run(study, folder / "whole")
    with engine(name):
        assert kill_often(study, folder / "killed", name, kills, 20261) == kills
    store = Store.open(folder / "killed")
    assert verify_store(store.path) == []
    # only a trial whose own process was hit twice has failed, and can be tried again
    reasons = store.runs("status <> 'ok'")["reason"]
    assert all("Its process ended twice under it" in reason for reason in reasons)
    assert len(set(store.runs("status <> 'ok'")["repeat"])) <= kills // 3
    assert run(study, store, retry=["failed"]).complete
    same(Store.open(folder / "whole"), store)


# one kill on each engine is in make test: test_run.py
@pytest.mark.slow
@pytest.mark.parametrize("name", BACKENDS)
def test_thirty_kills(name: str, tmp_path: Path) -> None:
    thirty_kills(name, 30, tmp_path)
