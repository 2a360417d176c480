"""
How do I run many trials, and query them?
=========================================

A study declares datasets, models, methods and repeats. Its store survives a kill, is continued
where it stopped, and can be asked in SQL while it grows.
"""

# %%
# Declare and run
# ---------------
# Two datasets, two models, three methods, five splits each: 60 runs. Models are fitted once per
# split and shared by the methods.

import shutil

from matplotlib import pyplot as plt

from isonomy import Store, Study, run

study = Study(
    name="small",
    tasks=["german/age", "boston_hmda/race"],
    models=["lr", "dt"],
    methods=["unmitigated", "reweighing", "suppression"],
    repeats=5,
)
shutil.rmtree("out/small", ignore_errors=True)  # only so that this page shows a first run
outcome = run(study, "out/small")
print(outcome.statuses)

# %%
# Run it again: nothing is left to do
# -----------------------------------

print(run(study, "out/small").statuses)

# %%
# Ask
# ---
# SQL is DuckDB's; ``runs`` has a row per run and a column per metric.

store = Store.open("out/small")
found = store.query(
    """
    select dataset, model, mitigator, avg(accuracy) accuracy,
           abs(avg(statistical_parity_difference)) gap, count(*) splits
    from runs group by all order by all
    """
)
print(found.round(3).to_string(index=False))

# %%
# And draw
# --------

figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
marks = {"unmitigated": "o", "reweighing": "s", "suppression": "^"}
colours = {"lr": "#0072B2", "dt": "#D55E00"}
for ax, (dataset, part) in zip(axes, found.groupby("dataset"), strict=True):
    for row in part.itertuples():
        ax.plot(
            row.gap, row.accuracy, marks[row.mitigator], color=colours[row.model], markersize=8,
            label=f"{row.model}, {row.mitigator}",
        )  # fmt: skip
    ax.set(title=dataset, xlabel="gap in selection rates", ylabel="accuracy")
axes[1].legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
plt.show()
