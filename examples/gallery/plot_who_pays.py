"""
Who pays for a smaller gap?
===========================

A gap between two groups closes because the worse-off group gains, because the better-off group
loses, or both. Two methods that close the same gap can differ in who pays for it.
"""

# %%
# One model, two ways to change it
# --------------------------------
# A forest that decides who is a high earner, on Adult; then reweighing (before training) and group
# thresholds (after training). All three predict the same people, whom they have not seen.

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from sklearn.ensemble import HistGradientBoostingClassifier

from isonomy import load, make_mitigator
from isonomy.audit import who_pays
from isonomy.plots import plot_intervals

adult = load("adult")
order = np.random.default_rng(0).permutation(len(adult))
learn, test = order[:8000], order[8000:20_000]
X, y, sex = adult.X, adult.y01, adult.sensitive["sex"]
learner = HistGradientBoostingClassifier(random_state=0)
predicted = {"original": learner.fit(X.iloc[learn], y[learn]).predict(X.iloc[test])}
for name in ("reweighing", "fairness_constrained_thresholds"):
    method = make_mitigator(name, learner)
    method.fit(X.iloc[learn], y[learn], sensitive_features=sex.iloc[learn])
    predicted[name] = method.predict(X.iloc[test], sensitive_features=sex.iloc[test])

# %%
# Each group's selection rate, before and after
# ---------------------------------------------
# Both predictions are of the same person, so only the people whose decision changes count, and the
# intervals are narrow. They hold for both groups together.

changes = []
for name in ("reweighing", "fairness_constrained_thresholds"):
    found = who_pays(
        y[test],
        predicted["original"],
        predicted[name],
        sensitive_features=sex.iloc[test],
        privileged="Male",
    )
    frame = found.frame().query("rate == 'selection_rate'")
    changes.append(frame.assign(method=name.replace("_", " ")))
    print(f"{name}: levels down: {found.levels_down}")
    for sentence in found.levelled:
        print("  ", sentence)
table = pd.concat(changes)
print(table[["method", "group", "before", "after", "word"]].round(3).to_string(index=False))

# %%
# The picture
# -----------
# To the right of the line a group is selected more often than before, to the left less often.
# *Levels down* is said where a gap closes and the group that was worse off gains almost nothing.

plot_intervals(
    table.assign(value=table["change"]),
    label="group",
    section="method",
    xlabel="change in selection rate",
    reference=0,
)
plt.show()

# %%
# ``isonomy benchmark`` says who pays for every method that it tries
# (:doc:`guide 10 </guide/10-several-attributes>`).
