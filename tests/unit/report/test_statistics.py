"""Drawings of statistics: what is drawn where, read back from the drawing."""

import itertools
import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from isonomy.report.statistics import (
    critical_difference_svg,
    ranking_svg,
    statistics_fragment,
    wins_table,
)
from isonomy.stats import friedman_nemenyi, scott_knott, win_tie_loss

NAMES = ["original", "a<b>", "long_name(option=value)", "d", "e", "f", "g"]


@pytest.fixture
def runs() -> np.ndarray:
    rng = np.random.default_rng(3)
    shared = rng.normal(size=(15, 1, 12))
    return shared + np.linspace(0, 2, len(NAMES))[:, None] + rng.normal(size=(15, 7, 12))


def parsed(drawing: str) -> ET.Element:
    return ET.fromstring(drawing)


def test_critical_difference_places_labels_dots_and_bars(runs: np.ndarray) -> None:
    found = friedman_nemenyi(runs.mean(axis=-1), labels=NAMES)
    assert found.differs
    root = parsed(critical_difference_svg(found))
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
    root = parsed(critical_difference_svg(found))
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
    drawing = critical_difference_svg(flat)
    assert 'opacity="0.5"' in drawing
    assert "wider than the axis" not in drawing
    two = friedman_nemenyi([[1.0, 2.0, 3.0], [1.0, 3.0, 2.0]], labels="abc")
    assert two.critical_difference > 2
    assert "wider than the axis" in critical_difference_svg(two)


def test_ranking_has_a_band_per_other_group(runs: np.ndarray) -> None:
    found = scott_knott(
        dict(zip(NAMES, runs[0], strict=True)),
        protocol="corrected",
        larger_is_better=True,
    )
    root = parsed(ranking_svg(found, unit="accuracy"))
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
    table = wins_table(found, reference="original")
    frame = found.frame("original")
    cells = [int(n) for n in re.findall(r'<td class="n"[^>]*>(\d+)</td>', table)]
    assert cells == frame[["win", "tie", "loss", "undefined"]].to_numpy().ravel().tolist()
    wide = [float(w) for w in re.findall(r'width="([\d.]+)" height="12" fill', table)]
    assert np.reshape(wide, (-1, 4)).sum(axis=1) == pytest.approx(160, abs=0.2)
    assert "mann_whitney at 0.05" in table
    assert "against all others" in wins_table(found)


def test_fragment_stands_alone_and_harms_no_page(runs: np.ndarray) -> None:
    critical = friedman_nemenyi(runs.mean(axis=-1), labels=NAMES)
    fragment = statistics_fragment(
        critical=critical,
        ranking=scott_knott(dict(zip(NAMES, runs[0], strict=True))),
        wins=win_tie_loss(runs, labels=NAMES),
        reference="original",
    )
    assert parsed(fragment).tag == "section"
    assert "<script" not in fragment
    assert "http" not in fragment
    assert "a<b>" not in fragment
    # outside a page every colour has a value of its own
    assert not re.findall(r"var\(--\w+\)", fragment)
    # styles inside a drawing hold for the whole page: none but the drawings' own may be there
    assert set(re.findall(r"\.(\w+)\{", fragment)) == {"t"}
    few = friedman_nemenyi(np.random.default_rng(0).normal(size=(3, 3)), labels="abc")
    assert "do not read pairs" in statistics_fragment(critical=few)
    assert statistics_fragment() == '<section class="statistics"></section>'
