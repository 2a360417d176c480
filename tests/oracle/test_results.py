"""The files in results/: small enough, whole, listed, and the same when some of it is run again."""

import pytest

from isonomy._names import parse_name
from isonomy.study import Results, keys, plan
from isonomy.study.pack import TABLE, results_table
from isonomy.study.run import study_of
from isonomy.testing import check_results
from tests.conftest import ROOT
from tests.registry import real

FOLDER = ROOT / "results"
FILES = sorted(FOLDER.glob("*.parquet"))
STUDIES = ["chen_2022", "fairea_2021", "monjezi_2025", "biswas_2020", "biswas_2020_corrected"]
LARGEST = 6 * 10**6
NAMES = sorted({*STUDIES, *(file.stem for file in FILES)})


def results_of(name: str) -> Results:
    file = FOLDER / f"{name}.parquet"
    if not file.exists():
        pytest.skip(f"results/{file.name} is not there: the study has not been exported yet")
    return Results.open(file)


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_small_and_whole(name: str) -> None:
    results = results_of(name)
    assert results.path.stat().st_size <= LARGEST
    assert results.name == name
    assert len(results.manifest["metrics"]) > 0


def test_the_readme_lists_every_file() -> None:
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert f"{TABLE[0]}\n{results_table(FOLDER)}{TABLE[1]}" in text


@pytest.mark.parametrize("name", NAMES)
def test_a_few_records_run_again_are_the_same(name: str) -> None:
    """Small data and cheap methods; what was run with other versions is left to `make slow`."""
    results = results_of(name)
    study = study_of(results)
    small = [t for t in plan(study) if parse_name(t.dataset)[0] in ("german", "titanic", "compas")]
    current = {key for trial in small for key in keys(study, trial)} & results.keys("ok")
    assert current, "every record of small data is of other versions or settings"
    for dataset in {t.dataset for t in small}:
        real(parse_name(dataset)[0], **parse_name(dataset)[1])
    listed = ", ".join(f"'{key}'" for key in sorted(current))
    assert len(check_results(results, sample=2, where=f"cpu < 1 and key in ({listed})")) == 2


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_records_run_again_are_the_same(name: str) -> None:
    results = results_of(name)
    for dataset in results.query("select distinct dataset from runs where status = 'ok'")[
        "dataset"
    ]:
        real(parse_name(dataset)[0], **parse_name(dataset)[1])
    check_results(results, sample=40, where="cpu < 60")
