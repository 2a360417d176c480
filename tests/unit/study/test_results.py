"""All records of a study in one compact file: nothing is lost, nothing private is in it."""

import json
import math
import shutil
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest

from isonomy.errors import InputError, VersionChangeWarning
from isonomy.metrics.joint import JointCounts
from isonomy.store import Record, Store
from isonomy.study import Results, Study, derive, export_results, run
from isonomy.study.pack import TABLE, results_table
from isonomy.study.results import find_results
from isonomy.testing import check_results, check_store

STUDY = Study(
    "tiny",
    ["synthetic(n=300)/group"],
    ["nb", "lr"],
    [
        "unmitigated",
        "reweighing",
        "mutation(strategy=majority)",
        "mutation(strategy=minority)",
        "mutation(strategy=random, repetitions=7)",
    ],
    repeats=3,
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return Store.open(run(STUDY, tmp_path_factory.mktemp("run") / "tiny").path)


@pytest.fixture(scope="module")
def file(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export_results(store, tmp_path_factory.mktemp("results"))


def same(found: Store, expected: Store) -> None:
    """Check that two stores hold the same results to the last bit."""
    pd.testing.assert_frame_equal(found.frame(), expected.frame(), check_exact=True)
    for mine, other in zip(found.records(), expected.records(), strict=True):
        assert replace(mine, counts=None, metrics={}) == replace(other, counts=None, metrics={})
        assert list(mine.metrics) == list(other.metrics)
        assert (mine.counts is None) == (other.counts is None)
        if mine.counts is not None and other.counts is not None:
            for name in ("n", "w", "w2"):
                np.testing.assert_array_equal(
                    getattr(mine.counts, name), getattr(other.counts, name)
                )


def test_every_record_comes_back(store: Store, file: Path) -> None:
    results = Results.open(file)
    same(results, store)
    assert (len(results), results.keys()) == (len(store), store.keys())
    assert (results.metrics, results.spec) == (store.metrics, store.spec)
    assert results.versions == store.versions
    times = ["seconds", "cpu", "fit_cpu"]
    np.testing.assert_allclose(results.runs()[times], store.runs()[times], rtol=0, atol=5.1e-7)
    some = ["accuracy", "|statistical_parity_difference|", "roc_auc"]
    pd.testing.assert_frame_equal(
        results.frame(metrics=some), store.frame(metrics=some), check_exact=True
    )


def test_what_follows_from_counts_is_not_written(store: Store, file: Path) -> None:
    columns = duckdb.sql(f"describe from read_parquet('{file}')").df()["column_name"].tolist()
    assert "roc_auc" in columns
    assert not {"macro_f1", "statistical_parity_difference", "theil_index"} & set(columns)
    points = duckdb.sql(
        f"select count(*), count(accuracy) from read_parquet('{file}') where drawn is not null"
    ).fetchall()
    assert points == [(3 * 2 * 3 * 11, 3 * 11)]  # of one baseline the draws can be compared
    plain = store.export(file.with_name("plain.parquet"))
    assert file.stat().st_size < plain.stat().st_size / 2


def record(repeat: int, **more: object) -> Record:
    rng = np.random.default_rng(repeat)
    n = 60
    counts = JointCounts.from_labels(
        *(rng.integers(0, 2, n) for _ in range(3)),
        sensitive_features={"sex": np.arange(n) % 2},
        sample_weight=rng.uniform(0.5, 2, n) if repeat % 2 else None,
        favorable=1,
        privileged={"sex": 1},
    )
    given = {
        "metrics": {"accuracy": 0.1 + repeat / 7, "disparate_impact": math.inf, "mcc": math.nan},
        "key": f"key {repeat}",
        "counts": counts,
        "host": "secret-host",
    } | more
    return Record("odd", "adult", "sex", "lr", "reweighing", repeat, **given)  # type: ignore[arg-type]


def test_values_that_do_not_follow_from_counts_are_written(tmp_path: Path) -> None:
    odd = Store.create(tmp_path / "odd", "odd")
    with odd.writer() as writer:
        writer.append([record(k) for k in range(4)])
        writer.append([record(4, metrics={}, counts=None, status="failed", reason="It broke.")])
    same(Results.open(export_results(odd, tmp_path)), odd)


def test_no_name_of_a_machine_and_no_folder_is_written(tmp_path: Path) -> None:
    odd = Store.create(tmp_path / "odd", "odd")
    reason = "'/home/someone/data/a.csv' is absent: see https://example.org/a/b, or D:\\x\\y.csv."
    with odd.writer() as writer:
        writer.append([record(0, status="failed", reason=reason, warnings=reason)])
    file = export_results(odd, tmp_path)
    (found,) = Results.open(file).records()
    assert found.reason == "'.../a.csv' is absent: see https://example.org/a/b, or .../y.csv."
    assert (found.warnings, found.host) == (found.reason, "")
    for path in (file, file.with_suffix(".json")):
        assert b"secret-host" not in path.read_bytes()
        assert str(tmp_path).encode() not in path.read_bytes()


def test_paths_of_declared_files_lose_their_folders(tmp_path: Path) -> None:
    rows = [f"{'fm'[k % 2]},{k % 7},{int(k % 3 == 0)}" for k in range(60)]
    (tmp_path / "jobs.csv").write_text("\n".join(["sex,hours,hired", *rows]))
    (tmp_path / "mine.toml").write_text(
        'name = "mine"\ntasks = ["jobs/sex"]\nmodels = ["nb"]\nrepeats = 1\n'
        '[[method]]\nmitigator = "unmitigated"\n'
        '[[source]]\nname = "jobs"\npath = "jobs.csv"\nlabel = "hired"\n'
        'sensitive_features = ["sex"]\nprivileged = { sex = "m" }\n'
    )
    study = Study.from_toml(tmp_path / "mine.toml")
    file = export_results(Store.open(run(study, tmp_path / "run").path), tmp_path / "out")
    spec = Results.open(file).spec
    assert 'path = "jobs.csv"' in spec
    assert str(tmp_path) not in spec


def test_the_manifest_says_what_was_run(store: Store, file: Path) -> None:
    manifest = json.loads(file.with_suffix(".json").read_text())
    assert (manifest["study"], manifest["records"], manifest["repeats"]) == ("tiny", len(store), 3)
    assert manifest["bytes"] == file.stat().st_size
    assert manifest["cpu_hours"] == round(store.runs()["cpu"].sum() / 3600, 4)
    assert manifest["machine"] == store.versions[-1]["machine"]
    assert manifest["statuses"] == {"ok": len(store)}


def copied(file: Path, folder: Path) -> Path:
    for path in (file, file.with_suffix(".json")):
        shutil.copy(path, folder)
    return folder / file.name


@pytest.mark.parametrize("where", [0.0, 0.3, 0.99])
def test_a_flipped_bit_is_one_sentence(file: Path, tmp_path: Path, where: float) -> None:
    damaged = copied(file, tmp_path)
    data = bytearray(damaged.read_bytes())
    data[int(where * len(data))] ^= 1
    damaged.write_bytes(data)
    with pytest.raises(InputError, match="damaged or replaced since: restore it"):
        Results.open(damaged)


def test_a_manifest_that_is_not_as_written_is_one_sentence(file: Path, tmp_path: Path) -> None:
    moved = copied(file, tmp_path)
    beside = moved.with_suffix(".json")
    text = beside.read_text()
    beside.write_text(text.replace('"records": ', '"records": 1'))
    with pytest.raises(InputError, match="damaged or edited since"):
        Results.open(moved)
    beside.write_text(text.replace('"isonomy_results": 1', '"isonomy_results": 9'))
    with pytest.raises(InputError, match="must be of format 1; they are of 9"):
        Results.open(moved)
    beside.write_text("[]")
    with pytest.raises(InputError, match="must describe results"):
        Results.open(moved)
    beside.unlink()
    with pytest.raises(InputError, match=r"two files.*tiny\.json' does not exist"):
        Results.open(moved)


def test_a_file_is_only_read(file: Path) -> None:
    results = Results.open(file)
    for write in (
        results.writer,
        results.compact,
        lambda: results.score(["mcc"]),
        lambda: results.put("key", {}),
    ):
        with pytest.raises(InputError, match="isonomy study run tiny --from"):
            write()
    with pytest.raises(InputError, match="DuckDB says"):
        results.query(f"select * from read_csv('{file.with_suffix('.json')}')")
    assert results.query("select count(*) from counts").iloc[0, 0] == 3 * 2 * 5


def test_it_keeps_the_contract_of_a_store(file: Path) -> None:
    check_store(file)


def test_an_empty_store_has_no_results(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds none"):
        export_results(Store.create(tmp_path / "new", "new"), tmp_path)


def test_a_run_begins_with_the_records_of_a_file(store: Store, tmp_path: Path) -> None:
    half = STUDY.with_(repeats=2)
    file = export_results(Store.open(run(half, tmp_path / "half").path), tmp_path)
    outcome = run(STUDY, tmp_path / "whole", start=Results.open(file))
    assert (outcome.taken, outcome.trials, outcome.done) == (len(Results.open(file)), 1, 1)
    whole = Store.open(outcome.path)
    same(whole, store)
    assert whole.versions == store.versions
    # once more: nothing is missing, and nothing is taken twice
    again = run(STUDY, whole, start=Results.open(file))
    assert (again.taken, again.done, again.kept) == (0, 0, len(store))


def test_records_under_other_keys_are_run_again(store: Store, file: Path, tmp_path: Path) -> None:
    other = STUDY.with_(seed=1)
    outcome = run(other, tmp_path / "other", start=Results.open(file))
    assert (outcome.taken, outcome.done) == (0, 3)
    assert not Store.open(outcome.path).keys() & store.keys()


def test_a_run_does_not_begin_with_another_study(file: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds 'tiny', not 'other'"):
        run(STUDY.with_(name="other"), tmp_path / "other", start=Results.open(file))


def test_other_draws_of_a_baseline_are_told(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measure = derive.measure_mutation

    def other(*args: object, seeds: list[tuple[object, ...]], **more: object) -> object:
        return measure(*args, seeds=[(9, *seed) for seed in seeds], **more)  # type: ignore[arg-type]

    monkeypatch.setattr(derive, "measure_mutation", other)
    with pytest.warns(VersionChangeWarning, match="draws others, which differ by chance"):
        Results.open(file).frame(metrics=["accuracy"])


def test_records_run_again_are_the_same(file: Path) -> None:
    found = check_results(file, sample=4)
    assert len({r.key for r in found}) == 4
    assert check_results(file, where="model = 'no such'") == []


def test_a_record_that_comes_out_otherwise_is_found(store: Store, tmp_path: Path) -> None:
    (true,) = store.records("mitigator = 'reweighing' and model = 'nb' and repeat = 0")
    assert true.counts is not None
    cells = true.counts.n.copy()
    cells.flat[0] += 1
    wrong = {
        "roc_auc": replace(true, metrics={**true.metrics, "roc_auc": 0.5}),
        "Arrays are not equal": replace(true, counts=replace(true.counts, n=cells)),
        "is of other versions or settings": replace(true, key="0" * 32),
    }
    for k, (what, record) in enumerate(wrong.items()):
        made = Store.create(tmp_path / f"{k}", "tiny", store.spec)
        with made.writer() as writer:
            writer.append([record])
        with pytest.raises(AssertionError, match=what):
            check_results(export_results(made, tmp_path))


def test_a_study_is_found_by_name(file: Path, tmp_path: Path) -> None:
    assert find_results("tiny", file.parent) == file
    with pytest.raises(InputError, match=r"results of 'huge' in .*it holds .*tiny.*study run huge"):
        find_results("huge", file.parent)
    with pytest.raises(InputError, match="it holds none"):
        find_results("tiny", tmp_path)


def test_a_table_of_all_results_is_kept_in_the_readme(store: Store, tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text(f"# Ours\n\n{TABLE[0]}\nold\n{TABLE[1]}\n\nMore.\n")
    export_results(store, tmp_path)
    text = readme.read_text()
    assert text == f"# Ours\n\n{TABLE[0]}\n{results_table(tmp_path)}{TABLE[1]}\n\nMore.\n"
    manifest = Results.open(tmp_path / "tiny.parquet").manifest
    assert manifest["sha256"] in text
    readme.write_text("Of somebody else.\n")
    export_results(store, tmp_path)
    assert readme.read_text() == "Of somebody else.\n"
