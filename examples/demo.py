"""
The demo: audit a model of real data, end to end
================================================

Fits a plain scikit-learn model on Adult, audits its predictions as a user would (through the
command), mitigates with reweighing, and audits again. Ends with the paths of the two pages.
"""

import subprocess
import sys
from pathlib import Path

import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from isonomy.data import Dataset, load, make_splits
from isonomy.errors import DataUnavailable
from isonomy.mitigators import Reweighing

OUT = Path("out/demo")


def people() -> Dataset:
    """Load Adult, or data of the same shape that we make, where no registry can be reached."""
    try:
        return load("adult")
    except DataUnavailable as error:
        print(f"{error}\nGoing on with generated data.\n")
        return load("synthetic", n=20_000)


def model(X: pd.DataFrame) -> object:
    """Build a plain pipeline: one-hot categories, scaled numbers, logistic regression."""
    words = X.select_dtypes(exclude="number").columns
    return make_pipeline(
        make_column_transformer(
            (OneHotEncoder(handle_unknown="ignore"), list(words)),
            (StandardScaler(), [c for c in X.columns if c not in words]),
        ),
        LogisticRegression(max_iter=1000),
    )


def predictions(fitted: object, data: Dataset, rows: object, **more: object) -> pd.DataFrame:
    """Lay out labels, predictions, scores and features of the test rows."""
    X = data.X.iloc[rows]
    good = list(fitted.classes_).index(next(iter(data.favorable)))
    return pd.DataFrame(
        {
            **{c: X[c].astype(object) for c in X.columns},
            **{a: data.sensitive[a].iloc[rows].astype(object) for a in data.sensitive.columns},
            "label": data.y.iloc[rows].astype(object),
            "prediction": fitted.predict(X, **more),
            "score": fitted.predict_proba(X, **more)[:, good],
        }
    )


def audit(table: pd.DataFrame, name: str, data: Dataset) -> Path:
    """Audit a table with the command, as a user would."""
    OUT.mkdir(parents=True, exist_ok=True)
    file, page = OUT / f"{name}.csv", OUT / f"{name}.html"
    table.to_csv(file, index=False)
    favorable = next(iter(data.favorable))
    command = [sys.executable, "-m", "isonomy", "audit", str(file)]
    command += ["--label", "label", "--prediction", "prediction", "--score", "score"]
    command += ["--favorable", str(favorable), "--html", str(page), "--intersections"]
    for attribute, values in data.privileged.items():
        command += ["--sensitive", attribute]
        for value in [values] if isinstance(values, str) else values:
            command += ["--privileged", f"{attribute}={value}"]
    subprocess.run(command, check=True)
    return page


def main() -> None:
    """Run the demo."""
    data = people()
    split = make_splits(data, repeats=1, seed=0)[0]
    train, test = split.train, split.test
    X, y = data.X.iloc[train], data.y.iloc[train]

    print(f"1. Fit a logistic regression on {len(train):,} rows of {data.name} and audit it\n")
    plain = model(X).fit(X, y)
    before = audit(predictions(plain, data, test), "before", data)

    attribute = "sex" if "sex" in data.privileged else next(iter(data.privileged))
    print(f"\n2. Mitigate with reweighing for {attribute}, and audit again\n")
    fair = Reweighing(
        model(X), privileged=data.privileged[attribute], favorable=data.favorable
    ).fit(X, y, sensitive_features=data.sensitive[attribute].iloc[train])
    after = audit(predictions(fair, data, test), "after", data)

    print(f"\nBefore: {before.resolve()}\nAfter:  {after.resolve()}")


if __name__ == "__main__":
    main()
