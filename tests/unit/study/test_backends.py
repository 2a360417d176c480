"""Every backend gives the same, on real engines, whatever becomes of its workers."""

import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from isonomy.errors import InputError, MissingExtra
from isonomy.study import backends
from isonomy.study.backends import BACKENDS, make_backend
from isonomy.study.isolation import Died, Failure, Guard, Sandbox, memory_of, pickled
from tests.unit.study.engines import engine, importable, workloads

__all__ = ["importable"]

# starting clusters takes most of a minute of CPU; test_run.py kills workers of each engine
ENGINES = [
    name if name in ("serial", "loky") else pytest.param(name, marks=pytest.mark.slow)
    for name in BACKENDS
]
ORDINARY = [("ok", k) for k in range(6)]
DIED = Failure("failed", "Its process ended twice under it (killed by SIGKILL).")


def run(name: str, items: list[Any], **options: Any) -> dict[Any, Any]:
    if name != "serial":
        options.setdefault("workers", 2)
    with engine(name):
        found = list(make_backend(name, **options).run(workloads().work, items))
    assert Counter(item for item, _ in found) == Counter(items)
    return dict(found)


@pytest.mark.parametrize("name", ENGINES)
def test_accidents_harm_nobody_else(name: str, tmp_path: Path) -> None:
    """A worker is killed, a trial raises, another always kills its worker: the rest is as ever."""
    once = ("die_once", str(tmp_path / name))
    items = [*ORDINARY[:3], once, ("raise", 1), ("die", 0), ("print", 0), *ORDINARY[3:]]
    # without limits a serial run has no second process that could die instead of it
    found = run(name, items, **({"time_limit": 60.0} if name == "serial" else {}))
    for item in [*ORDINARY, ("print", 0), once]:
        assert found[item] == workloads().work(item)  # bit for bit
    assert found["raise", 1] == Failure("failed", "ValueError: trial 1 is impossible")
    assert found["die", 0] == DIED


@pytest.mark.parametrize("name", ENGINES)
def test_limits(name: str) -> None:
    """Trials that sleep, burn or take all memory are ended; the others are not disturbed."""
    items = [("sleep", 0), *ORDINARY[:2], ("burn", 0), ("threads", 0), ("die", 0)]
    found = run(name, items, time_limit=6.0, memory_limit=250 * 2**20)
    # on a busy machine six seconds may pass before the memory is taken
    found |= run(name, [("allocate", 0)], time_limit=60.0, memory_limit=250 * 2**20)
    late = Failure("timeout", "It took longer than the time limit of 6 s.")
    assert found["sleep", 0] == late
    assert found["burn", 0] == late
    big = Failure("failed", "Its process needed more memory than the limit of 250 MiB.")
    assert found["allocate", 0] == big
    assert found["die", 0] == DIED
    assert found["threads", 0] == [(1,)]
    for item in ORDINARY[:2]:
        assert found[item] == workloads().work(item)


def test_serial_runs_here() -> None:
    found = run("serial", [("pid", 0), ("raise", 2)])
    assert found["pid", 0] == [(os.getpid(),)]
    assert found["raise", 2].trace.startswith("Traceback")


def test_processes_are_others_and_stay() -> None:
    items = [("pid", k) for k in range(6)]
    pids = {found[0][0] for found in run("loky", items).values()}
    assert len(pids) == 2
    assert os.getpid() not in pids
    limited = {found[0][0] for found in run("serial", items, time_limit=60.0).values()}
    assert len(limited) == 1  # data would be loaded once
    assert os.getpid() not in limited


@pytest.fixture
def dask_cluster() -> Iterator[str]:
    distributed = pytest.importorskip("distributed")
    with (
        engine("dask"),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0"
        ) as cluster,
    ):
        yield cluster.scheduler_address


def test_dask_cluster_that_is_already_there(dask_cluster: str, tmp_path: Path) -> None:
    """Its scheduler has its own idea of how often a task may lose its worker."""
    once = ("die_once", str(tmp_path / "once"))
    found = run("dask", [*ORDINARY, once], workers=None, scheduler=dask_cluster)
    for item in [*ORDINARY, once]:
        assert found[item] == workloads().work(item)


class Lost:
    """A Dask future whose result went down with its worker before it was fetched."""

    def __init__(self, call: Any, item: Any) -> None:
        self.call, self.item, self.status = call, item, "lost"

    def result(self) -> Any:
        assert self.status == "finished"
        return self.call(self.item)


class Again:
    """The client and the stream of a scheduler that does what was lost a second time."""

    loop = None
    KilledWorker = RuntimeError

    def __init__(self) -> None:
        self.queue: list[Lost] = []
        self.added: Counter[Any] = Counter()

    def as_completed(self, loop: Any) -> "Again":
        return self

    def nthreads(self) -> dict[str, int]:
        return {"worker": 1}

    def submit(self, call: Any, item: Any, **options: Any) -> Lost:
        return Lost(call, item)

    def add(self, future: Lost) -> None:
        self.added[future.item] += 1
        if self.added[future.item] == 2:
            future.status = "finished"
        self.queue.append(future)

    def __next__(self) -> Lost:
        return self.queue.pop(0)


def test_a_result_that_dask_lost_on_its_way_is_waited_for() -> None:
    fake = Again()
    backend = make_backend("dask")
    found = dict(backend._stream(fake, fake, backend.guard(workloads().work), ORDINARY))
    assert found == {item: workloads().work(item) for item in ORDINARY}
    assert set(fake.added.values()) == {2}


def test_ray_that_the_caller_has_started() -> None:
    ray = pytest.importorskip("ray")
    with engine("ray"):
        ray.init(address="local", num_cpus=1, include_dashboard=False, log_to_driver=False)
        try:
            found = run("ray", ORDINARY[:2])
            assert ray.is_initialized()
        finally:
            ray.shutdown()
    assert found == {item: workloads().work(item) for item in ORDINARY[:2]}


def test_a_stream_can_be_left(tmp_path: Path) -> None:
    stream = make_backend("loky", workers=2).run(workloads().work, [("pid", k) for k in range(50)])
    _, first = next(stream)
    stream.close()
    assert memory_of(first[0][0]) == 0  # the workers are gone


def ends(pid: int, seconds: float = 20.0) -> bool:
    end = time.monotonic() + seconds
    while memory_of(pid) and time.monotonic() < end:
        time.sleep(0.1)
    return not memory_of(pid)


def test_workers_end_with_a_leader_that_is_killed_before_the_first_trial(tmp_path: Path) -> None:
    script = tmp_path / "leader.py"
    script.write_text(
        "import os, signal\n"
        "from joblib.externals import loky\n"
        "from isonomy.study.isolation import begin_worker\n"
        "if __name__ == '__main__':\n"
        "    pool = loky.get_reusable_executor(\n"
        "        1, timeout=300, initializer=begin_worker, initargs=(os.getpid(),))\n"
        "    pool.submit(os.getpid)  # starts the worker, which need not get to it\n"
        "    (worker,) = pool._processes\n"
        "    print(worker, flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    leader = subprocess.run([sys.executable, str(script)], stdout=subprocess.PIPE, check=False)
    assert ends(int(leader.stdout))


def test_innocent_trials_survive_many_lost_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    lost = Counter({"queued": 5})

    class Gone(Exception):
        pass

    def result(handle: str) -> list[Any]:
        if lost[handle]:
            lost[handle] -= 1
            raise Gone
        return [(handle,)]

    stream = backends._stream(
        Guard(workloads().work),
        ["queued", "other"],
        submit=lambda guard, item: item,
        completed=lambda running: list(running)[:1],
        result=result,
        lost=Gone,
        cpus=lambda: 1,
    )
    assert dict(stream) == {"queued": [("queued",)], "other": [("other",)]}


# ---- the sandbox --------------------------------------------------------------------------------


def test_sandbox_says_how_it_died() -> None:
    box = Sandbox(pickled(workloads().work))
    assert box.run(("ok", 1), None, None) == ("done", workloads().work(("ok", 1)))
    assert box.run(("die", 1), None, None) == Died("killed by SIGKILL")
    assert box.run(("ok", 2), None, None)[0] == "done"  # started anew
    box.stop()
    broken = Sandbox(b"no pickle")
    assert broken.run(1, None, None)[:2] == ("raised", "UnpicklingError: invalid load key, 'n'.")
    broken.stop()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs fork, and /proc")
@pytest.mark.parametrize("kind", ["fork", "daemon"])
def test_a_child_of_a_trial_ends_with_it(kind: str, tmp_path: Path) -> None:
    box = Sandbox(pickled(workloads().work))
    marker = tmp_path / "child"
    assert box.run((kind, str(marker)), 2.0, None) == ("timeout",)
    assert ends(int(marker.read_text()))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_that_outlives_its_trial_hides_no_death(tmp_path: Path) -> None:
    """The child holds the pipe open, on which the end of the process would show."""
    box = Sandbox(pickled(workloads().work))
    marker = tmp_path / "child"
    assert box.run(("orphan", str(marker)), None, None) == Died("killed by SIGKILL")
    assert ends(int(marker.read_text()))
    assert box.run(("ok", 1), None, None)[0] == "done"
    box.stop()


def test_functions_of_a_script_travel() -> None:
    factor = 3
    guard = Guard(lambda k: [factor * k], seconds=60)
    assert guard(4) == [12]


def test_threads_of_one_worker_do_not_share_a_process() -> None:
    """Threads of BLAS are set for a whole process: the first trial to end would free them."""
    guard = Guard(workloads().work)
    with ThreadPoolExecutor(3) as pool:
        pids = [found[0][0] for found in pool.map(guard, [("pid", k) for k in range(3)])]
    assert len(set(pids)) > 1
    assert sum(pid == os.getpid() for pid in pids) == 1
    assert guard(("pid", 3)) == [(os.getpid(),)]  # and here again, once nobody else is


def test_memory_of_a_process() -> None:
    assert 2**20 < memory_of(os.getpid()) < 2**40
    assert memory_of(2**22 + 1) == 0


# ---- words --------------------------------------------------------------------------------------


def test_refuses_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="no backend 'dusk'; did you mean 'dask'"):
        make_backend("dusk")
    with pytest.raises(InputError, match="workers must be at least 1; got 0"):
        make_backend("loky", workers=0)
    with pytest.raises(InputError, match="'loky' runs on this machine and takes no scheduler"):
        make_backend("loky", scheduler="tcp://there:8786")
    with pytest.raises(InputError, match="A time limit must be above 0; got 0"):
        make_backend("serial", time_limit=0)
    with pytest.raises(InputError, match="A memory limit must be above 0; got -1"):
        make_backend("serial", memory_limit=-1)

    def missing(module: str, *, extra: str, purpose: str) -> Any:
        raise MissingExtra(f"{purpose} needs {module}, which is not installed: {extra}")

    monkeypatch.setattr(backends, "optional", missing)
    with pytest.raises(MissingExtra, match="The backend 'ray' needs ray"):
        next(make_backend("ray").run(list, [1]))


@pytest.mark.parametrize("name", ["dask", "ray"])
def test_a_cluster_that_is_not_there(name: str) -> None:
    address = "tcp://127.0.0.1:1" if name == "dask" else "127.0.0.1:1"
    stream = make_backend(name, scheduler=address).run(list, [1])
    with engine(name), pytest.raises(InputError, match=f"answer at '{address}'; it does not"):
        next(stream)


def test_a_worker_that_dask_has_given_up_is_started_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(BACKENDS["dask"], "look_every", 0.2)
    backend = make_backend("dask", workers=1)
    with engine("dask"), backend._client(distributed) as client:
        (nanny,) = client.cluster.workers.values()
        client.cluster.sync(nanny.close)  # as after a start that took too long or was killed
        # before, nobody was left to do it, and a study waited for ever
        assert client.submit(len, "abc").result(timeout=120) == 3


def test_a_dask_cluster_without_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(BACKENDS["dask"], "patience", 1)
    with (
        engine("dask"),
        distributed.LocalCluster(n_workers=0, dashboard_address="127.0.0.1:0") as cluster,
    ):
        stream = make_backend("dask", scheduler=cluster.scheduler_address).run(list, [1])
        with pytest.raises(InputError, match="must have workers; none joined in 1 s"):
            next(stream)
