"""What a method aimed at, the settings that were chosen, what it warned of: from its records."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from isonomy._names import base_name, format_value, parse_name
from isonomy.mitigators import MITIGATORS
from isonomy.mitigators.aims import GOAL_OF, goals_of
from isonomy.store import Record

NO_GAP = "another goal than gaps between groups"
"""What a method aims at that declares no goal."""

_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


def aim_of(runs: Sequence[Record], fairness: str) -> dict[str, Any]:
    """Return what a method aims at, and whether that is what a fairness metric asks for.

    Parameters
    ----------
    runs : sequence of Record
        Of one method.
    fairness : str
        The metric that decides.

    Returns
    -------
    dict
        ``aim`` in words and ``on_target``; None where the label is no mitigator of ours.

    Examples
    --------
    >>> run = Record("demo", "adult", "sex", "lr", "reject_option", 0, settings="reject_option(metric=eod)")
    >>> aim_of([run], "equal_opportunity_difference")
    {'aim': 'equal opportunity', 'on_target': True}
    >>> aim_of([run], "statistical_parity_difference")
    {'aim': 'equal opportunity', 'on_target': False}
    """
    spec = runs[0].settings or runs[0].mitigator
    if base_name(spec) not in MITIGATORS:
        return {"aim": "", "on_target": None}
    goals, asked = goals_of(spec), GOAL_OF.get(fairness)
    if asked in goals:
        goals = (asked,)
    return {
        "aim": ", ".join(goals).replace("_", " ") or NO_GAP,
        "on_target": asked in goals,
    }


def settings_of(runs: Sequence[Record]) -> str:
    """Return the parameters that a method was run with beside its label, and in how many repeats.

    Examples
    --------
    >>> runs = [
    ...     Record("demo", "adult", "sex", "lr", "maat", k, settings=f"maat(weight={w})")
    ...     for k, w in enumerate((0, 0.5, 0))
    ... ]
    >>> settings_of(runs)
    'weight=0 (2 of 3), 0.5 (1)'
    """
    chosen: dict[str, Counter[str]] = {}
    for run in runs:
        if not run.settings:
            continue
        known = base_name(run.mitigator) in MITIGATORS  # a study may label a method as it likes
        named = parse_name(run.mitigator)[1] if known else {}
        for name, value in parse_name(run.settings)[1].items():
            if name not in named:
                chosen.setdefault(name, Counter())[format_value(value)] += 1
    return "; ".join(f"{name}={_counted(values, len(runs))}" for name, values in chosen.items())


def _counted(values: Counter[str], runs: int) -> str:
    (first, times), *others = values.most_common()
    if times == runs:
        return first
    return ", ".join([f"{first} ({times} of {runs})", *(f"{v} ({n})" for v, n in others)])


def warnings_of(runs: Sequence[Record]) -> list[str]:
    """Return what methods warned of, once each, with the number of repeats.

    Warnings that differ in their numbers only are one; the first repeat's stands for all.

    Examples
    --------
    >>> runs = [
    ...     Record("demo", "adult", "sex", "lr", "lfr", k, warnings=f"{k} rows are alike.")
    ...     for k in range(3)
    ... ]
    >>> warnings_of(runs)
    ['lfr warned in 3 of 3 repeats: 0 rows are alike.']
    """
    warned: dict[tuple[str, str], list[str]] = {}
    for run in runs:
        for line in {_NUMBER.sub("#", text): text for text in run.warnings.splitlines()}.items():
            warned.setdefault((run.mitigator, line[0]), []).append(line[1])
    repeats = Counter(run.mitigator for run in runs)
    return [
        f"{method} warned in {len(texts)} of {repeats[method]} "
        f"repeat{'s' if repeats[method] > 1 else ''}: {texts[0]}"
        for (method, _), texts in warned.items()
    ]
