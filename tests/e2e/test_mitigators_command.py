"""``isonomy mitigators`` lists the shelf and explains one method."""

import json

import pytest
from typer.testing import CliRunner

from isonomy.cli import app
from isonomy.mitigators import MITIGATORS


def run(*words: str) -> str:
    done = CliRunner().invoke(app, ["mitigators", *words], env={"COLUMNS": "200"})
    assert done.exit_code == 0, done.output
    return done.output


def test_every_method_is_listed_under_its_stage() -> None:
    shown = run()
    for name, method in MITIGATORS.items():
        assert name in shown
        assert method.advice.split()[0] in shown
    assert shown.index("before training") < shown.index("reweighing")
    assert shown.index("after training") < shown.index("reject_option")


def test_one_method_is_explained_by_name_or_alias() -> None:
    shown = run("rw")
    assert "a learner that takes weights" in shown
    assert "Protocols" in shown
    assert "Kamiran" in shown


def test_as_data() -> None:
    given = json.loads(run("--json", "-"))["mitigators"]
    assert {m["name"] for m in given} == set(MITIGATORS)
    by_name = {m["name"]: m for m in given}
    assert by_name["disparate_impact_remover"]["needs_sensitive_at_predict"] is True
    assert by_name["learning_fair_representations"]["parameters"]["k"] == "5"


def test_an_unknown_name_gets_a_hint(capsys: pytest.CaptureFixture[str]) -> None:
    done = CliRunner().invoke(app, ["mitigators", "reweighting"])
    assert done.exit_code != 0
    assert "did you mean 'reweighing'?" in str(done.exception)
