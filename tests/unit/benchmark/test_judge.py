"""The judgement of a benchmark on records whose truth is known."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy

from isonomy.benchmark import headline, judge_benchmark, sentences
from isonomy.benchmark.cases import MORE_SPLITS, cases_of, check_paired, frontier_specs
from isonomy.benchmark.measure import advantage
from isonomy.errors import InputError, NotApplicable
from isonomy.metrics import JointCounts
from isonomy.report import summarize, to_html
from isonomy.store import Record

ROWS, REPEATS = 4000, 8


def draw(repeat: int) -> dict[str, np.ndarray]:
    """Rows in which a model favours group 1, and predictions of several known methods."""
    rng = np.random.default_rng(repeat)
    s, other = rng.integers(0, 2, ROWS), rng.integers(0, 2, ROWS)
    y = (rng.uniform(size=ROWS) < 0.3).astype(int)
    right = np.where(rng.uniform(size=ROWS) < 0.92, y, 1 - y)
    favoured = (s == 1) & (rng.uniform(size=ROWS) < 0.25)
    base = np.where(favoured, 1, right)
    lucky = (other == 1) & (rng.uniform(size=ROWS) < 0.15)
    return {
        "s": s,
        "other": other,
        "y": y,
        "unmitigated": base,
        "reweighing": right,  # takes the favour away at no price
        "suppression": np.where(rng.uniform(size=ROWS) < 0.5, right, base),  # half of it
        "equalized_odds": np.where(lucky, 1, right),  # shifts it to the other attribute
        "reject_option": np.zeros(ROWS, dtype=int),  # constant
        "fair_smote": np.where(rng.uniform(size=ROWS) < 0.6, 1, right),  # poor
        "stealth": np.where(s == 1, 1, base),  # adds bias
        "frontier(tolerance=0)": np.where(rng.uniform(size=ROWS) < 0.05, 1 - right, right),
        "frontier(tolerance=0.1)": np.where(favoured & (rng.uniform(size=ROWS) < 0.5), 1, right),
    }


def records(names: list[str] | None = None, **more: Any) -> list[Record]:
    out = []
    for repeat in range(REPEATS):
        rows = draw(repeat)
        for name in names or [n for n in rows if n not in ("s", "other", "y")]:
            joint = JointCounts.from_labels(
                rows["y"],
                rows["unmitigated"],
                rows[name],
                sensitive_features={"s": rows["s"], "other": rows["other"]},
                privileged={"s": 1, "other": 1},
            )
            given = {"counts": joint, "rows": f"rows {repeat}", "seconds": 0.1, **more}
            out.append(Record("b", "people", "s", "lr", name, repeat, **given))
    return out


@pytest.fixture(scope="module")
def found() -> Any:
    left = Record(
        "b", "people", "s", "lr", "optimized_preprocessing", 0, status="skipped", reason="too many"
    )
    return judge_benchmark([*records(), left], resamples=200)


@pytest.fixture(scope="module")
def section(found: Any) -> Any:
    return found.sections[0]


def test_the_method_that_takes_the_favour_away_is_chosen(section: Any) -> None:
    choice = section.recommendation
    assert choice.method == "reweighing"
    assert choice.runner_up in ("suppression", "equalized_odds")
    best = section.verdict("reweighing")
    assert best.bias.before == pytest.approx(0.25 * 0.64, abs=0.02)
    assert best.bias.after < 0.03
    assert best.region == "win-win"
    assert best.worth > 0.99
    assert best.lowers_bias == 1.0


def test_changes_and_points_are_means_over_the_repeats(section: Any) -> None:
    verdict = section.verdict("suppression")
    rates = []
    for repeat in range(REPEATS):
        rows = draw(repeat)
        rates.append(np.mean(rows["suppression"] == rows["y"]))
    assert verdict.performance.after == pytest.approx(np.mean(rates), abs=1e-12)
    assert verdict.performance.low <= verdict.performance.by <= verdict.performance.high
    assert verdict.runs == REPEATS


def test_words_of_the_known_methods(found: Any, section: Any) -> None:
    words = {v.method: found.word(v) for v in section.verdicts}
    assert words["reweighing"] == "worth it"
    assert words["reject_option"] == "no use"
    assert words["fair_smote"] == "not worth it"
    assert words["stealth"] == "not worth it"
    assert words["optimized_preprocessing"] == "not judged"


def test_the_attribute_nobody_asked_about_is_watched(section: Any) -> None:
    changes = section.verdict("equalized_odds").others
    assert {name: change.word for name, change in changes.items()} == {"other": "worse"}
    assert section.verdict("reweighing").others["other"].word != "worse"


def test_who_pays_is_said_of_every_method(found: Any, section: Any) -> None:
    best = section.verdict("reweighing")  # takes the favour of group 1 away, and gives nothing
    words = {c.group: c.word for c in best.pays.of("selection_rate")}
    assert words == {"0": "no clear change", "1": "falls"}
    assert [(one.better, one.worse) for one in best.pays.levelled] == [("1", "0")]
    assert not section.verdict("stealth").pays.levels_down  # it widens the gap
    said = " ".join(sentences(section))
    assert "Who pays: the selection rate falls for 1 (-0." in said
    assert "It levels down: the gap in selection rate between 1 and 0 closes from" in said
    page = summarize(found)
    assert "Who pays with reweighing" in str(page)
    assert "These level down: " in str(page)
    assert found.to_dict()["sections"][0]["methods"][0]["pays"]["levels_down"] is True


def test_intersections_are_judged_beside_each_attribute() -> None:
    runs = [
        replace(r, attributes="s+other") for r in records(["unmitigated", "reweighing", "suppression"])
    ]  # fmt: skip
    section = judge_benchmark(runs, resamples=100).sections[0]
    verdict = section.verdict("reweighing")
    assert {c.group for c in verdict.pays.changes} == {"0 & 0", "0 & 1", "1 & 0", "1 & 1"}
    assert verdict.pays.compared == "each group with 1 & 1"
    assert verdict.alone["s"].word == "better"
    assert verdict.alone["other"].word == "no clear change"
    assert verdict.others == {}
    assert "worst_case_statistical_parity_difference" in verdict.more
    said = " ".join(sentences(section))
    assert "By s alone the bias is smaller, " in said
    worst = section.verdict(section.recommendation.method).more[
        "worst_case_statistical_parity_difference"
    ]
    assert f"farthest apart the gap is {worst.before:.3f} to {worst.after:.3f} on average" in said


def test_tests_are_paired_and_corrected(section: Any) -> None:
    best = section.verdict("reweighing")
    changes = []
    for repeat in range(REPEATS):
        rows = draw(repeat)
        changes.append(np.mean(rows["reweighing"] == rows["y"]))
        changes[-1] -= np.mean(rows["unmitigated"] == rows["y"])
    half = scipy.stats.t.ppf(0.975, 7) * np.sqrt((1 / 8 + 3 / 7) * np.var(changes, ddof=1))
    assert best.performance.low == pytest.approx(np.mean(changes) - half)
    assert best.performance.high == pytest.approx(np.mean(changes) + half)
    assert best.p_bias < 0.01
    assert best.p_bias >= section.verdict("reweighing").p_bias
    assert best.delta_bias == -1.0
    assert best.group == 1
    assert section.verdict("stealth").group > 1


def test_the_second_baseline_is_laid_through_its_runs(section: Any) -> None:
    assert section.frontier.tolerance.tolist() == [0.0, 0.1]
    best = section.verdict("reweighing")
    # thresholds at tolerance 0 are five points less accurate here
    assert best.above_frontier == pytest.approx(0.042, abs=0.01)
    assert best.above_low <= best.above_frontier <= best.above_high


def test_all_strategies_give_a_baseline(section: Any) -> None:
    assert set(section.baselines) == {"majority", "random", "minority"}
    assert set(section.verdict("reweighing").regions) == {"majority", "random", "minority"}


def test_sentences_name_the_price_the_runner_up_and_the_other_attribute(section: Any) -> None:
    told = " ".join(sentences(section))
    assert told.startswith("Choose reweighing: it reduces the bias by s")
    assert "Runner-up: " in told
    assert "Nobody asked about other" in told
    assert "does not need s at prediction" in told
    assert headline(section).startswith("s, lr: reweighing")


def test_few_repeats_are_said_to_leave_the_two_untested() -> None:
    frontier = ["frontier(tolerance=0)", "frontier(tolerance=0.1)"]
    runs = records(["unmitigated", "reweighing", "suppression", *frontier])
    few = [r for r in runs if r.repeat is not None and r.repeat < 5]
    told = judge_benchmark(few, resamples=50)
    (section,) = told.sections
    assert headline(section) == "s, lr: reweighing, then, untested, suppression"
    assert "5 repeats are too few" in " ".join(sentences(section))
    assert "less, untested." in " ".join(sentences(section))
    assert "(untested)" in to_html(summarize(told))


def test_nothing_worth_it_is_said_plainly() -> None:
    told = judge_benchmark(records(["unmitigated", "fair_smote", "stealth"]), resamples=100)
    (section,) = told.sections
    assert section.recommendation.method is None
    assert sentences(section)[0].startswith("Nothing is worth it")
    assert "Nothing is worth it" in to_html(summarize(told))


def test_a_model_no_better_than_a_constant_gets_no_regions() -> None:
    def wrong(repeat: int, name: str) -> Record:
        rng = np.random.default_rng(repeat)
        y = rng.integers(0, 2, 500)
        s = np.where(rng.uniform(size=500) < 0.8, y, 1 - y)
        joint = JointCounts.from_labels(
            y, 1 - y, y, sensitive_features={"s": s}, privileged={"s": 1}
        )
        return Record("b", "d", "s", "lr", name, repeat, counts=joint)

    told = judge_benchmark(
        [wrong(r, n) for r in range(6) for n in ("unmitigated", "reweighing")], resamples=50
    )
    (section,) = told.sections
    assert section.recommendation.method is None
    assert "no baseline" in section.recommendation.why
    assert sentences(section)[0].startswith("No recommendation")
    assert to_html(summarize(told)).count('class="plot"') == 1


def test_runs_on_other_rows_are_refused() -> None:
    mixed = records(["unmitigated"]) + records(["reweighing"], rows="others")
    with pytest.raises(InputError, match="same test rows"):
        judge_benchmark(mixed, resamples=50)
    cases = cases_of(mixed)
    with pytest.raises(InputError, match="'reweighing'"):
        check_paired(cases["unmitigated"], cases["reweighing"])


def test_a_method_that_failed_in_some_repeats_is_judged_on_the_others() -> None:
    runs = records(["unmitigated", "reweighing", "suppression"])
    bad = next(i for i, r in enumerate(runs) if r.mitigator == "reweighing" and r.repeat == 3)
    runs[bad] = Record(
        "b", "people", "s", "lr", "reweighing", 3, status="failed", reason="out of memory"
    )
    (section,) = judge_benchmark(runs, resamples=50).sections
    assert section.verdict("reweighing").runs == REPEATS - 1
    assert section.notes == (
        f"reweighing ran in {REPEATS - 1} of {REPEATS} repeats: out of memory",
    )


def test_without_a_bias_there_is_nothing_to_mitigate() -> None:
    fair = []
    for repeat in range(REPEATS):
        rng = np.random.default_rng(repeat)
        s, y = rng.integers(0, 2, 500), rng.integers(0, 2, 500)
        base = np.where(rng.uniform(size=500) < 0.8, y, 1 - y)
        for name in ("unmitigated", "reweighing"):
            joint = JointCounts.from_labels(
                y,
                base,
                base if name == "unmitigated" else y,
                sensitive_features={"s": s},
                privileged={"s": 1},
            )
            fair.append(Record("b", "d", "s", "lr", name, repeat, counts=joint))
    told = judge_benchmark(fair, resamples=50)
    (section,) = told.sections
    assert section.gap.shown is False
    assert section.recommendation.method is None
    assert headline(section) == "s, lr: no bias shown, nothing to mitigate"
    assert sentences(section)[0].startswith("No recommendation: no bias shown, nothing to mitigate")
    assert told.word(section.verdict("reweighing")) == "no bias shown"
    assert "no bias shown, nothing to mitigate" in to_html(summarize(told))


def test_a_metric_without_a_sign_is_said_not_to_be_tested() -> None:
    told = judge_benchmark(
        records(["unmitigated", "reweighing"]),
        fairness="average_absolute_odds_difference",
        resamples=50,
    )
    assert "has no sign" in told.sections[0].notes[0]


def test_few_repeats_may_not_show_a_bias() -> None:
    runs = [r for r in records(["unmitigated", "reweighing"]) if r.repeat in (0, 1)]
    (section,) = judge_benchmark(runs, resamples=50).sections
    assert headline(section) == "s, lr: too few repeats"
    assert "2 repeats are too few to show a bias; 6 are the least" in sentences(section)[0]


def test_few_repeats_do_not_say_that_nothing_is_worth_it() -> None:
    runs = [r for r in records(["unmitigated", "fair_smote", "stealth"]) if r.repeat in range(5)]
    told = judge_benchmark(runs, resamples=50)
    (section,) = told.sections
    assert section.gap.shown
    assert headline(section) == "s, lr: too few repeats"
    first = sentences(section)[0]
    assert first.startswith(
        "Nothing is decided: 5 repeats are too few to say what is worth it; 6 are"
    )
    for words in (" ".join(sentences(section)), to_html(summarize(told))):
        assert "Nothing is worth it" not in words
        assert "Keep the original model" not in words
    (plain,) = told.to_dict()["sections"]
    assert plain["headline"] == headline(section)
    assert plain["sentences"] == sentences(section)


def test_few_repeats_do_not_decide_for_a_method_either() -> None:
    runs = [r for r in records(["unmitigated", "reweighing"]) if r.repeat in range(5)]
    (section,) = judge_benchmark(runs, resamples=50).sections
    assert section.recommendation.method == "reweighing"
    assert sentences(section)[1].startswith("This is not decided yet: 5 repeats are too few")


def test_one_repeat_is_not_judged() -> None:
    runs = [r for r in records(["unmitigated", "reweighing"]) if r.repeat == 0]
    (section,) = judge_benchmark(runs, resamples=50).sections
    assert section.recommendation.method is None
    assert "one repeat" in section.recommendation.why


def test_a_label_need_not_be_the_name_of_a_mitigator() -> None:
    runs = [
        replace(r, mitigator="ours" if r.mitigator == "reweighing" else r.mitigator)
        for r in records(["unmitigated", "reweighing"])
    ]
    (section,) = judge_benchmark(runs, resamples=50).sections
    assert section.recommendation.method == "ours"


def test_without_the_original_model_there_is_nothing_to_compare() -> None:
    with pytest.raises(InputError, match="must run before"):
        judge_benchmark(records(["reweighing"]), resamples=50)


def test_one_model_that_failed_does_not_hide_the_others() -> None:
    lost = Record("b", "people", "s", "rf", "unmitigated", 0, status="timeout", reason="too slow")
    told = judge_benchmark([*records(["unmitigated", "reweighing"]), lost], resamples=50)
    assert [s.model for s in told.sections] == ["lr"]
    (note,) = told.notes
    assert note.startswith("s, rf: the original model must run")
    assert "too slow" in note


def test_only_metrics_to_maximise_decide() -> None:
    with pytest.raises(NotApplicable, match="to maximise"):
        judge_benchmark(records(["unmitigated"]), performance="error_rate")


def test_the_same_seed_gives_the_same_judgement() -> None:
    runs = records(["unmitigated", "reweighing"])
    one, other = (judge_benchmark(runs, resamples=60, random_state=5).to_dict() for _ in range(2))
    assert one == other


def test_what_is_said_of_a_method_does_not_depend_on_the_others() -> None:
    few = judge_benchmark(records(["unmitigated", "reweighing"]), resamples=60)
    more = judge_benchmark(records(["unmitigated", "suppression", "reweighing"]), resamples=60)
    one, other = (b.sections[0].verdict("reweighing") for b in (few, more))
    assert one.performance == other.performance
    assert one.probability == other.probability


def test_advantage_is_read_off_the_line_and_charged_beyond_it() -> None:
    line_y, line_x = np.array([[0.9, 0.7, 0.5]]), np.array([[0.2, 0.1, 0.0]])
    at = [(0.8, 0.1, 0.1), (0.9, 0.2, 0.0), (0.9, 0.3, -0.2), (0.6, 0.0, 0.1)]
    for y, x, expected in at:
        got = advantage(np.array([y]), np.array([x]), line_y, line_x)[0]
        assert got == pytest.approx(expected, abs=1e-12)


def test_the_frontier_follows_the_metric() -> None:
    assert all("demographic_parity" in spec for spec in frontier_specs("spd").values())
    assert all("equal_opportunity" in s for s in frontier_specs("eod").values())
    assert frontier_specs("error_rate_difference") == {}


def test_the_page_stands_alone(found: Any) -> None:
    page = to_html(summarize(found))
    for word in ("http:", "https:", "@import", "url(http"):
        assert word not in page
    assert "Choose reweighing" in page
    assert "optimized_preprocessing" in page
    assert "too many" in page
    assert "A smaller gap is not justice" in page


def test_to_dict_is_plain_data(found: Any) -> None:
    import json

    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    (section,) = told["sections"]
    assert section["recommendation"]["method"] == "reweighing"
    assert section["methods"][0]["method"] == "reweighing"
    assert len(found.frame()) == 7


def test_the_first_section_is_the_recommendation_and_others_are_found_by_name(found: Any) -> None:
    assert found.recommendation is found.sections[0].recommendation
    assert found.section("s", "lr") is found.sections[0]
    with pytest.raises(LookupError, match="no section"):
        found.section("t")
    page = found._repr_html_()
    assert "Choose reweighing" in page
    assert "<table" in page


def test_too_few_resamples_are_refused() -> None:
    with pytest.raises(InputError, match="resamples must be 50 or more"):
        judge_benchmark(records(["unmitigated"]), resamples=10)


def test_plot_draws_every_method_on_axes(found: Any) -> None:
    matplotlib = pytest.importorskip("matplotlib", reason="needs the extra plot")
    matplotlib.use("agg")
    axes = found.plot()
    assert axes.get_xlabel() == "bias by s: statistical parity difference"
    assert {v.method for v in found.sections[0].judged} <= {t.get_text() for t in axes.texts}
    assert found.plot(ax=axes) is axes
    matplotlib.pyplot.close(axes.figure)


def test_whether_there_is_a_bias_is_asked_of_the_most_splits(section: Any) -> None:
    """Runs of the original model alone decide that, and are no method."""
    alone = [replace(r, mitigator=MORE_SPLITS) for r in records(["unmitigated"])]
    again = [replace(r, repeat=r.repeat + REPEATS) for r in alone if r.repeat is not None]
    more = judge_benchmark([*records(), *alone, *again], resamples=50).sections[0]
    assert (section.gap.splits, more.gap.splits) == (REPEATS, 2 * REPEATS)
    assert more.gap.value == pytest.approx(section.gap.value)
    assert more.repeats == REPEATS
    assert {v.method for v in more.verdicts} == {v.method for v in section.judged}
    assert not more.notes
    # a gap that some of them leave undefined says nothing: the methods' own splits decide
    joint = alone[0].counts
    assert joint is not None
    empty = joint.map_cells(
        lambda cells: np.where(np.arange(len(cells))[:, None, None, None] > 1, 0, cells)
    )
    broken = [replace(alone[0], counts=empty), *alone[1:]]
    assert judge_benchmark([*records(), *broken], resamples=50).sections[0].gap.splits == REPEATS
