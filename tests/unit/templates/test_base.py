"""Templates, documents and fields."""

from datetime import date

import pytest

from isonomy.errors import UnknownName
from isonomy.templates import TEMPLATES, Field
from isonomy.templates.base import count, fill_fields, number, percent, probability, span


@pytest.mark.parametrize("name", ["ll144", "four_fifths", "lending", "eu_ai_act"])
def test_every_template_says_what_it_asks_for(name: str) -> None:
    template = TEMPLATES[name]
    assert template.name == name
    assert template.law
    assert template.advice.endswith(".")
    assert len({f.name for f in template.fields}) == len(template.fields)
    assert all(f.label and f.hint for f in template.fields)


def test_unknown_templates_are_guessed_at() -> None:
    with pytest.raises(UnknownName, match="did you mean 'll144'"):
        TEMPLATES["ll114"]


def test_a_future_date_is_allowed_only_where_it_makes_sense() -> None:
    asked = [Field("start", "Start", "", kind="date"), Field("note", "Note", "", required=False)]
    filled = fill_fields(asked, {"start": date(2030, 1, 1)}, today=date(2026, 1, 1))
    assert filled[0].value == "2030-01-01"
    assert not filled[1].open


def test_numbers_are_written_with_what_is_behind_them() -> None:
    assert count(1200) == ("1,200", 1200)
    assert number(float("nan")) == ("undefined", None)
    assert number(-0.001) == ("0.00", -0.001)
    assert percent(0.4375) == ("43.8%", 0.4375)
    assert probability(1e-7) == ("< 0.0001", 1e-7)
    assert span(0.1, float("nan")).text == "undefined"
    assert span(0.1, 0.25, percents=True).text == "10.0% to 25.0%"
