"""Measure us against the peers: `python benchmarks/run.py [PART ...]`.

Prints a table per part and writes it into `benchmarks/README.md`. Without names, all parts that exist.
"""

import importlib
import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
for _name in THREADS:  # before NumPy is imported: one thread on every side
    os.environ[_name] = "1"

from rich.console import Console  # noqa: E402
from rich.table import Table  # noqa: E402
from table import Row  # noqa: E402

HERE = Path(__file__).resolve().parent
README = HERE / "README.md"
PARTS = (
    "metrics",
    "scan",
    "data",
    "mitigators",
    "in_processing",
    "reductions",
    "se_methods",
    "tradeoff",
    "studies",
    "store",
    "stats",
    "study",
    "several_attributes",
    "tails",
    "generators",
    "counterfactual",
    "product",
    "forty_models",
    "networks",
    "serve",
)
HEADER = ["Job", "Peer", "Ours", "Peer's", "Ratio", "Floor", "Reached", "Note"]
LIBRARIES = ("numpy", "scipy", "pandas", "scikit-learn", "duckdb", "fairlearn", "torch")


def machine() -> str:
    """Say what the numbers were measured on."""
    cores = os.cpu_count()
    parts = [f"{platform.system()} {platform.machine()}, {cores} cores, one thread"]
    parts.append(f"Python {platform.python_version()}")
    for name in LIBRARIES:
        try:
            parts.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(parts) + "; AIF360 0.6.1 with the pins of `tools/golden/aif360.txt`"


def show(console: Console, title: str, rows: list[Row]) -> None:
    table = Table(*HEADER, title=title, title_justify="left")
    colours = {True: "green", False: "bold red", None: "dim"}
    for row in rows:
        cells = row.cells()
        cells[6] = f"[{colours[row.ok]}]{cells[6]}[/]"
        table.add_row(*cells)
    console.print(table)


def write(part: str, title: str, rows: list[Row]) -> None:
    """Replace what stands between a part's markers."""
    text = README.read_text(encoding="utf-8")
    start, end = f"<!-- {part}: begin -->", f"<!-- {part}: end -->"
    if start not in text:
        text += f"\n{start}\n{end}\n"
    lines = [
        start,
        f"## {title}",
        "",
        f"`python benchmarks/run.py {part}` on {machine()}.",
        "",
        "| " + " | ".join(HEADER) + " |",
        "|---|---|--:|--:|--:|--:|---|---|",
        *("| " + " | ".join(c.replace("|", "\\|") for c in row.cells()) + " |" for row in rows),
        "",
        end,
    ]
    before, rest = text.split(start, maxsplit=1)
    after = rest.split(end, maxsplit=1)[1]
    README.write_text(before + "\n".join(lines) + after, encoding="utf-8")


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        print(f"No benchmark {unknown[0]!r}; choose from {', '.join(PARTS)}.", file=sys.stderr)
        return 2
    console = Console(width=None if sys.stdout.isatty() else 180)
    short = 0
    for name in names or [part for part in PARTS if (HERE / f"{part}.py").exists()]:
        module = importlib.import_module(name)
        rows = module.rows()
        if not rows:  # it said why; what was measured elsewhere stays
            continue
        title = getattr(module, "TITLE", name)
        show(console, title, rows)
        write(name, title, rows)
        short += sum(row.ok is False for row in rows)
    if short:
        console.print(f"{short} line(s) below the floor.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
