"""Every command follows one convention."""

from typing import Any

import pytest
import typer

from isonomy.cli import app
from isonomy.cli.options import parse_bins, parse_numbers, parse_pairs
from isonomy.errors import InputError


def commands(group: Any = None, prefix: str = "") -> dict[str, Any]:
    """Every command by its full name."""
    group = group or typer.main.get_command(app)
    found = {}
    for name, command in group.commands.items():
        nested = hasattr(command, "commands")
        found |= commands(command, f"{prefix}{name} ") if nested else {f"{prefix}{name}": command}
    return found


COMMANDS = commands()
OLD = {"--attribute", "--favourable", "--level", "--methods", "--mitigator", "--models", "--store"}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_can_be_quiet_and_write_json(name: str) -> None:
    options = {option for param in COMMANDS[name].params for option in param.opts}
    assert "--quiet" in options
    assert "--json" in options or name == "serve"  # a server ends without a result
    assert not OLD & options


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_explained(name: str) -> None:
    assert COMMANDS[name].help
    for param in COMMANDS[name].params:
        assert param.help, param.name


def test_options_that_several_commands_share_are_explained_alike() -> None:
    for option in ("--seed", "--confidence", "--json", "--quiet", "--backend", "--workers"):
        helps = {p.help for c in COMMANDS.values() for p in c.params if option in p.opts}
        assert len(helps) == 1, option


def test_pairs_split_at_commas_and_keep_quoted_ones() -> None:
    assert parse_pairs(["sex=m", "race=White,Asian"], "--privileged") == {
        "sex": ["m"],
        "race": ["White", "Asian"],
    }
    assert parse_pairs(["race='Black, not Hispanic',White"], "--privileged") == {
        "race": ["Black, not Hispanic", "White"]
    }
    assert parse_pairs(["income=<=50K"], "--privileged") == {"income": ["<=50K"]}
    with pytest.raises(InputError, match="--privileged must be ATTRIBUTE=VALUE; got 'm'"):
        parse_pairs(["m"], "--privileged")


def test_numbers_and_bins() -> None:
    assert parse_numbers(["spd=0.1,ratio=0.8"], "--threshold") == {"spd": [0.1], "ratio": [0.8]}
    assert parse_bins(["age=25,65"], ["age"]) == {"age": [25.0, 65.0]}
    with pytest.raises(InputError, match="--bins must be ATTRIBUTE=CUT,CUT"):
        parse_bins(["age=young"], ["age"])
    with pytest.raises(InputError, match="add --sensitive age"):
        parse_bins(["age=25"], ["sex"])


@pytest.mark.parametrize("text", ["inf", "1e400", "much", "-"])
def test_an_amount_of_memory_that_makes_no_sense_is_one_sentence(text: str) -> None:
    from isonomy.cli.study import read_size

    with pytest.raises(InputError, match="is written 800M or 4G"):
        read_size(text)
