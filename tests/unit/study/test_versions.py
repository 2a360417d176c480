"""A run says what it was made with, and warns when it goes on with something else."""

import json
from dataclasses import replace
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from isonomy.data import DATASETS, load
from isonomy.errors import InputError, VersionChangeWarning
from isonomy.store import Store
from isonomy.study import Study, run, status
from isonomy.study.versions import changed_versions, versions_of
from tests.e2e.command import isonomy

STUDY = Study("tiny", ["synthetic(n=200)/group"], ["nb"], ["unmitigated"], repeats=1)


def upgrade(patch: pytest.MonkeyPatch, library: str, version: str) -> None:
    real = metadata.version
    patch.setattr(metadata, "version", lambda name: version if name == library else real(name))


def test_a_run_stores_its_versions(tmp_path: Path) -> None:
    run(STUDY, tmp_path / "s")
    (held,) = Store.open(tmp_path / "s").versions
    assert held == versions_of(STUDY)
    assert {"python", "isonomy", "numpy", "scipy", "scikit-learn"} < set(held)
    assert held["numpy"] == metadata.version("numpy")
    assert len(held["loader of synthetic"]) == 8
    assert status(tmp_path / "s").versions == held
    assert status(tmp_path / "s").changed == []


def test_other_versions_are_named_on_resume(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(STUDY, tmp_path / "out" / "tiny")
    upgrade(monkeypatch, "scipy", "99.1")
    assert versions_of(STUDY)["scipy"] == "99.1"
    shown = isonomy("study", "status", "tiny", cwd=tmp_path, env={"COLUMNS": "300"})
    assert "scipy" in shown.stdout
    assert "now 99.1" in shown.stdout
    assert run(STUDY, tmp_path / "out" / "tiny").changed == []  # nothing is missing, nothing mixed
    grown = STUDY.with_(repeats=2)
    with pytest.warns(VersionChangeWarning, match=r"other versions: scipy .*, now 99\.1"):
        outcome = run(grown, tmp_path / "out" / "tiny")
    assert outcome.statuses == {"ok": 1}
    assert [held["scipy"] == "99.1" for held in Store.open(outcome.path).versions] == [False, True]
    (tmp_path / "s.toml").write_text(STUDY.with_(repeats=3).toml())
    upgrade(monkeypatch, "scipy", "99.2")
    more = isonomy("study", "run", "s.toml", "--backend", "serial", cwd=tmp_path)
    assert "scipy 99.1, now 99.2" in " ".join(more.stdout.split())
    assert more.stderr == ""


def test_versions_are_covered_by_the_checksum(tmp_path: Path) -> None:
    run(STUDY, tmp_path / "s")
    header = tmp_path / "s" / "store.json"
    told = json.loads(header.read_text())
    told["versions"][0]["numpy"] = "1.0"
    header.write_text(json.dumps(told))
    with pytest.raises(InputError, match="damaged or edited"):
        Store.open(tmp_path / "s")


def test_what_counts_as_a_change() -> None:
    before = [{"numpy": "1"}, {"numpy": "2", "loader of adult": "a", "python": "3.11"}]
    assert changed_versions([], {"numpy": "2"}) == []
    assert changed_versions(before, before[-1]) == []
    # another dataset is no change, and neither is one that is no longer run
    assert changed_versions(before, {**before[-1], "loader of german": "b"}) == []
    assert changed_versions(before, {"numpy": "2", "python": "3.11"}) == []
    now = {"numpy": "2", "loader of adult": "b", "python": "3.12", "torch": "2.9"}
    assert changed_versions(before, now) == [
        "loader of adult a, now b",
        "python 3.11, now 3.12",
        "torch not installed, now 2.9",
    ]


@pytest.mark.parametrize("kind", ["typed at a prompt", "a partial function"])
def test_a_loader_without_a_file_is_run_too(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scope: dict[str, Any] = {"load": load}
    exec(compile("def typed(): return load('synthetic', n=200)", "<stdin>", "exec"), scope)
    loader = scope["typed"] if kind == "typed at a prompt" else partial(load, "synthetic", n=200)
    entry = replace(DATASETS["synthetic"], name="typed", loader=loader)
    monkeypatch.setitem(DATASETS._items, "typed", entry)
    study = Study("tiny", ["typed/group"], ["nb"], ["unmitigated"])
    assert "loader of typed" not in versions_of(study)
    assert run(study, tmp_path / "s", backend="serial").statuses == {"ok": 1}
