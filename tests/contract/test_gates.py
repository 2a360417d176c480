"""One decision, however a gate is asked: random audits get the same verdict in every way."""

import json
import subprocess
import sys
import tomllib
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd
import pytest

from isonomy import Audit, Counts, Policy, assert_fair, audit_counts, check
from isonomy.audit import Finding
from isonomy.gate import (
    EXIT_CODES,
    Check,
    Columns,
    annotations,
    log_mlflow,
    to_junit,
    to_markdown,
)
from tests.e2e.command import isonomy

METRICS = (
    "spd",
    "di",
    "eod",
    "false_positive_rate_difference",
    "equalized_odds_difference",
    "precision_difference",
)


def random_counts(rng: np.random.Generator) -> Counts:
    """Counts of two to four groups whose rates differ much, little or not at all."""
    groups = int(rng.integers(2, 5))
    rows = np.round(10 ** rng.uniform(1, 4, groups)).astype(int) + 2
    gap = rng.choice([0.0, 0.05, 0.1, 0.3])
    n = np.zeros((groups, 2, 2))
    for k in range(groups):
        base = np.clip(rng.choice([0.02, 0.3, 0.5]) + gap * rng.random(), 0.01, 0.99)
        said = np.clip(
            rng.choice([0.05, 0.4]) + gap * rng.random() + np.array([0, 0.3]), 0.01, 0.99
        )
        share = np.array([[(1 - b) * (1 - s), (1 - b) * s] for b, s in ((base, said[0]),)])[0]
        cells = [*share, base * (1 - said[1]), base * said[1]]
        n[k] = rng.multinomial(rows[k], cells).reshape(2, 2)
    named = {"sex": ("g1",)} if rng.random() < 0.6 else {}
    names = tuple((f"g{k}",) for k in range(groups))
    return Counts(
        n=n, attributes=("sex",), groups=names, classes=(0, 1), favorable=(1,), privileged=named
    )


def random_policy(rng: np.random.Generator) -> Policy:
    chosen = rng.choice(METRICS, int(rng.integers(1, 3)), replace=False)
    limits = {m: float(rng.choice([0.5, 0.8])) if m == "di" else float(rng.choice([0.05, 0.1, 0.3]))
              for m in chosen.tolist()}  # fmt: skip
    return Policy(
        attributes="sex",
        metrics=limits,
        confidence=float(rng.choice([0.8, 0.95])),
        fewest_rows=int(rng.choice([30, 30, 200])),
        thin_evidence=str(rng.choice(["fail", "warn", "pass"])),  # type: ignore[arg-type]
        single_groups=bool(rng.random() < 0.7),
    )


def read_junit(text: str) -> str:
    root = ET.fromstring(text)
    kinds = Counter(child.tag for case in root.iter("testcase") for child in case)
    assert (kinds["failure"], kinds["error"]) == (int(root.get("failures", "")), int(root.get("errors", "")))  # fmt: skip
    return "violated" if kinds["failure"] else "too little evidence" if kinds["error"] else "pass"


def read_json(text: str) -> str:
    """Decide again from what a machine reads: the outcomes alone."""
    data = json.loads(text)
    states = {(o["state"], o["thin_evidence"]) for o in data["outcomes"]}
    again = (
        "violated"
        if {s for s, _ in states} & {"violated"}
        else "too little evidence"
        if ("too little evidence", "fail") in states
        else "pass"
    )
    assert again == data["verdict"]
    assert data["exit_code"] == EXIT_CODES[data["verdict"]]
    return str(data["verdict"])


def read_annotations(text: str) -> str:
    errors = [line for line in text.splitlines() if line.startswith("::error")]
    if any("title=Fairness%3A violated::" in line for line in errors):
        return "violated"
    return "too little evidence" if errors else "pass"


def read_assertion(done: Check) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return assert_fair(done.audit, done.policy).verdict
        except AssertionError as failure:
            return str(failure).partition(":")[0].casefold()


def real_audit(rng: np.random.Generator, policy: Policy) -> Audit:
    return audit_counts(
        random_counts(rng), metrics=list(policy.metrics), thresholds=dict(policy.metrics),
        confidence=policy.confidence, resamples=100,
    )  # fmt: skip


BASE = audit_counts(random_counts(np.random.default_rng(0)), metrics=["spd"], resamples=100)


def made_up_audit(rng: np.random.Generator, policy: Policy) -> Audit:
    """An audit of findings that were thrown together: what is shown must not depend on sense."""
    wanted = [
        (m, c) for m in policy.metrics for c in ("unprivileged vs privileged", "a vs b", "c vs b")
    ]
    draws = rng.random((len(wanted), 5))
    words = rng.choice(
        ["within"] * 6 + ["violated", "insufficient evidence", "undefined"], len(wanted)
    )
    rows = []
    for (name, compared), (value, low, high, p, n), word in zip(
        wanted, draws.tolist(), words, strict=True
    ):
        if word == "undefined":
            value = low = high = np.nan
        ends = value - low, value + high if p < 0.9 else np.inf
        pvalue = 10 ** (-4 * p) if word == "violated" else None
        rows.append(
            Finding(
                name, name, "sex", compared, value, *ends, *policy.metrics[name],
                None if n < 0.05 else int(10 ** (1 + 4 * n)), str(word), "as drawn", pvalue,  # type: ignore[arg-type]
            )
        )  # fmt: skip
    settings = {
        "confidence": policy.confidence, "thresholds": {m: [*e] for m, e in policy.metrics.items()}
    }  # fmt: skip
    gaps = [f for f in rows if f.comparison == wanted[0][1]]
    single = [f for f in rows if f.comparison != wanted[0][1]]
    return replace(BASE, metrics=tuple(gaps), comparisons=tuple(single), settings=settings)


def one_case(rng: np.random.Generator, make: Callable[..., Audit]) -> str:
    policy = random_policy(rng)
    found = make(rng, policy)
    done = check(found, policy)
    ways = {
        "exit code": {code: word for word, code in EXIT_CODES.items()}[done.exit_code],
        "json": read_json(json.dumps(done.to_dict(), allow_nan=False)),
        "junit": read_junit(to_junit(done)),
        "markdown": to_markdown(done).splitlines()[0].removeprefix("## Fairness gate: "),
        "annotations": read_annotations(annotations(done)),
        "assert_fair": read_assertion(done),
        "policy file": check(found, Policy.from_dict(tomllib.loads(policy.to_toml()))).verdict,
    }
    assert set(ways.values()) == {done.verdict}, ways
    if policy.single_groups and policy.fewest_rows == 30:
        judged = [f for f in found.judged() if f.rows is None or f.rows >= 30]
        if len(judged) == len(found.judged()):  # what --fail-on asks
            assert bool(found.violated(*policy.metrics)) == (done.verdict == "violated")
    return done.verdict


def cases(seed: int, samples: int, make: Callable[..., Audit]) -> Counter[str]:
    rng = np.random.default_rng([20261118, seed])
    return Counter(one_case(rng, make) for _ in range(samples))


@pytest.mark.parametrize(("make", "samples"), [(real_audit, 400), (made_up_audit, 1600)])
def test_random_audits_get_one_verdict_in_every_way(
    make: Callable[..., Audit], samples: int
) -> None:
    seen = cases(0, samples, make)
    assert all(seen[verdict] > samples / 20 for verdict in EXIT_CODES), seen


@pytest.mark.slow
@pytest.mark.parametrize("part", range(1, 11))
@pytest.mark.parametrize(("make", "samples"), [(real_audit, 400), (made_up_audit, 9600)])
def test_100_000_random_audits(part: int, make: Callable[..., Audit], samples: int) -> None:
    seen = cases(part, samples, make)
    assert all(seen[verdict] > samples / 20 for verdict in EXIT_CODES), seen


def as_rows(counts: Counts) -> pd.DataFrame:
    """Return the rows that were counted."""
    cells = [
        (group[0], y, said)
        for k, group in enumerate(counts.groups)
        for y in (0, 1)
        for said in (0, 1)
        for _ in range(int(counts.n[k, y, said]))
    ]
    return pd.DataFrame(cells, columns=["sex", "y", "yhat"])


PLUGIN = """
from pathlib import Path
import pytest

@pytest.mark.parametrize("folder", sorted(str(p.parent) for p in Path(".").glob("*/isonomy.toml")))
def test_gate(audit_gate, folder):
    audit_gate(policy=folder)
"""


@pytest.mark.parametrize("samples", [6, pytest.param(60, marks=pytest.mark.slow)])
@pytest.mark.filterwarnings("ignore::FutureWarning:mlflow", "ignore::DeprecationWarning")
def test_random_files_get_one_verdict_in_real_sessions(
    samples: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command, Python on a file and on a frame, a session of pytest, and a run of MLflow."""
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    mlflow = pytest.importorskip("mlflow", reason="needs the extra mlflow")
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    rng = np.random.default_rng([20261119, samples])
    verdicts = {}
    for k in range(samples):
        folder = tmp_path / f"case{k:02d}"
        folder.mkdir()
        counts = random_counts(rng)
        people = as_rows(counts)
        people.to_parquet(folder / "p.parquet")
        given = {a: list(v) for a, v in counts.privileged.items()}
        data = Columns(file="p.parquet", label="y", prediction="yhat", privileged=given)
        (folder / "isonomy.toml").write_text(replace(random_policy(rng), data=data).to_toml())
        done = check(policy=folder)
        with mlflow.start_run() as run:
            log_mlflow(done)
        command = isonomy("check", cwd=folder).returncode
        ways = {
            done.verdict,
            check(people, folder).verdict,
            {code: word for word, code in EXIT_CODES.items()}[command],
            mlflow.get_run(run.info.run_id).data.tags["isonomy.verdict"],
        }
        assert ways == {done.verdict}, folder
        verdicts[folder.name] = done.verdict
    mlflow.set_tracking_uri(None)
    (tmp_path / "test_gates.py").write_text(PLUGIN)
    session = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "isonomy.pytest_plugin",
        "--junitxml=r.xml",
    ]
    subprocess.run([*session, "test_gates.py"], cwd=tmp_path, capture_output=True, check=False)
    found = {}
    for case in ET.parse(tmp_path / "r.xml").getroot().iter("testcase"):
        failed = case.find("failure")
        said = "" if failed is None else str(failed.get("message")).removeprefix("AssertionError: ")
        word = said.partition(":")[0].casefold() or "pass"
        found[str(case.get("name"))[10:-1]] = word
    assert found == verdicts
    assert len(set(verdicts.values())) > 1


def test_an_audit_with_more_metrics_or_other_limits_is_judged_alike() -> None:
    """What is judged again from counts is what would have been judged at once."""
    rng = np.random.default_rng(5)
    for _ in range(40):
        policy, counts = random_policy(rng), random_counts(rng)
        asked: dict[str, Any] = {
            "confidence": policy.confidence,
            "thresholds": dict(policy.metrics),
        }
        audits = [
            audit_counts(counts, metrics=list(policy.metrics), resamples=100, **asked),
            audit_counts(counts, metrics=METRICS, resamples=100, confidence=0.9),
        ]
        one, other = (check(a, policy) for a in audits)
        assert one.outcomes == other.outcomes or one.frame().equals(other.frame())
