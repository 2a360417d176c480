"""One rule for reading files, and files that are written whole."""

import gzip
import warnings
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import openpyxl
import pandas as pd
import pytest

from isonomy._files import interruptible, open_table, read_table, replacing, write_table, write_text
from isonomy.audit import audit_file
from isonomy.data import Dataset
from isonomy.data.own import own_dataset
from isonomy.errors import DataCaveatWarning, InputError


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_a_group_coded_na_is_a_group_everywhere(tmp_path: Path) -> None:
    rows = "".join(f"{g},{y},{p}\n" for g in ("NA", "EU", "") for y in (0, 1) for p in (0, 1))
    file = write(tmp_path / "p.csv", "region,y,p\n" + rows * 5)
    audited = audit_file(
        file, label="y", prediction="p", sensitive_features="region", resamples=100
    )
    groups = {rate.group for rate in audited.groups if rate.attribute == "region"}
    assert {"NA", "EU", "(missing)"} <= groups
    data = Dataset.from_csv(file, label="y", sensitive_features="region")
    assert data.groups("region") == ("EU", "NA")
    assert data.known("region").sum() == 40


def test_missing_cells_by_kind_of_column(tmp_path: Path) -> None:
    file = write(
        tmp_path / "m.csv",
        "number,whole,word,code,truth,answer,day\n"
        "NA,1,null,NA,True,yes,2020-01-01\n2.5,,None,A1,False,no,2020-01-02\n,3,,A2,,no,2020-01-03\n",
    )
    table = read_table(file)
    assert table["number"].isna().tolist() == [True, False, True]
    assert table["number"].dtype == float
    assert table["whole"].dtype == float
    assert table["word"].tolist()[:2] == ["null", "None"]
    assert table["word"].isna().tolist() == [False, False, True]
    assert table["code"].tolist() == ["NA", "A1", "A2"]
    assert table["truth"].tolist()[:2] == [True, False]
    assert table["answer"].tolist() == ["yes", "no", "no"]
    assert table["day"].tolist()[0] == "2020-01-01"


def test_a_word_late_in_the_file_keeps_the_column_text(tmp_path: Path) -> None:
    rows = ["NA", *map(str, range(25_000)), "unknown"]
    file = write(tmp_path / "late.csv", "x,y\n" + "".join(f"{r},1\n" for r in rows))
    assert read_table(file)["x"].iloc[[0, 1, -1]].tolist() == ["NA", "0", "unknown"]


@pytest.mark.parametrize("name", ["a[1].csv", "a*.csv", "what?.csv", "it's.csv", "[x]*?.parquet"])
def test_a_name_that_exists_is_that_file(tmp_path: Path, name: str) -> None:
    write_table(pd.DataFrame({"x": [1, 2]}), tmp_path / name)
    write_table(pd.DataFrame({"x": [3]}), tmp_path / f"a1{Path(name).suffix}")
    assert read_table(tmp_path / name)["x"].tolist() == [1, 2]


def test_a_pattern_reads_every_file_it_fits(tmp_path: Path) -> None:
    for k in range(2):
        write_table(pd.DataFrame({"x": [k]}), tmp_path / f"part{k}.parquet")
    assert sorted(read_table(tmp_path / "part*.parquet")["x"]) == [0, 1]


@pytest.mark.parametrize("sep", [",", ";", "\t", "|"])
def test_separators(tmp_path: Path, sep: str) -> None:
    file = write(tmp_path / "s.csv", f"a{sep}b\nx{sep}1\ny{sep}2\n")
    assert read_table(file, ["b", "a"]).values.tolist() == [[1, "x"], [2, "y"]]


def test_a_header_of_words_over_words_is_a_header(tmp_path: Path) -> None:
    with open_table(write(tmp_path / "w.csv", "sex,race\nf,b\nm,w\n")) as file:
        assert list(file.columns) == ["sex", "race"]


def test_what_cannot_be_read_or_written_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no file .*did you mean .*real.csv'"):
        read_table(write(tmp_path / "real.csv", "a\n1\n").with_name("reel.csv"))
    with pytest.raises(InputError, match="is a folder"):
        read_table(tmp_path)
    with pytest.raises(InputError, match="must end in"):
        read_table(write(tmp_path / "x.xls", "a"))
    with pytest.raises(InputError, match="cannot be written"):
        write_text(tmp_path / "no" / "x.txt", "a")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("m,1,1,9", "line 5002 has 4 cells; the first line, which names the columns, has 3"),
        ("\nTotal,5", "line 5003 has 2 cells; the first line, which names the columns, has 3"),
        ('"m,1,1', "the quotation marks after line 5001 do not match"),
        ('"m"n,1,1', "the quotation marks after line 5001 do not match"),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_the_line_that_tears_a_csv_is_named(
    tmp_path: Path, line: str, why: str, encoding: str
) -> None:
    rows = "m,1,0\nf,0,1\n" * 2500
    torn = tmp_path / "torn.csv.gz"
    torn.write_bytes(gzip.compress(f"sex,y,p\n{rows}{line}\n{rows}".encode(encoding)))
    with (
        warnings.catch_warnings(action="ignore", category=DataCaveatWarning),
        pytest.raises(InputError, match=f"cannot be read: {why}.$") as caught,
    ):
        read_table(torn)
    assert str(caught.value).count("\n") == 0


@pytest.mark.parametrize("first", ["People of 2020\n", "# People, of 2020\n", "sep=,\n"])
def test_a_line_before_the_names_is_told(tmp_path: Path, first: str) -> None:
    rows = "sex,y,p\n" + "m,1,0\nf,0,1\n" * 50
    with pytest.raises(InputError, match=r"line 2 has .*; the first line, which names the columns"):
        read_table(write(tmp_path / "title.csv", first + rows))


@pytest.mark.parametrize("name", ["p.parquet", "p.duckdb", "p.csv.gz"])
def test_words_of_duckdb_do_not_say_its_kind_of_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"p\.\w+.* cannot be read: ") as caught:
        read_table(write(tmp_path / name, "hello"))
    assert "Error" not in str(caught.value)
    assert str(caught.value).count("\n") == 0


def test_a_file_is_replaced_only_once_it_is_whole(tmp_path: Path) -> None:
    path = write(tmp_path / "x.txt", "old")
    with pytest.raises(ZeroDivisionError), replacing(path) as partial:
        partial.write_text(f"half {1 / 0}")
    assert [p.name for p in tmp_path.iterdir()] == ["x.txt"]
    assert path.read_text() == "old"
    write_text(path, "new")
    assert path.read_text() == "new"


@pytest.mark.parametrize("header", ["a,b,a", '"a";b;A', "a\ta \tb"])
def test_two_columns_of_one_name_are_refused(tmp_path: Path, header: str) -> None:
    """DuckDB would call the second one a_1, and a user would ask about the first."""
    file = tmp_path / "twice.csv"
    separator = next(c for c in ",;\t" if c in header)
    file.write_text(f"{header}\n{separator.join('123')}\n")
    with pytest.raises(InputError, match="a name of its own, capital letters aside; 'a'"):
        read_table(file)


@pytest.mark.parametrize("sep", [",", ";"])
def test_a_column_that_repeats_another_is_read_once(tmp_path: Path, sep: str) -> None:
    """The file that ProPublica published of COMPAS holds ``decile_score`` twice."""
    lines = [",sex,y,score,Y,score", "1,m,1,3,1,3", "2,f,,4,,4", "3,m,0,,0,"]
    twice = write(tmp_path / "twice.csv", "\n".join(lines).replace(",", sep))
    table = read_table(twice)
    assert list(table) == ["sex", "y", "score"]
    assert table["score"].tolist()[:2] == [3, 4]
    assert table["y"].isna().tolist() == [False, True, False]
    grid = pd.DataFrame([line.split(",") for line in lines])
    grid.to_excel(tmp_path / "twice.xlsx", header=False, index=False)
    assert list(read_table(tmp_path / "twice.xlsx")) == ["sex", "y", "score"]
    lines[2] = "2,f,,4,,5"
    twice.write_text("\n".join(lines).replace(",", sep))
    with pytest.raises(InputError, match="a name of its own, capital letters aside; 'score'"):
        read_table(twice)


def test_a_first_line_that_names_nothing_is_one_sentence(tmp_path: Path) -> None:
    file = write(tmp_path / "long.csv", f"{'a' * 200_000},b\n1,2\n")
    with pytest.raises(InputError, match="first line of a file must name its columns"):
        read_table(file)


@pytest.mark.parametrize("ending", ["csv", "parquet", "duckdb"])
def test_no_progress_bar_on_standard_output(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"rows.{ending}"
    with duckdb.connect(str(path) if ending == "duckdb" else ":memory:") as made:
        made.execute("CREATE TABLE t AS SELECT 1 AS y")
        if ending != "duckdb":
            made.execute(f"COPY t TO '{path}' (FORMAT {ending})")
    with open_table(path) as file:
        shown = file.execute("SELECT current_setting('enable_progress_bar')").fetchone()
    assert shown == (False,)


def sheet(path: Path, **columns: list[Any]) -> Path:
    pd.DataFrame(columns).to_excel(path, index=False)
    return path


def test_cells_of_an_excel_file_are_what_they_were_stored_as(tmp_path: Path) -> None:
    frame = read_table(
        sheet(
            tmp_path / "odd.xlsx",
            whole=[1, 2, 3],
            hole=[1, None, 3],
            truth=[True, False, True],
            word=["x", None, "NA"],
            number=[1.5, "NA", "2"],
            code=["01", "02", "03"],
            mixed=[1, "a", 2],
            day=[datetime(2024, 5, 31)] * 3,  # noqa: DTZ001 - Excel knows no time zones
        )
    )
    assert frame["whole"].tolist() == [1, 2, 3]
    assert frame["hole"].isna().tolist() == [False, True, False]
    assert frame["truth"].dtype == bool
    assert frame["word"].dropna().tolist() == ["x", "NA"]
    assert frame["number"].dropna().tolist() == [1.5, 2.0]
    assert frame["code"].tolist() == ["01", "02", "03"]
    assert frame["mixed"].tolist() == ["1", "a", "2"]
    assert frame["day"].tolist() == ["2024-05-31"] * 3


def test_excel_files_that_cannot_be_read_are_one_sentence(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    empty, title, doubled, fake, old = (
        tmp_path / name
        for name in ("empty.xlsx", "title.xlsx", "doubled.xlsx", "fake.xlsx", "old.xls")
    )
    book.save(empty)
    book.active["A1"], book.active["A3"], book.active["B3"] = "Report", "sex", "age"
    book.save(title)
    book.active["B1"] = "report "
    book.save(doubled)
    fake.write_text("a,b\n1,2\n")
    old.write_bytes(b"\xd0\xcf")
    for path, words in (
        (empty, "must hold rows"),
        (title, "must name its columns; column 2 has no name"),
        (doubled, "capital letters aside; 'Report' and 'report' occur more than once"),
        (fake, "cannot be read as an Excel file"),
        (old, "save it as .xlsx"),
    ):
        with pytest.raises(InputError, match=words):
            read_table(path)


def test_row_numbers_of_pandas_and_r_are_no_column(tmp_path: Path) -> None:
    people = pd.DataFrame({"sex": ["f", "m", "f"], "age": [30.0, None, 50.0]}, index=[7, 3, 5])
    csv, marked, sheet, parquet = (
        tmp_path / name for name in ("p.csv", "marked.csv", "p.xlsx", "p.parquet")
    )
    people.to_csv(csv, na_rep="NA")
    people.to_csv(marked, encoding="utf-8-sig", sep=";")
    people.to_excel(sheet)
    people.to_parquet(parquet)
    for file in (csv, marked, sheet, parquet):
        assert list(read_table(file).columns) == ["sex", "age"], file
        with open_table(file) as opened:
            assert list(opened.columns) == ["sex", "age"], file
    assert read_table(csv)["age"].tolist()[::2] == [30.0, 50.0]
    only = write(tmp_path / "only.csv", '""\n1\n2\n')
    assert len(read_table(only).columns) == 1


@pytest.mark.parametrize(
    "error", [duckdb.InterruptException("x"), RuntimeError("Query interrupted")]
)
def test_an_interrupt_of_duckdb_is_one_of_the_keyboard(error: Exception) -> None:
    with pytest.raises(KeyboardInterrupt), interruptible():
        raise error
    with pytest.raises(RuntimeError, match="other"), interruptible():
        raise RuntimeError("other")


def european(tmp_path: Path, score: str = "{:.3f}", separator: str = ";") -> Path:
    """A file as a spreadsheet in Europe saves it; the last score is missing."""
    lines = [separator.join(["sex", "age", "wage", "answers", "p", "w", "y"])]
    for k in range(120):
        p = score.format((k * 37 % 100 + 0.5) / 100).replace(".", ",")
        cells = [
            "fm"[k % 2],
            f"{20 + k % 40},5",
            f"1.{k:03d},25",
            f"{k % 3},1x",
            p,
            "1,5",
            str(k // 60),
        ]
        lines.append(separator.join(f'"{cell}"' for cell in cells))
    return write(tmp_path / "europe.csv", "\n".join(lines) + "\n")


def test_decimal_commas_between_semicolons_are_numbers(tmp_path: Path) -> None:
    file = european(tmp_path)
    table = read_table(file)
    assert table["age"].iloc[:2].tolist() == [20.5, 21.5]
    assert table["wage"].iloc[1] == 1001.25
    assert table["p"].iloc[1] == 0.375
    assert table["answers"].iloc[1] == "1,1x"
    options = {"label": "y", "sensitive_features": ["sex", "age"], "bins": {"age": [30, 50]}}
    found = audit_file(file, prediction="p>=0.5", score="p", weight="w", resamples=100, **options)
    assert found.counts.w is not None
    assert found.counts.w.sum() == 180.0
    made, notes = own_dataset(file, **options)
    assert made.X["p"].dtype == float
    assert not any("commas" in note for note in notes)


def test_numbers_with_commas_that_may_be_thousands_stay_words_and_get_a_sentence(
    tmp_path: Path,
) -> None:
    lines = "".join(f"{'fm'[k % 2]};{k // 20};{k // 20};{k % 9 + 1},{k:03d}\n" for k in range(40))
    file = write(tmp_path / "wages.csv", "sex;y;yhat;wage\n" + lines)
    assert read_table(file)["wage"].iloc[0] == "1,000"
    point = "write their decimals with a point"
    options = {"label": "y", "sensitive_features": ["sex"]}
    assert any(point in note for note in own_dataset(file, **options)[1])
    calls = [
        lambda: own_dataset(file, label="wage>2", sensitive_features=["sex"]),
        lambda: own_dataset(file, label="y", sensitive_features=["wage"], bins={"wage": [2]}),
        lambda: audit_file(file, prediction="yhat", score="wage", resamples=100, **options),
        lambda: audit_file(file, prediction="wage>2", resamples=100, **options),
    ]
    for call in calls:
        with pytest.raises(InputError, match=point):
            call()
    commas = european(tmp_path, separator=",")  # quoted cells between commas: not read, and said
    with pytest.raises(InputError, match=point):
        audit_file(commas, label="y", prediction="p>=0.5", sensitive_features="sex")
