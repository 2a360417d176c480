"""
Varying the parameter of an in-processing method
================================================

Prejudice remover penalizes the dependence of its output on the group; ``eta`` is the weight of the
penalty. This example varies it on Adult and prints accuracy and two disparities on held-out rows, with
the plain model, adversarial debiasing and the meta fair classifier for comparison. With matplotlib
installed it also draws the trade-off. The two disparities disagree: a method that aims at equal rates
may increase the difference in errors.
"""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from isonomy.data import Prepared, load, make_splits, prepare
from isonomy.errors import DataUnavailable
from isonomy.metrics import Counts, get_metric
from isonomy.mitigators import (
    AdversarialDebiasing,
    MetaFairClassifier,
    PrejudiceRemover,
    Unmitigated,
)

ETAS = (0.0, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
METRICS = ("accuracy", "statistical_parity_difference", "average_absolute_odds_difference")
OUT = Path("out/examples")

# %%
# The data: Adult, one split, default encoding. Where it is unavailable, generated data.


def people() -> Prepared:
    """Return 6,000 training rows and the test rows of one split."""
    try:
        data, attribute = load("adult"), "sex"
    except DataUnavailable as error:
        print(f"{error}\nContinuing with generated data.\n")
        data, attribute = load("synthetic", n=10_000), "group"
    rows = np.random.default_rng(0).permutation(len(data))[:9_000]
    return prepare(data, attribute=attribute, split=make_splits(data, rows=rows)[0])


# %%
# Each method is fitted on the training rows and measured on the test rows.


def measure(method: Any, ready: Prepared) -> list[float]:
    """Fit, predict and return the three metrics."""
    model = method.fit(ready.X_train, ready.y_train, sensitive_features=ready.s_train)
    labels = model.predict(ready.X_test, sensitive_features=ready.s_test)
    counts = Counts.from_labels(ready.y_test, labels, sensitive_features=ready.s_test, privileged=1)
    return [abs(float(get_metric(name)(counts))) for name in METRICS]


def draw(sweep: list[list[float]], others: dict[str, list[float]]) -> Path:
    """Draw accuracy against both disparities."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True, layout="constrained")
    for k, axis in enumerate(axes, start=1):
        axis.plot([p[k] for p in sweep], [p[0] for p in sweep], "o-", label="prejudice remover")
        for eta, point in zip(ETAS, sweep, strict=True):
            axis.annotate(
                f"{eta:g}", (point[k], point[0]), textcoords="offset points", xytext=(4, 4)
            )
        for name, point in others.items():
            axis.plot(point[k], point[0], "s", label=name)
        axis.set_xlabel(METRICS[k].replace("_", " "))
    axes[0].set_ylabel("accuracy")
    axes[1].legend(fontsize="small")
    OUT.mkdir(parents=True, exist_ok=True)
    path = OUT / "in_processing.png"
    figure.savefig(path, dpi=120)
    return path


def main() -> None:
    """Vary eta, measure the other methods, and print the table."""
    ready = people()
    common = {"privileged": 1, "sensitive_columns": [ready.sensitive_column]}
    sweep = [measure(PrejudiceRemover(eta=eta, **common), ready) for eta in ETAS]
    others = {
        "unmitigated": measure(Unmitigated(**common), ready),
        "adversarial debiasing": measure(AdversarialDebiasing(random_state=0, **common), ready),
        "meta fair classifier, rates": measure(
            MetaFairClassifier(constraint="sr", **common), ready
        ),
        "meta fair classifier, false discoveries": measure(
            MetaFairClassifier(constraint="fdr", **common), ready
        ),
    }
    print(f"{'':40s} accuracy  parity gap  odds gap")
    lines = {f"prejudice remover, eta = {eta:g}": p for eta, p in zip(ETAS, sweep, strict=True)}
    for name, (accuracy, parity, odds) in {**lines, **others}.items():
        print(f"{name:40s} {accuracy:8.3f}  {parity:10.3f}  {odds:8.3f}")
    if find_spec("matplotlib") is None:
        print("\nWith matplotlib installed this example also draws the trade-off.")
    else:
        print(f"\nDrawn: {draw(sweep, others)}")


if __name__ == "__main__":
    main()
