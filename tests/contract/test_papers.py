"""Every registered paper keeps its contract."""

import pytest

from isonomy.papers import PAPERS
from isonomy.testing import PAPER_CHECKS


@pytest.mark.parametrize("check", [*PAPER_CHECKS])
@pytest.mark.parametrize("name", [*PAPERS])
def test_paper(name: str, check: str) -> None:
    PAPER_CHECKS[check](PAPERS[name])
