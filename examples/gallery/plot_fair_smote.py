"""
What does a method do inside? Fair-SMOTE, step by step
======================================================

Fair-SMOTE fills the small cells of class and group with synthetic rows and then drops the rows
whose prediction depends on the group. Here each step is done separately on Adult, and an audit shows
the effect on the attribute that was mitigated and on the one that was not.
"""

# %%
# The cells
# ---------
# The preparation of Chen et al. (2023): every level of a category is a column, all between 0 and 1.

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

from isonomy.audit import audit
from isonomy.data import load, make_splits, prepare, rows_of
from isonomy.mitigators import FairSmote, Unmitigated
from isonomy.models import make_model
from isonomy.plots import plot_intervals

adult = load("adult")
split = make_splits(adult, splitter="chen", rows=rows_of(adult, "chen"))[0]
ready = prepare(adult, "chen", attribute="sex", split=split)
X, y, s = ready.X_train, ready.y_train.astype(int), ready.s_train.astype(int)
column = ready.columns["sex"]


def cells(y: np.ndarray, s: np.ndarray) -> pd.DataFrame:
    """Count the rows of each class and group."""
    table = np.bincount(2 * y + s, minlength=4).reshape(2, 2)
    return pd.DataFrame(table, ["<=50K", ">50K"], ["Female", "Male"])


print(cells(y, s))

# %%
# Balancing
# ---------
# Every cell is filled to the size of the largest. A synthetic row comes from a parent and its two
# nearest neighbours in the cell; numbers stay in the range of their column and a one-hot block
# keeps its single 1.

method = FairSmote(situation_testing=False, sensitive_columns=[column])
X_even, y_even, s_even, _ = method.resample(X, y, s)
print(cells(y_even, s_even))
print(method.kinds_, method.n_synthetic_, "synthetic rows")
made = X_even[len(X) :]
print("lowest and highest synthetic value:", made.min(), made.max())

# %%
# The released code treats every column but the protected ones as a number, so that its rows leave
# the domain: ``protocol="as_published"`` shows it.

released = FairSmote(
    situation_testing=False, sensitive_columns=[column], protocol="as_published"
).resample(X, y, s)[0][len(X) :]
print("as published:", released.min(), released.max())

# %%
# Situation testing
# -----------------
# A row is dropped if the label that a model predicts for it changes with the protected value.

method = FairSmote(balance=False, sensitive_columns=[column])
method.resample(X, y, s)
print(f"{method.n_removed_:,} of {len(X):,} rows are decided by sex alone")

# %%
# What it does to the predictions
# -------------------------------
# Both attributes are audited, also the one that was not mitigated.

people = pd.DataFrame({a: ready.X_test[:, j].astype(int) for a, j in ready.columns.items()})
learner = make_model("lr")
shelf = {
    "unmitigated": Unmitigated(learner),
    "balancing only": FairSmote(learner, situation_testing=False),
    "situation testing only": FairSmote(learner, balance=False),
    "both": FairSmote(learner),
    "both, as published": FairSmote(learner, protocol="as_published"),
}
rows, gaps = [], []
for name, model in shelf.items():
    model.set_params(sensitive_columns=[column], privileged=1)
    model.fit(X, y, sensitive_features=s)
    labels = model.predict(ready.X_test)
    row = {"": name, "accuracy": (labels == ready.y_test).mean()}
    result = audit(
        ready.y_test,
        labels,
        sensitive_features=people,
        privileged={"sex": 1, "race": 1},
        metrics=["statistical_parity_difference", "equal_opportunity_difference"],
    )
    row |= {f"{f.label} {f.attribute}": f.value for f in result.metrics if f.attribute}
    rows.append(row)
    gaps.append(result.frame().dropna(subset=["attribute"]).assign(method=name))
print(pd.DataFrame(rows).to_string(index=False, float_format="{:.3f}".format))

# %%
# The same with intervals
# -----------------------

table = pd.concat(gaps)
table = table[table["label"] == "SPD"]
figure, axes = plt.subplots(1, 2, figsize=(11, 3.4), layout="constrained", sharex=True)
for ax, (attribute, part) in zip(axes, table.groupby("attribute", sort=False), strict=True):
    plot_intervals(
        part, label="method", xlabel=f"selection rates by {attribute}, gap", reference=0, ax=ax
    )
plt.show()
