"""Our baseline of the Chen recipe (lr) against the baseline files of Chen et al. (2023)."""

from pathlib import Path

import numpy as np
import pytest

from isonomy._arrays import Floats
from isonomy.data import encode, make_splits
from isonomy.metrics import Counts
from isonomy.models import fit_model, make_model
from isonomy.tradeoff import bias_of, mutation_values
from tests.registry import real

MAJORITY = {"adult": 0, "compas": 1, "german": 1}  # y01: 1 is favourable, "no recidivism" included
REPETITIONS = 50
METRICS = {  # the baseline files' names, in their order, and ours
    "SPD": "statistical_parity_difference",
    "AOD": "average_absolute_odds_difference",
    "EOD": "equal_opportunity_difference",
    "ERD": "error_rate_difference",
    "Acc": "accuracy",
    "Mac-P": "macro_precision(zero_division=0)",
    "Mac-R": "macro_recall(zero_division=0)",
    "Mac-F1": "macro_f1(zero_division=0)",
    "MCC": "mcc(zero_division=0)",
}


def published(folder: Path, task: str) -> dict[str, np.ndarray]:
    path = folder / "published" / "chen" / "Fairea_baseline" / f"{task}_baseline"
    if not path.is_file():
        pytest.skip(f"{path.name} of the authors' archive is not beside the repository")
    rows = (line.split() for line in path.read_text().splitlines())
    return {name: np.array(values, dtype=float) for name, *values in rows}


def original(name: str, attribute: str, repeats: int = 50) -> Counts:
    """Counts of the default model's predictions on the baseline's splits, one per leading index."""
    dataset = real(name)
    encoded = encode(dataset, "chen")
    cells = []
    for split in make_splits(dataset, repeats, splitter="aif360", rows=encoded.rows):
        ready = encoded.at(split, attribute)
        model = fit_model(make_model("lr", "chen"), ready.X_train, ready.y_train)
        counts = Counts.from_labels(
            ready.y_test,
            model.predict(ready.X_test),
            sensitive_features={attribute: ready.s_test},
            favorable=1,
            privileged=1,
        )
        cells.append(counts)
    first = cells[0]
    return Counts(
        n=np.stack([c.n for c in cells]),
        attributes=first.attributes,
        groups=first.groups,
        classes=first.classes,
        favorable=first.favorable,
        privileged=first.privileged,
    )


def compare(folder: Path, name: str, attribute: str) -> dict[str, tuple[Floats, Floats, Floats]]:
    """Ours, theirs and the standard error of the difference, per metric."""
    theirs = published(folder, f"{name}_lr_{attribute}")
    counts = original(name, attribute)
    drawn = mutation_values(
        counts, METRICS.values(), strategy=MAJORITY[name], repetitions=REPETITIONS
    )
    assert list(theirs) == list(METRICS)
    out = {}
    for short, metric in METRICS.items():
        values = drawn[metric]
        if short in ("SPD", "AOD", "EOD", "ERD"):
            values = bias_of(metric, values)
        within = values.var(axis=0, ddof=1).mean(axis=-1)  # of one mutation, given the split
        error = np.sqrt(2 * within / (REPETITIONS * values.shape[-1]))  # theirs is as noisy as ours
        out[short] = values.mean(axis=(0, 2)), theirs[short], error
    return out


@pytest.mark.parametrize(
    ("name", "attribute"),
    [
        ("german", "sex"),
        ("german", "age"),
        pytest.param("compas", "sex", marks=pytest.mark.slow),
        pytest.param("compas", "race", marks=pytest.mark.slow),
    ],
)
def test_german_and_compas(shared: Path, name: str, attribute: str) -> None:
    """The original models are theirs to the printed digit, so only the mutation is random."""
    for short, (ours, theirs, error) in compare(shared, name, attribute).items():
        np.testing.assert_allclose(ours[0], theirs[0], atol=6e-7, err_msg=short)
        np.testing.assert_array_less(np.abs(ours - theirs), 4 * error + 6e-7, err_msg=short)


@pytest.mark.slow
@pytest.mark.parametrize("attribute", ["sex", "race"])
def test_adult(shared: Path, attribute: str) -> None:
    """Their solver stopped unconverged after 100 steps, ours elsewhere: a few test rows differ.

    The original model is therefore held to the noise of the first degree of mutation instead of to
    the printed digit; all other points to their own.
    """
    for short, (ours, theirs, error) in compare(shared, "adult", attribute).items():
        error[0] = error[1]
        np.testing.assert_array_less(np.abs(ours - theirs), 4 * error + 6e-7, err_msg=short)
