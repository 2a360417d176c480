"""Adjusted p-values by hand, by their definition, and against SciPy."""

import numpy as np
import pytest
from scipy.stats import false_discovery_control

from isonomy.errors import InputError
from isonomy.stats import benjamini_hochberg, benjamini_yekutieli, holm

RULES = [holm, benjamini_hochberg, benjamini_yekutieli]


def holm_rejects(p: np.ndarray, level: float) -> np.ndarray:
    """Go down from the smallest p-value and stop at the first that is too large."""
    out = np.zeros(p.size, dtype=bool)
    for k, i in enumerate(np.argsort(p, kind="stable")):
        if p[i] > level / (p.size - k):
            break
        out[i] = True
    return out


def test_holm_by_hand() -> None:
    # 0.005 * 4, then 0.011 * 3 = 0.033, 0.02 * 2 = 0.04, 0.04 * 1 raised to 0.04
    np.testing.assert_allclose(holm([0.02, 0.005, 0.04, 0.011]), [0.04, 0.02, 0.04, 0.033])
    assert holm([0.9, 0.8]).tolist() == [1.0, 1.0]


def test_holm_rejects_what_the_step_down_rule_rejects() -> None:
    rng = np.random.default_rng(0)
    for level in (0.01, 0.05, 0.3):
        for _ in range(50):
            p = rng.random(12).round(2) ** 2
            # a level on a p-value exactly is a matter of rounding on either side
            off = np.abs(holm(p) - level) > 1e-12
            assert ((holm(p) <= level) == holm_rejects(p, level))[off].all()


def test_false_discovery_equals_scipy() -> None:
    p = np.random.default_rng(1).random((30, 4)).round(2)
    np.testing.assert_allclose(
        benjamini_hochberg(p), false_discovery_control(p, axis=None).reshape(30, 4)
    )
    np.testing.assert_allclose(
        benjamini_yekutieli(p).ravel(), false_discovery_control(p, axis=None, method="by")
    )
    np.testing.assert_allclose(benjamini_hochberg(p, axis=0), false_discovery_control(p, axis=0))


@pytest.mark.parametrize("rule", RULES)
def test_families_holes_and_shape(rule) -> None:
    p = np.random.default_rng(2).random((5, 6, 3))
    p[0, 2, 1] = np.nan
    many = rule(p, axis=1)
    assert many.shape == p.shape
    np.testing.assert_allclose(many[1, :, 2], rule(p[1, :, 2]))
    holed = p[0, :, 1]
    known = ~np.isnan(holed)
    np.testing.assert_allclose(many[0, known, 1], rule(holed[known]))
    assert np.isnan(many[0, 2, 1])
    assert (many[~np.isnan(many)] >= p[~np.isnan(p)]).all()


@pytest.mark.parametrize("rule", RULES)
def test_what_is_no_p_value(rule) -> None:
    with pytest.raises(InputError, match="between 0 and 1"):
        rule([0.1, 1.2])
    assert rule([]).size == 0
