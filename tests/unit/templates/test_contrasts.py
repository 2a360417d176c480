"""Groups against one of them."""

import numpy as np
import pytest

from isonomy.errors import InputError
from isonomy.templates.contrasts import contrast_frame, expected_least, find_reference


def test_an_open_reference_and_a_ratio_that_cannot_be_reached() -> None:
    frame = contrast_frame(
        ["a", "b", "c"], np.array([10.0, 10.0, 0.0]), np.array([0.0, 10.0, 0.0]), 1
    )
    assert frame["ratio"].tolist()[:2] == [0.0, 1.0]
    assert np.isnan(frame["ratio"][2])
    assert frame.loc[1, ["z", "p", "ratio_low"]].isna().all()
    assert frame.attrs["reference"] == "b"


def test_expected_least_is_the_smallest_cell() -> None:
    n, x = np.array([20.0, 80.0]), np.array([19.0, 61.0])
    # 20 of 100 people are rejected, 20 in the smaller group: 20 * 20 / 100
    assert expected_least(n, x, 1)[0] == pytest.approx(4.0)


def test_the_reference_is_one_group() -> None:
    assert find_reference("g", [1, 2.0], "2") == 1
    with pytest.raises(InputError, match="must be one group"):
        find_reference("g", ["a", "b"], ["a", "b"])
