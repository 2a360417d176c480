"""The search for subgroups beside AIF360's (MDSS)."""

import numpy as np
from peers import measure
from table import Row, faster
from timing import cpu_seconds

__all__ = ["TITLE", "rows"]

TITLE = "Part 17: the search for subgroups"
ROWS, COLUMNS, VALUES, DEPTH, PERMUTATIONS = 5000, 8, 4, 3, 999


def rows() -> list[Row]:
    """Search 5,000 rows for a planted group, with and without p-values."""
    from isonomy.audit import scan
    from isonomy.stats.conjunctions import departures, literals_of, members

    rng = np.random.default_rng(1)
    columns = rng.integers(0, VALUES, (ROWS, COLUMNS))
    inside = (columns[:, 0] == 1) & (columns[:, 3] == 2)
    hits = (rng.random(ROWS) < np.where(inside, 0.5, 0.3)).astype(int)

    def search() -> np.ndarray:
        cells, place = np.unique(columns, axis=0, return_inverse=True)
        n, of = (np.bincount(place, w)[:, None] for w in (np.ones(ROWS), hits))
        found = departures(cells, n, of, depth=DEPTH, permutations=0, rng=rng)
        first = np.abs(found.statistic).argmax()
        return members(found.conditions[[first]], literals_of(cells)[0], cells)[0][place]

    def whole() -> list[str]:
        named = {str(j): columns[:, j] for j in range(COLUMNS)}
        found = scan(None, hits, sensitive_features=named, permutations=PERMUTATIONS)
        return [f.group for f in found.findings]

    ours, best = cpu_seconds(search)
    assert (best == inside).all()
    with_p, groups = cpu_seconds(whole)
    assert groups == ["0 = 1 & 3 = 2"]
    peer, _ = measure("aif360", "subgroup_scan", {"columns": columns, "hits": hits}, repeat=1)
    job = f"{ROWS:,} rows, {COLUMNS} columns of {VALUES} values"
    return [
        faster(
            f"the group that departs most, {job}", "AIF360 bias_scan, both directions", ours, peer,
            100, "ours finds the planted group; the peer's unions of values, ten starts",
        ),
        faster(
            f"the same with p-values of {PERMUTATIONS} permutations",
            "AIF360 bias_scan, both directions", with_p, (1 + PERMUTATIONS) * peer, 100,
            f"the peer's one search times {1 + PERMUTATIONS:,}; from raw columns to findings",
        ),
        faster(
            "a whole scan with p-values beside one search without",
            "AIF360 bias_scan, both directions", with_p, peer, None, "not the same job",
        ),
    ]  # fmt: skip
