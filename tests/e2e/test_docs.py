"""The reference has every public name, metric, method, dataset, template, study and command."""

import importlib
import importlib.util
import pkgutil
import re
import tomllib
from collections import Counter
from pathlib import Path
from types import ModuleType

import pandas as pd
import pytest
import typer.main

import isonomy
from isonomy.cli import app
from isonomy.cli.mitigators import describe
from isonomy.data import DATASETS
from isonomy.metrics import METRICS
from isonomy.mitigators import MITIGATORS
from isonomy.papers import PAPERS, study_names
from isonomy.templates import TEMPLATES

DOCS = Path(__file__).resolve().parents[2] / "docs"


def module(name: str, folder: Path = DOCS) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
    assert spec
    assert spec.loader
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages as generated, but for the papers' numbers, which need every stored run."""
    generate = module("generate")
    generate.REFERENCE = tmp_path_factory.mktemp("reference")
    generate.numbers = lambda: None
    generate.main()
    return generate.REFERENCE


def test_every_public_name_of_every_room_is_described_once(reference: Path) -> None:
    pages = "\n".join(p.read_text(encoding="utf-8") for p in reference.rglob("*.md"))
    described = re.findall(
        r"^\.\. (?:autoclass|autofunction|py:data|automodule):: ([\w.]+)$", pages, re.MULTILINE
    )
    assert len(described) == len(set(described))
    assert "Built-in immutable sequence" not in pages  # what a type says of itself says nothing
    assert "new empty dictionary" not in pages
    rooms = [m.name for m in pkgutil.iter_modules(isonomy.__path__, "isonomy.")]
    for name in ("isonomy", *rooms):
        if name.rpartition(".")[2].startswith("_") or name == "isonomy.cli":
            continue
        room = importlib.import_module(name)
        page = (reference / "rooms" / f"{name}.md").read_text(encoding="utf-8")
        for public in getattr(room, "__all__", ()):
            if public != "__version__":
                home = re.search(rf"{{py:obj}}`{public} <([\w.]+)>`", page)
                assert home, f"{name}.{public} is not listed"
                assert home[1] in described, f"{home[1]} is not described"


def test_every_registered_thing_has_a_page(reference: Path) -> None:
    for name, metric in METRICS.items():
        page = (reference / "metrics" / f"{name}.md").read_text(encoding="utf-8")
        assert metric.formula in page
        assert metric.avoid in page
        code = page.partition("\n## Code\n")[2]
        assert re.match(r"\n`isonomy/metrics/\w+\.py`", code)
        assert "\ndef " in code or "lambda" in code
    for name, method in MITIGATORS.items():
        page = (reference / "mitigators" / f"{name}.md").read_text(encoding="utf-8")
        assert f".. autoclass:: isonomy.mitigators.{method.__name__}\n" in page
        assert method.advice in page
    for name, entry in DATASETS.items():
        page = (reference / "datasets" / f"{name}.md").read_text(encoding="utf-8")
        assert entry.info.licence in page
        assert all(" ".join(caveat.split()) in page for caveat in entry.info.caveats)
    for name, form in TEMPLATES.items():
        page = (reference / "templates" / f"{name}.md").read_text(encoding="utf-8")
        assert all(f"`{field.name}`" in page for field in form.fields)
    page = (reference / "extras.md").read_text(encoding="utf-8")
    project = tomllib.loads((DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"))
    for name in project["project"]["optional-dependencies"]:
        assert f"isonomy[{name}]" in page
    for name in study_names():
        page = (reference / "studies" / f"{name}.md").read_text(encoding="utf-8")
        assert f"isonomy study run {name}" in page
    for name, command in typer.main.get_command(app).commands.items():  # type: ignore[attr-defined]
        page = (reference / "commands" / f"{name}.md").read_text(encoding="utf-8")
        for option in command.params:
            # an argument may be shown by other words than its name
            words = option.opts[0] if option.opts[0].startswith("-") else option.metavar
            assert (words or option.opts[0]) in page, f"isonomy {name} {option.opts[0]}"
        for inner in getattr(command, "commands", {}):
            assert f"## isonomy {name} {inner}\n" in page


def test_every_paper_has_a_page_with_our_numbers_and_findings() -> None:
    found = (DOCS / "what-we-found.md").read_text(encoding="utf-8")
    for name in PAPERS:
        page = (DOCS / "papers" / f"{name}.md").read_text(encoding="utf-8")
        assert f"../reference/papers/{name}.md" in page
        heading = re.search(r'start-after: "(.+)"', page)
        assert heading
        assert f"\n{heading[1]}\n" in found
        assert f"<!-- end of study {name} -->" in found


def test_the_guide_names_the_methods_that_do_not_treat_every_group_by_itself() -> None:
    guide = (DOCS / "guide" / "4-mitigation.md").read_text(encoding="utf-8")
    section = guide.partition("### Five groups\n")[2].partition("With five groups")[0]
    named = set(re.findall(r"`(\w+)`", section))
    assert named == {
        n for n, kind in MITIGATORS.items() if describe(kind)["groups"] != "any number"
    }


def test_the_comparison_counts_what_there_is() -> None:
    page = (DOCS / "compare.md").read_text(encoding="utf-8")
    ours = {
        row.split("|")[1].strip(): row.split("|")[-2].strip()
        for row in page.splitlines()
        if row.startswith("| ")
    }
    stages = Counter(kind.stage for kind in MITIGATORS.values())
    facts = [describe(kind) for kind in MITIGATORS.values()]
    many = sum(fact["classes"] == "any number" for fact in facts) - 1  # unmitigated is no method
    words = dict(
        enumerate(
            ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
        )
    )
    assert ours["metrics of groups"].startswith(f"{len(METRICS)}, ")
    assert f"{words[many]} methods" in ours["many classes"]
    assert ours["before training"] == str(stages["pre"] - 1)
    assert ours["in training"].startswith(f"{stages['in']}, and {stages['ensemble']} ")
    assert ours["after training"].startswith(f"{stages['post']},")
    project = tomllib.loads((DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"))
    needed = len(project["project"]["dependencies"])
    assert ours["what it costs to install"].startswith(f"{needed} dependencies")


def test_every_page_is_in_the_table_of_contents() -> None:
    listed = set()
    for page in DOCS.rglob("*.md"):
        for block in re.findall(
            r"```{toctree}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL
        ):
            for line in block.splitlines():
                if line.strip() and not line.startswith(":"):
                    found = {page.parent / f"{line}.md", *page.parent.glob(f"{line}.md")}
                    listed |= {file.resolve() for file in found}
    apart = {"reference", "gallery", "cases", "_build"}
    pages = {p for p in DOCS.rglob("*.md") if p.relative_to(DOCS).parts[0] not in apart}
    assert pages - listed == {DOCS / "index.md"}


def test_labels_of_several_levels_become_one_heading() -> None:
    generate = module("generate")
    heads = map(generate.in_words, [("sex", "SPD"), "accuracy", 3])
    assert generate.table(*heads, rows=[])[0] == "| sex, SPD | accuracy | 3 |"


def test_decisions_are_numbered_without_a_gap() -> None:
    numbers = [int(p.name[:4]) for p in sorted((DOCS / "decisions").glob("0*.md"))]
    assert numbers == list(range(1, len(numbers) + 1))


def test_the_gallery_has_an_order() -> None:
    examples = {p.stem.removeprefix("plot_") for p in DOCS.parent.glob("examples/*/plot_*.py")}
    assert set(module("generate").ExampleOrder.names) == examples


def test_a_site_is_searched_for_what_it_fetches_and_for_dead_links(tmp_path: Path) -> None:
    check = module("check")
    (tmp_path / "a.html").write_text(
        '<p id="here"><a href="#here">1</a><a href="b.html#gone">2</a><a href="c.html">3</a>'
        '<a href="https://example.org">4</a><script src="https://example.org/s.js"></script>'
    )
    (tmp_path / "b.html").write_text("<img src='none.png'>")
    wrong, external = check.problems(tmp_path)
    assert sorted(wrong) == [
        "a.html fetches https://example.org/s.js",
        "a.html links to b.html#gone, which has no such place",
        "a.html links to c.html, which is not there",
        "b.html links to none.png, which is not there",
    ]
    assert external == {"https://example.org"} - {"https://example.org/s.js"}


def test_what_a_scan_finds_is_what_was_measured() -> None:
    how_sure = module("how_sure", DOCS.parent / "tools")
    table = how_sure.power_of_scans(pd.read_csv(how_sure.ROWS))
    assert table.count("\n") == 7
    assert f"<!-- scan: measured -->\n{table}<!-- scan: end -->" in how_sure.SCAN.read_text(
        encoding="utf-8"
    )
