"""Roles of columns become calls and command lines that say the same."""

import json
import shlex
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isonomy.app.roles import Roles, quoted
from isonomy.cli.options import parse_numbers, parse_pairs
from isonomy.errors import InputError


def option(command: str, name: str) -> list[str]:
    words = shlex.split(command)
    return [after for word, after in pairwise(words) if word == name]


# a name with both kinds of quotes cannot be written in an option of several values
NAMES = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp", "Zs"]), min_size=1
).filter(lambda name: not ("'" in name and '"' in name))


# the value of a pair loses the quotes at its ends, whatever they are (isonomy.cli.options)
VALUES = NAMES.filter(lambda value: "'" not in value and '"' not in value)


@given(names=st.lists(NAMES, min_size=1, max_size=4, unique=True), value=VALUES)
def test_the_command_line_is_read_back_as_it_was_meant(names: list[str], value: str) -> None:
    from isonomy.cli.options import _values

    roles = Roles(
        label=names[0],
        sensitive=tuple(names),
        favorable=(value,),
        privileged={names[-1]: (value,)},
        bins={names[0]: (1.5, 20.0)},
    )
    command = roles.command("audit", "people.csv")
    assert _values(option(command, "--sensitive")) == names
    assert _values(option(command, "--favorable")) == [value]
    assert parse_pairs(option(command, "--privileged"), "--privileged") == {names[-1]: [value]}
    assert parse_numbers(option(command, "--bins"), "--bins") == {names[0]: [1.5, 20.0]}


def test_a_file_that_looks_like_an_option_is_none() -> None:
    assert shlex.split(Roles(label="y").command("audit", "-x.csv"))[2] == "./-x.csv"


def test_a_model_learns_from_no_decision_and_no_score() -> None:
    roles = Roles(label="y", prediction="p", score="s", sensitive=("sex",), drop=("id", "p"))
    assert roles.learned(["sex"])["drop"] == ["id", "p", "s"]
    assert option(roles.command("benchmark", "f.csv"), "--drop") == ["id", "p", "s"]


def test_roles_survive_their_file() -> None:
    roles = Roles(label="y", sensitive=("a", "b"), bins={"a": (1.0,)}, privileged={"b": ("x",)})
    assert Roles.from_dict(json.loads(json.dumps(roles.to_dict()))) == roles


@pytest.mark.parametrize(
    ("roles", "sentence"),
    [
        (Roles(label="y"), "At least one column must be protected"),
        (Roles(sensitive=("a",)), "One column must be the outcome"),
        (Roles(label="y_true", sensitive=("a",)), "must have a decision or a score"),
    ],
)
def test_what_does_not_suffice_is_said(roles: Roles, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        roles.check()


def test_names_are_put_in_quotes_only_where_needed() -> None:
    assert quoted("plain name") == "plain name"
    assert quoted('a "b", c') == "'a \"b\", c'"
