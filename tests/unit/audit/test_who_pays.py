"""Who pays: changes by group on the same rows, and gaps closed by taking from the better-off."""

import json

import numpy as np
import pytest
from scipy.stats import norm

from isonomy.audit import changes_by_group, who_pays
from isonomy.errors import InputError
from isonomy.metrics import JointCounts

SEX = np.repeat(["f", "m"], 400)
LABEL = np.tile([1, 0], 400)


def rows(*shares: float) -> np.ndarray:
    """Return predictions of which a share of each group, evenly over the labels, is favourable."""
    return np.concatenate(
        [(np.arange(400) // 2 % 100 < round(100 * share)).astype(int) for share in shares]
    )


def found(old: np.ndarray, new: np.ndarray, **more: object) -> object:
    given: dict[str, object] = {"sensitive_features": {"sex": SEX}, "privileged": "m"}
    return who_pays(LABEL, old, new, **(given | more))  # type: ignore[arg-type]


def test_a_change_is_that_of_the_rates_and_its_interval_follows_from_the_rows_that_differ() -> None:
    result = found(rows(0.4, 0.6), rows(0.45, 0.6))
    first = result.of("selection_rate")[0]  # type: ignore[attr-defined]
    assert (first.group, first.before, first.after, first.rows) == ("f", 0.4, 0.45, 400)
    # both groups' intervals hold together; 20 of 400 rows change, and z**2 / 2 more might have
    z = norm.isf(0.05 / 2 / 2)
    variance = (0.05 * 0.95**2 + 0.95 * 0.05**2) / 400 + z**2 / 2 / 400**2
    assert first.high - first.by == pytest.approx(z * np.sqrt(variance))
    assert first.word == "rises"
    assert result.of("selection_rate")[1].word == "no clear change"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("old", "new", "down"),
    [
        ((0.4, 0.8), (0.4, 0.4), True),  # nobody gains
        ((0.4, 0.8), (0.2, 0.3), True),  # everybody loses, the better-off more
        ((0.4, 0.8), (0.8, 0.8), False),  # the worse-off gain
        ((0.4, 0.8), (0.6, 0.6), False),  # half and half
        ((0.4, 0.8), (0.1, 0.5), False),  # both lose alike: no gap closes
        ((0.4, 0.8), (0.4, 0.0), False),  # turned round, and as wide
        ((0.8, 0.4), (0.4, 0.4), True),  # the privileged were worse off
    ],
)
def test_levelling_down(old: tuple[float, float], new: tuple[float, float], *, down: bool) -> None:
    result = found(rows(*old), rows(*new))
    assert result.levels_down is down  # type: ignore[attr-defined]


def test_it_says_which_gap_and_how_much_was_taken() -> None:
    result = found(rows(0.4, 0.8), rows(0.4, 0.5))
    one = result.levelled[0]  # type: ignore[attr-defined]
    assert (one.rate, one.better, one.worse) == ("selection_rate", "m", "f")
    assert str(one) == (
        "the gap in selection rate between m and f closes from 0.400 to 0.100, all of it taken from m"
    )


def test_every_pair_is_asked_where_nobody_is_privileged() -> None:
    result = found(rows(0.8, 0.4), rows(0.4, 0.4), privileged=None)
    assert result.compared == "every pair of groups"  # type: ignore[attr-defined]
    assert result.levelled[0].better == "f"  # type: ignore[attr-defined]


def test_several_attributes_make_intersections_and_few_rows_get_no_interval() -> None:
    rng = np.random.default_rng(0)
    sex, race = rng.choice(["f", "m"], 2000), rng.choice(["x", "y"], 2000, p=[0.99, 0.01])
    y, old, new = (rng.integers(0, 2, 2000) for _ in range(3))
    result = who_pays(
        y, old, new, sensitive_features={"sex": sex, "race": race},
        privileged={"sex": "m", "race": "y"},
    )  # fmt: skip
    by_group = {c.group: c for c in result.of("selection_rate")}
    assert set(by_group) == {"f & x", "f & y", "m & x", "m & y"}
    few = by_group["f & y"]
    assert few.rows < 30
    assert few.word == "unknown"
    assert "fewer than 30" in str(few.reason)
    assert result.compared == "each group with m & y"


def test_weights_count_as_rows_do() -> None:
    old, new = rows(0.4, 0.8), rows(0.4, 0.6)
    heavy = found(old, new, sample_weight=np.full(800, 2.0))
    plain = found(old, new)
    for one, other in zip(heavy.changes, plain.changes, strict=True):  # type: ignore[attr-defined]
        assert (one.by, one.low, one.high) == pytest.approx((other.by, other.low, other.high))


def test_more_splits_of_the_same_rows_are_no_new_rows() -> None:
    rng = np.random.default_rng(0)
    old, new = rng.integers(0, 2, 800), rng.integers(0, 2, 800)
    given = LABEL, old, new, SEX
    joints = []
    for _ in range(60):
        some = rng.permutation(800)[:400]
        y, base, pred, sex = (v[some] for v in given)
        joints.append(JointCounts.from_labels(y, base, pred, sensitive_features={"sex": sex}))
    many = changes_by_group(JointCounts.stack(joints), test_share=0.5)
    whole = who_pays(*given[:3], sensitive_features={"sex": SEX})
    for one, other in zip(many.changes, whole.changes, strict=True):
        assert one.by == pytest.approx(other.by, abs=0.03)
        assert one.high - one.low > 0.8 * (other.high - other.low)


def test_a_group_that_some_splits_lack_is_kept() -> None:
    rng = np.random.default_rng(0)
    n = rng.integers(20, 40, size=(6, 3, 2, 2, 2)).astype(float)
    n[::2, 2] = 0
    joint = JointCounts(n, ("g",), (("a",), ("b",), ("c",)), (0, 1), (1,))
    last = [c for c in changes_by_group(joint).changes if c.group == "c"]
    assert all(np.isfinite([c.by, c.low, c.high]).all() for c in last)


def test_it_is_plain_data_and_a_frame() -> None:
    result = found(rows(0.4, 0.8), rows(0.4, 0.4))
    data = json.loads(json.dumps(result.to_dict()))  # type: ignore[attr-defined]
    assert data["levels_down"] is True
    assert data["levelled"][0]["taken"] == 1
    frame = result.frame()  # type: ignore[attr-defined]
    assert len(frame) == 6
    assert frame["change"].iloc[1] == pytest.approx(-0.4)


def test_confidence_must_be_a_share() -> None:
    with pytest.raises(InputError, match="confidence"):
        found(rows(0.4, 0.8), rows(0.4, 0.4), confidence=95)
