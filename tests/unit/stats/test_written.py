"""How a p-value is written."""

import pytest

from isonomy.stats.written import write_p_value


@pytest.mark.parametrize(
    ("p", "digits", "text"),
    [
        (1.0, 4, "1.0000"), (0.05, 4, "0.0500"), (0.0001, 4, "0.0001"), (0.00009999, 4, "< 0.0001"),
        (0.0, 3, "< 0.001"), (0.0014, 3, "0.001"), (float("nan"), 3, "undefined"),
    ],
)  # fmt: skip
def test_what_is_too_small_for_the_digits_is_smaller(p: float, digits: int, text: str) -> None:
    assert write_p_value(p, digits=digits) == text
