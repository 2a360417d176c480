"""Hort et al. (2021)."""

__all__: list[str] = []
