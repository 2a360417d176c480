"""Draw the picture of the README: an audit, and methods compared. Writes docs/images/readme.png.

python tools/readme_picture.py
"""

from pathlib import Path

import matplotlib as mpl

mpl.use("agg")

from matplotlib.figure import Figure
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import cross_val_predict

import isonomy

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "images" / "readme.png"
METHODS = ["reweighing", "reject_option", "disparate_impact_remover", "suppression"]


def main() -> None:
    adult = isonomy.load("adult")
    people = adult.take(adult.X.sample(5000, random_state=0).index)
    predicted = cross_val_predict(
        HistGradientBoostingClassifier(random_state=0), people.X, people.y01, cv=5
    )
    audit = isonomy.audit(
        people.y01, predicted, sensitive_features=people.sensitive[["sex"]], privileged="Male"
    )
    tried = isonomy.benchmark(
        people, sensitive_features="sex", methods=METHODS, folder=ROOT / "out" / "readme_picture"
    )
    figure = Figure(figsize=(12, 4.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    audit.plot(ax=left)
    left.set_title("Audit: gaps between women and men, with verdicts", fontsize=10, loc="left")
    tried.plot(ax=right)
    right.set_title("Benchmark: what each method buys, and costs", fontsize=10, loc="left")
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=110)
    print(f"{PICTURE.relative_to(ROOT)}: {PICTURE.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
