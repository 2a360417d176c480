"""check(): three verdicts, exceptions, expiry, and one answer whatever is given."""

import datetime as dt
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import polars as pl
import pytest

from isonomy import Policy, assert_fair, audit, audit_file, check
from isonomy.audit import ModelsAudit, audit_selections
from isonomy.errors import InputError, ThinEvidenceWarning
from isonomy.gate import Accepted, Columns

SPD = Policy(attributes="sex", metrics={"spd": 0.1})
PASS, WRONG, THIN = ([500, 500], [1000, 1000]), ([300, 500], [1000, 1000]), ([40, 50], [100, 100])
DAY = dt.date(2026, 6, 15)


def policy(**fields: Any) -> Policy:
    return Policy(**{"attributes": "sex", "metrics": {"spd": 0.1}, **fields})


@pytest.mark.parametrize(
    ("people", "verdict", "code"),
    [(PASS, "pass", 0), (WRONG, "violated", 1), (THIN, "too little evidence", 3)],
)
def test_three_verdicts(people: Any, verdict: str, code: int, audit_of: Any) -> None:
    done = check(audit_of(*people), SPD, today=DAY)
    assert (done.verdict, done.exit_code, done.date) == (verdict, code, DAY)
    assert done.outcomes[0].value == pytest.approx((people[0][0] - people[0][1]) / people[1][0])
    assert done.to_dict()["verdict"] == verdict
    assert done.frame()["state"].tolist() == ["within" if code == 0 else verdict]
    assert done.headline() in done._repr_html_()
    with pytest.raises(TypeError, match=r"compare \.verdict"):
        bool(done)


@pytest.mark.parametrize("thin", ["warn", "pass"])
def test_thin_evidence_does_what_the_policy_says(thin: Any, audit_of: Any) -> None:
    found = audit_of(*THIN)
    done = check(found, policy(thin_evidence=thin))
    assert done.verdict == "pass"
    assert done.by_state("too little evidence")
    assert any("lets 1 gap with too little evidence pass" in note for note in done.notes)
    if thin == "warn":
        with pytest.warns(ThinEvidenceWarning, match="reaches across"):
            assert_fair(found, done.policy)
    else:
        assert_fair(found, done.policy)
    assert check(audit_of(*WRONG), done.policy).verdict == "violated"


def test_a_failure_a_person_can_read(audit_of: Any) -> None:
    with pytest.raises(AssertionError) as raised:
        assert_fair(audit_of(*WRONG), SPD)
    first, second = str(raised.value).split("\n")
    assert first == "Violated: of 1 gap, 1 violated."
    assert second.startswith(
        "- Violated: statistical_parity_difference of sex (unprivileged vs privileged) is -0.200 ["
    )
    assert "accepted: -0.1 to 0.1" in second


def test_an_audit_is_judged_by_the_policy_and_not_by_its_own_thresholds(audit_of: Any) -> None:
    lenient = audit_of(*WRONG, thresholds={"spd": 0.5}, confidence=0.8, metrics=["spd", "di"])
    assert lenient.violated("spd") == ()
    assert check(lenient, SPD).verdict == "violated"
    assert (
        check(audit_of(*PASS, privileged=None), SPD).outcomes[0].comparison == "largest vs smallest"
    )
    turned = policy(data=Columns(privileged={"sex": "f"}))
    assert check(audit_of(*WRONG), turned).outcomes[0].value == pytest.approx(0.2)
    other = policy(data=Columns(favorable=[0]))
    assert check(audit_of(*WRONG), other).outcomes[0].value == pytest.approx(0.2)
    same = audit_of(*WRONG)
    assert check(same, SPD).audit is same


def test_single_groups(audit_of: Any) -> None:
    found = audit_of([960, 500, 20], [1900, 1000, 100])  # all unprivileged together: 0.49
    assert check(found, SPD).verdict == "violated"
    assert [o.comparison for o in check(found, SPD).by_state("violated")] == ["x vs m"]
    assert check(found, policy(single_groups=False)).verdict == "pass"


def test_groups_that_are_not_compared_are_named(audit_of: Any) -> None:
    done = check(audit_of([500, 500, 4], [1000, 1000, 20]), policy(single_groups=False))
    assert any("not compared, too small or not known: 'x'" in note for note in done.notes)


def test_fewest_rows(audit_of: Any) -> None:
    done = check(audit_of(*WRONG), policy(fewest_rows=2000))
    assert done.verdict == "too little evidence"
    assert "fewer than the 2000 of the policy" in done.outcomes[0].reason


def test_violated_by_itself_only(audit_of: Any) -> None:
    found = audit_of(
        [420, 500], [1000, 1000], metrics=["spd", "eod", "false_positive_rate_difference"]
    )
    wide = {"spd": 0.035, "eod": 0.5, "false_positive_rate_difference": 0.5}
    done = check(found, policy(metrics=wide))
    alone = check(found, policy(metrics={"spd": 0.035}))
    assert alone.verdict == "violated"
    assert done.verdict == "too little evidence"
    assert "not for all 3 gaps of the policy together" in done.outcomes[0].reason


def test_exceptions_hold_until_their_date(audit_of: Any) -> None:
    one = Accepted("spd", "sex", "an office that closes", DAY)
    found = audit_of(*WRONG)
    held = check(found, policy(exceptions=[one]), today=DAY)
    assert (held.verdict, held.outcomes[0].state) == ("pass", "accepted")
    assert held.outcomes[0].reason == "accepted until 2026-06-15: an office that closes"
    late = check(found, policy(exceptions=[one]), today=DAY + dt.timedelta(days=1))
    assert late.verdict == "violated"
    assert any("expired on 2026-06-15: it is judged again" in note for note in late.notes)
    assert check(audit_of(*PASS), held.policy, today=DAY).outcomes[0].state == "within"
    thin = check(audit_of(*THIN), held.policy, today=DAY)
    assert (thin.verdict, thin.outcomes[0].state) == ("pass", "accepted")


def test_an_exception_of_one_group(audit_of: Any) -> None:
    found = audit_of([960, 500, 20], [1900, 1000, 100])
    one = Accepted("spd", "sex", "r", DAY, group="x")
    states = {
        o.comparison: o.state for o in check(found, policy(exceptions=[one]), today=DAY).outcomes
    }
    assert states["x vs m"] == "accepted"
    assert states["unprivileged vs privileged"] == "within"
    other = Accepted("spd", "sex", "r", DAY, group="z")
    assert check(found, policy(exceptions=[other]), today=DAY).verdict == "violated"


def test_an_expired_policy_is_refused(audit_of: Any) -> None:
    rules = policy(expires=DAY)
    assert check(audit_of(*PASS), rules, today=DAY).verdict == "pass"
    with pytest.raises(InputError, match="expired on 2026-06-15; review it"):
        check(audit_of(*PASS), rules, today=DAY + dt.timedelta(days=1))


@pytest.fixture
def rules() -> Policy:
    return Policy(
        attributes=("sex", "age"),
        metrics={"spd": 0.2, "eod": 0.3},
        intersections=True,
        data=Columns(
            label="y", prediction="yhat", score="score", weight="weight", favorable=("good",),
            privileged={"sex": "M"}, bins={"age": [40]}, strata=("race",),
        ),
    )  # fmt: skip


def test_file_frame_and_audit_are_one(
    predictions: pd.DataFrame, rules: Policy, tmp_path: Path
) -> None:
    path = tmp_path / "p.parquet"
    predictions.to_parquet(path)
    asked = {
        "label": "y", "prediction": "yhat", "sensitive_features": ["sex", "age"],
        "weight": "weight", "bins": {"age": [40]}, "favorable": "good", "privileged": {"sex": "M"},
    }  # fmt: skip
    found = audit_file(path, **asked)  # type: ignore[arg-type]
    every = [check(data, rules) for data in (path, str(path), predictions, found)]
    every.append(check(pl.from_pandas(predictions), rules))
    frames = [done.frame() for done in every]
    for frame in frames[1:]:
        pd.testing.assert_frame_equal(frame, frames[0])
    assert {o.attribute for o in every[0].outcomes} == {"sex", "age", "sex & age"}
    assert any("race" in note for done in every[:3] for note in done.notes)
    wider = audit_file(path, **{**asked, "sensitive_features": ["sex", "age", "race"]})  # type: ignore[arg-type]
    pd.testing.assert_frame_equal(check(wider, rules).frame(), frames[0])


def test_the_file_of_the_policy_lies_beside_it(
    predictions: pd.DataFrame, rules: Policy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "rules"
    folder.mkdir()
    predictions.to_csv(folder / "p.csv", index=False)
    (folder / "isonomy.toml").write_text(
        rules.to_toml().replace("[data]", '[data]\nfile = "p.csv"')
    )
    here = check(None, folder)
    monkeypatch.chdir(folder)
    pd.testing.assert_frame_equal(check().frame(), here.frame())


def test_what_cannot_be_checked(audit_of: Any, predictions: pd.DataFrame, rules: Policy) -> None:
    with pytest.raises(InputError, match="A file must be given: name one"):
        check(None, SPD)
    with pytest.raises(InputError, match="attribute of the audit 'race'"):
        check(audit_of(*PASS), Policy(attributes="race", metrics={"spd": 0.1}))
    with pytest.raises(InputError, match="no column 'y'; did you mean"):
        check(predictions.rename(columns={"y": "yy"}), rules)
    with pytest.raises(InputError, match="A table must be held in memory"):
        check(SimpleNamespace(), SPD)
    several = ModelsAudit({}, (), (), (), {}, ())
    with pytest.raises(InputError, match="holds several"):
        check(several, SPD)


def test_undefined_is_too_little_evidence(audit_of: Any) -> None:
    cells = audit(
        [0] * 100 + [0, 1] * 50, [0, 1] * 100, sensitive_features={"sex": ["f"] * 100 + ["m"] * 100},
        privileged="m", metrics=["eod"], resamples=100,
    )  # fmt: skip
    done = check(cells, policy(metrics={"eod": 0.1}))
    assert done.verdict == "too little evidence"
    assert "is undefined" in done.outcomes[0].sentence()


def test_selections_are_judged_by_selection_rates_alone() -> None:
    """Counted as if they were their own labels, selections would pass any gate on errors."""
    groups = {"sex": ["f"] * 1000 + ["m"] * 1000}
    selected = [1] * 300 + [0] * 700 + [1] * 500 + [0] * 500
    found = audit_selections(selected, sensitive_features=groups)
    with pytest.raises(InputError, match="equal_opportunity_difference needs true labels"):
        check(found, policy(metrics={"eod": 0.1}))
    assert check(found, policy(metrics={"spd": 0.15})).verdict == "violated"
    only = audit_selections(selected, sensitive_features=groups, metrics=["spd"])
    assert check(only, policy(metrics={"disparate_impact": 0.8})).verdict == "violated"


def test_a_file_without_labels(tmp_path: Path) -> None:
    people = pd.DataFrame(
        {"sex": ["f"] * 1000 + ["m"] * 1000, "hired": [1] * 300 + [0] * 1200 + [1] * 500}
    )
    people.to_csv(tmp_path / "hired.csv", index=False)
    rules = policy(
        metrics={"disparate_impact": 0.8},
        data=Columns(prediction="hired", privileged={"sex": "m"}),
    )
    done = check(tmp_path / "hired.csv", rules)
    assert (done.verdict, done.outcomes[0].value) == ("violated", pytest.approx(0.6))
    with pytest.raises(InputError, match="needs true labels"):
        check(tmp_path / "hired.csv", policy(metrics={"eod": 0.1}, data=rules.data))


def test_a_frame_without_labels_is_checked_as_its_file(tmp_path: Path) -> None:
    people = pd.DataFrame(
        {"sex": ["f"] * 1000 + ["m"] * 1000, "hired": [1] * 300 + [0] * 1200 + [1] * 500}
    )
    people.to_parquet(tmp_path / "hired.parquet")
    data = Columns(prediction="hired", privileged={"sex": "m"})
    rules = policy(metrics={"disparate_impact": 0.8, "spd": 0.3}, data=data)
    one, other = (check(source, rules) for source in (people, tmp_path / "hired.parquet"))
    assert one.outcomes == other.outcomes
    with pytest.raises(InputError, match="needs true labels"):
        check(people, policy(metrics={"eod": 0.1}, data=data))
