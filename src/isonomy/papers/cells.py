"""Single cells of a study, ours beside the published ones: means, tests, equal runs, causes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from isonomy._arrays import Floats
from isonomy._names import base_name
from isonomy._validate import listed
from isonomy.errors import InputError
from isonomy.papers.judge import is_baseline, known_mean
from isonomy.stats import holm, mann_whitney, smallest_pvalue, wilcoxon
from isonomy.store.record import check_frame, wide

ALPHA = 0.01
"""Significance level of a cell, Holm's correction over all cells included."""

CELL = ("dataset", "attributes", "model", "mitigator")
# they bring their own learner: one set of published runs stands for every base model
_OWN_MODEL = frozenset(
    {"prejudice_remover", "adversarial_debiasing", "meta_fair_classifier", "fairway", "gerry_fair"}
)
_DIGITS = 6e-7  # published values have six decimals


@dataclass(frozen=True)
class Cause:
    """Why runs of some cells cannot equal the published ones in every digit.

    Examples
    --------
    >>> cause = Cause("draws of its own", "fair_smote", models=("rf",))
    >>> cause.covers("adult", "rf", "fair_smote(keep_flip=False)"), cause.covers("adult", "lr", "lfr")
    (True, False)
    """

    words: str
    mitigator: str = ""
    models: tuple[str, ...] = ()
    datasets: tuple[str, ...] = ()

    def covers(self, dataset: str, model: str, mitigator: str) -> bool:
        """Return whether it is the cause of a cell; what is left empty covers all."""
        return (
            self.mitigator in ("", base_name(mitigator))
            and (not self.models or model in self.models)
            and (not self.datasets or dataset in self.datasets)
        )


def cause_of(causes: Sequence[Cause], dataset: str, model: str, mitigator: str) -> str:
    """Return the words of the first cause that covers a cell, empty where there is none."""
    return next((c.words for c in causes if c.covers(dataset, model, mitigator)), "")


def fewest_pairs(alpha: float, tests: int) -> int:
    """Return how many pairs a signed-rank test needs to be significant after Holm's correction.

    Examples
    --------
    >>> fewest_pairs(0.01, 1000)
    18
    """
    return 2 + int(np.floor(np.log2(tests / alpha)))


def keys_of(frame: pd.DataFrame, columns: tuple[str, ...] = CELL) -> pd.MultiIndex:
    """Return what tells rows apart: their cells, or other columns, as text."""
    return pd.MultiIndex.from_arrays([frame[c].astype(str) for c in columns], names=columns)


def _brings_own_model(names: pd.Series) -> NDArray[np.bool_]:
    words = names.astype("category")
    own = [base_name(str(name)) in _OWN_MODEL for name in words.cat.categories]
    return np.asarray(own, dtype=bool)[words.cat.codes]


def same_part(published: pd.DataFrame, ours: pd.DataFrame) -> pd.DataFrame:
    """Return the published rows of the tasks, models and methods that our frame holds.

    Baselines go with their model. A method that brings its own learner was published once and
    stands for every base model.
    """
    published, ours = check_frame(published), check_frame(ours)
    ours = ours[(ours["status"] == "ok").to_numpy()]
    our_cells = keys_of(ours).unique()
    keep = keys_of(published).isin(our_cells)
    tasks = keys_of(ours, CELL[:3]).unique()
    line = is_baseline(published)
    keep = np.where(line, keys_of(published, CELL[:3]).isin(tasks), keep)
    no_model = (*CELL[:2], "mitigator")
    own = _brings_own_model(published["mitigator"])
    alike = keys_of(published, no_model).isin(keys_of(ours, no_model).unique())
    whose = _brings_own_model(published["model"])  # its baseline: the method switched off
    return published[keep | (own & alike) | (line & whose)].reset_index(drop=True)


def same_repeats(published: pd.DataFrame, ours: pd.DataFrame) -> pd.DataFrame:
    """Keep the published runs that we have a run of, cell by cell; baselines are means and stay."""
    ours = ours[(ours["status"] == "ok").to_numpy()]
    no_model = (*CELL[:2], "mitigator", "repeat")
    ran = keys_of(published, (*CELL, "repeat")).isin(keys_of(ours, (*CELL, "repeat")).unique())
    alike = keys_of(published, no_model).isin(keys_of(ours, no_model).unique())
    keep = ran | (_brings_own_model(published["mitigator"]) & alike) | is_baseline(published)
    return published[keep | published["repeat"].isna().to_numpy()].reset_index(drop=True)


def compare_cells(
    ours: pd.DataFrame, published: pd.DataFrame, *, alpha: float = ALPHA, paired: bool = True
) -> pd.DataFrame:
    """Compare means and distributions of every (task, model, method, metric) both frames hold.

    Paired, the runs of the same repeats are compared: their means, and their differences by a
    signed-rank test, in which a difference beyond the published digits is none. Otherwise all runs
    of both sides are, by a Mann-Whitney test.
    """
    ours, published = (f[~is_baseline(f)] for f in map(check_frame, (ours, published)))
    theirs = [str(m) for m in published["metric"].unique() if m]
    our_metrics = {str(m) for m in ours["metric"].unique()}
    metrics = [m for m in theirs if m in our_metrics or m.strip("|") in our_metrics]
    if not metrics:
        raise InputError(
            f"The two frames must share a metric; ours holds {listed(sorted(our_metrics))}, the "
            f"published one {listed(theirs)}."
        )
    left, right = wide(ours, metrics), wide(published, metrics)
    places = _matched(left, right)
    if places.empty:
        raise InputError(
            "The two frames must share a task, model and method; they share none: compare runs of "
            "the same study."
        )
    a, seeds_a = _laid_out(left, places[list(CELL)], metrics)
    b, seeds_b = _laid_out(right, places[[*CELL[:2], "their_model", "mitigator"]], metrics)
    count = len(metrics)
    out = pd.concat([places[list(CELL)]] * count, ignore_index=True)
    out["metric"] = np.repeat(metrics, len(places))
    shared = sorted(set(seeds_a) & set(seeds_b))
    if paired and shared:
        a, b = (v[..., [s.index(r) for r in shared]] for v, s in ((a, seeds_a), (b, seeds_b)))
        both = np.isfinite(a) & np.isfinite(b)
        out["equal_runs"] = np.tile(_equal_runs(a, b), count)
        a, b = np.where(both, a, np.nan), np.where(both, b, np.nan)
    else:
        paired = False
        out["equal_runs"] = np.nan
    flat_a, flat_b = (v.reshape(-1, v.shape[-1]) for v in (a, b))
    out["runs"], out["published_runs"] = (np.isfinite(v).sum(axis=-1) for v in (flat_a, flat_b))
    out["ours"], out["published"] = known_mean(flat_a), known_mean(flat_b)
    out["difference"] = out["ours"] - out["published"]
    test = _paired_test if paired else _unpaired_test
    out["p"], out["larger"], out["paired"] = test(flat_a, flat_b)
    out = out[(out["runs"] > 0) & (out["published_runs"] > 0)].reset_index(drop=True)
    out["adjusted"] = holm(out["p"].to_numpy())
    out["rejected"] = out["adjusted"] < alpha
    # what Holm's correction asks of a cell when those that are rejected have been taken out
    open_cells = len(out) - int(out["rejected"].sum())
    n, m = out["runs"], out["published_runs"]
    least = np.array([least_pvalue(*sizes, paired=paired) for sizes in zip(n, m, strict=True)])
    out["testable"] = out["rejected"] | (least * open_cells < alpha)
    return out


def least_pvalue(n: int, m: int, *, paired: bool) -> float:
    """Return the smallest p-value that so many runs can give."""
    return float(2.0 ** (1 - n)) if paired else smallest_pvalue(n, m)


def _paired_test(a: Floats, b: Floats) -> tuple[Floats, Floats, Floats]:
    """Return p-values, the share of pairs in which ours is larger, and the mean distance."""
    away = a - b
    away = np.where(np.abs(away) <= _DIGITS, 0.0, away)
    known = np.isfinite(away)
    p = np.full(len(away), np.nan)
    some = known.any(axis=-1)
    if some.any():
        p[some] = wilcoxon(away[some], method="exact", nan="omit").pvalue
    with np.errstate(invalid="ignore"):
        above = (np.where(known, (np.sign(away) + 1.0) / 2.0, 0.0)).sum(-1) / known.sum(-1)
    return p, above, known_mean(np.abs(a - b))


def _unpaired_test(a: Floats, b: Floats) -> tuple[Floats, Floats, Floats]:
    """Return p-values, the chance that a run of ours is larger, and no distances."""
    n, m = (np.isfinite(v).sum(axis=-1) for v in (a, b))
    statistic, p = mann_whitney(a, b, nan="omit")
    # two constant samples of one value differ in nothing
    p = np.where(np.isnan(p) & (n > 0) & (m > 0), 1.0, p)
    with np.errstate(invalid="ignore", divide="ignore"):
        return p, statistic / (n * m), np.full(len(a), np.nan)


def _equal_runs(a: Floats, b: Floats) -> Floats:
    """Return per cell the share of seeds whose metrics are all equal as published."""
    with np.errstate(invalid="ignore", divide="ignore"):
        both = np.isfinite(a).any(axis=0) & np.isfinite(b).any(axis=0)  # [cell, seed]
        alike = (np.abs(a - b) <= _DIGITS) | (np.isnan(a) & np.isnan(b))
        # a metric that one side lacks in every run of a cell says nothing about its runs
        told = np.isfinite(a).any(axis=-1, keepdims=True) & np.isfinite(b).any(
            axis=-1, keepdims=True
        )
        alike |= ~told
        return np.asarray(np.where(both, alike.all(axis=0), False).sum(axis=-1) / both.sum(axis=-1))


def _matched(left: pd.DataFrame, right: pd.DataFrame) -> pd.DataFrame:
    """Pair our (task, model, method) with the published runs that stand for it."""
    our_cells = left[list(CELL)].astype(str).drop_duplicates()
    theirs = right[list(CELL)].astype(str).drop_duplicates()
    same = our_cells.merge(theirs, on=list(CELL)).assign(their_model=lambda f: f["model"])
    rest = our_cells[~keys_of(our_cells).isin(keys_of(same))]
    rest = rest[_brings_own_model(rest["mitigator"])]
    no_model = [*CELL[:2], "mitigator"]
    alone = theirs[~theirs.duplicated(no_model, keep=False)].rename(
        columns={"model": "their_model"}
    )
    return pd.concat([same, rest.merge(alone, on=no_model)], ignore_index=True)


def _laid_out(
    runs: pd.DataFrame, places: pd.DataFrame, metrics: list[str]
) -> tuple[Floats, list[int]]:
    """Return ``values[metric, place, run]`` and the repeat behind each run."""
    at = pd.MultiIndex.from_frame(places)
    unique, back = np.unique(at.to_numpy(), return_inverse=True)
    row = pd.Index(unique).get_indexer(pd.Index(keys_of(runs).to_numpy()))
    repeat = runs["repeat"].fillna(0).to_numpy(dtype=np.int64)
    seeds = np.unique(repeat)
    values = np.full((len(metrics), len(unique), seeds.size), np.nan)
    known = row >= 0
    values[:, row[known], np.searchsorted(seeds, repeat[known])] = runs[metrics].to_numpy()[known].T
    return values[:, back], [int(s) for s in seeds]
