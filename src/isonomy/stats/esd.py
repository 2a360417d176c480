"""Scott-Knott with effect sizes (ESD): groups whose difference is not negligible."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtrc

from isonomy._arrays import Floats
from isonomy._validate import check_choice, check_share
from isonomy.errors import InputError
from isonomy.stats._samples import named_samples
from isonomy.stats.effects import cliffs_delta, cohens_d
from isonomy.stats.ranking import Ranking, between, divide, kruskal, make_ranking

_VERSIONS = ("parametric", "nonparametric", "original")


def scott_knott_esd(
    values: ArrayLike | Mapping[Any, ArrayLike],
    *,
    labels: Sequence[Hashable] | None = None,
    larger_is_better: bool = True,
    version: Literal["parametric", "nonparametric", "original"] = "nonparametric",
    negligible: float | None = None,
    alpha: float = 0.05,
) -> Ranking:
    """Group treatments so that groups differ by more than a negligible effect.

    Treatments are sorted, cut where the two sides lie furthest apart, and each side is cut again.

    - ``nonparametric`` (ESD 3): sorted by medians, cut by the Kruskal-Wallis statistic; a cut
      stands if any pair of treatments across it has a Cliff's delta that is not negligible.
    - ``parametric`` (ESD 2): sorted by means, cut by the sum of squares between the sides; a cut
      stands if any pair across it has a Cohen's d (pooled) that is not negligible.
    - ``original`` (ESD 1): sorted by means, cut by the sum of squares; a cut stands if Scott and
      Knott's likelihood ratio test rejects at ``alpha``; then neighbouring groups whose values
      together have a negligible Cohen's d are merged, from the first on. The logarithm that its
      authors take of skewed values first is left to the caller.

    Only ``original`` holds a significance test; the others look at the size of differences alone,
    and with few runs a large delta comes by chance: see the guide before calling ranks real.

    Parameters
    ----------
    values : mapping from treatment to runs, or array-like of shape (runs, treatments)
        Undefined values are left out, and a note says how many.
    labels : sequence, optional
        The treatments' names, for an array; the columns of a frame give them.
    larger_is_better : bool
        Whether rank 1 is the highest group.
    version : {"nonparametric", "parametric", "original"}
    negligible : float, optional
        Effect below which a difference is negligible: 0.147 for Cliff's delta, 0.2 for Cohen's d.
    alpha : float
        Of the test in ``original``.

    Examples
    --------
    >>> runs = {"a": [1.0, 2.0, 3.0, 2.0], "b": [2.0, 1.0, 3.0, 2.1], "c": [7.0, 8.0, 9.0, 8.0]}
    >>> scott_knott_esd(runs, version="parametric").groups
    (('c',), ('b', 'a'))

    References
    ----------
    Tantithamthavorn, McIntosh, Hassan and Matsumoto 2017, An Empirical Comparison of Model
    Validation Techniques for Defect Prediction Models (and 2019, The Impact of Automated Parameter
    Optimization); Scott and Knott 1974.
    """
    check_choice("version of Scott-Knott ESD", version, _VERSIONS)
    check_share("alpha", alpha)
    names, samples, undefined = named_samples(values, labels)
    ranked = version == "nonparametric"
    if not ranked and not all(np.isfinite(sample).all() for sample in samples):
        raise InputError(
            f"Values must be finite for the {version} version; some are infinite: use "
            'version="nonparametric".'
        )
    centres = np.array([np.median(s) if ranked else s.mean() for s in samples])
    order = np.argsort(centres, kind="stable")
    names = tuple(names[i] for i in order)
    samples, centres = [samples[i] for i in order], centres[order]
    limit = negligible if negligible is not None else (0.147 if ranked else 0.2)
    if version == "original":
        group = _merged(_likelihood(samples, centres, alpha), samples, limit)
    else:
        table = np.full((len(samples), max(s.size for s in samples)), np.nan)
        for row, sample in zip(table, samples, strict=True):
            row[: sample.size] = sample
        effect = _pairs(table, ranked=ranked)

        def differ(first: int, cut: int, end: int) -> bool:
            # an infinite d is two unequal constants; an undefined one is two equal ones
            return bool((effect[first:cut, cut:end] >= limit).any())

        def gain(first: int, cut: int, end: int) -> float:
            if not ranked:
                return between(centres, first, cut, end)
            sides = [np.concatenate(samples[i:j]) for i, j in ((first, cut), (cut, end))]
            return kruskal(sides)[0]

        group = divide(len(samples), gain, differ, seek=False)
    return make_ranking(
        f"scott_knott_esd({version})",
        names,
        samples,
        centres,
        "median" if ranked else "mean",
        group,
        larger_is_better=larger_is_better,
        undefined=undefined,
    )


def _pairs(table: Floats, *, ranked: bool) -> Floats:
    """Return the size of the effect between every two treatments."""
    one, other = table[:, None, :], table[None, :, :]
    if ranked:
        return np.abs(cliffs_delta(one, other, nan="omit"))
    return np.abs(cohens_d(one, other, variance="pooled", nan="omit"))


def _likelihood(samples: Sequence[Floats], centres: Floats, alpha: float) -> NDArray[np.int64]:
    """Group by Scott and Knott's own test on the means."""
    free = float(sum(s.size - 1 for s in samples))
    within = sum(float(((s - s.mean()) ** 2).sum()) for s in samples) / free
    each = len(samples) / sum(1.0 / s.size for s in samples)  # harmonic, for unequal sizes
    noise = within / each

    def gain(first: int, cut: int, end: int) -> float:
        return between(centres, first, cut, end)

    def differ(first: int, cut: int, end: int) -> bool:
        part = centres[first:end]
        variance = (((part - part.mean()) ** 2).sum() + free * noise) / (part.size + free)
        if variance <= 0:
            return False
        ratio = np.pi / (2.0 * (np.pi - 2.0)) * between(centres, first, cut, end) / variance
        return bool(chdtrc(part.size / (np.pi - 2.0), ratio) < alpha)

    return divide(len(samples), gain, differ, seek=False)


def _merged(group: NDArray[np.int64], samples: Sequence[Floats], limit: float) -> NDArray[np.int64]:
    """Join neighbouring groups whose values together differ by a negligible Cohen's d."""
    runs = [[i for i, g in enumerate(group) if g == at] for at in range(int(group.max()) + 1)]
    at = 0
    while at + 1 < len(runs):
        low, high = (np.concatenate([samples[i] for i in run]) for run in runs[at : at + 2])
        effect = abs(float(cohens_d(low, high, variance="pooled")))
        if effect >= limit:
            at += 1
            continue
        runs[at] += runs.pop(at + 1)
        at = max(at - 1, 0)
    out = np.empty_like(group)
    for k, run in enumerate(runs):
        out[run] = k
    return out
