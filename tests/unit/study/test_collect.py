"""Only Isonomy's own warnings are collected."""

import warnings

import pytest

from isonomy.errors import IsonomyWarning, UnmetConstraintWarning
from isonomy.study.collect import as_lines, collected_warnings, repeat_warnings


def test_own_warnings_are_collected_and_others_pass() -> None:
    with collected_warnings() as collected:
        with pytest.raises(RuntimeWarning, match="not ours"):
            warnings.warn("not ours", RuntimeWarning, stacklevel=1)
        for _ in range(2):
            warnings.warn("out of\n bounds", UnmetConstraintWarning, stacklevel=1)
    assert [type(warning) for warning in collected] == [UnmetConstraintWarning] * 2
    assert as_lines(collected) == "out of bounds"


def test_filters_are_as_before_and_warnings_can_be_repeated() -> None:
    with collected_warnings() as collected:
        warnings.warn("once", IsonomyWarning, stacklevel=1)
    with pytest.raises(IsonomyWarning, match="once"):
        repeat_warnings(collected)
