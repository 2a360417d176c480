"""How a p-value is written."""


def write_p_value(p: float, *, digits: int = 4, undefined: str = "undefined") -> str:
    """Write a p-value; one too small for the digits is said to be smaller than they show.

    Examples
    --------
    >>> write_p_value(0.03), write_p_value(2e-9), write_p_value(2e-9, digits=3)
    ('0.0300', '< 0.0001', '< 0.001')
    >>> write_p_value(float("nan"), undefined="-")
    '-'
    """
    if p != p:
        return undefined
    least = 10.0**-digits
    return f"< {least:.{digits}f}" if p < least else f"{p:.{digits}f}"
