"""CSV files that are not UTF-8 are read with a warning, or refused in one sentence."""

import gzip
from pathlib import Path

import pytest

from isonomy._files import read_table
from isonomy.audit import audit_file
from isonomy.errors import DataCaveatWarning, InputError
from tests.e2e.command import isonomy

TEXT = "größe,sex,y,p\n" + "1,Müller – €,1,1\n2,Zoë,0,1\n3,Zoë,1,0\n4,Müller – €,0,0\n" * 20


@pytest.mark.parametrize(("encoding", "name"), [("cp1252", "Windows-1252"), ("utf-16", "UTF-16")])
@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
def test_the_letters_are_those_that_were_written(
    tmp_path: Path, encoding: str, name: str, ending: str
) -> None:
    file = tmp_path / f"[people].{ending}"
    written = TEXT.encode(encoding)
    file.write_bytes(gzip.compress(written) if ending == "csv.gz" else written)
    with pytest.warns(DataCaveatWarning, match=f"is not UTF-8 text; it is read as {name}"):
        table = read_table(file)
    assert list(table) == ["größe", "sex", "y", "p"]
    assert sorted(set(table["sex"])) == ["Müller – €", "Zoë"]
    assert table["größe"].sum() == 200


def test_a_letter_far_down_a_file_that_began_as_plain_text(tmp_path: Path) -> None:
    file = tmp_path / "late.csv"
    file.write_bytes(b"sex,y\n" + b"a,1\n" * 30_000 + "é,0\n".encode("latin-1"))
    with pytest.warns(DataCaveatWarning, match="Windows-1252"):
        assert read_table(file)["sex"].iloc[-1] == "é"


def test_files_of_a_pattern_are_read_each_in_its_own_encoding(tmp_path: Path) -> None:
    (tmp_path / "a1.csv").write_bytes("sex\nZoë\n".encode("latin-1"))
    (tmp_path / "a2.csv").write_bytes("sex\nZoë\n".encode())
    with pytest.warns(DataCaveatWarning, match=r"a1\.csv"):
        assert read_table(tmp_path / "a*.csv")["sex"].tolist() == ["Zoë", "Zoë"]


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        (TEXT.encode("utf-16-le"), "holds bytes that no text in UTF-8 holds; save it as UTF-8"),
        (TEXT.encode("cp1252") + b"\x81\n", "neither UTF-8 nor Windows-1252 text; save it"),
        (TEXT.encode()[:60] + b"\xff" + TEXT.encode()[60:], r"damaged letters \(the first in line"),
        (b"\xff\xfea\x00,\x00b\x00\n\x00\x01\xd8", "neither UTF-8 nor UTF-16 text"),
    ],
)
def test_what_no_encoding_explains_is_one_sentence(
    tmp_path: Path, written: bytes, sentence: str
) -> None:
    file = tmp_path / "odd.csv"
    file.write_bytes(written)
    with pytest.raises(InputError, match=sentence):
        read_table(file)


def test_an_audit_is_that_of_the_same_file_in_utf8(tmp_path: Path) -> None:
    columns = {"label": "y", "prediction": "p", "sensitive_features": "sex", "resamples": 100}
    (tmp_path / "u.csv").write_text(TEXT, encoding="utf-8")
    (tmp_path / "w.csv").write_bytes(TEXT.encode("cp1252"))
    with pytest.warns(DataCaveatWarning, match=r"w\.csv"):
        found = audit_file(tmp_path / "w.csv", **columns)  # type: ignore[arg-type]
    expected = audit_file(tmp_path / "u.csv", **columns)  # type: ignore[arg-type]
    assert found.frame().equals(expected.frame())


def test_commands_say_it_once_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "w.csv").write_bytes(TEXT.encode("cp1252"))
    args = ["audit", "w.csv", "--label", "y", "--prediction", "p", "--sensitive", "sex"]
    done = isonomy(*args, cwd=tmp_path, env={"COLUMNS": "200"})
    assert done.returncode == 0
    assert done.stderr.count("is not UTF-8 text; it is read as Windows-1252") == 1
    assert "DataCaveatWarning" not in done.stderr
    assert "Zoë" in done.stdout
    info = isonomy("data", "info", "w.csv", "--label", "y", "--sensitive", "sex", cwd=tmp_path)
    assert "Windows-1252" in info.stderr
    assert "Zoë" in info.stdout
    quiet = isonomy(*args, "--quiet", cwd=tmp_path)
    assert (quiet.stdout, quiet.stderr) == ("", "")


def test_no_copy_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "w.csv").write_bytes(TEXT.encode("cp1252"))
    place = tmp_path / "tmp"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    with pytest.warns(DataCaveatWarning):
        read_table(tmp_path / "w.csv")
    assert not [*place.iterdir()]
