"""The page of an audit of selections: its words follow the sign of the numbers."""

from isonomy import report
from isonomy.audit import audit_selections


def test_a_group_selected_more_often_is_not_short_of_people() -> None:
    hired = [1] * 600 + [0] * 400 + [1] * 300 + [0] * 700
    found = audit_selections(hired, sensitive_features=["a"] * 1000 + ["b"] * 1000, reference="b")
    said = " ".join(report.summarize(found)["verdict"]["sentences"])
    assert "selected at 0.50 of the rate of a" in said
    assert "300 people fewer than at that rate" in said
    assert "300 people more than at that rate" in said
    assert "-300" not in said
