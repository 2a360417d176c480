"""Put the rates measured by `make slow` into docs/how-sure-is-sure.md.

Simulations (tests/validity) leave one small JSON file per measured rate in a folder. This adds them
to docs/how-sure-measured.csv, in place of the row of the same verdict and setting, and writes the
summary of each room into the page: how many settings, and the one nearest to failing.

    HOW_SURE=out/how_sure python -m pytest -m slow tests/validity
    python tools/how_sure.py out/how_sure
"""

import json
import sys
from pathlib import Path

import pandas as pd

DOCS = Path(__file__).parents[1] / "docs"
PAGE, ROWS = DOCS / "how-sure-is-sure.md", DOCS / "how-sure-measured.csv"
KEY = ["room", "verdict", "setting"]
HEAD = "| verdict | promise | settings | measured | the setting nearest to failing |\n|---|---|---|---|---|\n"


def summary(rows: pd.DataFrame) -> str:
    """Return one line per verdict and promise."""
    lines = []
    # a power is promised beside that of a reference, which differs from setting to setting
    promises = rows["promise"].str.replace(r"; \d+ % by .*| \(\d+ %\)$", "", regex=True)
    for (verdict, promise), some in rows.groupby(["verdict", promises]):
        worst = some.loc[some["rate"].idxmax() if "<=" in promise else some["rate"].idxmin()]
        span = f"{100 * some['rate'].min():.1f} to {100 * some['rate'].max():.1f} %"
        near = f"{worst['setting']} ({int(worst['samples']):,} samples)"
        lines.append(f"| {verdict} | {promise} | {len(some):,} | {span} | {near} |\n")
    return HEAD + "".join(lines)


def main(folder: Path) -> None:
    """Add the new rows to the file, and write the page's tables from it."""
    new = pd.DataFrame([json.loads(f.read_text()) for f in sorted(folder.glob("*.json"))])
    rows = pd.concat([pd.read_csv(ROWS), new]).drop_duplicates(KEY, keep="last").sort_values(KEY)
    rows.to_csv(ROWS, index=False)
    text = PAGE.read_text(encoding="utf-8")
    for room, some in rows.groupby("room"):
        begin, end = f"<!-- {room}: measured -->\n", f"<!-- {room}: end -->"
        if begin not in text:
            raise SystemExit(
                f"The page has no place for {room!r}: add {begin.strip()!r} and {end!r}."
            )
        before, rest = text.split(begin, 1)
        text = before + begin + summary(some) + end + rest.split(end, 1)[1]
    PAGE.write_text(text, encoding="utf-8")
    print(f"{len(new)} new of {len(rows):,} measured rates are in {ROWS}, their summary in {PAGE}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/how_sure"))
