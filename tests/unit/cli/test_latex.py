"""Formulas as text: what the methods' docstrings hold, without a backslash."""

import inspect
from io import StringIO

import pytest
from rich.console import Console

from isonomy.cli.docstring import show
from isonomy.cli.latex import plain_math
from isonomy.mitigators import MITIGATORS


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (r"P(y{=}1|x) - \tfrac12", "P(y=1|x) - 1/2"),
        (r"\frac{P(y|s_i)}{P(y)}", "P(y|s_i)/P(y)"),
        (r"\frac{a + 1}{n_{sy}}", "(a + 1)/n_sy"),
        (r"\lfloor\sqrt{N}\rfloor", "⌊√N⌋"),
        (r"2 \sqrt N", "2 √N"),
        (r"(1 - \text{recall}) + \text{false alarms}", "(1 - recall) + false alarms"),
        (
            r"\lambda_g \leftarrow \max(0, \lambda_g + \eta_t(\mathrm{err}_g - \gamma))",
            "λ_g ← max(0, λ_g + η_t(err_g - γ))",
        ),
        (r"p\,(f, t) + q\,(1 - f, 1 - t)", "p (f, t) + q (1 - f, 1 - t)"),
    ],
)
def test_a_formula_reads_as_text(formula: str, text: str) -> None:
    assert plain_math(formula) == text


@pytest.mark.parametrize("name", list(MITIGATORS))
def test_no_method_is_explained_in_latex(name: str) -> None:
    out = StringIO()
    show(Console(file=out, width=80), inspect.cleandoc(MITIGATORS[name].__doc__ or ""))
    for mark in ("\\", "_{", "^{", ":math:", ".. math", "``"):
        assert mark not in out.getvalue()
