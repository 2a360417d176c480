"""Audits of known counts."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from isonomy import Audit, Counts, audit_counts


def counts_of(selected: Sequence[int], rows: Sequence[int], privileged: str | None = "m") -> Counts:
    """Counts of groups of which some rows are selected; half of either have the good label."""
    cells = np.zeros((len(rows), 2, 2))
    for k, (s, n) in enumerate(zip(selected, rows, strict=True)):
        cells[k, :, 1] = s / 2
        cells[k, :, 0] = (n - s) / 2
    names = ("f", "m", "x", "z")[: len(rows)]
    return Counts(
        n=cells,
        attributes=("sex",),
        groups=tuple((name,) for name in names),
        classes=(0, 1),
        favorable=(1,),
        privileged={} if privileged is None else {"sex": (privileged,)},
    )


@pytest.fixture
def audit_of() -> Callable[..., Audit]:
    """Return the function that audits selected people of groups f, m, x and z."""

    def make(
        selected: Sequence[int],
        rows: Sequence[int],
        privileged: str | None = "m",
        **options: object,
    ) -> Audit:
        options = {"metrics": ["spd"], "resamples": 100, **options}
        return audit_counts(counts_of(selected, rows, privileged), **options)  # type: ignore[arg-type]

    return make
