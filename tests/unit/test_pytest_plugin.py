"""The pytest plugin, in real sessions of pytest."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

TESTS = """
import pytest
from isonomy import Policy, audit, assert_fair

SEX, Y = ["f", "m"] * 1000, [0, 0, 1, 1] * 500
FAIR = audit(Y, Y, sensitive_features={"sex": SEX}, privileged="m", resamples=100)
UNFAIR = audit(
    Y, [int(s == "m") for s in SEX], sensitive_features={"sex": SEX}, privileged="m", resamples=100
)
THIN = audit(Y[:80], Y[:80], sensitive_features={"sex": SEX[:80]}, privileged="m", resamples=100)


@pytest.mark.fairness(policy="rules/strict.toml")
@pytest.mark.parametrize("found", [FAIR, UNFAIR, THIN], ids=["fair", "unfair", "thin"])
def test_marked(audit_gate, found):
    audit_gate(found)


def test_of_the_root(audit_gate):
    assert audit_gate(THIN).verdict == "pass"  # [tool.isonomy] lets thin evidence pass


def test_of_the_call(audit_gate):
    audit_gate(UNFAIR, Policy(attributes="sex", metrics={"spd": 1}))


def test_without_a_fixture():
    assert_fair(UNFAIR, "rules/strict.toml")


@pytest.mark.fairness(polizy="x")
def test_misspelt(audit_gate):
    audit_gate(FAIR)


@pytest.mark.fairness("rules/missing.toml")
def test_missing(audit_gate):
    audit_gate(FAIR)
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "rules").mkdir()
    strict = 'attributes = "sex"\n[metrics]\nspd = 0.1\n'
    (tmp_path / "rules" / "strict.toml").write_text(strict)
    table = '[tool.isonomy]\nattributes = "sex"\nthin_evidence = "pass"\nmetrics = {spd = 0.1}\n'
    (tmp_path / "pyproject.toml").write_text(f"[tool.pytest.ini_options]\n{table}")
    (tmp_path / "test_model.py").write_text(TESTS)
    return tmp_path


def run(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "isonomy.pytest_plugin",
        "-W",
        "error",
        *options,
    ]
    return subprocess.run(
        [*command, "--strict-markers", "-p", "no:cacheprovider", "-rA"], cwd=folder, text=True,
        capture_output=True, check=False, env={**os.environ, "PYTEST_ADDOPTS": "", "COLUMNS": "200"},
    )  # fmt: skip


@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["alone", "xdist"])
def test_verdicts_are_outcomes(project: Path, options: tuple[str, ...]) -> None:
    done = run(project, *options)
    states = {}
    for line in done.stdout.splitlines():
        word, _, rest = line.partition(" ")
        if word in {"PASSED", "FAILED", "ERROR"} and "::" in rest:
            states[rest.split("::")[1].split(" ")[0]] = word
    assert states == {
        "test_marked[fair]": "PASSED",
        "test_marked[unfair]": "FAILED",
        "test_marked[thin]": "FAILED",
        "test_of_the_root": "PASSED",
        "test_of_the_call": "PASSED",
        "test_without_a_fixture": "FAILED",
        "test_misspelt": "ERROR",
        "test_missing": "FAILED",
    }, done.stdout + done.stderr
    said = done.stdout
    assert "AssertionError: Violated: of 1 gap, 1 violated." in said
    assert (
        "- Too little evidence: statistical_parity_difference of sex (unprivileged vs privileged)"
        in said
    )
    assert "The marker must be fairness(policy=...)" in said
    assert "There is no policy" in said
    assert "isonomy/gate/run.py" not in said  # a failure points at the test, not into this package


def test_thin_evidence_that_passes_with_a_warning_is_one_of_pytest(project: Path) -> None:
    (project / "rules" / "strict.toml").write_text(
        'attributes = "sex"\nthin_evidence = "warn"\nmetrics = {spd = 0.1}\n'
    )
    done = run(project, "-W", "default", "-k", "marked and thin")
    assert done.returncode == 0, done.stdout
    assert "ThinEvidenceWarning: statistical_parity_difference of sex" in done.stdout


def test_the_file_of_the_policy(project: Path, predictions: pd.DataFrame) -> None:
    predictions.to_csv(project / "p.csv", index=False)
    (project / "isonomy.toml").write_text(
        'attributes = "sex"\n[metrics]\nspd = 0.9\n[data]\nfile = "p.csv"\nlabel = "y"\n'
        'prediction = "yhat"\nfavorable = "good"\n'
    )
    (project / "test_model.py").write_text("def test_file(audit_gate):\n    audit_gate()\n")
    done = run(project)
    assert done.returncode == 0, done.stdout


def test_a_session_that_does_not_ask_imports_nothing_heavy(tmp_path: Path) -> None:
    (tmp_path / "test_other.py").write_text(
        "import json, pathlib, sys\n"
        "def test_nothing():\n"
        "    pathlib.Path('seen.json').write_text(json.dumps(sorted(sys.modules)))\n"
    )
    done = run(tmp_path, "-p", "no:hypothesispytest", "-p", "no:xdist")
    assert done.returncode == 0, done.stdout + done.stderr
    seen = set(json.loads((tmp_path / "seen.json").read_text()))
    ours = {m for m in seen if m.partition(".")[0] == "isonomy"}
    assert ours == {"isonomy", "isonomy.pytest_plugin"}
    assert not seen & {"numpy", "pandas", "scipy", "sklearn", "duckdb", "typer", "rich", "tomllib"}
