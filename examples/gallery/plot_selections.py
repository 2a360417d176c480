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
# Four fifths is the usual limit of a ratio of rates. The two groups are below the reference by more
# than chance, and not clearly below four fifths: both are said.

ratios = result.frame("ratios")
print(ratios.columns.tolist())
result.plot("rates")
plt.show()

# %%
# Among people with the same credit history
# -----------------------------------------
# Mantel and Haenszel's ratio compares applicants within strata. It tells how much of a gap goes with
# the credit history. Whether that excuses it is not a statistical question.

print(result.frame("stratified").T.to_string(header=False))
