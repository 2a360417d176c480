"""Where results live: records, and the crash-safe store that keeps them."""

from isonomy.store.record import COLUMNS, Record, combine, records_frame, wide
from isonomy.store.store import Store

__all__ = ["COLUMNS", "Record", "Store", "combine", "records_frame", "wide"]
