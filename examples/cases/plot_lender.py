"""
A lender: who gets a mortgage?
==============================

A bank wants to let a model answer applications for mortgages first, and has learned it from the
decisions of its officers. Before it does, somebody has to answer for the model: does it treat black
and Hispanic applicants like white ones, what can be done about it, and what would that cost whom?

This page goes the whole way once, for a reader who has never audited a model. Nothing is needed
besides scikit-learn and Isonomy; every number below was computed when the page was built.
"""

# %%
# The data, and what they cannot tell
# -----------------------------------
# In 1990 the Federal Reserve Bank of Boston asked the lenders of the area about their applications
# for mortgages. A row is an application; the label is whether it was approved.

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

import isonomy

loans = isonomy.load("boston_hmda")
print(loans.base_rates().round(3).to_string(index=False))

# %%
# Whoever audits reads the caveats first. The second thought of every audit belongs to the label:
# here it is what officers *decided*, not whether a loan was repaid. If they were unfair, a model
# that repeats them perfectly has an accuracy of 100 % and is as unfair as they were.

for caveat in loans.info.caveats:
    print("-", caveat)

# %%
# The model
# ---------
# A logistic regression, the kind that lenders use. Race and sex are left out of it, as the law asks:
# many people expect that this settles the matter. The model predicts each application by a fit that
# has not seen it, so that all 1,989 can be audited.

from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

columns = make_column_transformer(
    (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
    (
        make_pipeline(SimpleImputer(), StandardScaler()),
        make_column_selector(dtype_include="number"),
    ),
)
learner = make_pipeline(columns, LogisticRegression(max_iter=1000))
X = loans.X.drop(columns=["race", "sex"])
y = loans.y01
score = cross_val_predict(learner, X, y, cv=5, method="predict_proba")[:, 1]

# %%
# Since nearly nine of ten are approved, the model would approve almost everybody at a score of one
# half. The bank wants to approve as many as its officers did: it cuts where that is so.

cut = np.quantile(score, 1 - y.mean())
approved = (score >= cut).astype(int)
print(f"cut at {cut:.2f}; accuracy {(approved == y).mean():.3f}, approved {approved.mean():.3f}")

# %%
# The audit
# ---------
# One call. ``privileged`` names the group that the others are compared with; it is a role in a
# comparison, not a claim about people.

audit = isonomy.audit(
    y,
    approved,
    sensitive_features=loans.sensitive,
    score=score,
    privileged={"race": "white", "sex": "male"},
    X=loans.X,
)
figure, axes = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
audit.plot("rates", ax=axes[0])
audit.plot(attribute="race", ax=axes[1])
plt.show()

# %%
# How to read it
# --------------
# To the left, the share that is approved in each group, with an interval: were many such samples
# drawn, 95 % of such intervals would hold the true rate. Small groups have wide ones.
#
# To the right, the gaps by race. Grey is what this audit accepts: 0.1 either way. It is a convention
# and you should choose your own. A filled mark outside of the grey is *violated*: the whole interval
# lies beyond. A circle is *insufficient evidence*: the interval crosses the limit. That is not an
# acquittal; it says that these rows cannot tell.

table = audit.frame()
by_race = table[table["attribute"] == "race"]
print(by_race[["name", "value", "low", "high", "verdict"]].round(3).to_string(index=False))

# %%
# And single groups against white applicants, for the two gaps that concern most people:

single = audit.frame("comparisons")
single = single[single["label"].isin(["SPD", "EOD"])]
print(single[["label", "comparison", "value", "low", "high", "verdict"]].round(3).to_string())

# %%
# What the verdicts mean for people
# ---------------------------------
# A gap is a number; a *shortfall* is people: how many more of a group would have been approved at
# the rate of white applicants. And of those whom an officer had approved, how many does the model
# refuse?

white = approved[(loans.sensitive["race"] == "white").to_numpy()].mean()
people = pd.DataFrame({"race": loans.sensitive["race"], "officer": y, "model": approved})
for race, group in people.groupby("race", observed=True):
    lost = group[(group["officer"] == 1) & (group["model"] == 0)]
    won = group[(group["officer"] == 0) & (group["model"] == 1)]
    print(
        f"{race:9} {len(group):5,} applicants; short of the rate of white ones: "
        f"{max(0.0, (white - group['model'].mean()) * len(group)):4.1f}; "
        f"refused against the officer: {len(lost) / (group['officer'] == 1).sum():.1%}, "
        f"approved against the officer: {len(won) / (group['officer'] == 0).sum():.1%}"
    )

# %%
# Leaving race out has not settled the matter. What goes with race does its work: debts, the
# neighbourhood, the size of the loan against the price of the house. The audit also names columns
# that look protected and that nobody has asked about:

print(audit.unexamined)

# %%
# Would equally good credit explain it?
# -------------------------------------
# The first thing an officer would say is that the applicants differ. Within strata the audit
# compares people with the same credit history only.

within = isonomy.audit(
    y,
    approved,
    sensitive_features=loans.sensitive[["race"]],
    privileged="white",
    strata=loans.X["chist"].map({1: "in order", 0: "delinquent"}),
    metrics=["statistical_parity_difference"],
)
strata = within.frame("conditional")
print(strata.round(3).T.to_string(header=False))

# %%
# Which remedy is worth its price?
# --------------------------------
# Every remedy is run on the same splits, and compared with two simple ones: overwriting predictions
# at random (the line), and a threshold per group (the broken line). What is below the line is not
# worth having. Four remedies are tried here so that this page is built quickly; ``isonomy benchmark
# boston_hmda --sensitive race`` tries all. The original model sees every column, race included;
# *suppression* is the model above, from which race was left out.

tried = isonomy.benchmark(
    loans,
    sensitive_features="race",
    methods=["suppression", "reweighing", "fairness_constrained_thresholds", "reject_option"],
    performance="balanced_accuracy",
    tune=False,
    resamples=200,
    backend="serial",
)
tried.plot()
plt.show()

# %%
# In words:

from isonomy.benchmark import sentences

for sentence in sentences(tried.sections[0]):
    print("-", sentence)

# %%
# What it costs, and whom
# -----------------------
# An average price hides who pays it. Reweighing gives the applications of each race and decision the
# weight they would have were the two independent. Whose decision does it change?

from isonomy.mitigators import Reweighing

fair = Reweighing(learner, privileged="white", favorable=1, sensitive_columns=[])
race = loans.sensitive["race"]
weighed = cross_val_predict(
    fair, X, y, cv=5, method="predict_proba", params={"sensitive_features": race}
)[:, 1]
weighed_approved = (weighed >= np.quantile(weighed, 1 - y.mean())).astype(int)
changed = pd.DataFrame({"race": race, "before": approved, "after": weighed_approved})
moved = changed.groupby("race", observed=True).apply(
    lambda g: pd.Series(
        {
            "applicants": len(g),
            "now approved": int((g["after"] > g["before"]).sum()),
            "now refused": int((g["after"] < g["before"]).sum()),
            "rate before": g["before"].mean(),
            "rate after": g["after"].mean(),
        }
    ),
    include_groups=False,
)
print(moved.round(3))
print(f"accuracy {(approved == y).mean():.3f} before, {(weighed_approved == y).mean():.3f} after")

# %%
# The worst case for one person
# -----------------------------
# An average over a group says little about the one who is hit hardest. If the model *does* see race,
# as one trained on all columns would, each applicant can be scored twice: as he is, and with the
# other race on the form, everything else the same. The difference is what his race costs him.

seen = loans.X.drop(columns="sex")
known = race.isin(["black", "white"]).to_numpy()
seen = seen[known].assign(race=race[known].cat.remove_unused_categories())
sighted = make_pipeline(columns, LogisticRegression(max_iter=1000)).fit(seen, y[known])
worst = isonomy.tail(sighted, seen, "race", privileged="white", resamples=200)
for sentence in worst.sentences():
    print("-", sentence)

# %%
# The curve is the *return level*: what one applicant in so many pays at least, with its interval.

black = next(g for g in worst.groups if g.name == "black")
black.extremes.fit.plot()
plt.show()

# %%
# For the model of this bank, which sees no race, this test gives exactly 0 for everybody, and the
# gaps above are there all the same. A tail of 0 is no proof of fairness; it answers one question.

# %%
# The report, and a gate
# ----------------------
# The page for the file, with the verdict first, and a policy for all versions to come. The gate says
# *violated*, and it should: a model with these gaps ought not to be released.

from isonomy.report import write

Path("out").mkdir(exist_ok=True)
write(audit, Path("out") / "lender.html", title="Mortgages: the model of 1990")
policy = isonomy.Policy(
    attributes=("race",), metrics={"statistical_parity_difference": (-0.1, 0.1)}
)
gate = isonomy.check(audit, policy)
print(gate.verdict)
for sentence in gate.sentences():
    print("-", sentence)

# %%
# What this audit cannot show
# ---------------------------
# - Whether the officers were right. There is no repayment in these data; all that is called accuracy
#   here is agreement with the officers.
# - Whether a gap is discrimination. It says that a group fares worse by more than chance, and by how
#   much. Why, and whether that is lawful, is for people to judge who know the business.
# - Anything of today. These are applications of one city in one year, from a survey that took all
#   applications of black and Hispanic people and a sample of the others.
# - Fairness by another measure. Nine gaps were looked at; they cannot all be 0 at once.
