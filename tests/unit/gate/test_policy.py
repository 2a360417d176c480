"""A policy is read strictly and written so that it reads back unchanged."""

import datetime as dt
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isonomy.errors import InputError
from isonomy.gate import Accepted, Columns, Earlier, Policy

WHOLE = """
attributes = ["sex", "race"]
confidence = 0.9
fewest_rows = 100
thin_evidence = "warn"
single_groups = false
intersections = true
expires = 2027-01-31

[metrics]
statistical_parity_difference = 0.1
disparate_impact = 0.8
"equalized_odds_difference(compare=max_min)" = [-1, 0.15]

[data]
file = "p.csv"
label = "y"
prediction = "yhat"
score = "p"
weight = "w"
favorable = [">50K"]
privileged = {sex = "Male", race = ["White", "Asian"]}
bins = {sex = [1, 2.5]}
strata = ["job"]

[earlier]
audit = "old.json"
margin = 0.02
thin_evidence = "fail"

[[exceptions]]
metric = "spd"
attribute = "race"
group = "Other"
reason = "one office, closed in March"
expires = 2026-12-31
"""
SMALL: dict[str, Any] = {"attributes": ["sex"], "metrics": {"spd": 0.1}}


def test_everything_is_read(tmp_path: Path) -> None:
    file = tmp_path / "isonomy.toml"
    file.write_text(WHOLE)
    policy = Policy.read(file)
    assert policy.attributes == ("sex", "race")
    assert dict(policy.metrics) == {
        "statistical_parity_difference": (-0.1, 0.1),
        "disparate_impact": (0.8, 1.25),
        "equalized_odds_difference(compare=max_min)": (-1.0, 0.15),
    }
    assert (policy.confidence, policy.fewest_rows, policy.thin_evidence) == (0.9, 100, "warn")
    assert (policy.single_groups, policy.intersections) == (False, True)
    assert policy.expires == dt.date(2027, 1, 31)
    assert policy.data == Columns(
        file="p.csv", label="y", prediction="yhat", score="p", weight="w", favorable=(">50K",),
        privileged={"sex": ("Male",), "race": ("White", "Asian")}, bins={"sex": (1, 2.5)},
        strata=("job",),
    )  # fmt: skip
    assert policy.earlier == Earlier("old.json", 0.02, "fail")
    assert policy.exceptions == (
        Accepted("statistical_parity_difference", "race", "one office, closed in March",
                 dt.date(2026, 12, 31), "Other"),
    )  # fmt: skip
    assert policy.beside("old.json") == tmp_path / "old.json"
    for comments in (False, True):
        file.write_text(policy.to_toml(comments=comments))
        assert Policy.read(file) == policy
    assert Policy.read(tmp_path) == policy


def test_pyproject_has_a_table_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "pyproject.toml"
    file.write_text('[project]\nname = "x"\n')
    with pytest.raises(InputError, match=r"must have a table \[tool.isonomy\]"):
        Policy.read(file)
    with pytest.raises(InputError, match="has neither"):
        Policy.read(tmp_path)
    file.write_text('[tool.isonomy]\nattributes = "sex"\n[tool.isonomy.metrics]\nspd = 0.2\n')
    assert Policy.read(tmp_path) == Policy(attributes="sex", metrics={"spd": 0.2})
    (tmp_path / "isonomy.toml").write_text('attributes = "race"\n[metrics]\nspd = 0.2\n')
    assert Policy.read(tmp_path).attributes == ("race",)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"confidense": 0.9}, "entry of a policy 'confidense'; did you mean 'confidence'"),
        ({"path": "x"}, "entry of a policy 'path'"),
        ({"metrics": {"spdd": 0.1}}, "no metric 'spdd'; did you mean 'spd'"),
        ({"metrics": {}}, r"must have a table \[metrics\]"),
        ({"metrics": {"accuracy": 0.8}}, "must be for a group metric"),
        ({"metrics": {"spd": "low"}}, "must be a number or a pair"),
        ({"metrics": {"spd": True}}, "must be a number or a pair"),
        ({"metrics": {"spd": [0.1]}}, "must be a number or a pair"),
        ({"metrics": {"spd": [-0.1, 0.1, 7]}}, "must be a number or a pair"),
        ({"metrics": {"spd": {"low": 0.1}}}, "must be a number or a pair"),
        ({"metrics": {"spd": float("nan")}}, "must be above 0"),
        ({"metrics": {"spd": -0.1}}, "must be above 0"),
        ({"metrics": {"disparate_impact": 1.2}}, "must be a ratio below 1"),
        ({"attributes": []}, "must name its protected attributes"),
        ({"attributes": [1]}, "must name its protected attributes"),
        ({"confidence": 95}, "must lie between 0 and 1; got 95"),
        ({"confidence": "high"}, "confidence must be a number"),
        ({"fewest_rows": 10}, "fewest_rows must be at least 30"),
        ({"fewest_rows": True}, "fewest_rows must be a whole number"),
        ({"single_groups": 1}, "single_groups must be True or False"),
        ({"thin_evidence": "warning"}, "did you mean 'warn'"),
        ({"expires": "soon"}, "expires must be a date"),
        ({"expires": dt.datetime(2027, 1, 1, tzinfo=dt.UTC)}, "expires must be a date"),
        ({"data": "p.csv"}, "data must be a table"),
        ({"data": {"labels": "y"}}, r"policy's \[data\] 'labels'; did you mean 'label'"),
        ({"data": {"label": 3}}, "label must be a word"),
        ({"data": {"privileged": "m"}}, "privileged must be a table by attribute"),
        ({"data": {"privileged": {"sexx": "m"}}}, "did you mean 'sex'"),
        ({"data": {"bins": {"age": [30]}}}, r"attribute of the policy \(bins\) 'age'"),
        ({"earlier": {"margin": 0.1}}, "must have the entry 'audit'"),
        ({"earlier": {"audit": "a.json", "margin": -1}}, "margin must be at least 0"),
        ({"earlier": {"audit": "a.json", "thin_evidence": "x"}}, "way to treat thin evidence"),
        ({"earlier": {"audit": 1}}, "audit must be a word"),
        ({"exceptions": ["race"]}, r"must be a table \[\[exceptions\]\]"),
        ({"exceptions": [{"metric": "spd"}]}, "must have the entry 'attribute'"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_one_sentence(change: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said) as raised:
        Policy.from_dict({**SMALL, **change})
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"metric": "di"}, "metric of the policy"),
        ({"attribute": "race"}, "attribute of the policy"),
        ({"reason": " "}, "must have a reason"),
        ({"expires": "later"}, "expires must be a date"),
    ],
)
def test_an_exception_belongs_to_the_policy(change: dict[str, Any], said: str) -> None:
    one = {"metric": "spd", "attribute": "sex", "reason": "r", "expires": "2027-01-01"}
    assert Policy.from_dict({**SMALL, "exceptions": [one]}).exceptions[0].expires.year == 2027
    with pytest.raises(InputError, match=said):
        Policy.from_dict({**SMALL, "exceptions": [{**one, **change}]})


@pytest.mark.parametrize(
    "text",
    ["", "[metrics]\nspd = 0.1", "attributes = ", "\x00", 'metrics = "spd"\nattributes = "sex"'],
)
def test_files_that_are_no_policy(text: str, tmp_path: Path) -> None:
    (tmp_path / "isonomy.toml").write_text(text)
    with pytest.raises(InputError) as raised:
        Policy.read(tmp_path)
    assert "\n" not in str(raised.value)
    with pytest.raises(InputError, match=r"no policy .*; did you mean .*isonomy.toml"):
        Policy.read(tmp_path / "isonom.toml")


names = st.text(min_size=1, max_size=8).filter(lambda t: t.isprintable())


@given(
    attributes=st.lists(names, min_size=1, max_size=3, unique=True),
    low=st.floats(-1, -0.01),
    high=st.floats(0.01, 1),
    confidence=st.floats(0.5, 0.999),
    rows=st.integers(30, 10**6),
    thin=st.sampled_from(["fail", "warn", "pass"]),
    day=st.dates(),
    favorable=st.lists(st.one_of(names, st.integers(), st.booleans()), max_size=2),
    group=st.one_of(st.none(), names),
)
def test_round_trip(
    attributes: list[str], low: float, high: float, confidence: float, rows: int, thin: Any,
    day: dt.date, favorable: list[Any], group: str | None,
) -> None:  # fmt: skip
    policy = Policy(
        attributes=tuple(attributes),
        metrics={"spd": (low, high), "di": 0.8},
        confidence=confidence,
        fewest_rows=rows,
        thin_evidence=thin,
        expires=day,
        exceptions=(Accepted("di", attributes[0], 'a "reason" \\ #', day, group),),
        earlier=Earlier("a b.json", high),
        data=Columns(favorable=favorable, privileged={attributes[0]: favorable or ["m"]}),
    )
    for comments in (False, True):
        assert Policy.from_dict(tomllib.loads(policy.to_toml(comments=comments))) == policy
