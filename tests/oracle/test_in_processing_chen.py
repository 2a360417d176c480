"""The in-processing methods of Chen et al. (2023), seed by seed, against what they published."""

import functools
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from isonomy.data import Encoded, Split, encode, make_splits
from isonomy.errors import DegenerateOutputWarning
from isonomy.mitigators import make_mitigator
from tests.oracle.test_data_chen import fifteen
from tests.registry import real

RESULTS = Path(__file__).parents[2].parent / "shared" / "published" / "chen" / "Results"
SPECS = {
    "pr": "prejudice_remover(eta=25)",
    "ad": "adversarial_debiasing",
    "mfc1": "meta_fair_classifier(constraint=fdr)",
    "mfc2": "meta_fair_classifier(constraint=sr)",
}


def published(method: str, task: str) -> dict[str, np.ndarray]:
    path = RESULTS / f"{method}_lr_{task}.txt"
    if not path.is_file():
        pytest.skip(f"{path.name} of the authors' archive is not beside the repository")
    lines = (line.split("\t") for line in path.read_text().splitlines())
    return {name: np.array(values[:50], dtype=float) for name, *values in lines}


@functools.cache
def prepared(name: str) -> tuple[Encoded, list[Split]]:
    dataset = real(name)
    encoded = encode(dataset, "chen")
    return encoded, make_splits(dataset, 50, splitter="chen", rows=encoded.rows)


def run(method: str, task: str, seed: int) -> dict[str, float]:
    name, attribute = task.split("_")
    encoded, splits = prepared(name)
    ready = encoded.at(splits[seed], attribute)
    # The study seeds NumPy once, splits, and goes on drawing.
    rng = np.random.RandomState(seed)
    rng.permutation(len(encoded.rows))
    model = make_mitigator(
        SPECS[method],
        protocol="as_published",
        privileged=1,
        sensitive_columns=[ready.sensitive_column],
        random_state=rng,
    ).fit(ready.X_train, ready.y_train, sensitive_features=ready.s_train)
    labels = model.predict(ready.X_test, sensitive_features=ready.s_test)
    return fifteen(ready.y_test, labels, ready.s_test)


def differing(method: str, task: str, seed: int) -> list[str]:
    expected = published(method, task)
    ours = run(method, task, seed)
    return [m for m, v in ours.items() if f"{v:.6f}" != f"{expected[m][seed]:.6f}"]


@pytest.mark.parametrize(
    ("task", "seed"),
    [(f"german_{a}", seed) for a in ("sex", "age") for seed in range(12)]
    + [(f"compas_{a}", seed) for a in ("sex", "race") for seed in range(3)],
)
def test_prejudice_remover_is_exact(task: str, seed: int) -> None:
    assert differing("pr", task, seed) == []


@pytest.mark.parametrize(("attribute", "seed"), [("sex", 0), ("race", 0)])
def test_prejudice_remover_differs_on_adult_by_a_row_at_most(attribute: str, seed: int) -> None:
    # The logistic regressions it starts from end there unconverged, after 100 steps, and the last
    # bits of sums over 31,655 rows have grown by then.
    expected = published("pr", f"adult_{attribute}")["accuracy"][seed]
    assert abs(run("pr", f"adult_{attribute}", seed)["accuracy"] - expected) * 13567 <= 1.1


@pytest.mark.parametrize("method", ["mfc1", "mfc2"])
@pytest.mark.parametrize(
    ("task", "seed"),
    [("compas_sex", 0), ("compas_race", 1), ("adult_sex", 1), ("adult_race", 2)],
)
def test_meta_fair_classifier_is_exact(method: str, task: str, seed: int) -> None:
    assert differing(method, task, seed) == []


def test_meta_fair_classifier_on_german_hangs_on_the_last_bit() -> None:
    """Count equal runs on German, where the points drawn depend on signs of singular vectors.

    The last bit of the covariance decides these signs, and the kernel that the BLAS chooses for
    the processor decides that bit: with OPENBLAS_CORETYPE Haswell and Zen 12 of these 16 runs
    equal the published ones, with SkylakeX 6, and 16 did on the machine where this was first run.
    No seed is equal on all of them, so what holds everywhere is that some runs are equal.
    """
    runs = [
        (method, f"german_{attribute}", seed)
        for method in ("mfc1", "mfc2")
        for attribute in ("sex", "age")
        for seed in (2, 3, 4, 5)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateOutputWarning)
        equal = sum(differing(*one) == [] for one in runs)
    assert equal >= 4


def test_overflow_makes_both_constraints_alike_on_compas() -> None:
    one, two = (published(m, "compas_race")["accuracy"] for m in ("mfc1", "mfc2"))
    assert (one == two).sum() == 49
    assert run("mfc1", "compas_race", 0) == run("mfc2", "compas_race", 0)


def holm(p: Any) -> np.ndarray:
    p = np.asarray(p)
    order = np.argsort(p)
    raised = np.maximum.accumulate(p[order] * (len(p) - np.arange(len(p))))
    return np.minimum(raised, 1.0)[np.argsort(order)]


@pytest.mark.slow
def test_adversarial_debiasing_scatters_as_published_on_german() -> None:
    # The other tasks are compared by benchmarks/fidelity.py.
    cells = []
    for task in ("german_sex", "german_age"):
        expected = published("ad", task)
        ours = [run("ad", task, seed) for seed in range(50)]
        cells += [
            (task, metric, mannwhitneyu([row[metric] for row in ours], values).pvalue)
            for metric, values in expected.items()
        ]
    adjusted = holm([p for *_, p in cells])
    assert [c for c, p in zip(cells, adjusted, strict=True) if p < 0.01] == []
