"""CPU seconds of a call. Standard library only: peers import it in their own environments."""

import resource
import time
from collections.abc import Callable
from typing import Any

__all__ = ["PEAK", "cpu_seconds"]

# A child's own high-water mark in MB, as source for it to run: what the kernel says of resources
# used starts at the size of the process that forked it.
PEAK = """
def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM"))
"""


def _clock() -> float:
    """Give the CPU time of this process and of the children it has waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def cpu_seconds(
    call: Callable[[], Any], *, repeat: int = 5, enough: float = 0.05
) -> tuple[float, Any]:
    """Give the smallest CPU time of a call over `repeat` batches, and what it returned.

    A call that is too quick for the clock is repeated within a batch until it fills `enough`
    seconds. With `repeat=1` a slow call runs exactly once.
    """
    start = _clock()
    result = call()
    first = _clock() - start
    if repeat == 1 and first >= enough:
        return first, result
    number = max(1, int(enough / max(first, 1e-7)))
    # The first call pays for imports and caches on both sides; it is the warm-up here.
    best = first if first >= enough else float("inf")
    for _ in range(repeat):
        start = _clock()
        for _ in range(number):
            call()
        best = min(best, (_clock() - start) / number)
    return best, result
