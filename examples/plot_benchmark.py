"""
Every method on your own data: which one to choose
==================================================

The steps of ``isonomy benchmark`` in Python: plan a study of all the methods you want, run it into a
store, judge the records, and draw the page. Replace the data by your own file.
"""

# %%
# Plan: the original model, the methods, and group thresholds as the second baseline
# ----------------------------------------------------------------------------------

from pathlib import Path

from isonomy.benchmark.judge import judge_benchmark, plan_benchmark, sentences
from isonomy.report.benchmark import benchmark_page, plane_of
from isonomy.report.svg import standalone
from isonomy.store import Store
from isonomy.study import run

METHODS = ["reweighing", "suppression", "disparate_impact_remover", "prejudice_remover"]
METHODS += ["reject_option", "equalized_odds"]
OUT = Path("out/plot_benchmark")

plan = plan_benchmark("synthetic(n=2000)", ["group"], methods=METHODS, repeats=8)
print(f"{len(plan.study.methods)} methods on {plan.rows:,} rows, {plan.study.repeats} splits")

# %%
# Run: every method on the same splits; stored results are not computed again
# ----------------------------------------------------------------------------

outcome = run(plan.study, OUT / "store")
print(f"{outcome.done} splits run now, {outcome.kept} records were stored before")

# %%
# Judge: regions with probabilities, intervals, paired tests, and the recommendation
# ----------------------------------------------------------------------------------

found = judge_benchmark(Store.open(OUT / "store").records(), resamples=200)
section = found.sections[0]
for sentence in sentences(found, section):
    print(sentence)
table = found.frame()[["method", "word", "accuracy", "bias", "region", "worth", "advantage"]]
print(table.round(3).to_string(index=False))

# %%
# Show: the plot alone, and the whole page
# ----------------------------------------

(OUT / "plane.svg").write_text(standalone(plane_of(section, section.judged)))
(OUT / "report.html").write_text(benchmark_page(found))
print(f"Wrote {OUT / 'plane.svg'} and {OUT / 'report.html'}")
