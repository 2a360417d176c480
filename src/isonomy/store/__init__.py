"""Where results live: records, and the crash-safe store that keeps them."""

from isonomy.store.record import COLUMNS, Record, combine, records_frame, wide
from isonomy.store.store import Store
from isonomy.store.verify import verify_store

__all__ = ["COLUMNS", "Record", "Store", "combine", "records_frame", "verify_store", "wide"]
