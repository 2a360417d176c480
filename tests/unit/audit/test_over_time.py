"""Audits over time: counts merge, each period is what an audit of it says, and every function agrees."""

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

from isonomy import Counts, audit_counts, audit_file_over_time, audit_over_time
from isonomy.audit import audit_counts_over_time
from isonomy.errors import InputError, NotApplicable


def people(months: int = 8, rows: int = 300, seed: int = 0) -> pd.DataFrame:
    """From the middle on, women who merit it are often denied."""
    rng = np.random.default_rng(seed)
    first = np.datetime64("2025-11")
    n = months * rows
    month = np.repeat(np.arange(months), rows)
    frame = pd.DataFrame(
        {
            "day": (first + month).astype("datetime64[D]") + rng.integers(0, 28, n),
            "sex": rng.choice(["F", "M"], n),
            "race": rng.choice(["a", "b", "c"], n),
            "y": rng.integers(0, 2, n),
            "w": rng.uniform(0.5, 2, n),
        }
    )
    denied = (frame["sex"] == "F") & (month >= months // 2) & (rng.random(n) < 0.5)
    frame["yhat"] = np.where(denied, 0, frame["y"])
    return frame


def over(frame: pd.DataFrame, **options: Any) -> Any:
    return audit_over_time(
        frame["y"], frame["yhat"], sensitive_features=frame[["sex"]],
        **{"when": frame["day"], "privileged": "M", **options},
    )  # fmt: skip


def test_periods_merge_to_the_whole() -> None:
    frame = people()
    found = audit_over_time(
        frame["y"], frame["yhat"], sensitive_features=frame[["sex", "race"]], when=frame["day"],
        sample_weight=frame["w"], privileged={"sex": "M"},
    )  # fmt: skip
    whole = Counts.from_labels(
        frame["y"], frame["yhat"], sensitive_features=frame[["sex", "race"]],
        sample_weight=frame["w"], privileged={"sex": "M"},
    )  # fmt: skip
    assert found.total.groups == whole.groups
    assert found.total.privileged == whole.privileged
    for mine, theirs in ((found.total.n, whole.n), (found.total.w, whole.w)):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12)


@pytest.mark.parametrize("privileged", ["M", None])
@pytest.mark.parametrize("weighted", [False, True])
def test_each_period_is_what_an_audit_of_it_says(privileged: str | None, weighted: bool) -> None:
    frame = people(rows=120)
    weight = frame["w"] if weighted else None
    found = over(frame, privileged=privileged, sample_weight=weight).frame()
    month = frame["day"].dt.strftime("%Y-%m")
    for period in ("2025-11", "2026-05"):
        rows = frame[month == period]
        alone = audit_counts(
            Counts.from_labels(
                rows["y"], rows["yhat"], sensitive_features=rows[["sex"]], privileged=privileged,
                sample_weight=rows["w"] if weighted else None,
            ),
            thresholds={"difference": 2.0, "ratio": 1e-9},
        ).frame()  # fmt: skip
        mine = found[found["period"] == period].set_index("name")
        theirs = alone[alone["attribute"] == "sex"].set_index("name").loc[mine.index]
        for column in ("value", "low", "high"):
            np.testing.assert_allclose(
                mine[column], theirs[column].astype(float), atol=1e-9, err_msg=column
            )


def test_what_moved_is_said_since_when_and_by_how_much() -> None:
    found = over(people())
    moved = {(m.rate, m.ratio): m for m in found.moved()}
    assert set(moved) == {
        ("selection_rate", False), ("selection_rate", True), ("true_positive_rate", False),
        ("error_rate", False),
    }  # fmt: skip
    tpr = moved["true_positive_rate", False]
    assert (tpr.since, tpr.groups) == ("2026-03", "unprivileged vs privileged")
    assert tpr.before == 0
    assert tpr.low < -0.5 < tpr.high < 0
    assert tpr.metrics[0] == "equal_opportunity_difference"
    assert "equalized_odds_difference" in tpr.metrics
    assert found.moved("equalized_odds_difference") == (tpr,)
    assert found.moved("false_positive_rate_difference") == ()
    assert any(
        s.startswith("The difference in true positive rate by sex") for s in found.sentences()
    )


def test_a_smaller_file_said_nothing_that_more_periods_take_back() -> None:
    frame = people(months=14)
    month = frame["day"].dt.strftime("%Y-%m")
    early, late = over(frame[month < "2026-09"]), over(frame)
    for before, after in zip(early.moves, late.moves, strict=True):
        assert after.moved or not before.moved
        assert not before.moved or (after.said == before.said and after.p_value <= before.p_value)


def test_nothing_moved_is_not_that_nothing_changed() -> None:
    frame = people()
    frame["yhat"] = frame["y"]
    said = over(frame).sentences()
    assert said[0] == "No gap is shown to have moved in 8 periods, 2025-11 to 2026-06."
    assert said[1] == (
        "Where nothing moves, the chance that any gap is said to have moved (6 tested) is at most "
        "0.05, over all periods, past and to come."
    )


def test_too_few_rows_is_not_tested_and_says_so() -> None:
    found = over(people(months=4, rows=8))
    assert {m.moved for m in found.moves} == {None}
    assert "Not tested: difference in selection rate by sex" in found.sentences()[0]
    assert found.frame()["reason"].notna().all()


def test_a_group_that_is_absent_in_a_period_is_undefined_there() -> None:
    frame = people()
    found = over(frame[(frame["sex"] == "M") | (frame["day"] > "2025-12")])
    first = found.gaps[0]
    assert (first.period, np.isnan(first.value), np.isnan(first.low)) == ("2025-11", True, True)
    assert first.reason == "group 'unprivileged' has no rows"
    assert found.to_dict()["gaps"][0]["value"] is None


def test_many_groups_are_each_compared_with_the_largest_of_the_first_period() -> None:
    frame = people(months=8, rows=900)
    rng = np.random.default_rng(5)
    hit = (frame["race"] == "c") & (frame["day"] >= "2026-03") & (rng.random(len(frame)) < 0.6)
    frame["yhat"] = np.where(hit, 0, frame["y"])
    first = frame[frame["day"] < "2025-12"]["race"].value_counts().index[0]
    found = audit_over_time(
        frame["y"], frame["yhat"], sensitive_features=frame["race"], when=frame["day"],
        metrics=["statistical_parity_difference"],
    )  # fmt: skip
    (move,) = found.moves
    assert move.moved
    assert set(move.groups.split(" vs ")) >= {"c"}
    assert first in move.groups
    assert {g.comparison for g in found.gaps} == {"largest vs smallest"}


def test_files_arrays_and_counts_agree(tmp_path: Path) -> None:
    frame = people().assign(day=lambda f: f["day"].dt.strftime("%Y-%m-%d"))
    frame.to_csv(tmp_path / "p.csv", index=False)
    frame.assign(day=pd.to_datetime(frame["day"])).to_parquet(tmp_path / "p.parquet")
    with duckdb.connect(str(tmp_path / "p.duckdb")) as connection:
        connection.register("source", frame)
        connection.execute("CREATE TABLE rows AS SELECT *, day::DATE AS date FROM source")
        connection.execute("ALTER TABLE rows DROP day")
    columns = {
        "label": "y", "prediction": "yhat", "sensitive_features": "sex", "privileged": "M",
    }  # fmt: skip
    expected = over(frame, by="month").to_dict()
    for name, more in (
        ("p.csv", {"by": "month"}),
        ("p.csv", {"when": "day"}),
        ("p.parquet", {"by": "month"}),
        ("p.duckdb", {"when": "date", "by": "month"}),
    ):
        assert audit_file_over_time(tmp_path / name, **columns, **more).to_dict() == expected
    counted = Counts.from_frame(
        frame.assign(day=frame["day"].str[:7]), label="y", prediction="yhat",
        sensitive_features=["day", "sex"], privileged={"sex": "M"},
    )  # fmt: skip
    from_counts = audit_counts_over_time(counted, "day").to_dict()
    assert from_counts["gaps"] == expected["gaps"]
    assert from_counts["moves"] == expected["moves"]


@pytest.mark.parametrize(
    ("by", "periods"), [("day", 224), ("week", 35), ("quarter", 3), ("year", 2)]
)
def test_units(by: str, periods: int, tmp_path: Path) -> None:
    frame = people()
    found = over(frame, by=by)
    assert len(found.periods) == periods
    frame.to_parquet(tmp_path / "p.parquet")
    file = audit_file_over_time(
        tmp_path / "p.parquet", label="y", prediction="yhat", sensitive_features="sex",
        privileged="M", by=by,
    )  # fmt: skip
    assert file.periods == found.periods
    assert list(found.periods) == sorted(found.periods)


def test_periods_that_are_named_keep_their_order_and_rows_without_a_date_are_counted() -> None:
    frame = people(months=12, rows=40)
    number = frame["day"].dt.month.astype(object).where(frame.index >= 3, None)
    found = over(frame, when=number)
    assert found.periods == tuple(range(1, 13))
    assert found.notes == ("3 rows have no date; they are left out.",)
    assert found.counts.n.sum() == len(frame) - 3
    named = over(frame, when=frame["day"].dt.month_name())
    assert "The periods are taken in this order: 'April', 'August'" in named.notes[0]


def test_a_file_with_a_column_called_like_the_unit(tmp_path: Path) -> None:
    frame = people().assign(month=lambda f: f["day"].dt.strftime("%Y-%m"))
    frame.to_csv(tmp_path / "p.csv", index=False)
    found = audit_file_over_time(
        tmp_path / "p.csv", label="y", prediction="yhat", sensitive_features="sex", by="month"
    )
    assert found.periods[0] == "2025-11"
    assert found.settings["unit"] is None


def test_what_is_shown() -> None:
    found = over(people(months=3))
    assert list(found.frame("sizes").columns) == ["period", "group", "rows"]
    assert found.frame("moves")["rate"].tolist()[0] == "selection_rate"
    assert repr(found).startswith("OverTime(900 rows in 3 periods, 2025-11 to 2026-01; moved: ")
    html = found._repr_html_()
    assert "Statistical parity difference by " in html
    assert "has moved" in html


def test_mistakes(tmp_path: Path) -> None:
    frame = people()
    frame.to_csv(tmp_path / "p.csv", index=False)
    frame.assign(other=frame["day"]).to_csv(tmp_path / "two.csv", index=False)
    columns = {"label": "y", "prediction": "yhat", "sensitive_features": "sex"}
    with pytest.raises(InputError, match="it has several: 'day' and 'other'"):
        audit_file_over_time(tmp_path / "two.csv", by="month", **columns)
    with pytest.raises(InputError, match=r"'race' holds '[abc]'"):
        audit_file_over_time(tmp_path / "p.csv", when="race", by="month", **columns)
    with pytest.raises(InputError, match="'sex' plays several"):
        audit_file_over_time(tmp_path / "p.csv", when="sex", **columns)
    with pytest.raises(InputError, match="at least two periods; there is 1"):
        over(frame[frame["day"] < "2025-12"])
    (tmp_path / "one.csv").write_text("day,sex,y,yhat\n2026-01-01,F,1,1\n2026-01-02,M,0,0\n")
    with pytest.raises(InputError, match=r"at least two periods; there is 1 \('day'\)"):
        audit_file_over_time(tmp_path / "one.csv", by="month", **columns)
    with pytest.raises(NotApplicable, match="gap between rates; accuracy is none"):
        over(frame, metrics=["accuracy"])
    with pytest.raises(InputError, match="Only gaps between rates of this audit"):
        over(frame).moved("precision_ratio")
    with pytest.raises(InputError, match="gives one per group"):
        over(frame, metrics=["spd(compare=each)"])
    with pytest.raises(InputError, match="at most 100 values; 'id' has 2,400"):
        audit_over_time(
            frame["y"], frame["yhat"], sensitive_features={"id": np.arange(len(frame))},
            when=frame["day"],
        )  # fmt: skip


def test_selections_without_labels_are_audited_by_their_rates(tmp_path: Path) -> None:
    frame = people()
    rows = audit_over_time(
        None, frame["yhat"], sensitive_features=frame[["sex"]], when=frame["day"], privileged="M"
    )
    frame.drop(columns="y").to_parquet(tmp_path / "p.parquet")
    file = audit_file_over_time(
        tmp_path / "p.parquet", prediction="yhat", sensitive_features="sex", when="day",
        by="month", privileged="M",
    )  # fmt: skip
    labelled = over(frame, metrics=["spd", "di"])
    for found in (rows, file):
        pd.testing.assert_frame_equal(found.frame(), labelled.frame())
        pd.testing.assert_frame_equal(found.frame("moves"), labelled.frame("moves"))
        assert any("no labels" in note for note in found.notes)
    with pytest.raises(InputError, match="equal_opportunity_difference needs true labels"):
        audit_file_over_time(
            tmp_path / "p.parquet", prediction="yhat", sensitive_features="sex", metrics=["eod"]
        )


def test_a_measurement_names_no_periods(tmp_path: Path) -> None:
    frame = people().assign(age=lambda f: 18 + np.arange(len(f)) % 70)
    frame["month"] = frame["day"].dt.year * 100 + frame["day"].dt.month
    frame.to_parquet(tmp_path / "p.parquet")
    columns: dict = {"label": "y", "prediction": "yhat", "sensitive_features": "sex"}
    for bad, size in (("w", "2,400"), ("age", "70")):
        said = f"Periods must be dates, or few numbers such as years; '{bad}' holds {size} numbers"
        with pytest.raises(InputError, match=said):
            audit_file_over_time(tmp_path / "p.parquet", when=bad, **columns)
    with pytest.raises(InputError, match=r"70 numbers, 18.0 to 87.0: cut it into bands"):
        over(frame, when=frame["age"])
    found = audit_file_over_time(tmp_path / "p.parquet", when="month", metrics=["spd"], **columns)
    assert len(found.periods) == 8
    days = [20260000 + 100 * m + d for m in range(1, 4) for d in range(1, 29)]
    assert len(over(frame, when=np.resize(days, len(frame)), metrics=["spd"]).periods) == 84
