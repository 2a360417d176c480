"""Values of types that nobody expects: right numbers, or one sentence."""

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

from isonomy import audit, audit_file, get_metric
from isonomy.errors import InputError
from isonomy.mitigators import RejectOption
from tests.e2e.command import isonomy

N = 400
RNG = np.random.default_rng(0)
Y, YHAT, SCORE = RNG.integers(0, 2, N), RNG.integers(0, 2, N), RNG.random(N)
SEX = np.array(["f", "m"], dtype=object)[RNG.integers(0, 2, N)]


def _auc(good: Any, score: Any) -> float:
    """Count pairs, with nothing of ours."""
    won = np.sign(score[good][:, None] - score[~good][None, :])
    return float((won / 2 + 0.5).mean())


def _values(found: Any, name: str) -> dict[str, tuple[float, int]]:
    return {r.group: (r.value, r.rows) for r in found.groups if r.name == name}


def test_one_and_the_word_one_are_two_groups() -> None:
    group = np.array([1, "1", 2], dtype=object)[RNG.integers(0, 3, N)]
    found = audit(Y, YHAT, sensitive_features={"g": group}, score=SCORE, privileged={"g": 2})
    own = {"1": [v == 1 for v in group], "'1'": [v == "1" for v in group]}
    for name, mask in own.items():
        rows = np.array(mask)
        expected = _auc(Y[rows] == 1, SCORE[rows])
        assert _values(found, "roc_auc")[name] == (pytest.approx(expected), rows.sum())
    assert {f.comparison for f in found.comparisons} == {"1 vs 2", "'1' vs 2"}


def test_favorable_labels_of_several_types_with_scores() -> None:
    label = np.array([1, "good", 0], dtype=object)[RNG.integers(0, 3, N)]
    good = np.array([v in {1, "good"} for v in label])
    options = {"sensitive_features": SEX, "score": SCORE, "favorable": [1, "good"]}
    found = audit(label, label, **options)
    values = {f.name: f.value for f in found.metrics if f.attribute is None}
    assert values["base_rate"] == pytest.approx(good.mean())
    assert values["roc_auc"] == pytest.approx(_auc(good, SCORE))
    assert get_metric("auc")(label, SCORE, favorable=[1, "good"]) == values["roc_auc"]


@pytest.mark.parametrize(
    "values",
    [
        np.array([2**63, 2**63 + 1], dtype=np.uint64),
        np.array([10**400, 3], dtype=object),
        np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[ns]"),
        np.array([dt.date(2020, 1, 1), dt.date(2021, 1, 1)], dtype=object),
        np.array([-128, 127], dtype=np.int8),
    ],
    ids=["uint64", "huge", "datetime64", "date", "int8"],
)
def test_unusual_values_are_classes_and_groups(values: Any) -> None:
    plain = audit(Y, YHAT, sensitive_features=SEX, score=SCORE)
    as_group = audit(Y, YHAT, sensitive_features=values[(SEX == "m").astype(int)], score=SCORE)
    rates = sorted(value for value, _ in _values(as_group, "roc_auc").values())
    assert rates == sorted(value for value, _ in _values(plain, "roc_auc").values())
    chosen = as_text if (as_text := str(values[1])[:10]).startswith("20") else values[1]
    as_label = audit(values[Y], values[YHAT], sensitive_features=SEX, score=SCORE, favorable=chosen)
    assert [f.value for f in as_label.metrics] == [f.value for f in plain.metrics]


def test_arrow_arrays_are_columns() -> None:
    arrow = pytest.importorskip("pyarrow")
    words = [arrow.array(np.where(y == 1, "good", "bad")) for y in (Y, YHAT)]
    sex = {"sex": arrow.array(SEX)}
    found = audit(*words, sensitive_features=sex, score=arrow.array(SCORE), favorable="good")
    plain = audit(Y, YHAT, sensitive_features={"sex": SEX}, score=SCORE)
    assert [f.value for f in found.metrics] == [f.value for f in plain.metrics]


def test_lists_in_memory_are_one_sentence() -> None:
    lists = np.empty(N, dtype=object)
    lists[:] = [[int(v)] for v in Y]
    with pytest.raises(InputError, match=r"one value per row.*'list'"):
        audit(Y, YHAT, sensitive_features={"g": lists})
    with pytest.raises(InputError, match=r"one value per row.*'list'"):
        audit(lists, lists, sensitive_features=SEX)


@pytest.mark.parametrize("seed", [-1, 1.5, "x"])
def test_a_seed_must_be_one(seed: Any) -> None:
    with pytest.raises(InputError, match="random_state must be a whole number of 0 or more"):
        audit(Y, YHAT, sensitive_features=SEX, random_state=seed)
    with pytest.raises(InputError, match="random_state must be a whole number of 0 or more"):
        RejectOption(random_state=seed).fit(SCORE[:, None], Y, sensitive_features=SEX)


@pytest.fixture(scope="module")
def unusual(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a file that holds y as every type that a database has."""
    path = tmp_path_factory.mktemp("unusual") / "d.duckdb"
    table = pd.DataFrame({"y": Y, "yhat": YHAT, "score": SCORE, "sex": SEX})
    both = ", ".join(
        f"{sql.format(name)} AS {name}_{kind}"
        for kind, sql in {
            "date": "DATE '2020-01-01' + CAST({} AS INTEGER)",
            "stamp": "TIMESTAMP '2020-01-01' + INTERVAL ({}) DAY",
            "list": "[{}]",
            "struct": "{{'a': {}}}",
            "map": "map([{}], [1])",
            "decimal": "CAST({} AS DECIMAL(9, 2)) / 10 + 0.1",
            "ubigint": "CAST({} AS UBIGINT) + 9223372036854775808::UBIGINT",
            "hugeint": "CAST({} AS HUGEINT) + 9007199254740992",
            "blob": "encode(CAST({} AS VARCHAR))",
            "bool": "CAST({} AS BOOLEAN)",
            "time": "TIME '00:00:00' + INTERVAL ({}) HOUR",
        }.items()
        for name in ("y", "yhat")
    )
    with duckdb.connect(str(path)) as connection:
        connection.register("t", table)
        connection.execute(f"CREATE TABLE rows AS SELECT *, {both} FROM t")
    return path


@pytest.mark.parametrize(
    ("kind", "good"),
    [
        ("date", "2020-01-02"),
        ("stamp", "2020-01-02 00:00:00"),
        ("list", "[1]"),
        ("struct", "{'a': 1}"),
        ("map", "{1=1}"),
        ("decimal", "0.2"),
        ("ubigint", "9223372036854775809"),
        ("hugeint", "9007199254740993"),
        ("blob", "1"),
        ("bool", "true"),
        ("time", "01:00:00"),
    ],
)
def test_a_database_may_hold_any_type(unusual: Path, kind: str, good: str) -> None:
    columns = {"label": f"y_{kind}", "prediction": f"yhat_{kind}", "score": "score"}
    chosen = True if kind == "bool" else good
    found = audit_file(unusual, **columns, sensitive_features="sex", favorable=chosen)
    plain = audit(Y, YHAT, sensitive_features=SEX, score=SCORE)
    expected = [f.value for f in plain.metrics]
    assert [f.value for f in found.metrics] == pytest.approx(expected, nan_ok=True)
    columns = {"label": "y", "prediction": "yhat", "score": "score"}
    found = audit_file(unusual, **columns, sensitive_features=f"yhat_{kind}")
    sizes = sorted(rows for _, rows in _values(found, "roc_auc").values())
    assert sizes == sorted(np.bincount(YHAT).tolist())


@pytest.mark.parametrize(
    ("n", "sentence"),
    [
        ("1e20", "whole numbers, 9,007,199,254,740,992 at most in all; got 1e+20"),
        ("1.5", "whole numbers, 9,007,199,254,740,992 at most in all; got 1.5"),
        ("-3", "must be finite and not negative"),
        ("many", "'n' holds text"),
    ],
)
def test_counts_that_are_none(tmp_path: Path, n: str, sentence: str) -> None:
    file = tmp_path / "counts.csv"
    file.write_text(f"g,y_true,y_pred,n\na,0,0,{n}\na,1,1,5\nb,0,0,4\nb,1,0,4\n")
    done = isonomy("audit", str(file), "--counts")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert sentence in done.stderr


def test_decimals_are_floats_as_in_a_frame(unusual: Path) -> None:
    columns = {"label": "y", "prediction": "yhat"}
    found = audit_file(unusual, **columns, sensitive_features="y_decimal")
    assert found.counts.groups == ((0.1,), (0.2,))
    assert not isinstance(found.counts.groups[0][0], Decimal)
