"""Every result is one readable line at a prompt."""

import dataclasses
import importlib
import inspect
import pkgutil
from typing import Any

import numpy as np
import pandas as pd
import pytest

import isonomy
from isonomy import stats, tails
from isonomy._brief import brief
from isonomy.data import load, make_splits
from isonomy.papers.compare import compare_with_print
from isonomy.papers.table import PaperTable
from isonomy.store import Record, records_frame


def result_classes() -> list[type]:
    """Every dataclass of the package that becomes a frame or plain data."""
    found = []
    for module in pkgutil.walk_packages(isonomy.__path__, "isonomy."):
        if module.name.endswith("__main__"):
            continue
        for thing in vars(importlib.import_module(module.name)).values():
            ours = inspect.isclass(thing) and thing.__module__ == module.name
            is_result = hasattr(thing, "frame") or hasattr(thing, "to_dict")
            if ours and dataclasses.is_dataclass(thing) and is_result:
                found.append(thing)
    return found


@pytest.mark.parametrize("kind", result_classes(), ids=lambda kind: kind.__name__)
def test_no_result_dumps_its_arrays_and_frames(kind: type) -> None:
    """The line that a dataclass writes by itself holds every value of every field."""
    if not hasattr(kind.__repr__, "__wrapped__"):
        return  # it has a line of its own
    large = ("ndarray", "NDArray", "Floats", "DataFrame", "Series", "Finding", "Section")
    for field in dataclasses.fields(kind):
        assert not any(word in str(field.type) for word in large), field.name


@pytest.fixture(scope="module")
def people() -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": rng.choice(["f", "m"], 600), "skill": rng.normal(size=600)})
    y = (X["skill"] + (X["sex"] == "m") + rng.normal(size=600) > 0).to_numpy(dtype=int)
    return X, y, (X["skill"] + (X["sex"] == "m") > 0).to_numpy(dtype=int)


def test_an_audit(people: tuple[pd.DataFrame, np.ndarray, np.ndarray]) -> None:
    X, y, predicted = people
    result = isonomy.audit(y, predicted, sensitive_features=X[["sex"]], resamples=100)
    told = repr(result)
    assert told.startswith("Audit(600 rows by sex; favorable 1; ")
    assert f"{sum(f.verdict == 'violated' for f in result.judged())} violated" in told
    assert len(told) < 150


def test_many_models(people: tuple[pd.DataFrame, np.ndarray, np.ndarray]) -> None:
    X, y, predicted = people

    class Model:
        classes_ = (0, 1)

        def predict(self, X: pd.DataFrame) -> np.ndarray:
            return predicted

    found = isonomy.audit_models({"a": Model(), "b": Model()}, X, y, sensitive_features=X["sex"])
    assert repr(found) == (
        "ModelsAudit(2 models by sex: accuracy and statistical_parity_difference)"
    )


def test_a_plan() -> None:
    told = repr(isonomy.power(-0.05, base_rate=0.2, groups=[0.7, 0.3], threshold=0.02))
    assert told == (
        "Power(statistical_parity_difference of -0.05: shown by 2,160 rows, called by 5,889 rows)"
    )
    told = repr(isonomy.power(-0.1, base_rate=0.5))
    assert told.endswith("shown by 783 rows, called by no number of rows)")


def test_a_benchmark() -> None:
    result = isonomy.benchmark(
        "synthetic",
        sensitive_features=["group"],
        methods=["reweighing"],
        repeats=2,
        backend="serial",
    )
    told = repr(result)
    assert told.startswith("Benchmark('synthetic', accuracy and statistical_parity_difference; ")
    assert "group, lr: " in told
    assert len(told) < 200
    for part in (*result.sections, *result.sections[0].verdicts):
        assert len(repr(part)) < 1200
        assert "array(" not in repr(part)


def test_a_tail(people: tuple[pd.DataFrame, np.ndarray, np.ndarray]) -> None:
    X = people[0]
    report = isonomy.tail(lambda X: 0.5 + 0.1 * np.tanh(X["skill"]) * (X["sex"] == "m"), X, "sex")
    for part in (report, report.pairs, *report.groups, report.groups[0].extremes):
        assert "array(" not in repr(part)
        assert "\n" not in repr(part)
        assert len(repr(part)) < 600


def statistics() -> list[Any]:
    rng = np.random.default_rng(0)
    runs = rng.normal(size=(12, 4, 20))
    fit = tails.peaks_over_threshold(rng.exponential(size=2000), k=200)
    frame = records_frame(
        Record("fairea_2021", "adult", "sex", "lr", name, i, {"accuracy": 0.8})
        for name in ("unmitigated", "reweighing")
        for i in range(3)
    )
    return [
        stats.scott_knott({"a": runs[0, 0], "b": runs[0, 1]}),
        stats.win_tie_loss(runs),
        stats.friedman_nemenyi(runs.mean(axis=-1)),
        tails.diagnose(fit, resamples=99),
        make_splits(load("synthetic"), repeats=1)[0],
        compare_with_print(frame, "fairea"),
        PaperTable("table1", "What it shows", pd.DataFrame(np.zeros((500, 3))), 500),
    ]


@pytest.mark.parametrize("place", range(7))
def test_statistics_and_tables(place: int) -> None:
    told = repr(statistics()[place])
    assert "\n" not in told
    assert len(told) < 700


def test_short_values_are_written_and_large_ones_measured() -> None:
    @dataclasses.dataclass(repr=False)
    class Thing:
        name: str
        share: float
        rows: Any
        text: str
        parts: tuple[Any, ...] = ()
        number: Any = None
        __repr__ = brief

    told = repr(Thing("a", 1 / 3, np.zeros((5, 2)), "x" * 100, tuple(range(90)), np.float64(2.5)))
    assert told == (
        f"Thing(name='a', share=0.3333, rows=<5 x 2>, text='{'x' * 55}...', parts=<90>, number=2.5)"
    )
