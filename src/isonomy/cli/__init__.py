"""The command line, one file per command group: parse, call the API, print."""

import importlib
import sys
from typing import Any

import typer

from isonomy import __version__
from isonomy.cli.output import command_line, one_line, speak, speak_warnings, visible
from isonomy.cli.spoken import spoken
from isonomy.errors import IsonomyError

__all__ = ["app", "main"]

app = typer.Typer(
    name="isonomy",
    help="Audit a classifier, mitigate its bias, judge the trade-off, test the tail.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

# One file per command: its `NAME_command`, or a `group` of several; study_tables adds to study's.
COMMANDS = [
    "audit",
    "audit_models",
    "benchmark",
    "check",
    "data",
    "metrics",
    "mitigators",
    "power",
    "published",
    "serve",
    "study",
    "tail",
    "templates",
    "tradeoff",
    "tune",
]


def _version(value: bool) -> None:
    if value:
        typer.echo(f"isonomy {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version and stop."
    ),
) -> None:
    """Audit a classifier, mitigate its bias, judge the trade-off, test the tail."""
    speak()


for _name in COMMANDS:
    _module = importlib.import_module(f"isonomy.cli.{_name}")
    if hasattr(_module, "group"):
        app.add_typer(_module.group, name=_name)
    else:
        app.command(_name.replace("_", "-"))(getattr(_module, f"{_name}_command"))
importlib.import_module("isonomy.cli.study_tables")


# Newer releases of Typer bring their own copy of click; this name is exported by all of them.
_UsageError: Any = typer.BadParameter.__base__


def _usage(error: Any) -> str:
    """Return what is wrong with a command line in one sentence; help that was asked for as it is."""
    words = error.format_message()
    if "\n" in words.strip():
        return str(words)
    # an option without its value is noticed before there is a context
    path = error.ctx.command_path if error.ctx else " ".join(["isonomy", *sys.argv[1:2]])
    words = words.replace(". Did you mean", "; did you mean")
    if not words.endswith("?"):
        words = f"{words.rstrip('.')}: see {path} --help."
    return f"isonomy: {visible(words)}"


def main() -> None:
    """Run the command; an error of the user's becomes one sentence and exit code 2."""
    command_line(sys.argv[1:])
    speak_warnings()
    try:
        code = app(prog_name="isonomy", standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except _UsageError as error:
        typer.echo(_usage(error), err=True)
        sys.exit(2)
    except IsonomyError as error:
        typer.echo(f"isonomy: {one_line(spoken(str(error)))}", err=True)
        sys.exit(2)
    except (KeyboardInterrupt, typer.Abort):
        typer.echo("isonomy: interrupted.", err=True)
        sys.exit(130)
    except OSError as error:  # a full disk, a folder that cannot be written
        where = f" ({error.filename})" if error.filename else ""
        typer.echo(f"isonomy: {one_line(f'{error.strerror or error}{where}')}.", err=True)
        sys.exit(2)
