"""
How do I choose parameters by fairness, too?
============================================

``isonomy.scorer`` makes any metric a scorer of scikit-learn, so that ``GridSearchCV`` measures the
gap of every setting beside its accuracy.
"""

# %%
# One search, two scores
# ----------------------
# Decision trees on a sample of Adult. The scorer reads the attribute from a column of X. Greater is
# better, as scikit-learn has it: a gap of 0.1 scores -0.1.

import pandas as pd
from matplotlib import pyplot as plt
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from isonomy import audit, load, scorer

adult = load("adult")
sample = adult.X.assign(favorable=adult.y01).dropna().sample(8000, random_state=0)
y = sample.pop("favorable")
X = pd.get_dummies(sample.drop(columns=["race"]))
X = X.rename(columns={"sex_Male": "male"}).drop(columns="sex_Female")
train, test = X.index[:5000], X.index[5000:]

gap = scorer("statistical_parity_difference", sensitive_features="male", privileged=True)
search = GridSearchCV(
    DecisionTreeClassifier(random_state=0),
    {"max_depth": [1, 2, 3, 4, 6, 8, 12], "class_weight": [None, "balanced"]},
    scoring={"accuracy": "accuracy", "gap": gap},
    refit="accuracy",
    cv=5,
).fit(X.loc[train], y[train])

# %%
# What the settings cost and save
# -------------------------------
# Means over five folds, and one standard deviation of the folds. Weighting the classes, a usual remedy
# where few labels are favourable, selects more people and above all more men: the gap grows. A tree
# of depth 1 selects nobody, which is fair and useless.

found = pd.DataFrame(search.cv_results_)
found["size"] = -found["mean_test_gap"]
figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained", sharex=True)
panels = {"accuracy": ("mean_test_accuracy", "std_test_accuracy"), "gap": ("size", "std_test_gap")}
for ax, (name, (mean, spread)) in zip(axes, panels.items(), strict=True):
    for weight, style, colour in (("none", "o-", "#0072B2"), ("balanced", "s--", "#D55E00")):
        part = found[found["param_class_weight"].fillna("none") == weight]
        ax.errorbar(
            part["param_max_depth"], part[mean], yerr=part[spread], fmt=style, color=colour,
            capsize=2, label=f"class weights: {weight}",
        )  # fmt: skip
    ax.set(xlabel="depth of the tree", ylabel=name)
axes[1].set_ylabel("gap in selection rates, size")
axes[0].legend(frameon=False, loc="lower right")
plt.show()

# %%
# Judge the choice on people whom the search has not seen
# -------------------------------------------------------
# Scores of folds have no intervals and have been searched. An audit of held-out rows has neither
# fault.

print("chosen:", search.best_params_)
result = audit(
    y[test],
    search.predict(X.loc[test]),
    sensitive_features={"male": X.loc[test, "male"]},
    privileged=True,
)
result.plot()
plt.show()
