"""``isonomy study tables`` and ``isonomy study compare`` as a user types them."""

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from isonomy.cli import app
from isonomy.errors import InputError, UnknownName
from isonomy.papers.chen_2022 import tables as chen_2022
from isonomy.papers.chen_2022.cases import PERFORMANCE
from isonomy.store import Record, Store

METRICS = {**PERFORMANCE, **chen_2022.BIAS}
ROWS = [
    "accuracy",
    *("recall1", "recall0", "recall_macro"),
    *("precision1", "precision0", "precision_macro"),
    *("f1score1", "f1score0", "f1score_macro"),
    *("mcc", "spd", "aod", "eod", "erd"),
]


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["study", *arguments], env={"COLUMNS": "100"})
    if result.exception is not None:
        raise result.exception
    return result.stdout


@pytest.fixture(scope="module")
def values() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    return {
        "unmitigated": (0.8 + 0.05 * rng.random(50)).round(6),
        "reweighing": (0.6 + 0.05 * rng.random(50)).round(6),
    }


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory, values: dict[str, np.ndarray]) -> str:
    """Eight runs of the original model and of reweighing, signed gaps, with a baseline."""
    folder = tmp_path_factory.mktemp("run") / "chen_2022"
    records = []
    for repeat in range(8):
        for method, runs in values.items():
            measured = {m.strip("|"): float(runs[repeat]) for m in METRICS.values()}
            records.append(
                Record(
                    "chen_2022",
                    "german",
                    "sex",
                    "lr",
                    method,
                    repeat,
                    measured,
                    key=f"{method}{repeat}",
                )
            )
        for degree in (0.0, 1.0):
            name = f"mutation(strategy=majority, degree={degree:g})"
            point = dict.fromkeys(PERFORMANCE.values(), 0.9 - 0.4 * degree)
            point |= dict.fromkeys(chen_2022.BIAS.values(), 0.9 - 0.9 * degree)
            records.append(
                Record(
                    "chen_2022", "german", "sex", "lr", name, repeat, point, key=f"{name}{repeat}"
                )
            )
    made = Store.create(folder, "chen_2022")
    with made.writer() as writer:
        writer.append(records)
    return str(folder)


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory, values: dict[str, np.ndarray]) -> str:
    folder = tmp_path_factory.mktemp("authors")
    for prefix, method in (("default", "unmitigated"), ("rw", "reweighing")):
        line = "\t".join(f"{v:.6f}" for v in values[method])
        text = "\n".join(f"{row}\t{line}" for row in ROWS)
        (folder / f"{prefix}_lr_german_sex.txt").write_text(text)
    return str(folder)


def test_tables_are_listed_and_made(store: str, tmp_path: Path) -> None:
    assert "table6" in run("tables", store)
    told = run("tables", store, "--table", "fig4")
    rows = [line.split() for line in told.splitlines() if line.startswith("RW")]
    assert rows == [["RW", "0.0%", "0.0%", "0.0%", "100.0%"]]
    page, data = tmp_path / "t.html", tmp_path / "t.json"
    told = run("tables", store, "--table", "all", "--html", str(page), "--json", str(data))
    assert "table2 cannot be made" in told
    assert page.read_text().count("<script") == 1
    names = [t["table"] for t in json.loads(data.read_text())["tables"]]
    assert {"fig3", "fig8", "table5", "table6", "findings"} <= set(names)


def test_both_sides_stand_one_above_the_other(store: str, published: str, tmp_path: Path) -> None:
    data, page = tmp_path / "t.json", tmp_path / "t.html"
    files = ["--json", str(data), "--report", str(page)]
    told = run("tables", store, "--published", published, "--table", "all", *files)
    assert "cannot be made of both sides" in told  # the authors' baselines are not there
    made = {table["table"]: table["rows"] for table in json.loads(data.read_text())["tables"]}
    rows = [row["row"] for row in made["fig3"]]
    assert rows[:2] == [f"{rows[0].removesuffix(' ours')} ours", f"{rows[0].removesuffix(' ours')} published"]  # fmt: skip
    assert "findings" in made
    assert " published" in page.read_text()


def test_a_table_that_does_not_exist_is_named(store: str) -> None:
    with pytest.raises(UnknownName, match="did you mean 'table6'"):
        run("tables", store, "--table", "tabel6")


def test_comparing_with_the_authors_files(store: str, published: str, tmp_path: Path) -> None:
    data, part = tmp_path / "c.json", tmp_path / "fidelity.md"
    part.write_text("# Fidelity\n\nWhat was there before.\n")
    arguments = ["compare", store, "--published", published, "--markdown", str(part)]
    told = run(*arguments, "--json", str(data))
    assert "reweighing" in told
    assert "Finding 6" in told
    found = json.loads(data.read_text())
    assert [row["not rejected"] for row in found["agreement"]] == [1.0, 1.0, 1.0]
    first = part.read_text()
    assert first.startswith("# Fidelity")
    assert "| reweighing | 15 |" in first
    run(*arguments)  # the part is put in place of the old one
    assert part.read_text() == first


def test_comparing_without_files_speaks_of_the_print_alone(store: str) -> None:
    told = run("compare", store)
    assert "files were not given" in told
    assert "as published (final outputs)" in told


def test_only_studies_of_papers_have_tables(tmp_path: Path) -> None:
    Store.create(tmp_path / "mine", "mine")
    with pytest.raises(InputError, match="holds 'mine'"):
        run("tables", str(tmp_path / "mine"))
