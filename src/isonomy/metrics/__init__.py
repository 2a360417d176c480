"""What we measure: one small tensor of counts, and every metric as a line over it."""

__all__: list[str] = []
