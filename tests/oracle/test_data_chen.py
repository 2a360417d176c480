"""The split and the encoding of Chen et al. (2023), against the results they published."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import matthews_corrcoef, precision_recall_fscore_support

from isonomy.data import encode, make_splits
from tests.registry import SHARED, real

RESULTS = SHARED / "published" / "chen" / "Results"


def published(task: str) -> dict[str, np.ndarray]:
    path = RESULTS / f"default_lr_{task}.txt"
    if not path.is_file():
        pytest.skip(f"{path.name} of the authors' archive is not beside the repository")
    lines = (line.split("\t") for line in path.read_text().splitlines())
    return {name: np.array(values[:50], dtype=float) for name, *values in lines}


def fifteen(y: np.ndarray, predicted: np.ndarray, s: np.ndarray) -> dict[str, float]:
    """The study's metrics; 1 is favourable and privileged, an empty denominator counts as 0."""
    precision, recall, f1, _ = precision_recall_fscore_support(
        y, predicted, labels=[1, 0], zero_division=0
    )
    rates = {}
    for group in (0, 1):
        yg, pg = y[s == group], predicted[s == group]
        rates[group] = np.array(
            [pg.mean(), pg[yg == 1].mean(), pg[yg == 0].mean(), (yg != pg).mean()]
        )
    spd, tpr, fpr, err = np.abs(rates[0] - rates[1])
    values = {"accuracy": (y == predicted).mean()}
    for name, pair in (("recall", recall), ("precision", precision), ("f1score", f1)):
        values |= {f"{name}1": pair[0], f"{name}0": pair[1], f"{name}_macro": pair.mean()}
    values |= {"mcc": matthews_corrcoef(y, predicted)}
    return values | {"spd": spd, "aod": (tpr + fpr) / 2, "eod": tpr, "erd": err}


def replayed(name: str, attribute: str, repeats: int) -> list[dict[str, float]]:
    dataset = real(name)
    encoded = encode(dataset, "chen")
    rows = []
    for split in make_splits(dataset, repeats, splitter="chen", rows=encoded.rows):
        ready = encoded.at(split, attribute)
        with warnings.catch_warnings():
            # The study's default model stops at 100 steps, converged or not.
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = LogisticRegression().fit(ready.X_train, ready.y_train)
        rows.append(fifteen(ready.y_test, model.predict(ready.X_test), ready.s_test))
    return rows


@pytest.mark.parametrize("attribute", ["sex", "age"])
def test_german_is_exact_on_all_fifteen_metrics(attribute: str) -> None:
    expected = published(f"german_{attribute}")
    ours = replayed("german", attribute, 10)
    assert set(expected) == set(ours[0])
    for repeat, row in enumerate(ours):
        for metric, value in row.items():
            assert f"{value:.6f}" == f"{expected[metric][repeat]:.6f}", (repeat, metric)


@pytest.mark.parametrize(
    ("name", "attribute"),
    [("compas", "sex"), ("compas", "race"), ("adult", "sex"), ("adult", "race")],
)
def test_compas_and_adult_differ_by_a_few_rows_of_an_older_solver(
    name: str, attribute: str
) -> None:
    # The study's lbfgs stopped unconverged after 100 steps of an older SciPy; ours stops
    # elsewhere, which changes the label of up to six test rows (the fact sheet found 0 to 6).
    expected = published(f"{name}_{attribute}")["accuracy"][:1]
    tested = {"compas": 1851, "adult": 13567}[name]
    for row, accuracy in zip(replayed(name, attribute, 1), expected, strict=True):
        assert abs(row["accuracy"] - accuracy) * tested <= 6.5
