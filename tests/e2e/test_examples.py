"""Every script of the gallery and the cases is what its page needs, runs, and draws what can be read.

Quick ones run here, the others with ``make slow``; the documentation build runs them all.
"""

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import matplotlib as mpl
import matplotlib.axes
import matplotlib.figure
import matplotlib.text
import pytest

from isonomy.data import DATASETS
from tests.registry import real

mpl.use("agg")
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SCRIPTS = sorted([*EXAMPLES.glob("gallery/plot_*.py"), *EXAMPLES.glob("cases/plot_*.py")])
QUICK = {"plot_over_time", "plot_selections"}
RUNS = [
    pytest.param(path, id=path.stem, marks=() if path.stem in QUICK else pytest.mark.slow)
    for path in SCRIPTS
]


def test_there_are_examples_and_two_cases() -> None:
    assert len([path for path in SCRIPTS if path.parent.name == "gallery"]) >= 12
    assert {path.stem for path in SCRIPTS} >= {"plot_lender", "plot_court"} | QUICK


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_page_can_be_made_of_it(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    title, line, *told = (ast.get_docstring(tree) or "").splitlines()
    assert line == "=" * len(title)
    assert len(" ".join(told).split()) > 15, "what a reader learns stands at the top"
    heads = re.findall(r"^# %%\n# (.+)\n# (-+)$", text, re.MULTILINE)
    assert len(heads) >= 3
    assert all(len(line) == len(head) for head, line in heads)
    assert "plt.show()" in text
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("isonomy"):
            room = importlib.import_module(node.module or "")
            assert [name.name for name in node.names if not hasattr(room, name.name)] == []


@pytest.mark.parametrize("path", RUNS)
def test_it_runs_and_its_pictures_can_be_read(
    path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from matplotlib import pyplot as plt

    text = path.read_text(encoding="utf-8")
    for name in set(re.findall(r'load\(\s*"(\w+)"', text)) & set(DATASETS):
        real(name)  # skips where it cannot be had
    monkeypatch.chdir(tmp_path)
    plt.close("all")
    monkeypatch.setattr(plt, "show", lambda: None)
    exec(compile(text, str(path), "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out
    assert plt.get_fignums()
    for number in plt.get_fignums():
        assert cut_off(plt.figure(number)) == []
    plt.close("all")


def cut_off(figure: mpl.figure.Figure) -> list[str]:
    """The words of a picture that do not lie wholly inside of it."""
    figure.canvas.draw()
    page = figure.bbox
    words = figure.findobj(lambda part: isinstance(part, mpl.text.Text) and part.get_visible())
    unseen = {label for axes in figure.axes for label in labels_outside(axes)}
    shown = [word for word in words if word.get_text() and word not in unseen]
    boxes = [(word.get_text(), word.get_window_extent()) for word in shown]
    return [
        text
        for text, box in boxes
        if box.x0 < page.x0 - 2
        or box.y0 < page.y0 - 2
        or box.x1 > page.x1 + 2
        or box.y1 > page.y1 + 2
    ]


def labels_outside(axes: mpl.axes.Axes) -> Iterator[mpl.text.Text]:
    """The labels of ticks outside the limits of an axis: they exist, and are not drawn."""
    for axis in (axes.xaxis, axes.yaxis):
        low, high = sorted(axis.get_view_interval())
        for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
            if not low <= tick.get_loc() <= high:
                yield from (tick.label1, tick.label2)
