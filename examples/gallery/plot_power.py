"""
How many people does an audit need?
===================================

Planning comes before the data: how many rows does it take until a gap of a given size gets a
verdict, and what can the rows you can afford show?
"""

# %%
# Rows for a verdict
# ------------------
# Half of the applicants are women, 30 % of the men are selected, and gaps within ±0.1 are accepted.
# How many applicants must be audited for the verdict to be given four times out of five? The nearer
# the true gap lies to the threshold, the more it takes.

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

from isonomy import power

GAPS = (-0.2, -0.15, -0.12, -0.05, 0.0)
plans = {gap: power(gap, base_rate=0.3) for gap in GAPS}
rows = [
    {"true gap": gap, "verdict": p.plans[0].verdict, "rows needed": p.rows_called}
    for gap, p in plans.items()
]
print(pd.DataFrame(rows).to_string(index=False))

# %%
# How often the verdict is given, by rows
# ---------------------------------------
# The chances are added up over all counts the groups can have, by the rule that the audit itself
# uses; nothing is simulated.

sizes = np.geomspace(200, 10_000, 10).astype(int)
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for gap, style in zip((-0.2, -0.15, -0.05), ("-", "--", ":"), strict=True):
    chances = [power(gap, base_rate=0.3, rows=int(n)).plans[0].chance_called for n in sizes]
    ax.plot(sizes, chances, linestyle=style, label=f"{gap:+.2f}: {plans[gap].plans[0].verdict}")
ax.axhline(0.8, color="0.6", linewidth=0.8)
ax.set(xscale="log", xlabel="rows, both groups together", ylabel="chance of the verdict")
ticks = [200, 500, 1000, 2000, 5000, 10_000]
ax.set_xticks(ticks, [f"{rows:,}" for rows in ticks])
ax.legend(title="true gap, and its verdict")
plt.show()

# %%
# The rows you have
# -----------------
# With 1,000 applicants, of whom 30 % are women: which gaps would be shown to differ from 0 at all?

(plan,) = power(-0.1, base_rate=0.3, groups=(0.7, 0.3), rows=1000).plans
print(f"gaps below {plan.smallest_below:.3f} or above {plan.smallest_above:+.3f}")

# %%
# On the command line: ``isonomy power --gap -0.15 --base-rate 0.3`` (:doc:`how to </how-to/power>`).
