"""The page of a filled template."""

import pandas as pd
import pytest

from isonomy import report
from isonomy.templates import Document, fill_four_fifths, fill_lending, fill_ll144

HOSTILE = '<script>alert("x")</script>'


@pytest.fixture
def document() -> Document:
    people = pd.DataFrame(
        {"sex": ["M", "F"] * 50, "race": ["White", "White", "Asian", "Black", None] * 20,
         "hired": [1, 0, 1, 1] * 25}
    )  # fmt: skip
    given = {"auditor": HOSTILE, "data_source": "the firm's own applicants"}
    return fill_ll144(people, sex="sex", race="race", prediction="hired", fields=given)


def blocks(summary: dict, kind: str) -> list[dict]:
    return [b for part in summary["parts"] for b in part["blocks"] if b["type"] == kind]


def test_the_summary_holds_the_document(document: Document) -> None:
    summary = document.summary()
    assert summary["kind"] == "template"
    assert summary["verdict"]["headline"] == document.headline
    assert document.disclaimer in summary["verdict"]["sentences"]
    assert [b["label"] for b in blocks(summary, "blank")] == [f.label for f in document.open_fields]
    assert len(blocks(summary, "table")) == sum(len(s.tables) for s in document.sections)
    first = blocks(summary, "table")[0]
    assert first["columns"][1]["align"] == "right"
    assert first["rows"][0][1] == {"text": "50", "value": 50}
    assert {"text": "undefined", "value": None, "tone": "undefined"} in blocks(summary, "table")[1]["rows"][0]  # fmt: skip


@pytest.mark.parametrize("face", ["to_html", "to_markdown", "to_json"])
def test_every_face_says_what_it_is_not_and_what_is_open(document: Document, face: str) -> None:
    page = getattr(report, face)(document.summary(command="isonomy audit people.csv"))
    assert "not an audit by an independent auditor" in page
    assert "Distribution date of the tool" in page
    assert "isonomy audit people.csv" in page
    if face == "to_html":
        assert HOSTILE not in page


def test_a_ratio_without_end_has_a_picture() -> None:
    """Nobody of the reference was approved, so that the interval of the ratio ends at infinity."""
    frame = pd.DataFrame({"g": ["a"] * 5 + ["b"] * 5, "p": [1] * 5 + [0] * 5})
    whole = fill_four_fifths(frame, sensitive_features="g", prediction="p")
    assert "<svg" in whole.to_html()
    none = fill_lending(frame, sensitive_features="g", reference="b", prediction="p")
    assert "undefined" in none.to_html()
