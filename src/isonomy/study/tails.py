"""The tails that a trial measures: the counterfactual discrimination of all rows, by group.

It is measured on every row that the preparation keeps, in whichever part of the split: no labels
are needed. Two readings of a tail are stored, as published (a generalised extreme value law of the
50 largest values; Monjezi et al. 2025) and corrected (peaks over a threshold, the same horizon for
both groups), so that a table can be made of either without running anything again.
"""

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomy._arrays import Floats
from isonomy._names import base_name
from isonomy.counterfactual.extremes import PAPER_K, extremes
from isonomy.mitigators import MITIGATORS
from isonomy.mitigators.ecd_fair import location
from isonomy.study.generated import Extended, extended
from isonomy.study.spec import Method
from isonomy.study.workbench import Outputs, Workbench
from isonomy.tails import cv_test, diagnose

SIDES = ("privileged", "unprivileged")
"""The two groups; a metric of one ends in ``_privileged`` or ``_unprivileged``."""

HORIZONS = (500, 1000, 2000)
"""The numbers of queries that return levels are stored for."""

QUANTILES = (0, 1, 5, 10, 25, 50, 75, 90, 95, 99, 100)
"""In per cent: the quantiles of the values that are stored."""

RESAMPLES = 199
"""Behind the horizon."""

_DIFFERENCES = {
    "acd": "cd_mean",
    "cvar": "cd_cvar",
    "ecd": "gev_location",
    "ecd_1000": "level_1000",
}
_AVERAGED = tuple(
    f"{name}_{side}" for name in ("gev_location", "level_1000", "cd_max") for side in SIDES
)
_FITTED = ("gev_scale", "gev_shape", "gev_error", "gpd_scale", "gpd_shape", "gpd_low", "gpd_high")


def side_metrics(cd: Floats) -> dict[str, float]:
    """Describe the counterfactual discrimination of one group in numbers.

    Parameters
    ----------
    cd : array
        One value per row of the group.

    Returns
    -------
    dict of str to float
        ``cd_rows``, ``cd_mean``, ``cd_cvar``, ``cd_max`` and ``cd_p0`` to ``cd_p100``;
        ``tail_distinct``, the number of different values among the 50 largest, and
        ``tail_threshold``, the next one; ``gev_location``, ``gev_scale``, ``gev_shape`` and
        ``gev_error`` (1.96 standard errors of the location) of the published law; ``gpd_scale`` and
        ``gpd_shape`` of the peaks over a threshold; ``gpd_low`` and ``gpd_high``, the 95 % limits of
        the shape; ``level_500`` to ``level_2000``, cut off at 1; ``tail_horizon`` (the queries that levels may
        be read for, by the rule of :func:`isonomy.tails.diagnose`); ``cv_raw`` and ``cv_residual``, 1 where the
        coefficients of variation pass the published test and the corrected one. Where no law can be
        fitted its scale and shape are undefined; for the location see
        :func:`isonomy.mitigators.ecd_fair.location`.

    Examples
    --------
    >>> metrics = side_metrics(np.linspace(-0.1, 0.1, 2001))
    >>> metrics["cd_max"], round(metrics["level_1000"], 3), metrics["tail_distinct"]
    (0.1, 0.1, 50.0)
    """
    result = extremes(cd, horizons=HORIZONS, resamples=0)
    law, peaks = result.paper, result.fit
    out = {
        f"cd_p{q}": float(v) for q, v in zip(QUANTILES, np.percentile(cd, QUANTILES), strict=True)
    }
    out |= {
        "cd_rows": float(result.rows),
        "cd_mean": result.acd.value,
        "cd_cvar": result.cvar.value,
        "cd_max": result.largest,
        "tail_distinct": float(len(np.unique(result.values[:PAPER_K]))),
        "tail_threshold": float(result.values[min(PAPER_K, result.rows - 1)]),
        "gev_location": location(result),
        **dict.fromkeys([*_FITTED, "cv_raw", "cv_residual"], float("nan")),
        "tail_horizon": 0.0,
    }
    if law is not None:
        out |= {"gev_scale": float(law.scale), "gev_shape": float(law.shape)}
        out["gev_error"] = 1.96 * float(law.se[0])
    if peaks is not None:
        low, high = peaks.interval("shape")
        out |= {"gpd_scale": float(peaks.scale), "gpd_shape": float(peaks.shape)}
        out |= {"gpd_low": float(low), "gpd_high": float(high)}
        out["tail_horizon"] = float(diagnose(peaks, resamples=RESAMPLES).horizon)
    out |= {f"level_{m}": level.value for m, level in result.levels.items()}
    if result.rows > PAPER_K:
        variation = cv_test(cd, k_max=PAPER_K)
        out["cv_raw"] = float(variation.passed_as_published)
        out["cv_residual"] = float(variation.passed)
    return out


def tail_metrics(privileged: Floats, unprivileged: Floats) -> dict[str, float]:
    """Describe both groups, and what the unprivileged differ by from the privileged.

    Parameters
    ----------
    privileged, unprivileged : array
        Counterfactual discrimination of the rows of each group.

    Returns
    -------
    dict of str to float
        ``acd``, ``cvar``, ``ecd`` (locations, as published) and ``ecd_1000`` (levels of 1,000
        queries), and the numbers of :func:`side_metrics` with the side at the end of their names.

    Examples
    --------
    >>> metrics = tail_metrics(np.linspace(-0.3, -0.1, 500), np.linspace(0.1, 0.3, 500))
    >>> round(metrics["acd"], 3), round(metrics["ecd_1000"], 3), metrics["cd_rows_privileged"]
    (0.4, 0.4, 500.0)
    """
    sides = [side_metrics(cd) for cd in (privileged, unprivileged)]
    out = {name: sides[1][metric] - sides[0][metric] for name, metric in _DIFFERENCES.items()}
    for side, metrics in zip(SIDES, sides, strict=True):
        out |= {f"{name}_{side}": value for name, value in metrics.items()}
    return out


def run_with_tails(
    workbench: Workbench, method: Method, model: str
) -> tuple[Outputs, dict[str, float]]:
    """Fit a method by itself; return its predictions of the test rows and the tails of all rows.

    For a mixture of models that vote, ``averaged_ecd`` and others are the differences by the mean
    of the models' probabilities; ``searched_`` and ``planned_`` begin what was measured with
    generated rows (:mod:`isonomy.study.generated`).
    """
    kind = MITIGATORS[base_name(method.mitigator)]
    ready = workbench.ready
    parts = [p for p in (ready.train, ready.validation, ready.test) if p is not None]
    X = np.concatenate([p.X for p in parts])
    s = np.concatenate([p.s for p in parts])
    if kind.name == "unmitigated":
        calibrated = not hasattr(workbench.learner(model), "predict_proba")
        fitted: Any = workbench.fitted(model, calibrated=calibrated)
        predicted = workbench.on_test(model, calibrated=calibrated)
    else:
        fitted = workbench.make(method, model)
        predicted = workbench.fit_alone(fitted)

    def discrimination(model: Any) -> Floats:
        return _scores(model, ready.flipped(X), 1 - s) - _scores(model, X, s)

    cd = discrimination(fitted)
    out = tail_metrics(cd[s == 1], cd[s == 0])
    gradual = _by_probabilities(fitted)
    if gradual is not None:
        smooth = discrimination(gradual)
        own = tail_metrics(smooth[s == 1], smooth[s == 0])
        out |= {f"averaged_{name}": own[name] for name in (*_DIFFERENCES, *_AVERAGED)}
    if workbench.study.tail_generator:
        ways = extended(workbench, lambda x, g: _scores(fitted, x, g), X, s, cd)
        for way, sides in ways.items():
            out |= _with_rows(way, *sides)
    return predicted, out


def _with_rows(way: str, privileged: Extended, unprivileged: Extended) -> dict[str, float]:
    """Describe both groups with generated rows; only how many there are where there are none."""
    sides = dict(zip(SIDES, (privileged, unprivileged), strict=True))
    out = {f"{way}_rows_{side}": part.rows for side, part in sides.items()}
    if any(part.rows > 0 for part in sides.values()):
        own = tail_metrics(privileged.cd, unprivileged.cd)
        out |= {f"{way}_{name}": value for name, value in own.items()}
        for side, part in sides.items():
            out |= {f"{way}_extremes_{side}": part.extremes, f"{way}_passed_{side}": part.passed}
    return out


def _scores(model: Any, X: Floats, groups: NDArray[Any]) -> Floats:
    needs = getattr(model, "needs_sensitive_at_predict", False)
    more = {"sensitive_features": groups} if needs else {}
    return np.asarray(model.predict_proba(X, **more)[:, 1], dtype=np.float64)


def _by_probabilities(fitted: Any) -> Any:
    """Return a mixture of votes as one of probabilities; None for anything else.

    Where models vote, a row's score jumps by the weight of a model when the attribute is flipped;
    the mean of their probabilities changes gradually.
    """
    voting = getattr(fitted, "scores", None) == "votes"
    if not voting or not hasattr(fitted.estimator, "predict_proba"):
        return None
    return copy(fitted).set_params(scores="probabilities")
