"""
How do I read a small group?
============================

A rate of a few dozen people is mostly chance: the highest and the lowest rate of an audit often
belong to its smallest groups. Three things help: the interval, the *partially pooled* rate, and
patience.
"""

# %%
# An audit of 2,000 people
# ------------------------
# Which share of each group does a model select as high earners? Two of the groups of Adult are
# small.

import numpy as np
from matplotlib import pyplot as plt
from sklearn.ensemble import HistGradientBoostingClassifier

from isonomy import audit, load

adult = load("adult")
order = np.random.default_rng(1).permutation(len(adult))
learn, few, many = order[:4000], order[4000:6000], order[6000:]
model = HistGradientBoostingClassifier(random_state=0).fit(adult.X.iloc[learn], adult.y01[learn])


def audited(rows: np.ndarray):
    """Audit the model on some people."""
    return audit(
        adult.y01[rows],
        model.predict(adult.X.iloc[rows]),
        sensitive_features=adult.sensitive[["race"]].iloc[rows],
        privileged="White",
    )


result = audited(few)
rates = result.frame("groups").query("name == 'selection_rate'").set_index("group")
print(rates[["rows", "value", "low", "high", "pooled"]].round(3))

# %%
# Measured, pooled, true
# ----------------------
# The pooled rate is each group's rate drawn towards that of all groups, the more the fewer people it
# has. It is the better guess, and it is a guess: no verdict uses it. Since Adult is large, we can
# look at what the rates are among the 42,000 people who were left out.

truth = audited(many).frame("groups").query("name == 'selection_rate'").set_index("group")
ax = result.plot("rates", attribute="race")
y = np.arange(len(rates))
ax.plot(rates["pooled"], y + 0.22, "D", color="#D55E00", markersize=6, label="partially pooled")
ax.plot(truth.loc[rates.index, "value"], y - 0.22, "k*", markersize=9, label="among all the others")
ax.legend(fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(0, -0.25), ncols=2)
plt.show()

# %%
# Fewer than 30
# -------------
# A group with fewer than 30 rows behind a rate is shown but compared with nobody, and the audit says
# so below its table.

for note in result.notes:
    print("-", note)
