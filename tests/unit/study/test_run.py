"""A study ends with the same frame wherever it runs and however often it is killed."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from isonomy.errors import InputError
from isonomy.store import Store, records_frame
from isonomy.store.record import TIME
from isonomy.study import Source, Study, run, run_trial
from isonomy.study.backends import Backend, make_backend
from isonomy.study.plan import plan
from isonomy.study.run import Progress, pending, status
from tests.unit.study.engines import HERE, engine, importable, same_frame, workloads

__all__ = ["importable"]

STUDY = Study(
    "tiny",
    ["synthetic(n=400)/group"],
    ["lr", "nb"],
    ["unmitigated", "reweighing", "equalized_odds"],
    repeats=5,
)


class Wrapped(Backend):
    """A backend whose workers do something to the work."""

    def __init__(self, inner: Backend, wrap: Callable[[Any], Any]) -> None:
        object.__setattr__(self, "inner", inner)
        object.__setattr__(self, "wrap", wrap)

    def run(self, work: Any, items: Sequence[Any]) -> Iterator[Any]:
        return self.inner.run(self.wrap(work), items)  # type: ignore[attr-defined,no-any-return]


def same(a: Store, b: Store) -> None:
    pd.testing.assert_frame_equal(a.frame(), b.frame(), check_exact=True)
    kept = [c for c in a.runs().columns if c not in TIME]
    pd.testing.assert_frame_equal(a.runs()[kept], b.runs()[kept], check_exact=True)
    for one, other in zip(a.records(), b.records(), strict=True):
        assert (one.counts is None) == (other.counts is None)
        if one.counts is not None and other.counts is not None:
            assert one.counts.n.tolist() == other.counts.n.tolist()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Store:
    folder = tmp_path_factory.mktemp("undisturbed") / "s"
    outcome = run(STUDY, folder)
    assert outcome.complete
    assert outcome.statuses == {"ok": 30}
    assert outcome.cpu > outcome.fit_cpu > 0
    return Store.open(folder)


def test_stores_what_the_trials_give(undisturbed: Store) -> None:
    records = [r for trial in plan(STUDY) for r in run_trial(STUDY, trial)]
    same_frame(undisturbed.frame(), records_frame(records))


@pytest.mark.parametrize("name", ["loky", "dask", "ray"])
def test_every_engine_gives_the_same_though_a_worker_is_killed(
    name: str, undisturbed: Store, tmp_path: Path
) -> None:
    marker = tmp_path / "marker"
    killing = workloads().Killing
    with engine(name):
        backend = Wrapped(make_backend(name, workers=2), lambda work: killing(work, 2, str(marker)))
        outcome = run(STUDY, tmp_path / "s", backend=backend)
    assert marker.exists()  # a process was killed in the middle of its trial
    assert int(marker.read_text()) != os.getpid()
    assert outcome.statuses == {"ok": 30}
    same(undisturbed, Store.open(tmp_path / "s"))


def test_goes_on_where_it_was_interrupted(undisturbed: Store, tmp_path: Path) -> None:
    def stop(now: Progress) -> None:
        assert now.total == 5
        if now.done == 2:
            raise KeyboardInterrupt

    first = run(STUDY, tmp_path / "s", progress=stop)
    assert first.interrupted
    assert not first.complete
    assert first.done == 2
    assert "Trials that are missing: 3; the others are stored" in first.advice
    assert f"isonomy study resume {tmp_path / 's'}" in first.advice
    second = run(STUDY, tmp_path / "s")
    assert (second.done, second.kept, second.complete, second.advice) == (3, 12, True, "")
    assert run(STUDY, tmp_path / "s").done == 0
    same(undisturbed, Store.open(tmp_path / "s"))


def test_a_study_may_grow(undisturbed: Store, tmp_path: Path) -> None:
    small = STUDY.with_(repeats=2, models=("lr",), methods=["unmitigated", "reweighing"])
    assert run(small, tmp_path / "s").statuses == {"ok": 4}
    store = Store.open(tmp_path / "s")
    assert Study.from_toml(store.spec) == small
    grown = run(STUDY, store)
    assert (grown.kept, grown.statuses) == (4, {"ok": 26})
    assert Study.from_toml(store.spec) == STUDY
    same(undisturbed, store)


def test_limits_become_rows_and_can_be_tried_again(undisturbed: Store, tmp_path: Path) -> None:
    sleeping = workloads().Sleeping
    backend = Wrapped(make_backend("serial", time_limit=12.0), lambda work: sleeping(work, 3))
    outcome = run(STUDY, tmp_path / "s", backend=backend)
    assert outcome.statuses == {"ok": 24, "timeout": 6}
    store = Store.open(tmp_path / "s")
    late = store.runs("status = 'timeout'")
    assert set(late["repeat"]) == {3}
    assert set(late["reason"]) == {"It took longer than the time limit of 12 s."}
    assert set(late["preparation"]) == {"default"}
    assert run(STUDY, store).done == 0  # it would only take too long again
    assert run(STUDY, store, retry=["timeout"]).statuses == {"ok": 6}
    same(undisturbed, store)


def test_a_record_that_never_came_has_failed(tmp_path: Path) -> None:
    backend = Wrapped(make_backend("serial"), workloads().Forgetful)
    outcome = run(STUDY.with_(repeats=1), tmp_path / "s", backend=backend)
    assert outcome.statuses == {"ok": 5, "failed": 1}
    failed = Store.open(tmp_path / "s").runs("status = 'failed'")
    (reason,) = failed["reason"]
    assert reason.startswith("The trial returned no record of it: its worker must have the same")


def test_refuses_in_words(undisturbed: Store, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has 30 of these under another one"):
        run(STUDY.with_(seed=1), undisturbed)
    with pytest.raises(InputError, match="holds 'tiny', not 'other'"):
        run(STUDY.with_(name="other"), undisturbed)
    with undisturbed.writer(), pytest.raises(InputError, match="one writer at a time"):
        run(STUDY, undisturbed.path)
    with pytest.raises(InputError, match="no status to try again 'ok'"):
        pending(STUDY, undisturbed, retry=["ok"])
    assert Study.from_toml(undisturbed.spec) == STUDY


def test_a_declared_file_that_is_not_as_declared_stops_the_study(tmp_path: Path) -> None:
    file = tmp_path / "jobs.csv"
    rows = [f"{'mf'[i % 2]},{i % 7},{'yes' if i % 3 else 'no'}" for i in range(60)]
    file.write_text("\n".join(["sex,hours,hired", *rows]), encoding="utf-8")

    def study(attribute: str = "sex", **entries: Any) -> Study:
        told = {"label": "hired", "sensitive_features": "sex", "favorable": "yes"} | entries
        source = Source.of_file(file, privileged={"sex": "m"}, **told)
        return Study("own", [f"jobs/{attribute}"], ["nb"], ["unmitigated"], sources=[source])

    folder = tmp_path / "s"
    with pytest.raises(InputError, match="no favourable label 'Yes'; did you mean 'yes'"):
        run(study(favorable="Yes"), folder)
    with pytest.raises(InputError, match="no protected attribute of 'jobs' 'sexx'"):
        run(study("sexx"), folder)
    # nothing was stored, so that the study can be run as soon as it is right
    assert run(study(), folder).statuses == {"ok": 1}


def test_status_counts_records_beyond_the_study_and_groups_reasons(tmp_path: Path) -> None:
    small = STUDY.with_(repeats=2, models=["nb"])
    run(small, tmp_path / "s")
    run(small.with_(repeats=1), tmp_path / "s")
    now = status(tmp_path / "s")
    assert (now.records_done, now.records, now.records_beyond) == (3, 3, 3)
    backend = make_backend("serial", time_limit=1e-3)
    run(small.with_(repeats=1), tmp_path / "late", backend=backend)
    (problem,) = status(tmp_path / "late").frame().to_dict("records")
    assert problem["mitigator"] == "3 methods"
    assert (problem["model"], problem["runs"]) == ("nb", 3)
    # what did not end well under another specification does not stand in the way
    assert run(small.with_(repeats=1, seed=1), tmp_path / "late").statuses == {"ok": 3}
    assert status(tmp_path / "late").statuses == {"ok": 3}


# ---- kill -9 ------------------------------------------------------------------------------------

FORKING = """
import os, sys
sys.path.insert(0, {here!r})
from isonomy.store import Store
from isonomy.study import Study, run
study, folder = Study.from_toml({toml!r}), {folder!r}
print("ready", flush=True)
for line in sys.stdin:
    child = os.fork()
    if not child:
        print(os.getpid(), flush=True)
        run(study, folder, progress=lambda now: print("done", flush=True))
        print("end", flush=True)
        os._exit(0)
    os.waitpid(child, 0)
    print("over", flush=True)
"""


def kill_and_resume(study: Study, folder: Path, kills: int, seed: int, pace: float) -> int:
    """Kill a running study at random moments; give the number of kills that hit it.

    ``pace`` is what a trial takes here: kills come within two trials of each other on any machine.
    """
    dice = random.Random(seed)
    code = FORKING.format(here=str(HERE), toml=study.toml(), folder=str(folder))
    hit = 0
    # one process imports the library and is forked, so that kills hit the run and no imports
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as parent:
        assert parent.stdin is not None
        assert parent.stdout is not None
        assert parent.stdout.readline() == "ready\n"
        for attempt in range(kills + 1):
            parent.stdin.write("go\n")
            parent.stdin.flush()
            pid = int(parent.stdout.readline())
            said = ""
            if attempt < kills:
                for _ in range(dice.randint(0, 2)):
                    said = parent.stdout.readline()
                if said != "end\n":
                    # somewhere within a trial, or between two
                    signal.sigtimedwait([], dice.uniform(0, 2 * pace))
                    with contextlib.suppress(ProcessLookupError):  # it came to its end meanwhile
                        os.kill(pid, signal.SIGKILL)
            ended = False
            while (line := parent.stdout.readline()) != "over\n":
                ended |= line == "end\n"
            hit += not ended and said != "end\n"
        parent.stdin.close()
    return hit


def paced_run(study: Study, folder: Path) -> float:
    """Run undisturbed; give the seconds that one trial took."""
    start = time.monotonic()
    done = run(study, folder).done
    return (time.monotonic() - start) / done


def test_ten_kills_leave_no_trace(tmp_path: Path) -> None:
    study = STUDY.with_(repeats=60, models=("lr",), methods=["unmitigated", "reweighing"])
    pace = paced_run(study, tmp_path / "whole")
    assert kill_and_resume(study, tmp_path / "killed", 10, 20261, pace) == 10
    same(Store.open(tmp_path / "whole"), Store.open(tmp_path / "killed"))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_ten_kills_of_the_demo_leave_no_trace(tmp_path: Path, seed: int) -> None:
    from isonomy.papers import load_study

    study = load_study("demo").with_(repeats=20)
    pace = paced_run(study, tmp_path / "whole")
    assert kill_and_resume(study, tmp_path / "killed", 10, seed, pace) == 10
    same(Store.open(tmp_path / "whole"), Store.open(tmp_path / "killed"))
