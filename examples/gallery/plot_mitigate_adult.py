"""
What do mitigators do, also to those nobody asked about?
========================================================

A pipeline on raw columns, text labels, two protected attributes: reweighing takes ten
lines. Then several methods that need only the base learner are compared, with the effect on the
attribute that was *not* mitigated.
"""

# %%
# Ten lines
# ---------

import pandas as pd
from matplotlib import pyplot as plt
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from isonomy import audit
from isonomy.data import load, make_splits
from isonomy.mitigators import Reweighing, make_mitigator
from isonomy.plots import plot_intervals

adult = load("adult")
split = make_splits(adult)[0]
X = adult.X.loc[adult.X.notna().all(axis=1)].sample(12_000, random_state=0)
train, test = X.index.intersection(split.train), X.index.intersection(split.test)
words = make_column_selector(dtype_exclude="number")
columns = make_column_transformer(
    (OneHotEncoder(handle_unknown="ignore"), words), remainder=StandardScaler()
)
learner = make_pipeline(columns, LogisticRegression(max_iter=1000))
model = Reweighing(learner, favorable=">50K", privileged="Male")
model.fit(X.loc[train], adult.y.loc[train], sensitive_features=X.loc[train, "sex"])
print(model.predict(X.loc[test])[:5], model.groups_, model.privileged_)

# %%
# Side by side
# ------------
# Each method mitigates the gap by ``sex``; ``race`` shows the effect on another attribute.

METHODS = ["unmitigated", "suppression", "reweighing", "disparate_impact_remover"]
METHODS += ["equalized_odds", "fairness_constrained_thresholds"]

y = adult.y.loc[test]
rows = []
for name in METHODS:
    method = make_mitigator(name, learner, favorable=">50K", sensitive_columns="sex")
    method.fit(X.loc[train], adult.y.loc[train])
    labels = method.predict(X.loc[test])
    result = audit(
        y,
        labels,
        sensitive_features=X.loc[test, ["sex", "race"]],
        favorable=">50K",
        privileged={"sex": "Male", "race": "White"},
        metrics=["statistical_parity_difference"],
    )
    gaps = result.frame().dropna(subset=["attribute"])
    gaps = gaps.assign(method=f"{name.replace('_', ' ')}", accuracy=(labels == y).mean())
    rows.append(gaps)
table = pd.concat(rows)
print(
    table.pivot_table(index=["method", "accuracy"], columns="attribute", values="value", sort=False)
    .round(3)
    .reset_index()
    .to_string(index=False)
)

# %%
# The gaps with their intervals
# -----------------------------
# To the left what was asked for, to the right what was not.

figure, axes = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained", sharex=True)
for ax, (attribute, part) in zip(axes, table.groupby("attribute", sort=False), strict=True):
    plot_intervals(
        part, label="method", xlabel=f"selection rates by {attribute}, gap", reference=0, ax=ax
    )
plt.show()
