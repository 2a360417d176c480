"""What the tables of the 17-method study are made of: its names, its cube of runs, its verdicts."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from isonomy._arrays import Floats
from isonomy.errors import InputError
from isonomy.papers.judge import Curves, curves_of, known_mean, runs_of
from isonomy.papers.table import Reading
from isonomy.stats import benjamini_hochberg, cohens_d, mann_whitney, smallest_pvalue
from isonomy.tradeoff.regions import REGIONS, UNDEFINED, Rule, classify, place

Mask = NDArray[np.bool_]
Places = NDArray[np.intp]


def _of_class(label: str, side: str) -> dict[str, str]:
    rates = {"P": "precision", "R": "recall", "F1": "f1"}
    return {f"{label}-{k}": f"{side}_{rate}(zero_division=0)" for k, rate in rates.items()}


PERFORMANCE: dict[str, str] = {
    **_of_class("F", "favorable"),
    **_of_class("UnF", "unfavorable"),
    "Acc": "accuracy",
    **_of_class("Mac", "macro"),
    "MCC": "mcc(zero_division=0)",
}
"""The eleven performance metrics by the paper's label."""

BIAS: dict[str, str] = {
    "SPD": "|statistical_parity_difference|",
    "AOD": "average_absolute_odds_difference",
    "EOD": "|equal_opportunity_difference|",
    "ERD": "|error_rate_difference|",
}
"""The four bias metrics by the paper's label."""

NAMES: dict[str, str] = {**PERFORMANCE, **BIAS}
"""All fifteen metrics by the paper's label."""

METHODS: dict[str, str] = {
    "OP": "optimized_preprocessing",
    "LFR": "learning_fair_representations",
    "RW": "reweighing",
    "DIR": "disparate_impact_remover",
    "PR": "prejudice_remover(eta=25)",
    "AD": "adversarial_debiasing",
    "MFC-FDR": "meta_fair_classifier(constraint=fdr)",
    "MFC-SR": "meta_fair_classifier(constraint=sr)",
    "ROC-SPD": "reject_option(metric=spd)",
    "ROC-AOD": "reject_option(metric=aod)",
    "ROC-EOD": "reject_option(metric=eod)",
    "CEO-FNR": "calibrated_equalized_odds(cost=fnr)",
    "CEO-FPR": "calibrated_equalized_odds(cost=fpr)",
    "CEO-W": "calibrated_equalized_odds(cost=weighted)",
    "EOP": "equalized_odds",
    "Fairway": "fairway",
    "Fair-SMOTE": "fair_smote",
}
"""The seventeen methods by the paper's label, in its order (which breaks ties of ranks)."""

TASKS: dict[str, tuple[str, str]] = {
    "Adult-Sex": ("adult", "sex"),
    "Adult-Race": ("adult", "race"),
    "Compas-Sex": ("compas", "sex"),
    "Compas-Race": ("compas", "race"),
    "German-Sex": ("german", "sex"),
    "German-Age": ("german", "age"),
    "Bank-Age": ("bank", "age"),
    "Mep-Race": ("meps", "race"),
}
"""The eight tasks by the paper's label."""

MODELS: tuple[str, ...] = ("rf", "lr", "svm", "dl", "dl2", "dl3", "dl4")
"""The seven base models, in the authors' order."""

PAIRS: tuple[tuple[str, str], ...] = tuple(
    (gap, score)
    for gap in ("SPD", "AOD", "EOD")  # ERD does not fall by mutation: it has no baseline
    for score in ("Acc", "Mac-P", "Mac-R", "Mac-F1", "MCC")
)
"""The fifteen trade-offs that have a baseline."""

EFFECTS: tuple[str, ...] = ("no or increase", "small", "medium", "large")
"""What may become of a metric: not significantly lower, or lower by so much."""

UNTESTED = -2
"""Stands for an effect where there are too few runs for any difference to be significant."""

ALPHA = 0.05
"""Significance level of the study's tests."""

_OWN_MODEL = ("PR", "AD", "MFC-FDR", "MFC-SR", "Fairway")
RUNS = 50
"""How often the study ran everything."""

CORRECTED = (
    "Corrected: methods that bring their own model are counted beside lr only; p-values are adjusted "
    "for the number of tests (Benjamini and Hochberg); regions are by the paper's rule, and a run "
    "that predicts one label for all is poor; Mep-Race has none, because its baseline is weighted "
    "and its runs are not."
)
"""What the corrected reading of a table changes."""


@dataclass(frozen=True)
class Cube:
    """All runs: ``values[metric, task, model, method, repeat]``, NaN where there is none.

    Method 0 is the original model; the others follow :data:`METHODS`. What ``corrected`` changes is
    said in :data:`CORRECTED`.
    """

    values: Floats
    curves: Curves
    corrected: bool = False

    @cached_property
    def present(self) -> Mask:
        """Which (task, model, method) have runs, and an original model to compare with."""
        known: Mask = np.all(np.any(np.isfinite(self.values), axis=-1), axis=0)
        return np.asarray(known[..., 1:] & known[..., :1])

    @cached_property
    def expected(self) -> Mask:
        """Which (task, model, method) the whole study has."""
        out = np.ones((len(TASKS), len(MODELS), len(METHODS)), dtype=bool)
        out[-2:, :, 0] = False  # there is no coarse set of Bank and MEPS for OP
        if self.corrected:
            own = np.isin([*METHODS], _OWN_MODEL)
            out[:, [model != "lr" for model in MODELS]] &= ~own
        return out

    @cached_property
    def whole(self) -> Mask:
        """Where nothing is missing: held as expected, with all fifty runs."""
        full: Mask = np.all(np.isfinite(self.values), axis=(0, -1))
        full = full & (self.values.shape[-1] == RUNS)
        return np.asarray((self.present == self.expected) & (full[..., 1:] | ~self.expected))

    @cached_property
    def means(self) -> Floats:
        """Means over runs: ``[metric, task, model, method]``."""
        return known_mean(self.values)

    @cached_property
    def effects(self) -> NDArray[np.int8]:
        """Index into :data:`EFFECTS` by ``[metric, task, model, method]``; -1 without runs.

        Lower is significant by a two-sided Mann-Whitney test at 5 %; Cohen's d below 0.5 is small,
        below 0.8 medium. :data:`UNTESTED` where there are too few runs for any difference to be
        significant.
        """
        out = np.full((len(NAMES), *self.present.shape), -1, dtype=np.int8)
        task, model, method = np.nonzero(self.present)
        base = self.values[:, task, model, 0]
        mitigated = self.values[:, task, model, method + 1]
        # runs that failed leave holes: those cells are tested on what there is
        p = mann_whitney(base, mitigated, nan="omit").pvalue
        if self.corrected:
            # Figures 3 and 4 are of one set of tests, 5 and 6 of another
            families = np.split(p, [len(PERFORMANCE)])
            p = np.concatenate([benjamini_hochberg(family) for family in families])
        d = np.abs(cohens_d(base, mitigated, nan="omit"))
        change = self.means[:, task, model, method + 1] - self.means[:, task, model, 0]
        lower = (p < ALPHA) & (change < 0)
        size = np.where(d < 0.5, 1, np.where(d < 0.8, 2, 3))
        runs = (np.isfinite(side).sum(axis=-1).ravel() for side in (base, mitigated))
        least = np.array([smallest_pvalue(*sizes) for sizes in zip(*runs, strict=True)])
        # equal values within a sample may give less than samples without ties
        testable = (p < ALPHA) | (least.reshape(p.shape) < ALPHA)
        out[:, task, model, method] = np.where(testable, np.where(lower, size, 0), UNTESTED)
        return out

    def _placed(
        self, values: Floats, gap: str, score: str
    ) -> tuple[tuple[Places, ...], tuple[Floats, Floats, Floats, Floats]]:
        """Return the cells that have a baseline; their points in both metrics; their baselines."""
        place = {key: i for i, key in enumerate(self.curves.tasks)}
        keys = [[(*task, model) for model in MODELS] for task in TASKS.values()]
        curve = np.array([[place.get(key, -1) for key in row] for row in keys])
        if self.corrected:
            curve[[*TASKS].index("Mep-Race")] = -1
        task, model, method = np.nonzero(self.present & (curve >= 0)[..., None])
        labels = [*NAMES]
        y, x = (values[labels.index(m), task, model, method + 1] for m in (score, gap))
        line_y, line_x = (self.curves.values[NAMES[m]][curve[task, model]] for m in (score, gap))
        return (task, model, method), (y, x, line_y, line_x)

    def constant(self, values: Floats) -> Mask:
        """Return which runs (or means of runs) of the methods predict one label for all."""
        labels = [*NAMES]
        found, other = (values[labels.index(name)][:, :, 1:] for name in ("F-R", "UnF-R"))
        return np.asarray((np.minimum(found, other) == 0) & (np.maximum(found, other) == 1))

    def regions(self, gap: str, score: str, *, rule: Rule) -> NDArray[np.int8]:
        """Return the region of every run, ``[task, model, method, repeat]``; -1 without one."""
        out = np.full((*self.present.shape, self.values.shape[-1]), UNDEFINED, dtype=np.int8)
        cells, (y, x, line_y, line_x) = self._placed(self.values, gap, score)
        if cells[0].size:
            rule = "paper" if self.corrected else rule
            out[cells] = classify(y, x, line_y[:, None, :], line_x[:, None, :], rule=rule)
        if self.corrected:
            out[self.constant(self.values) & (out != UNDEFINED)] = REGIONS.index("poor")
        return out

    def scores(self, gap: str, score: str, *, rule: Rule) -> Floats:
        """Return the study's score of every mean point: ``[task, model, method]``.

        100 win-win, the area where good, -25 poor, -50 inverted, -100 lose-lose.
        """
        out = np.full(self.present.shape, np.nan)
        cells, points = self._placed(self.means, gap, score)
        if cells[0].size:
            code, size = place(*points, rule="paper" if self.corrected else rule)
            if self.corrected:
                code[self.constant(self.means)[cells] & (code != UNDEFINED)] = REGIONS.index("poor")
            worth = {"win-win": 100.0, "poor": -25.0, "inverted": -50.0, "lose-lose": -100.0}
            fixed = np.array([worth.get(region, np.nan) for region in REGIONS] + [np.nan])[code]
            out[cells] = np.where(code == REGIONS.index("good"), size, fixed)
        return out


def cube_of(frame: pd.DataFrame | Cube, reading: Reading = "as_published") -> Cube:
    """Arrange a result frame as a cube; a cube is returned as it is.

    PR, AD, MFC and Fairway bring their own model: where they were run beside ``lr`` only, those
    runs stand for every model, as in the study. Corrected, they stand beside ``lr`` alone.
    """
    if isinstance(frame, Cube):
        return frame
    metrics = [*NAMES.values()]
    runs = runs_of(frame, metrics)
    pairs = pd.MultiIndex.from_arrays([runs["dataset"].astype(str), runs["attributes"].astype(str)])
    task = pd.MultiIndex.from_tuples(list(TASKS.values())).get_indexer(pairs)
    model = pd.Index(list(MODELS)).get_indexer(pd.Index(runs["model"].astype(str)))
    names = pd.Index(["unmitigated", *METHODS.values()])
    method = names.get_indexer(pd.Index(runs["mitigator"].astype(str)))
    known = (task >= 0) & (model >= 0) & (method >= 0) & runs["repeat"].notna().to_numpy()
    if not known.any():
        raise InputError(
            "The frame must hold runs of the study's tasks, models and methods; it holds none: "
            "isonomy.papers.chen_2022.cases lists their names."
        )
    repeat = runs["repeat"].fillna(-1).to_numpy(dtype=np.int64)
    shape = (len(metrics), len(TASKS), len(MODELS), len(METHODS) + 1, int(repeat.max()) + 1)
    values = np.full(shape, np.nan)
    place = (task[known], model[known], method[known], repeat[known])
    values[:, *place] = runs[metrics].to_numpy()[known].T
    lr = MODELS.index("lr")
    for label in _OWN_MODEL:
        own = [*METHODS].index(label) + 1
        lone = np.isnan(values[..., own, :]).all(axis=(0, -1))  # [task, model]
        copied = np.broadcast_to(values[:, :, lr, None, own], values[..., own, :].shape)
        values[..., own, :] = np.where(lone[None, ..., None], copied, values[..., own, :])
        if reading == "corrected":
            values[:, :, [model != "lr" for model in MODELS], own] = np.nan
    pair_metrics = sorted({NAMES[m] for pair in PAIRS for m in pair} | {NAMES["ERD"]})
    return Cube(values, curves_of(frame, pair_metrics), reading == "corrected")
