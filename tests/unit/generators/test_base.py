"""Generators without torch: the domain, conditions, and what each one draws."""

import numpy as np
import pandas as pd
import pytest

from isonomy.errors import InputError, NotApplicable, UnknownName
from isonomy.generators import GENERATORS, BaseGenerator, make_generator
from isonomy.generators.columns import Columns

LIGHT = ["independent", "bootstrap_noise"]


@pytest.fixture
def people() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    n = 400
    sex = rng.choice(["F", "M"], n, p=[0.3, 0.7])
    return pd.DataFrame(
        {
            "sex": pd.Categorical(sex),
            "job": rng.choice(["a", "b", "c", None], n, p=[0.5, 0.3, 0.1, 0.1]),
            "grade": rng.integers(1, 6, n),
            "age": rng.integers(18, 80, n).astype(np.int16),
            "pay": rng.normal(10, 2, n) + 3 * (sex == "M"),
            "member": rng.random(n) < 0.5,
        },
        index=np.arange(1000, 1000 + n),
    )


def in_domain(rows: pd.DataFrame, people: pd.DataFrame) -> None:
    pd.testing.assert_series_equal(rows.dtypes, people.dtypes)
    for name in ("sex", "grade", "member"):
        assert set(rows[name]) <= set(people[name])
    assert set(rows["job"].dropna()) <= {"a", "b", "c"}
    for name in ("age", "pay"):
        assert rows[name].between(people[name].min(), people[name].max()).all()


@pytest.mark.parametrize("name", LIGHT)
def test_rows_are_in_the_domain(name: str, people: pd.DataFrame) -> None:
    generator = make_generator(name).fit(people)
    rows = generator.sample(500, 1)
    assert len(rows) == 500
    in_domain(rows, people)
    assert rows["job"].isna().any(), "missing is a value too"
    pd.testing.assert_frame_equal(rows, generator.sample(500, np.random.default_rng(1)))
    assert not rows.equals(generator.sample(500, 2))
    assert generator.sample(0, 1).shape == (0, people.shape[1])


@pytest.mark.parametrize("name", LIGHT)
def test_a_condition_is_kept(name: str, people: pd.DataFrame) -> None:
    rows = make_generator(name).fit(people).sample(300, 1, condition={"sex": "F", "grade": 2})
    assert set(rows["sex"]) == {"F"}
    assert set(rows["grade"]) == {2}
    in_domain(rows, people)


def test_uniform_draws_give_every_value_the_same_chance(people: pd.DataFrame) -> None:
    rows = make_generator("rnd").fit(people).sample(30_000, 3)
    assert abs((rows["sex"] == "F").mean() - 0.5) < 0.015
    np.testing.assert_allclose(rows["grade"].value_counts(normalize=True), 0.2, atol=0.015)
    share = rows["age"].value_counts(normalize=True)
    assert len(share) == people["age"].max() - people["age"].min() + 1
    # 62 values: a share of 0.016 with a deviation of 0.0007; rounding would halve the two ends
    np.testing.assert_allclose(share, 1 / len(share), atol=0.004)
    middle = (people["pay"].min() + people["pay"].max()) / 2
    assert abs((rows["pay"] < middle).mean() - 0.5) < 0.015


def test_marginals_are_kept_and_ties_between_columns_are_not(people: pd.DataFrame) -> None:
    generator = make_generator("independent", by="marginals").fit(people)
    rows = generator.sample(20_000, 3)
    assert abs((rows["sex"] == "F").mean() - (people["sex"] == "F").mean()) < 0.015
    by_sex = rows.groupby("sex", observed=True)["pay"].mean()
    assert abs(by_sex["M"] - by_sex["F"]) < 0.2
    women = generator.sample(20_000, 3, condition={"sex": "F"})
    expected = people.loc[people["sex"] == "F", "pay"].mean()
    assert abs(women["pay"].mean() - expected) < 0.1, "marginals of the group"


def test_noise_is_a_share_of_each_columns_own(people: pd.DataFrame) -> None:
    generator = make_generator("bootstrap_noise", noise=0.2, replace=0.0).fit(people)
    drawn = generator.columns_.points(generator.sample(2000, 4))
    known = generator.columns_.points(people)
    # rows are recognised by what has no noise and by the nearest pay
    near = np.array([np.abs(known[:, 4] - row[4]).min() for row in drawn])
    assert near.max() < 0.2 * people["pay"].std() * 5
    assert not np.isin(drawn[:, 4], known[:, 4]).all()
    whole = make_generator("bootstrap_noise", noise=0.0, replace=1.0).fit(people)
    rows = whole.sample(20_000, 4)
    assert abs((rows["sex"] == "F").mean() - (people["sex"] == "F").mean()) < 0.015
    for sex in ("F", "M"):  # exchanged values do not hang together any more
        share = (rows.loc[rows["sex"] == sex, "member"]).mean()
        assert abs(share - people["member"].mean()) < 0.03


def test_refusals(people: pd.DataFrame) -> None:
    with pytest.raises(UnknownName, match="did you mean 'independent'"):
        make_generator("independant")
    with pytest.raises(InputError, match="must be fitted"):
        make_generator("independent").sample(1)
    with pytest.raises(InputError, match="pandas frame that holds rows"):
        make_generator("independent").fit(people.iloc[:0])
    with pytest.raises(UnknownName, match="did you mean 'job'"):
        make_generator("independent").fit(people, discrete=["jobs"])
    fitted = make_generator("bootstrap_noise").fit(people)
    with pytest.raises(InputError, match="on a discrete column; 'age' holds numbers"):
        fitted.sample(1, condition={"age": 30})
    with pytest.raises(UnknownName, match="value of sex"):
        fitted.sample(1, condition={"sex": "X"})
    with pytest.raises(InputError, match="must be at least 0; got -1"):
        fitted.sample(-1)
    with pytest.raises(InputError, match="noise must not be negative"):
        make_generator("bootstrap_noise", noise=-1).fit(people)
    with pytest.raises(UnknownName, match="did you mean 'marginals'"):
        make_generator("independent", by="marginal").fit(people)
    holes = people.assign(pay=people["pay"].where(people["pay"] > 10))
    with pytest.raises(InputError, match="'pay' holds missing"):
        make_generator("independent").fit(holes)
    assert make_generator("independent").fit(holes, discrete=["pay"]).sample(9, 1).shape == (9, 6)
    never = people[(people["sex"] == "M") | (people["grade"] != 2)]
    with pytest.raises(NotApplicable, match="No row that was seen"):
        make_generator("bootstrap_noise").fit(never).sample(1, condition={"sex": "F", "grade": 2})


def test_a_condition_that_a_model_hardly_ever_fulfils(people: pd.DataFrame) -> None:
    class Stubborn(GENERATORS["independent"]):  # type: ignore[name-defined,misc]
        draw = BaseGenerator.draw

        def propose(self, n, rng, condition):
            return BaseGenerator.propose(self, n, rng, condition) if n < 0 else np.zeros((n, 6))

    with pytest.raises(NotApplicable, match="hardly ever draws sex = 'M': 0 rows of the 3 asked"):
        Stubborn().fit(people).sample(3, 1, condition={"sex": "M"})
    assert len(Stubborn().fit(people).sample(3, 1, condition={"sex": "F"})) == 3


def test_the_order_of_the_rows_does_not_matter_to_the_codes(people: pd.DataFrame) -> None:
    one, other = Columns(people), Columns(people.sample(frac=1, random_state=1))
    for a, b in zip(one, other, strict=True):
        assert a.values.equals(b.values)
    unseen = people.assign(job="new")
    assert np.isnan(one.points(unseen)[:, 1]).all()
    with pytest.raises(UnknownName, match="column"):
        one.points(people.drop(columns="age"))
