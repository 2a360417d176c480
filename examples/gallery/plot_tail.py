"""
How bad can it get? The tail of a model, and the worst individuals
==================================================================

Two models of about the same accuracy, one question: what does belonging to a group cost a person at
worst? For a logistic regression the worst case is known exactly; for a forest it is not, so its tail
is fitted. Replace the data and the models by your own.
"""

# %%
# Two models of raw rows
# ----------------------
# The protected attribute is one column of the frame, so a pipeline that takes raw frames is used
# directly.

from matplotlib import pyplot as plt
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from isonomy import load, tail

data, attribute, privileged = load("adult"), "sex", "Male"
X, y = data.X[::6], data.y01[::6]
encode = make_column_transformer(
    (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
    (StandardScaler(), make_column_selector(dtype_include="number")),
)
models = {
    "logistic regression": LogisticRegression(max_iter=500),
    "forest": RandomForestClassifier(40, min_samples_leaf=5, random_state=0),
}
half = len(X) // 2
fitted = {
    name: make_pipeline(encode, model).fit(X[:half], y[:half]) for name, model in models.items()
}

# %%
# Every row as it is, and in the other group
# ------------------------------------------
# Every row is scored twice. CD is the score in the other group minus the row's own score.

reports = {name: tail(model, X, attribute, privileged=privileged) for name, model in fitted.items()}
for name, report in reports.items():
    accuracy = (fitted[name].predict(X[half:]) == y[half:]).mean()
    print(f"\n{name}, accuracy {accuracy:.3f}")
    shown = ["group", "acd", "cvar", "level_1000", "level_1000_low", "level_1000_high"]
    print(report.frame()[[*shown, "largest", "exact", "tail"]].round(3).to_string(index=False))
    for note in report.notes:
        print("note:", note)

# %%
# The tail in a picture
# ---------------------
# The *return level*: what one woman in 100, in 1,000 ... pays at least, in probability of the
# favourable prediction. Marks are women of the data, the band is the interval, and beyond the data it
# widens: that far, less is known.

women = next(group for group in reports["forest"].groups if group.name == "Female")
women.extremes.fit.plot()
plt.show()

# %%
# The worst individuals
# ---------------------
# The score of each, and the score in the other group.

print(reports["forest"].worst.iloc[:3, :9].to_string(index=False))

# %%
# A search beyond the data: `Is there anybody whom the model would treat worse?
# <plot_counterfactual_search.html>`__
