"""What the ICSE'24 study of several attributes costs: all CPU, and the part of it inside the fits.

python benchmarks/run.py several_attributes          all six tasks, one repeat

Adult and COMPAS; Default and the two panels of MEPS are not rebuilt. The minutes are those of 20
repeats, extrapolated.
"""

import study
from table import Row

__all__ = ["TITLE", "rows"]

TITLE = "Part 16: the ICSE'24 study of several attributes, one repeat extrapolated to 20"


def rows() -> list[Row]:
    return study.rows(study="icse24_multi", all_repeats=20, hours=None)
