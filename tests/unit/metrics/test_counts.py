"""Counts: every way in gives the same tensor; bad input gets one sentence."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

from isonomy import Counts
from isonomy.errors import InputError, UnknownName
from isonomy.metrics import ScoreTable

NAMES = {"label": "y", "prediction": "yhat"}


def same(a: Counts, b: Counts) -> None:
    assert a.groups == b.groups
    assert a.classes == b.classes
    assert a.favorable == b.favorable
    np.testing.assert_array_equal(a.n, b.n)
    assert a.weighted == b.weighted
    if a.w is not None:
        np.testing.assert_allclose(a.w, b.w, rtol=1e-12)
        np.testing.assert_allclose(a.w2, b.w2, rtol=1e-12)


@pytest.fixture
def direct(predictions: pd.DataFrame) -> Counts:
    return Counts.from_labels(
        predictions["y"],
        predictions["yhat"],
        sensitive_features=predictions[["sex", "race"]],
        sample_weight=predictions["weight"],
        favorable="good",
    )


def test_a_hand_counted_case() -> None:
    counts = Counts.from_labels(
        [1, 0, 1, 0, 1, 1], [1, 0, 0, 1, 1, 0], sensitive_features=list("aabbbb")
    )
    np.testing.assert_array_equal(counts.n[0], [[1, 0], [0, 1]])
    np.testing.assert_array_equal(counts.n[1], [[0, 1], [2, 1]])
    assert counts.attributes == ("group",)
    assert counts.favorable == (1,)


@pytest.mark.parametrize("kind", ["pandas", "polars", "polars lazy", "duckdb", "dask", "arrow"])
def test_frames_and_lazy_engines(kind: str, predictions: pd.DataFrame, direct: Counts) -> None:
    if kind == "pandas":
        frame = predictions
    elif kind == "polars":
        frame = pl.from_pandas(predictions)
    elif kind == "polars lazy":
        frame = pl.from_pandas(predictions).lazy()
    elif kind == "duckdb":
        frame = duckdb.connect().from_df(predictions)
    elif kind == "arrow":
        frame = pl.from_pandas(predictions).to_arrow()
    else:
        dask = pytest.importorskip("dask.dataframe")
        frame = dask.from_pandas(predictions, npartitions=3)
    counts = Counts.from_frame(
        frame, **NAMES, sensitive_features=["sex", "race"], weight="weight", favorable="good"
    )
    same(counts, direct)


def test_spark(predictions: pd.DataFrame, direct: Counts) -> None:
    sql = pytest.importorskip("pyspark.sql", reason="needs the extra spark")
    session = sql.SparkSession.builder.master("local[1]").getOrCreate()
    try:
        frame = session.createDataFrame(predictions)
        counts = Counts.from_frame(
            frame, **NAMES, sensitive_features=["sex", "race"], weight="weight", favorable="good"
        )
    finally:
        session.stop()
    same(counts, direct)


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet", "duckdb"])
def test_files(ending: str, predictions: pd.DataFrame, direct: Counts, tmp_path) -> None:
    path = tmp_path / f"predictions.{ending}"
    if ending == "parquet":
        predictions.to_parquet(path)
    elif ending == "duckdb":
        with duckdb.connect(str(path)) as connection:
            connection.register("source", predictions)
            connection.execute("CREATE TABLE predictions AS SELECT * FROM source")
    else:
        predictions.to_csv(path, index=False)
    counts = Counts.from_query(
        path, **NAMES, sensitive_features=["sex", "race"], weight="weight", favorable="good"
    )
    same(counts, direct)


def test_globs_add_up(predictions: pd.DataFrame, direct: Counts, tmp_path) -> None:
    for k in range(3):
        predictions.iloc[k::3].to_parquet(tmp_path / f"part{k}.parquet")
    counts = Counts.from_query(
        tmp_path / "part*.parquet",
        **NAMES,
        sensitive_features=["sex", "race"],
        weight="weight",
        favorable="good",
    )
    same(counts, direct)


def test_bands_cut_a_number(predictions: pd.DataFrame, tmp_path) -> None:
    path = tmp_path / "p.parquet"
    predictions.to_parquet(path)
    counts = Counts.from_query(
        path, **NAMES, sensitive_features="age", bins={"age": [25, 60]}, favorable="good"
    )
    bands = pd.cut(
        predictions["age"],
        [0, 25, 60, 100],
        right=False,
        labels=["under 25", "25 to 60", "60 and over"],
    )
    for group, n in zip(counts.groups, counts.n.sum(axis=(1, 2)), strict=True):
        assert n == (bands == group[0]).sum()


def test_select_adds_up_over_the_rest(direct: Counts, predictions: pd.DataFrame) -> None:
    alone = Counts.from_labels(
        predictions["y"],
        predictions["yhat"],
        sensitive_features=predictions["race"],
        sample_weight=predictions["weight"],
        favorable="good",
    )
    same(direct.select("race"), alone)


def test_missing_values_are_a_group_of_their_own() -> None:
    counts = Counts.from_labels(
        [0, 1, 0, 1], [0, 1, 1, 1], sensitive_features=["a", None, "b", np.nan], privileged="a"
    )
    assert counts.groups == (("a",), ("b",), ("(missing)",))
    assert counts.n[2].sum() == 2
    two = counts.by_privilege()  # not known to be unprivileged
    np.testing.assert_array_equal(two.n.sum(axis=(1, 2)), [1, 1])


def test_shards_with_different_groups_and_classes_merge() -> None:
    a = Counts.from_labels([0, 1, 1], [0, 1, 0], sensitive_features=list("xyx"))
    b = Counts.from_labels([0, 1, 1], [1, 1, 1], sensitive_features=list("yzz"))
    whole = Counts.from_labels(
        [0, 1, 1, 0, 1, 1], [0, 1, 0, 1, 1, 1], sensitive_features=list("xyxyzz")
    )
    same(a + b, whole)


def test_resample_keeps_totals_and_means(direct: Counts) -> None:
    drawn = direct.resample(4000, random_state=1)
    assert drawn.n.shape == (4000, *direct.n.shape)
    np.testing.assert_array_equal(drawn.n.sum(axis=(-1, -2, -3)), direct.n.sum())
    standard_error = np.sqrt(direct.w2 / 4000)
    assert (np.abs(drawn.w.mean(axis=0) - direct.w) < 5 * standard_error + 1e-9).all()


def test_weighted_resamples_have_the_variance_of_the_row_bootstrap() -> None:
    rng = np.random.default_rng(3)
    y, yhat = rng.integers(0, 2, 300), rng.integers(0, 2, 300)
    group, weight = rng.integers(0, 2, 300), rng.exponential(size=300)
    counts = Counts.from_labels(y, yhat, sensitive_features=group, sample_weight=weight)
    drawn = counts.resample(20_000, random_state=0).w.reshape(20_000, -1)
    # n rows drawn with replacement: cov = n (E[w² 1(cell)] - E[w 1(cell)] E[w 1(cell')])
    w, w2 = counts.w.ravel(), counts.w2.ravel()
    exact = np.diag(w2) - np.outer(w, w) / 300
    spread = np.sqrt((np.outer(np.diag(exact), np.diag(exact)) + exact**2) / 20_000)
    assert (np.abs(np.cov(drawn.T) - exact) < 6 * spread).all()


def test_equal_weights_resample_like_counts() -> None:
    counts = Counts.from_labels(
        [0, 1, 1, 0], [0, 1, 0, 0], sensitive_features=list("aabb"), sample_weight=[2.0] * 4
    )
    drawn = counts.resample(50)
    np.testing.assert_array_equal(drawn.w, 2 * drawn.n)


def test_many_classes() -> None:
    counts = Counts.from_labels(
        ["x", "y", "z", "x"],
        ["x", "z", "z", "y"],
        sensitive_features=list("abab"),
        favorable=["x", "y"],
    )
    assert counts.classes == ("x", "y", "z")
    np.testing.assert_array_equal(counts.is_favorable, [True, True, False])


def test_labels_of_other_types_still_match() -> None:
    counts = Counts.from_labels([True, False], [1, 0], sensitive_features=["a", "b"])
    assert counts.n.sum() == 2
    assert len(counts.classes) == 2


GOOD = {"y_true": [0, 1, 0, 1], "y_pred": [0, 1, 1, 1], "sensitive_features": list("aabb")}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y_true": [0, 0, 0, 0]}, "at least two classes"),
        ({"sensitive_features": list("aaaa")}, "at least two groups"),
        ({"y_true": [0, 1, 2, 1]}, "favourable label must be named"),
        ({"y_true": [0, 1, np.nan, 1]}, "missing in 1"),
        ({"y_pred": [0, 1, None, 1]}, "missing in 1"),
        ({"y_pred": [0, 1, 1]}, "same number of rows"),
        ({"sensitive_features": list("aab")}, "same number of rows"),
        ({"sample_weight": [1, 1, -1, 1]}, "must not be negative"),
        ({"sample_weight": [1, np.nan, 1, 1]}, "finite"),
        ({"sample_weight": [0, 0, 0, 0]}, "not all be zero"),
        ({"sample_weight": ["a", "b", "c", "d"]}, "must be numbers"),
        ({"privileged": "c"}, "no value of group 'c'"),
        ({"privileged": ["a", "b"]}, "must be unprivileged"),
        ({"y_true": [], "y_pred": [], "sensitive_features": []}, "at least one row"),
        ({"y_pred": [0.2, 0.7, 0.9, 0.4]}, "pass scores as score="),
        ({"y_pred": ["0", "1", "1", "1"]}, "same values and type"),
        ({"favorable": 3}, "no favourable label 3"),
        (
            {"y_true": range(300), "y_pred": range(300), "sensitive_features": ["a", "b"] * 150},
            "Labels must be classes",
        ),
        ({"favorable": [0, 1]}, "must be unfavourable"),
    ],
)
def test_bad_input_gets_one_sentence(change: dict, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        Counts.from_labels(**{**GOOD, **change})
    assert "\n" not in str(caught.value)


def test_identifiers_are_no_attributes() -> None:
    with pytest.raises(InputError, match="at most 100 values"):
        Counts.from_labels(
            np.arange(300) % 2, np.arange(300) % 2, sensitive_features={"id": np.arange(300)}
        )


def test_missing_columns_and_files(predictions: pd.DataFrame, tmp_path) -> None:
    path = tmp_path / "p.csv"
    predictions.to_csv(path, index=False)
    with pytest.raises(UnknownName, match="did you mean 'sex'"):
        Counts.from_query(path, **NAMES, sensitive_features="sx", favorable="good")
    with pytest.raises(UnknownName, match="did you mean 'sex'"):
        Counts.from_frame(predictions, **NAMES, sensitive_features="sx", favorable="good")
    with pytest.raises(InputError, match=r"did you mean '.*p\.csv'"):
        Counts.from_query(tmp_path / "q.csv", **NAMES, sensitive_features="sex", favorable="good")
    (tmp_path / "empty.csv").touch()
    with pytest.raises(InputError, match="is empty"):
        Counts.from_query(tmp_path / "empty.csv", **NAMES, sensitive_features="sex")
    (tmp_path / "broken.parquet").write_bytes(b"not a parquet file at all")
    with pytest.raises(InputError, match="cannot be read"):
        Counts.from_query(tmp_path / "broken.parquet", **NAMES, sensitive_features="sex")
    with pytest.raises(InputError, match="plays several"):
        Counts.from_query(
            path, label="y", prediction="y", sensitive_features="sex", favorable="good"
        )


@pytest.mark.parametrize("bad", [-1.0, None])
def test_weights_in_files_are_checked_too(bad, predictions: pd.DataFrame, tmp_path) -> None:
    predictions.loc[5, "weight"] = bad
    predictions.to_parquet(tmp_path / "p.parquet")
    message = "negative" if bad else "missing or not a number"
    for frame in (pl.from_pandas(predictions).lazy(), duckdb.connect().from_df(predictions)):
        with pytest.raises(InputError, match=message):
            Counts.from_frame(
                frame, **NAMES, sensitive_features="sex", weight="weight", favorable="good"
            )
    with pytest.raises(InputError, match=message):
        Counts.from_query(
            tmp_path / "p.parquet",
            **NAMES,
            sensitive_features="sex",
            weight="weight",
            favorable="good",
        )


def test_adding_what_does_not_fit() -> None:
    a = Counts.from_labels([0, 1], [0, 1], sensitive_features={"sex": ["f", "m"]})
    b = Counts.from_labels([0, 1], [0, 1], sensitive_features={"race": ["f", "m"]})
    with pytest.raises(InputError, match="attributes agree"):
        a + b


def test_levels_that_no_row_has_are_not_values() -> None:
    y = pd.Series(pd.Categorical([1, 0, 1, 0], categories=[2, 1, 0]))
    s = pd.Series(pd.Categorical(["b", None, "a", "b"], categories=["z", "b", "a"]), name="s")
    counts = Counts.from_labels(y, y, sensitive_features=s)
    plain = Counts.from_labels([1, 0, 1, 0], [1, 0, 1, 0], sensitive_features=s.astype(object))
    assert counts.classes == plain.classes == (0, 1)
    assert counts.groups == plain.groups == (("a",), ("b",), ("(missing)",))
    np.testing.assert_array_equal(counts.n, plain.n)
    with pytest.raises(InputError, match="at least two classes"):
        Counts.from_labels(y[[0, 2]], y[[0, 2]], sensitive_features=s[[0, 2]])


def test_nan_is_in_no_band(tmp_path) -> None:
    frame = pl.DataFrame(
        {
            "y": [0, 1, 0, 1, 1, 0],
            "age": [20.0, 70.0, float("nan"), None, 30.0, 60.0],
            "p": [0.1, 0.9, 0.2, 0.8, 0.7, 0.3],
        }
    )
    # polars keeps NaN apart from null
    frame.with_columns(yhat=pl.col("y")).write_parquet(tmp_path / "p.parquet")
    names = {"label": "y", "prediction": "yhat", "sensitive_features": "age"}
    counts = Counts.from_query(tmp_path / "p.parquet", bins={"age": [25, 60]}, **names)
    rows = dict(zip(counts.labels(), counts.n.sum(axis=(1, 2)).tolist(), strict=True))
    assert rows == {"25 to 60": 1, "60 and over": 2, "under 25": 1, "(missing)": 2}
    above = Counts.from_query(tmp_path / "p.parquet", bins={"age": [25, 90]}, **names)
    assert above.n[above.groups.index(("(missing)",))].sum() == 2  # also below the last cut
    whole = Counts.from_query(tmp_path / "p.parquet", **names)
    table = ScoreTable.from_query(tmp_path / "p.parquet", whole, label="y", score="p")
    assert table.n.sum() == 6
    assert table.n[whole.groups.index(("(missing)",))].sum() == 2


def test_more_cells_than_are_brought_back_are_refused(tmp_path, monkeypatch) -> None:
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({c: rng.integers(0, 2, 500) for c in ("y", "yhat", "a", "b")})
    frame.write_parquet(tmp_path / "p.parquet")
    ask = {"label": "y", "prediction": "yhat", "sensitive_features": ["a", "b"]}
    assert Counts.from_query(tmp_path / "p.parquet", **ask).n.sum() == 500
    monkeypatch.setattr("isonomy.metrics.query.MOST_CELLS", 12)
    with pytest.raises(InputError, match="must be fewer than 12"):
        Counts.from_query(tmp_path / "p.parquet", **ask)


def test_shards_that_disagree_on_privilege_are_refused() -> None:
    rows = ([1, 0], [1, 0])
    one, two = (
        Counts.from_labels(*rows, sensitive_features=["a", "b"], privileged=p) for p in "ab"
    )
    with pytest.raises(InputError, match="privileged values of group agree; these are 'a' and 'b'"):
        one + two
    none = Counts.from_labels(*rows, sensitive_features=["a", "b"])
    assert (none + two).privileged == (two + none).privileged == {"group": ("b",)}


@pytest.mark.parametrize("way", ["labels", "frame", "query"])
def test_a_shard_may_lack_a_class_a_group_and_the_privileged(
    way: str, predictions: pd.DataFrame, tmp_path
) -> None:
    names = {"favorable": "good", "privileged": "M"}
    one = predictions[(predictions["sex"] == "F") & (predictions["y"] == "bad")]
    rest = predictions.drop(one.index)

    def count(frame: pd.DataFrame, **more) -> Counts:
        if way == "labels":
            return Counts.from_labels(
                frame["y"], frame["yhat"], sensitive_features=frame["sex"], **names, **more
            )
        if way == "frame":
            return Counts.from_frame(
                pl.from_pandas(frame).lazy(), **NAMES, sensitive_features="sex", **names, **more
            )
        frame.to_parquet(tmp_path / "shard.parquet")
        return Counts.from_query(
            tmp_path / "shard.parquet", **NAMES, sensitive_features="sex", **names, **more
        )

    with pytest.raises(InputError):
        count(one)
    shards = count(one, classes=["bad", "good"]) + count(rest, classes=["bad", "good"])
    same(shards, count(predictions))


def test_rows_of_unknown_group_are_neither_privileged_nor_unprivileged() -> None:
    counts = Counts.from_labels(
        [1, 0, 1, 0, 1, 1],
        [1, 0, 0, 0, 1, 1],
        sensitive_features={
            "race": ["White", "White", "Black", "NA", "Unknown", "prefer not to say"]
        },
        privileged={"race": "White"},
    )
    merged = counts.by_privilege()
    assert merged.n.sum(axis=(-1, -2)).tolist() == [
        2.0,
        2.0,
    ]  # Black and NA, a group like any other
    declared = Counts.from_labels(
        [1, 0, 1], [1, 0, 0], sensitive_features={"race": ["Unknown", "Black", "Black"]},
        privileged={"race": "Unknown"},
    )  # fmt: skip
    assert declared.by_privilege().n.sum(axis=(-1, -2)).tolist() == [2.0, 1.0]
