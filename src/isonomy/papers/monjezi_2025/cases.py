"""Runs of the study of tails as cases: means over the repeats, types, and outcomes against the original.

``printed`` holds Tables I and III to VII, transcribed from arXiv:2501.11597v1. Cells are kept as
printed (``.1`` stays ``.1``), slips included. What a reader must know:

- Table IV is two files: one line per case with its ACD, CVaR and ECD, and one per group: label,
  rows and generated rows in thousands, location, scale, shape, the one ``+/-`` that is printed
  behind all three (``e`` is below .01), threshold, type, shape of the Q-Q plot, horizon. Group 1 is
  the privileged one. One cell of generated rows is empty in the print (svm, default, Female) and is
  0 here.
- The three numbers of a case are in cells that span two rows, and the text of the PDF does not show
  their columns where they are shaded differently. Two cases depend on a reading: svm and rf on
  adult sex. Ours (ACD .04 and CVaR .08; CVaR .08 and ECD -.18) is the one under which the paper's
  own counts (ACD in 10 of 40, ECD in 19, ECD above ACD in 13) come out, under which ECD is the
  difference of the printed locations to the last digit except for two signs, and under which the
  CVaR columns of svm and rf are equal throughout, as they are in all other rows.
- Groups have the printed labels. For German (except svm), Heart, Student and MEPS they look
  exchanged: the sizes fit the other sex.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from isonomy._names import base_name, format_name, parse_name
from isonomy._validate import listed
from isonomy.counterfactual.extremes import ROUNDING
from isonomy.errors import InputError
from isonomy.papers.judge import one_study
from isonomy.papers.monjezi_2025.claims import Results
from isonomy.papers.printed import read_printed
from isonomy.papers.table import Reading, decimals
from isonomy.stats import scott_knott
from isonomy.store.record import wide
from isonomy.study.tails import SIDES
from isonomy.tails import published_type

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
"""Takes the place of a model in records about generated rows."""

Rows = Literal["real", "searched", "planned"]
"""Real rows only, or those of :mod:`isonomy.study.generated`: Algorithm 1's, or our plan's."""

AVERAGE_METRICS: dict[str, str] = {
    "Acc loss": "accuracy",
    "AOD": "average_odds_difference",
    "EOD": "equal_opportunity_difference",
    "SPD": "statistical_parity_difference",
    "DI": "disparate_impact",
}
AVERAGED = "ECD averaged"
_DIFFERENCES = {"ACD": "acd", "CVaR": "cvar", "ECD": "ecd", "ECD 1000": "ecd_1000"}
_QUALITIES = {"FID": "fid", "KL-D": "kl", "LG-D": "detection", "F1 loss": "f1_loss"}
_OF_GROUP = [
    *("cd_rows", "cd_max", "gev_location", "gev_scale", "gev_shape", "gev_error", "tail_threshold"),
    *("gpd_scale", "gpd_shape", "gpd_low", "gpd_high", "tail_distinct", "tail_horizon"),
    *("cv_raw", "cv_residual", "level_1000"),
]
_OUTCOMES = {-1: "win", 0: "tie", 1: "loss"}

# ---------------------------------------------------------------------- what is printed

_LABELS = {"table1": 2, "table3": 2, "table4_cases": 2, "table4_groups": 3, "tables5_to_7": 3}


def printed(table: str) -> pd.DataFrame:
    """Return a printed table, as text.

    Examples
    --------
    >>> printed("table4_cases").loc[("lr", "adult sex")].to_dict()
    {'ACD': '.06', 'CVaR': '.22', 'ECD': '.07'}
    """
    return read_printed(__file__, table, index=_LABELS[table])


two_decimals = decimals(2)


def printed_two(frame: pd.DataFrame) -> pd.DataFrame:
    """Return printed numbers with two decimals, so that .1 and .10 are equal; words stay."""

    def write(cell: str) -> str:
        try:
            return two_decimals(float(cell))
        except ValueError:
            return "0.00" if cell == "e" else cell

    return frame.map(write)


def printed_results() -> Results:
    """Return the numbers of the printed tables, as the claims are counted on them.

    Examples
    --------
    >>> results = printed_results()
    >>> results.types.value_counts().to_dict()
    {'III': 62, 'I': 14, 'II': 4}
    """
    groups = printed("table4_groups")
    location = groups["mu"].astype(float).unstack("group")  # noqa: PD010
    cases = printed("table4_cases").astype(float)
    cases["locations"] = location["2"] - location["1"]
    mitigated = printed("tables5_to_7").replace("NV", np.nan).astype(float)
    return Results(cases, groups["type"], mitigated, None, printed("table3").astype(float))


# ---------------------------------------------------------------------- what was run


def runs_of(frame: pd.DataFrame, metrics: Sequence[str]) -> pd.DataFrame:
    """Return the runs of the paper's tasks that are ok, one per row, with ``task`` and the metrics.

    Rows are in the order of the paper: models, tasks, methods, repeats.
    """
    table = wide(one_study(_models(frame)), metrics)
    table["task"] = pd.Categorical(_tasks(table), [*TASKS])
    table["model"] = pd.Categorical(table["model"].astype(str), MODELS)
    table["method"] = pd.Categorical(_labels(table["mitigator"]), [ORIGINAL, *METHODS])
    table = table.dropna(subset=["task", "model", "method"])
    if table.empty:
        raise InputError(
            "The frame must hold runs of the paper's tasks; it holds none: run the study "
            "monjezi_2025 first."
        )
    return table.sort_values(["model", "task", "method", "repeat"], ignore_index=True)


def _models(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[(frame["model"] != GENERATOR).to_numpy()]


def _labels(mitigators: pd.Series) -> list[str | None]:
    """Return the paper's labels; ``minimax(rounds=2000)`` is MiniMax, but not beside another."""
    known = {name: label for label, name in METHODS.items()} | {ORIGINAL: ORIGINAL}
    written = mitigators.astype(str)
    labels = {name: known.get(base_name(name)) for name in written.unique()}
    for label in known.values():
        variants = [name for name, own in labels.items() if own == label]
        if len(variants) > 1:
            raise InputError(
                f"A table has one variant of a method; the frame holds {listed(variants)}: choose "
                f"one of them."
            )
    return [labels[name] for name in written]


def task_of(dataset: str, attributes: str) -> str | None:
    """Return the paper's name of a task, wherever its files are; None for another.

    Examples
    --------
    >>> task_of("meps(panel=21)", "sex"), task_of("student(path=files)", "sex"), task_of("bank", "age")
    ('meps16 sex', 'student sex', None)
    """
    name, options = parse_name(dataset)
    options.pop("path", None)
    place = (format_name(name, options), attributes)
    return next((task for task, known in TASKS.items() if known == place), None)


def _tasks(table: pd.DataFrame) -> list[str | None]:
    places = table[["dataset", "attributes"]].astype(str)
    return [task_of(*place) for place in places.itertuples(index=False)]


def with_rows(frame: pd.DataFrame, metrics: Sequence[str], rows: Rows) -> pd.DataFrame:
    """Return runs with the metrics of tails, those of generated rows where a run has such rows.

    ``made_privileged`` and ``made_unprivileged`` are the numbers of generated rows; NaN where they
    could not be generated, because an extra was not installed.
    """
    counts = {f"{rows}_rows_{side}": f"made_{side}" for side in SIDES}
    held = set(frame["metric"].cat.categories[frame["metric"].cat.codes.unique()])
    if not held >= set(counts):
        return runs_of(frame, metrics).assign(**dict.fromkeys(counts.values(), 0.0))
    more = [f"{rows}_{metric}" for metric in metrics if f"{rows}_{metric}" in held]
    table = runs_of(frame, [*metrics, *more, *counts]).rename(columns=counts)
    made = table[[*counts.values()]].gt(0)
    for name in more:
        metric = name.removeprefix(f"{rows}_")
        side = next((side for side in SIDES if metric.endswith(f"_{side}")), None)
        there = made.any(axis=1) if side is None else made[f"made_{side}"]
        table[metric] = table[metric].where(~there, table[name])
    return table.drop(columns=more)


def _means(table: pd.DataFrame, by: Sequence[str], columns: Sequence[str]) -> pd.DataFrame:
    # a location that is undefined in some run has no mean over all runs
    grouped = table[[*columns]].groupby([table[name].astype(str) for name in by], sort=False)
    return grouped.mean().where(grouped.count().eq(grouped.size(), axis=0))


def groups_of(frame: pd.DataFrame, rows: Rows = "real") -> pd.DataFrame:
    """Return the original models' tails by (model, task, group): medians over the repeats, and types.

    Medians, because a mean of shapes says little; ``type`` is the paper's rule on the shape of its
    law, ``evidence`` ours on the limits of the shape of the peaks. A group that nobody is
    disadvantaged in has no tail of discrimination: both are ``none``, whatever law its smallest
    advantages follow. ``made`` is the number of generated rows.
    """
    table = with_rows(frame, [f"{metric}_{side}" for side in SIDES for metric in _OF_GROUP], rows)
    cases = table[table["method"] == ORIGINAL].groupby(["model", "task"], observed=True)
    parts = []
    for number, side in enumerate(SIDES, 1):
        part = cases[[f"{metric}_{side}" for metric in (*_OF_GROUP, "made")]].median()
        part = part.set_axis([*_OF_GROUP, "made"], axis=1).assign(group=number)
        parts.append(part.set_index("group", append=True))
    out = pd.concat(parts).sort_index()
    nobody = out["cd_max"] <= ROUNDING
    out["type"] = [published_type(shape) or "none" for shape in out["gev_shape"].mask(nobody)]
    limits = out[["gpd_low", "gpd_high"]].mask(nobody)
    out["evidence"] = type_by_limits(limits["gpd_low"], limits["gpd_high"])
    out["gpd_error"] = (out["gpd_high"] - out["gpd_low"]) / 2
    return out


def type_by_limits(low: ArrayLike, high: ArrayLike) -> NDArray[np.str_]:
    """Return the type of tails by the limits of their shape; ``none`` where there are none.

    Examples
    --------
    >>> type_by_limits([-0.3, -0.1, 0.2, np.nan], [-0.1, 0.1, 0.4, np.nan]).tolist()
    ['III', 'I', 'II', 'none']
    """
    low, high = np.asarray(low), np.asarray(high)
    undefined = np.isnan(low) | np.isnan(high)
    return np.select([undefined, high < 0, low > 0], ["none", "III", "II"], "I")


def cases_of(frame: pd.DataFrame, rows: Rows = "real") -> pd.DataFrame:
    """Return ACD, CVaR, ECD and ECD at one horizon by (model, task), means over the repeats."""
    table = with_rows(frame, [*_DIFFERENCES.values()], rows)
    out = _means(table[table["method"] == ORIGINAL], ["model", "task"], [*_DIFFERENCES.values()])
    return out.set_axis([*_DIFFERENCES], axis=1).assign(locations=out["ecd"])


def _sizes_of(frame: pd.DataFrame, reading: Reading) -> pd.DataFrame:
    """Return the numbers of Tables V to VII, run by run: all but accuracy as sizes.

    As published, ECD is that of Algorithm 1's rows where it generated any. ``ECD averaged`` is that
    of the mean of probabilities, of a mixture whose models vote.
    """
    ecd = "ecd" if reading == "as_published" else "ecd_1000"
    metrics = AVERAGE_METRICS | {"ECD": ecd, AVERAGED: f"averaged_{ecd}"}
    if f"averaged_{ecd}" not in frame["metric"].array:
        del metrics[AVERAGED]
    rows: Rows = "searched" if reading == "as_published" else "real"
    table = with_rows(frame, [*metrics.values()], rows)
    table = table.rename(columns={metric: label for label, metric in metrics.items()})
    table["DI"] = 1 - table["DI"]
    if AVERAGED not in table:
        table[AVERAGED] = np.nan
    labels = [*AVERAGE_METRICS, "ECD", AVERAGED][1:]
    table[labels] = table[labels].abs()
    case = ["model", "task", "repeat"]
    before = table[table["method"] == ORIGINAL].set_index(case)["Acc loss"]
    table["Acc loss"] -= before.reindex(pd.MultiIndex.from_frame(table[case])).to_numpy()
    return table


def mitigated_of(frame: pd.DataFrame, reading: Reading) -> pd.DataFrame:
    """Return Tables V to VII by (method, model, task): means over the repeats of the sizes."""
    by = ["method", "model", "task"]
    return _means(_sizes_of(frame, reading), by, [*AVERAGE_METRICS, "ECD", AVERAGED])


def outcomes_of(frame: pd.DataFrame, reading: Reading) -> pd.DataFrame | None:
    """Return win, tie or loss against the original model by (method, model, task) and metric.

    All methods of a case and the original are ranked by Scott-Knott over their runs, with Cliff's
    delta and a bootstrap, as the shared script does or corrected. None where no case has two runs
    of anything.
    """
    metrics = [*AVERAGE_METRICS, "ECD"][1:]
    rows: dict[tuple[str, str, str], dict[str, str]] = {}
    for (model, task), case in _sizes_of(frame, reading).groupby(["model", "task"], observed=True):
        for metric in metrics:
            by_method = case.dropna(subset=metric).groupby("method", observed=True)[metric]
            runs = {str(m): v.to_numpy() for m, v in by_method if len(v) > 1}
            if ORIGINAL not in runs or len(runs) < 2:
                continue
            ranks = scott_knott(runs, protocol=reading)
            for method in [name for name in METHODS if name in runs]:
                better = int(np.sign(ranks[method] - ranks[ORIGINAL]))
                rows.setdefault((method, str(model), str(task)), {})[metric] = _OUTCOMES[better]
    if not rows:
        return None
    index = pd.MultiIndex.from_tuples([*rows], names=["method", "model", "task"])
    return pd.DataFrame([*rows.values()], index=index, columns=pd.Index(metrics))


def qualities_of(frame: pd.DataFrame) -> pd.DataFrame | None:
    """Return the quality of generators by (dataset, generator); None where the frame has none."""
    part = frame[((frame["model"] == GENERATOR) & (frame["status"] == "ok")).to_numpy()]
    if not len(part):
        return None
    table = wide(part, [*_QUALITIES.values()])
    names = zip(_tasks(table), table["dataset"].astype(str), strict=True)
    table["dataset"] = [(task or dataset).split()[0] for task, dataset in names]
    table["generator"] = table["mitigator"]
    out = _means(table, ["dataset", "generator"], [*_QUALITIES.values()])
    return out.set_axis([*_QUALITIES], axis=1)


def results_of(frame: pd.DataFrame, reading: Reading) -> Results:
    """Return what the claims are counted on from our runs."""
    own = _models(frame)
    if not len(own):
        return Results(generators=qualities_of(frame))
    published = reading == "as_published"
    rows: Rows = "searched" if published else "real"
    cases = cases_of(own, rows)
    if not published:
        cases["ECD"] = cases["locations"] = cases["ECD 1000"]
    mitigated = mitigated_of(own, reading).drop(index=ORIGINAL, level="method", errors="ignore")
    return Results(
        cases=cases,
        types=groups_of(own, rows)["type" if published else "evidence"],
        mitigated=mitigated if len(mitigated) else None,
        outcomes=outcomes_of(own, reading),
        generators=qualities_of(frame),
    )
