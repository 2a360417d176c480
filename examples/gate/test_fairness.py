"""The gate as tests of pytest: the plugin comes with isonomy and has nothing to set up."""

import pandas as pd
import pytest

from isonomy import assert_fair, audit


def test_predictions(audit_gate):
    """The policy's file, by the policy of pytest's root folder."""
    audit_gate()


@pytest.mark.fairness(policy="isonomy.toml")
def test_some_people(audit_gate):
    """Any audit, file or frame; a marker names another policy."""
    people = pd.read_csv("predictions.csv")
    audit_gate(people[people.noise > -1])


def test_by_hand():
    """Without the plugin."""
    people = pd.read_csv("predictions.csv")
    found = audit(
        people.hired,
        people.predicted,
        sensitive_features=people[["group"]],
        privileged="privileged",
    )
    assert_fair(found, "isonomy.toml")
