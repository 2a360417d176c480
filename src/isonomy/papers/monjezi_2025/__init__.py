"""Monjezi et al. (2025)."""

__all__: list[str] = []
