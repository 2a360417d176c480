"""The page of a scan: groups that nobody thought of, and whether other rows confirm them."""

import math
from collections.abc import Sequence

from isonomy._shown import SUMMARIES, Summary
from isonomy._validate import listed
from isonomy.audit import Departure, Scan
from isonomy.report import blocks as b

LIMITS = (
    (
        "What a scan finds is a hypothesis about these rows: it says where to look, and not why. Rows "
        "of other people, or the half that was held out, confirm it or do not."
    ),
    (
        "A group that is not listed may still be treated otherwise: small groups, and departures that "
        "are small beside chance, are not found."
    ),
    "Only conjunctions of single values are searched; columns that nobody named are not.",
)
_MOST_SENTENCES = 4


@SUMMARIES.register("scan")
def summarize_scan(found: Scan, *, title: str | None = None, command: str | None = None) -> Summary:
    """Return the summary of a scan."""
    settings = found.settings
    values = settings["values"]
    tone = "violated" if any(f.confirmed for f in found.findings) else "thin"
    said = [f.sentence() for f in found.findings[:_MOST_SENTENCES]]
    if len(found.findings) > _MOST_SENTENCES:
        said.append(f"{len(found.findings) - _MOST_SENTENCES} more are listed below.")
    tiles = [b.tile(f"{sum(found.searched.values()):,}", "comparisons")]
    tiles.append(b.tile(f"{len(found.findings):,}", "beyond chance", "thin"))
    if settings["confirm"]:
        sure = sum(bool(f.confirmed) for f in found.findings)
        tiles.append(b.tile(f"{sure:,}", "confirmed", "violated" if sure else ""))
    level = 1 - settings["confidence"]
    return b.summary(
        "scan",
        f"Scan of {title}" if title else "Scan",
        verdict=b.verdict(tone if found.findings else "within", found.headline(), said, tiles),
        picture=_picture(found),
        table=[*b.notes(found.notes), *_tables(found)],
        method=[
            b.facts(
                [
                    ("Data", title or ""),
                    ("Rows", f"{settings['rows']:,}"),
                    ("Favourable", listed(settings["favorable"])),
                    ("Columns", "; ".join(f"{c}: {listed(v)}" for c, v in values.items())),
                    ("Conjunctions", f"of up to {settings['depth']} columns"),
                    ("Smallest group", f"{settings['fewest_rows']} rows behind the rate"),
                    ("Level", f"{level:.2g}, all groups, directions and rates together"),
                    ("Permutations", f"{settings['permutations']:,}"),
                    ("Seed", str(settings["random_state"])),
                ]
            )
        ],
        limits=LIMITS,
        command=command,
    )


def scan_sentences(found: Scan | None) -> list[str]:
    """Return what the verdict of an audit says of a scan."""
    return [] if found is None else [f"Searched conjunctions: {found.headline()}"]


def scan_blocks(found: Scan) -> list[b.Block]:
    """Return what the page of an audit says of a scan."""
    return [
        b.heading(f"Groups nobody asked about: conjunctions of up to {found.settings['depth']}"),
        b.text(found.headline()),
        *b.notes(found.notes),
        *_tables(found),
        b.soft(LIMITS[0]),
    ]


def _picture(found: Scan) -> list[b.Block]:
    """Return the differences with their intervals."""
    rows = [
        b.whisker(
            f"{f.rate.replace('_', ' ')}: {f.group}",
            f.difference,
            f.low,
            f.high,
            tone="violated" if f.confirmed else "thin",
            said=f.sentence(),
        )
        for f in found.findings
    ]
    if not rows:
        return []
    far = math.ceil(20 * max(max(abs(f.low), abs(f.high)) for f in found.findings)) / 20
    return [
        b.intervals(
            "Differences from everybody else",
            rows,
            alt="; ".join(f.sentence() for f in found.findings[:9]),
            ends=(-min(1.0, far), min(1.0, far)),
            ideal=0.0,
            note="Intervals are wide enough for all groups that were searched, together.",
            numbers=False,
        )
    ]


def _tables(found: Scan) -> list[b.Block]:
    confirm = bool(found.settings["confirm"])
    made = []
    if found.findings:
        made.append(
            _table(
                "Groups that depart from everybody else",
                found.findings,
                confirm=confirm,
                note="p and the intervals hold for all groups, directions and rates of the scan together. "
                "A group that adds nothing to one above it is left out.",
            )
        )
    unlisted = {f.rate for f in found.findings}
    near = [f for f in found.farthest if f.rate not in unlisted]
    if near:
        caption = "The farthest group by each other rate: within chance"
        made.append(b.more(caption, [_table(caption, near, confirm=False)], unfolded=not unlisted))
    return made


def _table(caption: str, rows: Sequence[Departure], *, confirm: bool, note: str = "") -> b.Block:
    heads: list[b.Cell] = ["group", "rate", b.right("rows"), b.right("in the group")]
    heads += [b.right("everybody else"), b.right("difference"), b.right("p")]
    if confirm:
        heads += [b.right("difference, held-out half"), "held-out half"]
    return b.table(
        caption,
        heads,
        [
            [
                f.group,
                b.word(f.rate.replace("_", " ")),
                b.count(f.rows),
                b.number(f.value),
                b.number(f.others),
                _gap(f.difference, f.low, f.high),
                b.number(f.p_value),
                *(_held(f) if confirm else ()),
            ]
            for f in rows
        ],
        note=note,
    )


def _held(f: Departure) -> list[b.Cell]:
    word = b.word("confirmed", "violated") if f.confirmed else b.word("not confirmed", "thin")
    return [
        _gap(f.difference_confirm, f.low_confirm, f.high_confirm),
        word | {"small": f"p = {f.p_confirm:.2g}"},
    ]


def _gap(value: float | None, low: float | None, high: float | None) -> b.Block:
    """Return a difference with its sign, and its interval below it."""
    return b.estimate(value, low, high) | {"text": b.number(value, sign=True)["text"]}
