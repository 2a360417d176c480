"""The tail report of a fitted logistic regression on all of Adult: our own CPU, and calls.

No peer does this; the floor is ours. What the model itself takes to score is measured apart and
taken off. Where no registry can be reached, synthetic rows of the same number take Adult's place.
"""

import time
from typing import Any

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from table import Row, under
from timing import cpu_seconds

__all__ = ["TITLE", "rows"]

TITLE = "Part 8: counterfactual discrimination"
ROWS = 48_842


class Timed(Pipeline):
    """A fitted pipeline that keeps count of its calls and of the CPU that scoring takes."""

    calls, cpu = 0, 0.0

    def _timed(self, ask: Any, X: Any) -> np.ndarray:
        start = time.process_time()
        answer = ask(X)
        self.cpu += time.process_time() - start
        return answer

    def predict_proba(self, X: Any) -> np.ndarray:
        self.calls += 1
        return self._timed(super().predict_proba, X)

    def decision_function(self, X: Any) -> np.ndarray:
        return self._timed(super().decision_function, X)


def _people() -> tuple[Any, Any, str, str]:
    from isonomy.data import load
    from isonomy.errors import DataUnavailable

    try:
        data, attribute = load("adult"), "sex"
    except DataUnavailable:
        data, attribute = load("synthetic", n=ROWS), "group"
    return data.X, data.y01, attribute, data.name


def rows() -> list[Row]:
    from isonomy.counterfactual import seek_tail, tail

    X, y, attribute, name = _people()
    words = [c for c in X if not np.issubdtype(np.asarray(X[c]).dtype, np.number)]
    numbers = [c for c in X if c not in words]
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), words), (StandardScaler(), numbers)
    )
    model = make_pipeline(encode, LogisticRegression(max_iter=500)).fit(X, y)
    out = []
    for intervals, resamples in (("bootstrap", 999), ("profile", 999)):
        timed = Timed(model.steps)
        runs = []

        def report(timed: Any = timed, runs: Any = runs, how: str = intervals) -> Any:
            timed.calls, timed.cpu = 0, 0.0
            start = time.process_time()
            found = tail(timed, X, attribute, intervals=how)
            runs.append(time.process_time() - start - timed.cpu)
            return found

        _, found = cpu_seconds(report, repeat=3)
        calls = timed.calls
        job = f"tail report of a logistic regression, {len(X):,} rows of {name}, {intervals}"
        worst = found.groups[0].extremes
        exact = found.groups[0].exact
        note = f"{resamples} resamples, {len(found.groups)} groups; largest {worst.largest:.4f}"
        if exact is not None:
            note += f", exact maximum {exact.anywhere:.4f}"
        out.append(under(job, "-", 1000 * min(runs), None, 2000, "ms", note))
        if intervals == "bootstrap":
            out.append(
                under("the same: calls of predict_proba", "-", calls, None, 3, "calls", "")
            )  # fmt: skip
    asked = Timed(model.steps)
    start = time.process_time()
    found = seek_tail(asked, X, attribute, queries=20_000)
    own = time.process_time() - start - asked.cpu
    note = f"{found.queries:,} rows scored in {found.calls} calls"
    out.append(
        under("tail-seeking search from the worst rows", "-", 1000 * own, None, None, "ms", note)
    )
    return out
