"""The page of tails: it shows what the report holds, and computes no level of its own."""

from typing import Any

import numpy as np
import pytest

from isonomy import report
from isonomy.tails import TailFit
from tests.results import tail_curves, tails


def levels_shown(found: Any) -> list[list[dict[str, Any]]]:
    parts = report.summarize(found)["parts"]
    blocks = next(p["blocks"] for p in parts if p["name"] == "picture")
    chart = next(c for c in blocks if c["title"].startswith("What is to be expected"))
    return [list(row) for row in chart["numbers"]["rows"]]


@pytest.mark.parametrize("made", [tails, tail_curves])
def test_no_level_is_computed_while_drawing(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (found,) = made()
    for name in ("levels", "interval", "return_level"):
        monkeypatch.delattr(TailFit, name)
    shown = levels_shown([found])
    held = np.concatenate([g.levels.to_numpy() for g in found.groups])
    assert [row[2]["value"] for row in shown] == held[:, 1].tolist()
    assert [row[2]["low"] for row in shown] == held[:, 2].tolist()
    assert [row[2]["high"] for row in shown] == held[:, 3].tolist()


def test_the_curve_goes_beyond_the_horizons_and_meets_them() -> None:
    (short,), (long,) = tails(), tail_curves()
    for few, many in zip(short.groups, long.groups, strict=True):
        assert few.levels["horizon"].tolist() == [500, 1000, 2000]
        assert len(many.levels) == 13
        assert many.levels["horizon"].iloc[-1] >= 10 * many.extremes.rows
        between = np.interp(
            np.log(few.levels["horizon"]), np.log(many.levels["horizon"]), many.levels["level"]
        )
        np.testing.assert_allclose(between, few.levels["level"], rtol=0.02, atol=1e-4)
