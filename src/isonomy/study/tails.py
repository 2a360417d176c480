"""What a trial measures of tails: the counterfactual discrimination of all rows, by group.

Measured on every row that the preparation keeps, whichever part of the split it is in, as in
Monjezi et al. (2025): no labels are needed. Both readings of a tail are kept, the paper's (a
generalised extreme value law of the 50 largest values) and ours (peaks over a threshold, the same
horizon for both groups), so that a table can be made of either without running anything again.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomy._names import base_name
from isonomy.counterfactual.extremes import PAPER_K, extremes
from isonomy.mitigators import MITIGATORS
from isonomy.mitigators.ecd_fair import location
from isonomy.study.spec import Method
from isonomy.study.workbench import Outputs, Workbench
from isonomy.tails import cv_test, diagnose, fit_gpd

__all__ = ["HORIZONS", "QUANTILES", "SIDES", "run_with_tails", "side_metrics", "tail_metrics"]

Floats = NDArray[np.float64]

SIDES = ("privileged", "unprivileged")
"""The two groups; a metric of one ends in ``_privileged`` or ``_unprivileged``."""

HORIZONS = (500, 1000, 2000)
"""Queries that return levels are given for: those of the paper's Table I."""

QUANTILES = (0, 1, 5, 10, 25, 50, 75, 90, 95, 99, 100)
"""Per cent; what is kept of the values themselves."""

RESAMPLES = 199
"""Behind the horizon."""


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
        ``tail_distinct``, how many different values there are among the 50 largest, and
        ``tail_threshold``, the next one; ``gev_location``, ``gev_scale``, ``gev_shape`` and
        ``gev_error`` (1.96 standard errors of the location) of the paper's law; ``gpd_scale`` and
        ``gpd_shape`` of the peaks over a threshold, under the bound of 1; ``gpd_low`` and
        ``gpd_high``, the 95 % limits of the shape without that bound (under it every tail ends,
        whatever the data say); ``level_500`` to ``level_2000``, ``tail_horizon`` (the queries that levels may
        be read for, by the rule of :func:`isonomy.tails.diagnose`); ``cv_raw`` and ``cv_residual``, 1 where the
        coefficients of variation pass the paper's test and the correct one. Where no law can be
        fitted its scale and shape are undefined; for the location see
        :func:`isonomy.mitigators.ecd_fair.location`.

    Examples
    --------
    >>> told = side_metrics(np.linspace(-0.1, 0.1, 2001))
    >>> told["cd_max"], round(told["level_1000"], 3), told["tail_distinct"]
    (0.1, 0.1, 50.0)
    """
    found = extremes(cd, horizons=HORIZONS, resamples=0)
    percentiles = np.percentile(cd, QUANTILES)
    out = {f"cd_p{q}": float(v) for q, v in zip(QUANTILES, percentiles, strict=True)}
    out |= {
        "cd_rows": float(found.rows),
        "cd_mean": found.acd.value,
        "cd_cvar": found.cvar.value,
        "cd_max": found.largest,
        "tail_distinct": float(len(np.unique(found.values[:PAPER_K]))),
        "tail_threshold": float(found.values[min(PAPER_K, found.rows - 1)]),
        "gev_location": location(found),
    }
    law, peaks = found.paper, found.fit
    none = float("nan")
    out |= {
        "gev_scale": none if law is None else float(law.scale),
        "gev_shape": none if law is None else float(law.shape),
        "gev_error": none if law is None else 1.96 * float(law.se[0]),
        "gpd_scale": none if peaks is None else float(peaks.scale),
        "gpd_shape": none if peaks is None else float(peaks.shape),
    }
    found_of = None if peaks is None else diagnose(peaks, resamples=RESAMPLES)
    free = none, none
    if peaks is not None:
        free = fit_gpd(peaks.sample, threshold=peaks.threshold, n=peaks.n).interval("shape")
    out |= {
        "gpd_low": float(free[0]),
        "gpd_high": float(free[1]),
        "tail_horizon": 0.0 if found_of is None else float(found_of.horizon),
    }
    out |= {f"level_{m}": level.value for m, level in found.levels.items()}
    told = cv_test(cd, k_max=PAPER_K) if found.rows > PAPER_K else None
    out["cv_raw"] = none if told is None else float(told.passed_as_published)
    out["cv_residual"] = none if told is None else float(told.passed)
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
        ``acd``, ``cvar``, ``ecd`` (locations, as in the paper) and ``ecd_1000`` (levels of 1,000
        queries), and the numbers of :func:`side_metrics` with the side behind their names.

    Examples
    --------
    >>> told = tail_metrics(np.linspace(-0.3, -0.1, 500), np.linspace(0.1, 0.3, 500))
    >>> round(told["acd"], 3), round(told["ecd_1000"], 3), told["cd_rows_privileged"]
    (0.4, 0.4, 500.0)
    """
    told = [side_metrics(cd) for cd in (privileged, unprivileged)]
    out = {
        name: told[1][of] - told[0][of]
        for name, of in (
            ("acd", "cd_mean"),
            ("cvar", "cd_cvar"),
            ("ecd", "gev_location"),
            ("ecd_1000", "level_1000"),
        )
    }
    for side, metrics in zip(SIDES, told, strict=True):
        out |= {f"{name}_{side}": value for name, value in metrics.items()}
    return out


def run_with_tails(
    workbench: Workbench, method: Method, model: str
) -> tuple[Outputs, dict[str, float]]:
    """Fit a method by itself; give its predictions of the test rows and the tails of all rows."""
    kind = MITIGATORS[base_name(method.mitigator)]
    ready = workbench.ready
    parts = [p for p in (ready.train, ready.validation, ready.test) if p is not None]
    X = np.concatenate([p.X for p in parts])
    s = np.concatenate([p.s for p in parts])
    if kind.name == "unmitigated":
        calibrated = not hasattr(workbench.learner(model), "predict_proba")
        fitted: Any = workbench.fitted(model, calibrated=calibrated)
        given = workbench.on_test(model, calibrated=calibrated)
    else:
        fitted = workbench.make(method, model)
        given = workbench.fit_alone(fitted)
    told = getattr(fitted, "needs_sensitive_at_predict", False)

    def scores(table: Floats, groups: NDArray[Any]) -> Floats:
        more = {"sensitive_features": groups} if told else {}
        return np.asarray(fitted.predict_proba(table, **more)[:, 1], dtype=np.float64)

    cd = scores(ready.flipped(X), 1 - s) - scores(X, s)
    return given, tail_metrics(cd[s == 1], cd[s == 0])
