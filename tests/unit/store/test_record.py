"""The result frame: what goes in comes out, once, with its types."""

import numpy as np
import pandas as pd
import pytest

from isonomy.errors import InputError
from isonomy.store import COLUMNS, Record, combine, records_frame, wide
from isonomy.store.record import Block, blocks_frame, check_frame


def run(repeat: int | None, status: str = "ok", reason: str = "", **metrics: float) -> Record:
    return Record("s", "adult", "sex", "lr", "reweighing", repeat, metrics, status, reason)


def test_records_become_one_row_per_metric() -> None:
    frame = records_frame([run(0, a=1.0, b=2.0), run(1, a=3.0, b=4.0), run(None, a=5.0)])
    assert tuple(frame.columns) == COLUMNS
    assert frame["metric"].tolist() == ["a", "b", "a", "b", "a"]
    assert frame["value"].tolist() == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert frame["repeat"].tolist()[:4] == [0, 0, 1, 1]
    assert frame["repeat"].isna().tolist() == [False] * 4 + [True]
    assert set(frame["status"]) == {"ok"}


def test_blocks_are_read_metric_by_metric() -> None:
    values = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    block = Block("s", "adult", "sex", "lr", "rw", ("a", "b"), values, range(3))
    table = wide(blocks_frame([block]))
    assert table["a"].tolist() == [1.0, 2.0, 3.0]
    assert table["b"].tolist() == [4.0, 5.0, 6.0]
    assert table["repeat"].tolist() == [0, 1, 2]


def test_a_failed_run_keeps_a_row_with_its_reason_and_stays_out_of_wide() -> None:
    frame = records_frame([run(0, a=1.0), run(1, "failed", "singular matrix")])
    assert frame["reason"].tolist() == ["", "singular matrix"]
    assert frame["value"].isna().tolist() == [False, True]
    assert wide(frame)["repeat"].tolist() == [0]


@pytest.mark.parametrize(("status", "reason"), [("failed", ""), ("fine", "because")])
def test_a_record_must_say_what_became_of_it(status: str, reason: str) -> None:
    with pytest.raises(InputError, match=r"must say why|no status"):
        run(0, status, reason)


def test_wide_makes_sizes_of_signed_gaps_and_leaves_missing_ones_undefined() -> None:
    frame = records_frame([run(0, gap=-0.2, a=1.0), run(1, gap=0.1)])
    table = wide(frame, ["|gap|", "a"])
    assert table["|gap|"].tolist() == [0.2, 0.1]
    assert table["a"].isna().tolist() == [False, True]


def test_wide_names_an_absent_metric_and_a_doubled_run() -> None:
    frame = records_frame([run(0, a=1.0), run(0, a=2.0)])
    with pytest.raises(InputError, match="must hold the metric 'b'; it holds 'a'"):
        wide(frame, ["b"])
    with pytest.raises(InputError, match="one value of a"):
        wide(frame, ["a"])


def test_combine_keeps_words_as_categories_and_rows_in_order() -> None:
    one = records_frame([run(0, a=1.0)])
    other = records_frame([Record("t", "bank", "age", "rf", "fairway", None, {"b": 2.0})])
    both = combine([one, other])
    assert both["study"].dtype == "category"
    assert both["metric"].tolist() == ["a", "b"]
    assert both["repeat"].isna().tolist() == [False, True]
    assert combine([]).empty
    assert tuple(combine([]).columns) == COLUMNS


def test_check_frame_brings_plain_columns_to_their_types() -> None:
    plain = pd.DataFrame(records_frame([run(0, a=1.0)]).astype(object))
    checked = check_frame(plain)
    assert checked["metric"].dtype == "category"
    assert checked["repeat"].dtype == "Int64"
    assert checked["value"].dtype == "float64"
    assert check_frame(plain.assign(reason=None))["reason"].tolist() == [""]
    with pytest.raises(InputError, match="'value' is missing"):
        check_frame(plain.drop(columns="value"))
    with pytest.raises(InputError, match="no status"):
        check_frame(plain.assign(status="great"))
