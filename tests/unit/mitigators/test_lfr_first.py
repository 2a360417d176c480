"""LFR of AIF360 0.3 against its definition written out: sums, squares, forward differences."""

import numpy as np
import pytest

from isonomy.errors import InputError
from isonomy.mitigators import LearningFairRepresentations
from isonomy.mitigators._lfr_first import Parameters, first_objective

K = 3
TERMS = (0.01, 1.0, 50.0)


def written_out(
    vector: np.ndarray, X: np.ndarray, label: np.ndarray, s: np.ndarray
) -> tuple[float, np.ndarray]:
    """Return loss and transformed rows, row by row."""
    d = X.shape[1]
    of_group = {1: vector[:d], 0: vector[d : 2 * d]}
    scores, prototypes = vector[2 * d : 2 * d + K], vector[2 * d + K :].reshape(K, d)
    members, rebuilt = np.zeros((len(X), K)), np.zeros_like(X)
    moved = wrong = 0.0
    for i, x in enumerate(X):
        near = np.exp([-(((x - v) ** 2) * of_group[int(s[i])]).sum() for v in prototypes])
        members[i] = near / (near.sum() or 1e-6)
        rebuilt[i] = members[i] @ prototypes
        moved += ((x - rebuilt[i]) ** 2).sum()
        p = members[i] @ scores
        p = 1e-6 if p <= 0 else 0.999 if p >= 1 else p
        wrong -= label[i] * np.log(p) + (1 - label[i]) * np.log(1 - p)
    apart = np.abs(members[s == 0].mean(axis=0) - members[s == 1].mean(axis=0)).sum()
    return TERMS[0] * moved + TERMS[1] * wrong + TERMS[2] * apart, rebuilt


@pytest.fixture
def data() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4))
    X[7] = 100.0  # so far away that it belongs to no prototype
    return X, rng.integers(0, 2, 40), rng.integers(0, 2, 40)


@pytest.mark.parametrize("codes", [(0, 1), (1, 0), (2, 1)])
def test_loss_differences_and_mixtures_are_those_written_out(
    data: tuple[np.ndarray, np.ndarray, np.ndarray], codes: tuple[int, int]
) -> None:
    X, y, s = data
    start = np.random.default_rng(1).uniform(size=2 * 4 + K + K * 4)
    start[8] = 1.0  # at its bound: the difference leads beyond it
    label = np.asarray(codes, dtype=float)[y]
    value, gradient = first_objective(X, y, s, K, TERMS, codes)(start)
    known, rebuilt = written_out(start, X, label, s)
    assert value == pytest.approx(known, rel=1e-12)
    forward = np.array(
        [(written_out(start + 1e-5 * e, X, label, s)[0] - known) / 1e-5 for e in np.eye(len(start))]
    )
    np.testing.assert_allclose(gradient, forward, rtol=1e-6, atol=1e-4)
    np.testing.assert_allclose(Parameters(start, K).mixtures(X, s), rebuilt, atol=1e-12)


def test_it_needs_the_groups_to_predict_and_the_later_release_does_not(
    data: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    X, _, s = data
    y = (X[:, 0] > 0).astype(int)
    weak = {"Az": 0.1, "Ax": 0.0}  # so that not all rows become alike
    first = LearningFairRepresentations(
        release="0.3", protocol="as_published", privileged=1, favorable=1, **weak
    )
    first.fit(X, y, sensitive_features=s)
    with pytest.raises(InputError, match="needs the protected attribute"):
        first.predict(X)
    assert first.predict(X, sensitive_features=s).shape == y.shape
    first.set_params(release="0.4").fit(X, y, sensitive_features=s)
    assert first.predict(X).shape == y.shape


def test_an_unknown_release_is_refused(data: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    X, y, s = data
    with pytest.raises(InputError, match="release"):
        LearningFairRepresentations(release="0.5").fit(X, y, sensitive_features=s)
