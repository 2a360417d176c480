"""STEALTH: clusters as derived and as a plain loop makes them, and the surrogate."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from isonomy.errors import DegenerateOutputWarning, InputError
from isonomy.mitigators import Stealth
from isonomy.mitigators.stealth import bicluster

TINY = 1e-31


def halves(n: int, enough: int) -> list[int]:
    """Derive the leaf sizes from the rule alone: floor and the rest, until below enough."""
    if n < enough:
        return [n]
    return [*halves(n // 2, enough), *halves(n - n // 2, enough)]


@settings(max_examples=60, deadline=None)
@given(n=st.integers(4, 3000), seed=st.integers(0, 10**6))
def test_sizes_and_counts_as_derived(n, seed) -> None:
    rng = np.random.default_rng(seed)
    leaves = bicluster(rng.integers(0, 4, (n, 3)).astype(float), rng)
    enough = int(np.sqrt(n))
    assert [len(leaf) for leaf in leaves] == (halves(n, enough) if enough > 1 else [1] * n)
    assert sorted(np.concatenate(leaves)) == list(range(n))
    if n >= 16:
        assert np.sqrt(n) <= len(leaves) <= 2.5 * np.sqrt(n)


def test_the_size_of_the_published_study() -> None:
    """48 % of Adult's 45,222 rows: 256 leaves of 84 or 85."""
    sizes = halves(21_706, int(np.sqrt(21_706)))
    assert len(sizes) == 256
    assert set(sizes) == {84, 85}


def by_loop(X, rng, *, global_poles=False, truncate=False):
    """Cluster with one distance at a time, recursively."""
    rows = [[float(int(v)) if truncate else v for v in row] for row in X.tolist()]
    low = [min(column) for column in zip(*rows, strict=True)]
    high = [max(column) for column in zip(*rows, strict=True)]
    rows = [
        [(v - lo) / (hi - lo + TINY) for v, lo, hi in zip(row, low, high, strict=True)]
        for row in rows
    ]

    def distance(i, j):
        total = 0.0
        for a, b in zip(rows[i], rows[j], strict=True):
            total += abs(a - b)
        return round(total * 2**36) / 2**36

    def farthest(i, world):
        best = world[0]
        for j in world:
            if distance(i, j) > distance(i, best):
                best = j
        return best

    enough = int(len(rows) ** 0.5)

    def split(node):
        if len(node) < enough or len(node) < 2:
            return [node]
        world = list(range(len(rows))) if global_poles else node
        pivot = node[int(rng.integers(len(node)))]
        left = farthest(pivot, world)
        right = farthest(left, world)
        c = distance(left, right)

        def place(i):
            a, b = distance(i, right), distance(i, left)
            return (a**2 + c**2 - b**2) / (2 * c + TINY)

        order = sorted(node, key=place)
        half = len(node) // 2
        return [*split(order[:half]), *split(order[half:])]

    return split(list(range(len(rows))))


@pytest.mark.parametrize("options", [{}, {"global_poles": True, "truncate": True}])
@pytest.mark.parametrize("seed", range(6))
def test_clusters_are_those_of_the_plain_loop(seed: int, options) -> None:
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.random((150, 2)) * 5, rng.integers(0, 2, (150, 3))])
    mine = bicluster(X, np.random.default_rng(seed + 1), **options)
    loop = by_loop(X, np.random.default_rng(seed + 1), **options)
    assert [sorted(map(int, leaf)) for leaf in mine] == [sorted(leaf) for leaf in loop]


def test_cut_values_lose_what_lies_between_whole_numbers() -> None:
    """The slip: in data between 0 and 1 all distances are 0 and the order of rows decides."""
    X = np.random.default_rng(0).random((64, 3)) * 0.99
    leaves = bicluster(X, np.random.default_rng(0), truncate=True)
    assert [leaf.tolist() for leaf in leaves] == [list(range(i, i + 4)) for i in range(0, 64, 4)]


def case(seed=0, n=800):
    rng = np.random.default_rng(seed)
    s = rng.integers(0, 2, n)
    X = np.column_stack([s, rng.normal(size=(n, 3))])
    y = (X[:, 1] + 0.3 * s + rng.normal(0, 0.3, n) > 0.2).astype(int)
    return X, y, s


def test_the_surrogate_learns_from_answers_on_rows_the_model_never_saw() -> None:
    X, y, s = case()
    base = LogisticRegression(random_state=0)
    method = Stealth(base).fit(X, y, sensitive_features=s)
    asked = np.concatenate(method.leaves_)
    assert len(asked) == round(6 / 11 * len(y))
    others = np.setdiff1d(np.arange(len(y)), asked)
    model = LogisticRegression(random_state=0).fit(X[others], y[others])
    np.testing.assert_allclose(method.model_.coef_, model.coef_)
    for probe, leaf in zip(method.probes_, method.leaves_, strict=True):
        assert probe in leaf
    answers = model.predict(X[method.probes_])
    surrogate = LogisticRegression(random_state=0).fit(X[method.probes_], answers)
    np.testing.assert_array_equal(method.predict(X), surrogate.predict(X))


def test_as_published_mixes_scales() -> None:
    X, y, s = case(1)
    X[:, 1:] *= 2
    forest = RandomForestClassifier(20, random_state=0)
    method = Stealth(forest, protocol="as_published").fit(X, y, sensitive_features=s)
    asked = np.concatenate(method.leaves_)
    others = np.setdiff1d(np.arange(len(y)), asked)
    low, span = X[others].min(axis=0), np.ptp(X[others], axis=0)
    model = RandomForestClassifier(20, random_state=0).fit((X[others] - low) / span, y[others])
    answers = model.predict(X[method.probes_])  # unscaled, as released
    surrogate = RandomForestClassifier(random_state=0).fit(X[method.probes_], answers)
    np.testing.assert_array_equal(method.predict(X), surrogate.predict((X - low) / span))


def test_what_it_refuses() -> None:
    X, y, s = case(2)
    with pytest.raises(InputError, match="between 0 and 1"):
        Stealth(probe_share=1.0).fit(X, y, sensitive_features=s)
    with pytest.raises(InputError, match="more rows"):
        Stealth().fit(X[:6], np.array([0, 1, 0, 1, 0, 1]), sensitive_features=[0, 1] * 3)


def test_one_answer_makes_a_constant() -> None:
    X, y, s = case(3, 60)
    sure = LogisticRegression(C=1e-9, random_state=0)
    y[:] = 0
    y[:8] = 1
    with pytest.warns(DegenerateOutputWarning):
        method = Stealth(sure).fit(X, y, sensitive_features=s)
    assert set(method.predict(X)) == {0}
    np.testing.assert_array_equal(method.predict_proba(X)[:, 1], 0)
