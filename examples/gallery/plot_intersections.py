"""
Is a gap larger where two attributes meet?
==========================================

A model may treat women and men alike, and every race alike, and yet treat black women differently.
``intersections=True`` audits the combinations too, with their own intervals, and corrects for
looking at so many.
"""

# %%
# A model of new arrests
# ----------------------
# COMPAS, ProPublica's records of Broward County. The favourable prediction is *not arrested again*;
# each person is predicted by a model that has not seen that person.

from matplotlib import pyplot as plt
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import cross_val_predict

from isonomy import audit, load

compas = load("compas")
known = compas.sensitive["race"].isin(["African-American", "Caucasian", "Hispanic"]).to_numpy()
X = compas.X.loc[known].drop(columns="c_charge_desc")  # hundreds of texts
y = compas.y01[known]
people = compas.sensitive.loc[known].astype(str)
predicted = cross_val_predict(
    HistGradientBoostingClassifier(max_iter=40, random_state=0), X, y, cv=5
)

# %%
# False alarms, by race, by sex, and by both
# ------------------------------------------
# Of those who were *not* arrested again, which share had the model predicted to be? That is one less
# the true positive rate, since *not arrested* is the favourable label.

result = audit(
    y,
    predicted,
    sensitive_features=people,
    privileged={"race": "Caucasian", "sex": "Female"},
    intersections=True,
    metrics=["equal_opportunity_difference"],
)
rates = result.frame("groups").query("name == 'true_positive_rate'")
print(rates[["attribute", "group", "rows", "value", "low", "high"]].round(3).to_string(index=False))
result.plot("rates", rate="true_positive_rate")
plt.show()

# %%
# Every combination against the privileged one
# --------------------------------------------
# Verdicts on single groups hold for all groups of the attribute together.

single = result.frame("comparisons").query("attribute == 'sex & race'")
print(single[["comparison", "value", "low", "high", "verdict"]].round(3).to_string(index=False))
