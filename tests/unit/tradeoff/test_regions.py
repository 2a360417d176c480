import numpy as np
import pytest

from isonomy.errors import InputError
from isonomy.tradeoff import REGIONS, area, classify, normalise, place, region_names

PERFORMANCE = np.array([0.8, 0.75, 0.7, 0.6])
BIAS = np.array([0.2, 0.15, 0.05, 0.0])
LINE = np.array([1.0, 0.75, 0.5, 0.0]), np.array([1.0, 0.75, 0.25, 0.0])  # rescaled, by hand


def word(x: float, y: float, rule: str = "paper") -> str:
    """Place a point given in rescaled units."""
    return REGIONS[classify(y, x, *LINE, rule=rule)]


@pytest.mark.parametrize(
    ("x", "y", "paper", "code"),
    [
        (0.5, 0.9, "good", "good"),
        (0.5, 0.625, "good", "good"),  # on the line
        (0.75, 0.75, "good", "good"),  # on a corner
        (1.0, 1.0, "good", "good"),  # the original model itself
        (0.0, 0.0, "good", "good"),  # the constant predictor itself
        (0.0, 0.3, "good", "good"),
        (0.5, 1.0, "good", "good"),
        (0.5, 1.01, "win-win", "win-win"),
        (0.0, 1.5, "win-win", "win-win"),
        (0.5, 0.5, "poor", "poor"),
        (0.5, -0.5, "poor", "poor"),
        (1.0, 0.9, "poor", "poor"),
        (1.2, 0.5, "lose-lose", "lose-lose"),
        (1.2, 1.0, "lose-lose", "lose-lose"),  # touches from the right
        (1.2, 0.0, "lose-lose", "lose-lose"),
        (1.2, 1.1, "inverted", "inverted"),
        (1.2, -0.1, "lose-lose", "inverted"),  # the rules part
        (0.0, -0.2, "win-win", "win-win"),  # a constant predictor in an unlucky split
        (-0.1, 0.5, "good", "lose-lose"),  # the rules part: less bias than any mutation
        (-0.1, 1.2, "win-win", "lose-lose"),
        (-0.1, -0.2, "poor", "lose-lose"),
        (2.5, 0.5, "lose-lose", "lose-lose"),
        (0.5, 2.5, "win-win", "win-win"),
    ],
)
def test_every_region_and_tie(x: float, y: float, paper: str, code: str) -> None:
    assert word(x, y) == paper
    assert word(x, y, "code") == code


def test_area_by_hand() -> None:
    # from (0.5, 0.75): right to (0.75, 0.75), down to (0.5, 0.625); a triangle
    assert area(0.75, 0.5, *LINE) == pytest.approx(0.5 * 0.25 * 0.125)
    # from (0.1, 0.5): right to the corner (0.25, 0.5), down to (0.1, 0.2)
    assert area(0.5, 0.1, *LINE) == pytest.approx(0.5 * 0.15 * 0.3)
    # all above the line: 1 less the area under it
    under = 0.25 * 0.25 + 0.5 * 0.625 + 0.25 * 0.875
    assert area(1.0, 0.0, *LINE) == pytest.approx(1 - under)
    assert area(1.0, 0.0, *LINE, rule="code") == 0.0
    assert area(1.0, -0.5, *LINE) == pytest.approx(1 - under)
    assert area(1.0, 1.0, *LINE) == 0.0
    assert area(0.0, 0.0, *LINE) == 0.0
    assert np.isnan(area(0.5, 0.5, *LINE))


def test_normalising_does_not_clip() -> None:
    x, y, bx, by = normalise([0.9, 0.5], [0.3, 0.0], PERFORMANCE, BIAS)
    assert np.allclose(y, [1.5, -0.5])
    assert np.allclose(x, [1.5, 0.0])
    assert (bx[0], bx[-1], by[0], by[-1]) == (1, 0, 1, 0)


def test_many_baselines_at_once_equal_one_at_a_time() -> None:
    rng = np.random.default_rng(3)
    bias = np.sort(rng.uniform(size=(4, 5, 11)), axis=-1)[..., ::-1]
    performance = np.sort(rng.uniform(size=(4, 5, 11)), axis=-1)[..., ::-1]
    y, x = rng.uniform(-0.1, 1.1, size=(2, 4, 5, 37))
    together = place(y, x, performance[:, :, None], bias[:, :, None])
    for i in range(4):
        for j in range(5):
            alone = place(y[i, j], x[i, j], performance[i, j], bias[i, j])
            np.testing.assert_array_equal(together.region[i, j], alone.region)
            np.testing.assert_array_equal(together.area[i, j], alone.area)
    # a lone point against many baselines
    assert classify(0.5, 0.5, performance, bias).shape == (4, 5)


def test_the_short_way_for_falling_baselines_is_the_long_way(monkeypatch) -> None:
    from isonomy.tradeoff import regions

    rng = np.random.default_rng(6)
    bias = np.sort(rng.uniform(size=(30, 11)), axis=-1)[:, ::-1]
    performance = np.sort(rng.uniform(size=(30, 11)), axis=-1)[:, ::-1]
    y, x = rng.uniform(-0.3, 1.3, size=(2, 30, 400))
    x[:, :40], y[:, 40:80] = (
        bias[:, [0, 3, 5, 10]].repeat(10, 1),
        performance[:, [0, 4, 9, 10]].repeat(10, 1),
    )
    for rule in ("paper", "code"):
        short = place(y, x, performance[:, None], bias[:, None], rule=rule)
        with monkeypatch.context() as patch:
            patch.setattr(regions, "_falls", lambda _: False)
            long = place(y, x, performance[:, None], bias[:, None], rule=rule)
        np.testing.assert_array_equal(short.region, long.region)
        np.testing.assert_allclose(short.area, long.area, atol=1e-14)


def test_what_cannot_be_placed_is_undefined() -> None:
    codes = classify([np.nan, 0.5, 0.7], [0.1, np.nan, 0.1], PERFORMANCE, BIAS)
    assert region_names(codes).tolist() == ["undefined", "undefined", "poor"]
    flat = np.array([0.1, 0.1, 0.1])
    assert classify(0.7, 0.1, [0.8, 0.7, 0.6], flat) == -1
    assert classify(0.7, 0.1, [0.8, np.nan, 0.6], [0.2, 0.1, 0.0]) == -1


def test_messages() -> None:
    with pytest.raises(InputError, match="no rule of regions"):
        classify(0.5, 0.5, *LINE, rule="mine")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="two degrees or more"):
        classify(0.5, 0.5, [1.0], [1.0])
    with pytest.raises(InputError, match="must broadcast"):
        classify([0.5, 0.1], [0.1, 0.2], np.ones((3, 4)), np.ones((3, 4)))
