"""What we show: summaries turned into pages; nothing here computes."""

__all__: list[str] = []
