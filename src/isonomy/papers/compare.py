"""Our runs of a paper's study compared with the published ones, cell by cell and table by table."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from isonomy._arrays import Floats
from isonomy._names import base_name
from isonomy._tables import plain
from isonomy._validate import listed
from isonomy.errors import InputError
from isonomy.papers.compare_tables import compare_tables
from isonomy.papers.judge import is_baseline, known_mean, one_study
from isonomy.papers.paper import FINDINGS, PAPERS
from isonomy.papers.table import PaperTable
from isonomy.stats import holm, mann_whitney, runs_needed, smallest_pvalue
from isonomy.store.record import check_frame, combine, wide

ALPHA = 0.01
"""Significance level of a cell, Holm's correction over all cells included."""

CELL = ("dataset", "attributes", "model", "mitigator")
# they bring their own learner: one set of published runs stands for every base model
_OWN_MODEL = frozenset(
    {"prejudice_remover", "adversarial_debiasing", "meta_fair_classifier", "fairway"}
)
_DIGITS = 6e-7  # published values have six decimals


@dataclass(frozen=True)
class Comparison:
    """Our runs compared with the published ones: single cells, cells of the tables, and the findings.

    Attributes
    ----------
    paper : str
        The name of the paper.
    cells : DataFrame
        One row per (task, model, method, metric): runs and means of both sides, their difference,
        the two-sided Mann-Whitney p-value, Holm's correction of it over all rows, the chance that
        a run of ours exceeds a published one; and, seed by seed, the mean absolute difference and
        the share of runs that are equal (undefined where the two did not meet the same rows).
        ``testable`` says whether so many runs could be rejected at all; where they could not, that
        a cell is not rejected is no agreement.
    tables : DataFrame
        One row per cell of every table both sides hold: ours, the published one recomputed on the
        same part of the study, and whether they are equal as printed, or close.
    findings : PaperTable, optional
        The paper's numbered findings, where its folder has them: as published, recomputed, ours.
    alpha : float
    notes : tuple of str
    beside : tuple of PaperTable
        How our means agree with the published ones, where single runs were not published.
    """

    paper: str
    cells: pd.DataFrame
    tables: pd.DataFrame
    findings: PaperTable | None
    alpha: float = ALPHA
    notes: tuple[str, ...] = ()
    beside: tuple[PaperTable, ...] = ()

    def frame(self) -> pd.DataFrame:
        """Return the single cells."""
        return self.cells

    def agreement(self, by: str = "mitigator") -> pd.DataFrame:
        """Return the share that agrees, by one of the columns of a cell, and over all."""
        cells = self.cells
        if cells.empty:
            return pd.DataFrame()
        parts = {str(name): part for name, part in cells.groupby(by, sort=False, observed=True)}
        rows = {name: _agreement(part) for name, part in {**parts, "all": cells}.items()}
        return pd.DataFrame.from_dict(rows, orient="index")

    def table_agreement(self) -> pd.DataFrame:
        """Return per table how many cells are equal as printed, and how many are close."""
        if self.tables.empty:
            return pd.DataFrame(columns=["cells", "equal", "close", "within"])
        grouped = self.tables.groupby("table", sort=False)
        out = grouped.agg(cells=("equal", "size"), equal=("equal", "mean"), close=("close", "mean"))
        return out.assign(within=grouped["within"].first())

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data: undefined is None."""
        return {
            "paper": self.paper,
            "alpha": self.alpha,
            "notes": list(self.notes),
            "agreement": plain(self.agreement().reset_index(names="mitigator")),
            "tables": plain(self.table_agreement().reset_index(names="table")),
            "findings": plain(self.findings),
            "beside": [plain(table) for table in self.beside],
            "cells": plain(self.cells),
            "table_cells": plain(self.tables),
        }

    def markdown(self) -> str:
        """Write the comparison as a part of ``benchmarks/fidelity.md``."""
        lines = [f"## {self.paper}: our study beside the published runs", ""]
        if len(self.cells):
            ours, theirs = (_span(self.cells[side]) for side in ("runs", "published_runs"))
            summary = (
                f"{len(self.cells):,} cells (task, model, method, metric), {ours} runs of ours "
                f"against {theirs}. *Rejected*: Mann-Whitney, two-sided, Holm over all cells, "
                f"{self.alpha:.0%}. *Equal runs*: same "
                "seed, all metrics equal to six digits; *paired*: mean absolute difference seed by seed."
            )
            lines += [summary, "", *_markdown(self.agreement().reset_index(names="method")), ""]
        if len(self.tables):
            lines += [
                (
                    "The tables, ours beside those recomputed from the authors' files on the same part of "
                    "the study:"
                ),
                "",
                *_markdown(self.table_agreement().reset_index(names="table")),
                "",
            ]
        for table in self.beside:
            text = table.text().reset_index(names=table.data.index.names)
            notes_below = [f"- {note}" for note in table.notes]
            lines += [f"### {table.title}", "", *_markdown(text), "", *notes_below, ""]
        notes = [*self.notes]
        if self.findings is not None:
            for row, answers in self.findings.text().iterrows():
                lines += [f"**{row}**", "", *(f"- {side}: {x}" for side, x in answers.items()), ""]
            notes += self.findings.notes
        return "\n".join([*lines, *(f"- {note}" for note in notes)]).rstrip() + "\n"

    def __repr__(self) -> str:
        return (
            f"Comparison({self.paper!r}, {len(self.cells):,} cells, {len(self.tables):,} cells of "
            f"tables, {len(self.notes)} notes)"
        )

    def _repr_html_(self) -> str:
        return self.agreement().to_html() + self.table_agreement().to_html()


def compare(
    ours: pd.DataFrame,
    published: pd.DataFrame,
    paper: str,
    *,
    alpha: float = ALPHA,
    paired: bool = True,
    beside: pd.DataFrame | None = None,
) -> Comparison:
    """Compare our runs of a study with the published ones.

    Parameters
    ----------
    ours, published : DataFrame
        Result frames, such as ``Store.frame()`` and ``read_published(...)``.
    paper : str
        Whose tables and findings to make; single cells are compared where it is ``comparable``.
    alpha : float
        Significance level at which a cell is rejected, after Holm's correction.
    paired : bool
        Whether a repeat met the same test rows on both sides, as it did where the authors' splits
        are replayed (``protocol="as_published"``): runs are then compared seed by seed too, and
        the tables are made of the published runs of the same repeats.
    beside : DataFrame, optional
        Our runs of the paper's other studies, such as the corrected one, for the findings.

    Examples
    --------
    >>> from isonomy.store import Record, records_frame
    >>> rng = np.random.default_rng(0)
    >>> def runs(study):
    ...     return records_frame(
    ...         Record(study, "adult", "sex", "lr", name, i, dict.fromkeys(PAPERS["chen"].metrics, a))
    ...         for name in ("unmitigated", "reweighing")
    ...         for i, a in enumerate(rng.uniform(size=20))
    ...     )
    >>> result = compare(runs("chen_2022"), runs("chen_2022:published"), "chen")
    >>> float(result.agreement().loc["all", "not rejected"])
    1.0
    """
    about = PAPERS[paper]
    for side, frame in (("Our runs", ours), ("The published runs", published)):
        if check_frame(frame).empty:
            raise InputError(f"{side} must hold results; the frame is empty.")
    if about.comparable:  # otherwise layers of aggregates, which the recipes tell apart
        one_study(published)
    part = same_part(published, one_study(ours))
    cells = pd.DataFrame()
    if about.comparable:
        cells = compare_cells(ours, part, alpha=alpha, paired=paired)
    if about.comparable and paired:
        part = _same_repeats(part, ours)
    # what only one side holds would pool other runs on each
    tables, left_out = compare_tables(same_part(ours, part), part, about)
    findings = None
    if FINDINGS in about.tables:
        findings = about.tables[FINDINGS].make(published=published, ours=_with(ours, beside))
    if findings is not None and len(part) < len(published):
        data = findings.data.copy()
        same = about.tables[FINDINGS].make(published=part).data["recomputed"]
        data.insert([*data.columns].index("ours"), "recomputed on our part", same)
        findings = replace(findings, data=data)
    power = _power(cells, alpha) if len(cells) else []
    notes = [*power, *_baseline_note(ours, published), *left_out]
    beside_them = about.beside(ours, published) if about.beside and paired else ()
    return Comparison(paper, cells, tables, findings, alpha, tuple(notes), beside_them)


def _with(ours: pd.DataFrame, beside: pd.DataFrame | None) -> pd.DataFrame:
    return ours if beside is None else combine([ours, beside])


def compare_with_print(
    ours: pd.DataFrame, paper: str, *, beside: pd.DataFrame | None = None
) -> Comparison:
    """Compare our runs with what a paper prints, where the authors' files are not at hand.

    A printed cell is compared where our runs hold all that is behind it.

    Parameters
    ----------
    ours : DataFrame
        A result frame.
    paper : str
        Whose tables and findings to make.
    beside : DataFrame, optional
        Our runs of the paper's other studies, such as the corrected one, for the findings.
    """
    about = PAPERS[paper]
    tables, left_out = compare_tables(ours, None, about)
    notes = []
    if about.comparable:
        notes = ["The authors' files were not given (--published): single cells are not compared."]
    findings = None
    if FINDINGS in about.tables:
        whole = _with(ours, beside)
        lacks = about.tables[FINDINGS].needs - about.parts(whole)
        if lacks:
            left_out.append(
                f"findings are not counted: our runs lack {' and '.join(sorted(lacks))}."
            )
        else:
            findings = about.make(FINDINGS, whole)
    return Comparison(paper, pd.DataFrame(), tables, findings, notes=(*notes, *left_out))


# ---------------------------------------------------------------------- the same part


def _keys(frame: pd.DataFrame, columns: tuple[str, ...] = CELL) -> pd.MultiIndex:
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
    our_cells = _keys(ours).unique()
    keep = _keys(published).isin(our_cells)
    tasks = _keys(ours, CELL[:3]).unique()
    line = is_baseline(published)
    keep = np.where(line, _keys(published, CELL[:3]).isin(tasks), keep)
    no_model = (*CELL[:2], "mitigator")
    own = _brings_own_model(published["mitigator"])
    alike = _keys(published, no_model).isin(_keys(ours, no_model).unique())
    whose = _brings_own_model(published["model"])  # its baseline: the method switched off
    return published[keep | (own & alike) | (line & whose)].reset_index(drop=True)


def _same_repeats(published: pd.DataFrame, ours: pd.DataFrame) -> pd.DataFrame:
    """Keep the published runs of the repeats that we ran; baselines are means and stay."""
    our_repeats = set(ours["repeat"].dropna().astype(int))
    repeat = published["repeat"]
    return published[(repeat.isna() | repeat.isin(our_repeats)).to_numpy()].reset_index(drop=True)


# ---------------------------------------------------------------------- single cells


def compare_cells(
    ours: pd.DataFrame, published: pd.DataFrame, *, alpha: float = ALPHA, paired: bool = True
) -> pd.DataFrame:
    """Compare means and distributions of every (task, model, method, metric) both frames hold."""
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
    equal, apart = _seed_by_seed(a, b, seeds_a, seeds_b, paired=paired)
    flat_a, flat_b = (v.reshape(-1, v.shape[-1]) for v in (a, b))
    n, m = (np.isfinite(v).sum(axis=-1) for v in (flat_a, flat_b))
    statistic, p = mann_whitney(flat_a, flat_b, nan="omit")
    # two constant samples of one value differ in nothing
    p = np.where(np.isnan(p) & (n > 0) & (m > 0), 1.0, p)
    count = len(metrics)
    out = pd.concat([places[list(CELL)]] * count, ignore_index=True)
    out["metric"] = np.repeat(metrics, len(places))
    out["runs"], out["published_runs"] = n, m
    out["ours"], out["published"] = known_mean(flat_a), known_mean(flat_b)
    out["difference"] = out["ours"] - out["published"]
    with np.errstate(invalid="ignore"):
        out["p"], out["larger"] = p, statistic / (n * m)
    out["equal_runs"], out["paired"] = np.tile(equal, count), apart.ravel()
    out = out[(out["runs"] > 0) & (out["published_runs"] > 0)].reset_index(drop=True)
    out["adjusted"] = holm(out["p"].to_numpy())
    out["rejected"] = out["adjusted"] < alpha
    # what Holm's correction asks of a cell when those that are rejected have been taken out
    open_cells = len(out) - int(out["rejected"].sum())
    n, m = out["runs"], out["published_runs"]
    least = np.array([smallest_pvalue(*sizes) for sizes in zip(n, m, strict=True)])
    out["testable"] = out["rejected"] | (least * open_cells < alpha)
    return out


def _seed_by_seed(
    a: Floats, b: Floats, seeds_a: list[int], seeds_b: list[int], *, paired: bool
) -> tuple[Floats, Floats]:
    """Return per cell the share of equal runs, and per metric and cell the mean distance."""
    shared = sorted(set(seeds_a) & set(seeds_b))
    if not paired or not shared:
        return np.full(a.shape[1], np.nan), np.full(a.shape[:2], np.nan)
    one, other = (v[..., [s.index(r) for r in shared]] for v, s in ((a, seeds_a), (b, seeds_b)))
    with np.errstate(invalid="ignore", divide="ignore"):
        both = np.isfinite(one).any(axis=0) & np.isfinite(other).any(axis=0)  # [cell, seed]
        away = np.abs(one - other)
        alike = (away <= _DIGITS) | (np.isnan(one) & np.isnan(other))
        equal = np.where(both, alike.all(axis=0), False).sum(axis=-1) / both.sum(axis=-1)
        return np.asarray(equal), known_mean(away)


def _matched(left: pd.DataFrame, right: pd.DataFrame) -> pd.DataFrame:
    """Pair our (task, model, method) with the published runs that stand for it."""
    our_cells = left[list(CELL)].astype(str).drop_duplicates()
    theirs = right[list(CELL)].astype(str).drop_duplicates()
    same = our_cells.merge(theirs, on=list(CELL)).assign(their_model=lambda f: f["model"])
    rest = our_cells[~_keys(our_cells).isin(_keys(same))]
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
    row = pd.Index(unique).get_indexer(pd.Index(_keys(runs).to_numpy()))
    repeat = runs["repeat"].fillna(0).to_numpy(dtype=np.int64)
    seeds = np.unique(repeat)
    values = np.full((len(metrics), len(unique), seeds.size), np.nan)
    known = row >= 0
    values[:, row[known], np.searchsorted(seeds, repeat[known])] = runs[metrics].to_numpy()[known].T
    return values[:, back], [int(s) for s in seeds]


def _agreement(cells: pd.DataFrame) -> dict[str, float]:
    away = cells["difference"].abs()
    testable = cells["testable"].to_numpy(dtype=bool)
    return {
        "cells": len(cells),
        "equal runs": float(cells["equal_runs"].mean()),
        "paired": float(cells["paired"].mean()),
        "mean difference": float(away.mean()),
        "within 0.005": float((away <= 0.005).mean()),
        "within 0.02": float((away <= 0.02).mean()),
        "p below 0.05": float((cells["p"] < 0.05).mean()),
        "testable": int(testable.sum()),
        "not rejected": float((~cells["rejected"].astype(bool))[testable].mean()),
    }


def _power(cells: pd.DataFrame, alpha: float) -> list[str]:
    """Return a note where the runs are too few for any difference to be found."""
    few = cells[~cells["testable"]]
    if few.empty:
        return []
    n, m = (int(few[side].iloc[0]) for side in ("runs", "published_runs"))
    left = len(cells) - int(cells["rejected"].sum())
    need = runs_needed(alpha / left, m)
    enough = f"; {need} runs of ours are the fewest that can" if need else ""
    return [
        (
            f"Too few runs: {len(few):,} of {len(cells):,} cells cannot be rejected, however far they "
            f"lie apart, and are not counted as agreement. Samples of {n} and {m} runs cannot give a "
            f"p-value below {smallest_pvalue(n, m):.2g}, which Holm's correction over {left:,} cells raises "
            f"above {alpha:g}{enough}."
        )
    ]


def _baseline_note(ours: pd.DataFrame, published: pd.DataFrame) -> list[str]:
    """Return a note where our baselines are means over other splits than the published ones."""
    repeats = ours[is_baseline(ours)]["repeat"]
    theirs = published[is_baseline(published)]["repeat"]
    if repeats.isna().all() or theirs.empty or theirs.notna().any():
        return []
    return [
        (
            f"Our mutation baselines are means over as many splits as we ran ({repeats.nunique()}), "
            "the published ones over all of the authors': regions and areas differ by that, too."
        )
    ]


# ---------------------------------------------------------------------- writing


def _span(values: pd.Series) -> str:
    low, high = int(values.min()), int(values.max())
    return f"{low}" if low == high else f"{low} to {high}"


def cell_text(column: str, value: Any) -> str:
    """Return a cell of an agreement as text: a percentage, unless its column is no share."""
    if isinstance(value, str):
        return value
    if value != value:
        return "too few" if column == "not rejected" else ""
    if column in ("cells", "testable"):
        return str(int(value))
    digits = {"mean difference": ".4f", "paired": ".4f", "within": "g"}
    return format(value, digits.get(column, ".0%"))


def _markdown(table: pd.DataFrame) -> list[str]:
    head = [f"| {' | '.join(map(str, table.columns))} |", "|---" * len(table.columns) + "|"]
    rows = table.to_dict(orient="records")
    return head + [
        f"| {' | '.join(cell_text(str(k), v) for k, v in row.items())} |" for row in rows
    ]
