"""Our runs of a paper's study compared with the published ones, cell by cell and table by table."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from isonomy._tables import plain
from isonomy.errors import InputError
from isonomy.papers.cells import (
    ALPHA,
    CELL,
    cause_of,
    compare_cells,
    fewest_pairs,
    least_pvalue,
    same_part,
    same_repeats,
)
from isonomy.papers.compare_tables import compare_tables
from isonomy.papers.judge import is_baseline, one_study
from isonomy.papers.paper import FINDINGS, PAPERS, Paper, with_others
from isonomy.papers.table import PaperTable
from isonomy.stats import runs_needed
from isonomy.store.record import check_frame

WORST = 10
"""How many of the cells that lie furthest apart are listed."""


@dataclass(frozen=True)
class Comparison:
    """Our runs compared with the published ones: single cells, cells of the tables, and the findings.

    Attributes
    ----------
    paper : str
        The name of the paper.
    cells : DataFrame
        One row per (task, model, method, metric). Where repeats met the same rows, everything is
        of the repeats that both sides have: their number, the two means and their difference, the
        p-value of the signed-rank test, the share of pairs in which ours is larger, the mean
        absolute difference, the share of runs that are equal in every metric, and the cause where
        not all are. Otherwise runs and means are of each side, the test is Mann-Whitney's, and
        nothing is paired. ``adjusted`` is Holm's correction over all rows. ``testable`` says
        whether so many runs could be rejected at all; where they could not, that a cell is not
        rejected is no agreement.
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

    @property
    def is_paired(self) -> bool:
        """Whether runs were compared repeat by repeat."""
        return len(self.cells) > 0 and bool(self.cells["equal_runs"].notna().any())

    def seeds(self) -> pd.DataFrame:
        """Return the runs that are equal in every metric, of those of the same repeats.

        One row per (model, method), one column per task: ``equal/runs``.
        """
        if not self.is_paired:
            return pd.DataFrame()
        runs = self.cells.groupby([*CELL], sort=False, observed=True)
        found = runs.agg(equal=("equal_runs", "first"), runs=("runs", "max")).reset_index()
        found["task"] = found["dataset"] + "/" + found["attributes"]
        found["text"] = [
            f"{round(share * n)}/{n}"
            for share, n in zip(found["equal"], found["runs"], strict=True)
        ]
        order = [*dict.fromkeys(zip(found["model"], found["mitigator"], strict=True))]
        table = found.pivot_table(
            index=["model", "mitigator"], columns="task", values="text", aggfunc="first"
        )
        return table.loc[sorted(order), [*dict.fromkeys(found["task"])]].fillna("")

    def worst(self, count: int = WORST) -> pd.DataFrame:
        """Return the cells whose means lie furthest apart, with the cause as far as it is known."""
        if self.cells.empty:
            return pd.DataFrame()
        away = self.cells["difference"].abs().sort_values(ascending=False, kind="stable")
        columns = [*CELL, "metric", "runs", "ours", "published", "difference", "p", "cause"]
        return self.cells.loc[away.index[:count], columns].reset_index(drop=True)

    def causes(self) -> pd.DataFrame:
        """Return why runs are not equal, with the number of such runs and of all runs of the cells."""
        if not self.is_paired:
            return pd.DataFrame()
        runs = self.cells.groupby([*CELL], sort=False, observed=True).agg(
            equal=("equal_runs", "first"), runs=("runs", "max"), cause=("cause", "first")
        )
        runs = runs[runs["equal"] < 1]
        runs["unequal"] = ((1 - runs["equal"]) * runs["runs"]).round().astype(int)
        out = runs.groupby("cause", sort=False)[["unequal", "runs"]].sum()
        return out.sort_values("unequal", ascending=False).reset_index()

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
            "seeds": plain(self.seeds().reset_index()),
            "worst": plain(self.worst()),
            "causes": plain(self.causes()),
            "cells": plain(self.cells),
            "table_cells": plain(self.tables),
        }

    def markdown(self) -> str:
        """Write the comparison as a part of ``benchmarks/fidelity.md``."""
        lines = [f"## {self.paper}: our study beside the published runs", ""]
        if len(self.cells):
            lines += [
                self.summary(),
                "",
                *_markdown(self.agreement().reset_index(names="method")),
                "",
            ]
            if self.is_paired:
                equal = self.seeds().reset_index(names=["model", "method"])
                lines += ["Runs that are equal in every metric:", "", *_markdown(equal), ""]
                lines += ["Why the others are not:", "", *_markdown(self.causes()), ""]
            worst = self.worst()
            lines += [f"The {len(worst)} cells that lie furthest apart:", "", *_markdown(worst), ""]
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

    def summary(self) -> str:
        """Say in a few sentences what the cells are and how they are compared."""
        cells = self.cells
        methods = cells[cells["mitigator"] != "unmitigated"]
        applied = methods.drop_duplicates([*CELL])
        what = (
            f"{len(cells):,} cells (task, model, method, metric) of {len(applied):,} applications "
            f"(task, model, method; the original models not counted)"
        )
        runs, published = (_span(cells[side]) for side in ("runs", "published_runs"))
        holm = f"two-sided, Holm over all cells, {self.alpha:.0%}"
        if not self.is_paired:
            return f"{what}, {runs} runs of ours against {published}. *Rejected*: Mann-Whitney, {holm}."
        return (
            f"{what}; {runs} runs of the same seeds on both sides, and means over these. *Equal "
            f"runs*: all metrics equal to six digits; *paired*: mean absolute difference seed by "
            f"seed. *Rejected*: Wilcoxon's signed ranks of the paired differences, {holm}."
        )

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
        cells = with_causes(compare_cells(ours, part, alpha=alpha, paired=paired), about)
    if about.comparable and paired:
        part = same_repeats(part, ours)
    # what only one side holds would pool other runs on each
    tables, left_out = compare_tables(same_part(ours, part), part, about)
    findings = None
    if FINDINGS in about.tables:
        findings = about.tables[FINDINGS].make(published=published, ours=with_others(ours, beside))
    if findings is not None and len(part) < len(published):
        data = findings.data.copy()
        same = about.tables[FINDINGS].make(published=part).data["recomputed"]
        data.insert([*data.columns].index("ours"), "recomputed on our part", same)
        findings = replace(findings, data=data)
    power = _power(cells, alpha) if len(cells) else []
    notes = [*power, *_baseline_note(ours, published), *left_out]
    beside_them = about.beside(ours, published) if about.beside and paired else ()
    return Comparison(paper, cells, tables, findings, alpha, tuple(notes), beside_them)


def with_causes(cells: pd.DataFrame, paper: Paper) -> pd.DataFrame:
    """Say of every cell whose runs are not all equal why they are not, as far as it is known."""
    places = zip(cells["dataset"], cells["model"], cells["mitigator"], strict=True)
    known = [cause_of(paper.causes, *place) or "not known" for place in places]
    return cells.assign(cause=np.where(cells["equal_runs"] == 1, "", known))


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
        whole = with_others(ours, beside)
        lacks = about.tables[FINDINGS].needs - about.parts(whole)
        if lacks:
            left_out.append(
                f"findings are not counted: our runs lack {' and '.join(sorted(lacks))}."
            )
        else:
            findings = about.make(FINDINGS, whole)
    return Comparison(paper, pd.DataFrame(), tables, findings, notes=(*notes, *left_out))


def _agreement(cells: pd.DataFrame) -> dict[str, float]:
    away = cells["difference"].abs()
    testable = cells["testable"].to_numpy(dtype=bool)
    return {
        "cells": len(cells),
        "equal runs": float(cells["equal_runs"].mean()),
        "paired": float(cells["paired"].mean()),
        "mean difference": float(away.mean()),
        "within 0.01": float((away <= 0.01).mean()),
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
    paired = bool(cells["equal_runs"].notna().any())
    need = fewest_pairs(alpha, left) if paired else runs_needed(alpha / left, m)
    enough = f"; {need} runs of ours are the fewest that can" if need else ""
    sizes = f"{n} pairs of runs" if paired else f"Samples of {n} and {m} runs"
    return [
        (
            f"Too few runs: {len(few):,} of {len(cells):,} cells cannot be rejected, however far they "
            f"lie apart, and are not counted as agreement. {sizes} cannot give a p-value below "
            f"{least_pvalue(n, m, paired=paired):.2g}, which Holm's correction over {left:,} cells "
            f"raises above {alpha:g}{enough}."
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
    if column in ("cells", "testable", "runs", "unequal"):
        return str(int(value))
    digits = {"within": "g", "p": ".2g", "difference": "+.4f"}
    digits |= dict.fromkeys(("mean difference", "paired", "ours", "published"), ".4f")
    return format(value, digits.get(column, ".0%"))


def _markdown(table: pd.DataFrame) -> list[str]:
    head = [f"| {' | '.join(map(str, table.columns))} |", "|---" * len(table.columns) + "|"]
    rows = (
        [cell_text(str(k), v).replace("|", r"\|") for k, v in row.items()]
        for row in table.to_dict(orient="records")
    )
    return head + [f"| {' | '.join(row)} |" for row in rows]
