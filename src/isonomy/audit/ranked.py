"""Models on the same rows, ranked by performance and by bias, and every pair of them compared."""

from collections.abc import Mapping
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from isonomy._arrays import Floats
from isonomy.audit.findings import Audit
from isonomy.audit.paired import (
    SharedRows,
    compare_bias,
    compare_performance,
    rank_range,
    taken_together,
)
from isonomy.audit.standing import ModelPair, Standing
from isonomy.metrics import Metric, bias_of, gap_of
from isonomy.stats import pareto


def rank_models(
    attribute: str,
    shared: SharedRows,
    audits: Mapping[str, Audit],
    families: Mapping[str, str],
    good: Metric,
    fair: Metric,
    confidence: float,
) -> tuple[list[Standing], list[ModelPair]]:
    """Rank models by performance and by bias, and compare every pair.

    Parameters
    ----------
    attribute : str
        The protected attribute that the bias is about.
    shared : SharedRows
        The models' labels on the same rows.
    audits, families : mapping by model
        Each model's audit, and what family it is of.
    good, fair : Metric
        The two goals.
    confidence : float
        Of what is shown, for all pairs and both goals together.

    Returns
    -------
    tuple of list of Standing and list of ModelPair
        The models from the best performance down, and the pairs.
    """
    names = list(audits)
    found = {
        name: {(f.name, f.attribute): f for f in result.metrics} for name, result in audits.items()
    }
    strong = [found[n][good.name, None] for n in names]
    gaps = [found[n][fair.name, attribute] for n in names]
    gain = np.array([f.value for f in strong]) * (1.0 if good.goal == "max" else -1.0)
    bias = np.asarray(bias_of(fair, [f.value for f in gaps]))
    first, second = compare_performance(shared, good), compare_bias(shared, fair)
    p_good, p_fair = taken_together(first, second)
    alpha = 1 - confidence
    with np.errstate(invalid="ignore"):
        better = (p_good <= alpha) & (gain[:, None] > gain[None, :])
        fairer = (p_fair <= alpha) & (bias[:, None] < bias[None, :])
    ranks = [_ranks(-gain), _ranks(bias)]
    (good_low, good_high), (fair_low, fair_high) = rank_range(better), rank_range(fairer)
    front, beaten = pareto(gain, bias), better & fairer
    ends = [_size_ends(*gap_of(fair, [f.low, f.high]).tolist()) for f in gaps]
    standings = [
        Standing(
            attribute=attribute,
            model=name,
            family=families[name],
            performance=strong[k].value,
            performance_low=strong[k].low,
            performance_high=strong[k].high,
            performance_rank=int(ranks[0][k]),
            performance_ranks=(int(good_low[k]), int(good_high[k])),
            gap=gaps[k].value,
            gap_low=gaps[k].low,
            gap_high=gaps[k].high,
            verdict=gaps[k].verdict,
            bias=float(bias[k]),
            bias_low=ends[k][0],
            bias_high=ends[k][1],
            bias_rank=int(ranks[1][k]),
            bias_ranks=(int(fair_low[k]), int(fair_high[k])),
            front=bool(front[k]),
            beaten_by=tuple(names[j] for j in np.flatnonzero(beaten[:, k])),
        )
        for k, name in enumerate(names)
    ]
    differ = shared.differing()
    pairs = [
        ModelPair(
            attribute=attribute,
            one=names[i],
            other=names[j],
            rows_differ=int(differ[i, j]),
            performance_difference=float(first.difference[i, j]),
            performance_p=float(p_good[i, j]),
            bias_difference=float(second.difference[i, j]),
            bias_p=float(p_fair[i, j]),
            better=names[i] if better[i, j] else names[j] if better[j, i] else None,
            fairer=names[i] if fairer[i, j] else names[j] if fairer[j, i] else None,
        )
        for i, j in combinations(range(len(names)), 2)
    ]
    order = np.lexsort((bias, -gain))
    return [standings[k] for k in order], pairs


def _ranks(values: Floats) -> NDArray[np.intp]:
    """Return ranks, the smallest value first; equal values share one, undefined ones the last."""
    known = np.where(np.isnan(values), np.inf, values)
    return np.asarray(1 + (known[None, :] < known[:, None]).sum(axis=1))


def _size_ends(low: float, high: float) -> tuple[float, float]:
    """Return the interval of the size of a gap."""
    least = 0.0 if low < 0 < high else min(abs(low), abs(high))
    return least, max(abs(low), abs(high))
