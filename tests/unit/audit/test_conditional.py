"""Gaps within strata."""

import numpy as np
import pandas as pd
import pytest

from isonomy import Counts, audit, audit_counts, audit_file
from isonomy.errors import InputError


def berkeley() -> pd.DataFrame:
    """Make two departments; women are admitted more often in each, and apply where few are."""
    table = []
    for sex, department, n, admitted in (
        ("F", "easy", 200, 140), ("F", "hard", 1800, 360), ("M", "easy", 1800, 1080), ("M", "hard", 200, 20),
    ):  # fmt: skip
        table += [(sex, department, int(k < admitted), k % 2) for k in range(n)]
    return pd.DataFrame(table, columns=["sex", "department", "yhat", "y"])


def test_a_sign_that_turns_is_pointed_out() -> None:
    table = berkeley()
    found = audit(
        table["y"], table["yhat"], sensitive_features=table[["sex"]], privileged="M",
        strata=table["department"], metrics=["spd", "di"],
    )  # fmt: skip
    (row,) = found.conditional
    assert row.value == pytest.approx(0.25 - 0.55)
    assert row.within == pytest.approx(0.1)
    assert row.low < 0.1 < row.high
    assert (row.turns, row.strata_used, row.strata) == (True, 2, "department")
    assert any("Simpson" in note for note in found.notes)
    assert {f.attribute for f in found.metrics} == {None, "sex"}  # strata are not audited
    assert found.to_dict()["conditional"][0]["turns"] is True
    assert len(found.frame("conditional")) == 1
    without = audit(
        table["y"], table["yhat"], sensitive_features=table[["sex"]], privileged="M", metrics=["spd", "di"]
    )  # fmt: skip
    pd.testing.assert_frame_equal(without.frame(), found.frame())
    assert without.conditional == ()


def test_files_counts_and_scores_take_strata_too(tmp_path) -> None:
    table = berkeley().assign(score=0.5)
    table.to_csv(tmp_path / "p.csv", index=False)
    found = audit_file(
        tmp_path / "p.csv", label="y", prediction="yhat", sensitive_features="sex", score="score",
        strata="department", privileged="M", favorable=1,
    )  # fmt: skip
    assert {r.name for r in found.conditional} >= {
        "statistical_parity_difference",
        "equal_opportunity_difference",
    }
    counts = Counts.from_labels(
        table["y"], table["yhat"], sensitive_features=table[["sex", "department"]], privileged={"sex": "M"}
    )  # fmt: skip
    again = audit_counts(counts, strata=["department"])
    assert again.conditional == found.conditional


def test_without_a_privileged_group_the_extremes_are_compared() -> None:
    table = berkeley()
    found = audit(
        table["y"],
        table["yhat"],
        sensitive_features=table["sex"].tolist(),
        strata=table["department"].tolist(),
        metrics=["spd"],
    )
    (row,) = found.conditional
    assert row.comparison == "M vs F"
    assert row.within == pytest.approx(-0.1)
    assert row.strata == "stratum"


def test_strata_must_be_other_columns() -> None:
    table = berkeley()
    with pytest.raises(InputError, match="another column"):
        audit(table["y"], table["yhat"], sensitive_features=table[["sex"]], strata=table[["sex"]])
    counts = Counts.from_labels(table["y"], table["yhat"], sensitive_features=table[["sex"]])
    with pytest.raises(InputError, match="At least one attribute"):
        audit_counts(counts, strata=["sex"])
    with pytest.raises(InputError, match="no stratum"):
        audit_counts(counts, strata=["sexx"])


def test_strata_that_hold_one_side_only_say_nothing() -> None:
    y = np.arange(200) % 2
    s = np.repeat(["a", "b"], 100)
    found = audit(y, y, sensitive_features=s, strata=s.copy(), privileged="a", metrics=["spd"])
    (row,) = found.conditional
    assert row.strata_used == 0
    assert np.isnan(row.within)
    assert row.reason == "no stratum holds both sides"
