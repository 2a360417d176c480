"""Given identical scores, the post-processors as published equal AIF360's rule exactly."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from isonomy.errors import InputError
from isonomy.mitigators import (
    CalibratedEqualizedOdds,
    EqualizedOdds,
    PostProcessor,
    RejectOption,
)

GOLDEN = Path(__file__).parent / "golden"
EXPECTED = json.loads((GOLDEN / "aif360_mitigators.json").read_text(encoding="utf-8"))["post"]
ARRAYS = np.load(GOLDEN / "aif360_mitigators.npz")
CASES = list(EXPECTED)


def part(case: str, which: str) -> dict[str, Any]:
    """Give the arguments of fit_scores (y and w included) or of adjust."""
    at = {key: ARRAYS[f"post/{case}/{which}/{key}"] for key in ("score", "label", "y", "s")}
    weight = ARRAYS[f"post/{case}/{which}/weight"]
    common = {
        "scores": at["score"],
        "labels": at["label"].astype(int),
        "s": at["s"].astype(int),
    }
    if which == "apply":
        return common
    return common | {"y": at["y"].astype(int), "w": None if (weight == 1).all() else weight}


def fitted(rule: PostProcessor, case: str) -> tuple[PostProcessor, np.ndarray]:
    rule.fit_scores(**part(case, "fit"))
    return rule, rule.adjust(**part(case, "apply"))


@pytest.mark.parametrize("metric", ["spd", "aod", "eod"])
@pytest.mark.parametrize("case", CASES)
def test_reject_option(case: str, metric: str) -> None:
    rule = RejectOption(metric=metric, protocol="as_published")
    expected = EXPECTED[case][f"roc_{metric}"]
    if "error" in expected:
        with pytest.raises(InputError, match="lacks one"):
            fitted(rule, case)
        return
    rule, labels = fitted(rule, case)
    assert (rule.threshold_, rule.margin_) == (expected["threshold"], expected["margin"])
    assert rule.feasible_ is not expected["unable_to_satisfy"]
    np.testing.assert_array_equal(labels, ARRAYS[f"post/{case}/roc_{metric}/labels"])


@pytest.mark.parametrize("cost", ["fnr", "fpr", "weighted"])
@pytest.mark.parametrize("case", CASES)
def test_calibrated_equalized_odds(case: str, cost: str) -> None:
    rule, labels = fitted(CalibratedEqualizedOdds(cost=cost, protocol="as_published"), case)
    expected = EXPECTED[case][f"ceo_{cost}"]
    np.testing.assert_allclose(
        [rule.mix_rate_[1], rule.mix_rate_[0], rule.base_rate_[1], rule.base_rate_[0]],
        [
            float(expected["privileged_mix"]),  # an undefined share is the text "nan"
            float(expected["unprivileged_mix"]),
            expected["privileged_base_rate"],
            expected["unprivileged_base_rate"],
        ],
        rtol=1e-11,
        atol=1e-14,
    )
    np.testing.assert_array_equal(labels, ARRAYS[f"post/{case}/ceo_{cost}/labels"])


@pytest.mark.parametrize("case", CASES)
def test_equalized_odds(case: str) -> None:
    rule = EqualizedOdds(protocol="as_published")
    expected = EXPECTED[case]["eo"]
    if "error" in expected:
        with pytest.raises(InputError, match="lacks one"):
            fitted(rule, case)
        return
    rule, labels = fitted(rule, case)
    np.testing.assert_allclose(
        [rule.keep_[1], rule.turn_[1], rule.keep_[0], rule.turn_[0]],
        expected["rates"],
        rtol=0,
        atol=1e-12,
    )
    np.testing.assert_array_equal(labels, ARRAYS[f"post/{case}/eo/labels"])


def test_the_frozen_cases_reach_every_branch() -> None:
    """The oracle is worth what it covers: infeasible searches, shares outside [0, 1], errors."""
    flat = [(case, name, value) for case in CASES for name, value in EXPECTED[case].items()]
    assert any(v.get("unable_to_satisfy") for _, n, v in flat if n.startswith("roc"))
    shares = [
        float(v[side])
        for _, n, v in flat
        if n.startswith("ceo")
        for side in ("privileged_mix", "unprivileged_mix")
    ]
    assert np.nanmax(shares) > 1
    assert np.nanmin(shares) < 0
    assert np.isnan(shares).any()
    assert any("error" in v for _, _, v in flat)
