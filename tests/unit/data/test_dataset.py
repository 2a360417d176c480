"""Dataset: what is accepted, what is refused in words, and what it tells about its groups."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from isonomy.data import Dataset, dataset_from, load
from isonomy.errors import InputError, UnknownName


def people() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "id": [1, 2, 3, 4, 5, 6],
            "sex": ["f", "m", "m", "f", None, "m"],
            "hours": [40, 38, 20, 45, 39, 41],
            "w": [1.0, 2.0, 1.0, 3.0, 1.0, 2.0],
            "hired": ["yes", "yes", "no", "no", "yes", "no"],
        }
    )


def made(**more: object) -> Dataset:
    options = {
        "label": "hired",
        "favorable": "yes",
        "sensitive_features": "sex",
        "privileged": "m",
        "weight": "w",
        "drop": ["id"],
    }
    return Dataset.from_frame(people(), **{**options, **more})  # type: ignore[arg-type]


def test_from_frame_takes_the_columns_apart() -> None:
    data = made()
    assert list(data.X.columns) == ["sex", "hours"]
    assert data.aside is not None
    assert list(data.aside.columns) == ["id"]
    assert data.y01.tolist() == [1, 1, 0, 0, 1, 0]
    assert data.favorable == ("yes",)
    assert data.privileged == {"sex": ("m",)}
    assert data.groups("sex") == ("f", "m")
    assert data.weight is not None
    assert np.asarray(data.weight).tolist() == [1, 2, 1, 3, 1, 2]
    assert data.frame().columns.tolist() == ["sex", "hours", "id", "weight", "hired"]


def test_base_rates_by_hand() -> None:
    rates = made().base_rates().set_index("group")
    assert rates.loc["f", ["rows", "favorable"]].tolist() == [2, 0.5]
    assert rates.loc["m", ["rows", "favorable"]].tolist() == [3, pytest.approx(1 / 3)]
    assert rates.loc["(missing)", ["rows", "favorable"]].tolist() == [1, 1.0]
    assert rates.loc["f", "favorable_weighted"] == pytest.approx(1 / 4)
    assert rates.loc["m", "favorable_weighted"] == pytest.approx(2 / 5)
    assert rates["privileged"].tolist() == [False, True, False]


def test_an_unknown_attribute_is_never_coded_silently() -> None:
    data = made()
    with pytest.raises(InputError, match="1 rows lack it"):
        data.s01("sex")
    known = data.take(data.known("sex"))
    assert known.s01("sex").tolist() == [0, 1, 1, 0, 1]
    assert known.X.index.tolist() == [0, 1, 2, 3, 5]


def test_take_keeps_what_was_declared() -> None:
    women = made().take([0])
    assert women.privileged == {"sex": ("m",)}
    assert women.s01("sex").tolist() == [0]
    assert women.y01.tolist() == [1]
    assert women.aside is not None
    assert women.aside["id"].tolist() == [1]
    assert np.asarray(women.weight).tolist() == [1.0]


def test_privileged_values_may_be_left_unnamed_until_they_are_needed() -> None:
    data = made(privileged=None)
    with pytest.raises(InputError, match="privileged values of 'sex' must be named"):
        data.s01("sex")


@pytest.mark.parametrize(
    ("more", "kind", "words"),
    [
        ({"label": "hird"}, UnknownName, "did you mean 'hired'"),
        ({"sensitive_features": ["sex", "agee"]}, UnknownName, "column 'agee'"),
        ({"favorable": "maybe"}, UnknownName, "favourable label 'maybe'"),
        ({"favorable": None}, InputError, "favourable label must be named"),
        ({"favorable": ["yes", "no"]}, InputError, "At least one class must be unfavourable"),
        ({"privileged": "x"}, UnknownName, "privileged value of 'sex'"),
        ({"sensitive_features": "hired"}, InputError, "must not be a protected attribute"),
        (
            {"sensitive_features": [], "privileged": None},
            InputError,
            "At least one protected attribute",
        ),
        ({"sensitive_features": ["sex", "hours"]}, InputError, "which attribute"),
        ({"weight": "id", "drop": ["idd"]}, UnknownName, "column 'idd'"),
    ],
)
def test_refusals(more: dict[str, object], kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words):
        made(**more)


def test_a_missing_label_is_refused() -> None:
    table = people()
    table.loc[2, "hired"] = None
    with pytest.raises(InputError, match=r"1 of 6 rows of 'user data' have none"):
        Dataset.from_frame(table, label="hired", favorable="yes", sensitive_features="sex")


def test_lengths_must_agree() -> None:
    data = made()
    with pytest.raises(InputError, match="y has 5 and X has 6"):
        Dataset("x", data.X, data.y.iloc[:5], "yes", data.sensitive)


def test_a_derived_attribute_keeps_its_source() -> None:
    age = pd.Series([20, 30, 40, 50])
    band = (age >= 35).map({True: "old", False: "young"}).to_frame("age")
    data = Dataset(
        "x", age.to_frame("age"), pd.Series([0, 1, 0, 1], name="y"), 1, band, {"age": "old"}
    )
    assert data.sources_of("age") == ("age",)
    assert data.X["age"].tolist() == [20, 30, 40, 50]
    assert data.s01("age").tolist() == [0, 0, 1, 1]
    assert data.frame().columns.tolist() == ["age", "age (group)", "y"]


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_files_in_and_out(tmp_path: Path, suffix: str) -> None:
    from isonomy._files import write_table

    file = tmp_path / f"people{suffix}"
    write_table(people(), file)
    data = dataset_from(
        str(file), label="hired", favorable="yes", sensitive_features="sex", privileged="m"
    )
    assert data.name == "people"
    assert len(data) == 6
    assert data.y01.tolist() == [1, 1, 0, 0, 1, 0]
    assert data.known("sex").tolist() == [True, True, True, True, False, True]
    assert list(tmp_path.iterdir()) == [file]


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="There is no file"):
        dataset_from(tmp_path / "no.csv", label="a", sensitive_features="b")
    with pytest.raises(InputError, match="There is no file"):
        Dataset.from_parquet(tmp_path / "no.parquet", label="a", sensitive_features="b")


def test_export_refuses_other_endings(tmp_path: Path) -> None:
    from isonomy._files import write_table

    with pytest.raises(InputError, match=r"must end in \.csv or \.parquet"):
        write_table(people(), tmp_path / "people.xlsx")


def test_unknown_names_and_parameters() -> None:
    with pytest.raises(UnknownName, match="did you mean 'adult'"):
        load("adlut")
    with pytest.raises(InputError, match="parameters of dataset 'german'"):
        load("german", panel=19)
    with pytest.raises(UnknownName, match="panel of meps"):
        load("meps(panel=20)")
    with pytest.raises(UnknownName, match="version of bank"):
        load("bank", version="fulll")
    with pytest.raises(UnknownName, match="age rule of bank"):
        load("bank", privileged_age="26+")
    with pytest.raises(InputError, match="written name"):
        load("meps(21)")


def test_parameters_in_brackets() -> None:
    data = load("synthetic(n=50, random_state=3)")
    assert len(data) == 50
    pd.testing.assert_frame_equal(data.X, load("synthetic", n=50, random_state=3).X)


def test_a_feature_called_weight_is_not_overwritten() -> None:
    frame = pd.DataFrame(
        {"sex": ["f", "m"] * 2, "weight": [50, 60, 70, 80], "w": [1.0, 2, 3, 4], "y": [0, 1, 1, 0]}
    )
    data = Dataset.from_frame(frame, label="y", sensitive_features="sex", weight="w")
    table = data.frame()
    assert table["weight"].tolist() == [50, 60, 70, 80]
    assert table["weight (row)"].tolist() == [1, 2, 3, 4]


def test_somebody_is_unprivileged() -> None:
    frame = pd.DataFrame({"sex": ["f", "m"], "y": [0, 1]})
    with pytest.raises(InputError, match="must be unprivileged; all of 'm' and 'f'"):
        Dataset.from_frame(frame, label="y", sensitive_features="sex", privileged=["m", "f"])


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("empty.csv", b"", "is empty"),
        ("header.csv", b"sex,hired\n", "a header only"),
        (
            "damaged.csv",
            b"sex,hired\nZ\xc3\xbcrich,yes\nZ\xfcrich,yes\n",
            "damaged letters .* line 3",
        ),
        ("zeros.csv", b"sex,hired\nZ\xfc\0rich,yes\n", "bytes that no text in UTF-8 holds"),
        ("torn.csv", b"sex,hired\nm,yes\nf,no,1,2\n", "cannot be read"),
        ("text.parquet", b"hello", "cannot be read"),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    (tmp_path / name).write_bytes(content)
    read = Dataset.from_parquet if name.endswith("parquet") else Dataset.from_csv
    with pytest.raises(InputError, match=words):
        read(tmp_path / name, label="hired", favorable="yes", sensitive_features="sex")


@pytest.mark.parametrize("sep", [",", ";", "\t"])
def test_a_csv_may_be_parted_by_semicolons_or_tabs(tmp_path: Path, sep: str) -> None:
    people().to_csv(tmp_path / "p.csv", sep=sep, index=False)
    data = Dataset.from_csv(
        tmp_path / "p.csv", label="hired", favorable="yes", sensitive_features="sex"
    )
    assert len(data.X) == len(people())


def test_a_polars_table_is_the_same_dataset_as_a_pandas_one() -> None:
    import polars as pl

    options = {"label": "y", "sensitive_features": "sex", "favorable": "yes"}
    columns = {"sex": ["m", "f", None, "f"], "age": [30, 40, 50, 60], "y": ["yes", "no"] * 2}
    ours = Dataset.from_frame(pl.DataFrame(columns), **options)  # type: ignore[arg-type]
    theirs = Dataset.from_frame(pd.DataFrame(columns), **options)  # type: ignore[arg-type]
    pd.testing.assert_frame_equal(ours.X, theirs.X)
    assert ours.y01.tolist() == theirs.y01.tolist() == [1, 0, 1, 0]


def test_a_lazy_or_foreign_table_is_refused_in_one_sentence() -> None:
    import polars as pl

    for table in (pl.LazyFrame({"y": [1]}), [1, 2]):
        with pytest.raises(InputError, match="held in memory"):
            Dataset.from_frame(table, label="y", sensitive_features="y")
