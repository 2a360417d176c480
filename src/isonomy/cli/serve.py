"""``isonomy serve``: a local web page for people who do not program."""

import os
import shlex
from pathlib import Path
from typing import Annotated

import typer

from isonomy.cli import options
from isonomy.cli.output import messages
from isonomy.errors import InputError


def serve_command(
    folder: Annotated[
        str, typer.Option("--out", help="Folder of the runs; each file has one of its own.")
    ] = "out/serve",
    host: Annotated[
        str,
        typer.Option(
            "--host", help="Address to listen at; another than this machine's own needs a token."
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=1, max=65535, help="Port to listen at.")
    ] = 8321,
    token_file: Annotated[
        str | None,
        typer.Option(
            "--token-file",
            metavar="FILE",
            help="Ask for the token in this file; made if there is none.",
        ),
    ] = None,
    model: Annotated[
        list[str],
        typer.Option(
            "--model",
            metavar="NAME=FILE",
            help="A fitted model whose tail may be tested; may be repeated.",
        ),
    ] = [],
    command: Annotated[
        list[str],
        typer.Option(
            "--command",
            metavar="NAME=PROGRAM",
            help="A program as the model, as for isonomy tail; may be repeated.",
        ),
    ] = [],
    trust: options.Trust = False,
    studies: Annotated[
        list[str],
        typer.Option(
            "--studies", metavar="DIR", help="Show the studies in this folder; may be repeated."
        ),
    ] = [],
    max_size: Annotated[
        int, typer.Option("--max-size", min=1, help="Most megabytes of a file.")
    ] = 200,
    max_rows: Annotated[
        int, typer.Option("--max-rows", min=1, help="Most rows of a file.")
    ] = 2_000_000,
    workers: options.Workers = None,
    quiet: options.Quiet = False,
) -> None:
    """Serve a local web page: bring a CSV or Parquet file, correct the columns, see the audit, benchmark.

    Runs are folders below --out. A benchmark that was running when the server was stopped or
    killed goes on when it is started again.
    """
    from isonomy.app import Declared, Limits, listening, make_app, read_token, serve

    models = {
        name: Declared(name, file=value, trust=trust) for name, value in _named(model, "--model")
    }
    models |= {name: Declared(name, command=value) for name, value in _named(command, "--command")}
    for declared in models.values():
        if declared.file is not None and not Path(declared.file).is_file():
            raise InputError(f"--model must name a file; there is no {declared.file!r}.")
    for place in studies:
        if not Path(place).is_dir():
            raise InputError(f"--studies must name a folder; there is no {place!r}.")
    token = None if token_file is None else read_token(token_file)
    app = make_app(
        folder,
        limits=Limits(megabytes=max_size, rows=max_rows),
        token=token,
        host=host,
        models=models,
        studies=studies,
        workers=workers or max(1, (os.cpu_count() or 1) - 1),
    )
    shown = f"[{host}]" if ":" in host else host
    with listening(folder, host, port) as listener:
        said = f"Isonomy is at http://{shown}:{port}/ (Ctrl-C stops it)."
        messages().print(said, markup=False, soft_wrap=True)
        if token_file is not None:
            said = f"The token is in {shlex.quote(token_file)}."
            messages().print(said, markup=False, soft_wrap=True)
        serve(app, listener)


def _named(texts: list[str], option: str) -> list[tuple[str, str]]:
    pairs = []
    for text in texts:
        name, sign, value = text.partition("=")
        if not (name and sign and value):
            raise InputError(f"{option} must be NAME=VALUE; got {text!r}.")
        pairs.append((name, value))
    return pairs
