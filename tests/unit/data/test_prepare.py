"""Preparations: columns by hand, nothing learned from test rows, attributes that can be flipped."""

import pickle

import numpy as np
import pandas as pd
import pytest

from isonomy.data import Dataset, encode, load, make_splits, prepare, rows_of
from isonomy.data.frames import make_transformer, one_hot
from isonomy.data.splits import Split
from isonomy.errors import InputError, UnknownName
from tests.contract.test_datasets import home_credit_file
from tests.registry import real


def toy(n: int = 120) -> Dataset:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "sex": rng.choice(["f", "m"], n),
            "town": rng.choice(["a", "b", "c"], n),
            "member": rng.random(n) < 0.5,
            "pay": rng.normal(size=n),
            "y": rng.integers(0, 2, n),
        }
    )
    frame.loc[0, "town"] = None
    frame.loc[1, "pay"] = np.nan
    frame.loc[2, "sex"] = None
    return Dataset.from_frame(frame, label="y", sensitive_features="sex", privileged="m")


def halves(data: Dataset) -> Split:
    n = len(data)
    return Split(data.name, 0, 0, np.arange(0, n // 2), np.arange(n // 2, n))


def test_one_hot_by_hand() -> None:
    frame = pd.DataFrame(
        {
            "c": pd.Categorical(["b", None, "a"], categories=["a", "b", "never"]),
            "x": [1.5, 2.5, 3.5],
            "k": pd.Categorical([7, 7, -1]),
        }
    )
    matrix, names = one_hot(frame)
    assert names == ("x", "c=a", "c=b", "k=-1", "k=7")
    assert matrix.tolist() == [[1.5, 0, 1, 0, 1], [2.5, 0, 0, 0, 1], [3.5, 1, 0, 1, 0]]


def test_default_codes_imputes_and_scales_on_training_rows_only() -> None:
    data = toy()
    split = halves(data)
    ready = prepare(data, attribute="sex", split=split)
    assert ready.feature_names[:1] == ("sex",)
    assert {"age", "pay", "town=a"} <= set(ready.feature_names)
    assert len(ready.train) == 59  # one row of unknown sex is left out
    pay = ready.feature_names.index("pay")
    raw = data.X["pay"].to_numpy()[ready.train.rows]
    filled = np.where(np.isnan(raw), np.nanmedian(raw), raw)
    np.testing.assert_allclose(ready.X_train[:, pay], (filled - filled.mean()) / filled.std())
    later = data.X["pay"].to_numpy()[ready.test.rows]
    np.testing.assert_allclose(ready.X_test[:, pay], (later - filled.mean()) / filled.std())
    np.testing.assert_array_equal(ready.X_train[:, 0], ready.s_train)


def test_default_once_learns_medians_and_levels_from_all_rows_and_serves_every_split() -> None:
    data = toy()
    encoded = encode(data, "default_once", attribute="sex")
    (first, second) = (encoded.at(split, "sex") for split in make_splits(data, 2))
    assert first.feature_names == second.feature_names
    plain = encode(data, attribute="sex").at(make_splits(data, 1)[0], "sex")
    assert first.feature_names == plain.feature_names
    assert np.abs(first.X_train - plain.X_train).max() < 0.5
    assert not np.isnan(first.X_test).any()


def test_default_meets_a_category_that_training_never_saw() -> None:
    data = toy()
    town = data.X["town"].to_numpy(dtype=object).copy()
    town[100:] = "new"
    data = Dataset(data.name, data.X.assign(town=town), data.y, 1, data.sensitive, data.privileged)
    ready = prepare(data, attribute="sex", split=halves(data))
    columns = [i for i, n in enumerate(ready.feature_names) if n.startswith("town=")]
    assert np.isfinite(ready.X_test).all()
    new = ready.test.frame["town"].to_numpy() == "new"
    assert new.sum() == 20
    # Rare and unknown share a column where there is one; else the row has none.
    assert (ready.X_test[np.ix_(new, columns)].sum(axis=1) <= 1).all()


def test_the_transformer_is_a_plain_one() -> None:
    data = toy().take(toy().known("sex"))
    frame = encode(data).frame
    transformer = make_transformer(frame).fit(frame)
    again = pickle.loads(pickle.dumps(transformer))
    np.testing.assert_array_equal(transformer.transform(frame), again.transform(frame))


def test_flipping_twice_gives_the_same_and_once_changes_one_column() -> None:
    data = real("german")
    split = make_splits(data)[0]
    for recipe in ("default", "chen", "fairea", "coarse", "evt", "kaggle40"):
        ready = prepare(data, recipe, attribute="age", split=split)
        once = ready.flipped(ready.X_test)
        changed = once != ready.X_test
        assert changed[:, ready.sensitive_column].all()
        assert changed.sum() == len(ready.test)
        np.testing.assert_allclose(ready.flipped(once), ready.X_test, atol=1e-12)
        low, high = ready.values["age"]
        np.testing.assert_allclose(once[ready.s_test == 1, ready.sensitive_column], low)
        np.testing.assert_allclose(once[ready.s_test == 0, ready.sensitive_column], high)
        assert "sex" in ready.columns


def test_the_attribute_replaces_its_source() -> None:
    names = prepare(
        real("german"), attribute="sex", split=make_splits(real("german"))[0]
    ).feature_names
    assert not any(n.startswith("personal_status") for n in names)
    names = prepare(
        real("meps"), attribute="race", split=make_splits(real("meps"))[0]
    ).feature_names
    assert not any(n.startswith(("RACEV2X", "HISPANX", "SEX")) for n in names)


def test_scaling_is_fitted_on_training_rows_only() -> None:
    data = real("german")
    split = make_splits(data, splitter="chen")[0]
    encoded = encode(data, "chen")
    ready = encoded.at(split, "sex")
    assert encoded.matrix is not None
    raw = encoded.matrix[split.train]
    np.testing.assert_allclose(
        ready.X_test, (encoded.matrix[split.test] - raw.min(0)) / np.ptp(raw, axis=0), atol=1e-12
    )
    ready = encode(data, "fairea").at(split, "sex")
    used = raw.std(0) > 0
    np.testing.assert_allclose(ready.X_train[:, used].mean(0), 0, atol=1e-12)
    np.testing.assert_allclose(ready.X_train[:, used].std(0), 1)


def test_encode_once_is_prepare_often() -> None:
    data = real("compas")
    encoded = encode(data, "chen")
    for split in make_splits(data, 2, splitter="chen", rows=encoded.rows):
        direct = prepare(data, "chen", attribute="race", split=split)
        np.testing.assert_array_equal(encoded.at(split, "race").X_test, direct.X_test)
        np.testing.assert_array_equal(direct.test.rows, split.test)


def test_rows_that_the_recipe_drops_are_left_out_of_a_split() -> None:
    data = real("adult")
    split = make_splits(data)[0]  # over all 48,842 rows
    ready = prepare(data, "chen", attribute="sex", split=split)
    assert len(ready.train) + len(ready.test) == 45_222
    assert set(ready.test.rows) <= set(split.test)


def test_kaggle40_s_hooks() -> None:
    german = real("german")
    names = encode(german, "kaggle40").names
    assert {"status=<200", "savings=500+", "employment=4+ years"} <= set(names)
    kept = encode(german, "kaggle40", keep=["credit_amount", "month"]).names
    numbers = [n for n in kept if "=" not in n]
    assert numbers == ["month", "credit_amount", "age", "sex"]
    assert [n for n in kept if "=" in n] == [n for n in names if "=" in n]

    adult = real("adult")
    assert "fnlwgt" not in encode(adult, "kaggle40").names
    dropped = encode(adult, "kaggle40", drop=["native-country", "hours-per-week"])
    assert "fnlwgt" in dropped.names  # AIF360's own list of what to drop is overridden
    assert not any(n.startswith("native-country") for n in dropped.names)
    scaled = prepare(
        adult,
        "kaggle40",
        attribute="race",
        split=make_splits(adult, splitter="aif360", rows=dropped.rows)[0],
        drop=["fnlwgt"],
        scale="standard",
    )
    np.testing.assert_allclose(scaled.X_train.mean(0), 0, atol=1e-9)
    with pytest.raises(UnknownName, match="did you mean 'education-num'"):
        encode(adult, "kaggle40", drop=["education.num"])


def test_kaggle40_of_titanic_is_codes() -> None:
    titanic = real("titanic")
    encoded = encode(titanic, "kaggle40")
    assert encoded.names == (
        "Age",
        "Age_invalid",
        "Fare",
        "Fare_invalid",
        "Sex",
        "Cabin",
        "Ticket",
        "SibSp",
        "Embarked",
        "Parch",
        "Pclass",
        "Name",
    )
    frame = encoded.frame
    assert frame["Name"].tolist() == list(range(891))  # as good as a row number
    assert frame["Sex"].head(2).tolist() == [0, 1]  # male, female
    assert frame["Cabin"].head(3).tolist() == [-2, 0, -2]
    assert frame["Age_invalid"].sum() == 177
    assert frame["Age"].isna().sum() == 0


def test_kaggle40_of_home_credit_calls_default_favourable(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    file = home_credit_file(tmp_path_factory.mktemp("hc"))
    data = load("home_credit", path=file, partial=True)
    encoded = encode(data, "kaggle40")
    assert encoded.y.sum() == (data.y == 1).sum() != data.y01.sum()
    assert (encoded.frame["sex"] == (data.X["CODE_GENDER"] == "F").to_numpy()).all()
    assert np.isfinite(encoded.matrix).all()


def test_refusals() -> None:
    data = toy()
    split = halves(data)
    with pytest.raises(UnknownName, match="did you mean 'chen'"):
        prepare(data, "chenn", attribute="sex", split=split)
    with pytest.raises(InputError, match="must be used on a dataset that it has"):
        prepare(data, "chen", attribute="sex", split=split)
    with pytest.raises(InputError, match="must be used on adult, compas, german"):
        rows_of(data, "coarse")
    with pytest.raises(InputError, match="'kaggle40' must be used"):
        rows_of(data, "kaggle40")
    with pytest.raises(UnknownName, match="protected attribute 'town'"):
        prepare(data, attribute="town", split=split)
    nobody = Dataset(data.name, data.X, data.y, 1, data.sensitive)
    with pytest.raises(InputError, match="name its privileged values"):
        prepare(nobody, attribute="sex", split=split)
    with pytest.raises(InputError, match="Training and test part must have rows"):
        prepare(data, attribute="sex", split=Split("x", 0, 0, np.array([2]), np.arange(5, 9)))


def test_chen_does_not_offer_sex_of_meps() -> None:
    data = real("meps")
    encoded = encode(data, "chen")
    assert {"SEX=1", "SEX=2"} <= set(encoded.names)
    with pytest.raises(InputError, match="'sex' must be a 0 / 1 column"):
        encoded.at(make_splits(data)[0], "sex")
