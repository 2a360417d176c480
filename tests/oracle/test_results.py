"""The files in results/: small enough, whole, listed, and the same when some of it is run again.

Bits are the processor's: OpenBLAS adds up in another order on one with AVX-512, and a search that
ends where its last bit leaves it (prejudice remover as published) then changes the label of a row.
A record must come out the same by the kernels of this machine or by those of the other kind.
"""

import os
import subprocess
import sys
from collections.abc import Sequence

import numpy as np
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
KERNELS = ("SkylakeX", "Haswell")
"""OpenBLAS's for processors with AVX-512, and for those with AVX2 alone."""


def results_of(name: str) -> Results:
    file = FOLDER / f"{name}.parquet"
    if not file.exists():
        pytest.skip(f"results/{file.name} is not there: the study has not been exported yet")
    return Results.open(file)


def different(results: Results, keys: Sequence[str]) -> list[str]:
    """Run records again, and return those that come out otherwise, as ``key: what differs``."""
    said = []
    for key in keys:
        try:
            assert len(check_results(results, sample=1, where=f"key = '{key}'")) == 1
        except AssertionError as error:
            said.append(f"{key}: {' '.join(str(error).split())[:300]}")
    return said


def assert_the_same(results: Results, keys: Sequence[str]) -> None:
    said = different(results, keys)
    for kernel in KERNELS:
        left = [line.split(":")[0] for line in said]
        if left:
            code = (
                "from tests.oracle.test_results import different, results_of; "
                f"print(*different(results_of({results.name!r}), {left!r}), sep='\\n')"
            )
            child = subprocess.run(
                [sys.executable, "-W", "ignore", "-c", code],
                cwd=ROOT,
                env=os.environ | {"OPENBLAS_CORETYPE": kernel},
                capture_output=True,
                text=True,
                check=True,
            )
            said = child.stdout.split("\n")[:-1] if child.stdout.strip() else []
    assert not said


def drawn(results: Results, where: str, number: int) -> list[str]:
    sql = f"select key from runs where status = 'ok' and repeat is not null and ({where})"
    found = sorted(results.query(sql)["key"])
    return np.random.default_rng(0).choice(found, min(number, len(found)), replace=False).tolist()


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
    # the cost of a search is in the record of the model itself, and comes again with any other
    searched = "select dataset || model from runs where mitigator = 'unmitigated' and cpu >= 1"
    cheap = f"cpu < 1 and dataset || model not in ({searched}) and key in ({listed})"
    keys_drawn = drawn(results, cheap, 2)
    assert len(keys_drawn) == 2
    assert_the_same(results, keys_drawn)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_records_run_again_are_the_same(name: str) -> None:
    results = results_of(name)
    for dataset in results.query("select distinct dataset from runs where status = 'ok'")[
        "dataset"
    ]:
        real(parse_name(dataset)[0], **parse_name(dataset)[1])
    assert_the_same(results, drawn(results, "cpu < 60", 40))
