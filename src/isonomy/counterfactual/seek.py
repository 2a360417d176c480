"""A stronger attack: from the worst individuals on, uphill, without leaving the data's domain."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from isonomy._arrays import Floats
from isonomy._tables import get_column, plain, take
from isonomy._validate import make_rng
from isonomy.counterfactual.domain import Domain
from isonomy.counterfactual.flip import Attribute, group_name
from isonomy.counterfactual.pairs import Pairs, Scorer, score_pairs
from isonomy.errors import InputError
from isonomy.stats.results import Result

Codes = NDArray[np.intp]


@dataclass(frozen=True, eq=False, repr=False)
class Found(Result):
    """What a tail-seeking search found.

    Parameters
    ----------
    X : table
        The rows found, one per start, the worst first.
    pairs : Pairs
        What the model says about each, and about it in the other groups.
    start : ndarray of int
        The position of the row that each search began from.
    start_cd : ndarray of float
        The counterfactual discrimination there.
    changes : tuple of dict
        Per row what was changed: name of the column to (before, after).
    queries, calls, rounds : int
        Rows scored, calls of the model, rounds of search.
    """

    X: Any
    pairs: Pairs
    start: Codes
    start_cd: Floats
    changes: tuple[dict[str, tuple[Any, Any]], ...]
    queries: int
    calls: int
    rounds: int

    @property
    def cd(self) -> Floats:
        """The counterfactual discrimination of the rows found."""
        return self.pairs.cd

    def largest(self, group: Any) -> float:
        """Return the largest discrimination found for a group; NaN where none was searched."""
        members = self.cd[self.pairs.codes == self.pairs.attribute.code_of(group)]
        return float(members.max()) if members.size else float("nan")

    def frame(self) -> pd.DataFrame:
        """Return one row per search: where it began, what it found, what it changed."""
        groups = self.pairs.attribute.groups
        return pd.DataFrame(
            {
                "start": self.start,
                "group": [group_name(groups[c]) for c in self.pairs.codes],
                "counterfactual": [group_name(groups[t]) for t in self.pairs.target],
                "start_cd": self.start_cd,
                "cd": self.cd,
                "score": self.pairs.score,
                "counterfactual_score": self.pairs.other,
                "changed": [len(c) for c in self.changes],
                "changes": [
                    "; ".join(f"{k}: {a} → {b}" for k, (a, b) in c.items()) for c in self.changes
                ],
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the search as plain data."""
        return {"queries": self.queries, "calls": self.calls, "found": plain(self.frame())}


def seek_tail(
    model: Any,
    X: Any,
    sensitive_features: Any = None,
    *,
    starts: int = 10,
    rounds: int = 30,
    queries: int = 200_000,
    max_changes: int | None = None,
    fixed: Sequence[Any] = (),
    one_hot: Sequence[Sequence[Any]] | None = None,
    favorable: Any = None,
    pairs: Pairs | None = None,
    random_state: int | np.random.Generator | None = 0,
    **where: Any,
) -> Found:
    """Search for people the model treats worse than any in the data.

    From the worst individuals of every group, every coordinate is tried in turn (all observed
    values of a category, quantiles and near values of a number) and the best change is kept;
    where no single change helps, random changes of a few coordinates at once, some of them
    borrowed from other people, are tried. No gradient is needed. All candidates of a round are
    scored in one call. Rows never leave the domain of the data: categories that occur, numbers
    between the smallest and the largest observed, whole where the data are whole. Whether such
    a *combination* occurs is another question: a row found here is a question put to the model,
    not a person.

    Parameters
    ----------
    model : estimator or callable
        As in ``tail``.
    X : table
        The rows to start from.
    sensitive_features
        As in ``flip``.
    starts : int, default 10
        How many rows of each group to start from, the worst first.
    rounds : int, default 30
        The most rounds.
    queries : int, default 200000
        The most rows to score.
    max_changes : int, optional
        The most coordinates in which a row may differ from its start.
    fixed : sequence of columns, optional
        Columns that stay as they are.
    one_hot : sequence of sequences of columns, optional
        Columns that encode one thing, or belong together as education and its number do: they
        take only the combinations observed.
    favorable : label, optional
        The label that is good to get.
    pairs : Pairs, optional
        The scores of ``X``, where they are known already.
    random_state : int or Generator, default 0
        The source of randomness.
    **where
        ``columns``, ``groups``, ``companions`` and ``against``, as in
        ``tail``.

    Returns
    -------
    Found

    Examples
    --------
    >>> X = pd.DataFrame({"sex": ["f", "m"] * 20, "skill": np.linspace(0, 1, 40)})
    >>> model = lambda X: 0.3 + 0.2 * (X["sex"] == "m") * X["skill"]
    >>> result = seek_tail(model, X, "sex", starts=2)
    >>> round(result.largest("f"), 3)
    0.2
    """
    if starts < 1 or rounds < 0 or queries < 1:
        raise InputError("starts and queries must be at least 1 and rounds at least 0.")
    scorer = model if isinstance(model, Scorer) else Scorer(model, favorable)
    against = where.pop("against", None)
    attribute, codes = Attribute.learn(X, sensitive_features, outside=scorer.takes_groups, **where)
    member = np.flatnonzero(codes >= 0)
    if pairs is None:
        pairs = score_pairs(
            scorer, take(X, member), attribute=attribute, codes=codes[member], against=against
        )
    calls, asked = scorer.calls, scorer.rows  # scoring the rows themselves is not searching
    start = _worst(pairs, starts)
    rng = make_rng(random_state)
    domain = Domain(X, one_hot=one_hot, fixed=[*fixed, *attribute.columns])
    climb = _Climb(scorer, domain, attribute, codes[member][start], against, max_changes, rng)
    climb.begin(take(X, member[start]), pairs, start)
    done = 0
    idle = 0
    while done < rounds and scorer.rows - asked < queries and idle < 2 and domain.coordinates:
        better = climb.round(climb.along_coordinates, queries - (scorer.rows - asked))
        better = better or climb.round(climb.jumps, queries - (scorer.rows - asked))
        idle = 0 if better else idle + 1
        done += 1
    order = np.argsort(-climb.best, kind="stable")
    rows = domain.decode(climb.points[order], take(climb.like, order))
    return Found(
        X=rows,
        pairs=Pairs(attribute, climb.codes[order], climb.scores[order], pairs.threshold),
        start=member[start][order],
        start_cd=pairs.cd[start][order],
        changes=climb.changes(rows, order),
        queries=scorer.rows - asked,
        calls=scorer.calls - calls,
        rounds=done,
    )


def _worst(pairs: Pairs, starts: int) -> Codes:
    """Return the worst rows of every group; the order of equals is that of the rows."""
    chosen = []
    for g in range(len(pairs.attribute.groups)):
        members = np.flatnonzero(pairs.codes == g)
        chosen.append(members[np.argsort(-pairs.cd[members], kind="stable")[:starts]])
    return np.concatenate(chosen)


@dataclass
class _Climb:
    """The state of a search: one point per start, with the best value so far."""

    scorer: Scorer
    domain: Domain
    attribute: Attribute
    codes: Codes
    against: Any
    max_changes: int | None
    rng: np.random.Generator

    def begin(self, like: Any, pairs: Pairs, start: Codes) -> None:
        self.like = like
        self.origin = self.domain.encode(like)
        self.points = self.origin.copy()
        self.best = pairs.cd[start].copy()
        self.scores = pairs.scores[start].copy()
        # other people to borrow from: a sample is enough, and keeps encoding cheap
        rows = self.domain.table.shape[0]
        some = self.rng.choice(rows, min(rows, 1000), replace=False)
        self.people = self.domain.encode(take(self.domain.table, some))

    def round(self, propose: Any, room: int) -> bool:
        """Propose candidates, score them in one call, keep what is better."""
        each = room // (max(1, len(self.points)) * len(self.attribute.groups))
        if each < 1:
            return False
        owner, points = propose(min(each, 2000))
        legal = self._legal(owner, points)
        owner, points = owner[legal], points[legal]
        if not owner.size:
            return False
        table = self.domain.decode(points, take(self.like, owner))
        result = score_pairs(
            self.scorer, table, attribute=self.attribute, codes=self.codes[owner],
            against=self.against, together=True,
        )  # fmt: skip
        order = np.lexsort((-result.cd, owner))
        first = order[np.unique(owner[order], return_index=True)[1]]
        winner = first[result.cd[first] > self.best[owner[first]] + 1e-12]
        improved = owner[winner]
        self.points[improved], self.best[improved] = points[winner], result.cd[winner]
        self.scores[improved] = result.scores[winner]
        return bool(winner.size)

    def _legal(self, owner: Codes, points: Floats) -> NDArray[np.bool_]:
        same = np.asarray(_equal(points, self.points[owner]).all(axis=1))
        if self.max_changes is None:
            return ~same
        moved = (~_equal(points, self.origin[owner])).sum(axis=1)
        return np.asarray(~same & (moved <= self.max_changes))

    def along_coordinates(self, each: int) -> tuple[Codes, Floats]:
        owner, where, value = [], [], []
        for i, point in enumerate(self.points):
            options = [
                (j, v)
                for j in range(len(self.domain.coordinates))
                for v in self.domain.proposals(j, float(point[j]), self.rng)
            ]
            if len(options) > each:
                kept = self.rng.choice(len(options), each, replace=False)
                options = [options[k] for k in kept]
            owner += [i] * len(options)
            where += [j for j, _ in options]
            value += [v for _, v in options]
        who = np.array(owner, dtype=np.intp)
        points = self.points[who].copy()
        points[np.arange(who.size), where] = value
        return who, points

    def jumps(self, each: int) -> tuple[Codes, Floats]:
        """Change two to four coordinates at once: from other people, other starts, or nearby."""
        each = min(each, 300)
        who = np.repeat(np.arange(len(self.points)), each)
        points = self.points[who].copy()
        size, width = points.shape
        few = self.rng.integers(2, 5, size=(size, 1))
        # the `few` smallest of random keys are the coordinates that change
        rank = np.argsort(np.argsort(self.rng.random((size, width)), axis=1), axis=1)
        change = rank < few
        people = self.people[self.rng.integers(len(self.people), size=size)]
        peers = self.points[self.rng.integers(len(self.points), size=size)]
        kind = self.rng.integers(3, size=(size, 1))
        fresh = np.where(kind == 0, peers, people)
        for j, c in enumerate(self.domain.coordinates):
            if c.kind != "values":
                step = self.rng.normal(0, 0.1 * (c.high - c.low), size)
                near = self.domain.clip(j, points[:, j] + step)
                fresh[:, j] = np.where(kind[:, 0] == 2, near, fresh[:, j])
        change &= ~np.isnan(fresh)
        return who, np.where(change, fresh, points)

    def changes(self, rows: Any, order: Codes) -> tuple[dict[str, tuple[Any, Any]], ...]:
        moved: NDArray[np.bool_] = np.logical_not(_equal(self.points[order], self.origin[order]))
        out = []
        for i in range(len(order)):
            what = {}
            for j in np.flatnonzero(moved[i]):
                c = self.domain.coordinates[j]
                before = _cell(self.like, int(order[i]), c.columns)
                what[c.name] = (before, _cell(rows, i, c.columns))
            out.append(what)
        return tuple(out)


def _equal(a: Floats, b: Floats) -> NDArray[np.bool_]:
    return np.asarray((a == b) | (np.isnan(a) & np.isnan(b)))


def _cell(X: Any, row: int, columns: tuple[int, ...]) -> Any:
    values = [np.asarray(get_column(take(X, [row]), p))[0] for p in columns]
    plain = [v.item() if isinstance(v, np.generic) else v for v in values]
    return plain[0] if len(plain) == 1 else tuple(plain)
