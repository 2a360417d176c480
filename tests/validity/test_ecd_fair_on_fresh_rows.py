"""Does what ECD-Fair finds on the rows it was given hold for rows it never saw?"""

import numpy as np
import pytest
from scipy import stats

from isonomy.mitigators import EcdFair
from isonomy.mitigators.ecd_fair import extreme
from isonomy.models import make_model

# None of these worlds was looked at while the method was written.
SEEDS = range(1000, 1010)


def world(seed: int, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels lean on the group, and a proxy of it is at hand."""
    rng = np.random.default_rng(seed)
    s = rng.integers(0, 2, n)
    skill, noise = rng.normal(size=n), rng.normal(size=n)
    proxy = 0.8 * s + rng.normal(size=n)
    y = (skill + 0.7 * s + 0.7 * noise > 0.3).astype(int)
    return np.column_stack([s, skill, proxy]), y, s


def gap(model: object, X: np.ndarray, s: np.ndarray) -> float:
    other = X.copy()
    other[:, 0] = 1 - X[:, 0]
    cd = model.predict_proba(other)[:, 1] - model.predict_proba(X)[:, 1]
    return abs(extreme(cd[s == 0]) - extreme(cd[s == 1]))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["lr", "rf"])
def test_the_worst_case_is_more_even_and_accuracy_is_kept_on_fresh_rows(name: str) -> None:
    gaps, accuracies = [], []
    for seed in SEEDS:
        X, y, s = world(seed, 2000)
        fresh, truth, groups = world(seed + 5000, 4000)
        base = make_model(name, random_state=seed)
        model = EcdFair(base, budget=25, sensitive_columns=[0], random_state=seed)
        model.fit(X, y, sensitive_features=s)
        base.fit(X, y)
        gaps.append((gap(base, fresh, groups), gap(model, fresh, groups)))
        accuracies.append((base.score(fresh, truth), model.score(fresh, truth)))
    before, after = np.transpose(gaps)
    assert stats.wilcoxon(before, after, alternative="greater").pvalue < 0.05
    # 0.01 may be given up on the held-out rows; choosing the best of 25 there costs a little more
    assert np.mean(np.diff(accuracies, axis=1)) > -0.02
