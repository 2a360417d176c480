"""Mitigators and datasets of the user's own, which workers would not know by name."""

from dataclasses import dataclass
from typing import Any

from isonomy._names import base_name
from isonomy._registry import Registry
from isonomy.data import DATASETS
from isonomy.mitigators import MITIGATORS
from isonomy.study.spec import Study


@dataclass(frozen=True)
class Brought:
    """What a script or a notebook has registered, sent along with the work.

    A class of a module arrives by its name, and importing the module registers it; one that was
    typed at a prompt arrives whole, and is registered here.
    """

    mitigators: tuple[tuple[str, Any], ...] = ()
    datasets: tuple[tuple[str, Any], ...] = ()

    @classmethod
    def of(cls, study: Study) -> "Brought":
        """Collect what a study names and this package does not bring.

        Examples
        --------
        >>> Brought.of(Study("s", ["german/sex"], ["lr"], ["unmitigated", "reweighing"]))
        Brought(mitigators=(), datasets=())
        """
        methods = {MITIGATORS.resolve(base_name(m.mitigator)) for m in study.methods
                   if base_name(m.mitigator) in MITIGATORS}  # fmt: skip
        tasks = {base_name(t.dataset) for t in study.tasks if study.source_of(t.dataset) is None}
        loaders = {DATASETS.resolve(name) for name in tasks}
        return cls(
            tuple((n, MITIGATORS[n]) for n in sorted(methods) if not _ours(MITIGATORS[n])),
            tuple((n, DATASETS[n]) for n in sorted(loaders) if not _ours(DATASETS[n].loader)),
        )

    def register(self) -> None:
        """Make known in this process what is not known yet."""
        for registry, items in ((MITIGATORS, self.mitigators), (DATASETS, self.datasets)):
            _add_to(registry, items)


def _ours(item: Any) -> bool:
    module = str(getattr(item, "__module__", "")) or ""
    return module == "isonomy" or module.startswith("isonomy.")


def _add_to(registry: Registry[Any], items: tuple[tuple[str, Any], ...]) -> None:
    for name, item in items:
        if name not in registry:
            registry.add(name, item)
