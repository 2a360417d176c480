"""Formulas of docstrings as readable text: LaTeX is for the pages of the documentation."""

import re

_SIGNS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "eta": "η",
    "theta": "θ", "kappa": "κ", "lambda": "λ", "mu": "μ", "pi": "π", "rho": "ρ", "sigma": "σ",
    "tau": "τ", "phi": "φ", "omega": "ω", "sum": "Σ", "prod": "Π", "sqrt": "√", "propto": "∝",
    "leftarrow": "←", "rightarrow": "→", "to": "→", "le": "≤", "leq": "≤", "ge": "≥",
    "geq": "≥", "ne": "≠", "neq": "≠", "approx": "≈", "in": "∈", "cdot": "·", "times": "×",
    "infty": "∞", "pm": "±", "mid": "|", "lfloor": "⌊", "rfloor": "⌋", "lVert": "‖",
    "rVert": "‖", "ldots": "...", "dots": "...", "left": "", "right": "",
}  # fmt: skip
_FRACTION = re.compile(r"\\[td]?frac\s*(?:(\d)(\d)|\{([^{}]*)\}\s*\{([^{}]*)\})")
_NAMED = re.compile(r"\\(?:text|mathrm|mathbf|mathit|operatorname)\s*\{([^{}]*)\}")
_RAISED = re.compile(r"([\^_])\{([^{}]*)\}")


def plain_math(formula: str) -> str:
    r"""Return a formula in LaTeX as plain text.

    Examples
    --------
    >>> plain_math(r"w(s, y) = n_s n_y / (n \, n_{sy})")
    'w(s, y) = n_s n_y / (n n_sy)'
    >>> plain_math(r"\eta_t = t^{-1/2}"), plain_math(r"\tfrac12 \lVert w \rVert^2")
    ('η_t = t^(-1/2)', '1/2 ‖w‖²')
    """
    text = formula
    for _ in range(formula.count("{") + 1):  # from the inside out
        text = _NAMED.sub(r"\1", text)
        text = _RAISED.sub(lambda m: m[1] + _whole(m[2]), text)
        text = _FRACTION.sub(lambda m: f"{_whole(m[1] or m[3])}/{_whole(m[2] or m[4])}", text)
    text = re.sub(r"\\[,;:! ]", " ", text)
    text = re.sub(r"(\\(?:lVert|lfloor|sqrt)) +|\s+(?=\\(?:rVert|rfloor))", r"\1{}", text)
    text = re.sub(r"\\([A-Za-z]+)", lambda m: _SIGNS.get(m[1], m[1]), text)
    text = re.sub(r"[{}\\]", "", text)
    text = re.sub(r"\^([23])(?!\w)", lambda m: "²³"[int(m[1]) - 2], text)
    return re.sub(r"\s+", " ", text).strip()


def _whole(part: str) -> str:
    """Put what is more than one name or number in parentheses."""
    return part if re.fullmatch(r"\w+|\w+\([^()]*\)", part) else f"({part})"
