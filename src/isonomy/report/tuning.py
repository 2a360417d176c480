"""The page of a tuning: every setting against the baseline, and the one to choose."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from isonomy._shown import SUMMARIES, Summary
from isonomy.report import blocks as b
from isonomy.report.svg import span_of
from isonomy.report.tradeoff import LIMITS, REGIONS, TONES, plane_chart
from isonomy.tradeoff import TradeOff, Tuning


@SUMMARIES.register("tuning")
def summarize_tuning(
    found: Tuning,
    *,
    title: str | None = None,
    command: str | None = None,
    verdict: TradeOff | None = None,
    notes: Iterable[str] = (),
) -> Summary:
    """Return the summary of a sweep; ``verdict`` is that of the chosen setting on test rows."""
    name = found.mitigator.name
    return b.summary(
        "tuning",
        f"Tuning {name}: {title}" if title else f"Tuning {name}",
        verdict=_verdict(found, verdict),
        people=b.notes(notes),
        picture=[*_curves(found), _plane(found)],
        table=[*b.notes(found.notes), _table(found)],
        method=[b.facts(_facts(found, title))],
        limits=[
            (
                "The setting is chosen on validation rows and looks better there than on new ones; only "
                "the verdict on test rows is of rows that were not chosen on."
            ),
            *LIMITS,
        ],
        command=command,
        headings={"people": "The data"},
    )


def _setting(config: dict[str, Any] | None) -> str:
    return ", ".join(f"{k} = {v}" for k, v in config.items()) if config else "none"


def _verdict(found: Tuning, verdict: TradeOff | None) -> b.Block:
    tiles = [
        b.tile(_setting(found.chosen), "chosen"),
        b.tile(_setting(found.turning_point), "turning point"),
    ]
    if found.chosen is None:
        return b.verdict("violated", "No setting keeps the constraint.", tiles=tiles)
    headline = f"Choose {_setting(found.chosen)}, of {len(found.curve):,} settings tried."
    if verdict is None:
        return b.verdict("", headline, tiles=tiles)
    area = f", area {verdict.area:.4f}" if verdict.area == verdict.area else ""
    where = verdict.region or "no region"
    tiles.append(b.tile(where, f"on the test rows{area}", TONES.get(where, "undefined")))
    meaning = f" ({REGIONS[where]})" if where in REGIONS else ""
    line = verdict.baseline
    said = (
        f"On rows that nothing was chosen on it is {where}{meaning}: the bias goes from "
        f"{line.bias[0]:.3f} to {verdict.bias:.3f}, {line.performance_metric.replace('_', ' ')} from "
        f"{line.performance[0]:.3f} to {verdict.performance:.3f}."
    )
    return b.verdict(TONES.get(where, "undefined"), headline, [said], tiles)


def curve_chart(found: Tuning, what: str = "objective") -> b.Block:
    """Return one column of a sweep over its parameter, the chosen value marked, as a chart."""
    name = found.parameters[0]
    x = np.asarray(found.curve[name], dtype=np.float64)
    y = np.asarray(found.curve[what], dtype=np.float64)
    known = np.isfinite(x) & np.isfinite(y)
    order = np.argsort(x[known], kind="stable")
    x, y = x[known][order], y[known][order]
    marks = [b.line(x, y, "dot")]
    marks += [
        b.point(p, q, "dot", shape="small", said=f"{name} {p:g}: {what} {q:.4g}")
        for p, q in zip(x, y, strict=True)
    ]
    said = ""
    if found.chosen is not None:
        at = np.flatnonzero(x == float(found.chosen[name]))
        if at.size:
            best = float(x[at[0]]), float(y[at[0]])
            said = f" Chosen: {name} {best[0]:g}, {what} {best[1]:.4g}."
            marks.append(b.point(*best, "violated", shape="ring", label="chosen"))
    return b.xy(
        f"{what.capitalize()} over {name}",
        marks,
        alt=f"{what} for {len(x)} values of {name}.{said} The table has all of them.",
        x=b.axis(name, span_of(x)),
        y=b.axis(what, span_of(y)),
        height=240.0,
    )


def _curves(found: Tuning) -> list[b.Block]:
    if len(found.parameters) != 1:
        return []
    try:
        return [curve_chart(found, what) for what in ("objective", "performance", "bias")]
    except (TypeError, ValueError):
        return []  # words instead of numbers have no axis


def _plane(found: Tuning) -> b.Block:
    names, best = found.parameters, _best(found)
    rows = found.curve.to_dict("records")
    titles = [", ".join(f"{n}={row[n]}" for n in names) for row in rows]
    return plane_chart(
        "Every setting against the baseline",
        found.baseline,
        [
            (titles[i] if i == best else "", row["performance"], row["bias"], row["region"])
            for i, row in enumerate(rows)
        ],
        titles=titles,
        alt=f"{len(rows)} settings; chosen: {_setting(found.chosen)}.",
    )


def _best(found: Tuning) -> int:
    if found.chosen is None:
        return -1
    mask = np.ones(len(found.curve), dtype=bool)
    for name, value in found.chosen.items():
        mask &= (found.curve[name] == value).to_numpy()
    return int(np.flatnonzero(mask)[0])


def _table(found: Tuning) -> b.Block:
    names = found.parameters
    heads: list[b.Cell] = [
        *(b.right(n) for n in names),
        b.right(str(found.settings["performance"]).replace("_", " ")),
    ]
    rows = [
        [
            *(
                b.number(row[n], 4) if isinstance(row[n], float) else str(row[n])
                for n in names
            ),
            b.number(row["performance"], 4),
            b.number(row["bias"], 4),
            b.word(
                f"{_region(row)}{' (constant)' if row['constant'] else ''}",
                TONES.get(_region(row), "undefined"),
            ),
            b.number(row["area"], 4, empty=""),
            b.number(row["objective"], 4),
            "yes" if row["feasible"] else "no",
            b.word(row["reason"] if isinstance(row["reason"], str) else "", "soft"),
        ]
        for row in found.curve.to_dict("records")
    ]  # fmt: skip
    heads += [
        b.right("bias"),
        "region",
        b.right("area"),
        b.right("objective"),
        "feasible",
        "because",
    ]
    return b.table("Every setting", heads, rows)


def _facts(found: Tuning, title: str | None) -> list[tuple[str, str]]:
    given = found.settings
    return [
        ("Data", title or ""),
        ("Method", found.mitigator.name),
        ("Objective", str(given["objective"])),
        ("Strategy", str(given["strategy"])),
        ("Validation rows", f"{given['validation_rows']:,}"),
        ("Splits", str(given["repeats"])),
        ("Seed", str(given.get("random_state", ""))),
    ]


def _region(row: Mapping[Any, Any]) -> str:
    if row["status"] == "ok" and isinstance(row["reason"], str):  # it changed no prediction
        return "no change"
    return row["region"] if isinstance(row["region"], str) else "none"
