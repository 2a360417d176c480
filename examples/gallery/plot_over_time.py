"""
Has the gap moved since last month?
===================================

Looking at twelve intervals each month finds a change sooner or later where there is none. The test
of an audit over time keeps its level over all periods and gaps, however long one looks.
"""

# %%
# A year of decisions
# -------------------
# The rows are generated, as no public data has dated decisions. In August the model is replaced by
# one that says yes to more of one group.

import numpy as np
from matplotlib import pyplot as plt
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

from isonomy import audit_over_time, load

data = load("synthetic", n=6000)
y, group = data.y01, data.sensitive["group"]
X = data.X.select_dtypes("number").assign(group=group == "privileged")
predicted = cross_val_predict(LogisticRegression(), X, y, cv=5)
months = np.arange("2026-01", "2027-01", dtype="datetime64[M]")
when = months[np.arange(len(y)) * len(months) // len(y)]
rng = np.random.default_rng(2026)
yes = (group != "privileged") & (when >= np.datetime64("2026-08")) & (rng.random(len(y)) < 0.3)
decided = np.where(yes, 1, predicted)

# %%
# When was it seen?
# -----------------
# The gap closes by and by, and the test says from which month on, and after which month it could be
# said. A gap that moves towards its accepted range moves, too: the sign tells which way.

over = audit_over_time(
    y, decided, sensitive_features={"group": group}, when=when, privileged="privileged"
)
for sentence in over.sentences():
    print(sentence)
over.plot("equal_opportunity_difference")
plt.show()

# %%
# Every month, from a file
# ------------------------
# From a file, the same is ``isonomy audit decisions.csv --by month``; with ``--fail-on any`` a job
# that runs each month ends with an error as soon as a gap has moved.
