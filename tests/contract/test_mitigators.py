"""Every mitigator on the shelf keeps the contract, under both protocols."""

import importlib
from pathlib import Path

import pytest

import isonomy.mitigators
from isonomy.mitigators import MITIGATORS
from isonomy.testing import MITIGATOR_CHECKS

# The contract is not about convergence: fewer rounds for those that fit many models.
QUICK = {
    "exponentiated_gradient": {"max_iter": 4},
    "minimax": {"rounds": 20},
    "ecd_fair": {"budget": 5},
}


@pytest.mark.parametrize("check", MITIGATOR_CHECKS)
@pytest.mark.parametrize("name", MITIGATORS)
def test_corrected(name: str, check: str) -> None:
    MITIGATOR_CHECKS[check](MITIGATORS[name](**QUICK.get(name, {})))


@pytest.mark.parametrize("check", ["fits_and_predicts", "repeats_itself", "takes_text_labels"])
@pytest.mark.parametrize("name", MITIGATORS)
def test_as_published(name: str, check: str) -> None:
    MITIGATOR_CHECKS[check](MITIGATORS[name](protocol="as_published", **QUICK.get(name, {})))


def test_every_file_registers_its_method() -> None:
    """A method that is not registered would be found by no other test."""
    for path in Path(isonomy.mitigators.__file__).parent.glob("[!_]*.py"):
        if path.stem not in ("aims", "base", "stages"):
            assert path.stem in MITIGATORS, (
                f"{path.name} registers no mitigator of its name: write "
                f'@MITIGATORS.register("{path.stem}") above the class'
            )


@pytest.mark.parametrize("name", MITIGATORS)
def test_one_string_names_a_thing_everywhere(name: str) -> None:
    cls = MITIGATORS[name]
    assert cls.name == name
    assert cls.__module__ == f"isonomy.mitigators.{name}"
    public = importlib.import_module("isonomy.mitigators").__all__
    assert cls.__name__ in public, f"{cls.__name__} is not in __all__ of isonomy.mitigators"
