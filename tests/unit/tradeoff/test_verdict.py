import numpy as np
import pytest

from isonomy.errors import InputError
from isonomy.metrics import Counts, JointCounts, get_metric
from isonomy.tradeoff import REGIONS, Baseline, classify, judge, judge_counts
from isonomy.tradeoff.verdict import paired_draws


def rows(n: int = 3000, seed: int = 0, fairer: float = 0.6):
    """An original model that leans on the group, and one that leans on it less."""
    rng = np.random.default_rng(seed)
    s = rng.integers(0, 2, n)
    y = (rng.uniform(size=n) < 0.35 + 0.1 * s).astype(int)
    lean = rng.uniform(size=n)
    base = np.where(rng.uniform(size=n) < 0.75, y, (lean < 0.2 + 0.6 * s).astype(int))
    other = np.where(rng.uniform(size=n) < 0.7, y, (lean < 0.2 + 0.6 * fairer * s).astype(int))
    return y, base, other, s


def joint(**options) -> JointCounts:
    y, base, other, s = rows(**options)
    return JointCounts.from_labels(y, base, other, sensitive_features={"sex": s}, privileged=1)


def test_joint_counts_hold_both_models() -> None:
    y, base, other, s = rows(500)
    both = JointCounts.from_labels(y, base, other, sensitive_features={"sex": s}, privileged=1)
    assert both.n.shape == (2, 2, 2, 2)
    options = {"sensitive_features": {"sex": s}, "privileged": 1}
    np.testing.assert_array_equal(both.base.n, Counts.from_labels(y, base, **options).n)
    np.testing.assert_array_equal(both.method.n, Counts.from_labels(y, other, **options).n)
    assert both.changed() == (base != other).sum()
    assert both.base.privileged == {"sex": (1,)}


def test_joint_counts_with_many_groups_classes_and_weights() -> None:
    rng = np.random.default_rng(1)
    y, base, other = rng.choice(["a", "b", "c"], (3, 400))
    frame = {"sex": rng.choice(["F", "M"], 400), "race": rng.choice([1, 2, 3], 400)}
    weight = rng.uniform(0.5, 2, 400)
    both = JointCounts.from_labels(
        y, base, other, sensitive_features=frame, sample_weight=weight, favorable="c"
    )
    alone = Counts.from_labels(
        y, other, sensitive_features=frame, sample_weight=weight, favorable="c"
    )
    np.testing.assert_allclose(both.method.w, alone.w)
    np.testing.assert_allclose(both.method.w2, alone.w2)
    assert both.groups == alone.groups
    drawn = both.resample(20)
    assert drawn.n.shape == (20, *both.n.shape)
    assert drawn.w is not None


def test_a_class_that_only_the_original_model_predicts() -> None:
    both = JointCounts.from_labels(
        [1, 0, 1, 0], [1, 0, 2, 0], [1, 0, 1, 0], sensitive_features=list("aabb"), favorable=1
    )
    assert both.classes == (0, 1, 2)
    assert both.base.overall()[1].tolist() == [0, 1, 1]
    assert both.method.overall()[1].tolist() == [0, 2, 0]


def test_resamples_keep_the_pairing() -> None:
    """The spread of the difference of two accuracies is that of a bootstrap over rows."""
    y, base, other, s = rows(400)
    both = JointCounts.from_labels(y, base, other, sensitive_features={"sex": s}, privileged=1)
    drawn = both.resample(4000)
    accuracy = get_metric("accuracy")
    ours = accuracy(drawn.method) - accuracy(drawn.base)
    rng = np.random.default_rng(3)
    gain = (other == y).astype(float) - (base == y)
    loop = gain[rng.integers(0, 400, (4000, 400))].mean(axis=1)
    assert ours.mean() == pytest.approx(loop.mean(), abs=4 * loop.std() * np.sqrt(2 / 4000))
    assert ours.std() == pytest.approx(loop.std(), rel=0.08)


def test_resampling_repeats_adds_their_spread() -> None:
    repeats = JointCounts.stack([joint(n=300, seed=k) for k in range(12)])
    means = get_metric("accuracy")(repeats.resample(2000).method).mean(axis=-1)
    each = get_metric("accuracy")(repeats.method)
    within = np.mean(each * (1 - each)) / 300
    expected = np.sqrt((each.var() + within) / 12)
    assert means.std() == pytest.approx(expected, rel=0.08)


def test_verdict_follows_the_baseline() -> None:
    both = joint()
    verdict = judge_counts(both, method="expected", resamples=400)
    line = verdict.baseline
    assert verdict.performance == pytest.approx(get_metric("accuracy")(both.method))
    assert verdict.bias == pytest.approx(abs(get_metric("spd")(both.method)))
    assert verdict.region == line.region(verdict.performance, verdict.bias)
    assert sum(verdict.probability.values()) == pytest.approx(1)
    low, high = verdict.performance_interval
    assert low < verdict.performance < high
    if verdict.region == "good":
        assert verdict.area_interval[0] <= verdict.area <= verdict.area_interval[1]
    row = verdict.frame().iloc[0]
    assert row["region"] == verdict.region
    assert row["p_good"] == verdict.probability["good"]
    assert "<table" in verdict._repr_html_()


def test_more_rows_make_the_verdict_surer() -> None:
    sure = [
        max(judge_counts(joint(n=n), resamples=300).probability.values()) for n in (300, 30_000)
    ]
    assert sure[1] > sure[0]
    assert sure[1] > 0.99


def test_probabilities_equal_a_bootstrap_over_rows() -> None:
    """Resample rows, mutate arrays and place the point, one resample at a time."""
    y, base, other, s = rows(500)
    options = {"privileged": 1, "favorable": 1}
    ours = judge(y, base, other, sensitive_features=s, resamples=2000, **options)
    rng = np.random.default_rng(5)
    degrees = np.arange(11) / 10
    regions = []

    def measure(labels, predictions, groups) -> tuple[float, float]:
        gap = predictions[..., groups == 0].mean(-1) - predictions[..., groups == 1].mean(-1)
        return (labels == predictions).mean(-1), abs(gap)

    for _ in range(300):
        pick = rng.integers(0, 500, 500)
        labels, first, second, groups = y[pick], base[pick], other[pick], s[pick]
        line = np.zeros((11, 2))
        for k, degree in enumerate(degrees):
            order = rng.uniform(size=(50, 500)).argsort(axis=1)
            mutated = np.where(order < int(500 * degree), 0, first)
            line[k] = np.mean(measure(labels, mutated, groups), axis=1)
        regions.append(REGIONS[classify(*measure(labels, second, groups), line[:, 0], line[:, 1])])
    for name in REGIONS:
        share = np.mean([r == name for r in regions])
        p = ours.probability[name]
        error = np.sqrt(max(p * (1 - p), 0.002) * (1 / 300 + 1 / 2000))
        assert abs(share - p) <= 4 * error, name


def test_constant_and_unchanged_predictions_are_flagged() -> None:
    y, base, _, s = rows()
    options = {"sensitive_features": {"sex": s}, "privileged": 1, "resamples": 50}
    constant = judge(y, base, np.zeros_like(y), **options)
    assert constant.constant
    assert "no use" in constant.notes[0]
    same = judge(y, base, base, **options)
    assert not same.constant
    assert "changed no prediction" in same.notes[0]
    assert same.region is None  # on the corner of the line: neither better nor worse
    assert same.probability == {}
    assert "changed no prediction" in repr(same)


def test_a_method_that_changes_next_to_nothing_is_not_good_for_sure() -> None:
    """Resamples that miss the one changed row lie on the corner, which is no good trade-off."""
    y, base, _, s = rows()
    almost = base.copy()
    almost[np.flatnonzero(y == base)[0]] ^= 1
    verdict = judge(y, base, almost, sensitive_features={"sex": s}, privileged=1, resamples=200)
    assert verdict.probability["undefined"] > 0.2
    assert verdict.probability["good"] + verdict.probability["win-win"] < 0.95


def test_a_performance_metric_is_no_fairness_metric() -> None:
    with pytest.raises(InputError, match="accuracy is one of performance"):
        judge_counts(joint(), fairness="accuracy")


def test_no_region_where_the_baseline_refuses() -> None:
    verdict = judge_counts(joint(), fairness="erd", resamples=50)
    if verdict.region is None:
        assert verdict.reason is not None
        assert verdict.probability == {}
    low = judge_counts(joint(), performance="macro_precision", resamples=50)
    assert low.region is None
    assert "undefined at degree 1" in str(low.reason)
    assert np.isfinite(low.bias_interval).all()


def test_an_error_rate_is_judged_like_an_accuracy() -> None:
    up = judge_counts(joint(), method="expected", resamples=200)
    down = judge_counts(joint(), performance="error_rate", method="expected", resamples=200)
    assert down.region == up.region
    assert down.probability == pytest.approx(up.probability, abs=0.1)


def test_messages() -> None:
    with pytest.raises(InputError, match="resamples must be at least 0"):
        judge_counts(joint(n=100), resamples=-1)
    y, base, other, s = rows(100)
    one, two = (JointCounts.from_labels(y, base, other, sensitive_features=s + k) for k in (0, 5))
    with pytest.raises(InputError, match="agree in their groups"):
        JointCounts.stack([one, two])


def two_attributes() -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(8)
    return tuple(rng.integers(0, 2, 400) for _ in range(5))


def test_joint_counts_of_one_attribute_are_those_of_its_column() -> None:
    y, base, new, s, t = two_attributes()
    whole = JointCounts.from_labels(
        y, base, new, sensitive_features={"s": s, "t": t}, privileged={"s": 1, "t": 0}
    )
    alone = JointCounts.from_labels(y, base, new, sensitive_features={"t": t}, privileged={"t": 0})
    part = whole.select("t")
    assert part.groups == alone.groups
    assert part.privileged == {"t": (0,)}
    assert np.array_equal(part.n, alone.n)


def test_more_groups_are_laid_out_empty_and_none_is_lost() -> None:
    y, base, new, s, _ = two_attributes()
    joint = JointCounts.from_labels(y, base, new, sensitive_features={"s": s})
    wider = joint.with_groups([(0,), (1,), (2,)])
    assert wider.n[2].sum() == 0
    assert np.array_equal(wider.n[:2], joint.n)
    with pytest.raises(InputError, match="All groups must be kept"):
        joint.with_groups([(0,)])


def test_draws_begin_with_the_original_model_of_the_same_rows() -> None:
    y, base, _, s, _ = two_attributes()
    joint = JointCounts.from_labels(y, base, base, sensitive_features={"s": s}, privileged={"s": 1})
    drawn = paired_draws(joint, Baseline.from_counts(joint.base), resamples=40, mutations=3)
    # a method that changed nothing is its own original in every resample
    assert np.array_equal(drawn.performance, drawn.lines_performance[:, 0])
    assert np.array_equal(drawn.bias, drawn.lines_bias[:, 0])
    assert drawn.lines_bias.shape == (40, 11)


def test_stray_groups_are_set_aside_and_named() -> None:
    y, base, other, s = rows()
    plain = judge(y, base, other, sensitive_features={"sex": s.astype(object)}, resamples=0)
    # two rows of unknown sex and a group of three, all predicted against the trend
    strays = np.array(["Unknown", None, "rare", "rare", "rare"], dtype=object)
    found = judge(
        *(np.append(values, [1, 1, 0, 0, 0]) for values in (y, base, other)),
        sensitive_features={"sex": np.append(s.astype(object), strays)},
        resamples=0,
    )
    assert found.bias == pytest.approx(plain.bias)
    assert found.baseline.bias[0] == pytest.approx(plain.baseline.bias[0])
    assert found.performance > plain.performance  # their rows still count, and are right
    assert "'rare'" in found.notes[0]
    assert "not compared" in found.notes[0]
