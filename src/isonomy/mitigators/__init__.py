"""What we change: flat, one file per method; the stage is a class attribute."""

from isonomy.mitigators.base import (
    MITIGATORS,
    BaseMitigator,
    InProcessor,
    PostProcessor,
    PreProcessor,
    make_mitigator,
)
from isonomy.mitigators.reweighing import Reweighing
from isonomy.mitigators.unmitigated import Unmitigated

__all__ = [
    "BaseMitigator",
    "InProcessor",
    "MITIGATORS",
    "PostProcessor",
    "PreProcessor",
    "Reweighing",
    "Unmitigated",
    "make_mitigator",
]
