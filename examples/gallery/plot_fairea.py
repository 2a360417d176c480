"""
The regions and the area of Fairea, for a model of your own
===========================================================

Was a mitigation worth it? The mutation baseline with its five regions (Figure 2 of the paper), the area of one
method (Figure 3), and the post-processing frontier. Replace the data and the model by your own.
"""

# %%
# An original model and a mitigated one, judged on test rows
# ----------------------------------------------------------

from pathlib import Path

from isonomy.data import load, make_splits, prepare
from isonomy.mitigators import make_mitigator
from isonomy.models import make_model
from isonomy.report import write
from isonomy.report.charts import draw_file
from isonomy.report.tradeoff import area_chart, plane_chart
from isonomy.tradeoff import judge_mitigator

data = load("synthetic", n=6000)
ready = prepare(data, attribute="group", split=make_splits(data)[0])
verdicts = {}
for name in ("reweighing", "fairness_constrained_thresholds(tolerance=0.1)", "equalized_odds"):
    method = make_mitigator(name, make_model("lr"), privileged=1, favorable=1)
    verdicts[name] = judge_mitigator(
        method,
        ready.X_train,
        ready.y_train,
        sensitive_features={"group": ready.s_train},
        X_test=ready.X_test,
        y_test=ready.y_test,
        sensitive_test={"group": ready.s_test},
        resamples=500,
    )
    print(f"{name:50} {verdicts[name]}")

# %%
# Figure 2: the baseline divides the plane into five regions
# ----------------------------------------------------------
# Red: the original model and its mutated copies. Dashed: what group thresholds reach.

first = next(iter(verdicts.values()))
points = [(name.partition("(")[0], v.performance, v.bias, v.region) for name, v in verdicts.items()]
figure_2 = plane_chart(
    "Five regions", first.baseline, points, alt="Methods and baseline.", frontier=first.frontier
)

# %%
# Figure 3: the area between a good method and the baseline
# ---------------------------------------------------------

good = {name: v for name, v in verdicts.items() if v.region == "good"}
best = max(good, key=lambda name: good[name].area) if good else None
figure_3 = area_chart(verdicts[best]) if best else None
if best:
    print(f"largest area: {best}, {good[best].area:.4f}, interval {good[best].area_interval}")

# %%
# Both drawings are plain SVG; the page holds them and the numbers.

out = Path("out")
out.mkdir(exist_ok=True)
for name, drawing in (("figure_2", figure_2), ("figure_3", figure_3)):
    if drawing:
        (out / f"fairea_{name}.svg").write_text(draw_file(drawing))
judged = [("group", m, v) for m, v in verdicts.items()]
write(judged, out / "fairea.html", title="a model of your own")
print("written:", ", ".join(sorted(p.name for p in out.glob("fairea*"))))
