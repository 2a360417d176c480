"""The comparison on the authors' own runs: one half of the seeds against the other."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from isonomy.papers.cells import compare_cells, same_part
from isonomy.papers.chen_2022.reader import read_chen

PLACE = Path(__file__).parents[2].parent / "shared" / "published" / "chen"


@pytest.fixture(scope="module")
def halves() -> tuple[pd.DataFrame, pd.DataFrame]:
    if not PLACE.is_dir():
        pytest.skip("needs Chen's archive in shared/published beside the repository")
    frame = read_chen(PLACE)
    runs = frame[frame["repeat"].notna().to_numpy()]
    first = (runs["repeat"] < 25).to_numpy()
    later = runs[~first].copy()
    later["repeat"] = later["repeat"] - 25
    return runs[first], later


def test_two_halves_of_the_same_runs_agree(halves: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    cells = compare_cells(*halves, paired=False)
    assert len(cells) == 588 * 15  # files by metrics
    assert not cells["rejected"].any()
    # tests of cells are dependent, so the share wanders about 5 %
    assert 0.02 < (cells["p"] < 0.05).mean() < 0.09
    assert np.abs(cells["difference"]).mean() < 0.01


def test_what_was_shifted_is_found_and_nothing_else(
    halves: tuple[pd.DataFrame, pd.DataFrame],
) -> None:
    ours, theirs = halves
    shifted = (ours["mitigator"] == "reweighing") & (ours["metric"] == "accuracy")
    bent = ours.assign(value=ours["value"] + 0.1 * shifted.to_numpy())
    cells = compare_cells(bent, theirs, paired=False)
    mine = (cells["mitigator"] == "reweighing") & (cells["metric"] == "accuracy")
    assert mine.sum() == 6 * 7
    assert cells[mine]["rejected"].all()
    assert not cells[~mine]["rejected"].any()


def test_a_run_compared_with_itself_is_equal_seed_by_seed(
    halves: tuple[pd.DataFrame, pd.DataFrame],
) -> None:
    ours = halves[0]
    some = ours[ours["dataset"].isin(["german"]).to_numpy()]
    cells = compare_cells(some, same_part(ours, some))
    assert (cells["equal_runs"] == 1.0).all()
    assert cells["paired"].max() == 0.0
    assert set(cells["dataset"]) == {"german"}
