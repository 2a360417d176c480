"""States of findings, worked out by hand."""

from typing import Any

import pytest

from isonomy.audit import Finding
from isonomy.gate import EXIT_CODES, decide, overall


def finding(verdict: str, p: float | None = None, rows: int | None = 500) -> Finding:
    return Finding(
        "statistical_parity_difference", "SPD", "sex", "f vs m", 0.2, 0.1, 0.3, -0.1, 0.1, rows,
        verdict, "because", p,  # type: ignore[arg-type]
    )  # fmt: skip


def test_violations_hold_together_and_nothing_else_is_within() -> None:
    # Holm over the five with a verdict: 0.009 * 5 <= 0.05, then 0.0125 * 4 <= 0.05, then 0.02 * 3 > 0.05
    found = [
        finding("violated", 0.02),
        finding("violated", 0.0125),
        finding("within"),
        finding("violated", 0.009),
        finding("insufficient evidence"),
        finding("undefined"),
    ]
    assert decide(found, 0.95) == [
        "too little evidence", "violated", "within", "violated", "too little evidence",
        "too little evidence",
    ]  # fmt: skip
    assert decide(found, 0.9)[0] == "violated"
    assert decide([found[0]], 0.95) == ["violated"]
    assert decide([], 0.95) == []


def test_fewest_rows_overrule_every_verdict() -> None:
    found = [
        finding("violated", 1e-9, 99),
        finding("within", None, 99),
        finding("within", None, 100),
    ]
    thin = "too little evidence"
    assert decide(found, 0.95, fewest_rows=100) == [thin, thin, "within"]
    assert decide([finding("within", None, None)], 0.95, fewest_rows=100) == ["within"]


@pytest.mark.parametrize(
    ("states", "verdict"),
    [
        ([], "pass"),
        ([("within", "fail"), ("accepted", "fail")], "pass"),
        ([("within", "fail"), ("too little evidence", "fail")], "too little evidence"),
        ([("too little evidence", "warn"), ("too little evidence", "pass")], "pass"),
        ([("too little evidence", "fail"), ("violated", "pass")], "violated"),
    ],
)
def test_one_verdict(states: list[Any], verdict: str) -> None:
    assert overall(states) == verdict


def test_exit_codes() -> None:
    assert EXIT_CODES == {"pass": 0, "violated": 1, "too little evidence": 3}
