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
    assert f"```yaml\n{(EXAMPLE / 'fairness.yml').read_text()}```" in GUIDE
    assert f"```python\n{(EXAMPLE / 'predict.py').read_text()}```" in GUIDE
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


COMMANDS = "error warning notice debug group endgroup echo add-mask add-path add-matcher remove-matcher set-env set-output save-state stop-commands"  # fmt: skip


def obeyed(text: str) -> list[str]:
    """Return the lines in which a CI runner finds a command."""
    found = []
    for line in re.split(r"\r\n|\r|\n", text):
        words = re.match(r"\s*::([\w-]+)( .*?)?::", line)
        known = words is not None and words[1].casefold() in COMMANDS.split()
        if known or re.search(r"##(vso)?\[", line):
            found.append(line)
    return found


HOSTILE = [
    "a\n::error::owned", "a\r\n ::add-mask::owned", "a ::warning file=x::owned", "::group::",
    "##[error]owned", "##vso[task.setvariable variable=x]owned", "b##[add-path]/tmp",
    "x" * 37 + "::set-output name=a::b", "[red]\n::ERROR::owned[/red]", "::stop-commands::t",
]  # fmt: skip


@pytest.mark.parametrize("width", ["40", "120"])
def test_names_issue_no_commands_to_a_runner(width: str, tmp_path: Path) -> None:
    """A runner obeys ::error:: where a line begins, also by wrapping, and ##[error] anywhere."""
    rows = [(name, k % 2, 0) for name in HOSTILE for k in range(60)] + [
        ("m", 1, 1),
        ("m", 0, 1),
    ] * 60
    rows += [(f"{name} few", 1, 1) for name in HOSTILE]
    pd.DataFrame(rows, columns=["sex", "y", "yhat"]).to_parquet(tmp_path / "p.parquet")
    (tmp_path / "isonomy.toml").write_text(
        'attributes = "sex"\nmetrics = {spd = 0.1}\n'
        'data = {file = "p.parquet", label = "y", prediction = "yhat", privileged = {sex = "m"}}\n'
    )
    env = {"COLUMNS": width}
    done = isonomy("check", "--github", cwd=tmp_path, env=env)
    assert done.returncode == 1
    ours = obeyed(done.stdout)
    assert len(ours) > len(HOSTILE)
    assert all(re.match(r"::(error|notice|warning) title=Fairness", line) for line in ours)
    assert not obeyed(done.stderr)
    columns = ["--prediction", "yhat", "--sensitive", "sex"]
    for command in (
        ["check", "--github", "--json", "-"],
        ["audit", "p.parquet", "--label", "y", *columns, "--fail-on", "any"],
        ["audit", "p.parquet", *columns],
    ):
        done = isonomy(*command, cwd=tmp_path, env=env)
        assert done.returncode < 2
        assert not obeyed(done.stdout)
        if "-" in command:
            said = " ".join(o["comparison"] for o in json.loads(done.stdout)["outcomes"])
            assert all(name in said for name in HOSTILE)
        else:
            assert not obeyed(done.stderr)
    for name in HOSTILE:
        done = isonomy(
            "audit", "p.parquet", "--label", name, *columns, "--quiet", cwd=tmp_path, env=env
        )
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert not obeyed(done.stderr)


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


def test_a_policy_to_begin_with_needs_no_labels(predictions: pd.DataFrame, tmp_path: Path) -> None:
    predictions.drop(columns="y").to_csv(tmp_path / "p.csv", index=False)
    columns = "--prediction yhat --sensitive sex --privileged sex=M --favorable good"
    done = isonomy(
        "check", "p.csv", "--write-policy", "isonomy.toml", *columns.split(), cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert list(Policy.read(tmp_path).metrics) == ["statistical_parity_difference"]
    assert isonomy("check", cwd=tmp_path).returncode == 0


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
    runs = [s["run"] for s in steps if "run" in s]
    assert [line.split()[0] for line in runs] == ["pip", "python", "isonomy"]
    assert (EXAMPLE / runs[1].split()[1]).exists()
    folder = made["unmitigated"]
    assert isonomy(*runs[2].split()[1:], cwd=folder).returncode == 1
    uploaded = next(s["with"]["path"] for s in steps if "upload-artifact" in s.get("uses", ""))
    assert (folder / uploaded).exists()


def test_pre_commit_runs_the_hook(made: dict[str, Path], tmp_path: Path) -> None:
    """The hook of the example in a real repository; only its environment is this one."""
    pytest.importorskip("pre_commit", reason="needs pre-commit")
    git = shutil.which("git")
    if git is None:
        pytest.skip("needs git")
    config = (EXAMPLE / "pre-commit-config.yaml").read_text()
    config = config.replace("entry: isonomy check", f"entry: {sys.executable} -m isonomy check")
    config = config.replace("language: python", "language: system")
    config = "\n".join(
        line for line in config.splitlines() if "additional_dependencies" not in line
    )
    env = {**os.environ, "PRE_COMMIT_HOME": str(tmp_path / "home")}
    for case, code in CASES.items():
        folder = tmp_path / case.replace(" ", "_")
        shutil.copytree(made[case], folder)
        (folder / ".pre-commit-config.yaml").write_text(config)
        for command in (["init", "-q"], ["add", "-A"]):
            subprocess.run([git, *command], cwd=folder, check=True)
        done = subprocess.run(
            [sys.executable, "-m", "pre_commit", "run", "isonomy-gate", "--hook-stage", "pre-push", "--all-files"],
            cwd=folder, capture_output=True, text=True, check=False, env=env,
        )  # fmt: skip
        assert (done.returncode == 0) == (code == 0), done.stdout
        assert ("exit code: " in done.stdout) == (code != 0)
        if code:
            assert f"exit code: {code}" in done.stdout
            assert f"isonomy: {VERDICTS[code]}".casefold() in done.stdout.casefold()
