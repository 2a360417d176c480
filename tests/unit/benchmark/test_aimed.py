"""A benchmark says what methods aimed at, what was chosen for them, and what they warned of."""

import pytest

from isonomy.benchmark.aimed import NO_GAP, aim_of, settings_of, warnings_of
from isonomy.store import Record

SPD, EOD = "statistical_parity_difference", "equal_opportunity_difference"


def run(method: str, repeat: int = 0, **more: str) -> Record:
    return Record("s", "d", "sex", "lr", method, repeat, **more)


@pytest.mark.parametrize(
    ("record", "fairness", "aim", "on_target"),
    [
        (run("reweighing"), SPD, "demographic parity", True),
        (run("reweighing"), EOD, "demographic parity", False),
        (run("suppression"), SPD, NO_GAP, False),
        (
            run("reject_option", settings="reject_option(metric=eod)"),
            EOD,
            "equal opportunity",
            True,
        ),
        (run("equalized_odds"), EOD, "equal opportunity", True),
        (run("my own"), SPD, "", None),
        (run("my own", settings="prejudice_remover(eta=5)"), SPD, "demographic parity", True),
    ],
)
def test_aims(record: Record, fairness: str, aim: str, on_target: bool | None) -> None:
    assert aim_of([record], fairness) == {"aim": aim, "on_target": on_target}


def test_settings_leave_out_what_the_label_says_and_count_the_repeats() -> None:
    label = "reject_option(metric=spd)"
    runs = [
        run(label, k, settings=f"reject_option(metric=spd, objective=accuracy, bounds={b})")
        for k, b in enumerate(["(-0.1, 0.1)", "(-0.1, 0.1)", "(-0.02, 0.02)"])
    ]
    assert settings_of(runs) == "objective=accuracy; bounds=(-0.1, 0.1) (2 of 3), (-0.02, 0.02) (1)"
    assert settings_of([run("reweighing")]) == ""
    assert settings_of([run("odd (one", settings="maat(weight=0)")]) == "weight=0"


def test_warnings_that_differ_in_numbers_are_one() -> None:
    runs = [
        run("a", 0, warnings="The nearest is 0.061.\nOnly once."),
        run("a", 1, warnings="The nearest is -1.2e-05."),
        run("a", 2),
        run("b", 0, warnings="The nearest is 0.5."),
    ]
    assert warnings_of(runs) == [
        "a warned in 2 of 3 repeats: The nearest is 0.061.",
        "a warned in 1 of 3 repeats: Only once.",
        "b warned in 1 of 1 repeat: The nearest is 0.5.",
    ]
