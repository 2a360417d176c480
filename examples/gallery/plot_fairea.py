"""
Was a mitigation worth it? The plane of Fairea
==============================================

Less bias usually costs accuracy, and blind mutation buys it too. The mutation baseline of Fairea
(Hort et al. 2021) divides the plane into five regions, and group thresholds are a second baseline.
Replace the data and the model by your own.
"""

# %%
# An original model and a mitigated one, judged on test rows
# ----------------------------------------------------------

import pandas as pd
from matplotlib import pyplot as plt

from isonomy.data import load, make_splits, prepare
from isonomy.mitigators import make_mitigator
from isonomy.models import make_model
from isonomy.plots import plot_plane
from isonomy.tradeoff import judge_mitigator

data = load("compas")
ready = prepare(data, attribute="race", split=make_splits(data)[0])
verdicts = {}
for name in ("reweighing", "fairness_constrained_thresholds(tolerance=0.1)", "equalized_odds"):
    method = make_mitigator(name, make_model("lr"), privileged=1, favorable=1)
    verdicts[name] = judge_mitigator(
        method,
        ready.X_train,
        ready.y_train,
        sensitive_features={"race": ready.s_train},
        X_test=ready.X_test,
        y_test=ready.y_test,
        sensitive_test={"race": ready.s_test},
        resamples=300,
    )
    print(f"{name:50} {verdicts[name]}")

# %%
# The five regions
# ----------------
# The line is the original model and its mutated copies: with each step, more predictions are
# overwritten by one label. Above it a method is a *good* trade, below it a *poor* one. Broken: what a
# threshold per group reaches.

first = next(iter(verdicts.values()))
points = pd.DataFrame(
    {
        "name": [name.partition("(")[0] for name in verdicts],
        "performance": [v.performance for v in verdicts.values()],
        "bias": [v.bias for v in verdicts.values()],
        "word": [v.region for v in verdicts.values()],
    }
)
plot_plane(
    first.baseline.frame(),
    points,
    frontier=first.frontier.reach_frame(),
    xlabel="statistical parity difference, size",
    ylabel="accuracy",
)
plt.show()

# %%
# One method, with its uncertainty
# --------------------------------
# The intervals come from resampling the test rows, both models' predictions of a row together. The
# probability says how sure the region is.

verdicts["reweighing"].plot("reweighing")
plt.show()
print(verdicts["reweighing"].frame().T.to_string(header=False))
