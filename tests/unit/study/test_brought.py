"""What a script has registered is known to the processes that run its study."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from isonomy.data import DATASETS, load
from isonomy.mitigators import MITIGATORS
from isonomy.mitigators.stages import PreProcessor
from isonomy.study import Study, run
from isonomy.study.brought import Brought
from tests.unit.study.engines import engine

TYPED = """
class Turned(PreProcessor):
    label, advice, reference, name = "T", "none", "none", "turned"
    transform_uses_estimator = False

    def resample(self, X, y, s, w=None):
        return X, 1 - y, s, w

def typed():
    return load("synthetic", n=300)
"""


@pytest.fixture
def study(monkeypatch: pytest.MonkeyPatch) -> Study:
    """A study of a mitigator and a dataset that were typed at a prompt."""
    scope: dict[str, Any] = {"__name__": "__main__", "PreProcessor": PreProcessor, "load": load}
    exec(compile(TYPED, "<stdin>", "exec"), scope)
    entry = replace(DATASETS["synthetic"], name="typed", loader=scope["typed"])
    monkeypatch.setitem(DATASETS._items, "typed", entry)
    monkeypatch.setitem(MITIGATORS._items, "turned", scope["Turned"])
    return Study("tiny", ["typed/group"], ["nb"], ["unmitigated", "turned"], repeats=2)


def test_what_is_ours_is_not_sent_along(study: Study) -> None:
    brought = Brought.of(study)
    assert [name for name, _ in brought.mitigators] == ["turned"]
    assert [name for name, _ in brought.datasets] == ["typed"]
    ours = Study("ours", ["german/sex"], ["lr"], ["unmitigated", "rw", "mutation(strategy=random)"])
    assert Brought.of(ours) == Brought()


@pytest.mark.parametrize(
    "name", ["sandbox", *(pytest.param(n, marks=pytest.mark.slow) for n in ("loky", "dask", "ray"))]
)
def test_a_process_of_its_own_knows_it(study: Study, tmp_path: Path, name: str) -> None:
    here = run(study, tmp_path / "here")
    assert here.statuses == {"ok": 4}
    if name == "sandbox":
        there = run(study, tmp_path / "there", time_limit=120.0)
    else:
        with engine(name):
            there = run(study, tmp_path / "there", backend=name, workers=2)
    assert there.statuses == {"ok": 4}
