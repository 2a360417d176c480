"""
I have decisions and no labels: who was selected?
=================================================

Often nobody knows what the right decision would have been: there are applicants, and some were
approved. An audit of selections compares the rates alone.
"""

# %%
# Mortgages in Boston, 1990
# -------------------------
# The decisions of lenders, as surveyed by the Federal Reserve Bank of Boston.

from matplotlib import pyplot as plt

from isonomy import audit_selections, load
from isonomy.plots import plot_intervals

loans = load("boston_hmda")
result = audit_selections(
    loans.y01,
    sensitive_features=loans.sensitive[["race"]],
    reference={"race": "white"},
    strata=loans.X["chist"].map({1: "credit in order", 0: "accounts delinquent"}),
)
print(result)

# %%
# Ratios to the reference
# -----------------------
# Four fifths is the usual limit of a ratio of rates. Both groups are approved less often by more than
# chance; that a ratio is below four fifths is *not* shown. An audit says both. ``shortfall`` counts
# people: how many more would have been approved at the rate of the reference.

ratios = result.frame("ratios").query("against == 'reference'")
print(ratios[["group", "rows", "rate", "ratio", "low", "high", "shortfall"]].round(3).to_string())
plot_intervals(
    ratios.assign(value=ratios["ratio"], accept_low=0.8, accept_high=1.25),
    label="group",
    xlabel="share approved, as a ratio to that of white applicants",
    reference=1,
    log=True,
)
plt.show()

# %%
# Among people with the same credit history
# -----------------------------------------
# Mantel and Haenszel's ratio compares applicants within strata. It tells how much of a gap goes with
# the credit history. Whether that excuses it is not a statistical question.

print(result.frame("stratified").T.to_string(header=False))
