"""The search of all conjunctions, beside counting by hand and by brute force."""

from itertools import combinations, product

import numpy as np
import pytest
from scipy.stats import hypergeom

from isonomy.stats.conjunctions import (
    departures,
    members,
    permuted_hits,
    signed_roots,
    telling,
)


def table(
    seed: int = 0, cells: int = 60, strata: int = 2
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    codes = np.unique(rng.integers(-1, 3, (cells, 4)), axis=0)
    rows = rng.integers(0, 30, (len(codes), strata)).astype(float)
    return codes, rows, np.floor(rows * rng.random(rows.shape))


def test_every_conjunction_is_searched_once_and_counted_right() -> None:
    codes, rows, hits = table()
    rng = np.random.default_rng(0)
    found = departures(codes, rows, hits, depth=3, fewest=30, permutations=99, rng=rng)
    seen = {}
    for conditions, size in zip(found.conditions, found.rows, strict=True):
        values = found.literals[conditions[conditions >= 0]]
        seen[tuple(map(tuple, values.tolist()))] = size
    assert len(seen) == len(found.rows)
    expected = {}
    for k in (1, 2, 3):
        for columns in combinations(range(4), k):
            for values in product(range(3), repeat=k):
                inside = (codes[:, columns] == values).all(axis=1)
                size = rows[inside].sum()
                if 30 <= size <= rows.sum() - 30:
                    expected[tuple(zip(columns, values, strict=True))] = size
    assert seen == expected
    inside = members(found.conditions, found.literals, codes)
    by_hand = signed_roots(
        inside @ hits.sum(axis=1, keepdims=True), inside @ rows, rows.sum(axis=0), hits.sum(axis=0)
    )[:, 0]
    np.testing.assert_allclose(found.statistic, by_hand, atol=1e-9)


def test_permutations_are_those_of_rows_whatever_is_held_at_once(monkeypatch) -> None:
    codes, rows, hits = table()
    known = departures(codes, rows, hits, permutations=200, rng=np.random.default_rng(3))
    inside = members(known.conditions, known.literals, codes)
    drawn = permuted_hits(rows, hits, 200, np.random.default_rng(3))
    roots = signed_roots(inside @ drawn, inside @ rows, rows.sum(axis=0), hits.sum(axis=0))
    by_hand = [np.abs(roots[known.values == k]).max(axis=0) for k in (1, 2, 3)]
    np.testing.assert_allclose(known.farthest, by_hand, atol=1e-6)
    monkeypatch.setattr("isonomy.stats.conjunctions._JUDGED", 5000)
    pieces = departures(codes, rows, hits, permutations=200, rng=np.random.default_rng(3))
    np.testing.assert_allclose(known.farthest, pieces.farthest)
    assert sorted(known.rows) == sorted(pieces.rows)
    monkeypatch.setattr("isonomy.stats.conjunctions._HELD", 40 * len(codes))
    fewer = departures(codes, rows, hits, permutations=200, rng=np.random.default_rng(3))
    np.testing.assert_allclose(np.sort(fewer.rows), np.sort(known.rows))
    assert (fewer.farthest > 0).all()


@pytest.mark.parametrize("some", [3, 40, 97])
def test_permuted_hits_are_hypergeometric_within_strata(some: int) -> None:
    rows = np.array([[40.0, 0.0], [60.0, 5.0], [0.0, 5.0]])
    hits = np.array([[min(some, 40.0), 0.0], [max(some - 40.0, 0.0), 5.0], [0.0, 0.0]])
    drawn = permuted_hits(rows, hits, 20_000, np.random.default_rng(0))
    assert (drawn.sum(axis=0) == some + 5).all()
    assert (drawn <= rows.sum(axis=1)[:, None]).all()
    law = hypergeom(100, some, 40)
    assert drawn[0].mean() == pytest.approx(law.mean(), abs=4 * law.std() / 140)
    assert drawn[0].var() == pytest.approx(law.var(), rel=0.05)
    assert drawn[2].mean() == pytest.approx(2.5, abs=0.05)


def test_the_statistic_is_standard_and_follows_the_likelihood() -> None:
    law = hypergeom(400, 100, 120)
    hits = np.arange(0, 101.0)[None]
    roots = signed_roots(hits, np.array([[120.0]]), np.array([400.0]), np.array([100.0]))[0]
    assert (np.diff(roots) > 0).all()
    assert (law.pmf(hits[0]) * roots**2).sum() == pytest.approx(1.0, abs=0.02)
    expected = np.array([[30.0, 90.0], [70.0, 210.0]])
    seen = np.array([[45.0, 75.0], [55.0, 225.0]])
    deviance = 2 * (seen * np.log(seen / expected)).sum()
    assert roots[45] ** 2 == pytest.approx(deviance * 399 / 400, rel=1e-9)


def test_rare_hits_do_not_look_farther_than_they_are() -> None:
    law = hypergeom(10_000, 200, 30)  # 0.6 hits expected
    root = signed_roots(np.array([[4.0]]), np.array([[30.0]]), np.array([1e4]), np.array([200.0]))
    as_normal = (4 - 0.6) / law.std()
    assert as_normal > 4.3
    assert root[0, 0] == pytest.approx(2.9, abs=0.1)


def test_nothing_to_compare_is_no_departure() -> None:
    everybody = signed_roots(np.array([[5.0]]), np.array([[9.0]]), np.array([9.0]), np.array([5.0]))
    no_hits = signed_roots(np.array([[0.0]]), np.array([[4.0]]), np.array([9.0]), np.array([0.0]))
    assert everybody.item() == no_hits.item() == 0.0
    found = departures(
        np.zeros((1, 1), int), np.array([[40.0]]), np.array([[9.0]]), rng=np.random.default_rng(0)
    )
    assert found.rows.size == 0
    assert found.farthest.max() == -np.inf


def test_p_values_and_the_critical_value_agree() -> None:
    codes, rows, hits = table(strata=1)
    found = departures(codes, rows, hits, permutations=199, rng=np.random.default_rng(1))
    critical = found.critical(0.05)
    assert found.p_values(np.array([critical]))[0] <= 0.05
    assert found.p_values(np.array([critical - 1e-3]))[0] > 0.05
    assert found.critical(0.001) == np.inf


def test_a_group_is_judged_beside_groups_of_as_many_values() -> None:
    codes, rows, hits = table(strata=1)
    found = departures(codes, rows, hits, permutations=199, rng=np.random.default_rng(1))
    assert found.usual[1] > found.usual[0]  # there are more pairs, and the farthest is farther
    own = [np.abs(found.statistic[found.values == k]).max() for k in (1, 2, 3)]
    every = np.sort(np.column_stack([found.farthest, own]), axis=1)
    np.testing.assert_allclose(found.usual, every[:, 160])  # 160 of 200 lie below
    first = found.excess.argmax()
    beyond = (found.farthest - found.usual[:, None]).max(axis=0) >= found.excess[first]
    assert found.p_values()[first] == (1 + beyond.sum()) / 200


def test_depths_without_groups_count_for_nothing() -> None:
    codes, rows, hits = np.array([[0], [1]]), np.full((2, 1), 100.0), np.array([[20.0], [60.0]])
    rng = np.random.default_rng(0)
    deep, flat = (departures(codes, rows, hits, depth=d, permutations=99, rng=rng) for d in (3, 1))
    assert (deep.farthest[1:] == -np.inf).all()
    assert deep.p_values().tolist() == flat.p_values().tolist() == [0.01, 0.01]


def planted(inside: dict[tuple[int, int], float]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return cells of three columns, whose shares are 0.2, and more where conditions say so."""
    codes = np.array(list(product(range(3), repeat=3)))
    share = np.full(len(codes), 0.2)
    for (column, value), more in inside.items():
        share += more * (codes[:, column] == value)
    rows = np.full((len(codes), 1), 500.0)
    return codes, rows, np.round(rows * share[:, None])


def listed(codes: np.ndarray, rows: np.ndarray, hits: np.ndarray) -> list[list[list[int]]]:
    found = departures(codes, rows, hits, rng=np.random.default_rng(0))
    told = telling(found, codes, rows, hits, found.critical(0.05))
    return [found.literals[c[c >= 0]].tolist() for c in found.conditions[told]]


def test_a_child_that_adds_nothing_is_not_listed() -> None:
    assert listed(*planted({(0, 0): 0.2})) == [[[0, 0]]]


def test_a_parent_that_departs_by_its_child_alone_is_not_listed() -> None:
    codes, rows, hits = planted({})
    hits[(codes[:, 0] == 0) & (codes[:, 1] == 0)] *= 2
    assert listed(codes, rows, hits) == [[[0, 0], [1, 0]]]


def test_a_parent_that_departs_without_its_child_is_listed_after_it() -> None:
    codes, rows, hits = planted({(0, 0): 0.15})
    hits[(codes[:, 0] == 0) & (codes[:, 1] == 0)] *= 2
    assert listed(codes, rows, hits) == [[[0, 0], [1, 0]], [[0, 0]]]


def test_two_groups_are_listed_and_not_what_they_share() -> None:
    assert sorted(listed(*planted({(0, 0): 0.15, (1, 1): -0.15}))) == [[[0, 0]], [[1, 1]]]


def test_of_two_halves_that_mirror_each_other_one_is_listed() -> None:
    codes = np.array([[0], [1]])
    rows, hits = np.array([[300.0], [500.0]]), np.array([[100.0], [90.0]])
    assert listed(codes, rows, hits) == [[[0, 0]]]
