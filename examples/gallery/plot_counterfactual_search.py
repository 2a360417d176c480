"""
Is there anybody whom the model would treat worse?
==================================================

The data hold the people who came. A search starts from those whom their group costs most and asks
the model about people like them, within the values that were observed: how much worse can it get?
"""

# %%
# A forest that decides on mortgages
# ----------------------------------
# Boston, 1990. The forest sees the race of the applicant, as a model that learns from every column
# does.

import numpy as np
from matplotlib import pyplot as plt
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from isonomy import load, tail
from isonomy.counterfactual import seek_tail

loans = load("boston_hmda")
known = loans.sensitive["race"].isin(["black", "white"]).to_numpy()
X, y = loans.X.loc[known].drop(columns="sex"), loans.y01[known]
X["race"] = X["race"].cat.remove_unused_categories()
model = make_pipeline(
    make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
        (SimpleImputer(), make_column_selector(dtype_include="number")),
    ),
    RandomForestClassifier(60, min_samples_leaf=3, random_state=0),
).fit(X, y)

# %%
# The worst among those who came
# ------------------------------
# Every applicant is scored as he is and as the other race, everything else the same. CD is what the
# own race costs in probability of approval.

report = tail(model, X, "race", privileged="white", resamples=200)
for sentence in report.sentences():
    print("-", sentence)

# %%
# The search
# ----------

found = seek_tail(
    model, X, "race", pairs=report.pairs, starts=8, rounds=12, queries=6000, random_state=0
)
table = found.frame()
print(
    table[["group", "start_cd", "cd", "changes"]].round(3).to_string(index=False, max_colwidth=90)
)

# %%
# From the worst applicant to someone like him
# --------------------------------------------
# Each arrow is one search. Where arrows are long, the data were kind: the model can treat people
# worse than it has shown so far. Such a person need not exist; whether one could is for someone to
# judge who knows the applications.

figure, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
for row, (start, end) in enumerate(zip(table["start_cd"], table["cd"], strict=True)):
    ax.annotate("", (end, row), (start, row), arrowprops={"arrowstyle": "->", "color": "#0072B2"})
ax.plot(table["start_cd"], np.arange(len(table)), "o", color="black", label="an applicant")
ax.plot(table["cd"], np.arange(len(table)), "D", color="#D55E00", label="found by the search")
ax.set_yticks(range(len(table)), [f"search {k + 1}, {g}" for k, g in enumerate(table["group"])])
ax.invert_yaxis()
ax.set_xlim(left=0)
ax.set_xlabel("what belonging to the group costs, in probability of approval (CD)")
ax.legend(frameon=False, loc="lower left")
plt.show()
