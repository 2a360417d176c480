"""Three studies of several attributes, from the part of the authors' files beside the repository."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from isonomy.papers import PAPERS, read_published
from isonomy.papers.zerosum_2025.tables import printed

PLACE = Path(__file__).parents[2].parent / "shared" / "published" / "multi"


def archive(name: str) -> pd.DataFrame:
    if not (PLACE / name).is_dir():
        pytest.skip(f"needs the archive {name} in shared/published/multi beside the repository")
    return read_published(name, PLACE / name)


@pytest.fixture(scope="module")
def icse24() -> pd.DataFrame:
    return archive("icse24")


@pytest.fixture(scope="module")
def fairhome() -> pd.DataFrame:
    return archive("fairhome")


@pytest.fixture(scope="module")
def zerosum() -> pd.DataFrame:
    return archive("zerosum")


def row(path: Path, name: str) -> np.ndarray:
    """Return the twenty runs of a row of an authors' file."""
    lines = (line.split() for line in path.read_text().splitlines())
    return np.array(next(line for line in lines if line[0] == name)[1:21], dtype=float)


def test_files_are_read_whole(
    icse24: pd.DataFrame, fairhome: pd.DataFrame, zerosum: pd.DataFrame
) -> None:
    # 224 files of 11 rows, 112 of 38, 8 baselines of 8 rows and 11 degrees
    assert len(icse24) == (224 * 11 + 112 * 38) * 20 + 8 * 8 * 11
    assert len(fairhome) == (84 * 17 + 14 * 20) * 20 + 9 * 11 * 11
    assert len(zerosum) == (246 * 14 + 66 * 20) * 20
    assert icse24["value"].notna().all()


def test_icse24_cells_that_rest_on_adult_and_compas(icse24: pd.DataFrame) -> None:
    paper = PAPERS["icse24"]
    by_task = paper.make("table6", icse24).compare()
    assert by_task["agrees"].tolist() == [True] * 4
    figure = paper.make("fig2", icse24, reading="as_published").compare()
    assert len(figure) == 2 * 2 * 11
    assert figure["agrees"].all()
    # read by their names, 20 of the 22 shares that look at precision and recall differ
    right = paper.make("fig2", icse24, reading="corrected").text()["b"]
    theirs = paper.make("fig2", icse24).printed
    assert theirs is not None
    assert (right[["adult", "compas"]] != theirs["b"][["adult", "compas"]]).to_numpy().sum() == 20


def test_icse24_cells_by_a_loop_over_the_files(icse24: pd.DataFrame) -> None:
    change, share, better = [], [], []
    for dataset in ("adult", "compas"):
        for model in ("lr", "rf", "svm", "dl"):
            pair = [
                PLACE / "icse24" / "Results_multi" / f"{m}_{model}_{dataset}_multi.txt"
                for m in ("default", "maat")
            ]
            before, after = (row(path, "wcspd").mean() for path in pair)
            change.append(after - before)
            share.append((after - before) / before)
            better += [row(pair[1], g).mean() < row(pair[0], g).mean() for g in ("wcspd", "wcaod", "wceod")]  # fmt: skip
    paper = PAPERS["icse24"]
    cell = f"{np.mean(change):.3f} ({100 * np.mean(share):.1f}%)"
    assert paper.make("table8", icse24).data.loc["maat", "SPD"] == cell == "-0.067 (-30.4%)"
    assert paper.make("table7", icse24).data.loc["maat", "intersec_increase"] == np.mean(better)


def test_icse24_slip_in_the_numbers_of_the_page(icse24: pd.DataFrame) -> None:
    paper = PAPERS["icse24"]
    page = (Path(__file__).parents[2] / "docs" / "what-we-found.md").read_text(encoding="utf-8")
    columns = ["precision_multi_abso", "recall_multi_abso"]
    published, right = (
        paper.make("table9", icse24, reading=r).data.loc["rw", columns].round(3).tolist()
        for r in ("as_published", "corrected")
    )
    assert f"reweighing {-published[0]:.3f} of precision and to win {published[1]:.3f}" in page
    assert f"it is {right[0]:.3f} and {right[1]:+.3f}" in page
    shares = {
        reading: paper.make("fig1", icse24, reading=reading).data[["good", "win-win"]].sum(axis=1)
        for reading in ("as_published", "corrected")
    }
    maat, mask, rw = (
        [f"{shares[r][m]:.0%}" for r in ("as_published", "corrected")]
        for m in ("maat", "fairmask", "rw")
    )
    assert f"in {maat[0]} of the cases as published and in {maat[1]} corrected" in page
    assert f"FairMask in {mask[0]} and {mask[1]}, RW in {rw[0]} and {rw[1]}" in page


@pytest.mark.parametrize("dataset", ["adult", "compas"])
def test_adversarial_debiasing_of_two_attributes_is_that_of_the_first_attribute(
    icse24: pd.DataFrame, zerosum: pd.DataFrame, dataset: str
) -> None:
    """All runs, all metrics that both files hold; no other method's files are equal."""

    def runs(frame: pd.DataFrame, method: str, attributes: str) -> pd.DataFrame:
        here = (frame["dataset"] == dataset) & (frame["model"] == "lr")
        of = (frame["mitigator"] == method) & (frame["attributes"] == attributes)
        part = frame[(here & of).to_numpy()]
        named = part["metric"].astype(str)
        if attributes == "sex":
            named = named.str.replace(r"difference\|$", "difference[sex]|", regex=True)
        return part.assign(metric=named).pivot_table(index="repeat", columns="metric", values="value", observed=True)  # fmt: skip

    for frame, metrics in ((icse24, 11), (zerosum, 5)):
        both, one = (runs(frame, "adversarial_debiasing", a) for a in ("sex+race", "sex"))
        shared = both.columns.intersection(one.columns)
        assert len(shared) == metrics
        assert both[shared].shape == (20, metrics)
        pd.testing.assert_frame_equal(both[shared], one[shared], atol=1e-9, rtol=0)
    others = [m for m in icse24["mitigator"].unique() if m not in ("adversarial_debiasing", "unmitigated")]  # fmt: skip
    for method in map(str, others):
        both, one = (runs(icse24, method, a) for a in ("sex+race", "sex"))
        if len(both) and len(one):
            assert (both["accuracy"] != one["accuracy"]).any(), method


def test_fairhome_table2_of_nine_cases(fairhome: pd.DataFrame) -> None:
    compared = PAPERS["fairhome"].make("table2", fairhome).compare()
    assert len(compared) == 9 * 2 * 11
    assert compared["agrees"].all()


def test_fairhome_wins_by_a_loop_over_the_files(fairhome: pd.DataFrame) -> None:
    wins = ties = losses = 0
    for folder, tasks in (("Results", ("adult", "german")), ("Results_Three", ("compas_new",))):
        for task in tasks:
            for model in ("lr", "rf", "svm", "dl") if folder == "Results" else ("lr",):
                ours, other = (
                    row(PLACE / "fairhome" / folder / f"{m}_{model}_{task}.txt", "wcspd")
                    for m in ("fairhome", "maat")
                )
                sure = stats.mannwhitneyu(ours, other).pvalue < 0.05
                wins += sure and ours.mean() < other.mean()
                losses += sure and ours.mean() > other.mean()
                ties += not sure
    five = PAPERS["fairhome"].make("table5", fairhome).data
    assert five.loc["wcspd", "maat"] == f"{wins}/{ties}/{losses}" == "4/4/1"


def test_zerosum_counts_fit_into_the_output_over_eight_tasks(zerosum: pd.DataFrame) -> None:
    """Six of eight tasks: what the other two add is between 0 and 8 cases, and 8 in all."""
    made = PAPERS["zerosum"].make("table2", zerosum)
    rest = printed("table2").astype(int) - made.data
    assert rest.shape == (8, 18)
    assert ((rest >= 0) & (rest <= 8)).to_numpy().all()
    assert (rest.T.groupby(lambda name: name[:3]).sum() == 8).to_numpy().all()
    three, theirs = PAPERS["zerosum"].make("table3", zerosum), printed("table3").astype(float)
    ends = [column for column in theirs if column.endswith("_max")]
    # a largest change of six tasks is at most that of eight, and nearly always the same
    beyond = theirs[ends].abs() - three.data[ends].abs()
    assert (beyond > -1e-6).to_numpy().all()
    assert (three.text()[ends] == printed("table3")[ends]).to_numpy().sum() == 43
    often = [column for column in theirs if column.endswith("_large")]
    more = 32 * theirs[often] - 24 * three.data[often]
    np.testing.assert_allclose(more, more.round(), atol=1e-4)
    assert more.to_numpy().min() > -1e-4
    assert more.to_numpy().max() < 8 + 1e-4


def test_zerosum_counts_by_a_loop_over_the_files(zerosum: pd.DataFrame) -> None:
    falls = 0
    for task in (
        "adult_sex",
        "adult_race",
        "compas_sex",
        "compas_race",
        "german_sex",
        "german_age",
    ):
        for model in ("lr", "rf", "svm", "dl"):
            before, after = (
                row(PLACE / "zerosum" / "Results_Single" / f"{m}_{model}_{task}.txt", "srp")
                for m in ("origin", "maat")
            )
            p = stats.mannwhitneyu(after, before).pvalue
            falls += p < 0.05 and after.mean() < before.mean()
    assert PAPERS["zerosum"].make("table2", zerosum).data.loc["maat", "srp_de"] == falls == 12
