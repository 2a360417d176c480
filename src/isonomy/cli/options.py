"""Options that several commands share: one name, one help text, one way to read it.

A command annotates its parameters with these and gives the default itself::

    def audit_command(file: File, sensitive: Sensitive = [], seed: Seed = 0) -> None: ...

Every option that takes several values may be repeated, and commas split: ``--sensitive sex,race``
is ``--sensitive sex --sensitive race``. A comma inside brackets or quotes does not split.
"""

import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Annotated, Any

import typer

from isonomy._names import split_commas
from isonomy.cli.output import check_writable, silence
from isonomy.errors import InputError, UnknownName


def _values(texts: list[str]) -> list[str]:
    """Split at commas; quotes around a value, which keep its commas, go."""
    return [
        part[1:-1] if len(part) > 1 and part[0] == part[-1] and part[0] in "'\"" else part
        for part in split_commas(texts)
    ]


def _not_negative(seed: int) -> int:
    if seed < 0:
        raise InputError(f"--seed must be 0 or more; got {seed}.")
    return seed


def _json_file(file: str | None) -> str | None:
    check_writable(file)
    return silence(file == "-", file)


def _report_files(files: list[str]) -> list[str]:
    if files:
        from isonomy._shown import SUFFIXES

    for file in files:
        check_writable(file, option="--report")
        if Path(file).suffix.lower() not in SUFFIXES:
            raise InputError(
                f"The name of a --report must end in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}, which "
                f"says how it is written; got {file!r}."
            )
    return files


# Input: a file, what its columns mean, and which rows and groups.
File = Annotated[str, typer.Argument(metavar="FILE", help="A CSV, Parquet, Excel or DuckDB file.")]
Folder = Annotated[
    str,
    typer.Argument(
        metavar="STUDY",
        help="The study's name (its run is in out/STUDY, or in --out), the folder of its run, or a file of results.",
    ),
]
Ours = Annotated[
    bool,
    typer.Option("--ours", help="Our own full run, from results/ of the repository: runs nothing."),
]
ResultsFolder = Annotated[
    str | None,
    typer.Option("--results", metavar="DIR", help="Where the files of --ours are, if elsewhere."),
]
Label = Annotated[
    str | None,
    typer.Option("--label", help="Column of the true labels, or a number cut in two: 'wage>20'."),
]
Outcome = Annotated[
    str | None,
    typer.Option("--label", help="Column to predict, or a number cut in two: 'income>50000'."),
]
Prediction = Annotated[
    str | None,
    typer.Option(
        "--prediction",
        help="Column of the predictions (or selections), or a score cut in two: 'p>=0.5' "
        "predicts the favourable label.",
    ),
]
Score = Annotated[
    str | None, typer.Option("--score", help="Column with the probability of a favorable outcome.")
]
Weight = Annotated[str | None, typer.Option("--weight", help="Column of sample weights.")]
Table = Annotated[
    str | None, typer.Option("--table", help="Table of a DuckDB file, sheet of an Excel file.")
]
Sensitive = Annotated[
    list[str],
    typer.Option(
        "--sensitive",
        callback=_values,
        help="Protected attribute (a column); several: repeat, or comma-separated.",
    ),
]
Privileged = Annotated[
    list[str],
    typer.Option(
        "--privileged",
        "--reference",
        help="ATTRIBUTE=VALUE[,VALUE...]: the group to compare with.",
    ),
]
Favorable = Annotated[
    list[str],
    typer.Option(
        "--favorable",
        callback=_values,
        help="Favorable label; several: repeat, or comma-separated.",
    ),
]
Bins = Annotated[
    list[str], typer.Option("--bins", help="ATTRIBUTE=CUT,CUT,...: bin a number such as age.")
]
Strata = Annotated[
    list[str],
    typer.Option(
        "--strata",
        "--stratum",
        callback=_values,
        help="Column to compare within (department ...): groups among people alike in it.",
    ),
]
Drop = Annotated[
    list[str], typer.Option("--drop", callback=_values, help="Column not to learn from.")
]

Trust = Annotated[
    bool,
    typer.Option(
        "--trust",
        help="Open pickles, and skops files that hold types skops does not know (trees do): "
        "opening them can run any code.",
    ),
]

# Forms of laws and practices.
Template = Annotated[
    str | None,
    typer.Option("--template", help="Fill a form: ll144, four_fifths ... (`isonomy templates`)."),
]
FieldValue = Annotated[
    list[str],
    typer.Option("--field", help="NAME=TEXT: what a template asks a person for; may be repeated."),
]
Category = Annotated[
    list[str],
    typer.Option(
        "--category", help="ROLE.VALUE=CATEGORY: what a value means to a template; may be repeated."
    ),
]

# What is run and measured.
Model = Annotated[
    list[str],
    typer.Option(
        "--model",
        callback=_values,
        help="Base learner: lr, rf(max_depth=8), a classifier of scikit-learn by its path ...",
    ),
]
Method = Annotated[
    list[str],
    typer.Option(
        "--method", callback=_values, help="Mitigation method (see `isonomy mitigators`)."
    ),
]
Metric = Annotated[
    list[str],
    typer.Option("--metric", callback=_values, help="Metric (see `isonomy metrics`)."),
]
Performance = Annotated[str, typer.Option("--performance", help="Performance metric.")]
Fairness = Annotated[str, typer.Option("--fairness", help="Fairness metric.")]
MaxLoss = Annotated[
    float | None, typer.Option("--max-loss", min=0, help="Largest accepted loss of performance.")
]
Threshold = Annotated[
    list[str],
    typer.Option("--threshold", callback=_values, help="NAME=NUMBER; may be repeated."),
]
FailOn = Annotated[
    list[str],
    typer.Option("--fail-on", callback=_values, help="Exit with code 1 on this finding."),
]

# Statistics.
Repeats = Annotated[
    int, typer.Option("--repeats", min=1, help="Number of splits into training and test rows.")
]
Resamples = Annotated[
    int, typer.Option("--resamples", min=0, help="Number of bootstrap resamples.")
]
Confidence = Annotated[
    float, typer.Option("--confidence", help="Confidence level of the intervals.")
]
Alpha = Annotated[float, typer.Option("--alpha", help="Significance level of the tests.")]
Seed = Annotated[
    int, typer.Option("--seed", callback=_not_negative, help="Seed of everything that is random.")
]

# How it is run.
Backend = Annotated[str, typer.Option("--backend", help="serial, loky, dask or ray.")]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers", min=1, help="Worker processes; by default one per core (serve: one fewer)."
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option("--scheduler", help="Address of a running Dask or Ray cluster."),
]
TimeLimit = Annotated[
    float | None, typer.Option("--time-limit", min=0, help="Most seconds that one trial may take.")
]
MemoryLimit = Annotated[
    str | None,
    typer.Option("--memory-limit", help="Most memory that one trial may use: 800M, 4G."),
]
Retry = Annotated[
    bool,
    typer.Option(
        "--retry", help="Run again what has failed, was skipped or exceeded its time limit."
    ),
]

# Output.
Out = Annotated[str | None, typer.Option("--out", help="Folder of the results.")]
RunFolder = Annotated[
    str | None, typer.Option("--out", help="Folder of the run; by default out/STUDY.")
]
Json = Annotated[
    str | None,
    typer.Option(
        "--json",
        callback=_json_file,
        help="Write the result as JSON; - is standard output.",
    ),
]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet",
        callback=lambda quiet: silence(quiet, quiet, messages=True),
        help="Print nothing but errors; files are written and the exit code is set.",
    ),
]
Report = Annotated[
    list[str],
    typer.Option(
        "--report",
        "--html",
        callback=_report_files,
        help="Write the result as a page (.html), Markdown (.md) or the page's data (.json), by the "
        "file's suffix; may be repeated.",
    ),
]
Digits = Annotated[int | None, typer.Option("--digits", min=0, help="Number of decimals.")]


_FORMS = {
    "--bins": "ATTRIBUTE=CUT,CUT,...",
    "--privileged": "ATTRIBUTE=VALUE",
    "--threshold": "METRIC=NUMBER",
}


_JOINED = re.compile(r"There is no column '([^'+]+(?:\+[^'+]+)+)'")


def check_sensitive(attributes: list[str]) -> None:
    """Raise where no protected attribute is named."""
    if not attributes:
        raise InputError(
            "At least one protected attribute must be named: --sensitive COLUMN (may be repeated)."
        )


_QUOTED = re.compile(r"""(["'])(.+)\1(=)(.*)""")


def parse_pairs(pairs: list[str], option: str) -> dict[str, list[str]]:
    """Return the values of ``NAME=VALUE[,VALUE...]`` options by name.

    Examples
    --------
    >>> parse_pairs(["sex=m,race=White", "race=Asian,Other"], "--privileged")
    {'sex': ['m'], 'race': ['White', 'Asian', 'Other']}
    >>> parse_pairs(['"sex, gender"=m', "'M=1'=0"], "--privileged")
    {'sex, gender': ['m'], 'M=1': ['0']}
    """
    values: dict[str, list[str]] = {}
    name = ""
    for text in split_commas(pairs):
        quoted = _QUOTED.fullmatch(text)
        before, sign, after = quoted.group(2, 3, 4) if quoted else text.partition("=")
        name, value = (before, after) if sign else (name, text)
        value = value.strip("'\"") if value[:1] in ("'", '"') else value
        if not name:
            raise InputError(f"{option} must be {_FORMS.get(option, 'NAME=VALUE')}; got {text!r}.")
        values.setdefault(name, []).append(value)
    return values


def parse_numbers(pairs: list[str], option: str) -> dict[str, list[float]]:
    """Return the numbers of ``NAME=NUMBER[,NUMBER...]`` options by name.

    Examples
    --------
    >>> parse_numbers(["age=25,65"], "--bins")
    {'age': [25.0, 65.0]}
    """
    try:
        return {
            name: [float(v) for v in values] for name, values in parse_pairs(pairs, option).items()
        }
    except ValueError:
        form = _FORMS.get(option, "NAME=NUMBER")
        raise InputError(f"{option} must be {form}; got {', '.join(pairs)!r}.") from None


def parse_shares(text: str, option: str) -> list[float]:
    """Return comma-separated numbers.

    Examples
    --------
    >>> parse_shares("0.7, 0.3", "--groups")
    [0.7, 0.3]
    """
    try:
        return [float(share) for share in text.split(",")]
    except ValueError:
        raise InputError(f"{option} must be NUMBER,NUMBER,...; got {text!r}.") from None


def refuse_for_dataset(data: str, **given: Any) -> None:
    """Raise where options that describe a file are given for a dataset that declares itself.

    A name that is none, or a file that cannot be read, is said first.
    """
    from isonomy.data import check_dataset

    check_dataset(data)
    needless = [f"--{name}" for name, value in given.items() if value]
    if needless:
        raise InputError(
            f"{' and '.join(needless)} must be left out for a dataset that declares what is in it "
            f"(isonomy data info {data}); it is for files."
        )


@contextmanager
def naming(**options: str) -> Iterator[None]:
    """Add to the error for a column of a default name which option names the user's own.

    Attributes joined by ``+``, as ``benchmark`` takes them, get what an audit takes instead.
    """
    try:
        yield
    except UnknownName as error:
        if joined := _JOINED.match(str(error)):
            raise UnknownName(
                f"There is no column {joined[1]!r}; the groups of several columns together are "
                f"audited by --sensitive {shlex.quote(joined[1].replace('+', ','))} --intersections "
                "(in a policy: intersections = true)."
            ) from None
        for column, option in options.items():
            if str(error).startswith(f"There is no column {column!r}"):
                guess = str(error).endswith("?")  # as in: did you mean 'base'?
                end = (
                    f" (--{option.split()[0].rstrip(',')})?"
                    if guess
                    else f": name yours with --{option}."
                )
                raise UnknownName(str(error)[:-1] + end) from None
        raise


@contextmanager
def offering_a_folder(folder: Path) -> Iterator[None]:
    """Add to the refusal of a folder that holds other runs which one is free."""
    try:
        yield
    except InputError as error:
        folder = folder if folder.name else folder.resolve()  # as in --out .
        if not str(error).endswith("choose another folder.") or not folder.name:
            raise
        places = (folder.with_name(f"{folder.name}-{k}") for k in count(2))
        free = next(place for place in places if not place.exists())
        raise InputError(f"{str(error)[:-1]}: --out {shlex.quote(str(free))}.") from None


def parse_bins(bins: list[str], sensitive: list[str]) -> dict[str, list[float]]:
    """Return the cuts of ``--bins`` by attribute; each must be a protected attribute."""
    cuts = parse_numbers(bins, "--bins")
    for attribute in cuts:
        if attribute not in {name.strip() for given in sensitive for name in given.split("+")}:
            raise InputError(
                f"--bins must name a protected attribute; {attribute!r} is not one: add "
                f"--sensitive {attribute}."
            )
    return cuts
