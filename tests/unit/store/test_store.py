"""A store keeps what it was given, whatever moment its writer is killed at."""

import json
import math
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from isonomy.errors import InputError
from isonomy.metrics import get_metric
from isonomy.metrics.joint import JointCounts
from isonomy.search.cache import Cache
from isonomy.store import Record, records_frame, views
from isonomy.store.log import batch_line, list_parts, log_name, put_in_force, read_batches
from isonomy.store.record import check_frame
from isonomy.store.store import Store, Writer
from isonomy.store.views import load_docs
from isonomy.testing import check_store
from tests.unit.study.engines import same_frame


def joint(seed: int, *, weighted: bool = False) -> JointCounts:
    rng = np.random.default_rng(seed)
    n = 120
    return JointCounts.from_labels(
        rng.integers(0, 2, n),
        rng.integers(0, 2, n),
        rng.integers(0, 2, n),
        sensitive_features={
            "sex": np.arange(n) % 2,
            "race": np.array(["a", "b", "c"])[np.arange(n) % 3],
        },
        sample_weight=rng.uniform(0.5, 2, n) if weighted else None,
        favorable=1,
        privileged={"sex": 1, "race": "a"},
    )


def record(mitigator: str, repeat: int, **more: object) -> Record:
    given = {
        "metrics": {
            "accuracy": 0.1 + repeat / 7,
            "disparate_impact": math.inf,
            "macro_f1(zero_division=0)": math.nan,
        },
        "key": f"{mitigator}-{repeat}",
        "rows": "abc",
        "settings": f"{mitigator}(eta=5)",
        "warnings": "One thing.\nAnother.",
        "preparation": "chen",
        "splitter": "chen",
        "seconds": 0.5,
        "host": "here",
        "counts": joint(repeat),
    } | more
    return Record("demo", "adult", "sex", "lr", mitigator, repeat, **given)  # type: ignore[arg-type]


def trial(repeat: int) -> list[Record]:
    return [record(name, repeat) for name in ("reweighing", "unmitigated")]


def filled(path: Path, trials: int = 3, segment: int = 2**24) -> Store:
    store = Store.create(path, "demo")
    with store.writer(segment=segment) as writer:
        for repeat in range(trials):
            writer.append(trial(repeat))
    return store


def same_records(found: Sequence[Record], expected: Sequence[Record]) -> None:
    def order(records: Sequence[Record]) -> list[Record]:
        return sorted(records, key=lambda r: (r.mitigator, r.repeat or 0))

    for a, b in zip(order(found), order(expected), strict=True):
        for name in (
            *("key", "status", "reason", "rows", "preparation", "seconds", "host", "repeat"),
            *("settings", "warnings"),
        ):
            assert getattr(a, name) == getattr(b, name), name
        assert list(a.metrics) == list(b.metrics)
        np.testing.assert_array_equal(list(a.metrics.values()), list(b.metrics.values()))
        assert (a.counts is None) == (b.counts is None)
        if a.counts is not None and b.counts is not None:
            for name in ("attributes", "groups", "classes", "favorable", "privileged"):
                assert getattr(a.counts, name) == getattr(b.counts, name), name
            for name in ("n", "w", "w2"):
                mine, theirs = getattr(a.counts, name), getattr(b.counts, name)
                assert (mine is None) == (theirs is None)
                if mine is not None:
                    np.testing.assert_array_equal(mine, theirs)


# ---- what goes in comes out ---------------------------------------------------------------------


@pytest.mark.parametrize("segment", [1, 2**24], ids=["shards", "log"])
def test_gives_back_every_record(tmp_path: Path, segment: int) -> None:
    store = Store.create(tmp_path / "s", "demo")
    given = [
        *trial(0),
        *trial(1),
        record("weighted", 0, counts=joint(5, weighted=True)),
        record("more", 2, metrics={"mcc": 1 / 3}),
        record("failing", 0, metrics={}, counts=None, status="failed", reason="it broke"),
    ]
    with store.writer(segment=segment) as writer:
        writer.append(given[:3])
        writer.append(given[3:])
    again = Store.open(tmp_path / "s")
    same_records(list(again.records()), given)
    same_frame(again.frame(), records_frame(given))
    check_frame(again.frame())
    assert len(again) == len(given)
    assert again.keys() == {r.key for r in given}
    assert again.keys("failed") == {"failing-0"}
    assert again.keys(["ok", "failed"]) == again.keys()


def test_a_mean_has_no_repeat(tmp_path: Path) -> None:
    store = Store.create(tmp_path, "demo")
    mean = Record("demo", "adult", "sex", "lr", "mutation", None, {"accuracy": 0.5})
    with store.writer() as writer:
        writer.append([mean])
    assert store.frame()["repeat"].isna().all()
    assert next(store.records()).repeat is None
    assert len(store.keys()) == 1  # known by what it names


def test_runs_are_wide_and_undefined_is_null(tmp_path: Path) -> None:
    store = filled(tmp_path / "s")
    runs = store.runs("mitigator = 'reweighing'")
    assert len(runs) == 3
    assert runs["accuracy"].tolist() == [0.1, 0.1 + 1 / 7, 0.1 + 2 / 7]
    assert runs["seconds"].tolist() == [0.5] * 3
    found = store.query(
        'select count(*) n, count("macro_f1(zero_division=0)") defined, max(disparate_impact) top from runs'
    )
    assert found.values.tolist() == [[6, 0, math.inf]]
    same_frame(store.query("select * from results").pipe(check_frame), store.frame())
    counts = store.query("select key, n from counts where key = 'reweighing-1'")
    np.testing.assert_array_equal(counts["n"][0], joint(1).n.ravel())


def test_frame_of_some_metrics(tmp_path: Path) -> None:
    store = filled(tmp_path / "s")
    frame = store.frame("repeat = 1", metrics=["accuracy"])
    assert frame["metric"].tolist() == ["accuracy"] * 2
    with pytest.raises(InputError, match="did you mean 'accuracy'"):
        store.frame(metrics=["acuracy"])


def test_order_does_not_depend_on_arrival(tmp_path: Path) -> None:
    first, second = (Store.create(tmp_path / name, "demo") for name in "ab")
    with first.writer() as writer:
        writer.append([*trial(0), record("other", 0, metrics={"mcc": 0.5})])
        writer.append(trial(1))
    with second.writer(segment=1) as writer:
        writer.append(trial(1)[::-1])
        writer.append([record("other", 0, metrics={"mcc": 0.5}), *trial(0)[::-1]])
    pd.testing.assert_frame_equal(first.frame(), second.frame())


def test_a_run_tried_again_counts_once(tmp_path: Path) -> None:
    store = Store.create(tmp_path, "demo")
    with store.writer(segment=1) as writer:
        writer.append([record("a", 0, metrics={}, counts=None, status="failed", reason="once")])
        writer.append([record("a", 0)])
        writer.append([record("a", 0, metrics={}, counts=None, status="failed", reason="twice")])
    assert len(store) == 1
    assert store.runs()["status"].tolist() == ["ok"]


# ---- killed writers -----------------------------------------------------------------------------


def log_of(store: Store) -> Path:
    return next(p.path for p in list_parts(store.path / "parts")[0] if p.kind == "log")


def test_every_cut_of_the_last_batch_loses_that_batch_only(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "s", "demo")
    small = [record(name, 0, counts=None) for name in "ab"]
    last = [record("c", 0, metrics={"accuracy": 0.5}, counts=None)]
    with store.writer() as writer:
        writer.append(small)
        before = log_of(store).stat().st_size
        writer.append(last)
    log = log_of(store)
    whole = log.read_bytes()
    expected = {r.key for r in small}
    for cut in range(before, len(whole)):
        log.write_bytes(whole[:cut])
        docs, good = read_batches(log.read_bytes())
        assert {doc["key"] for doc in docs} == expected, cut
        assert good == before
    # as a user opens it, at a few places: a reader, then a writer that goes on
    for cut in (before, before + 1, before + 9, len(whole) - 2, len(whole) - 1):
        log.write_bytes(whole[:cut])
        assert Store.open(store.path).keys() == expected
        with Store.open(store.path).writer() as writer:
            assert log.stat().st_size == before
            writer.append(last)
        assert log.read_bytes() == whole
        assert Store.open(store.path).keys() == {*expected, "c-0"}


@pytest.mark.parametrize("tail", [b"\0" * 50, b"0badf00d [not json]\n", b"\n", b"garbage\n\0\0"])
def test_garbage_behind_the_last_batch_is_dropped(tmp_path: Path, tail: bytes) -> None:
    store = filled(tmp_path / "s", 2)
    with log_of(store).open("ab") as file:
        file.write(tail)
    assert len(Store.open(store.path)) == 4
    with Store.open(store.path).writer() as writer:
        writer.append(trial(2))
    assert len(Store.open(store.path)) == 6


def test_damage_in_the_middle_is_told(tmp_path: Path) -> None:
    store = filled(tmp_path / "s", 3)
    log = log_of(store)
    data = bytearray(log.read_bytes())
    data[30] ^= 1
    log.write_bytes(data)
    with pytest.raises(InputError, match="must be whole up to its last batch"):
        Store.open(store.path).keys()
    with pytest.raises(InputError, match="must be whole"), Store.open(store.path).writer():
        pass
    assert bytes(data) == log.read_bytes()  # nothing was cut away


def test_a_kill_while_compacting_keeps_every_record_once(tmp_path: Path) -> None:
    store = filled(tmp_path / "s", 3)
    log = log_of(store)
    content = log.read_bytes()
    with store.writer() as writer:
        writer.compact()
    # killed before the rename: a partial shard lies about
    (shard,) = (store.path / "parts").glob("*.parquet")
    shutil.copy(shard, shard.with_name("shard.part"))
    assert len(Store.open(store.path)) == 6
    # killed after the rename: the log is still there
    log.write_bytes(content)
    assert len(Store.open(store.path)) == 6
    with Store.open(store.path).writer() as writer:
        writer.append(trial(3))
    assert len(Store.open(store.path)) == 8
    assert not log.exists()
    assert not list((store.path / "parts").glob("*.part"))


def test_a_kill_before_a_shard_is_in_force_leaves_an_empty_log(tmp_path: Path) -> None:
    store = filled(tmp_path / "s", 3)
    (store.path / "parts" / log_name(2)).touch()
    assert len(Store.open(store.path)) == 6
    with Store.open(store.path).writer() as writer:
        writer.append(trial(3))
    assert len(Store.open(store.path)) == 8
    assert [p.name for p in (store.path / "parts").iterdir()] == [log_name(1)]


def test_a_store_that_is_scored_twice_has_one_shard(tmp_path: Path) -> None:
    store = filled(tmp_path / "s", 3)
    store.compact()
    (first,) = (store.path / "parts").glob("*.parquet")
    content = first.read_bytes()
    store.score(["mcc"])
    (second,) = (store.path / "parts").glob("*.parquet")
    assert first.name != second.name
    first.write_bytes(content)  # a kill before the earlier revision was deleted
    assert "mcc" in Store.open(store.path).metrics
    assert len(Store.open(store.path)) == 6


@pytest.mark.parametrize("where", [0.1, 0.5, 0.9])
def test_a_flipped_bit_in_a_shard_is_an_error(tmp_path: Path, where: float) -> None:
    store = filled(tmp_path / "s", 3)
    store.compact()
    (shard,) = (store.path / "parts").glob("*.parquet")
    data = bytearray(shard.read_bytes())
    data[int(len(data) * where)] ^= 1
    shard.write_bytes(data)
    for use in (lambda s: s.runs(), lambda s: s.query("from runs"), lambda s: s.score(["mcc"])):
        with pytest.raises(InputError, match="no longer holds what was written"):
            use(Store.open(store.path))


def test_a_file_that_is_gone_is_an_error(tmp_path: Path) -> None:
    store = filled(tmp_path / "s", 4, segment=1)
    parts = store.path / "parts"
    for file in sorted(parts.iterdir()):
        copy = shutil.copytree(store.path, tmp_path / file.stem)
        (copy / "parts" / file.name).unlink()
        with pytest.raises(InputError, match=r"part \d+ is missing"):
            len(Store.open(copy))
        with pytest.raises(InputError, match=r"part \d+ is missing"), Store.open(copy).writer():
            pass


def test_an_edited_header_is_an_error(tmp_path: Path) -> None:
    Store.create(tmp_path, "demo", "repeats = 50")
    header = tmp_path / "store.json"
    header.write_text(header.read_text().replace("50", "51"))
    with pytest.raises(InputError, match="damaged or edited since"):
        Store.open(tmp_path)


def test_a_kill_while_a_store_is_made_can_be_made_good(tmp_path: Path) -> None:
    for step, left in enumerate(([], ["parts"], ["parts", "store.json.part"])):
        folder = tmp_path / str(step)
        folder.mkdir()
        for name in left:
            if name == "parts":
                (folder / name).mkdir()
            else:
                (folder / name).write_text('{"isonomy_st')
        with Store.create(folder, "demo").writer() as writer:
            writer.append(trial(0))
        assert len(Store.open(folder)) == 2
    (tmp_path / "0" / "store.json").unlink()  # records without a header are not a beginning
    with pytest.raises(InputError, match="new or empty folder"):
        Store.create(tmp_path / "0", "demo")


def test_a_writer_that_fails_to_compact_lets_go_of_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log is closed by then: closing it again must not keep the lock, nor hide the reason."""
    store = filled(tmp_path / "s", 3, segment=1)

    def full(self: Writer, select: str, first: int, last: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Writer, "_shard", full)
        with pytest.raises(OSError, match="No space"):
            store.compact()
    store.compact()
    assert len(Store.open(store.path)) == 6


def test_a_full_disk_leaves_no_half_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = filled(tmp_path / "s", 1)
    real = os.write
    with store.writer() as writer:
        size = log_of(store).stat().st_size

        def half(file: int, data: bytes) -> int:
            real(file, bytes(data)[: len(data) // 2])
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(os, "write", half)
            with pytest.raises(OSError, match="No space"):
                writer.append(trial(1))
        assert log_of(store).stat().st_size == size
        writer.append(trial(2))
    assert store.keys() == {r.key for i in (0, 2) for r in trial(i)}


WRITER = """
import os, sys, time
sys.path.insert(0, {here!r})
from tests.unit.store.test_store import trial
from isonomy.store.store import Store
with Store.open({path!r}).writer(segment=20_000) as writer:
    print("ready", flush=True)
    for i in range(int(sys.argv[1]), 10**6):
        writer.append(trial(i))
        print(i, flush=True)
"""


def test_kill_minus_nine_while_writing(tmp_path: Path) -> None:
    """A real process writes as fast as it can; what it reported is there after each kill."""
    store = Store.create(tmp_path / "s", "demo")
    code = WRITER.format(here=str(Path(__file__).parents[3]), path=str(store.path))
    done = 0
    for lines in (2, 40):
        with subprocess.Popen(
            [sys.executable, "-c", code, str(done)], stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            with pytest.raises(InputError, match=f"process {process.pid} on"):
                store.writer().__enter__()
            for _ in range(lines):
                last = int(process.stdout.readline())
            assert len(Store.open(store.path)) >= 2 * (last + 1)  # read while it is written
            process.send_signal(signal.SIGKILL)
            rest = process.stdout.read().split()
        reported = int(rest[-1]) if rest and rest[-1].isdigit() else last
        kept = store.runs()
        trials = set(kept["repeat"])
        assert trials >= set(range(reported + 1))
        assert len(kept) == 2 * len(trials), "half a batch"
        done = max(trials) + 1
    same_frame(store.frame(), records_frame(r for i in range(done) for r in trial(i)))


COMPACTING = """
import resource, sys
sys.path.insert(0, {here!r})
from tests.unit.store.test_store import trial
from isonomy.store.store import Store
store = Store.create({path!r}, "demo")
with store.writer(segment=2**40) as writer:
    for i in range(60):
        writer.append(trial(i))
    writer.compact()  # libraries are loaded by now
    while writer._log.size < 3 * 2**20:
        i += 1
        writer.append(trial(i))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    size = writer._log.size
    writer.compact()
    print(size, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is counted in other units elsewhere")
def test_compacting_takes_little_memory(tmp_path: Path) -> None:
    code = COMPACTING.format(here=str(Path(__file__).parents[3]), path=str(tmp_path / "s"))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    size, taken = map(int, done.stdout.split())
    # the text of a log, parsed at once, took 80 times its size
    assert taken < 20 * size, (size, taken)


# ---- one writer, many readers -------------------------------------------------------------------


def test_second_writer_is_refused_in_words(tmp_path: Path) -> None:
    store = filled(tmp_path / "s", 1)
    with store.writer(), pytest.raises(InputError, match="one writer at a time; process"):
        Store.open(store.path).writer().__enter__()
    with Store.open(store.path).writer() as writer:  # free again
        writer.append(trial(1))


def test_reader_follows_the_writer(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "s", "demo")
    reader = Store.open(store.path)
    with store.writer(segment=12_000) as writer:
        for i in range(30):
            writer.append(trial(i))
            assert len(reader) == 2 * (i + 1)
        writer.compact(everything=True)
        assert len(reader) == 60
        assert [p.kind for p in list_parts(store.path / "parts")[0]] == ["parquet", "log"]
    half = iter(reader.records())
    next(half)
    assert len(reader.frame()) == 180
    assert len(list(half)) == 59


def test_many_shards_are_merged(tmp_path: Path) -> None:
    store = filled(tmp_path / "s", 70, segment=1)
    parts = list_parts(store.path / "parts")[0]
    assert len(parts) < 16
    assert parts[0].last - parts[0].first == 63
    assert len(store) == 140


# ---- later metrics, merging, export -------------------------------------------------------------


def test_score_adds_metrics_from_counts(tmp_path: Path) -> None:
    store = filled(tmp_path / "s", 2, segment=1)
    with store.writer() as writer:
        writer.append([record("weighted", 0, counts=joint(3, weighted=True))])
        writer.append([record("none", 0, counts=None)])
        writer.append([record("bad", 0, metrics={}, counts=None, status="failed", reason="x")])
    before = store.frame()
    assert store.score(["statistical_parity_difference", "accuracy"]) == 5
    assert store.score(["spd"]) == 0  # by its alias, and nothing twice
    metric = get_metric("spd")
    for run in store.records():
        if run.counts is None:
            assert "statistical_parity_difference" not in run.metrics
        else:
            expected = metric(run.counts.method.select("sex"))
            assert run.metrics["statistical_parity_difference"] == pytest.approx(
                expected, abs=1e-15
            )
            assert (
                run.metrics["accuracy"]
                == record(run.mitigator, run.repeat or 0).metrics["accuracy"]
            )
    after = store.frame()
    same_frame(after[after["metric"] != "statistical_parity_difference"], before)
    with pytest.raises(InputError, match="must be a function of counts; roc_auc needs scores"):
        store.score(["roc_auc"])


def test_merge_of_two_machines(tmp_path: Path) -> None:
    here, there = (Store.create(tmp_path / name, "demo") for name in ("here", "there"))
    bad = record("extra", 0, metrics={}, counts=None, status="failed", reason="x")
    with here.writer() as writer:
        writer.append([*trial(0), bad])
    with there.writer(segment=1) as writer:
        writer.append([record("reweighing", 0, host="there"), record("extra", 0)])
        writer.append(trial(1))
        writer.append([record("later", 2, metrics={"mcc": 0.25})])
    assert here.merge(there.path) == 4
    assert here.merge(there) == 0
    with here.writer() as writer:
        writer.append(trial(3))
    assert len(here) == 8
    assert here.keys("failed") == set()
    assert set(here.runs("mitigator = 'reweighing' and repeat = 0")["host"]) == {"here"}
    with pytest.raises(InputError, match="holds 'other', not 'demo'"):
        here.merge(Store.create(tmp_path / "other", "other"))
    changed = Store.create(tmp_path / "changed", "demo")
    with changed.writer() as writer:
        writer.append([record("later", 2, key="of-another-seed"), record("new", 5)])
    with pytest.raises(InputError, match=r"has 1 of these under another one .* such as later"):
        here.merge(changed)
    assert len(here) == 8


def test_what_failed_under_another_key_gives_way(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "s", "demo")
    failed = {"metrics": {}, "counts": None, "status": "failed", "reason": "x"}
    with store.writer() as writer:
        writer.append([record("a", 0), record("b", 0, key="older", **failed)])
    planned = store.runs()[["dataset", "attributes", "model", "mitigator", "repeat"]]
    store.refuse_conflicts(planned.assign(key=["a-0", "b-0"]))
    with pytest.raises(InputError, match="has 1 of these under another one"):
        store.refuse_conflicts(planned.assign(key=["other", "b-0"]))
    assert store.keys("failed") == {"older"}
    for status in (failed, {}):  # tried again: first in vain, then not
        with store.writer() as writer:
            writer.append([record("b", 0, **status)])
        assert store.runs()["key"].tolist() == ["a-0", "b-0"]
        assert len(store) == 2
    # what failed elsewhere, under yet another key, neither stops a merge nor is counted after it
    there = Store.create(tmp_path / "there", "demo")
    with there.writer() as writer:
        writer.append([record("b", 0, key="newer", **failed), record("c", 0)])
    store.merge(there)
    assert store.runs()["key"].tolist() == ["a-0", "b-0", "c-0"]


@pytest.mark.parametrize("name", ["runs.parquet", "runs.csv"])
def test_export(tmp_path: Path, name: str) -> None:
    store = filled(tmp_path / "s", 2)
    file = store.export(tmp_path / name)
    found = pd.read_parquet(file) if name.endswith("parquet") else pd.read_csv(file)
    assert found["accuracy"].tolist() == store.runs()["accuracy"].tolist()
    frame = store.export(tmp_path / "frame.parquet", "results")
    same_frame(check_frame(pd.read_parquet(frame)), store.frame())
    with pytest.raises(InputError, match=r"to \.parquet or \.csv; got"):
        store.export(tmp_path / "runs.xls")
    with pytest.raises(InputError, match="cannot be written"):
        store.export(tmp_path / "nowhere" / "runs.parquet")


def test_serves_a_search_as_its_cache(tmp_path: Path) -> None:
    store: Cache = filled(tmp_path / "s", 1)
    assert store.get("a") is None
    store.put("a", {"value": 0.5})
    assert Store.open(tmp_path / "s").get("a") == {"value": 0.5}
    assert len(Store.open(tmp_path / "s")) == 2


@pytest.mark.parametrize(
    "sql",
    [
        "copy runs to '{0}/stolen.csv'",
        "attach '{0}/other.db'",
        "drop view runs",
        "install httpfs",
        "set memory_limit = '1GB'",
        "create table t as select 1",
        "select 1; drop view runs",
        "select * from read_text('{0}/secret.txt')",
        "select * from '{0}/secret.csv'",
        "select * from read_csv('{0}/secret.csv')",
        "select * from glob('{0}/*')",
        "",
    ],
)
def test_a_query_only_reads_the_store(tmp_path: Path, sql: str) -> None:
    store = filled(tmp_path / "s", 1)
    for name in ("secret.txt", "secret.csv"):
        (tmp_path / name).write_text("a\n1\n")
    with pytest.raises(InputError, match="A query must be"):
        store.query(sql.format(tmp_path))
    assert store.query("select count(*) from runs").iloc[0, 0] == 2
    assert {p.name for p in tmp_path.iterdir()} == {"s", "secret.txt", "secret.csv"}


def test_names_of_machines_stay_in_their_store(tmp_path: Path) -> None:
    store = filled(tmp_path / "s", 1)
    assert set(store.runs()["host"]) == {"here"}
    for view in ("runs", "counts"):
        assert "host" not in pd.read_csv(store.export(tmp_path / "x.csv", view))
    assert "host" in pd.read_csv(store.export(tmp_path / "x.csv", hosts=True))
    other = Store.create(tmp_path / "o", "demo")
    other.merge(store)
    assert set(other.runs()["host"]) == {""}


# ---- what is refused, in words ------------------------------------------------------------


def test_refuses_in_words(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        Store.open(tmp_path / "nothing")
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "file").write_text("x")
    with pytest.raises(InputError, match="is no store: name the folder"):
        Store.open(tmp_path / "foreign")
    with pytest.raises(InputError, match=r"new or empty folder; .* holds something else"):
        Store.create(tmp_path / "foreign", "demo")
    store = filled(tmp_path / "s", 1)
    with pytest.raises(InputError, match="holds 'demo', not 'other'"):
        Store.create(store.path, "other")
    assert len(Store.create(store.path, "demo")) == 2
    with store.writer() as writer, pytest.raises(InputError, match="holds 'demo', not 'b'"):
        writer.append([Record("b", "adult", "sex", "lr", "x", 0)])
    with pytest.raises(InputError, match=r"views runs, results and counts; DuckDB says: .*nothing"):
        store.query("select * from nothing")
    with pytest.raises(InputError, match=r"DuckDB says: .*nothing"):
        store.runs("nothing = 1")
    (store.path / "parts").rename(store.path / "gone")
    with pytest.raises(InputError, match="has lost it: restore it"):
        Store.open(store.path)
    (store.path / "gone").rename(store.path / "parts")
    header = store.path / "store.json"
    told = json.loads(header.read_text())
    header.write_text(json.dumps(told | {"isonomy_store": 99}))
    with pytest.raises(InputError, match="must be of format 2; it is of 99"):
        Store.open(store.path)
    header.write_text("{}")
    with pytest.raises(InputError, match="must describe a store"):
        Store.open(store.path)


def test_refuses_names_that_cannot_be_columns(tmp_path: Path) -> None:
    store = filled(tmp_path / "s", 1)
    with store.writer() as writer:
        with pytest.raises(InputError, match="named like a column of the store; got 'Status'"):
            writer.append([record("a", 0, metrics={"Status": 1.0})])
        with pytest.raises(InputError, match="capital letters; got 'Accuracy' beside 'accuracy'"):
            writer.append([record("a", 0, metrics={"Accuracy": 1.0})])
    assert len(store) == 2


def test_a_line_holds_a_batch() -> None:
    line = batch_line([{"key": "a\nb"}])
    assert line.count(b"\n") == 1
    assert read_batches(line)[0] == [{"key": "a\nb"}]


# ---- the contract -------------------------------------------------------------------------------


def test_check_store_finds_what_is_wrong(tmp_path: Path) -> None:
    def sound(repeat: int, **more: object) -> Record:
        held = joint(repeat)
        accuracy = get_metric("accuracy")(held.method.select("sex"))
        return record("a", repeat, counts=held, metrics={"accuracy": accuracy} | more)

    store = Store.create(tmp_path / "s", "demo")
    with store.writer(segment=1) as writer:
        writer.append([sound(0)])
        writer.append([record("b", 0, metrics={}, counts=None, status="failed", reason="x")])
    check_store(store.path)
    with store.writer() as writer:
        writer.append([sound(1, accuracy=0.123)])
    with pytest.raises(AssertionError, match="accuracy"):
        check_store(store)


def test_a_place_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="folder that can be written"):
        Store.create(tmp_path / "file" / "store", "mine")


@pytest.mark.parametrize("compacted", [True, False])
def test_a_store_from_before_a_field_was_added_opens_and_grows(
    tmp_path: Path, compacted: bool
) -> None:
    store = filled(tmp_path / "store", trials=2)
    if compacted:
        store.compact()
    for part in [*(store.path / "parts").iterdir()]:
        if part.suffix == ".parquet":
            old = pd.read_parquet(part).drop(columns=["settings", "warnings"])
            old.to_parquet(part.with_name("shard.part"))
            put_in_force(part.with_name("shard.part"), 1, 1)
        elif part.stat().st_size:
            lines = []
            for batch in part.read_bytes().splitlines():
                docs = json.loads(batch[9:])
                for doc in docs:
                    del doc["settings"], doc["warnings"]
                lines.append(batch_line(docs))
            part.write_bytes(b"".join(lines))
    before = [*Store.open(store.path).records()]
    assert len(before) == len(store)
    assert {(r.settings, r.warnings) for r in before} == {("", "")}
    with store.writer() as writer:
        writer.append(trial(2))
        writer.compact(everything=True)
    after = [*Store.open(store.path).records("repeat = 2")]
    assert {r.warnings for r in after} == {"One thing.\nAnother."}


@pytest.mark.parametrize("segment", [1, 4000, 2**24], ids=["shards", "both", "log"])
def test_a_store_that_is_read_while_it_grows_shows_what_a_new_reader_sees(
    tmp_path: Path, segment: int
) -> None:
    store = Store.create(tmp_path / "s", "demo")
    given: list[Record] = []
    with store.writer(segment=segment) as writer:
        for repeat in range(5):
            more = trial(repeat)
            if repeat == 3:  # another metric is another column
                more = [replace(r, metrics={**r.metrics, "mcc": 0.5}) for r in more]
            writer.append(more)
            given += more
            same_records(list(store.records()), given)
            same_frame(store.frame(), Store.open(store.path).frame())


def test_what_a_store_has_gained_is_loaded_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[int] = []

    def watched(connection, table, docs, metrics, *, done=0):
        loaded.append(len(docs) - done)
        load_docs(connection, table, docs, metrics, done=done)

    monkeypatch.setattr(views, "load_docs", watched)
    store = Store.create(tmp_path / "s", "demo")
    with store.writer() as writer:
        for repeat in range(4):
            writer.append(trial(repeat))
            assert len(store) == 2 * (repeat + 1)
    assert loaded == [2, 2, 2, 2]
