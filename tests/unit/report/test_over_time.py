"""The page of an audit over time: what it says is what the audit found."""

from typing import Any

import numpy as np

from isonomy import audit_over_time, report
from tests.results import over_time, steady


def part(summary: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return next(p["blocks"] for p in summary["parts"] if p["name"] == name)


def test_what_moved_is_said_first_and_shown() -> None:
    found = over_time()
    summary = report.summarize(found, title="people.csv")
    moved = found.moved()
    assert summary["title"] == "Audit of people.csv, over time"
    assert summary["verdict"]["tone"] == "violated"
    assert summary["verdict"]["headline"] == f"{len(moved)} of 12 gaps have moved."
    assert summary["verdict"]["sentences"][0] == moved[0].sentence()
    charts = [one for one in part(summary, "picture") if one["type"] == "chart"]
    first = charts[0]
    assert first["title"] == ("Statistical parity difference by sex: unprivileged vs privileged")
    gaps = [g for g in found.gaps if (g.attribute, g.name) == ("sex", found.gaps[0].name)]
    marks = [m for m in first["marks"] if m["mark"] == "point"]
    assert [m["y"] for m in marks] == [float(f"{g.value:.6g}") for g in gaps]
    assert [c["text"] for row in first["numbers"]["rows"] for c in row[:1]] == [
        g.period for g in gaps
    ]
    place = [g.period for g in gaps].index(moved[0].since) - 0.5
    assert {tuple(m["x"]) for m in first["marks"] if m.get("dashes") == "6 3"} == {(place, place)}
    table = next(one for one in part(summary, "table") if one.get("caption") == "What has moved")
    assert [row[3]["value"] for row in table["rows"]] == [m.before for m in moved]
    assert [row[5]["low"] for row in table["rows"]] == [m.low for m in moved]


def test_people_are_counted_since_the_move() -> None:
    found = over_time()
    people = part(report.summarize(found), "people")
    sizes = found.frame("sizes")
    assert sum(row[1]["value"] for row in people[1]["rows"]) == sizes["rows"].sum()
    since = found.moved()[0].since
    later = int(sizes.loc[sizes["period"] >= since, "rows"].sum())
    assert any(
        f"Since {since}, {later:,} people were decided on" in b.get("text", "") for b in people
    )


def test_nothing_moved_is_no_proof_that_nothing_did() -> None:
    summary = report.summarize(steady())
    assert summary["verdict"]["headline"] == "No gap is shown to have moved in 3 periods."
    assert summary["verdict"]["tone"] == ""
    assert "does not show that it is the same" in part(summary, "limits")[0]["items"][0]


def test_too_few_rows_are_undefined() -> None:
    found = audit_over_time(
        [0, 1] * 8, [0, 1] * 8, sensitive_features=list("aabb") * 4, when=[1, 2] * 8
    )
    summary = report.summarize(found)
    assert summary["verdict"]["tone"] == "undefined"
    assert "No gap could be tested" in summary["verdict"]["headline"]
    assert "not tested" in report.to_markdown(summary)


def test_many_moves_are_cut_short() -> None:
    rng = np.random.default_rng(0)
    n = 12_000
    month = np.repeat(np.arange(12), n // 12)
    groups = {name: rng.integers(0, 2, n) for name in "abcde"}
    wrong = np.zeros(n, dtype=bool)
    for values in groups.values():
        wrong |= (values == 1) & (month > 5) & (rng.random(n) < 0.3)
    said = np.where(wrong, 0, 1)
    said[rng.random(n) < 0.3] = 0
    found = audit_over_time(None, said, sensitive_features=groups, when=month)
    sentences = report.summarize(found)["verdict"]["sentences"]
    assert len(found.moved()) > 5
    assert sentences[4] == f"{len(found.moved()) - 4} more have moved: see the numbers."
    assert sentences[5].startswith("Where nothing moves")
