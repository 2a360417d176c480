"""
Is there a group nobody asked about?
====================================

An audit compares the groups you name. A scan searches every combination of the columns it is given
for groups whose rates differ from everybody else's, and keeps its level over all of them.
"""

# %%
# A model of incomes, and people it has not seen
# ----------------------------------------------

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from sklearn.ensemble import HistGradientBoostingClassifier

from isonomy import load, scan
from isonomy.plots import plot_intervals

adult = load("adult")
order = np.random.default_rng(0).permutation(len(adult))
learn, test = order[:8000], order[8000:20_000]
model = HistGradientBoostingClassifier(random_state=0).fit(adult.X.iloc[learn], adult.y01[learn])
predicted = model.predict(adult.X.iloc[test])
people = adult.X.iloc[test][["sex", "race", "age", "workclass"]]

# %%
# Search one half, confirm on the other
# -------------------------------------
# Who is missed most often, of those who do earn more than 50,000 dollars? Numbers such as age are
# cut into quarters. What the first half shows is a hypothesis; ``confirm=True`` tests it on the
# second half, which was not searched.

found = scan(
    adult.y01[test],
    predicted,
    sensitive_features=people,
    rates=["false_negative_rate"],
    depth=2,
    confirm=True,
)
print(found.headline())
print(f"{sum(found.searched.values())} groups were compared.")

# %%
# The groups, on the half that was searched and on the half that was not
# ----------------------------------------------------------------------
# The intervals of the half that was searched hold for all groups together, so they are wider. A
# difference above 0 means that the model misses more people of this group than of everybody else.

table = found.frame()
print(table[["group", "rows", "value", "others", "p_value", "confirmed"]].round(3).to_string())
searched = table.assign(half="searched", value=table["difference"])
confirmed = table.assign(
    half="held out",
    value=table["difference_confirm"],
    low=table["low_confirm"],
    high=table["high_confirm"],
)
columns = ["group", "half", "value", "low", "high"]
both = pd.concat([searched[columns], confirmed[columns]])
both["group"] = pd.Categorical(both["group"], table["group"], ordered=True)
plot_intervals(
    both.sort_values("group", kind="stable"),
    label="half",
    section="group",
    xlabel="share of high earners missed: this group less everybody else",
    reference=0,
)
plt.show()

# %%
# On the command line: ``isonomy audit FILE --sensitive sex,race,age --scan --confirm``
# (:doc:`how to </how-to/scan>`).
