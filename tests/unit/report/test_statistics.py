"""Drawings of statistics: what is drawn where, read back from the drawing."""

import itertools
import re
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from isonomy.report import summarize, to_html
from isonomy.report.charts import draw
from isonomy.report.statistics import groups_chart, ranks_chart, shares_chart
from isonomy.stats import friedman_nemenyi, scott_knott, win_tie_loss
from tests.results import groups, ranks, wins

NAMES = ["original", "a<b>", "long_name(option=value)", "d", "e", "f", "g"]


@pytest.fixture
def runs() -> np.ndarray:
    rng = np.random.default_rng(3)
    shared = rng.normal(size=(15, 1, 12))
    return shared + np.linspace(0, 2, len(NAMES))[:, None] + rng.normal(size=(15, 7, 12))


def draw_of(chart: Any, result: Any, **options: Any) -> str:
    return draw(chart(result, **options))


def parsed(drawing: str) -> ET.Element:
    return ET.fromstring(drawing)


def test_critical_difference_places_labels_dots_and_bars(runs: np.ndarray) -> None:
    found = friedman_nemenyi(runs.mean(axis=-1), labels=NAMES)
    assert found.differs
    root = parsed(draw_of(ranks_chart, found))
    dots = [float(c.get("cx")) for c in root.iter("circle")]
    # dots lie on a straight scale of mean ranks, in their order
    np.testing.assert_allclose(
        np.diff(dots) / np.diff(found.mean_ranks),
        (dots[-1] - dots[0]) / np.ptp(found.mean_ranks),
        rtol=0.05,
    )
    texts = ["".join(t.itertext()) for t in root.iter("text")]
    for label, mean in zip(found.labels, found.mean_ranks, strict=True):
        assert any(label in t and f"{mean:.2f}" in t for t in texts), label
    assert any(f"critical difference {found.critical_difference:.2f} at 5 %" in t for t in texts)
    bars = [e for e in root.iter("line") if e.get("stroke-width") == "4"]
    assert len(bars) == len(found.groups)
    for bar, (first, last) in zip(bars, found.groups, strict=True):
        assert float(bar.get("x1")) == pytest.approx(dots[first] - 4, abs=0.11)
        assert float(bar.get("x2")) == pytest.approx(dots[last] + 4, abs=0.11)
    # bars on one line do not touch
    for y in {bar.get("y1") for bar in bars}:
        line = sorted((float(b.get("x1")), float(b.get("x2"))) for b in bars if b.get("y1") == y)
        assert all(left[1] < right[0] for left, right in itertools.pairwise(line))


def test_leaders_stay_inside_and_labels_do_not_meet(runs: np.ndarray) -> None:
    found = friedman_nemenyi(runs.mean(axis=-1), labels=NAMES)
    root = parsed(draw_of(ranks_chart, found))
    _, _, width, height = (float(v) for v in root.get("viewBox").split())
    named = [t for t in root.iter("text") if list(t)]
    spots = [(t.get("text-anchor"), float(t.get("y"))) for t in named]
    assert len(spots) == len(NAMES) == len(set(spots))
    assert max(y for _, y in spots) <= height
    for t in named:
        long = 6.1 * len("".join(t.itertext()))
        x = float(t.get("x"))
        assert (x - long >= 0) if t.get("text-anchor") == "end" else (x + long <= width)


def test_no_difference_is_drawn_faintly_and_a_wide_one_is_cut() -> None:
    flat = friedman_nemenyi(np.random.default_rng(0).normal(size=(3, 3)), labels="abc")
    assert not flat.differs
    drawing = draw_of(ranks_chart, flat)
    assert 'opacity="0.5"' in drawing
    assert "wider than the axis" not in drawing
    two = friedman_nemenyi([[1.0, 2.0, 3.0], [1.0, 3.0, 2.0]], labels="abc")
    assert two.critical_difference > 2
    assert "wider than the axis" in draw_of(ranks_chart, two)


def test_ranking_has_a_band_per_other_group(runs: np.ndarray) -> None:
    found = scott_knott(
        dict(zip(NAMES, runs[0], strict=True)),
        protocol="corrected",
        larger_is_better=True,
    )
    root = parsed(draw_of(groups_chart, found, unit="accuracy"))
    dots = [float(c.get("cx")) for c in root.iter("circle")]
    assert np.argsort(dots).tolist() == np.argsort(found.centres).tolist()
    bands = list(root.iter("rect"))
    assert len(bands) == int((found.ranks % 2).sum())
    texts = ["".join(t.itertext()) for t in root.iter("text")]
    assert "median accuracy" in texts
    for rank in range(1, len(found.groups) + 1):
        assert texts.count(str(rank)) >= 1


def test_wins_are_told_in_numbers_and_strips(runs: np.ndarray) -> None:
    runs[2, 3, 5] = np.nan
    found = win_tie_loss(runs, labels=NAMES)
    chart = shares_chart(found, reference="original")
    frame = found.frame("original")
    cells = [cell["value"] for row in chart["numbers"]["rows"] for cell in row[1:]]
    assert cells == frame[["win", "tie", "loss", "undefined"]].to_numpy().ravel().tolist()
    wide = [float(w) for w in re.findall(r'<rect[^>]* width="([\d.]+)%" height="14"', draw(chart))]
    assert np.reshape(wide, (-1, 4)).sum(axis=1) == pytest.approx(100, abs=0.3)
    assert "mann_whitney at 0.05" in chart["note"]
    assert "against all others" in shares_chart(found)["note"]


def test_results_of_statistics_have_pages(runs: np.ndarray) -> None:
    few = friedman_nemenyi(np.random.default_rng(0).normal(size=(3, 3)), labels=["a", "b<c>", "d"])
    page = to_html(summarize(few, title="three"))
    assert "do not read pairs" in page
    assert "b<c>" not in page
    assert "b&lt;c&gt;" in page
    assert "three" in page


def test_results_are_called_by_words() -> None:
    titles = [summarize(made())["title"] for made in (ranks, groups, wins)]
    assert titles == ["Mean ranks", "Groups of methods", "Wins, ties and losses"]
    heads = [c["label"] for c in summarize(ranks())["parts"][1]["blocks"][0]["columns"]]
    assert heads == ["treatment", "mean rank", "group", "p next to best"]


def test_a_long_name_fits_the_drawing() -> None:
    name = "a_rather_long_name(option=value, other=1)"
    few = friedman_nemenyi(np.arange(9.0).reshape(3, 3), labels=["b", "c", name])
    width = float(re.findall(r'viewBox="0 0 ([0-9.]+)', draw_of(ranks_chart, few))[0])
    assert width > 380 + 7 * len(name) + 2 * 50  # a bold letter is some 7 pixels wide
