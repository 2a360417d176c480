"""JUnit, Markdown and annotations say what the check says, hostile names or not."""

from typing import Any
from xml.etree import ElementTree as ET

import pytest

from isonomy import Policy, audit, check
from isonomy.gate import Accepted, annotations, to_junit, to_markdown

NASTY = 'f|"<script>alert(1)</script>&\n::error::x%0A\x1b[31m`#@me'


@pytest.fixture
def done(audit_of: Any) -> Any:
    """A check with all four states."""
    found = audit_of([300, 500, 45], [1000, 1000, 100], metrics=["spd", "di", "eod"])
    one = Accepted("di", "sex", "known", "2999-01-01", group="f")  # type: ignore[arg-type]
    metrics = {"spd": 0.1, "di": 0.8, "eod": 0.9}
    return check(found, Policy(attributes="sex", metrics=metrics, exceptions=(one,)))


def test_junit(done: Any) -> None:
    root = ET.fromstring(to_junit(done))
    suite = root[0]
    cases = suite.findall("testcase")
    assert len(cases) == len(done.outcomes) == int(suite.get("tests", "0"))
    for kind, state in (
        ("failure", "violated"),
        ("error", "too little evidence"),
        ("skipped", "accepted"),
    ):
        found = suite.findall(f"testcase/{kind}")
        assert len(found) == len(done.by_state(state)) > 0
        total = {"failure": "failures", "error": "errors"}.get(kind, kind)
        assert int(root.get(total, "0")) == len(found)
        assert found[0].get("message") == done.by_state(state)[0].sentence()
    assert done.headline() in str(suite.findtext("system-out"))


def test_markdown(done: Any) -> None:
    text = to_markdown(done)
    assert text.startswith(f"## Fairness gate: {done.verdict}\n\n{done.headline()}\n")
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert len(rows) == 2 + len(done.outcomes)
    assert rows[2].startswith("| ❌ violated | statistical\\_parity\\_difference of sex")
    assert "95% confidence. A calculation, not a certification." in text


def test_annotations(done: Any) -> None:
    lines = annotations(done).splitlines()
    errors = [line for line in lines if line.startswith("::error title=Fairness%3A ")]
    assert len(errors) == sum(o.closes for o in done.outcomes)
    assert sum(line.startswith("::warning ") for line in lines) == len(done.by_state("accepted"))


def test_hostile_names_stay_names() -> None:
    sex = [NASTY] * 500 + ["m"] * 500
    y = [0, 1] * 500
    predicted = [0] * 400 + [1] * 600
    found = audit(y, predicted, sensitive_features={"sex": sex}, privileged="m", resamples=100)
    single = audit(
        [*y, *y], [*predicted, *predicted], resamples=100, privileged="m",
        sensitive_features={"sex": [*sex, *sex[:500], *["x"] * 500]},
    )  # fmt: skip
    for one in (found, single):
        done = check(one, Policy(attributes="sex", metrics={"spd": 0.1}))
        root = ET.fromstring(to_junit(done))
        assert len(root.findall(".//testcase")) == len(done.outcomes)
        assert len(annotations(done).splitlines()) == len(
            [o for o in done.outcomes if o.state != "within"]
        ) + len(done.notes)
        for text in (to_junit(done), to_markdown(done), annotations(done)):
            assert "\x1b" not in text
        for text in (to_junit(done), to_markdown(done), done._repr_html_()):
            assert "<script>" not in text
        rows = [line for line in to_markdown(done).splitlines() if line.startswith("| ")]
        assert len(rows) == 2 + len(done.outcomes)
        assert all(row.replace("\\|", "").count("|") == 7 for row in rows)


def test_undefined_and_no_interval_are_said() -> None:
    found = audit(
        [0] * 100 + [0, 1] * 50, [0, 1] * 100, sensitive_features={"sex": ["f"] * 100 + ["m"] * 100},
        privileged="m", metrics=["eod"], resamples=100,
    )  # fmt: skip
    done = check(found, Policy(attributes="sex", metrics={"eod": 0.1}))
    assert "| undefined |  | -0.1 to 0.1 |" in to_markdown(done)
    assert "is undefined" in to_junit(done)
    assert done.to_dict()["outcomes"][0]["value"] is None
