"""
What does a threshold do to each group?
=======================================

One threshold on a score selects groups at different rates. What would it take to select them at the
same rate, or to find the same share of those who qualify, and what does that cost?
"""

# %%
# Scores of incomes
# -----------------
# A model learns from 8,000 people of Adult; thresholds are chosen on 8,000 others and judged on the
# rest.

import numpy as np
from matplotlib import pyplot as plt
from sklearn.ensemble import HistGradientBoostingClassifier

from isonomy import audit, load
from isonomy.mitigators import FairnessConstrainedThresholds

adult = load("adult")
order = np.random.default_rng(0).permutation(len(adult))
learn, choose, judged = order[:8000], order[8000:16_000], order[16_000:]
X, y, sex = adult.X, adult.y01, adult.sensitive["sex"]
model = HistGradientBoostingClassifier(random_state=0).fit(X.iloc[learn], y[learn])
score = model.predict_proba(X)[:, 1]

# %%
# Every threshold at once
# -----------------------

grid = np.linspace(0.02, 0.98, 97)
figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), sharex=True, layout="constrained")
for group, colour, line in (("Female", "#D55E00", "-"), ("Male", "#0072B2", "--")):
    rows = judged[(sex == group).to_numpy()[judged]]
    selected = score[rows][:, None] >= grid
    axes[0].plot(grid, selected.mean(axis=0), line, color=colour, label=group)
    axes[1].plot(grid, selected[y[rows] == 1].mean(axis=0), line, color=colour, label=group)
for ax, name in zip(axes, ("selection rate", "true positive rate"), strict=True):
    ax.axvline(0.5, color="black", linewidth=0.8)
    ax.set(xlabel="threshold", ylabel=name)
axes[0].legend(frameon=False)
plt.show()

# %%
# Thresholds per group
# --------------------
# ``FairnessConstrainedThresholds`` takes, of all thresholds per group, those with the best accuracy
# that keep the constraint. Any scores will do, so the model behind them stays as it is.

s = (sex == "Male").to_numpy().astype(int)
shelf = {"one threshold": (score[judged] >= 0.5).astype(int)}
for constraint in ("demographic_parity", "equal_opportunity"):
    rule = FairnessConstrainedThresholds(constraint=constraint, tolerance=0.02, randomize=False)
    rule.fit_scores(score[choose], (score[choose] >= 0.5).astype(int), y[choose], s[choose])
    shelf[constraint.replace("_", " ")] = rule.adjust(score[judged], None, s[judged])
    print(f"{constraint}: women {rule.thresholds_[0][0]:.2f}, men {rule.thresholds_[1][0]:.2f}")

# %%
# What it costs, and whom
# -----------------------
# Equal selection rates and equal true positive rates are different aims. Whoever has to choose
# should see both, and the accuracy.

for name, predicted in shelf.items():
    result = audit(
        y[judged],
        predicted,
        sensitive_features={"sex": sex.iloc[judged]},
        privileged="Male",
        metrics=["accuracy", "statistical_parity_difference", "equal_opportunity_difference"],
    )
    print(name, result.frame().set_index("label")["value"].round(3).to_dict())
