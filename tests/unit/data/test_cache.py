"""The Parquet cache of read tables."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from isonomy.data.cache import cached_table
from isonomy.data.catalog import check_table
from isonomy.errors import DataUnavailable


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ISONOMY_DATA", str(tmp_path))
    return tmp_path


def table() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "b": [3, 1, 2],
            "a": [0.1, np.nan, -np.inf],
            "text": pd.Categorical(["it's", None, 'a "b", {c}']),
            "codes": pd.Categorical([-1, 2, 2]),
            "flag": [True, False, True],
        }
    )


class Reader:
    def __init__(self) -> None:
        self.calls = 0

    def __call__(self) -> pd.DataFrame:
        self.calls += 1
        return table()


def test_the_second_load_comes_from_the_cache_unchanged(folder: Path) -> None:
    read = Reader()
    first = cached_table("t", "1", read)
    second = cached_table("t", "1", read)
    assert read.calls == 1
    pd.testing.assert_frame_equal(first, table())
    pd.testing.assert_frame_equal(second, table())
    assert second.columns.tolist() == ["b", "a", "text", "codes", "flag"]
    assert not list((folder / "staging").iterdir())


def test_a_new_stamp_reads_again(folder: Path) -> None:
    read = Reader()
    cached_table("t", "1", read)
    cached_table("t", "2", read)
    assert read.calls == 2


@pytest.mark.parametrize("damage", ["cut", "flip", "empty"])
def test_a_damaged_table_is_read_again_and_mended(folder: Path, damage: str) -> None:
    read = Reader()
    cached_table("t", "1", read)
    (path,) = (folder / "tables").glob("*.parquet")
    content = bytearray(path.read_bytes())
    if damage == "flip":
        content[len(content) // 2] ^= 1
    path.write_bytes({"cut": content[:-20], "flip": content, "empty": b""}[damage])
    pd.testing.assert_frame_equal(cached_table("t", "1", read), table())
    assert read.calls == 2
    pd.testing.assert_frame_equal(cached_table("t", "1", read), table())
    assert read.calls == 2
    assert len(list((folder / "tables").glob("*.parquet"))) == 1


def test_a_source_that_has_changed_is_refused() -> None:
    given = table()
    assert check_table("t", given, rows=3, columns=["a", "b"]) is given
    with pytest.raises(DataUnavailable, match=r"'t' must be a table of 4 rows .* one of 3 rows"):
        check_table("t", given, rows=4, columns=["a", "b"])
    with pytest.raises(DataUnavailable, match="one without 'c'"):
        check_table("t", given, rows=3, columns=["a", "c"])


def test_a_table_that_another_process_wrote_meanwhile_is_kept(folder: Path) -> None:
    def read() -> pd.DataFrame:
        cached_table("t", "1", table)  # the other process
        return table()

    pd.testing.assert_frame_equal(cached_table("t", "1", read), table())
    assert len(list((folder / "tables").glob("*.parquet"))) == 1
