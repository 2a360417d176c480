"""Is it real: arrays in, numbers out; nothing here knows of fairness."""

from isonomy.stats.intervals import percentile_interval, wilson_interval

__all__ = ["percentile_interval", "wilson_interval"]
