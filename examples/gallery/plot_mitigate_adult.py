"""
Mitigate a pipeline on Adult
============================

A pipeline on raw columns, text labels, two protected attributes: reweighing takes ten
lines. Then several methods that need only the base learner are compared, with the effect on the
attribute that was *not* mitigated.
"""

# %%
# Ten lines
# ---------

from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from isonomy.data import load, make_splits
from isonomy.mitigators import Reweighing, make_mitigator

adult = load("adult")
split = make_splits(adult)[0]
X = adult.X.loc[adult.X.notna().all(axis=1)]
train, test = X.index.intersection(split.train), X.index.intersection(split.test)
words = make_column_selector(dtype_exclude="number")
columns = make_column_transformer(
    (OneHotEncoder(handle_unknown="ignore"), words), remainder=StandardScaler()
)
learner = make_pipeline(columns, LogisticRegression(max_iter=1000))
model = Reweighing(learner, favorable=">50K", privileged="Male")
model.fit(X.loc[train], adult.y.loc[train], sensitive_features=X.loc[train, "sex"])
print(model.predict(X.loc[test])[:5], model.groups_, model.privileged_)

# %%
# Side by side
# ------------
# Each method mitigates the gap by ``sex``; ``race`` shows the effect on another attribute.

METHODS = ["unmitigated", "suppression", "reweighing", "disparate_impact_remover"]
METHODS += ["equalized_odds", "fairness_constrained_thresholds"]

y = adult.y.loc[test]
print(f"{'method':32} accuracy  gap by sex  gap by race")
for name in METHODS:
    method = make_mitigator(name, learner, favorable=">50K", sensitive_columns="sex")
    method.fit(X.loc[train], adult.y.loc[train])
    labels = method.predict(X.loc[test])
    rate = {
        a: [(labels[X.loc[test, a] == v] == ">50K").mean() for v in pair]
        for a, pair in {"sex": ("Male", "Female"), "race": ("White", "Black")}.items()
    }
    gaps = [high - low for high, low in rate.values()]
    print(f"{name:32} {(labels == y).mean():8.3f} {gaps[0]:11.3f} {gaps[1]:12.3f}")
