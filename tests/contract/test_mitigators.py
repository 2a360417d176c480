"""Every mitigator on the shelf keeps the contract, under both protocols."""

import importlib

import pytest

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


@pytest.mark.parametrize("name", MITIGATORS)
def test_one_string_names_a_thing_everywhere(name: str) -> None:
    cls = MITIGATORS[name]
    assert cls.name == name
    assert cls.__module__ == f"isonomy.mitigators.{name}"
    assert cls.__name__ in importlib.import_module("isonomy.mitigators").__all__
