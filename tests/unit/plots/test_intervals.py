"""Plots of intervals show the numbers of their frame, and fit fifty hostile names."""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

from isonomy import audit, audit_over_time
from isonomy.errors import InputError
from isonomy.plots import plot_intervals, plot_periods


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    n = 3000
    frame = pd.DataFrame({"sex": rng.choice(["F", "M"], n), "race": rng.choice(list("abc"), n)})
    frame["y"] = rng.integers(0, 2, n)
    wrong = rng.random(n) < np.where(frame["sex"] == "F", 0.3, 0.05)
    frame["yhat"] = np.where(wrong, 0, frame["y"])
    return frame


@pytest.fixture(scope="module")
def found(rows: pd.DataFrame) -> Any:
    return audit(
        rows["y"], rows["yhat"], sensitive_features=rows[["sex", "race"]], privileged={"sex": "M"}
    )


def centres(ax: Any) -> list[float]:
    return [
        float(line.get_xdata()[0])
        for line in ax.lines
        if line.get_marker() not in {"None", ""} and len(line.get_xdata()) == 1
    ]


def spans(ax: Any) -> list[tuple[float, float]]:
    return [
        tuple(line.get_xdata())
        for line in ax.lines
        if line.get_marker() == "None" and len(line.get_xdata()) == 2 and line.get_linewidth() > 1
    ]


def names(ax: Any) -> list[str]:
    return [tick.get_text() for tick in ax.get_yticklabels()]


@pytest.mark.parametrize(("what", "goal"), [("differences", "difference"), ("ratios", "impact")])
def test_gaps_are_those_of_the_frame(found: Any, what: Any, goal: str) -> None:
    ax = found.plot(what)
    table = found.frame()
    table = table[table["attribute"].notna() & table["name"].str.endswith(goal)]
    assert centres(ax) == pytest.approx(table["value"].tolist())
    assert spans(ax) == [pytest.approx(pair) for pair in table[["low", "high"]].to_numpy()]
    assert names(ax)[0] == "sex"
    assert "race" in names(ax)
    ax.figure.savefig("/dev/null", format="png")


def test_one_attribute_needs_no_heading(found: Any) -> None:
    assert names(found.plot(attribute="race"))[0] == "statistical parity"


def test_rates_by_group(found: Any) -> None:
    ax = found.plot("rates", attribute="race", rate="true_positive_rate")
    rates = found.frame("groups")
    rates = rates[(rates["attribute"] == "race") & (rates["name"] == "true_positive_rate")]
    assert centres(ax) == pytest.approx(rates["value"].tolist())
    assert names(ax)[0] == f"a ({rates['rows'].iloc[0]:,})"


def test_verdicts_have_marks_of_their_own_and_a_legend(found: Any) -> None:
    ax = found.plot()
    told = {text.get_text() for text in ax.get_legend().get_texts()}
    judged = found.frame()
    judged = judged[judged["name"].str.endswith("difference")]
    assert told == {*judged["verdict"].dropna(), "accepted range"}


def test_fifty_hostile_names_fit() -> None:
    rng = np.random.default_rng(1)
    groups = [f"<script>$x^2$</script> שלום {'long ' * 60}{k}" for k in range(50)]
    sex = np.array(groups)[rng.integers(0, 50, 4000)]
    y = rng.integers(0, 2, 4000)
    ax = audit(y, y, sensitive_features={"g $_" * 40: sex}).plot("rates")
    figure = ax.figure
    figure.savefig("/dev/null", format="png", dpi=50)
    boxes = [tick.get_window_extent() for tick in ax.get_yticklabels()]
    assert len(boxes) == 50
    ordered = sorted(boxes, key=lambda box: -box.y0)
    assert all(a.y0 >= b.y1 for a, b in itertools.pairwise(ordered))
    assert min(box.x0 for box in boxes) >= 0
    assert len(set(names(ax))) == 50


def test_undefined_and_open_ends_are_drawn_as_what_they_are() -> None:
    table = pd.DataFrame(
        {
            "name": ["none", "open", "zero"],
            "value": [np.nan, 2.0, 0.5],
            "low": [np.nan, 1.0, 0.0],
            "high": [np.nan, np.inf, 0.9],
        }
    )
    ax = plot_intervals(table, label="name", xlabel="ratio", log=True, reference=1.0)
    assert [text.get_text() for text in ax.texts] == ["undefined"]
    assert centres(ax) == [2.0, 0.5]
    assert all(np.isfinite(end) and end > 0 for pair in spans(ax) for end in pair)
    ax.figure.savefig("/dev/null", format="png")


def test_over_time(rows: pd.DataFrame) -> None:
    when = np.repeat(np.arange("2026-01", "2026-11", dtype="datetime64[M]"), 300)
    late = (when >= np.datetime64("2026-06")) & (rows["sex"] == "F")
    said = np.where(late & (rows["race"] != "a"), 0, rows["y"])
    result = audit_over_time(
        rows["y"], said, sensitive_features=rows[["sex"]], when=when, privileged="M"
    )
    ax = result.plot("equal_opportunity_difference")
    gaps = result.frame()
    gaps = gaps[gaps["name"] == "equal_opportunity_difference"]
    line = next(line for line in ax.lines if line.get_marker() == "o")
    np.testing.assert_allclose(line.get_ydata(), gaps["value"])
    moved = next(line for line in ax.lines if line.get_linestyle() == "--")
    assert moved.get_xdata()[0] == 4.5  # before the sixth period
    assert result.plot().get_title(loc="left").startswith("statistical parity difference by sex")
    with pytest.raises(InputError, match="metric of this audit"):
        result.plot("precision_ratio")


def test_many_periods_name_only_some_and_an_undefined_one_is_marked() -> None:
    table = pd.DataFrame({"period": [f"2026-W{k:02}" for k in range(1, 61)]})
    table = table.assign(value=0.1, low=0.0, high=0.2, accept_low=np.nan, accept_high=np.nan)
    table.loc[3, ["value", "low", "high"]] = np.nan
    ax = plot_periods(table, ylabel="gap", reference=0.0)
    assert len(ax.get_xticks()) == 12
    assert {text.get_text() for text in ax.get_legend().get_texts()} == {"undefined"}
    ax.figure.savefig("/dev/null", format="png")


def test_mistakes(found: Any) -> None:
    with pytest.raises(InputError, match="did you mean 'ratios'"):
        found.plot("ratio")
    with pytest.raises(InputError, match="There is no attribute 'age'"):
        found.plot(attribute="age")
    with pytest.raises(InputError, match="There is no rate"):
        found.plot("rates", rate="fpr")
