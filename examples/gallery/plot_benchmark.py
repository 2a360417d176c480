"""
Which method should I choose? A benchmark and its recommendation
================================================================

What ``isonomy benchmark`` does, from Python: which method is worth what it costs in accuracy, and
how sure that is. Replace the data by your own file or frame.
"""

# %%
# One call: the original model, the methods, and group thresholds as the second baseline
# --------------------------------------------------------------------------------------
#
# Each split is run once, every method on the same rows. With a folder, what is there already is
# not run again.

from pathlib import Path

from matplotlib import pyplot as plt

import isonomy
from isonomy.benchmark import sentences
from isonomy.report import write

METHODS = ["reweighing", "suppression", "disparate_impact_remover", "prejudice_remover"]
METHODS += ["reject_option", "equalized_odds"]
OUT = Path("out/plot_benchmark")
splits = []

result = isonomy.benchmark(
    "synthetic(n=2000)",
    sensitive_features="group",
    methods=METHODS,
    repeats=8,
    resamples=200,
    backend="serial",
    folder=OUT,
    progress=lambda done, total: splits.append(done),
)
print(f"{splits[-1] - splits[0]} splits run now, {splits[0]} were done before")

# %%
# Read: what to choose, regions with probabilities, the advantage over the baseline
# ---------------------------------------------------------------------------------

section = result.sections[0]
for sentence in sentences(section):
    print(sentence)
table = result.frame()[["method", "word", "accuracy", "bias", "region", "worth", "advantage"]]
print(table.round(3).to_string(index=False))

# %%
# Show: every method in the plane of bias and accuracy
# ----------------------------------------------------
# The line is what overwriting predictions blindly would give, the broken one what a threshold per
# group would. A method below the line is not worth having. ``write`` makes the page.

result.plot()
plt.show()
write(result, OUT / "report.html")
print(f"Wrote {OUT / 'report.html'}")
