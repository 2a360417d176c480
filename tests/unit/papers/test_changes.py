"""What methods change: against a loop over SciPy, and what is counted beside which model."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from isonomy.papers.changes import changes, direction, everywhere, large, relative

METRICS = {"a": "accuracy", "g": "gap"}


def runs(values: dict[tuple[str, str], np.ndarray]) -> pd.DataFrame:
    """Return a row per run of {(model, mitigator): values[metric, repeat]}."""
    rows = [
        ("adult", "sex", model, method, repeat, *values[model, method][:, repeat])
        for model, method in values
        for repeat in range(values[model, method].shape[1])
    ]
    names = ["dataset", "attributes", "model", "mitigator", "repeat", *METRICS.values()]
    return pd.DataFrame(rows, columns=names)


@pytest.fixture(scope="module")
def held() -> dict[tuple[str, str], np.ndarray]:
    rng = np.random.default_rng(0)
    out = {}
    for model in ("lr", "rf"):
        for i, method in enumerate(("unmitigated", "m1", "m2")):
            out[model, method] = rng.normal([[0.8], [0.2]], 0.02, (2, 20)) - 0.01 * i
    return out


def test_changes_equal_a_loop_over_scipy(held: dict[tuple[str, str], np.ndarray]) -> None:
    table = changes(runs(held), METRICS, {"one": "m1", "two": "m2"})
    assert len(table) == 2 * 2 * 2
    for case in table.itertuples():
        at = [*METRICS].index(case.metric)
        after = held[case.model, {"one": "m1", "two": "m2"}[case.method]][at]
        before = held[case.model, "unmitigated"][at]
        assert case.change == pytest.approx(after.mean() - before.mean(), rel=1e-12)
        assert case.p == pytest.approx(stats.mannwhitneyu(after, before).pvalue, rel=1e-12)
        pairs = np.sign(after[:, None] - before[None, :])
        assert case.delta == pytest.approx(pairs.mean(), abs=1e-12)
        assert case.runs == 20
    p, delta = table["p"].to_numpy(), table["delta"].abs().to_numpy()
    np.testing.assert_array_equal(large(table), (p < 0.05) & (delta >= 0.428))
    np.testing.assert_array_equal(direction(table)["de"], (p < 0.05) & (table["change"] < 0))
    assert 0 < large(table).sum() < len(table)
    np.testing.assert_allclose(relative(table) * table["before"], table["change"])


def test_another_method_may_be_what_is_compared_with(
    held: dict[tuple[str, str], np.ndarray],
) -> None:
    table = changes(runs(held), METRICS, {"two": "m2"}, before="m1")
    assert table["before"].iloc[0] == pytest.approx(held["lr", "m1"][0].mean())


def test_equal_runs_are_a_tie_and_missing_ones_leave_a_hole() -> None:
    one = {("lr", "unmitigated"): np.full((2, 20), 0.5), ("lr", "m1"): np.full((2, 20), 0.5)}
    frame = runs(one)
    frame.loc[[21, 25], "gap"] = np.nan
    table = changes(frame, METRICS, {"one": "m1"})
    assert table["p"].tolist() == [1.0, 1.0]
    assert table["runs"].tolist() == [20, 18]
    assert not direction(table).to_numpy().any()


def test_runs_beside_lr_stand_for_every_model(held: dict[tuple[str, str], np.ndarray]) -> None:
    alone = {k: v for k, v in held.items() if k != ("rf", "m2")}
    table = changes(everywhere(runs(alone), ["m2"]), METRICS, {"two": "m2"})
    assert table["model"].tolist() == ["lr", "lr", "rf", "rf"]
    assert table["after"].iloc[0] == table["after"].iloc[2]
    assert table["before"].iloc[0] != table["before"].iloc[2]


def test_runs_of_ours_stand_beside_every_model_once(
    held: dict[tuple[str, str], np.ndarray],
) -> None:
    """A method with a model of its own runs once and is joined to each: 20 runs, not 40."""
    both = held | {("rf", "m2"): held["lr", "m2"]}
    table = changes(everywhere(runs(both), ["m2"]), METRICS, {"two": "m2"})
    assert table["runs"].tolist() == [20] * 4


def test_no_case_is_an_empty_table(held: dict[tuple[str, str], np.ndarray]) -> None:
    assert changes(runs(held), METRICS, {"x": "absent"}).empty
