"""
How do I write the audit into a model card?
===========================================

Most of what a model card says of fairness is in the audit: who was tested, the rates of every group,
the gaps with their intervals. What no audit can know is marked as missing.
"""

# %%
# A model and its audit
# ---------------------
# Whether a client of a bank takes a term deposit when called, by age.

import numpy as np
from matplotlib import pyplot as plt
from sklearn.ensemble import HistGradientBoostingClassifier

from isonomy import audit, load

bank = load("bank")
order = np.random.default_rng(0).permutation(len(bank))
learn, test = order[:8000], order[8000:20_000]
X = bank.X.drop(columns="duration")  # known only after the call
model = HistGradientBoostingClassifier(random_state=0).fit(X.iloc[learn], bank.y01[learn])
result = audit(
    bank.y01[test],
    model.predict(X.iloc[test]),
    sensitive_features=bank.sensitive.iloc[test],
    privileged=bank.privileged,
)
figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
result.plot(ax=axes[0])
result.plot("rates", ax=axes[1])
plt.show()

# %%
# The card
# --------
# Markdown in the layout of Hugging Face. ``fields`` fills in what a person knows.

card = result.to_model_card(
    model="term-deposit-calls",
    dataset="calls of a Portuguese bank, 2008 to 2010",
    fields={"Direct Use": "The order in which clients are called. Nobody is refused anything."},
)
start = card.index("# Model Card")
print(card[start : start + 1500], "...")

# %%
# What is still missing
# ---------------------

gaps = [line for line in card.splitlines() if "[More Information Needed]" in line]
print(len(gaps), "fields are left to the people who made the model:")
print("\n".join(gaps[:5]))
