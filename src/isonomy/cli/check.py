"""``isonomy check``: predictions against a policy; the exit code is the verdict."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from isonomy.cli import options
from isonomy.cli.output import check_writable, console, interval, make_table, number, write_json
from isonomy.cli.progress import working
from isonomy.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from isonomy.gate import Check, Columns

COLORS = {
    "pass": "green",
    "within": "green",
    "violated": "bold red",
    "too little evidence": "yellow",
    "accepted": "magenta",
}

BOTH = {"unprivileged vs privileged", "largest vs smallest", ""}
"""Comparisons that are of all groups."""


def _file_option(name: str, said: str) -> Any:
    def checked(file: str | None) -> str | None:
        check_writable(file, option=name)
        return file

    return typer.Option(name, metavar="FILE", callback=checked, help=said)


def check_command(
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="[FILE]", help="A CSV, Parquet, Excel or DuckDB file; else the policy's."
        ),
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(
            "--policy", metavar="FILE", help="isonomy.toml, a pyproject.toml, or a folder."
        ),
    ] = None,
    junit: Annotated[
        str | None, _file_option("--junit", "Write JUnit XML (GitLab, Jenkins).")
    ] = None,
    markdown: Annotated[
        str | None, _file_option("--markdown", "Write the result as Markdown.")
    ] = None,
    github: Annotated[
        bool,
        typer.Option(
            "--github", help="In GitHub Actions: annotate, and append to the step summary."
        ),
    ] = False,
    write_policy: Annotated[
        str | None,
        _file_option(
            "--write-policy", "Write a policy that FILE passes today, and stop; see below."
        ),
    ] = None,
    label: options.Label = None,
    prediction: options.Prediction = "",
    sensitive: options.Sensitive = [],
    privileged: options.Privileged = [],
    favorable: options.Favorable = [],
    bins: options.Bins = [],
    weight: options.Weight = None,
    table: options.Table = None,
    metric: options.Metric = [],
    json_file: options.Json = None,
    quiet: options.Quiet = False,
) -> None:
    """Check predictions against a policy (isonomy.toml, or [tool.isonomy] of pyproject.toml).

    The policy says which file and columns, metrics, accepted ranges, confidence, and what too
    little evidence does. --write-policy makes one; only with it are --label, --prediction,
    --sensitive, --privileged, --favorable, --bins, --weight, --table and --metric used.

    Exit code 0: pass; 1: violated; 2: the input is wrong, or the policy has expired; 3: too
    little evidence.
    """
    described = {
        "label": label, "prediction": prediction, "sensitive": sensitive, "privileged": privileged,
        "favorable": favorable, "bins": bins, "weight": weight, "table": table, "metric": metric,
    }  # fmt: skip
    if write_policy is not None:
        _write_policy(file, write_policy, described)
        return
    if needless := [f"--{name}" for name, value in described.items() if value]:
        raise InputError(
            f"{' and '.join(needless)} must be in the policy, or go with --write-policy; "
            f"isonomy check judges by the policy alone."
        )
    named = [f for f in (json_file, junit, markdown) if f]
    if len(set(named)) < len(named):
        raise InputError(
            f"--json, --junit and --markdown must be different files; got {', '.join(named)}."
        )
    from isonomy._files import write_text
    from isonomy.gate import Policy, annotations, check, to_junit, to_markdown

    rules = Policy.read(policy)
    with working(f"checking {file or rules.data.file}"):
        done = check(file, rules)
    show(done, console())
    write_json(json_file, done)
    if junit:
        write_text(junit, to_junit(done))
    if markdown:
        write_text(markdown, to_markdown(done))
    if github:
        typer.echo(annotations(done), nl=False, err=json_file == "-")
        if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
            with Path(summary).open("a", encoding="utf-8") as stream:
                stream.write(to_markdown(done))
    if done.verdict != "pass":
        typer.echo(f"isonomy: {done.headline()}", err=True)
    raise typer.Exit(done.exit_code)


def show(done: "Check", screen: "Console") -> None:
    """Print a check as a table and sentences."""
    from isonomy.metrics import get_metric

    color = COLORS[done.verdict]
    screen.print(f"\n[bold]Check of {escape(done.source)}[/bold]  {_rules(done)}")
    table = make_table(
        "gap", "groups", "value", "interval", "accepted", "state", right=["value", "interval"]
    )
    for o in done.outcomes:
        low = "up to" if o.accept_low is None else f"{o.accept_low:.3g} to"
        growth = " (growth)" if o.test == "no worse" else ""
        table.add_row(
            escape(f"{get_metric(o.metric).label}{growth}"),
            escape(o.attribute if o.comparison in BOTH else f"{o.attribute}: {o.comparison}"),
            number(o.value),
            escape(interval(o.low, o.high)),
            f"{low} {o.accept_high:.3g}",
            f"[{COLORS[o.state]}]{o.state}[/{COLORS[o.state]}]",
        )
    screen.print(table)
    if done.notes or any(o.state != "within" for o in done.outcomes):
        screen.print()
    for o in done.outcomes:
        if o.state != "within":
            screen.print(f"[{COLORS[o.state]}]{o.state}[/{COLORS[o.state]}] {escape(o.sentence())}")
    for note in done.notes:
        screen.print(f"[yellow]Note[/yellow] {escape(note)}")
    screen.print(f"\n[{color}]{escape(done.headline())}[/{color}]")


def _rules(done: "Check") -> str:
    rows = int(done.audit.counts.n.sum())
    policy = done.policy
    until = f", until {policy.expires}" if policy.expires else ""
    return escape(f"{rows:,} rows; {policy.name[4:]}, {policy.confidence:.0%} confidence{until}")


def _write_policy(file: str | None, out: str, described: dict[str, Any]) -> None:
    """Audit a file and write a policy that it passes today."""
    if file is None:
        raise InputError("--write-policy needs the file that is to pass: isonomy check FILE ...")
    if Path(out).exists():
        raise InputError(f"{out!r} must not exist yet; remove it first, or name another file.")
    options.check_sensitive(described["sensitive"])
    from isonomy._files import write_text
    from isonomy.gate import first_policy

    columns = _columns(file, described)
    with working(f"counting {file}"), options.naming(y_true="label", y_pred="prediction"):
        made, left_out = first_policy(columns, described["sensitive"], described["metric"])
    write_text(out, made.to_toml(comments=True))
    screen = console()
    screen.print(f"Policy: {Path(out).resolve()}", markup=False, soft_wrap=True)
    if left_out:
        screen.print(f"Left out, too few rows: {', '.join(left_out)}", markup=False)


def _columns(file: str, described: dict[str, Any]) -> "Columns":
    from isonomy.gate import Columns

    cuts = options.parse_bins(described["bins"], described["sensitive"])
    given = {name: described[name] for name in ("label", "prediction", "weight", "table")}
    return Columns(
        file=file,
        favorable=tuple(described["favorable"]),
        privileged=options.parse_pairs(described["privileged"], "--privileged"),
        bins=cuts,
        **{name: value for name, value in given.items() if value},
    )
