"""The in-processing methods of Chen et al. (2023), seed by seed, against what they published."""

import functools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from isonomy.data import Encoded, Split, encode, make_splits
from isonomy.mitigators import make_mitigator
from tests.oracle.test_data_chen import fifteen
from tests.registry import real

RESULTS = Path(__file__).parents[2].parent / "shared" / "published" / "chen" / "Results"
TESTED = {"german": 300, "compas": 1851, "adult": 13567}
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
    [("german_sex", seed) for seed in (1, 2, 4, 5, 6, 7, 9, 10, 11)]
    + [("german_age", seed) for seed in (0, 1, 2, 4, 5, 6, 7, 8, 11)],
)
def test_prejudice_remover_is_exact_on_eighteen_of_twenty_four_german_runs(
    task: str, seed: int
) -> None:
    assert differing("pr", task, seed) == []


@pytest.mark.parametrize(
    # Differences of one row on German, of at most four on COMPAS: the logistic regressions it
    # starts from are those of another scikit-learn, and its line search ends where rounding says.
    ("task", "seed", "rows"),
    [(f"german_{a}", seed, 1) for a, seed in (("sex", 0), ("sex", 3), ("sex", 8), ("age", 3))]
    + [(f"compas_{a}", seed, 4) for a in ("sex", "race") for seed in (0, 1, 2)],
)
def test_prejudice_remover_differs_elsewhere_by_a_few_rows(task: str, seed: int, rows: int) -> None:
    expected = published("pr", task)["accuracy"][seed]
    off = abs(run("pr", task, seed)["accuracy"] - expected) * TESTED[task.split("_")[0]]
    assert off <= rows + 0.1


@pytest.mark.parametrize("method", ["mfc1", "mfc2"])
@pytest.mark.parametrize(
    # Adult and COMPAS are exact on every seed tried. On German the points drawn hang on the
    # signs of singular vectors, which the last bit of the covariance decides: seeds 2 to 5 come
    # out as then, others do not.
    ("task", "seed"),
    [(f"german_{a}", seed) for a in ("sex", "age") for seed in (2, 3, 4, 5)]
    + [("compas_sex", 0), ("compas_race", 1), ("adult_sex", 1), ("adult_race", 2)],
)
def test_meta_fair_classifier_is_exact(method: str, task: str, seed: int) -> None:
    assert differing(method, task, seed) == []


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
