"""Columns that go with discrimination come first among the worst individuals' columns."""

import numpy as np
import pandas as pd
import pytest

from isonomy.counterfactual import tail
from isonomy.counterfactual.telling import explained


@pytest.fixture(scope="module")
def applicants() -> pd.DataFrame:
    """The columns that matter stand last in the file, behind a number and a name of each person."""
    rng = np.random.default_rng(5)
    n = 1500
    return pd.DataFrame(
        {
            "id": np.arange(n),
            "name": [f"person {i}" for i in range(n)],
            "sex": rng.choice(["f", "m"], n),
            "noise": rng.normal(size=n),
            "branch": rng.choice(["north", "south", "west"], n),
            "income": np.where(rng.random(n) < 0.1, np.nan, rng.normal(50, 10, n)),
        }
    )


def cost(X: pd.DataFrame) -> np.ndarray:
    """A model in which being a woman costs most in the middle of the incomes of one branch."""
    near = np.exp(-(((X["income"].fillna(80) - 50) / 5) ** 2))
    loss = 0.05 + 0.3 * (X["branch"] == "west") + 0.2 * near
    return np.asarray(0.9 - loss * (X["sex"] == "f"))


def test_the_columns_that_drive_it_come_first(applicants: pd.DataFrame) -> None:
    worst = tail(cost, applicants, "sex", worst=10).worst
    assert list(worst.columns[7:]) == ["branch", "income", "id", "name", "noise"]
    assert set(worst["branch"]) == {"west"}


def test_rows_of_other_groups_do_not_decide(applicants: pd.DataFrame) -> None:
    """Within the group of the worst: what only separates the groups tells nothing about them."""
    mixed = applicants.assign(title=np.where(applicants["sex"] == "f", "Ms", "Mr"))
    worst = tail(cost, mixed, "sex", worst=10).worst
    assert list(worst.columns[7:9]) == ["branch", "income"]


def test_the_share_explained_is_omega_squared() -> None:
    rng = np.random.default_rng(0)
    kind, values = rng.integers(0, 3, 200), rng.normal(size=200)
    values = values + kind
    between = sum(
        (kind == k).sum() * (values[kind == k].mean() - values.mean()) ** 2 for k in range(3)
    )
    total = ((values - values.mean()) ** 2).sum()
    noise = (total - between) / 197
    assert explained(kind, values) == pytest.approx((between - 2 * noise) / (total + noise))


def test_nothing_is_explained_by_names_constants_and_noise() -> None:
    values = np.random.default_rng(1).normal(size=300)
    assert explained([f"name {i}" for i in range(300)], values) == 0.0
    assert explained(np.ones(300), values) == 0.0
    assert explained(np.arange(300), np.zeros(300)) == 0.0
    assert explained(np.random.default_rng(2).normal(size=300), values) < 0.05
