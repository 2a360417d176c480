"""Chen et al. (2022)."""

__all__: list[str] = []
