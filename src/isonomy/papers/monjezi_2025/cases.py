"""Runs of the study of tails as cases: means over the repeats, types, and who won against whom."""

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from isonomy._names import base_name, format_name, parse_name
from isonomy._validate import listed
from isonomy.errors import InputError
from isonomy.papers.judge import one_study
from isonomy.papers.monjezi_2025.claims import Results
from isonomy.stats import scott_knott
from isonomy.store.record import wide
from isonomy.tails import published_type

__all__ = [
    "AVERAGE_METRICS",
    "ECD",
    "GENERATOR",
    "METHODS",
    "MODELS",
    "ORIGINAL",
    "Reading",
    "TASKS",
    "cases_of",
    "groups_of",
    "mitigated_of",
    "outcomes_of",
    "qualities_of",
    "results_of",
    "runs_of",
    "task_of",
]

Floats = NDArray[np.float64]

TASKS: dict[str, tuple[str, str]] = {
    "adult race": ("adult", "race"),
    "adult sex": ("adult", "sex"),
    "german sex": ("german", "sex"),
    "bank age": ("bank(version=full)", "age"),
    "compas race": ("compas", "race"),
    "default sex": ("default_credit", "sex"),
    "heart sex": ("heart", "sex"),
    "meps15 sex": ("meps(panel=19)", "sex"),
    "meps16 sex": ("meps(panel=21)", "sex"),
    "student sex": ("student", "sex"),
}
"""Tasks in the paper's order; the data of its MEPS15 and MEPS16 are panels 19 and 21."""

MODELS: tuple[str, ...] = ("dnn", "lr", "svm", "rf")
"""In the paper's order."""

ORIGINAL = "unmitigated"

METHODS: dict[str, str] = {
    "EG": "exponentiated_gradient",
    "Fair-SMOTE": "fair_smote",
    "STEALTH": "stealth",
    "MAAT": "maat",
    "MiniMax": "minimax",
    "ECD-Fair": "ecd_fair",
}
"""Methods by the paper's label, in the order of Tables V to VII."""

GENERATOR = "generator"
"""What stands in the place of a model in records about generated rows."""

Reading = Literal["as_published", "corrected"]
"""The paper's locations and the shared script's ranks, or levels at one horizon and better ranks."""

ECD: dict[Reading, str] = {"as_published": "ecd", "corrected": "ecd_1000"}

AVERAGE_METRICS: dict[str, str] = {
    "Acc loss": "accuracy",
    "AOD": "average_odds_difference",
    "EOD": "equal_opportunity_difference",
    "SPD": "statistical_parity_difference",
    "DI": "disparate_impact",
}

_SIDES = {1: "privileged", 2: "unprivileged"}
_OF_SIDE = {
    "N": "cd_rows",
    "mu": "gev_location",
    "sigma": "gev_scale",
    "xi": "gev_shape",
    "+/-": "gev_error",
    "tau": "tail_threshold",
    "scale": "gpd_scale",
    "shape": "gpd_shape",
    "low": "gpd_low",
    "high": "gpd_high",
    "distinct": "tail_distinct",
    "largest": "cd_max",
    "CV": "cv_raw",
    "residual CV": "cv_residual",
    "B": "tail_horizon",
    **{f"level {m}": f"level_{m}" for m in (500, 1000, 2000)},
}


def runs_of(frame: pd.DataFrame, metrics: Sequence[str]) -> pd.DataFrame:
    """Give the ok runs of the paper's tasks, one row each, with ``task`` and the metrics asked for.

    Rows are in the order of the paper: models, tasks, methods, repeats.
    """
    table = wide(one_study(_models(frame)), metrics)
    places = zip(table["dataset"].astype(str), table["attributes"].astype(str), strict=True)
    table["task"] = pd.Categorical([task_of(*place) for place in places], [*TASKS])
    table["model"] = pd.Categorical(table["model"].astype(str), MODELS)
    table["method"] = pd.Categorical(_labels(table["mitigator"]), [ORIGINAL, *METHODS])
    table = table.dropna(subset=["task", "model", "method"])
    if table.empty:
        raise InputError(
            "The frame must hold runs of the paper's tasks; it holds none: run the study "
            "monjezi_2025 first."
        )
    return table.sort_values(["model", "task", "method", "repeat"], ignore_index=True)


def _labels(mitigators: pd.Series) -> list[str | None]:
    """Give the paper's labels; ``minimax(rounds=2000)`` is MiniMax, but not beside another."""
    known = {name: label for label, name in METHODS.items()} | {ORIGINAL: ORIGINAL}
    written = mitigators.astype(str)
    found = {name: known.get(base_name(name)) for name in written.unique()}
    for label in known.values():
        several = [name for name, mine in found.items() if mine == label]
        if len(several) > 1:
            raise InputError(
                f"A table has one variant of a method; the frame holds {listed(several)}: choose "
                f"one of them."
            )
    return [found[name] for name in written]


def _models(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[(frame["model"] != GENERATOR).to_numpy()]


def task_of(dataset: str, attributes: str) -> str | None:
    """Give the paper's name of a task, wherever its files lie; None for another.

    Examples
    --------
    >>> task_of("meps(panel=21)", "sex"), task_of("student(path=files)", "sex"), task_of("bank", "age")
    ('meps16 sex', 'student sex', None)
    """
    name, options = parse_name(dataset)
    options.pop("path", None)
    places = {place: task for task, place in TASKS.items()}
    return places.get((format_name(name, options), attributes))


def _means(table: pd.DataFrame, by: Sequence[str], columns: Sequence[str]) -> pd.DataFrame:
    # a location that is undefined in some run has no mean over all runs
    keys = [table[name].astype(str) for name in by]
    known = table[[*columns]].notna().groupby(keys).all()
    means = table[[*columns]].groupby(keys).mean().where(known)
    order = pd.MultiIndex.from_frame(table[[*by]].astype(str).drop_duplicates())
    return means.reindex(order)


def groups_of(frame: pd.DataFrame, method: str = ORIGINAL) -> pd.DataFrame:
    """Give the tails by (model, task, group): medians over the repeats, and the types.

    Medians, because a shape has no mean worth the name; ``type`` is the paper's rule on the shape
    of its law, ``evidence`` ours on the limits of the shape of the peaks.
    """
    names = [f"{metric}_{side}" for metric in _OF_SIDE.values() for side in _SIDES.values()]
    table = runs_of(frame, names)
    table = table[table["method"] == method]
    parts = []
    for number, side in _SIDES.items():
        part = table.groupby(["model", "task"], observed=True)[
            [f"{metric}_{side}" for metric in _OF_SIDE.values()]
        ].median()
        part.columns = pd.Index([*_OF_SIDE])
        parts.append(part.assign(group=number).set_index("group", append=True))
    out = pd.concat(parts).sort_index()
    out["type"] = [published_type(shape) or "none" for shape in out["xi"]]
    out["evidence"] = [
        _evidence(low, high) for low, high in zip(out["low"], out["high"], strict=True)
    ]
    return out


def _evidence(low: float, high: float) -> str:
    if low != low or high != high:
        return "none"
    return "III" if high < 0 else "II" if low > 0 else "I"


def cases_of(frame: pd.DataFrame) -> pd.DataFrame:
    """Give ACD, CVaR, ECD and the same at one horizon by (model, task), means over the repeats."""
    names = {"ACD": "acd", "CVaR": "cvar", "ECD": "ecd", "ECD 1000": "ecd_1000"}
    table = runs_of(frame, [*names.values()])
    table = table[table["method"] == ORIGINAL].rename(columns={v: k for k, v in names.items()})
    out = _means(table, ["model", "task"], [*names])
    out["locations"] = out["ECD"]
    return out


def _sizes(table: pd.DataFrame, ecd: str) -> pd.DataFrame:
    """Give the numbers as Tables V to VII have them, run by run: all but accuracy as sizes."""
    out = table[["method", "model", "task", "repeat"]].copy()
    for label, metric in AVERAGE_METRICS.items():
        values = table[metric]
        out[label] = (1 - values).abs() if label == "DI" else values.abs()
    out["ECD"] = table[ecd].abs()
    before = out[out["method"] == ORIGINAL].set_index(["model", "task", "repeat"])["Acc loss"]
    mine = pd.MultiIndex.from_frame(out[["model", "task", "repeat"]])
    out["Acc loss"] = out["Acc loss"].to_numpy() - before.reindex(mine).to_numpy()
    return out


def mitigated_of(frame: pd.DataFrame, reading: Reading) -> pd.DataFrame:
    """Give Tables V to VII by (method, model, task): means over the repeats of the sizes."""
    ecd = ECD[reading]
    table = _sizes(runs_of(frame, [*AVERAGE_METRICS.values(), ecd]), ecd)
    return _means(table, ["method", "model", "task"], [*AVERAGE_METRICS, "ECD"])


def outcomes_of(frame: pd.DataFrame, reading: Reading) -> pd.DataFrame | None:
    """Give win, tie or loss against the original model by (method, model, task) and metric.

    All methods of a case and the original are ranked by Scott-Knott over their runs, with Cliff's
    delta and a bootstrap, as the shared script does or corrected. None where no case has two runs
    of anything.
    """
    ecd = ECD[reading]
    table = _sizes(runs_of(frame, [*AVERAGE_METRICS.values(), ecd]), ecd)
    metrics = [m for m in [*AVERAGE_METRICS, "ECD"] if m != "Acc loss"]
    rows: dict[tuple[str, str, str], dict[str, str]] = {}
    for (model, task), part in table.groupby(["model", "task"], observed=True):
        for metric in metrics:
            samples = {
                str(name): runs[metric].dropna().to_numpy()
                for name, runs in part.groupby("method", observed=True)
            }
            for method, word in _against(samples, reading).items():
                rows.setdefault((method, str(model), str(task)), {})[metric] = word
    if not rows:
        return None
    index = pd.MultiIndex.from_tuples([*rows], names=["method", "model", "task"])
    return pd.DataFrame([*rows.values()], index=index, columns=pd.Index(metrics))


def _against(samples: Mapping[str, Floats], reading: Reading) -> dict[str, str]:
    """Rank samples where smaller is better, and say who is better than the original."""
    told = {name: runs for name, runs in samples.items() if len(runs) > 1}
    if ORIGINAL not in told or len(told) < 2:
        return {}
    ranks = scott_knott(told, protocol=reading)
    mine = ranks[ORIGINAL]
    return {
        name: "tie" if ranks[name] == mine else "win" if ranks[name] < mine else "loss"
        for name in told
        if name != ORIGINAL
    }


def qualities_of(frame: pd.DataFrame) -> pd.DataFrame | None:
    """Give the quality of generators by (dataset, generator); None where the frame has none."""
    part = frame[(frame["model"] == GENERATOR).to_numpy()]
    if not len(part):
        return None
    names = {"FID": "fid", "KL-D": "kl", "LG-D": "detection", "F1 loss": "f1_loss"}
    table = wide(part, [*names.values()])
    places = zip(table["dataset"].astype(str), table["attributes"].astype(str), strict=True)
    table["dataset"] = [(task_of(*place) or place[0]).split()[0] for place in places]
    table["generator"] = table["mitigator"].astype(str)
    out = _means(table, ["dataset", "generator"], [*names.values()])
    out.columns = pd.Index([*names])
    return out


def results_of(frame: pd.DataFrame, reading: Reading) -> Results:
    """Give what the claims are counted on from our runs."""
    own = _models(frame)
    if not len(own):
        return Results(generators=qualities_of(frame))
    published = reading == "as_published"
    cases = cases_of(own)
    if not published:
        cases["ECD"] = cases["locations"] = cases["ECD 1000"]
    mitigated = mitigated_of(own, reading)
    found = mitigated[mitigated.index.get_level_values("method") != ORIGINAL]
    return Results(
        cases=cases,
        types=groups_of(own)["type" if published else "evidence"],
        mitigated=found if len(found) else None,
        outcomes=outcomes_of(own, reading),
        generators=qualities_of(frame),
    )
