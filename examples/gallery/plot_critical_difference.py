"""
Is one learner fairer than another?
===================================

Over several tasks, ranks tell more than means: a gap of 0.3 on one task must not drown ten others.
Friedman's test asks whether the learners differ at all, and Nemenyi's critical difference, which.
"""

# %%
# Four learners, nine tasks
# -------------------------
# A task is a dataset and an attribute. The gap is the size of the difference in selection rates, and
# each row is predicted by a model that has not seen it.

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.dummy import DummyClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from isonomy import Counts, get_metric, load
from isonomy.stats import friedman_nemenyi

learners = {
    "logistic regression": LogisticRegression(max_iter=1000),
    "tree of depth 3": DecisionTreeClassifier(max_depth=3, random_state=0),
    "tree of depth 10": DecisionTreeClassifier(max_depth=10, random_state=0),
    "naive Bayes": GaussianNB(),
    "by lot": DummyClassifier(strategy="stratified", random_state=0),
}
columns = make_column_transformer(
    (
        OneHotEncoder(handle_unknown="ignore", sparse_output=False, max_categories=20),
        make_column_selector(dtype_exclude="number"),
    ),
    (
        make_pipeline(SimpleImputer(), StandardScaler()),
        make_column_selector(dtype_include="number"),
    ),
)
gap = get_metric("statistical_parity_difference")
gaps = {}
for name in ("german", "compas", "boston_hmda", "heart", "titanic", "adult"):
    data = load(name)
    data = data.take(np.logical_and.reduce([data.known(a) for a in data.attributes]))
    rows = np.random.default_rng(0).permutation(len(data))[:2000]
    for learner, model in learners.items():
        predicted = cross_val_predict(
            make_pipeline(columns, model), data.X.iloc[rows], data.y01[rows], cv=3
        )
        for attribute in data.attributes:
            counts = Counts.from_labels(
                data.y01[rows],
                predicted,
                sensitive_features=data.s01(attribute)[rows],
                privileged=1,
            )
            gaps.setdefault(learner, {})[f"{name}, {attribute}"] = abs(float(gap(counts)))
table = pd.DataFrame(gaps)
print(table.round(3))

# %%
# Ranks
# -----
# The smallest gap gets rank 1. A bar joins learners whose mean ranks differ by less than the critical
# difference: these tasks do not tell them apart. Labels drawn by lot are the fairest of all, which
# is why a gap is never to be read without the accuracy.

ranks = friedman_nemenyi(table, labels=list(table), larger_is_better=False)
print(ranks)
ranks.plot()
plt.show()

# %%
# What it does not say
# --------------------
# Two attributes of one dataset share its rows, so these tasks are not wholly independent, and the
# test is a little too sure. And a rank does not say how large a gap is: the table above does.
