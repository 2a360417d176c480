"""Damage of every kind is found by reading the files again."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from isonomy.errors import InputError
from isonomy.store import Record, Store, verify_store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store.create(tmp_path / "s", "demo", "repeats = 3")
    for repeat in range(3):
        with store.writer() as writer:
            run = Record("demo", "adult", "sex", "lr", "a", repeat, {"mcc": 0.5}, key=f"a{repeat}")
            writer.append([run])
            if repeat < 2:
                writer.compact()
    store.put("setting", {"value": 1.0})
    store.put("other", {"value": 2.0})
    return store


def corrupt(file: Path, rng: np.random.Generator) -> None:
    """Flip a bit, cut the file, or write over some bytes."""
    data = bytearray(file.read_bytes())
    at = int(rng.integers(len(data)))
    match rng.integers(3):
        case 0:
            data[at] ^= 1 << int(rng.integers(8))
        case 1:
            del data[at:]
        case _:
            data[at : at + 16] = rng.bytes(16)[: len(data) - at]
    file.write_bytes(data)


def test_a_sound_store_has_no_problem(store: Store) -> None:
    assert verify_store(store.path) == []


def attack(store: Store, folder: Path, kind: str, times: int) -> None:
    """Damage a file of one kind again and again: it is noticed, or nothing has changed."""
    rng = np.random.default_rng(0)
    expected = store.runs().drop(columns="host").astype(str).values.tolist()
    files = sorted(p for p in store.path.rglob(kind) if p.stat().st_size)
    assert files
    for k in range(times):
        copy = shutil.copytree(store.path, folder / f"{k}")
        file = copy / files[k % len(files)].relative_to(store.path)
        before = file.read_bytes()
        corrupt(file, rng)
        problems = verify_store(copy)
        try:
            opened = Store.open(copy)
            runs = opened.runs().drop(columns="host").astype(str).values.tolist()
            cached = [opened.get(key) for key in ("setting", "other")]
        except InputError:
            assert problems
        else:
            # the end of a log, or of the cache, that is cut off is what a kill leaves
            assert runs == expected[: len(runs)]
            assert len(runs) == len(expected) or file.suffix == ".log"
            for value, known in zip(cached, (1.0, 2.0), strict=True):
                assert value in (None, {"value": known})
            assert problems or file.suffix != ".parquet" or file.read_bytes() == before
        shutil.rmtree(copy)


KINDS = ["*.parquet", "*.log", "store.json", "cache.jsonl"]


@pytest.mark.parametrize("kind", KINDS)
def test_no_damage_changes_a_result(store: Store, tmp_path: Path, kind: str) -> None:
    attack(store, tmp_path, kind, 12)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_no_damage_changes_a_result_two_hundred_times(
    store: Store, tmp_path: Path, kind: str
) -> None:
    attack(store, tmp_path, kind, 200)


def test_what_is_gone_is_found(store: Store) -> None:
    next(iter(store.path.rglob("*.parquet"))).unlink()
    assert verify_store(store.path) == ["part 1 is missing"] or verify_store(store.path) == [
        "part 2 is missing"
    ]
