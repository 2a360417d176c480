"""CTGAN: what rows are asked for, what is learnt, and the generator's contract."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from isonomy.errors import InputError
from isonomy.generators import Ctgan, make_generator, quality
from isonomy.generators.columns import Columns
from isonomy.generators.ctgan import Asking
from isonomy.generators.modes import Encoding

needs_torch = pytest.mark.torch


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch", reason="the extra torch is not installed")


def make_people(n: int, seed: int = 5) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    sex = rng.choice(["F", "M"], n, p=[0.3, 0.7])
    job = np.where(rng.random(n) < 0.02, "pilot", np.where(sex == "F", "nurse", "cook"))
    return pd.DataFrame(
        {
            "sex": sex,
            "job": job,
            "age": rng.integers(18, 80, n),
            "pay": rng.normal(10, 1, n) + 6.0 * (sex == "M"),
        }
    )


def asking(n: int = 3000) -> tuple[Asking, np.ndarray]:
    people = make_people(n)
    columns = Columns(people)
    points = columns.points(people)
    encoding = Encoding(columns, points)
    _, chosen = encoding.encode(points, np.random.default_rng(0))
    return Asking(encoding, chosen), points


def test_training_asks_by_the_logarithm_of_the_frequency() -> None:
    asked, points = asking()
    (column, value), rows = asked.train(20_000, np.random.default_rng(1))
    assert abs((column == 0).mean() - 0.5) < 0.015
    held = points[rows][np.arange(20_000), column]
    np.testing.assert_array_equal(held, value, "every row holds what is asked of it")
    jobs = np.bincount(value[column == 1], minlength=3) / (column == 1).sum()
    weight = np.log1p(np.bincount(points[:, 1].astype(int)))
    np.testing.assert_allclose(jobs, weight / weight.sum(), atol=0.015)
    assert jobs[2] > 0.1, "pilots are 2 % of the rows and more of what is asked"
    pilots = rows[(column == 1) & (value == 2)]
    assert len(np.unique(pilots)) > 0.9 * (points[:, 1] == 2).sum(), "any of the rows"


def test_drawing_asks_by_the_frequency_or_the_condition() -> None:
    asked, points = asking()
    column, value = asked.draw(20_000, np.random.default_rng(1), {})
    jobs = np.bincount(value[column == 1], minlength=3) / (column == 1).sum()
    np.testing.assert_allclose(jobs, np.bincount(points[:, 1].astype(int)) / 3000, atol=0.015)
    column, value = asked.draw(1000, np.random.default_rng(1), {0: 1, 1: 2})
    assert set(zip(column.tolist(), value.tolist(), strict=True)) == {(0, 1), (1, 2)}
    vector = asked.vector(column, value)
    assert vector.shape == (1000, 5)
    np.testing.assert_array_equal(vector.sum(axis=1), 1)
    np.testing.assert_array_equal(vector[:, 1] == 1, column == 0)
    np.testing.assert_array_equal(vector[:, 4] == 1, column == 1)


@pytest.fixture(scope="module")
def fitted() -> Ctgan:
    pytest.importorskip("torch", reason="the extra torch is not installed")
    return Ctgan(hidden=64, latent=32, n_epochs=60, batch_size=200, learning_rate=0.001).fit(
        make_people(2000)
    )


@needs_torch
def test_rows_are_in_the_domain_and_hang_together(fitted: Ctgan) -> None:
    people = make_people(2000)
    rows = fitted.sample(2000, 2)
    pd.testing.assert_series_equal(rows.dtypes, people.dtypes)
    for name in ("age", "pay"):
        assert rows[name].between(people[name].min(), people[name].max()).all()
    assert set(rows["job"]) <= {"cook", "nurse", "pilot"}
    by_sex = rows.groupby("sex")["pay"].mean()
    assert by_sex["M"] - by_sex["F"] > 3, "the pay of both groups is learnt"
    better = quality(people, rows)
    worse = quality(people, make_generator("independent").fit(people).sample(2000, 2))
    assert better.fid < worse.fid
    assert better.kl > worse.kl


@needs_torch
def test_conditions_seeds_and_copies(fitted: Ctgan) -> None:
    pilots = fitted.sample(300, 3, condition={"job": "pilot", "sex": "F"})
    assert set(pilots["job"]) == {"pilot"}
    assert set(pilots["sex"]) == {"F"}
    copy = pickle.loads(pickle.dumps(fitted))
    pd.testing.assert_frame_equal(
        pilots, copy.sample(300, 3, condition={"job": "pilot", "sex": "F"})
    )
    assert not fitted.sample(50, 1).equals(fitted.sample(50, 2))


@needs_torch
@pytest.mark.parametrize("columns", [["sex", "job", "pay"], ["age", "pay"], ["sex", "job"]])
def test_fitting_repeats_itself_on_any_kind_of_table(torch: Any, columns: list[str]) -> None:
    people = make_people(300)[columns]
    small = Ctgan(hidden=8, latent=4, n_epochs=2, batch_size=100, random_state=3)
    torch.manual_seed(1)
    before = torch.get_rng_state()
    one, two = (clone(small).fit(people).sample(50, 1) for _ in range(2))
    pd.testing.assert_frame_equal(one, two)
    assert torch.equal(before, torch.get_rng_state())
    other = clone(small).set_params(random_state=4).fit(people).sample(50, 1)
    assert not one.equals(other)


@needs_torch
def test_fewer_rows_than_a_batch(torch: Any) -> None:
    rows = Ctgan(hidden=8, latent=4, n_epochs=1).fit(make_people(25)).sample(5, 1)
    assert len(rows) == 5


def test_settings_that_cannot_be() -> None:
    with pytest.raises(InputError, match="pac must be at least 1; got 0"):
        Ctgan(pac=0).fit(make_people(50))
