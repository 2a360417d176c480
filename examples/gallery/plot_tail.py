"""
How bad can it get: the tail of a model's counterfactual discrimination
=======================================================================

Two models of about the same accuracy, one question: what does belonging to a group cost a person at
worst? For a logistic regression the worst case is known exactly; for a forest it is not, so its tail
is fitted, and searched beyond the data. Replace the data and the models by your own.
"""

# %%
# Two models of raw rows
# ----------------------
# The protected attribute is one column of the frame, so a pipeline that takes raw frames is used
# directly. Where Adult is unavailable, generated rows are used.

from pathlib import Path

from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from isonomy.counterfactual import seek_tail, tail
from isonomy.data import load
from isonomy.errors import DataUnavailable
from isonomy.report import write
from isonomy.report.charts import draw_file
from isonomy.report.tail import histogram_chart, levels_chart

try:
    data, attribute, privileged = load("adult"), "sex", "Male"
except DataUnavailable:
    data, attribute, privileged = load("synthetic", n=12_000), "group", "privileged"
X, y = data.X[::4], data.y01[::4]
encode = make_column_transformer(
    (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
    (StandardScaler(), make_column_selector(dtype_include="number")),
)
models = {
    "logistic regression": LogisticRegression(max_iter=500),
    "forest": RandomForestClassifier(40, min_samples_leaf=5, random_state=0),
}
half = len(X) // 2
fitted = {
    name: make_pipeline(encode, model).fit(X[:half], y[:half]) for name, model in models.items()
}

# %%
# Every row as it is, and in the other group
# ------------------------------------------
# Every row is scored twice. CD is the score in the other group minus the row's own score.

reports = {name: tail(model, X, attribute, privileged=privileged) for name, model in fitted.items()}
for name, report in reports.items():
    accuracy = (fitted[name].predict(X[half:]) == y[half:]).mean()
    print(f"\n{name}, accuracy {accuracy:.3f}")
    shown = ["group", "acd", "cvar", "level_1000", "level_1000_low", "level_1000_high"]
    print(report.frame()[[*shown, "largest", "exact", "tail"]].round(3).to_string(index=False))
    for note in report.notes:
        print("note:", note)

# %%
# The worst individuals
# ---------------------
# The score of each, and the score in the other group.

print(reports["forest"].worst.iloc[:3, :9].to_string(index=False))

# %%
# Beyond the data
# ---------------
# A search from the worst rows upwards, within the observed values and ranges.

result = seek_tail(
    fitted["forest"], X, attribute, pairs=reports["forest"].pairs, starts=5, queries=15_000
)
print(result.frame()[["group", "start_cd", "cd", "changes"]].head(3).to_string(index=False))
reports["forest"] = reports["forest"].with_parts(found=result)

# %%
# The drawings are plain SVG; the page holds them and the numbers.

out = Path("out")
out.mkdir(exist_ok=True)
for name, drawing in (
    ("histogram", histogram_chart(reports["forest"])),
    ("levels", levels_chart(reports["forest"])),
):
    if drawing:
        (out / f"tail_{name}.svg").write_text(draw_file(drawing))
write(reports["forest"], out / "tail.html", title="forest")
print("written:", ", ".join(sorted(p.name for p in out.glob("tail*"))))
