"""The pytest plugin: a fixture and a marker; what they need is imported when a test asks for it."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from isonomy.gate import Check


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line(
        "markers", "fairness(policy=None): the policy that the fixture audit_gate checks against"
    )


def _marked(policy: Any = None) -> Any:
    return policy


@pytest.fixture
def audit_gate(request: pytest.FixtureRequest) -> "Callable[..., Check]":
    """Check an audit, a file or a frame: the test fails unless the check passes.

    The policy is that of the call, else of the marker ``fairness``, else the one of pytest's root
    folder; a path is relative to that folder.
    """
    marker = request.node.get_closest_marker("fairness")
    try:
        marked = None if marker is None else _marked(*marker.args, **marker.kwargs)
    except TypeError:
        raise pytest.UsageError(
            "The marker must be fairness(policy=...), with a file or a Policy."
        ) from None

    def gate(data: Any = None, policy: Any = None, **options: Any) -> "Check":
        __tracebackhide__ = True
        from isonomy.errors import IsonomyError
        from isonomy.gate import Policy, assert_fair

        chosen = marked if policy is None else policy
        if not isinstance(chosen, Policy):
            chosen = request.config.rootpath / (chosen or "")
        try:
            return assert_fair(data, chosen, **options)
        except IsonomyError as error:  # one sentence, and no traceback through this package
            pytest.fail(str(error), pytrace=False)

    return gate
