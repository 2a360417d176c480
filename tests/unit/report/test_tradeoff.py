"""The page of a trade-off and the terminal say the same."""

from dataclasses import replace

import numpy as np
import pytest

from isonomy.cli.output import console
from isonomy.cli.tradeoff import show
from isonomy.report import summarize, to_html
from isonomy.tradeoff import judge
from tests.results import tradeoff


@pytest.mark.parametrize(("chance", "written"), [(0.996, "99"), (0.946, "94"), (1.0, "100")])
def test_a_probability_is_written_alike_on_the_page_and_on_the_terminal(
    chance: float, written: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is rounded in one place and cut in another would be 100 % here and 99 % there."""
    rng = np.random.default_rng(0)
    groups = rng.choice(["a", "b"], 400)
    y = rng.random(400) < 0.5
    base = y ^ (rng.random(400) < 0.2) | (groups == "a") & (rng.random(400) < 0.2)
    verdict = judge(y, base, y, sensitive_features=groups, resamples=100)
    assert verdict.region is not None
    verdict = replace(verdict, probability={verdict.region: chance})
    show([("group", "method", verdict)], console(), "rows")
    assert f" {written}% " in capsys.readouterr().out
    page = to_html(summarize([("group", "method", verdict)], title="rows"))
    assert f"{verdict.region} {written} %" in page


def test_who_is_affected_is_said_in_people() -> None:
    made = tradeoff()
    people = summarize(made)["parts"][0]
    (_, method, verdict) = made[0]
    before, after = (1000 * verdict.baseline.bias[0], 1000 * verdict.bias)
    assert people["heading"] == "Who is affected"
    assert people["blocks"][0]["text"] == (
        f"Of every 1,000 people in each group of sex, {before:.0f} more of one group than of another "
        f"receive the favourable decision with the original model; with {method}, {after:.0f}."
    )
