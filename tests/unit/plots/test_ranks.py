"""The critical difference diagram: ranks on the line, bars that do not touch, all names."""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot as plt

from isonomy.stats import friedman_nemenyi


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    plt.close("all")


def bars(ax: Any) -> list[tuple[float, float, float]]:
    return [
        (float(line.get_ydata()[0]), *map(float, line.get_xdata()))
        for line in ax.lines
        if line.get_linewidth() > 3
    ]


@pytest.mark.parametrize("size", [3, 6, 30])
def test_ranks_bars_and_names(size: int) -> None:
    rng = np.random.default_rng(size)
    values = rng.normal(size=(25, size)) + np.arange(size) * 0.2
    found = friedman_nemenyi(
        values, labels=[f"a method with a long name, number {k}" for k in range(size)]
    )
    ax = found.plot()
    dots = sorted(float(line.get_xdata()[0]) for line in ax.lines if line.get_marker() == "o")
    np.testing.assert_allclose(dots, found.mean_ranks)
    drawn = bars(ax)
    assert len(drawn) == len(found.groups)
    for (first, last), (_, left, right) in zip(found.groups, drawn, strict=True):
        inside = (found.mean_ranks >= left) & (found.mean_ranks <= right)
        np.testing.assert_array_equal(np.flatnonzero(inside), np.arange(first, last + 1))
    for (y, left, right), (other, low, high) in combinations(drawn, 2):
        assert y != other or right < low or high < left
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts if "number" in text.get_text()]
    assert len(boxes) == size
    assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))
    ax.figure.savefig("/dev/null", format="png")
