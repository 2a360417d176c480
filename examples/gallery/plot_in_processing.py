"""
How strongly should a model be penalised? Prejudice remover and its eta
=======================================================================

Prejudice remover penalizes the dependence of its output on the group; ``eta`` is the weight of the
penalty. This example varies it on Adult and shows accuracy and two disparities on held-out rows, with
the plain model, adversarial debiasing and the meta fair classifier for comparison. The two
disparities disagree: a method that aims at equal rates may increase the difference in errors.
"""

# %%
# One split of Adult
# ------------------

from typing import Any

import numpy as np
from matplotlib import pyplot as plt

from isonomy.data import load, make_splits, prepare
from isonomy.metrics import Counts, get_metric
from isonomy.mitigators import (
    AdversarialDebiasing,
    MetaFairClassifier,
    PrejudiceRemover,
    Unmitigated,
)

ETAS = (0.0, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
METRICS = ("accuracy", "statistical_parity_difference", "average_absolute_odds_difference")

data = load("adult")
rows = np.random.default_rng(0).permutation(len(data))[:9_000]
ready = prepare(data, attribute="sex", split=make_splits(data, rows=rows)[0])

# %%
# Each method is fitted on the training rows and measured on the test rows
# ------------------------------------------------------------------------


def measure(method: Any) -> list[float]:
    """Fit, predict and return the three metrics."""
    method.fit(ready.X_train, ready.y_train, sensitive_features=ready.s_train)
    labels = method.predict(ready.X_test, sensitive_features=ready.s_test)
    counts = Counts.from_labels(ready.y_test, labels, sensitive_features=ready.s_test, privileged=1)
    return [abs(float(get_metric(name)(counts))) for name in METRICS]


common = {"privileged": 1, "sensitive_columns": [ready.sensitive_column]}
sweep = [measure(PrejudiceRemover(eta=eta, **common)) for eta in ETAS]
others = {
    "unmitigated": measure(Unmitigated(**common)),
    "adversarial debiasing": measure(AdversarialDebiasing(random_state=0, **common)),
    "meta fair classifier, rates": measure(MetaFairClassifier(constraint="sr", **common)),
    "meta fair classifier, false discoveries": measure(
        MetaFairClassifier(constraint="fdr", **common)
    ),
}
print(f"{'':40s} accuracy  parity gap  odds gap")
lines = {f"prejudice remover, eta = {eta:g}": p for eta, p in zip(ETAS, sweep, strict=True)}
for name, (accuracy, parity, odds) in {**lines, **others}.items():
    print(f"{name:40s} {accuracy:8.3f}  {parity:10.3f}  {odds:8.3f}")

# %%
# Accuracy against both disparities
# ---------------------------------
# The number beside a mark of the line is ``eta``.

figure, axes = plt.subplots(1, 2, figsize=(10, 4.4), sharey=True, layout="constrained")
colours = ("#000000", "#D55E00", "#009E73", "#CC79A7")
for k, axis in enumerate(axes, start=1):
    axis.plot([p[k] for p in sweep], [p[0] for p in sweep], "o-", color="#0072B2", markersize=5)
    for eta, point in zip(ETAS, sweep, strict=True):
        axis.annotate(
            f"{eta:g}",
            (point[k], point[0]),
            textcoords="offset points",
            xytext=(4, 5 if eta in (0, 3, 100) else -11),
            size=8,
        )
    for (name, point), mark, colour in zip(others.items(), "s^Dv", colours, strict=True):
        axis.plot(point[k], point[0], mark, color=colour, label=name, markersize=8)
    axis.set_xlabel(METRICS[k].replace("_", " "))
axes[0].set_ylabel("accuracy")
axes[0].lines[0].set_label("prejudice remover")
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=9)
plt.show()
