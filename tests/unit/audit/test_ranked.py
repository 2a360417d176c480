"""Ranks and pairs of models, on rows where it is plain who is better and who is fairer."""

import numpy as np

from isonomy import audit
from isonomy.audit.paired import SharedRows
from isonomy.audit.ranked import rank_models
from isonomy.metrics import get_metric


def test_who_is_better_on_one_goal_and_on_both() -> None:
    rng = np.random.default_rng(0)
    n = 2000
    side = rng.integers(2, size=n)
    y = (rng.random(n) < 0.5).astype(int)
    right = np.where(rng.random(n) < 0.9, y, 1 - y)
    # the unfair one calls everybody of group 0 bad: less accurate, and a large gap
    labels = {"unfair": np.where(side == 0, 0, y), "right": right, "same": right}
    audits = {
        name: audit(y, said, sensitive_features={"g": side}, favorable=1, privileged=1)
        for name, said in labels.items()
    }
    shared = SharedRows.from_codes(side, y, [*labels.values()], [0, 1], [1], None)
    goals = get_metric("accuracy"), get_metric("statistical_parity_difference")
    standings, pairs = rank_models("g", shared, audits, dict.fromkeys(labels, "x"), *goals, 0.95)
    assert [s.model for s in standings] == ["right", "same", "unfair"]
    assert [s.performance_rank for s in standings] == [1, 1, 3]
    assert [s.bias_ranks for s in standings] == [(1, 2), (1, 2), (3, 3)]
    assert standings[2].beaten_by == ("right", "same")
    assert not standings[2].front
    found = {(p.one, p.other): p for p in pairs}
    assert found["unfair", "right"].better == found["unfair", "right"].fairer == "right"
    assert found["unfair", "right"].rows_differ == int((labels["unfair"] != right).sum())
    assert found["right", "same"].better is None
    assert found["right", "same"].rows_differ == 0


def test_an_undefined_value_ranks_last() -> None:
    rng = np.random.default_rng(0)
    side, y = rng.integers(2, size=(2, 600))
    # without a favorable prediction there is no precision, and so no gap of it
    labels = {"nobody": np.zeros_like(y), "some": np.where(rng.random(600) < 0.8, y, 1 - y)}
    audits = {
        name: audit(
            y, said, sensitive_features={"g": side}, favorable=1, privileged=1,
            metrics=["accuracy", "predictive_parity_difference"],
        )
        for name, said in labels.items()
    }  # fmt: skip
    shared = SharedRows.from_codes(side, y, [*labels.values()], [0, 1], [1], None)
    goals = get_metric("accuracy"), get_metric("predictive_parity_difference")
    standings, _ = rank_models("g", shared, audits, dict.fromkeys(labels, "x"), *goals, 0.95)
    found = {s.model: s for s in standings}
    assert np.isnan(found["nobody"].bias)
    assert [found[name].bias_rank for name in ("some", "nobody")] == [1, 2]
    assert not found["nobody"].front
