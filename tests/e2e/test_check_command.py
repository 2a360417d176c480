"""``isonomy check`` as a person, a CI job and a hook meet it."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pandas as pd
import pytest

from isonomy.gate import Policy
from tests.e2e.command import isonomy

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "gate"
GUIDE = (ROOT / "docs" / "how-to" / "gate.md").read_text(encoding="utf-8")
CASES = {"unmitigated": 1, "reject_option": 0, "reject_option 250": 3}
VERDICTS = {0: "pass", 1: "violated", 3: "too little evidence"}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A folder with the example and its predictions, per case."""
    out = {}
    for k, case in enumerate(CASES):
        folder = tmp_path_factory.mktemp(f"case{k}")
        shutil.copytree(EXAMPLE, folder, dirs_exist_ok=True)
        subprocess.run([sys.executable, "predict.py", *case.split()], cwd=folder, check=True)
        out[case] = folder
    return out


@pytest.mark.parametrize("case", CASES)
def test_the_guide_shows_what_is_printed(case: str, made: dict[str, Path]) -> None:
    done = isonomy("check", cwd=made[case], env={"COLUMNS": "80"})
    assert done.returncode == CASES[case]
    shown = "\n".join(line.rstrip() for line in done.stdout.strip().splitlines())
    assert f"$ isonomy check\n{shown}\n```" in GUIDE


def test_the_guide_shows_the_policy_and_files_of_the_example() -> None:
    assert f"```toml\n{(EXAMPLE / 'isonomy.toml').read_text()}```" in GUIDE
    workflow = (EXAMPLE / "fairness.yml").read_text()
    for line in re.findall(r"^- run: .+$", GUIDE, re.MULTILINE):
        assert line in workflow
    hook = (EXAMPLE / "pre-commit-config.yaml").read_text().split("\n", 1)[1]
    assert hook in GUIDE
    tests = (EXAMPLE / "test_fairness.py").read_text()
    for line in (
        "def test_predictions(audit_gate):",
        '@pytest.mark.fairness(policy="isonomy.toml")',
    ):
        assert line in tests
        assert line in GUIDE


def test_the_example_of_pytest(made: dict[str, Path]) -> None:
    def run(case: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "isonomy.pytest_plugin", "test_fairness.py"],
            cwd=made[case], capture_output=True, text=True, check=False, env={**os.environ, "COLUMNS": "80"},
        )  # fmt: skip

    assert run("reject_option").returncode == 0
    failed = run("unmitigated")
    assert "3 failed" in failed.stdout
    shown = re.search(r"```\n(E       AssertionError.*?)\n```", GUIDE, re.DOTALL)
    assert shown is not None
    assert shown[1] in failed.stdout


@pytest.mark.parametrize("case", CASES)
def test_real_processes_and_every_file_say_the_same(case: str, made: dict[str, Path]) -> None:
    folder = made[case]
    summary = folder / "summary.md"
    summary.write_text("before\n")
    command = [
        "check",
        "--policy",
        "isonomy.toml",
        "--quiet",
        "--json",
        "c.json",
        "--junit",
        "c.xml",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "isonomy", *command, "--markdown", "c.md", "--github"], cwd=folder,
        capture_output=True, text=True, check=False,
        env={**os.environ, "GITHUB_STEP_SUMMARY": str(summary)},
    )  # fmt: skip
    code = CASES[case]
    assert done.returncode == code
    assert json.loads((folder / "c.json").read_text())["verdict"] == VERDICTS[code]
    root = ET.parse(folder / "c.xml").getroot()
    assert (int(root.get("failures", "")) > 0, int(root.get("errors", "")) > 0) == (
        code == 1,
        code == 3,
    )
    markdown = (folder / "c.md").read_text()
    assert markdown.startswith(f"## Fairness gate: {VERDICTS[code]}\n")
    assert summary.read_text() == f"before\n{markdown}"
    assert (done.stdout.count("::error title=") > 0) == (code != 0)
    assert ("isonomy: " in done.stderr) == (code != 0)


def test_json_alone_goes_to_standard_output(made: dict[str, Path]) -> None:
    done = isonomy("check", "--json", "-", "--github", cwd=made["unmitigated"])
    assert json.loads(done.stdout)["exit_code"] == done.returncode == 1
    assert "::error" in done.stderr


def test_fail_on_is_the_same_decision(made: dict[str, Path]) -> None:
    columns = "--label hired --prediction predicted --sensitive group --privileged group=privileged"
    for case, code in CASES.items():
        done = isonomy(
            "audit", "predictions.csv", *columns.split(), "--fail-on", "spd,eod", "--quiet",
            cwd=made[case],
        )  # fmt: skip
        assert done.returncode == (1 if code == 1 else 0)


def test_no_worse_than_an_earlier_audit(made: dict[str, Path], tmp_path: Path) -> None:
    shutil.copytree(made["reject_option"], tmp_path, dirs_exist_ok=True)
    columns = ["--label", "hired", "--prediction", "predicted", "--sensitive", "group"]
    assert isonomy("audit", "predictions.csv", *columns, "--json", "main.json", cwd=tmp_path).returncode == 0  # fmt: skip
    rules = (EXAMPLE / "isonomy.toml").read_text().replace("= 0.1\n", "= 0.99\n")
    (tmp_path / "isonomy.toml").write_text(f'{rules}\n[earlier]\naudit = "main.json"\n')
    assert isonomy("check", cwd=tmp_path).returncode == 0
    worse = isonomy("check", str(made["unmitigated"] / "predictions.csv"), cwd=tmp_path)
    assert worse.returncode == 1
    assert "shown to have become wider" in " ".join(worse.stdout.split())


def test_a_policy_to_begin_with_passes(predictions: pd.DataFrame, tmp_path: Path) -> None:
    predictions.to_csv(tmp_path / "p.csv", index=False)
    write = (
        "check p.csv --write-policy isonomy.toml --label y --prediction yhat --sensitive sex,age "
        "--privileged sex=M --favorable good --bins age=40 --weight weight --metric spd,eod"
    )
    done = isonomy(*write.split(), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "isonomy.toml").read_text()
    assert 'thin_evidence = "fail"  # what too little evidence does' in text
    assert Policy.read(tmp_path).data.bins == {"age": (40.0,)}
    assert isonomy("check", cwd=tmp_path).returncode == 0
    again = isonomy(*write.split(), cwd=tmp_path)
    assert (again.returncode, "must not exist yet" in again.stderr) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("check --policy nothing.toml", "There is no policy 'nothing.toml'"),
        ("check missing.csv", "There is no file 'missing.csv'"),
        ("check --policy empty", "must be a policy: isonomy.toml, or [tool.isonomy]"),
        ("check --policy expired.toml", "expired on 2020-01-01; review it and set a new date"),
        ("check --policy typo.toml", "entry of a policy 'attribute'; did you mean 'attributes'?"),
        ("check --policy nofile.toml", "A file must be given: name one, or set file"),
        ("check --policy column.toml", "There is no column 'hird'; did you mean 'hired'?"),
        ("check --policy value.toml", "There is no value of group 'm'"),
        ("check --policy earlier.toml", "There is no earlier audit"),
        ("check --policy torn.toml", "must be a TOML file"),
        ("check --label hired", "--label must be in the policy, or go with --write-policy"),
        ("check --write-policy new.toml", "--write-policy needs the file that is to pass"),
        ("check predictions.csv --write-policy new.toml", "At least one protected attribute"),
        ("check --junit a.xml --markdown a.xml", "must be different files"),
        ("check --junit nowhere/a.xml", "does not exist; make it first"),
        ("check --junit -", "--junit must name a file"),
    ],
)
def test_bad_input_is_one_sentence(
    arguments: str, said: str, made: dict[str, Path], tmp_path: Path
) -> None:
    shutil.copytree(made["reject_option"], tmp_path, dirs_exist_ok=True)
    rules = (tmp_path / "isonomy.toml").read_text()
    (tmp_path / "empty").mkdir()
    for name, text in {
        "expired": rules.replace("2099-12-31", "2020-01-01"),
        "typo": rules.replace("attributes", "attribute"),
        "nofile": rules.replace('file = "predictions.csv"', ""),
        "column": rules.replace('"hired"', '"hird"'),
        "value": rules.replace('"privileged"}', '"m"}'),
        "earlier": f'{rules}\n[earlier]\naudit = "old.json"\n',
        "torn": rules[:-3],
    }.items():
        (tmp_path / f"{name}.toml").write_text(text)
    done = isonomy(*arguments.split(), "--quiet", cwd=tmp_path)
    assert done.returncode == 2, done.stdout
    assert done.stderr.startswith("isonomy: ")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert not done.stdout


def test_the_hook_of_pre_commit(made: dict[str, Path]) -> None:
    yaml = pytest.importorskip("yaml", reason="needs PyYAML, which pre-commit brings")
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    local = yaml.safe_load((EXAMPLE / "pre-commit-config.yaml").read_text())["repos"][0]["hooks"][0]
    for name in ("id", "entry", "language", "pass_filenames", "always_run", "stages"):
        assert hook[name] == local[name]
    assert hook["stages"] == ["pre-push"]
    assert hook["entry"].split()[0] == "isonomy"
    for case, code in CASES.items():
        assert isonomy(*hook["entry"].split()[1:], cwd=made[case]).returncode == code
    steps = yaml.safe_load((EXAMPLE / "fairness.yml").read_text())["jobs"]["gate"]["steps"]
    gate = next(s["run"] for s in steps if s.get("run", "").startswith("isonomy"))
    done = isonomy(*gate.split()[1:], cwd=made["unmitigated"])
    assert done.returncode == 1
