import numpy as np
import pytest

from isonomy.errors import InputError, NotApplicable
from isonomy.metrics import METRICS, Counts, get_metric
from isonomy.tradeoff import Baseline, baselines, bias_of, mutation_values
from isonomy.tradeoff.mutation import mutate, resolve_target

# Table 2 of the paper: ten people in two groups.
GROUP = ["g1"] * 6 + ["g2"] * 4
TRUE = [0, 1, 0, 1, 0, 1, 1, 1, 0, 0]
ORIGINAL = [0, 1, 0, 1, 0, 0, 1, 1, 1, 0]
MUTATED_40 = [1, 1, 1, 1, 0, 0, 1, 1, 1, 0]
FPR = "false_positive_rate_difference"


def table2(predictions: list[int]) -> Counts:
    return Counts.from_labels(TRUE, predictions, sensitive_features=GROUP, privileged="g1")


@pytest.mark.parametrize(
    ("predictions", "accuracy", "bias"),
    [(ORIGINAL, "0.80", "0.50"), (MUTATED_40, "0.60", "0.17"), ([1] * 10, "0.50", "0.00")],
)
def test_table_2_to_the_digit(predictions: list[int], accuracy: str, bias: str) -> None:
    counts = table2(predictions)
    assert f"{get_metric('accuracy')(counts):.2f}" == accuracy
    assert f"{bias_of(FPR, get_metric(FPR)(counts)):.2f}" == bias


def test_table_2_is_one_of_our_mutations() -> None:
    drawn = mutation_values(
        table2(ORIGINAL), ["accuracy", FPR], degrees=[0, 0.4, 1], strategy=1, repetitions=400
    )
    pairs = np.stack([drawn["accuracy"], np.abs(drawn[FPR])], axis=-1)
    assert np.allclose(pairs[:, 0], [0.8, 0.5])
    assert np.allclose(pairs[:, 2], [0.5, 0.0])
    assert np.isclose(pairs[:, 1], [0.6, 1 / 6]).all(axis=-1).any()


def test_expected_is_exact_on_table_2() -> None:
    """Against the mean over all 210 ways to choose four of the ten."""
    from itertools import combinations

    values = []
    for chosen in combinations(range(10), 4):
        labels = [1 if i in chosen else p for i, p in enumerate(ORIGINAL)]
        counts = table2(labels)
        values.append([get_metric("accuracy")(counts), abs(get_metric(FPR)(counts))])
    line = Baseline.from_counts(
        table2(ORIGINAL), fairness=FPR, degrees=[0, 0.4, 1], strategy=1, method="expected"
    )
    expected = np.mean(values, axis=0)
    assert line.performance[1] == pytest.approx(expected[0], abs=1e-12)
    assert line.bias[1] == pytest.approx(expected[1], abs=1e-9)
    assert (line.bias_error <= 1e-4).all()
    assert line.performance_error.tolist() == [0, 0, 0]


def people(n: int, *, groups: int = 2, classes: int = 2, weighted: bool = False, seed: int = 0):
    rng = np.random.default_rng(seed)
    s = rng.integers(0, groups, n)
    y = np.minimum(
        (rng.uniform(size=n) < 0.3 + 0.1 * (s > 0)) * rng.integers(1, classes, n), classes - 1
    )
    flip = rng.uniform(size=n) < 0.25
    p = np.where(flip, rng.integers(0, classes, n), y)
    p = np.where((s == 0) & (rng.uniform(size=n) < 0.15), 0, p)
    weight = rng.gamma(2, size=n) if weighted else None
    return y, p, s, weight


def counted(y, p, s, weight=None, **options) -> Counts:
    options.setdefault("privileged", int(s.max()))
    options.setdefault("favorable", int(y.max()))
    return Counts.from_labels(y, p, sensitive_features=s, sample_weight=weight, **options)


def array_mutation(y, p, s, weight, degree, label, rng, **options) -> Counts:
    """Mutate as the reference procedure does: rows, one by one array."""
    mutated = p.copy()
    rows = rng.choice(p.size, int(p.size * degree), replace=False)
    labels = options.pop("labels", None)
    mutated[rows] = rng.choice(labels, rows.size) if label is None else label
    return counted(y, mutated, s, weight, **options)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("strategy", ["majority", "random", 2])
def test_draws_have_the_distribution_of_a_loop_over_arrays(strategy, weighted: bool) -> None:
    """Means and covariances of all cells, three classes and three groups."""
    y, p, s, weight = people(90, groups=3, classes=3, weighted=weighted)
    counts = counted(y, p, s, weight)
    label = resolve_target(counts, strategy).label
    rng = np.random.default_rng(1)
    loop = np.stack(
        [
            array_mutation(y, p, s, weight, 0.4, label, rng, labels=[0, 1, 2]).values.ravel()
            for _ in range(3000)
        ]
    )
    ours = (
        mutate(counts, [0, 0.4], target=resolve_target(counts, strategy), repetitions=3000)
        .values[:, 1]
        .reshape(3000, -1)
    )
    error = np.sqrt((loop.var(axis=0) + ours.var(axis=0)) / 3000)
    assert (np.abs(loop.mean(axis=0) - ours.mean(axis=0)) <= 4.5 * error + 1e-9).all()
    # covariances: the standard error of a product moment, from the products themselves
    a, b = (v - v.mean(axis=0) for v in (loop, ours))
    products = [np.einsum("ri,rj->rij", v, v) for v in (a, b)]
    spread = np.sqrt((products[0].var(axis=0) + products[1].var(axis=0)) / 3000)
    gap = np.abs(products[0].mean(axis=0) - products[1].mean(axis=0))
    assert (gap <= 5 * spread + 1e-9).all()


def test_the_distribution_of_a_metric_equals_the_loop() -> None:
    from scipy.stats import ks_2samp

    y, p, s, _ = people(200)
    counts = counted(y, p, s)
    rng = np.random.default_rng(2)
    metric = get_metric("average_absolute_odds_difference")
    loop = [metric(array_mutation(y, p, s, None, 0.5, 0, rng)) for _ in range(800)]
    ours = mutation_values(counts, [metric], degrees=[0, 0.5], strategy=0, repetitions=5000)
    assert ks_2samp(loop, ours[metric.name][:, 1]).pvalue > 1e-3


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("groups", "classes"), [(2, 2), (3, 3)])
def test_expected_is_the_mean_of_sampled(groups: int, classes: int, weighted: bool) -> None:
    # large enough for the simulated cases to reach their bound quickly
    n = 400 if (groups, weighted) == (2, False) else 4000
    counts = counted(*people(n, groups=groups, classes=classes, weighted=weighted))
    options = {
        "performance": ["accuracy", "macro_f1(zero_division=0)", "mcc(zero_division=0)"],
        "fairness": ["spd", "aaod", "erd"] if n == 400 else ["spd"],
        "degrees": [0, 0.3, 0.8, 1],
    }
    exact = baselines(counts, method="expected", **options)
    drawn = baselines(counts, repetitions=4000, **options)
    for pair, line in exact.items():
        other = drawn[pair]
        for name in ("performance", "bias"):
            gap = np.abs(getattr(line, name) - getattr(other, name))
            bound = 4 * getattr(other, f"{name}_error") + getattr(line, f"{name}_error")
            assert (gap <= bound + 1e-12).all(), (pair, name)
            assert (getattr(line, f"{name}_error") <= 1e-4).all()


def test_mean_of_absolute_values_not_absolute_value_of_the_mean() -> None:
    counts = counted(*people(60, seed=3)[:3])
    line = Baseline.from_counts(counts, degrees=[0, 0.9], repetitions=2000)
    signed = mutation_values(counts, ["spd"], degrees=[0, 0.9], repetitions=2000)["spd"]
    assert line.bias[1] == pytest.approx(np.abs(signed[:, 1]).mean())
    assert line.bias[1] > abs(signed[:, 1].mean()) * 1.2


def test_splits_are_averaged() -> None:
    a, b = (counted(*people(300, seed=k)[:3]) for k in (4, 5))
    both = Counts(
        n=np.stack([a.n, b.n]),
        attributes=a.attributes,
        groups=a.groups,
        classes=a.classes,
        favorable=a.favorable,
        privileged=a.privileged,
    )
    together = Baseline.from_counts(both, method="expected")
    apart = [Baseline.from_counts(c, method="expected") for c in (a, b)]
    assert together.splits == 2
    np.testing.assert_allclose(together.bias, np.mean([x.bias for x in apart], axis=0), atol=2.1e-4)
    np.testing.assert_allclose(
        together.performance, np.mean([x.performance for x in apart], axis=0), atol=1e-12
    )


def test_error_rate_difference_is_refused_with_the_reason() -> None:
    rng = np.random.default_rng(0)
    s = rng.integers(0, 2, 4000)
    y = (rng.uniform(size=4000) < 0.15 + 0.3 * s).astype(int)
    p = np.where(rng.uniform(size=4000) < 0.2, 1 - y, y)
    line = Baseline.from_counts(counted(y, p, s), fairness="erd")
    assert line.reason is not None
    assert "does not decrease" in line.reason
    with pytest.raises(NotApplicable, match="does not decrease"):
        line.classify(0.7, 0.1)
    assert Baseline.from_counts(counted(y, p, s), fairness="spd").reason is None


def test_a_model_no_better_than_a_constant_is_refused() -> None:
    rng = np.random.default_rng(0)
    s = rng.integers(0, 2, 500)
    y = (rng.uniform(size=500) < 0.2).astype(int)
    p = (rng.uniform(size=500) < 0.4 + 0.2 * s).astype(int)
    assert "no performance to give up" in str(Baseline.from_counts(counted(y, p, s)).reason)


def test_undefined_values_are_refused_and_named() -> None:
    counts = counted(*people(300)[:3])
    line = Baseline.from_counts(counts, performance="macro_precision")
    assert "undefined at degree 1" in str(line.reason)
    assert "zero_division=0" in str(line.reason)
    assert (
        Baseline.from_counts(counts, performance="macro_precision(zero_division=0)").reason is None
    )


def test_less_is_better_for_an_error_rate() -> None:
    counts = counted(*people(2000)[:3])
    up = Baseline.from_counts(counts, method="expected")
    down = Baseline.from_counts(counts, performance="error_rate", method="expected")
    y, x = up.performance[4] + 0.02, up.bias[4]
    assert up.region(y, x) == down.region(1 - y, x) == "good"
    assert down.area(1 - y, x) == pytest.approx(float(up.area(y, x)))


@pytest.mark.parametrize("name", sorted(METRICS))
def test_any_metric_of_counts_makes_a_baseline(name: str) -> None:
    metric = get_metric(name)
    counts = counted(*people(300)[:3])
    if metric.needs != "counts":
        with pytest.raises(NotApplicable, match="needs a metric of counts"):
            mutation_values(counts, [name])
        return
    values = mutation_values(counts, [name], repetitions=2)[name]
    assert values.shape == (2, 11)
    assert values[0, 0] == pytest.approx(float(metric(counts)), nan_ok=True)


def test_strategies() -> None:
    counts = counted(*people(300)[:3])
    assert resolve_target(counts).label == 0
    assert resolve_target(counts, "minority").label == 1
    assert resolve_target(counts, 1).label == 1
    lines = [Baseline.from_counts(counts, strategy=k) for k in ("majority", "random", "minority")]
    ends = [line.performance[-1] for line in lines]
    assert ends[0] > ends[1] > ends[2]
    assert ends[1] == pytest.approx(0.5, abs=4 * lines[1].performance_error[-1])
    assert lines[0].performance_error[-1] < 1e-15


def test_published_points_and_messages() -> None:
    line = Baseline.from_points([0.8, 0.7, 0.6], [0.2, 0.1, 0.0])
    assert line.region(0.75, 0.1) == "good"
    assert line.frame()["degree"].tolist() == [0, 0.5, 1]
    assert "<table" in line._repr_html_()
    with pytest.raises(InputError, match="one performance and one bias"):
        Baseline.from_points([0.8, 0.7], [0.1])
    counts = counted(*people(50)[:3])
    with pytest.raises(InputError, match="begin with 0"):
        Baseline.from_counts(counts, degrees=[0.5, 1])
    with pytest.raises(InputError, match="no method of a baseline"):
        Baseline.from_counts(counts, method="guess")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="maximise or minimise"):
        Baseline.from_counts(counts, performance="spd")
    with pytest.raises(LookupError, match="label or strategy"):
        Baseline.from_counts(counts, strategy="majorty")
