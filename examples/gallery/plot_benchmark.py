"""
Every method on your own data: which one to choose
==================================================

What ``isonomy benchmark`` does, from Python. Replace the data by your own file or frame.
"""

# %%
# One call: the original model, the methods, and group thresholds as the second baseline
# --------------------------------------------------------------------------------------
#
# Each split is run once, every method on the same rows. With a folder, what is there already is
# not run again.

from pathlib import Path

import isonomy
from isonomy.benchmark import sentences
from isonomy.report import write
from isonomy.report.benchmark import plane_of
from isonomy.report.charts import draw_file

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
# Show: the picture alone, and the whole page
# -------------------------------------------

(OUT / "plane.svg").write_text(draw_file(plane_of(section, section.judged)))
write(result, OUT / "report.html")
print(f"Wrote {OUT / 'plane.svg'} and {OUT / 'report.html'}")
