"""
How many people does a verdict take?
====================================

The same model, audited on more and more people. With few, nothing can be said, and the audit says
so. A gap does not become *within* because too little was looked at.
"""

# %%
# A model of incomes
# ------------------
# It learns from 4,000 people of `Adult <https://archive.ics.uci.edu/dataset/2/adult>`__ and is
# audited on people it has not seen. The question: of those who do *not* earn more than 50,000
# dollars, are men and women taken for high earners alike, give or take 0.1?

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from sklearn.ensemble import HistGradientBoostingClassifier

from isonomy import audit, load
from isonomy.plots import plot_intervals

adult = load("adult")
order = np.random.default_rng(0).permutation(len(adult))
learn, rest = order[:4000], order[4000:]
model = HistGradientBoostingClassifier(random_state=0).fit(adult.X.iloc[learn], adult.y.iloc[learn])

# %%
# 100, 300, 1,000 ... people
# --------------------------

rows = []
for n in (100, 300, 1_000, 3_000, 40_000):
    people = rest[:n]
    result = audit(
        adult.y.iloc[people],
        model.predict(adult.X.iloc[people]),
        sensitive_features=adult.sensitive[["sex"]].iloc[people],
        privileged="Male",
        favorable=">50K",
        metrics=["false_positive_rate_difference"],
    )
    (gap,) = result.frame().query("attribute == 'sex'").to_dict("records")
    rows.append({"people": f"{n:,} people", **gap})
table = pd.DataFrame(rows)
print(table[["people", "value", "low", "high", "verdict"]].round(3).to_string(index=False))

# %%
# The interval shrinks with the square root of the rows, and a verdict is given once it lies
# wholly on one side of a limit. A circle without filling is *insufficient evidence*, not a pass.

plot_intervals(
    table,
    label="people",
    xlabel="share wrongly taken for high earners: women less men",
    reference=0,
)
plt.show()

# %%
# How many would do?
# ------------------
# Where an audit cannot tell, it says how many rows would decide, were the rates to stay as they are.

for reason in table["reason"].dropna():
    print("-", reason)
