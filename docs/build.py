"""Write docs/reference from the objects themselves, and run the examples.

``make docs``; nothing under docs/reference is edited by hand.
"""

import contextlib
import importlib
import inspect
import pkgutil
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

from isonomy.cli import app
from isonomy.cli.metrics import describe
from isonomy.metrics import METRICS

HERE = Path(__file__).parent
ROOT = HERE.parent
REFERENCE = HERE / "reference"


def write(path: Path, text: str) -> None:
    """Write one page."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.rstrip() + "\n", encoding="utf-8")


def metrics() -> None:
    """One page per metric, from the Metric object."""
    rows = {"performance": [], "group": [], "individual": []}
    for name, metric in METRICS.items():
        facts = describe(metric)
        lines = [f"# {name}", "", f"*{facts['label']}*, a {facts['kind']} metric.", ""]
        lines += ["```", facts["formula"], "```", "", facts["reading"], ""]
        lines += [f"**When not to use it.** {facts['when_not_to_use']}", ""]
        lines += ["| | |", "|---|---|"]
        lines += [f"| best | {facts['best']} |", f"| range | {facts['range']} |"]
        lines += [f"| needs | {facts['needs']} |"]
        if facts["parameters"]:
            written = ", ".join(f"`{k}={v}`" for k, v in facts["parameters"].items())
            lines.append(f"| parameters | {written} |")
        if facts["aliases"]:
            lines.append(f"| also called | {', '.join(f'`{a}`' for a in facts['aliases'])} |")
        lines += [f"| reference | {facts['reference']} |"]
        write(REFERENCE / "metrics" / f"{name}.md", "\n".join(lines))
        rows[metric.kind].append(f"| [{name}]({name}.md) | {facts['label']} | {facts['formula']} |")
    index = ["# Metrics", ""]
    for kind, found in rows.items():
        index += [f"## {kind}", "", "| name | short | formula |", "|---|---|---|", *found, ""]
    write(REFERENCE / "metrics" / "index.md", "\n".join(index))


def mitigators() -> int:
    """One page per mitigator, from its docstring."""
    from isonomy.mitigators import MITIGATORS

    index = ["# Mitigators", "", "| name | stage | label | advice |", "|---|---|---|---|"]
    for name, kind in MITIGATORS.items():
        signature = inspect.signature(kind)
        text = inspect.cleandoc(kind.__doc__ or "")
        more = f"*{kind.stage}-processing*, `isonomy.mitigators.{kind.__name__}`"
        write(
            REFERENCE / "mitigators" / f"{name}.md",
            f"# {name}\n\n{more}\n\n```python\n{kind.__name__}{signature}\n```\n\n{text}",
        )
        index.append(f"| [{name}]({name}.md) | {kind.stage} | {kind.label} | {kind.advice} |")
    write(REFERENCE / "mitigators" / "index.md", "\n".join(index))
    return len(MITIGATORS)


def described(name: str, thing: object) -> list[str]:
    """Write the section of one public name: its signature and its docstring, or its value."""
    lines = ["", f"## {name}", ""]
    if not callable(thing):
        return [*lines, f"A {type(thing).__name__}."]
    with contextlib.suppress(ValueError):  # a built-in has no signature
        lines += [f"```python\n{name}{inspect.signature(thing)}\n```", ""]
    return [*lines, inspect.cleandoc(thing.__doc__ or "")]


def rooms() -> list[str]:
    """Write one page per room with every public name in it."""
    import isonomy

    found = ["isonomy", *(f"isonomy.{m.name}" for m in pkgutil.iter_modules(isonomy.__path__))]
    pages = []
    for name in found:
        module = None if name.rpartition(".")[2].startswith("_") else importlib.import_module(name)
        if module is None or not getattr(module, "__all__", ()) or name == "isonomy.cli":
            continue
        lines = [f"# {name}", "", inspect.cleandoc(module.__doc__ or "")]
        for public in module.__all__:
            if public != "__version__":
                lines += described(public, getattr(module, public))
        write(REFERENCE / "rooms" / f"{name}.md", "\n".join(lines))
        pages.append(f"- [{name}]({name}.md): {(module.__doc__ or '').strip().splitlines()[0]}")
    write(REFERENCE / "rooms" / "index.md", "\n".join(["# Rooms", "", *pages]))
    return pages


def commands() -> None:
    """Collect the command line's own help."""
    import typer.main

    lines = ["# The command line"]

    def section(command: typer.main.Any, words: str, parent: object = None) -> None:
        context = command.make_context(words, [], parent=parent, resilient_parsing=True)
        context.terminal_width = context.max_content_width = 100
        lines.extend(["", f"## {words}", "", "```", command.get_help(context).strip(), "```"])
        for name, child in getattr(command, "commands", {}).items():
            section(child, name if parent else f"{words} {name}", context)

    for name, command in typer.main.get_command(app).commands.items():
        section(command, f"isonomy {name}")
    write(REFERENCE / "commands.md", "\n".join(lines))


def examples() -> list[str]:
    """Run every plot_*.py and keep what it prints."""
    done = []
    for path in sorted((ROOT / "examples").glob("plot_*.py")):
        print(f"running {path.name} ...", flush=True)
        shown = subprocess.run(
            [sys.executable, str(path)], capture_output=True, text=True, check=True, cwd=ROOT
        ).stdout
        code = path.read_text(encoding="utf-8")
        write(
            REFERENCE / "examples" / f"{path.stem}.md",
            dedent("""\
                # {name}

                ```python
                {code}
                ```

                What it prints:

                ```
                {shown}
                ```
                """).format(name=path.stem, code=code.strip(), shown=shown.strip()),
        )
        done.append(path.stem)
    return done


def main() -> None:
    """Build everything."""
    shutil.rmtree(REFERENCE, ignore_errors=True)
    metrics()
    shelf = mitigators()
    pages = rooms()
    commands()
    shown = [] if "--no-examples" in sys.argv else examples()
    print(
        f"docs/reference: {len(METRICS)} metrics, {shelf} mitigators, {len(pages)} "
        f"rooms, the commands, {len(shown)} examples"
    )


if __name__ == "__main__":
    main()
