"""What holds for any data: independence after reweighing, order and range after repair."""

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from isonomy.mitigators import DisparateImpactRemover, Reweighing
from isonomy.mitigators.disparate_impact_remover import repair_by_itself

ROWS = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 2), st.integers(-5, 5), st.integers(1, 4)),
    min_size=6,
    max_size=60,
)


@given(ROWS)
@settings(max_examples=60, deadline=None)
def test_reweighing_makes_label_and_group_independent(rows) -> None:
    y, s, _, w = np.array(rows).T
    counts = np.bincount(s * 2 + y, minlength=6).reshape(3, 2)
    assume(((counts > 0).all(axis=1) | (counts == 0).all(axis=1)).all())
    *_, weight = Reweighing().resample(None, y, s, w.astype(float))
    joint = np.bincount(s * 2 + y, weight, minlength=6).reshape(3, 2)
    np.testing.assert_allclose(joint, np.outer(joint.sum(1), joint.sum(0)) / joint.sum(), atol=1e-9)
    np.testing.assert_allclose(weight.sum(), w.sum())


@given(ROWS)
@settings(max_examples=60, deadline=None)
def test_repair_keeps_order_within_groups_and_the_range(rows) -> None:
    _, s, x, _ = np.array(rows).T
    X = x[:, None].astype(float)
    learnt, *_ = DisparateImpactRemover().resample(X, s % 2, s)
    for repaired in (learnt[:, 0], repair_by_itself(X, s)[:, 0]):
        assert repaired.min() >= x.min()
        assert repaired.max() <= x.max()
        for g in np.unique(s):
            order = np.argsort(x[s == g], kind="stable")
            assert (np.diff(repaired[s == g][order]) >= -1e-12).all()


@given(ROWS)
@settings(max_examples=60, deadline=None)
def test_published_repair_invents_no_value(rows) -> None:
    _, s, x, _ = np.array(rows).T
    once = repair_by_itself(x[:, None], s)[:, 0]
    assert set(once) <= set(x.astype(float))
