"""The readers on small made-up archives, their irregularities included."""

import io
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from isonomy.errors import InputError, UnknownName
from isonomy.papers import read_published
from isonomy.papers.biswas_2020.reader import read_biswas
from isonomy.papers.biswas_2020.workbook import read_sheet
from isonomy.papers.chen_2022.reader import read_chen
from isonomy.papers.fairea_2021.reader import read_fairea
from isonomy.store import wide

SPD, AOD = "|statistical_parity_difference|", "average_absolute_odds_difference"


def put(root: Path, path: str, text: str) -> None:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def one(frame: pd.DataFrame, **where: str) -> pd.DataFrame:
    for name, value in where.items():
        frame = frame[frame[name] == value]
    return frame


def test_fairea_runs_with_spaces_in_the_file_name(tmp_path: Path) -> None:
    name = "roc1_dt_compas_race_Statistical parity difference_0_50.txt"
    put(tmp_path, f"Results/RQ1-RQ2/dt/{name}", "0.1 0.8 0.05\n0.2 0.7 0.04\n\n")
    table = wide(read_fairea(tmp_path))
    assert table["mitigator"].tolist() == ["reject_option(metric=spd)"] * 2
    assert table["model"].tolist() == ["dt", "dt"]
    assert table[[SPD, "accuracy", AOD]].to_numpy().tolist() == [[0.1, 0.8, 0.05], [0.2, 0.7, 0.04]]


def test_fairea_sweeps_are_variants_beside_the_method_switched_off(tmp_path: Path) -> None:
    put(
        tmp_path,
        "RQ3_prejudice/eta_adult_sex.txt",
        "1\n.1 .8 .05 .3\n.2 .7 .04 .2\n25\n.3 .6 .03 .1\n",
    )
    put(tmp_path, "RQ3_adversarial/weights_adult_sex.txt", "0.05\n.1 .8 .05 .3")
    table = wide(read_fairea(tmp_path))
    assert set(table["model"]) == {
        "prejudice_remover(eta=0)",
        "adversarial_debiasing(adversary_loss_weight=0)",
    }
    swept = table[table["mitigator"] == "prejudice_remover(eta=1)"]
    assert swept["repeat"].tolist() == [0, 1]
    assert swept["theil_index"].tolist() == [0.3, 0.2]
    assert "prejudice_remover(eta=25)" in set(table["mitigator"])
    assert "adversarial_debiasing(adversary_loss_weight=0.05)" in set(table["mitigator"])


def test_fairea_strategies_follow_from_the_accuracy_they_end_at(tmp_path: Path) -> None:
    # minority written first: the order of the lines must not matter
    text = "Accuracy\n.9 .5 .2\n.9 .85 .8\nSPD\n.3 .15 .0\n.3 .14 .0\nAOD\n.2 .11 .0\n.2 .1 .0\n"
    put(tmp_path, "RQ3_prejudice/adult_sex.txt", text)
    frame = read_fairea(tmp_path)
    assert frame["repeat"].isna().all()
    assert set(frame["model"]) == {"prejudice_remover(eta=0)"}
    table = wide(frame).set_index("mitigator")
    assert table.loc["mutation(strategy=majority, degree=0.5)", "accuracy"] == 0.85
    assert table.loc["mutation(strategy=minority, degree=1)", "accuracy"] == 0.2
    assert table.loc["mutation(strategy=majority, degree=0.5)", SPD] == 0.14
    assert table.loc["mutation(strategy=minority, degree=0.5)", AOD] == 0.11


def test_fairea_says_which_file_is_broken(tmp_path: Path) -> None:
    put(tmp_path, "eo_lr_adult_sex_0_50.txt", "0.1 0.8\n")
    with pytest.raises(InputError, match=r"eo_lr_adult_sex_0_50\.txt must hold lines of 3 or 4"):
        read_fairea(tmp_path)
    put(tmp_path, "eo_lr_adult_sex_0_50.txt", "0.1 0.8 oh\n")
    with pytest.raises(InputError, match=r"eo_lr_adult_sex_0_50\.txt must hold numbers"):
        read_fairea(tmp_path)


def chen_file(values: list[float]) -> str:
    words = "\t".join(f"{v:f}" for v in values)
    return f"accuracy\t{words}\nprecision0\t{words}\nspd\t{words}\n"


def test_chen_runs_and_the_file_with_52_values(tmp_path: Path) -> None:
    values = [i / 100 for i in range(52)]
    put(tmp_path, "Results/roc1_dl4_bank_age.txt", chen_file(values))
    put(tmp_path, "Results/default_svm_mep_RACE.txt", chen_file(values[:50]))
    frame = read_chen(tmp_path)
    long = one(frame, dataset="bank", metric="accuracy")
    assert long["value"].tolist() == values[:50]
    assert set(long["reason"]) == {"the file has 52 values a row; the first 50 are the runs"}
    plain = one(frame, dataset="meps")
    assert set(plain["attributes"]) == {"race"}
    assert set(plain["reason"]) == {""}
    assert set(plain["mitigator"]) == {"unmitigated"}
    assert set(plain["metric"]) == {"accuracy", "unfavorable_precision(zero_division=0)", SPD}


def test_chen_baselines_are_points_by_degree(tmp_path: Path) -> None:
    put(tmp_path, "Fairea_baseline/mep_dl2_RACE_baseline", "SPD\t.4\t.2\t.0\nAcc\t.9\t.8\t.7\n")
    table = wide(read_chen(tmp_path))
    assert table["model"].tolist() == ["dl2"] * 3
    by_degree = table.set_index("mitigator")["accuracy"]
    assert by_degree["mutation(strategy=majority, degree=0.5)"] == 0.8


def test_chen_reads_a_zip_and_an_unpacked_file_hides_its_original(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("Results/rw_lr_adult_sex.txt", chen_file([0.1]))
        archive.writestr("Results/rw_rf_adult_sex.txt", chen_file([0.2]))
        archive.writestr("__MACOSX/Results/._rw_lr_adult_sex.txt", "junk")
    (tmp_path / "Results.zip").write_bytes(packed.getvalue())
    put(tmp_path, "Results/rw_lr_adult_sex.txt", chen_file([0.3]))
    found = wide(read_chen(tmp_path)).set_index("model")["accuracy"]
    assert found.to_dict() == {"lr": 0.3, "rf": 0.2}


def test_chen_refuses_an_unknown_metric_and_ragged_rows(tmp_path: Path) -> None:
    put(tmp_path, "rw_lr_adult_sex.txt", "acuracy\t0.1\n")
    with pytest.raises(UnknownName, match="did you mean 'accuracy'"):
        read_chen(tmp_path)
    put(tmp_path, "rw_lr_adult_sex.txt", "accuracy\t0.1\t0.2\nspd\t0.1\n")
    with pytest.raises(InputError, match="rows of equal length"):
        read_chen(tmp_path)


NINE = "Acc,F1,DI,SPD,EOD,AOD,ERD,CNT,TI"


def test_biswas_runs_with_a_repeated_row_and_an_undefined_value(tmp_path: Path) -> None:
    rows = [",".join([str(i), "nan" if i == 3 else "0.5", *["0.1"] * 7]) for i in range(9)]
    put(tmp_path, "src/models/german/res/german3/2.csv", "\n".join([NINE, *rows]))
    frame = read_biswas(tmp_path)
    table = wide(frame)
    assert table["model"].unique().tolist() == ["GC3"]
    assert table["repeat"].unique().tolist() == [1]
    assert len(table) == 8
    by_method = table.set_index("mitigator")["accuracy"]
    assert by_method["unmitigated"] == 0.0
    assert by_method["reject_option(metric=spd)"] == 7.0
    undefined = frame[frame["value"].isna()]
    assert undefined["mitigator"].tolist() == ["adversarial_debiasing"]
    assert undefined["metric"].tolist() == ["favorable_f1"]
    assert undefined["reason"].iloc[0].endswith("0 in the denominator")
    assert all("9 rows" in reason for reason in frame["reason"])


def test_biswas_aggregates_have_no_repeat(tmp_path: Path) -> None:
    methods = ["RW", "DIR", "AD", "PR", "EO", "CEO", "ROC"]
    header = ",".join(["Model", NINE, *(f"{m},{NINE}" for m in methods)])
    row = ",".join(["1", *(f"{',' if b else ''}" + ",".join([str(b)] * 9) for b in range(8))])
    put(tmp_path, "src/models/titanic/all_model.csv", f"{header}\n{row}\n")
    table = wide(read_biswas(tmp_path))
    assert table["repeat"].isna().all()
    assert table["study"].unique().tolist() == ["biswas_2020:all_model"]
    found = table.set_index("mitigator")["ln(consistency)"]
    assert found["unmitigated"] == 0.0
    assert found["reject_option(metric=spd)"] == 7.0


def test_a_folder_without_results_or_no_folder_is_said_so(tmp_path: Path) -> None:
    for study in ("fairea", "chen", "biswas"):
        with pytest.raises(InputError, match="it holds none"):
            read_published(study, tmp_path)
    with pytest.raises(InputError, match="must exist"):
        read_published("chen", tmp_path / "nowhere")
    with pytest.raises(UnknownName, match="did you mean 'chen'"):
        read_published("cheng", tmp_path)


def workbook(sheet: str, name: str = "first") -> bytes:
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    link = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{main}" xmlns:r="{link}"><sheets>'
            f'<sheet name="{name}" r:id="rId1"/></sheets></workbook>',
        )
        archive.writestr(
            "xl/_rels/workbook.xml.rels",
            '<Relationships><Relationship Id="rId1" Target="worksheets/sheet1.xml"/></Relationships>',
        )
        archive.writestr(
            "xl/sharedStrings.xml",
            f'<sst xmlns="{main}"><si><r><t>Re</t></r><r><t>weighing</t></r></si></sst>',
        )
        archive.writestr(
            "xl/worksheets/sheet1.xml",
            f'<worksheet xmlns="{main}"><sheetData>{sheet}</sheetData></worksheet>',
        )
    return out.getvalue()


def test_sheets_are_read_with_texts_numbers_and_holes() -> None:
    cells = (
        '<row r="2"><c r="A2" t="s"><v>0</v></c><c r="B2"/><c r="AC2"><v>2E-3</v></c></row>'
        '<row r="4"><c r="B4" t="str"><f>1</f><v>x</v></c></row>'
    )
    assert read_sheet(workbook(cells), "first") == {
        2: {"A": "Reweighing", "AC": 0.002},
        4: {"B": "x"},
    }
    with pytest.raises(UnknownName, match="first"):
        read_sheet(workbook(cells), "second")
    with pytest.raises(InputError, match="xlsx"):
        read_sheet(b"no zip", "first")


def test_biswas_reads_the_ten_run_means_from_the_workbook(tmp_path: Path) -> None:
    letters = [
        *"CDEFGHIJKLMNOPQRSTUVWXYZ",
        *(f"{a}{b}" for a in "ABC" for b in map(chr, range(65, 91))),
    ]
    numbers = np.arange(72) / 1000
    row = "".join(f'<c r="{c}3"><v>{v}</v></c>' for c, v in zip(letters, numbers, strict=False))
    sheet = f'<row r="3"><c r="B3" t="str"><v>HC7-XGB</v></c>{row}</row>'
    (tmp_path / "artifact-result.xlsx").write_bytes(workbook(sheet, "all-result"))
    table = wide(read_biswas(tmp_path))
    assert table["model"].unique().tolist() == ["HC7"]
    assert table["dataset"].unique().tolist() == ["home_credit"]
    assert table.set_index("mitigator").loc["reweighing", "accuracy"] == 0.009


def test_a_wrong_folder_is_told_what_a_right_one_holds(tmp_path: Path) -> None:
    put(tmp_path, "eo_lr_adult_sex_0_50.txt", "a stranger's file\n")
    with pytest.raises(InputError, match=r"a folder of this paper holds Fairea's result files"):
        read_published("fairea", tmp_path)


def test_a_folder_of_everything_is_not_walked_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("isonomy.papers.archive.MOST_FILES", 3)
    for place in range(5):
        put(tmp_path, f"note{place}.md", "not a result\n")
    with pytest.raises(InputError, match="has more than 3 files"):
        read_published("chen", tmp_path)
