"""No wider than in an earlier audit: the limits worked out by hand, and what cannot be compared."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import isonomy
from isonomy import Policy, check
from isonomy.errors import InputError
from isonomy.gate import Columns, Earlier
from isonomy.gate.earlier import growth


def test_growth_of_a_signed_gap_by_hand() -> None:
    # from -0.1 ± 0.03 to -0.3 ± 0.04: margins add as roots of squares, 0.05
    value, low, high = growth((-0.3, -0.34, -0.26), (-0.1, -0.13, -0.07), signed=True)
    assert (value, low, high) == pytest.approx((0.2, 0.15, 0.25))
    # the sign has turned: the size has grown as much
    assert growth((0.3, 0.26, 0.34), (-0.1, -0.13, -0.07), signed=True) == pytest.approx(
        (0.2, 0.15, 0.25)
    )
    # a gap of 0 that may be anything near it: growth is at most that of the size itself
    value, low, high = growth((0.2, 0.2, 0.2), (0.0, -0.1, 0.1), signed=True)
    assert (value, low, high) == pytest.approx((0.2, 0.1, 0.3))


def test_growth_of_a_size_sets_limits_against_each_other() -> None:
    found = growth((0.3, 0.2, 0.4), (0.1, 0.05, 0.15), signed=False)
    assert found == pytest.approx((0.2, 0.05, 0.35))
    assert growth((0.0, -0.1, 0.2), (-0.3, -0.4, -0.2), signed=False) == pytest.approx(
        (-0.3, -0.4, 0.0)
    )
    assert np.isnan(growth((np.nan,) * 3, (0.1, 0.0, 0.2), signed=True)[0])


def policy(folder: Path, margin: float = 0.0, thin: Any = "warn", **fields: Any) -> Policy:
    return Policy(
        **{"attributes": "sex", "metrics": {"spd": 0.5}, **fields},
        earlier=Earlier(str(folder / "old.json"), margin, thin),
    )


def keep(found: Any, folder: Path, **change: Any) -> None:
    (folder / "old.json").write_text(json.dumps({**found.to_dict(), **change}))


def test_worse_no_worse_and_neither(audit_of: Any, tmp_path: Path) -> None:
    rows = [2000, 2000]
    keep(audit_of([900, 1000], rows), tmp_path)
    worse = check(audit_of([600, 1000], rows), policy(tmp_path))
    assert worse.verdict == "violated"
    outcome = worse.outcomes[-1]
    assert (outcome.test, outcome.state, outcome.accept_high) == ("no worse", "violated", 0.0)
    assert outcome.value == pytest.approx(0.15)
    assert outcome.low < 0.15 < outcome.high
    # margins of the four rates: roots of squares of two 95 % intervals of a difference
    se = np.sqrt(sum(p * (1 - p) / 2000 for p in (0.3, 0.5, 0.45, 0.5)))
    assert outcome.high - outcome.low == pytest.approx(2 * 1.96 * se, rel=0.01)
    same = audit_of([900, 1000], rows)
    assert check(same, policy(tmp_path)).verdict == "pass"  # not shown to be worse
    assert check(same, policy(tmp_path, thin="fail")).verdict == "too little evidence"
    assert check(same, policy(tmp_path, 0.1, "fail")).verdict == "pass"  # shown to be no worse
    turned = audit_of([1000, 1000], rows)
    assert check(turned, policy(tmp_path, 0.0, "fail")).outcomes[-1].state == "within"


def test_a_ratio_and_its_inverse_are_as_far(audit_of: Any, tmp_path: Path) -> None:
    rules = policy(tmp_path, metrics={"di": 0.1})
    keep(audit_of([800, 1000], [2000, 2000]), tmp_path)
    found = check(audit_of([1000, 800], [2000, 2000]), rules).outcomes[-1]
    assert found.value == pytest.approx(0)
    assert found.state == "too little evidence"


def test_few_rows_and_largest_against_smallest(audit_of: Any, tmp_path: Path) -> None:
    keep(audit_of([10, 20], [28, 40], None), tmp_path)
    found = check(audit_of([100, 1000], [2000, 2000], None), policy(tmp_path)).outcomes[-1]
    assert found.state == "too little evidence"
    assert "rests on 28 rows, fewer than 30" in found.reason
    keep(audit_of([1000, 1000], [2000, 2000], None), tmp_path)
    worse = check(audit_of([100, 1000], [2000, 2000], None), policy(tmp_path)).outcomes[-1]
    assert (worse.state, worse.comparison) == ("violated", "largest vs smallest")


def test_metrics_that_the_earlier_audit_did_not_have(audit_of: Any, tmp_path: Path) -> None:
    keep(audit_of([900, 1000], [2000, 2000]), tmp_path)
    rules = policy(tmp_path, metrics={"eod": 0.5, "between_group_theil_index": 0.5})
    done = check(audit_of([900, 1000], [2000, 2000]), rules)
    assert [o.metric for o in done.outcomes if o.test == "no worse"] == list(rules.metrics)
    assert [o.value for o in done.outcomes if o.test == "no worse"] == [0.0, 0.0]


def test_what_cannot_be_compared(audit_of: Any, tmp_path: Path) -> None:
    now, rules = audit_of([900, 1000], [2000, 2000]), policy(tmp_path)
    with pytest.raises(InputError, match="no earlier audit"):
        check(now, rules)
    for text, said in (
        ("{", "cannot be read: Expecting"),
        ("[]", "holds no counts"),
        ('{"counts": {"attributes": ["sex"]}}', "Counts must be a dictionary"),
        ('{"counts": {"attributes": ["race"]}}', r"is of 'race' and has no 'sex'"),
    ):
        (tmp_path / "old.json").write_text(text)
        with pytest.raises(InputError, match=said) as raised:
            check(now, rules)
        assert "\n" not in str(raised.value)
    (tmp_path / "old.json").write_bytes(b"\xff\xfe{}")
    with pytest.raises(InputError, match="cannot be read"):
        check(now, rules)
    keep(audit_of([900, 1000], [2000, 2000], None), tmp_path)
    with pytest.raises(InputError, match="value of sex 'x'"):
        check(
            audit_of([900, 1000, 900], [2000, 2000, 2000]),
            policy(tmp_path, data=Columns(privileged={"sex": "x"})),
        )
    old = now.to_dict()
    old["counts"]["classes"] = ["no", "yes"]
    old["counts"]["cells"] = [
        [s, ("no", "yes")[t], ("no", "yes")[p], n] for s, t, p, n in old["counts"]["cells"]
    ]
    keep(now, tmp_path, counts=old["counts"], favorable=["yes"])
    with pytest.raises(
        InputError, match="cannot be compared with this one: There is no favourable"
    ):
        check(now, rules)


def test_weights_and_intersections_travel(predictions: Any, tmp_path: Path) -> None:
    from isonomy import audit

    asked = {
        "sensitive_features": predictions[["sex", "race"]], "favorable": "good",
        "sample_weight": predictions["weight"], "privileged": {"sex": "M", "race": "a"},
    }  # fmt: skip
    found = audit(predictions["y"], predictions["yhat"], **asked)
    keep(found, tmp_path)
    rules = policy(tmp_path, attributes=("sex", "race"), metrics={"spd": 0.9}, intersections=True)
    outcomes = [o for o in check(found, rules).outcomes if o.test == "no worse"]
    assert [o.attribute for o in outcomes] == ["sex", "race", "sex & race"]
    assert [o.value for o in outcomes] == [0.0, 0.0, 0.0]
    assert all(o.high > 0 for o in outcomes)


def test_an_earlier_audit_of_selections_cannot_serve_metrics_that_need_labels(
    tmp_path: Path,
) -> None:
    rng = np.random.default_rng(0)
    sex, y = rng.choice(["f", "m"], 400), rng.integers(0, 2, 400)
    earlier = isonomy.audit_selections(y, sensitive_features={"sex": sex})
    (tmp_path / "before.json").write_text(json.dumps(earlier.to_dict()))
    now = isonomy.audit(y, y, sensitive_features={"sex": sex})
    asked = {"attributes": "sex", "earlier": Earlier("before.json"), "path": tmp_path / "p.toml"}
    with pytest.raises(
        InputError, match="must have true labels for 'equal_opportunity_difference'"
    ):
        check(now, Policy(metrics={"equal_opportunity_difference": 0.2}, **asked))
    assert check(now, Policy(metrics={"spd": 0.5}, **asked)).verdict == "pass"
