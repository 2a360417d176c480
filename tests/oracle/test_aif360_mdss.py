"""A scan beside AIF360's (MDSS) in frozen worlds with a planted group (`tools/golden/mdss.py`)."""

import json
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from isonomy.audit import Departure, scan

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "tools" / "golden"))
from planted import WORLDS, make, overlap  # noqa: E402

FILE = HERE / "golden" / "aif360_mdss.json"
PENALTIES = ("default", "1", "2")
"""Theirs on the complexity of a group; the default is next to none."""
SAME = 0.5
"""A group is found where it shares half of the rows that either has."""


@cache
def frozen() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(FILE.read_text())
    return content["worlds"]


@cache
def searched(name: str) -> tuple[list[dict[str, float]], int]:
    """Return, of each world, how much of the planted group each search names, and our alarms.

    Ours names the first group that it lists, nothing where none is beyond chance; the farthest it
    names always. Theirs is told the direction and answers always, once for each penalty; the best of
    these is known only to whoever knows what was planted.
    """
    found, alarms, more = [], 0, WORLDS[name].inside > WORLDS[name].base
    for held in frozen()[name]:
        columns, hits, planted = make(WORLDS[name], held["seed"])
        assert [int(columns.sum()), int(hits.sum()), int(planted.sum())] == held["sums"]
        named = {str(j): column for j, column in enumerate(columns.T)}
        ours = scan(None, hits.astype(int), sensitive_features=named, permutations=199)
        alarms += bool(ours.findings)
        theirs = [_where(named, subset) for subset, _ in held["answers"]]
        found.append(
            {
                "ours": _named(ours.findings[0], named, planted, more) if ours.findings else 0.0,
                "farthest": _named(ours.farthest[0], named, planted, more),
                "best": max(overlap(rows, planted) for rows in theirs),
                **{p: overlap(rows, planted) for p, rows in zip(PENALTIES, theirs, strict=True)},
            }
        )
    return found, alarms


def _named(f: Departure, columns: dict[str, np.ndarray], planted: np.ndarray, more: bool) -> float:
    """Return how much of the planted group a departure names; one the other way names the others."""
    rows = _where(columns, {c: [v] for c, v in f.conditions})
    return overlap(rows, planted if (f.difference > 0) == more else ~planted)


def _where(columns: dict[str, np.ndarray], conditions: dict[str, list[int]]) -> np.ndarray:
    rows = len(next(iter(columns.values())))
    return np.all(
        [np.isin(columns[c], v) for c, v in conditions.items()] or [np.ones(rows)], axis=0
    )


def share(name: str, whose: str) -> float:
    """Return in what share of worlds a search names the planted group."""
    return float(np.mean([row[whose] >= SAME for row in searched(name)[0]]))


CONJUNCTIONS = [n for n, world in WORLDS.items() if world.depth and not world.union]


def over_all_kinds(whose: str) -> float:
    return float(np.mean([share(name, whose) for name in CONJUNCTIONS]))


@pytest.mark.parametrize("penalty", PENALTIES)
def test_names_a_planted_conjunction_more_often_than_theirs(penalty: str) -> None:
    """Both searches name the group that departs most, whether or not chance explains it."""
    assert over_all_kinds("farthest") >= over_all_kinds(penalty) + 0.1


def test_is_not_far_from_theirs_where_it_is_told_which_penalty_is_best() -> None:
    assert over_all_kinds("farthest") >= over_all_kinds("best") - 0.03


@pytest.mark.parametrize("name", CONJUNCTIONS)
def test_lists_a_planted_conjunction_more_often_than_theirs_names_it_by_default(name: str) -> None:
    """Ours lists only what is beyond chance; theirs answers always, and is told the direction."""
    assert share(name, "ours") > share(name, PENALTIES[0])
    assert share(name, "ours") >= 0.5


def test_theirs_names_a_group_where_there_is_none() -> None:
    """Its answer comes without a p-value: that is what a level is for."""
    assert searched("nothing")[1] <= 2  # of ten
    assert all(subset for held in frozen()["nothing"] for subset, _ in held["answers"][:1])
