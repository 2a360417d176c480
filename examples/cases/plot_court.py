"""
A court: who is held to be dangerous?
=====================================

Broward County in Florida used a score, COMPAS, that tells judges how likely a defendant is to be
arrested again. In 2016 ProPublica published the records and wrote that the score is biased against
black people; its maker answered that it is equally right for both. Both were correct. This page
audits the score, for a reader who has never audited one, and then asks whether a model of our own
would be better.
"""

# %%
# The data, and what they cannot tell
# -----------------------------------
# A row is a defendant of 2013 or 2014; the label is whether there was another arrest within two
# years. The favourable label is that there was none.

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

import isonomy

compas = isonomy.load("compas", filtered=True)
for caveat in compas.info.caveats:
    print("-", caveat)

# %%
# The groups, and which share of each was *not* arrested again. Two of them are very small; we look at
# the two large ones.

print(compas.base_rates().query("attribute == 'race'").round(3).to_string(index=False))
two = compas.sensitive["race"].isin(["African-American", "Caucasian"]).to_numpy()
race = compas.sensitive.loc[two, ["race"]].astype(str)
y = compas.y01[two]

# %%
# The score that the court used
# -----------------------------
# It goes from 1 to 10 and stands aside in this dataset, as it is a prediction and not a fact to learn
# from. ProPublica called a score of 5 or more *at risk*. So the favourable prediction is a score
# below 5.

decile = compas.aside.loc[two, "decile_score"]
low_risk = (decile < 5).astype(int)
audit = isonomy.audit(
    y,
    low_risk,
    sensitive_features=race,
    privileged="Caucasian",
    metrics=[
        "statistical_parity_difference",
        "equal_opportunity_difference",
        "false_positive_rate_difference",
        "precision_difference",
        "error_rate_difference",
    ],
)
figure, axes = plt.subplots(1, 2, figsize=(11, 3.6), layout="constrained")
audit.plot("rates", rate="true_positive_rate", ax=axes[0])
audit.plot(ax=axes[1])
plt.show()

# %%
# What the verdicts mean for people
# ---------------------------------
# The left picture is ProPublica's: of those who were *not* arrested again, which share did the score
# rightly call low risk? The others were held to be dangerous and were not.

people = pd.DataFrame({"race": race["race"], "again": 1 - y, "at risk": 1 - low_risk})
for name, group in people.groupby("race"):
    calm = group[group["again"] == 0]
    print(
        f"{name}: {len(calm):,} were not arrested again; {calm['at risk'].sum():,} of them "
        f"({calm['at risk'].mean():.0%}) had been called a risk."
    )

# %%
# The answer of the score's maker is in the same table. *Precision*: of those who were called low
# risk, about the same share of both races was indeed not arrested again, and the share of wrong
# calls is about the same as well.

shown = audit.frame().dropna(subset=["attribute"])
print(shown[["name", "value", "low", "high", "verdict"]].round(3).to_string(index=False))

# %%
# Both at once cannot be had: where the groups are arrested again at different rates, a score that is
# equally right for those it calls low risk must be unequally wrong about those who were not arrested
# again (Chouldechova 2017; Kleinberg and others 2017). Which of the two should be equal is not a
# question of statistics. The audit can only show that one has been chosen.

# %%
# A model of our own
# ------------------
# Age, earlier arrests and the charge, and neither race nor sex. Is the accuracy of the score worth
# a questionnaire of 137 questions? (Dressel and Farid 2018 asked that first.)

from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

columns = make_column_transformer(
    (
        OneHotEncoder(handle_unknown="ignore", min_frequency=20),
        make_column_selector(dtype_exclude="number"),
    ),
    (StandardScaler(), make_column_selector(dtype_include="number")),
)
learner = make_pipeline(columns, LogisticRegression(max_iter=1000))
X = compas.X.loc[two].drop(columns=["race", "sex"])
ours = cross_val_predict(learner, X, y, cv=5)
print(f"accuracy: the score {(low_risk == y).mean():.3f}, our model {(ours == y).mean():.3f}")

# %%
# Which of the two is fairer?
# ---------------------------
# They are set side by side on the same defendants.

rows = []
for name, predicted in {"the court's score": low_risk, "our model": ours}.items():
    result = isonomy.audit(
        y,
        predicted,
        sensitive_features=race,
        privileged="Caucasian",
        metrics=["equal_opportunity_difference", "precision_difference"],
    )
    found = result.frame().dropna(subset=["attribute"])
    rows += [{"model": f"{name}: {row['label']}", **row} for row in found.to_dict("records")]

from isonomy.plots import plot_intervals

plot_intervals(
    pd.DataFrame(rows), label="model", xlabel="African-American less Caucasian", reference=0
)
plt.show()

# %%
# Which remedy is worth its price?
# --------------------------------
# The aim is equal opportunity: people who will not be arrested again should be called low risk at the
# same rate. All remedies are run on the same splits.

defendants = isonomy.Dataset.from_frame(
    X.drop(columns="c_charge_desc").assign(race=race["race"], calm=y),
    label="calm",
    favorable=1,
    sensitive_features="race",
    privileged="Caucasian",
)
tried = isonomy.benchmark(
    defendants,
    sensitive_features="race",
    methods=["suppression", "reweighing", "fairness_constrained_thresholds", "reject_option"],
    fairness="equal_opportunity_difference",
    tune=False,
    resamples=200,
    backend="serial",
)
tried.plot()
plt.show()

# %%

from isonomy.benchmark import sentences

for sentence in sentences(tried.sections[0]):
    print("-", sentence)

# %%
# What it costs, and whom
# -----------------------
# A threshold per race makes equal what the aim names. Look at what it does to everybody else: whoever
# gains is called low risk now, whoever loses no longer is. It also reads the race of a defendant to
# decide, which a court may not do.

from isonomy.mitigators import FairnessConstrainedThresholds

rule = FairnessConstrainedThresholds(
    learner,
    constraint="equal_opportunity",
    tolerance=0.02,
    randomize=False,
    privileged="Caucasian",
    favorable=1,
)
fair = np.empty_like(y)
for train, test in StratifiedKFold(5).split(X, y):
    rule.fit(X.iloc[train], y[train], sensitive_features=race.iloc[train])
    fair[test] = rule.predict(X.iloc[test], sensitive_features=race.iloc[test])
for name, rows in people.groupby("race").indices.items():
    before, after, truth = ours[rows], fair[rows], y[rows]
    print(
        f"{name}: {(after > before).sum()} now low risk "
        f"({(truth[after > before] == 0).mean():.0%} of them were arrested again), "
        f"{(after < before).sum()} no longer"
    )
print(f"accuracy {(ours == y).mean():.3f} before, {(fair == y).mean():.3f} after")

# %%
# The worst case for one person
# -----------------------------
# Suppose that the model did read the race of a defendant. Each one is scored twice, as he is and as
# the other race: how much can that cost one person? A forest, since the worst case of a logistic
# regression is known exactly and that of a forest is not.

from sklearn.ensemble import RandomForestClassifier

seen = X.drop(columns="c_charge_desc").assign(race=race["race"].astype("category"))
forest = make_pipeline(columns, RandomForestClassifier(60, min_samples_leaf=5, random_state=0))
forest.fit(seen, y)
worst = isonomy.tail(forest, seen, "race", privileged="Caucasian", resamples=200)
for sentence in worst.sentences():
    print("-", sentence)
black = next(g for g in worst.groups if g.name == "African-American")
black.extremes.fit.plot()
plt.show()

# %%
# The people behind the tail, with the score of each and the score as the other race:

print(worst.worst.iloc[:3, :8].to_string(index=False))

# %%
# The report, and a gate
# ----------------------

from isonomy.report import write

Path("out").mkdir(exist_ok=True)
write(audit, Path("out") / "court.html", title="COMPAS: the score of the court")
policy = isonomy.Policy(
    attributes=("race",),
    metrics={"equal_opportunity_difference": (-0.1, 0.1), "precision_difference": (-0.1, 0.1)},
)
gate = isonomy.check(audit, policy)
print(gate.verdict)
for sentence in gate.sentences():
    print("-", sentence)

# %%
# What this audit cannot show
# ---------------------------
# - Crime. The label is an arrest. Where one neighbourhood is policed more than another, the same
#   deeds give more arrests, and a model that predicts arrests well repeats that.
# - What a judge made of the score. It was one thing among others.
# - Which measure is the right one. Equal opportunity and equal precision exclude each other here.
# - Everybody. The filter leaves out defendants whose outcome is not known, and Barenstein (2019) has
#   shown that who was kept depends on the outcome.
