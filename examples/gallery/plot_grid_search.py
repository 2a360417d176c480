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
# The marks are means over five folds and the lines one standard deviation of the folds. Weighting
# the classes, a usual remedy against few favourable labels, selects more people and more men: the
# gap grows.

found = pd.DataFrame(search.cv_results_)
figure, ax = plt.subplots(figsize=(6.5, 4.2), layout="constrained")
for (weight, part), mark, colour in zip(
    found.groupby(found["param_class_weight"].fillna("none")),
    "os",
    ("#0072B2", "#D55E00"),
    strict=True,
):
    ax.errorbar(
        -part["mean_test_gap"], part["mean_test_accuracy"],
        xerr=part["std_test_gap"], yerr=part["std_test_accuracy"],
        fmt=mark, color=colour, elinewidth=0.6, label=f"class weights: {weight}",
    )  # fmt: skip
    for depth, x, height in zip(
        part["param_max_depth"], -part["mean_test_gap"], part["mean_test_accuracy"], strict=True
    ):
        ax.annotate(depth, (x, height), xytext=(5, 5), textcoords="offset points", fontsize=9)
ax.set_xlabel("gap in selection rates (statistical parity difference, size)")
ax.set_ylabel("accuracy")
ax.set_title("The number is the depth of the tree", fontsize=10, loc="left")
ax.legend(frameon=False)
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
