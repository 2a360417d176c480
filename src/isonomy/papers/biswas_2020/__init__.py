"""Biswas and Rajan (2020)."""

__all__: list[str] = []
