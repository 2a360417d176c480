"""
Plots of an audit: gaps, rates by group, and a year of decisions
================================================================

What a paper or a notebook shows of an audit, as matplotlib Axes. Replace the data by your own labels,
predictions, protected attributes and dates.
"""

# %%
# A model, and a year of its decisions
# ------------------------------------
# The rows are generated. In August the model is replaced by one that says yes to more of one group.

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict, cross_val_score
from sklearn.tree import DecisionTreeClassifier

from isonomy import audit, audit_over_time, judge, load, scorer
from isonomy.mitigators import Reweighing
from isonomy.stats import friedman_nemenyi

OUT = Path("out/plot_audit")
OUT.mkdir(parents=True, exist_ok=True)

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
# Gaps over their accepted ranges, and rates by group
# ---------------------------------------------------

result = audit(y, decided, sensitive_features={"group": group}, privileged="privileged")
figure = Figure(figsize=(11, 4.2), layout="constrained")
left, right = figure.subplots(1, 2)
result.plot(ax=left)
result.plot("rates", rate="true_positive_rate", ax=right)
figure.savefig(OUT / "gaps_and_rates.png", dpi=150)
print(result)

# %%
# Has a gap moved?
# ----------------
# The test keeps its level over all periods, past and to come.

over = audit_over_time(
    y, decided, sensitive_features={"group": group}, when=when, privileged="privileged"
)
over.plot("equal_opportunity_difference").figure.savefig(OUT / "over_time.png", dpi=150)
for sentence in over.sentences():
    print(sentence)

# %%
# Was a mitigation worth it?
# --------------------------

fair = cross_val_predict(
    Reweighing(LogisticRegression(), sensitive_columns="group", privileged=True),
    X,
    y,
    cv=5,
    params={"sensitive_features": X["group"]},
)
found = judge(y, predicted, fair, sensitive_features={"group": group}, privileged="privileged")
found.plot("reweighing").figure.savefig(OUT / "trade_off.png", dpi=150)
print(found)

# %%
# Which of several models is fairer? Ranks over folds
# ---------------------------------------------------

gap = scorer("statistical_parity_difference", sensitive_features="group")
models = {
    "logistic regression": LogisticRegression(),
    **{
        f"tree of depth {k}": DecisionTreeClassifier(max_depth=k, random_state=0) for k in (2, 4, 8)
    },
}
scores = [cross_val_score(model, X, y, scoring=gap, cv=10) for model in models.values()]
ranks = friedman_nemenyi(np.transpose(scores), labels=list(models))
ranks.plot().figure.savefig(OUT / "ranks.png", dpi=150)
print(f"Wrote {len(list(OUT.glob('*.png')))} plots to {OUT}")
