"""The trade-off plane: points where they are, names beside them or in a key, none on another."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

from isonomy import judge
from isonomy.plots import plot_plane
from isonomy.plots.plane import DIRECT

BASE = pd.DataFrame({"performance": np.linspace(0.84, 0.5, 11), "bias": np.linspace(0.2, 0.0, 11)})


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    plt.close("all")


def points(size: int, name: str = "method") -> pd.DataFrame:
    rng = np.random.default_rng(size)
    return pd.DataFrame(
        {
            "name": [f"{name} {k}" for k in range(size)],
            "performance": rng.uniform(0.6, 0.9, size),
            "bias": rng.uniform(0.02, 0.25, size),
            "word": rng.choice(["worth it", "perhaps", "not worth it"], size),
        }
    )


@pytest.mark.parametrize("size", [0, 1, DIRECT, 30])
def test_every_point_is_drawn_and_named(size: int) -> None:
    table = points(size)
    ax = plot_plane(BASE, table, xlabel="bias", ylabel="accuracy")
    drawn = [
        (line.get_xdata()[0], line.get_ydata()[0])
        for line in ax.lines
        if len(line.get_xdata()) == 1 and line.get_marker() != "s"
    ]
    assert drawn == [tuple(p) for p in table[["bias", "performance"]].to_numpy()]
    texts = [text.get_text() for text in ax.texts]
    if size <= DIRECT:
        assert set(table["name"]) <= set(texts)
    else:
        assert {str(k + 1) for k in range(size)} <= set(texts)
        key = texts[-1].splitlines()
        assert [line.split(maxsplit=1)[1] for line in key] == table["name"].tolist()
    ax.figure.savefig("/dev/null", format="png", dpi=60)


def test_names_beside_points_do_not_cover_each_other() -> None:
    ax = plot_plane(BASE, points(DIRECT), xlabel="bias", ylabel="accuracy")
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts if text.get_text().startswith("method")]
    overlaps = [a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i]]
    assert sum(overlaps) == 0


def test_long_names_go_into_the_key() -> None:
    table = points(3, "<b>$a_b$</b> " + "with parameters " * 20)
    ax = plot_plane(BASE, table, xlabel="bias", ylabel="accuracy", frontier=BASE)
    assert len(ax.texts[-1].get_text().splitlines()) == 6
    ax.figure.savefig("/dev/null", format="png", dpi=60)


def test_an_undefined_point_is_left_out_and_error_is_drawn_downwards() -> None:
    table = points(2)
    table.loc[0, "bias"] = np.nan
    ax = plot_plane(
        BASE.assign(performance=1 - BASE["performance"]), table, xlabel="b", ylabel="error rate",
        larger_is_better=False,
    )  # fmt: skip
    assert "method 0" not in {text.get_text() for text in ax.texts}
    words = {t.get_text(): t.get_position() for t in ax.texts}
    assert words["win-win"][1] < 0.5  # the best is at the bottom


def test_a_trade_off_with_its_intervals() -> None:
    rng = np.random.default_rng(0)
    sex, y = rng.choice(["F", "M"], 2000), rng.integers(0, 2, 2000)
    base = np.where((sex == "F") & (rng.random(2000) < 0.4), 0, y)
    fair = np.where(rng.random(2000) < 0.1, 1 - y, y)
    found = judge(y, base, fair, sensitive_features={"sex": sex}, privileged="M", resamples=200)
    ax = found.plot("flipped")
    assert "flipped" in {text.get_text() for text in ax.texts}
    (span,) = [c for c in ax.collections if c.get_gid() == "bias interval"]
    assert span.get_segments()[0][:, 0] == pytest.approx(list(found.bias_interval))
    told = {text.get_text() for text in ax.get_legend().get_texts()}
    assert told == {"mutation baseline", "original model", found.region}
