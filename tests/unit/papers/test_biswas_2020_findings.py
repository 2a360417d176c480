"""The twelve findings and Figure 7 of the forty-model study, on runs made up to be checked by hand."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from isonomy.cli import app
from isonomy.metrics.joint import JointCounts
from isonomy.papers import PAPERS
from isonomy.papers.biswas_2020.findings import CORRECTED, findings
from isonomy.papers.biswas_2020.second import fig7, second_attributes, totals_by_attribute
from isonomy.papers.biswas_2020.tables import METHODS
from isonomy.store import Record, Store, records_frame
from tests.unit.papers.test_biswas_2020 import NINE, run

PUBLISHED = "biswas_2020"
FAIR = {"disparate_impact": 1.0, "consistency": 1.0, "accuracy": 0.8, "favorable_f1": 0.7}


def record(study: str, model: str, letter: str, repeat: int = 0, **values: float) -> Record:
    given = {"": BEFORE, **METHODS}[letter] if letter in {"", *METHODS} else letter
    metrics = dict.fromkeys(NINE, 0.0) | FAIR | values
    return Record(study, "german", "sex", model, given, repeat, metrics)


BEFORE = "unmitigated"


def study(name: str, biases: dict[str, dict[str, float]]) -> list[Record]:
    """Models whose only bias is SPD, by method; losing accuracy and F1 where O is applied."""
    cost = {"O": {"accuracy": 0.6, "favorable_f1": 0.5}}
    return [
        record(name, model, letter, statistical_parity_difference=bias, **cost.get(letter, {}))
        for model, by_letter in biases.items()
        for letter, bias in by_letter.items()
    ]


def biases(before: float, **after: float) -> dict[str, float]:
    return {"": before} | {letter: after.get(letter, 0.9) for letter in METHODS}


def answers(ours: list[Record], side: str) -> dict[str, str]:
    table = findings(ours=records_frame(ours))
    return {row.split(".")[0]: cells[side] for row, cells in table.data.iterrows()}


def test_without_runs_every_finding_says_what_to_run() -> None:
    table = findings()
    assert len(table.data) == 12
    assert (table.data["ours"] == "not yet run: isonomy study run biswas_2020").all()
    assert table.data["corrected"].str.endswith("isonomy study run biswas_2020_corrected").all()
    assert table.data["survives"].str.startswith("open").all()
    assert table.data["as published"].str.len().min() > 10


def test_a_finding_survives_where_the_corrected_runs_show_it() -> None:
    as_published = {"GC1": biases(0.1, R=0.05), "GC6": biases(0.3, O=0.1)}
    turned_round = {"GC1": biases(0.3, O=0.1), "GC6": biases(0.1, R=0.05)}
    both = study(PUBLISHED, as_published) + study(CORRECTED, turned_round)
    assert answers(both, "ours")["1"].startswith("total bias 0.10 by recall (GC1), 0.30")
    assert answers(both, "ours")["1"].endswith("(holds)")
    assert answers(both, "corrected")["1"].endswith("(does not hold)")
    assert answers(both, "survives")["1"] == "no"
    same = study(PUBLISHED, as_published) + study(CORRECTED, as_published)
    assert answers(same, "survives")["1"] == "yes"
    assert answers(same, "survives")["2"].startswith("open")
    assert answers(same, "ours")["2"] == "no runs of HC1, HC2"


def test_methods_are_counted_by_stage() -> None:
    ours = answers(
        study(PUBLISHED, {"GC1": biases(0.1, R=0.05), "GC6": biases(0.3, O=0.1, A=0.2)}), "ours"
    )
    assert ours["8"].startswith("R is best in 1 of 2 models, second in 0; bias falls in 1 of 2")
    assert "post-processing is best in 1 of 2 models and lowers bias in 50%" in ours["9"]
    # what a finding says of forty models is not judged on two
    few = "(not judged on 2 of 40 models)"
    assert ours["10"] == f"no in-processing method is best in any model {few}"
    assert (
        f"both accuracy and F1 fall in 1; on average by 20.00 and 20.00 points {few}" in ours["11"]
    )
    # A follows O in GC6, performs better, and its bias is 0.1 larger; D follows R in GC1, far off
    assert "as well or better in 2 of 2 models, within 0.1 of total bias in 1 (GC6)" in ours["12"]


def test_reweighing_is_preferable_where_it_is_ahead_more_often_than_by_chance() -> None:
    best, third = biases(0.3, R=0.1, O=0.2), biases(0.3, R=0.2, O=0.1, C=0.15)
    for ahead, sign in ((7, "(holds)"), (6, "(does not hold)")):  # two of seven methods: 6 of 21
        made = {f"M{k}": best if k < ahead else third for k in range(21)}
        said = answers(study(PUBLISHED, made), "ours")["8"]
        assert said.startswith(f"R is best in {ahead} of 21 models, second in 0; bias falls in 21")
        assert said.endswith(sign)


def test_spread_is_of_several_runs() -> None:
    single = answers([run("GC1", "", 0.1)], "ours")
    assert single["6"].startswith("not yet run")  # the study of these is another one
    runs = [
        record(PUBLISHED, "GC1", "", i, equal_opportunity_difference=x, average_odds_difference=x,
               disparate_impact=float(np.exp(x)))
        for i, x in enumerate((0.1, 0.2, 0.3))
    ] + [record(PUBLISHED, "GC1", "R", i) for i in range(3)]  # fmt: skip
    said = answers(runs, "ours")["6"]
    assert "DI 0.100" in said
    assert said.endswith("(not judged on 1 of 40 models)")
    enough = [replace(r, model=f"M{k}") for k in range(20) for r in runs]
    assert answers(enough, "ours")["6"].endswith("(holds)")
    assert (
        answers(runs[:1] + runs[3:], "ours")["6"] == "one run of each model: no standard deviation"
    )


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A run of German by sex, whose predictions favour the old and not a sex."""
    y = np.array([1, 1, 0, 0] * 2)
    labels = np.array([1, 0, 1, 0] * 2)
    groups = {"sex": ["f"] * 4 + ["m"] * 4, "age": ["old", "young"] * 4}
    counts = JointCounts.from_labels(
        y, labels, labels, sensitive_features=groups, privileged={"sex": "m", "age": "old"}
    )
    made = Store.create(tmp_path / PUBLISHED, PUBLISHED)
    values = dict.fromkeys(NINE, 0.0) | FAIR | {"consistency": 0.5}
    with made.writer() as writer:
        for letter in ("", *METHODS):
            name = METHODS.get(letter, BEFORE)
            writer.append(
                [
                    Record(
                        PUBLISHED, "german", "sex", "GC1", name, 0, values, counts=counts, key=name
                    )
                ]
            )
    return Store.open(made.path)


def test_figure_7_takes_the_second_attribute_from_joint_counts(store: Store) -> None:
    second = second_attributes(store)
    assert second["attributes"].unique().tolist() == ["age"]
    assert second["mitigator"].unique().tolist() == [BEFORE]
    frame = PAPERS["biswas"].frame_of(store)
    assert (
        fig7(frame)
        .notes[0]
        .endswith("in print: german sex 4.82, german age 7.72, adult race 8.56, adult sex 15.15.")
    )
    figure = fig7(frame).data
    assert figure.loc[("GC1", "sex"), "SPD"] == 0.0
    assert figure.loc[("GC1", "age"), "SPD"] == -1.0  # every old one is favoured, no young one
    assert figure.loc[("GC1", "age"), "CNT"] == figure.loc[("GC1", "sex"), "CNT"]
    assert totals_by_attribute(frame).columns.tolist() == ["german sex", "german age"]
    # other tables do not see it
    assert PAPERS["biswas"].make("fig3", frame).data.loc["GC1", "SPD"] == 0.0


def test_compare_and_tables_read_the_corrected_study_beside_it(store: Store) -> None:
    other = Store.create(store.path.parent / CORRECTED, CORRECTED)
    with other.writer() as writer:
        writer.append(study(CORRECTED, {"GC1": biases(0.1, R=0.05), "GC6": biases(0.3, O=0.1)}))
    shown = CliRunner().invoke(app, ["study", "compare", str(store.path)], env={"COLUMNS": "200"})
    assert shown.exit_code == 0, shown.output
    assert "The paper's twelve findings" in shown.output
    assert "corrected: total bias 0.10 by recall (GC1), 0.30 by precision (GC6)" in shown.output
    assert "recomputed: the authors' files were not given" in shown.output
    words = ["study", "tables", str(store.path), "--table", "findings"]
    table = CliRunner().invoke(app, words, env={"COLUMNS": "200"})
    assert table.exit_code == 0, table.output
    assert "corrected: total bias 0.10 by recall (GC1), 0.30 by precision (GC6)" in table.output


def test_print_of_table_2_stands_beside_our_runs(store: Store) -> None:
    table = PAPERS["biswas"].make("table2", PAPERS["biswas"].frame_of(store))
    compared = table.compare().set_index("column")
    assert len(compared) == 20
    assert compared.loc["before CNT", "printed"] == "-.002"
    assert compared.loc["before CNT", "recomputed"] == "-.693"
    assert isinstance(table.printed, pd.DataFrame)
