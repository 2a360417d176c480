"""Is a method that is called worth it better than blind mutation? Simulated with known truth.

The truth is a method's place in the population: *good* or *win-win* where its bias is below the
original model's and its performance on or above the line from there to the constant prediction.
Methods on the edge of these regions are the hard ones, and half of those that are tried by chance
lie beyond it: on the line itself (blind mutations, models made duller until they meet it), or with
the gap unchanged. In a benchmark the truth is that of models trained on as many rows, on average;
of a single split it is that of the two models at hand.
"""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

from isonomy.benchmark.cases import Case
from isonomy.benchmark.change import signed_gap
from isonomy.benchmark.measure import judge_method, mutation_line
from isonomy.benchmark.recommend import STRATEGIES, MethodVerdict
from isonomy.metrics import JointCounts
from isonomy.tradeoff import judge_counts
from tests.validity.test_benchmark_verdicts import (
    HOW,
    SPD,
    WORLDS,
    World,
    error,
    joint_counts,
    models,
    splits,
)

Array = np.ndarray[Any, Any]
Record = Callable[..., None]
SURE = 0.95


def price(accuracy: float, constant: float, gap: float) -> float:
    """What a point of bias costs along the line of blind mutations."""
    return (accuracy - constant) / abs(gap)


def record_edges(record: Record, room: str, said: dict[str, Array], setting: str) -> None:
    """Keep how often methods that are no better than the baseline are called so, and assert it."""
    for name, probability in said.items():
        rate = float(np.mean(probability >= SURE))
        record(
            room=room,
            verdict="worth it" if room == "benchmark" else "good or win-win with p >= 95 %",
            promise="wrong in <= 5 %",
            setting=f"{name}, {setting}",
            rate=rate,
            samples=probability.size,
        )
        assert rate <= 0.05 + error(0.05, probability.size), (name, rate)


def record_calibration(
    record: Record, room: str, probability: Array, true: Array, setting: str
) -> None:
    """Keep the share of methods that are better in truth among those with such a probability."""
    sure, perhaps = probability >= SURE, (probability > 0.5) & (probability < SURE)
    rows = (
        ("p of 95 % or more", "true in >= 95 %", true[sure]),
        ("p between 50 and 95 %", "true in >= 50 %", true[perhaps]),
    )
    for verdict, promise, held in rows:
        if held.size < 25:
            continue
        record(
            room=room,
            verdict=verdict,
            promise=promise,
            setting=f"half of the methods are worse than the baseline, {setting}",
            rate=float(held.mean()),
            samples=held.size,
        )
        least = int(promise.split()[-2]) / 100
        assert held.mean() >= least - error(least, held.size), (verdict, held.mean())


# ---------------------------------------------------------------------- the models of one split


def population(
    share: float, labels: tuple[float, float], tpr: tuple[float, float], fpr: tuple[float, float]
) -> Array:
    """Return the probability of ``[group, label, original prediction]``."""
    groups = np.array([1 - share, share])[:, None]
    known = groups * np.array([[1 - labels[0], labels[0]], [1 - labels[1], labels[1]]])
    favored = np.array([fpr, tpr]).T
    return np.stack([known * (1 - favored), known * favored], axis=-1)


POPULATIONS = {
    "as German credit": population(0.69, (0.65, 0.73), (0.80, 0.90), (0.40, 0.55)),
    "even groups": population(0.5, (0.3, 0.45), (0.6, 0.75), (0.10, 0.20)),
}


def standing(cells: Array, method: Array) -> tuple[float, float]:
    """Return accuracy and gap of a method that favors ``[group, label, prediction]`` so often."""
    favored = cells * method
    accuracy = favored[:, 1].sum() + (cells - favored)[:, 0].sum()
    rates = favored.sum(axis=(1, 2)) / cells.sum(axis=(1, 2))
    return float(accuracy), float(rates[0] - rates[1])


def kept(cells: Array) -> Array:
    """The original predictions, as a method."""
    return np.broadcast_to([0.0, 1.0], cells.shape)


def equalizer(cells: Array) -> Array:
    """A method that favors enough of the worse group to leave a fifth of the gap."""
    out = kept(cells).copy()
    rates = cells.sum(axis=1) / cells.sum(axis=(1, 2))[:, None]
    out[0, :, 0] = 0.8 * (rates[1, 1] - rates[0, 1]) / rates[0, 0]
    return out


def coin_share(cells: Array) -> float:
    """In how many rows a coin must replace the equalizer to bring it down to the line."""
    constant = max(cells.sum(axis=(0, 2)))
    original, first = standing(cells, kept(cells))
    accuracy, gap = standing(cells, equalizer(cells))
    due = constant + price(original, constant, first) * abs(gap)
    return float((accuracy - due) / (accuracy - due + constant - 0.5))


def edges(cells: Array) -> dict[str, Array]:
    """Methods that are exactly no better than the baseline."""
    majority = float(cells[:, 1].sum() > 0.5)
    alike = cells[..., 1:] / cells.sum(axis=-1, keepdims=True)
    swapped = kept(cells).copy()  # as many mistakes of either kind mended in a group: same rates
    for group, part in zip(swapped, cells, strict=True):
        mended = 0.3 * min(part[0, 1], part[1, 0])
        group[0, 1], group[1, 0] = 1 - mended / part[0, 1], mended / part[1, 0]
    share = coin_share(cells)
    return {
        "a blind mutation of 60 %": 0.4 * kept(cells) + 0.6 * majority,
        "a model like the original": np.broadcast_to(alike, cells.shape),
        "more accurate, the same gap": swapped,
        "fairer, on the line": (1 - share) * equalizer(cells) + share / 2,
    }


def sampled(
    cells: Array, method: Array, rows: int, count: int, rng: np.random.Generator
) -> Iterator[JointCounts]:
    """Draw test sets with the predictions of both models."""
    chance = np.stack([cells * (1 - method), cells * method], axis=-1)
    for drawn in rng.multinomial(rows, chance.ravel(), count):
        yield JointCounts(
            n=drawn.reshape(2, 2, 2, 2).astype(float),
            attributes=("s",),
            groups=((0,), (1,)),
            classes=(0, 1),
            favorable=(1,),
            privileged={"s": (1,)},
        )


def chance_of_good(joint: JointCounts, resamples: int) -> float:
    found = judge_counts(joint, resamples=resamples).probability
    return found.get("good", 0.0) + found.get("win-win", 0.0)


def test_edges_are_no_better_than_the_baseline() -> None:
    for cells in POPULATIONS.values():
        constant = max(cells.sum(axis=(0, 2)))
        original, first = standing(cells, kept(cells))
        for name, method in edges(cells).items():
            accuracy, gap = standing(cells, method)
            beyond = accuracy - constant - price(original, constant, first) * abs(gap)
            if name == "more accurate, the same gap":
                assert beyond > 0.01
                assert gap == pytest.approx(first)
            else:
                assert beyond == pytest.approx(0, abs=1e-12), name


def test_methods_on_the_edge_are_seldom_good_for_sure() -> None:
    rng = np.random.default_rng(1)
    cells = POPULATIONS["even groups"]
    for name in ("a blind mutation of 60 %", "more accurate, the same gap"):
        drawn = sampled(cells, edges(cells)[name], 300, 25, rng)
        rate = np.mean([chance_of_good(one, 100) >= SURE for one in drawn])
        assert rate <= 0.05 + error(0.05, 25), name
    sure = sampled(cells, equalizer(cells), 3000, 5, rng)
    assert all(chance_of_good(one, 100) >= SURE for one in sure)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "rows"), [("as German credit", 300), ("even groups", 300), ("even groups", 3000)]
)
def test_a_single_split_is_seldom_good_for_sure(name: str, rows: int, record_rate: Record) -> None:
    cells, count, resamples = POPULATIONS[name], 600, 300
    rng = np.random.default_rng(rows)
    said = {
        edge: np.array(
            [chance_of_good(one, resamples) for one in sampled(cells, method, rows, count, rng)]
        )
        for edge, method in edges(cells).items()
    }
    record_edges(record_rate, "tradeoff", said, f"{name}, {rows:,} test rows")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "rows"), [("as German credit", 300), ("even groups", 300), ("even groups", 3000)]
)
def test_probabilities_of_a_single_split_are_not_too_high(
    name: str, rows: int, record_rate: Record
) -> None:
    cells, count = POPULATIONS[name], 800
    rng = np.random.default_rng(rows + 1)
    edge = coin_share(cells)
    shares = rng.uniform(0, 2 * edge, count)
    probability = np.array(
        [
            chance_of_good(
                next(sampled(cells, (1 - w) * equalizer(cells) + w / 2, rows, 1, rng)), 300
            )
            for w in shares
        ]
    )
    setting = f"{name}, {rows:,} test rows"
    record_calibration(record_rate, "tradeoff", probability, shares < edge, setting)
    record_rate(
        room="tradeoff",
        verdict="good or win-win with p >= 95 % (power)",
        promise="none",
        setting=f"better than the baseline, {setting}",
        rate=float(np.mean(probability[shares < edge] >= SURE)),
        samples=int((shares < edge).sum()),
    )


# ---------------------------------------------------------------------- benchmarks


def duller(beta: Array, factor: float) -> Array:
    """Weaken a third of the features of linear models, or turn them round."""
    out = beta.copy()
    out[:, 1 : 1 + max(1, (beta.shape[1] - 2) // 3)] *= factor
    return out


@cache
def edge_models(world: World, n: int) -> tuple[dict[str, float], Array]:
    """Return how dull each method must be to meet the baseline, and a better model's coefficients.

    That model knows the population, and its gap is the original model's.
    """
    rng = np.random.default_rng(6)
    trained: dict[str, list[Array]] = {}
    for _ in range(60):
        X, y = world.draw(n, rng)
        for name, beta in models(X, y, splits(n, 3, rng)).items():
            trained.setdefault(name, []).append(beta)
    made = {name: np.concatenate(parts) for name, parts in trained.items()}
    _, y = world.draw(400_000, rng)
    constant = max(y.mean(), 1 - y.mean())
    original, first = (float(v.mean()) for v in world.truth(made["unmitigated"]))

    def beyond(name: str, factor: float) -> float:
        accuracy, gap = (float(v.mean()) for v in world.truth(duller(made[name], factor)))
        return accuracy - constant - price(original, constant, first) * abs(gap)

    factors = {}
    for name in ("suppression", "reweighing"):
        steps = np.linspace(1, -3, 41)
        below = next(k for k in steps if beyond(name, k) < 0)
        factors[name] = float(brentq(lambda k, name=name: beyond(name, k), below, below + 0.1))
    known = np.r_[-0.3, np.full(world.features, world.weight), 0.0]

    def gap_of(bonus: float) -> float:
        return float(world.truth(np.r_[known[:-1], bonus])[1]) - first

    known[-1] = brentq(gap_of, -5.0, 5.0)
    assert world.truth(known)[0] >= original
    return factors, known


def verdicts(
    world: World, n: int, repeats: int, count: int, seed: int, *, resamples: int = 300
) -> Iterator[tuple[dict[str, MethodVerdict], dict[str, float]]]:
    """Yield per data set the verdicts of methods, and how dull those tried by chance were."""
    rng = np.random.default_rng(seed)
    factors, better = edge_models(world, n)
    at = tuple(range(repeats))
    for _ in range(count):
        X, y = world.draw(n, rng)
        train = splits(n, repeats, rng)
        made = models(X, y, train)
        base = (made["unmitigated"] @ X.T > 0).astype(int)
        tried = {name: float(rng.uniform(2 * edge - 1, 1)) for name, edge in factors.items()}
        betas = {name: made[name] for name in factors}
        betas |= {f"duller {m}, on the line": duller(made[m], k) for m, k in factors.items()}
        betas |= {f"duller {m}, by chance": duller(made[m], k) for m, k in tried.items()}
        betas["more accurate, the same gap"] = np.tile(better, (repeats, 1))
        labels = {name: (beta @ X.T > 0).astype(int) for name, beta in betas.items()}
        hit = rng.uniform(size=base.shape) < 0.6
        labels["a blind mutation of 60 %"] = np.where(hit, int(y.mean() > 0.5), base)
        original = Case("unmitigated", joint_counts(y, X[:, -1], base, base, ~train), at, ("",), 0)
        line = mutation_line(
            original.joint.base,
            "accuracy",
            SPD,
            strategy=STRATEGIES[0],
            repetitions=100,
            repeats=at,
            random_state=rng,
        )
        behind = signed_gap(original.joint, SPD, **HOW)[1]
        yield (
            {
                name: judge_method(
                    Case(name, joint_counts(y, X[:, -1], base, label, ~train), at, ("",), 0),
                    original,
                    ["s"],
                    dict.fromkeys(STRATEGIES, line),
                    rng,
                    more=(),
                    gap_error=behind.error,
                    resamples=resamples,
                    confidence=0.95,
                )
                for name, label in labels.items()
            },
            tried,
        )


def is_edge(name: str) -> bool:
    return name.endswith(("on the line", "same gap", "60 %"))


def worth(verdict: MethodVerdict) -> float:
    """Return the probability that makes a method worth it: none where the bias does not fall."""
    return verdict.worth if verdict.bias.by < 0 else 0.0


def test_methods_on_the_edge_are_seldom_worth_it() -> None:
    # whether a bias is shown at all is not asked here: that only makes the word rarer
    found = [v for v, _ in verdicts(WORLDS["biased"], 400, 10, 12, 1, resamples=100)]
    said = [worth(v) >= SURE for one in found for name, v in one.items() if is_edge(name)]
    assert np.mean(said) <= 0.05 + error(0.05, len(said))
    assert np.mean([worth(one["reweighing"]) > 0.5 for one in found]) > 0.8


@pytest.mark.slow
@pytest.mark.parametrize(
    ("world", "n", "repeats", "count"),
    [
        ("biased", 500, 10, 400),
        ("biased", 500, 50, 400),
        ("biased", 2000, 50, 400),
        ("57 columns", 1000, 10, 400),
        ("57 columns", 1000, 50, 200),
    ],
)
def test_worth_it_is_seldom_wrong(
    world: str, n: int, repeats: int, count: int, record_rate: Record
) -> None:
    found = list(verdicts(WORLDS[world], n, repeats, count, seed=n + repeats))
    setting = f"{world}, {n} rows, {repeats} splits"
    names = [*found[0][0]]
    table = {name: np.array([worth(v[name]) for v, _ in found]) for name in names}
    on_edge = {name: p for name, p in table.items() if is_edge(name)}
    record_edges(record_rate, "benchmark", on_edge, setting)
    some = float(np.mean(np.max([*on_edge.values()], axis=0) >= SURE))
    record_rate(
        room="benchmark",
        verdict="a method is recommended",
        promise="none where several methods are on the edge",
        setting=f"a bias, and {len(on_edge)} methods no better than the baseline, {setting}",
        rate=some,
        samples=count,
    )
    assert some <= 0.05 * len(on_edge)  # more methods, more chances: each has its 5 %
    factors, _ = edge_models(WORLDS[world], n)
    pairs = [
        (table[f"duller {m}, by chance"][k], factor > factors[m])
        for k, (_, tried) in enumerate(found)
        for m, factor in tried.items()
    ]
    probability, true = (np.array(part) for part in zip(*pairs, strict=True))
    record_calibration(record_rate, "benchmark", probability, true, setting)
    for name in factors:
        record_rate(
            room="benchmark",
            verdict="worth it (power)",
            promise="none",
            setting=f"{name}, {setting}",
            rate=float(np.mean(table[name] >= SURE)),
            samples=count,
        )
