"""The policy that an audit passes."""

from typing import Any

import pytest

from isonomy import Policy, audit, check
from isonomy.errors import InputError
from isonomy.gate import passing_policy


def test_ranges_are_the_usual_ones_or_as_wide_as_today(audit_of: Any) -> None:
    found = audit_of([300, 500], [1000, 1000], metrics=["spd", "fpr", "di"][:1])
    made = passing_policy(found)
    low, high = made.metrics["statistical_parity_difference"]
    assert (round(low * 100), high) == (-25, 0.1)
    assert check(found, made).verdict == "pass"
    assert passing_policy(audit_of([500, 500], [1000, 1000])) == Policy(
        attributes="sex", metrics={"spd": 0.1}
    )


def test_what_cannot_be_decided_is_left_out(audit_of: Any) -> None:
    found = audit(
        [0] * 1000 + [0, 1] * 500, [0, 1] * 1000, privileged="m", metrics=["spd", "eod"],
        sensitive_features={"sex": ["f"] * 1000 + ["m"] * 1000}, resamples=100,
    )  # fmt: skip
    assert list(passing_policy(found).metrics) == ["statistical_parity_difference"]
    with pytest.raises(InputError, match="none has enough rows"):
        passing_policy(audit_of([5, 9], [20, 20]))
