"""One grammar for name(key=value, ...), whoever reads it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isonomy._names import base_name, format_name, parse_name, parse_value, split_commas
from isonomy.errors import InputError
from isonomy.metrics import get_metric
from isonomy.mitigators import make_mitigator


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("none", None),
        ("None", None),
        ("TRUE", True),
        ("false", False),
        ("'none'", "none"),
        ('"True"', "True"),
        ("21", 21),
        ("'21'", "21"),
        ("-0.5", -0.5),
        ("1e-3", 0.001),
        ("spd", "spd"),
        ("a b", "a b"),
        ("(1, 2)", (1, 2)),
        ("[a, none]", ("a", None)),
        ("()", ()),
        ("('a,b', (1, 2))", ("a,b", (1, 2))),
        ("", ""),
    ],
)
def test_one_rule_for_every_kind_of_value(text: str, value: Any) -> None:
    assert parse_value(text) == value
    assert type(parse_value(text)) is type(value)
    assert parse_name(f"thing(key={text}, other=1)") == ("thing", {"key": value, "other": 1})


@pytest.mark.parametrize(
    "text",
    ["thing(", "thing(a)", "thing(a=1", "thing a=1)", "thing(=1)", "(a=1)", "thing(a=1, a=2)"],
)
def test_another_form_is_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(InputError, match=r"must be written name\(key=value, ...\)"):
        parse_name(text)


@pytest.mark.parametrize(
    "name",
    [
        "reweighing",
        "mutation(strategy=majority, degree=0.3)",
        "mutation(strategy=majority, degree=0)",
        "meps(panel=21)",
        "fairness_constrained_thresholds(constraint=demographic_parity, tolerance=0.05)",
        "calibrated_equalized_odds(cost=weighted)",
        "macro_precision(zero_division=0)",
    ],
)
def test_names_of_the_studies_are_written_as_they_were(name: str) -> None:
    assert format_name(*parse_name(name)) == name


def test_a_number_that_is_whole_is_written_without_its_point() -> None:
    assert format_name("pr", {"eta": 25.0}) == "pr(eta=25)"
    assert format_name("pr", {"eta": 1 / 3}) == f"pr(eta={1 / 3!r})"


def test_the_base_name_of_a_free_label_is_the_label() -> None:
    assert base_name("roc (first") == "roc (first"
    assert base_name(" fairway ") == "fairway"


def test_commas_inside_brackets_and_quotes_do_not_split() -> None:
    assert split_commas("a,b(c=1, d=(2,3)),'e,f',") == ["a", "b(c=1, d=(2,3))", "'e,f'"]
    assert split_commas("people's, choice's") == ["people's", "choice's"]


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_characters='"', codec="utf-8")).filter(str.isprintable),
    lambda inner: st.tuples(inner, inner),
    max_leaves=4,
)


@given(st.dictionaries(st.from_regex("[a-z_]{1,8}", fullmatch=True), VALUES, max_size=3))
def test_what_is_written_is_read_back(parameters: dict[str, Any]) -> None:
    assert parse_name(format_name("thing", parameters)) == ("thing", parameters)


def test_metrics_and_mitigators_read_one_grammar() -> None:
    assert get_metric("macro_precision(zero_division='0')").parameters["zero_division"] == "0"
    assert make_mitigator("reweighing(privileged=none)").privileged is None
    assert make_mitigator("reweighing(privileged=('a', 'b'))").privileged == ("a", "b")
