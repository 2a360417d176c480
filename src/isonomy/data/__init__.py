"""What we learn from: datasets with their caveats, preparations and splits."""

__all__: list[str] = []
