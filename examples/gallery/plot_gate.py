"""
How do I keep an unfair model from being released?
==================================================

A gate sets the audit of a model against a policy: accepted ranges, and what happens where there is
too little evidence. Its answers are *pass*, *violated* and *too little evidence*.
"""

# %%
# Three candidates
# ----------------
# A model of incomes as it is; the same with thresholds per group; and the latter, tested on 200
# people only.

import pandas as pd
from matplotlib import pyplot as plt
from sklearn.ensemble import HistGradientBoostingClassifier

from isonomy import Policy, check, load
from isonomy.mitigators import FairnessConstrainedThresholds
from isonomy.plots import plot_intervals

adult = load("adult")
data = adult.X.assign(favorable=adult.y01).sample(20_000, random_state=0)
learn, test = data[:8000], data[8000:]
plain = HistGradientBoostingClassifier(random_state=0)
candidates = {"as it is": plain, "thresholds": FairnessConstrainedThresholds(plain, tolerance=0.05)}
decided = {}
for name, model in candidates.items():
    more = {} if name == "as it is" else {"sensitive_features": learn["sex"]}
    model.fit(learn.drop(columns="favorable"), learn["favorable"], **more)
    more = {} if name == "as it is" else {"sensitive_features": test["sex"]}
    decided[name] = test[["sex", "favorable"]].assign(
        y_true=test["favorable"], y_pred=model.predict(test.drop(columns="favorable"), **more)
    )
decided["thresholds, 200 people"] = decided["thresholds"][:200]

# %%
# One policy
# ----------
# In a project it is a file, ``isonomy.toml``, which ``isonomy check``, pytest, pre-commit and MLflow
# read as well.

policy = Policy(attributes=("sex",), metrics={"statistical_parity_difference": (-0.1, 0.1)})
rows = []
for name, predictions in decided.items():
    done = check(predictions, policy)
    print(f"{name}: {done.verdict} (exit code {done.exit_code})")
    rows += [{"candidate": name, **row} for row in done.frame().to_dict("records")]
table = pd.DataFrame(rows)

# %%
# Thin evidence is an answer of its own
# -------------------------------------
# The third candidate is the second one, looked at less closely: a gate that let it pass would reward
# small test sets.

words = {"too little evidence": "insufficient evidence"}
ax = plt.subplots(figsize=(7, 2.8), layout="constrained")[1]
plot_intervals(
    table.assign(verdict=table["state"].replace(words)),
    label="candidate",
    xlabel="share predicted to earn more: the larger less the smaller",
    reference=0,
    ax=ax,
)
plt.show()
