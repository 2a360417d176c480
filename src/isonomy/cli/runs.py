"""The run that a user names: a folder, a study in out/, or a file of results."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from isonomy.errors import InputError

if TYPE_CHECKING:
    from isonomy.store import Store

OUT = Path("out")
"""Where runs of a study are looked for by its name."""


def open_store(
    folder: str,
    out: str | None = None,
    *,
    ours: bool = False,
    results: str | None = None,
    hint: str | None = None,
) -> "Store":
    """Open the run of a folder, of a study's name in out/ (or ``out``), or of a file of results.

    With ``ours``, or the folder ``results``, it is the file of a study by name. ``hint`` says what
    to do where there is no run; by default, what makes one.
    """
    from isonomy.store import Store

    if ours or results is not None:
        from isonomy.papers import PAPERS
        from isonomy.study.results import find_results

        place = find_results(PAPERS.resolve(folder) if folder in PAPERS else folder, results)
    else:
        place = find_run(folder, out, hint)
    if place.suffix.lower() == ".parquet":
        from isonomy.study import Results

        return Results.open(place)
    return Store.open(place)


def find_run(folder: str, out: str | None = None, hint: str | None = None) -> Path:
    """Return where a run is; where there is none, say where it was looked for and what makes it."""
    if out is not None:
        looked = [Path(out)]
    else:
        looked = [Path(folder), *([] if len(Path(folder).parts) > 1 else [OUT / folder])]
        if not any(place.exists() for place in looked):  # another name of a study that we know
            from isonomy.papers import PAPERS

            looked += [OUT / PAPERS.resolve(folder)] if folder in PAPERS else []
    looked = list(dict.fromkeys(looked))
    runs = [place for place in looked if (place / "store.json").exists()]
    for place in runs or [place for place in looked if place.exists()]:
        return place
    from isonomy.papers import PAPERS, study_names

    ours = folder in PAPERS or folder in study_names() or folder.endswith(".toml")
    make = f"isonomy study run {folder if ours else 'STUDY'}"
    if out is not None or not ours:
        make += f" --out {shlex.quote(out or folder)}"
    hint = hint or f"name its folder with --out, or make it with {make}"
    raise InputError(
        f"There is no run at {' or '.join(repr(str(place)) for place in looked)}: {hint}."
    )
