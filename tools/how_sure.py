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
SCAN = DOCS / "how-to" / "scan.md"
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


def power_of_scans(rows: pd.DataFrame) -> str:
    """Return the table of how often a scan finds, and confirms, what was planted."""
    some = rows[rows["verdict"].isin(["departs (scan, power)", "confirmed (scan, power)"])]
    parts = some["setting"].str.extract(
        r"^(?P<group>.*), 30 % selected, inside (?P<more>.*), (?P<rows>[\d,]+) rows$"
    )
    parts["rate"] = [f"{100 * rate:.0f} %" for rate in some["rate"]]
    parts["what"] = some["verdict"].str.partition(" ")[0]
    parts["size"] = parts["rows"].str.replace(",", "").astype(int)
    parts["share"] = parts["group"].str.extract(r"([\d.]+) %")[0].astype(float).fillna(50.0)
    settings = parts.sort_values(["size", "more"])[["rows", "more"]].drop_duplicates()
    heads = [f"{n} rows, {more}" for n, more in settings.itertuples(index=False)]
    lines = [f"| planted group | {' | '.join(heads)} |\n|---|{'--:|' * len(heads)}\n"]
    for group, held in parts.sort_values("share", ascending=False).groupby("group", sort=False):
        cells = held.set_index(["rows", "more", "what"])["rate"]
        pairs = (
            f"{cells[n, more, 'departs']} ({cells[n, more, 'confirmed']})"
            for n, more in settings.itertuples(index=False)
        )
        lines.append(f"| {group} | {' | '.join(pairs)} |\n")
    return "".join(lines)


def between(text: str, name: str, content: str) -> str:
    """Return a page with what stands between two marks replaced."""
    begin, end = f"<!-- {name}: measured -->\n", f"<!-- {name}: end -->"
    if begin not in text:
        raise SystemExit(f"The page has no place for {name!r}: add {begin.strip()!r} and {end!r}.")
    before, rest = text.split(begin, 1)
    return before + begin + content + end + rest.split(end, 1)[1]


def main(folder: Path) -> None:
    """Add the new rows to the file, and write the page's tables from it."""
    new = pd.DataFrame([json.loads(f.read_text()) for f in sorted(folder.glob("*.json"))])
    rows = pd.concat([pd.read_csv(ROWS), new]).drop_duplicates(KEY, keep="last").sort_values(KEY)
    rows.to_csv(ROWS, index=False)
    text = PAGE.read_text(encoding="utf-8")
    for room, some in rows.groupby("room"):
        text = between(text, room, summary(some))
    PAGE.write_text(text, encoding="utf-8")
    page = SCAN.read_text(encoding="utf-8")
    SCAN.write_text(between(page, "scan", power_of_scans(rows)), encoding="utf-8")
    print(f"{len(new)} new of {len(rows):,} measured rates are in {ROWS}, their summary in {PAGE}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/how_sure"))
