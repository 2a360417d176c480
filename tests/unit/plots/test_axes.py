"""The canvas: a new figure only where none is given, nothing left behind, names that wrap."""

import subprocess
import sys

import matplotlib as mpl
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from isonomy.plots import new_axes, plot_intervals, wrapped
from isonomy.plots.axes import MARKS

TABLE = pd.DataFrame({"name": ["a"], "value": [0.5], "low": [0.4], "high": [0.6]})


def test_given_axes_are_returned_and_pyplot_is_left_alone() -> None:
    settings, figures = dict(mpl.rcParams), plt.get_fignums()
    ax = Figure().subplots()
    assert plot_intervals(TABLE, label="name", xlabel="x", ax=ax) is ax
    assert plt.get_fignums() == figures
    assert dict(mpl.rcParams) == settings


def test_a_new_figure_has_the_size_that_was_asked_for() -> None:
    ax = new_axes(None, 5.0, 3.0)
    assert tuple(ax.figure.get_size_inches()) == (5.0, 3.0)
    plt.close(ax.figure)


def test_importing_the_room_does_not_import_matplotlib() -> None:
    code = "import sys, isonomy.plots; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_names_wrap_keep_their_ends_and_are_no_mathematics() -> None:
    assert wrapped("short") == "short"
    assert wrapped("$x$") == r"\$x\$"
    long = [wrapped("a group with a name that goes on and on and on " * 3 + str(k)) for k in (1, 2)]
    assert all(name.count("\n") == 2 for name in long)
    assert long[0] != long[1]
    assert wrapped("x" * 300).count("\n") == 2


def test_marks_differ_without_their_colour() -> None:
    shapes = [(shape, filling == "white") for shape, _, filling in MARKS.values()]
    assert len(set(shapes)) == len(shapes)
