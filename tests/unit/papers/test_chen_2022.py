"""The 17-method study's tables: against plain loops with SciPy, and cases checked by hand."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats as scipy_stats
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier

from isonomy.errors import InputError
from isonomy.papers.chen_2022 import tables as chen_2022
from isonomy.papers.chen_2022.cases import PAIRS, PERFORMANCE, cube_of
from isonomy.papers.chen_2022.findings import findings
from isonomy.papers.chen_2022.forest import LegacyRandomForest
from isonomy.store import Record, records_frame

NAMES = {**PERFORMANCE, **chen_2022.BIAS}
METHODS = chen_2022.METHODS
REPEATS = 60


def record(task: str, model: str, mitigator: str, repeat: int | None, values: object) -> Record:
    dataset, attribute = chen_2022.TASKS[task]
    metrics = dict(zip(NAMES.values(), np.broadcast_to(values, len(NAMES)).tolist(), strict=True))
    return Record("demo", dataset, attribute, model, mitigator, repeat, metrics)


@pytest.fixture(scope="module")
def random_runs() -> dict[tuple[str, str, str], np.ndarray]:
    """Runs [metric, repeat] of two tasks, two models, the original and five methods."""
    rng = np.random.default_rng(4)
    out = {}
    for task in ("Adult-Sex", "German-Age"):
        for model in ("lr", "rf"):
            for i, label in enumerate(["", "OP", "RW", "DIR", "EOP", "Fair-SMOTE"]):
                shift = rng.choice([0.0, -0.03, -0.045, -0.2, 0.1], size=(15, 1)) if i else 0.0
                out[task, model, label] = (0.7 + shift + 0.25 * rng.random((15, REPEATS))).round(2)
    return out


@pytest.fixture(scope="module")
def frame(random_runs: dict[tuple[str, str, str], np.ndarray]) -> pd.DataFrame:
    return records_frame(
        record(task, model, METHODS.get(label, "unmitigated"), repeat, runs[:, repeat])
        for (task, model, label), runs in random_runs.items()
        for repeat in range(REPEATS)
    )


def effect_by_hand(base: np.ndarray, mine: np.ndarray) -> int:
    p = scipy_stats.mannwhitneyu(base, mine, method="asymptotic").pvalue
    if p >= 0.05 or mine.mean() - base.mean() >= 0:
        return 0
    spread = np.sqrt((base.var(ddof=1) + mine.var(ddof=1)) / 2)
    d = abs(base.mean() - mine.mean()) / spread
    return 1 if d < 0.5 else 2 if d < 0.8 else 3


def test_effects_equal_a_loop_over_scipy(
    frame: pd.DataFrame, random_runs: dict[tuple[str, str, str], np.ndarray]
) -> None:
    codes: dict[str, dict[object, list[int]]] = {n: {} for n in ("fig3", "fig4", "fig5", "fig6")}
    for (task, model, label), runs in random_runs.items():
        for i, metric in enumerate(NAMES if label else ()):
            code = effect_by_hand(random_runs[task, model, ""][i], runs[i])
            by_metric, by_method = ("fig3", "fig4") if i < 11 else ("fig5", "fig6")
            codes[by_metric].setdefault(metric, []).append(code)
            codes[by_method].setdefault(label, []).append(code)
    assert {c for rows in codes.values() for row in rows.values() for c in row} == {0, 1, 2, 3}
    for name, rows in codes.items():
        table = chen_2022.TABLES[name].make(frame)
        for row, mine in rows.items():
            expected = np.bincount(mine, minlength=4) / len(mine)
            np.testing.assert_allclose(table.data.loc[row], expected, rtol=1e-12)
        assert table.cases == sum(map(len, rows.values()))
        assert table.compare().empty


def test_a_failed_run_leaves_a_hole_and_the_rest_is_tested(
    random_runs: dict[tuple[str, str, str], np.ndarray], frame: pd.DataFrame
) -> None:
    gone = (frame["mitigator"] == METHODS["RW"]) & (frame["repeat"] == 5)
    whole, holed = (cube_of(f).effects for f in (frame, frame[~gone]))
    rw = [*METHODS].index("RW")
    lr = chen_2022.MODELS.index("lr")
    for i in range(15):
        base, mine = (random_runs["Adult-Sex", "lr", label][i] for label in ("", "RW"))
        assert holed[i, 0, lr, rw] == effect_by_hand(base, np.delete(mine, 5))
    np.testing.assert_array_equal(np.delete(whole, rw, axis=-1), np.delete(holed, rw, axis=-1))


def test_too_few_runs_are_not_counted_as_no_change(frame: pd.DataFrame) -> None:
    """Three runs against three cannot be significant; four against four can."""
    three, four = (frame[(frame["repeat"] < runs).to_numpy()] for runs in (3, 4))
    untested = chen_2022.TABLES["fig4"].make(three)
    # equal values within both samples can be significant with three: what is, is counted
    assert (untested.data["no or increase"].dropna() == 0).all()
    assert "Too few runs" in untested.notes[-1]
    assert "(4 against 4 are the fewest)" in untested.notes[-1]
    tested = chen_2022.TABLES["fig4"].make(four)
    assert tested.cases == 5 * 4 * 11
    assert not any("Too few runs" in note for note in tested.notes)


@pytest.mark.parametrize(("name", "first", "count"), [("table2", 0, 11), ("table4", 11, 4)])
def test_correlations_equal_a_loop_over_scipy(
    frame: pd.DataFrame,
    random_runs: dict[tuple[str, str, str], np.ndarray],
    name: str,
    first: int,
    count: int,
) -> None:
    change: dict[tuple[str, str], list[np.ndarray]] = {}
    for (task, model, label), runs in random_runs.items():
        if label:
            base = random_runs[task, model, ""].mean(axis=1)
            change.setdefault((task, model), []).append(runs.mean(axis=1) - base)
    groups = [np.array(rows).T for rows in change.values()]
    pooled = np.hstack(groups)
    text = chen_2022.TABLES[name].make(frame).text()
    labels = [*NAMES][first : first + count]
    for i in range(count):
        for j in range(1, count):
            cell = text.loc[labels[i], labels[j]]
            if j <= i:
                assert cell == "-"
                continue
            rho, p = scipy_stats.spearmanr(pooled[first + i], pooled[first + j])
            alike = 0
            for rows in groups:
                r, q = scipy_stats.spearmanr(rows[first + i], rows[first + j])
                # five ranks can be uncorrelated exactly: that has no sign
                same = np.sign(round(r, 12)) == np.sign(rho)
                alike += same and (q < 0.05) == (p < 0.05)
            assert cell == f"{round(rho, 3):.3f}{'*' if p < 0.05 else ''}({alike}/4)"


def test_ranks_break_ties_in_the_studys_order_and_are_cut() -> None:
    # performance: RW 0.8 and EOP 0.8 tie, DIR 0.9 leads; in the second model EOP leads
    level = {"lr": {"RW": 0.8, "DIR": 0.9, "EOP": 0.8}, "rf": {"RW": 0.5, "DIR": 0.6, "EOP": 0.7}}
    records = [record("Adult-Sex", m, "unmitigated", i, 0.5) for m in level for i in range(2)]
    records += [
        record("Adult-Sex", model, METHODS[label], i, value)
        for model, labels in level.items()
        for label, value in labels.items()
        for i in range(2)
    ]
    frame = records_frame(records)
    high = chen_2022.table3(frame)
    # lr: DIR 1, RW 2, EOP 3; rf: EOP 1, DIR 2, RW 3
    assert high.data.loc["Acc", ["RW", "DIR", "EOP"]].tolist() == [2.5, 1.5, 2.0]
    assert high.text().loc["Acc", ["RW", "DIR", "EOP", "OP"]].tolist() == ["2", "1", "2", ""]
    low = chen_2022.table5(frame)
    # lr: RW 1, EOP 2, DIR 3; rf: RW 1, DIR 2, EOP 3
    assert low.data.loc["SPD", ["RW", "DIR", "EOP"]].tolist() == [1.0, 2.5, 2.5]
    assert high.cases == 6


def line(model: str) -> list[Record]:
    """Performance from 0.9 to 0.5, bias from 0.2 to 0; the error gap rises."""
    out = []
    for degree in (0.0, 0.5, 1.0):
        values = [0.9 - 0.4 * degree] * 11 + [0.2 * (1 - degree)] * 3 + [0.1 + 0.1 * degree]
        name = f"mutation(strategy=majority, degree={degree:g})"
        out.append(record("Adult-Sex", model, name, None, values))
    return out


def runs_at(label: str, *points: tuple[float, float], model: str = "lr") -> list[Record]:
    name = METHODS.get(label, "unmitigated")
    return [
        record("Adult-Sex", model, name, i, [y] * 11 + [x] * 4) for i, (y, x) in enumerate(points)
    ]


@pytest.fixture
def small() -> pd.DataFrame:
    """One case in each region for RW; EOP good, DIR win-win on average."""
    five = ((0.6, 0.3), (0.95, 0.3), (0.6, 0.1), (0.8, 0.1), (0.95, 0.1))
    return records_frame(
        [
            *line("lr"),
            *runs_at("", *[(0.9, 0.2)] * 5),
            *runs_at("RW", *five),
            *runs_at("EOP", *[(0.8, 0.1)] * 5),
            *runs_at("DIR", *[(0.95, 0.1)] * 5),
        ]
    )


def test_fig8_shares_and_cases(small: pd.DataFrame) -> None:
    table = chen_2022.fig8(small)
    assert table.data.loc[("a", "RW")].tolist() == [0.2] * 5
    assert table.data.loc[("a", "EOP"), "good"] == 1.0
    assert table.data.loc[("b", "lr")].tolist() == pytest.approx([x / 15 for x in (1, 1, 1, 6, 6)])
    assert table.data.loc[("c", "Adult-Sex")].tolist() == table.data.loc[("b", "lr")].tolist()
    assert len(table.data.loc["d"]) == len(PAIRS) == 15
    assert table.cases == 3 * 5 * 15
    assert table.compare().empty


def test_fig8_rules_part_below_the_end_of_the_line() -> None:
    frame = records_frame([*line("lr"), *runs_at("", (0.9, 0.2)), *runs_at("RW", (0.4, 0.3))])
    by_rule = {rule: chen_2022.fig8(frame, rule=rule).data for rule in ("code", "paper")}
    assert by_rule["code"].loc[("a", "RW"), "inverted"] == 1.0
    assert by_rule["paper"].loc[("a", "RW"), "lose-lose"] == 1.0


def test_table6_counts_every_method_that_reaches_the_best_score(small: pd.DataFrame) -> None:
    table = chen_2022.table6(small)
    assert table.text().loc["Adult-Sex", ["RW", "DIR", "EOP", "OP"]].tolist() == [
        "0%",
        "100%",
        "0%",
        "-",
    ]
    assert table.cases == 3 * 15
    # two methods at the same best score both count
    frame = records_frame(
        [
            *line("lr"),
            *runs_at("", (0.9, 0.2)),
            *runs_at("RW", (0.95, 0.1)),
            *runs_at("DIR", (0.99, 0.05)),
            *runs_at("EOP", (0.85, 0.05)),
        ]
    )
    row = chen_2022.table6(frame).data.loc["Overall"]
    assert row[["RW", "DIR", "EOP"]].tolist() == [100.0, 100.0, 0.0]


def test_scores_are_those_of_the_study(small: pd.DataFrame) -> None:
    scores = cube_of(small).scores("SPD", "Acc", rule="code")[0, chen_2022.MODELS.index("lr")]
    labels = [*METHODS]
    # EOP: (0.5, 0.75) rescaled, a triangle with legs of 0.25
    assert scores[labels.index("EOP")] == pytest.approx(0.03125)
    assert scores[labels.index("DIR")] == 100.0
    assert np.isnan(scores[labels.index("OP")])


def test_methods_with_their_own_model_stand_for_every_model() -> None:
    records = [*line("lr"), *line("rf")]
    records += [*runs_at("", (0.9, 0.2)), *runs_at("", (0.8, 0.2), model="rf")]
    records += [*runs_at("AD", (0.8, 0.1)), *runs_at("RW", (0.8, 0.1))]
    cube = cube_of(records_frame(records))
    lr, rf = (chen_2022.MODELS.index(m) for m in ("lr", "rf"))
    ad, rw = ([*METHODS].index(m) for m in ("AD", "RW"))
    assert cube.present[0, [lr, rf], ad].tolist() == [True, True]
    assert cube.present[0, [lr, rf], rw].tolist() == [True, False]
    assert cube.values[[*NAMES].index("Acc"), 0, rf, ad + 1, 0] == 0.8
    assert not cube.present[0, chen_2022.MODELS.index("svm")].any()


def test_fig7_says_which_metric_has_no_baseline() -> None:
    table = chen_2022.fig7(records_frame(line("lr")))
    assert table.data["degree"].tolist() == [0.0, 0.5, 1.0]
    assert table.data["Acc"].tolist() == pytest.approx([0.9, 0.7, 0.5])
    assert table.notes == ("ERD does not fall by mutation: it gives no baseline.",)
    assert "No baseline of rf" in chen_2022.fig7(records_frame(line("lr")), model="rf").notes[0]


def test_findings_are_six_sentences_with_each_sides_numbers(small: pd.DataFrame) -> None:
    told = findings(small).data
    assert len(told) == 6
    given = set(findings(ours=small).data["recomputed"])
    assert given == {"the authors' files were not given"}
    notes = " ".join(chen_2022.table3(small).notes)
    assert "of the study's 50 runs: ranks, regions and correlations from few runs" in notes
    assert told["ours"].unique().tolist() == ["not yet run"]
    # RW reaches 40 %, DIR and EOP all cases
    assert told.loc["Finding 5", "recomputed"].startswith("2 of 3 methods reach win-win or good")
    assert "(DIR)" in told.loc["Finding 6", "recomputed"]
    final = told["as published (final outputs)"]
    assert final["Finding 1"].endswith("42% to 66% of applications")
    assert "(Fairway)" in final["Finding 6"]


def test_a_frame_of_something_else_is_refused() -> None:
    frame = records_frame([record("Adult-Sex", "lr", "stealth", 0, 0.5)])
    with pytest.raises(InputError, match="it holds none"):
        chen_2022.fig3(frame)
    assert chen_2022.parts_of(frame) == frozenset()


def test_the_old_forest_counts_rows_and_then_weighs_them() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4))
    y = np.where(X[:, 0] + rng.normal(size=80) > 0, "good", "bad")
    weight = rng.integers(1, 4, size=80).astype(float)
    old = LegacyRandomForest(n_estimators=10, random_state=3)
    even = clone(old).fit(X, y, np.ones(80)).predict_proba(X)
    np.testing.assert_array_equal(even, clone(old).fit(X, y).predict_proba(X))
    np.testing.assert_array_equal(
        even, RandomForestClassifier(n_estimators=10, random_state=3).fit(X, y).predict_proba(X)
    )
    model = clone(old).fit(X, y, weight)
    drawn = np.bincount(
        np.random.RandomState(model.estimators_[0].random_state).randint(0, 80, 80), minlength=80
    )
    root = model.estimators_[0].tree_
    assert root.weighted_n_node_samples[0] == pytest.approx((drawn * weight).sum())
    assert set(model.predict(X)) == {"good", "bad"}


def test_corrected_a_constant_prediction_is_poor_and_worse_in_both_is_lose_lose() -> None:
    constant = [0.4, 1.0, 0.5, 0.4, 0.0, 0.0, 0.4, 0.2, 0.5, 0.3, 0.0, 0.0, 0.0, 0.0, 0.0]
    frame = records_frame(
        [
            *line("lr"),
            *runs_at("", *[(0.9, 0.2)] * 2),
            record("Adult-Sex", "lr", METHODS["LFR"], 0, constant),
            *runs_at("RW", (0.4, 0.3)),
        ]
    )
    plain, corrected = (
        chen_2022.fig8(frame, reading=reading).data.loc["a"]
        for reading in ("as_published", "corrected")
    )
    assert plain.loc["LFR", "win-win"] > 0
    assert corrected.loc["LFR", "poor"] == 1.0
    assert (plain.loc["RW", "inverted"], corrected.loc["RW", "lose-lose"]) == (1.0, 1.0)


def test_corrected_a_model_of_its_own_is_counted_once_and_tests_are_adjusted() -> None:
    records = [*runs_at("", *[(0.9, 0.2)] * 8), *runs_at("", *[(0.9, 0.2)] * 8, model="rf")]
    records += [*runs_at("AD", *[(0.8, 0.1)] * 8), *runs_at("RW", *[(0.9, 0.2)] * 8)]
    frame = records_frame(records)
    lr, rf = (chen_2022.MODELS.index(m) for m in ("lr", "rf"))
    ad = [*METHODS].index("AD")
    assert cube_of(frame).present[0, [lr, rf], ad].all()
    corrected = cube_of(frame, "corrected")
    assert corrected.present[0, [lr, rf], ad].tolist() == [True, False]
    assert not corrected.expected[0, rf, ad]
    table = chen_2022.TABLES["fig3"].make(frame, reading="corrected")
    assert table.compare().empty
    assert any("Benjamini" in note for note in table.notes)
    # AD lowers everything, and RW nothing: one of two applications
    assert table.data.loc["Acc", "no or increase"] == 0.5


def test_corrected_mep_race_has_no_regions_and_findings_say_what_survives(
    small: pd.DataFrame,
) -> None:
    told = findings(small).data
    assert {"corrected", "survives"} <= set(told.columns)
    assert told.loc["Finding 1", "survives"] in (
        "yes",
        "no",
        "in part",
        "open: these runs cannot tell",
    )
    assert told.loc["Finding 6", "survives"] == "yes"
    assert "survives" not in findings().data.columns
    as_meps = small.assign(
        dataset=small["dataset"].cat.rename_categories({"adult": "meps"}),
        attributes=small["attributes"].cat.rename_categories({"sex": "race"}),
    )
    assert chen_2022.fig8(as_meps).cases > 0
    assert chen_2022.fig8(as_meps, reading="corrected").cases == 0
