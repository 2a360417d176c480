"""
Are the gaps real? An audit with intervals
==========================================

The first question about a model: how does it treat each group, and is what one sees more than
chance? Replace the data by your own labels, predictions and protected attributes.
"""

# %%
# A model, and people it has not seen
# -----------------------------------
# Does a person earn more than 50,000 dollars a year? Adult, a census sample of 1994.

import numpy as np
from matplotlib import pyplot as plt
from sklearn.ensemble import HistGradientBoostingClassifier

from isonomy import audit, load

adult = load("adult")
order = np.random.default_rng(0).permutation(len(adult))
learn, test = order[:8000], order[8000:16_000]
model = HistGradientBoostingClassifier(random_state=0).fit(adult.X.iloc[learn], adult.y.iloc[learn])
predicted = model.predict(adult.X.iloc[test])

# %%
# Gaps over their accepted ranges, and rates by group
# ---------------------------------------------------
# Grey is the range that is accepted: ±0.1 unless you say otherwise. A filled mark is a verdict,
# *within* or *violated*: the whole interval lies on one side. A circle is *insufficient evidence*.

result = audit(
    adult.y.iloc[test],
    predicted,
    sensitive_features=adult.sensitive[["sex", "race"]].iloc[test],
    favorable=">50K",
    privileged={"sex": "Male", "race": "White"},
)
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5.2), layout="constrained")
result.plot(ax=left)
result.plot("rates", rate="true_positive_rate", ax=right)
plt.show()

# %%
# The same as a table, with the reason of each verdict
# ----------------------------------------------------

table = result.frame().dropna(subset=["attribute"])
print(table[["attribute", "label", "value", "low", "high", "verdict"]].round(3).to_string())
for note in result.notes:
    print("-", note)

# %%
# Ratios need an axis of logarithms
# ---------------------------------
# Disparate impact is a ratio: 0.5 and 2 are as far from 1.

result.plot("ratios")
plt.show()
