"""Changes of performance and of gaps over splits, by hand and by resampling."""

import numpy as np
import pytest

from isonomy.benchmark.change import gap_change, gaps, row_covariance, signed_gap
from isonomy.metrics import JointCounts

SPD = "statistical_parity_difference"


def counts(n: int = 900, repeats: int = 3, weighted: bool = False) -> JointCounts:
    out = []
    for repeat in range(repeats):
        rng = np.random.default_rng(repeat)
        s, y = rng.integers(0, 2, n), rng.integers(0, 2, n)
        base = np.where(rng.uniform(size=n) < 0.7, y, s)
        method = np.where(rng.uniform(size=n) < 0.6, base, y)
        out.append(
            JointCounts.from_labels(
                y,
                base,
                method,
                sensitive_features={"s": s},
                privileged={"s": 1},
                sample_weight=rng.uniform(0.5, 2, n) if weighted else None,
            )
        )
    return JointCounts.stack(out)


def test_rows_explain_the_variance_of_two_shares() -> None:
    joint = counts()
    found = row_covariance(joint, SPD)
    rows = joint.base.n.sum(axis=-2)  # repeat, group, prediction
    share = rows[..., 1] / rows.sum(axis=-1)
    by_hand = (share * (1 - share) / rows.sum(axis=-1)).sum(axis=-1)
    assert found[0, 0] == pytest.approx(by_hand, rel=1e-5)
    assert found[0, 1] == pytest.approx(found[1, 0])


@pytest.mark.parametrize("fairness", [SPD, "average_odds_difference", "disparate_impact"])
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_explain_what_resampling_them_shows(fairness: str, weighted: bool) -> None:
    joint = counts(repeats=1, weighted=weighted)
    drawn = joint.map_cells(lambda cells: cells[0]).resample(4000, random_state=1)
    both = np.array([gaps(side, fairness) for side in (drawn.base, drawn.method)])
    found = row_covariance(joint, fairness)[..., 0]
    assert found == pytest.approx(np.cov(both), rel=0.12)


def test_the_change_is_of_the_size_of_the_mean_gap() -> None:
    joint = counts(repeats=8)
    before, after = (gaps(side, SPD).mean() for side in (joint.base, joint.method))
    change, _ = gap_change(joint, SPD, test_share=0.3, confidence=0.95)
    assert (change.before, change.after) == pytest.approx((abs(before), abs(after)))
    assert change.low < change.by < change.high < 0
    gap, _ = signed_gap(joint, SPD, test_share=0.3, confidence=0.95)
    assert gap.value == pytest.approx(before)
    assert gap.high < 0
    assert gap.shown


def test_a_gap_that_turns_has_changed_by_its_size_only() -> None:
    joint = counts(repeats=8)
    turned = joint.map_cells(lambda cells: cells[:, ::-1])  # the mitigated model favours the other
    both = JointCounts.stack([_mixed(joint, turned, k) for k in range(8)])
    change, _ = gap_change(both, SPD, test_share=0.3, confidence=0.95)
    assert change.by == pytest.approx(0.0, abs=0.02)
    assert change.low <= 0 <= change.high


def _mixed(joint: JointCounts, turned: JointCounts, k: int) -> JointCounts:
    """Independent of each other: the original's predictions, and the mirror image of them."""
    first, second = joint.base.n[k], turned.base.n[k]
    rows = first.sum(axis=-1, keepdims=True)[..., None]
    cells = first[..., :, None] * second[..., None, :] / np.maximum(rows, 1)
    return joint.map_cells(lambda _: cells)
