"""How we run it: what a study is made of, what comes out, and what others have published."""

from isonomy.study.published import read_biswas, read_chen, read_fairea, read_published
from isonomy.study.record import COLUMNS, Record, combine, records_frame, wide
from isonomy.study.store import Store

__all__ = [
    "COLUMNS",
    "Record",
    "Store",
    "combine",
    "read_biswas",
    "read_chen",
    "read_fairea",
    "read_published",
    "records_frame",
    "wide",
]
