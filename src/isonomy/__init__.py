"""Audit a classifier, mitigate its bias, judge the trade-off, test the tail."""

__version__ = "0.1.0.dev0"

__all__ = ["__version__"]
