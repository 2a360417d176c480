"""Write the measured rates of `make slow` into docs/how-sure-is-sure.md.

Simulations (tests/validity) leave one small JSON file per measured rate in a folder; this puts
them into the table of their room, in place of the row of the same verdict and setting.

    HOW_SURE=out/how_sure python -m pytest -m slow tests/validity
    python tools/how_sure.py out/how_sure
"""

import json
import sys
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "how-sure-is-sure.md"
HEAD = "| verdict | promise | simulated | measured | samples |\n|---|---|---|---|---|\n"


def line(row: dict[str, str | float]) -> str:
    """Write one row of the table."""
    cells = (row["verdict"], row["promise"], row["setting"], f"{100 * float(row['rate']):.1f} %")
    return f"| {' | '.join(map(str, cells))} | {int(row['samples']):,} |"


def main(folder: Path) -> None:
    """Replace or add the measured rows, room by room."""
    text = PAGE.read_text(encoding="utf-8")
    rows = [json.loads(f.read_text()) for f in sorted(folder.glob("*.json"))]
    for room in dict.fromkeys(row["room"] for row in rows):
        begin, end = f"<!-- {room}: measured -->\n", f"<!-- {room}: end -->"
        if begin not in text:
            text += f"\n## {room}\n\n{begin}{end}\n"
        before, rest = text.split(begin, 1)
        old, after = rest.split(end, 1)
        table = {
            tuple(c.strip() for c in kept.split("|")[1:4:2]): kept
            for kept in old.splitlines()
            if kept.startswith("| ") and not kept.startswith("| verdict")
        }
        for row in rows:
            if row["room"] == room:
                table[row["verdict"], row["setting"]] = line(row)
        text = (
            before + begin + HEAD + "\n".join(table[k] for k in sorted(table)) + "\n" + end + after
        )
    PAGE.write_text(text, encoding="utf-8")
    print(f"{len(rows)} measured rates are in {PAGE}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/how_sure"))
