"""Write papers' findings into a page, from stored runs: `python tools/findings.py FOLDER PAGE`.

One paper at length, from the folders that its studies were run into, or their files of results
(FOLDER, and those beside it):

    python tools/findings.py results/biswas_2020.parquet docs/how-to/forty-models.md --published DIR

All papers, as tables, from the files of a folder of results; DIR holds what authors published, in
folders called ``biswas``, ``fairea`` and ``chen``, or in a folder of it (``multi/icse24``):

    python tools/findings.py results docs/what-we-found.md --published DIR

What stands between the markers of a study in PAGE is replaced.
"""

import argparse
from pathlib import Path

import pandas as pd

from isonomy.cli.paper_tables import other_studies
from isonomy.cli.study_tables import open_store, write_part
from isonomy.papers import PAPERS, Paper, load_study, paper_of, read_published
from isonomy.papers.compare import compare, compare_with_print
from isonomy.papers.paper import FINDINGS
from isonomy.papers.table import ABSENT
from isonomy.store.record import combine, records_frame, wide
from isonomy.study import Results, plan, run_trial

PROTOCOLS = "protocols"
"""The part of the page that sets the two protocols side by side."""

SPLITS = 10
METRICS = {
    "accuracy": "accuracy",
    "SPD": "statistical_parity_difference",
    "AOD": "average_absolute_odds_difference",
}
# those whose runs depend on nothing but the seed
METHODS = {
    "unmitigated": "none",
    "learning_fair_representations": "LFR",
    "disparate_impact_remover": "DIR",
    "prejudice_remover(eta=25)": "PR",
    "reject_option(metric=spd)": "ROC-SPD",
    "reject_option(metric=aod)": "ROC-AOD",
    "reject_option(metric=eod)": "ROC-EOD",
    "calibrated_equalized_odds(cost=fnr)": "CEO-FNR",
    "calibrated_equalized_odds(cost=fpr)": "CEO-FPR",
    "calibrated_equalized_odds(cost=weighted)": "CEO-W",
    "equalized_odds": "EO",
    "fairway": "Fairway",
    "fair_smote": "Fair-SMOTE",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("page")
    parser.add_argument("--published", help="the authors' files")
    asked = parser.parse_args()
    if asked.folder.suffix == ".parquet" or (asked.folder / "store.json").exists():
        name, text = one_paper(asked.folder, asked.published)
        write_part(asked.page, name, text)
        return
    for name, text in all_papers(asked.folder, asked.published).items():
        write_part(asked.page, name, text)
    write_part(asked.page, PROTOCOLS, protocols())


def one_paper(folder: Path, published: str | None) -> tuple[str, str]:
    """Return a study's name, and the findings of its paper at length."""
    store = open_store(str(folder))
    paper = paper_of(store.name)
    ours, beside = paper.frame_of(store), other_studies(paper, store)
    if published:
        theirs = read_published(paper.name, published)
        found = compare(ours, theirs, paper.name, beside=beside).findings
    else:
        found = compare_with_print(ours, paper.name, beside=beside).findings
    assert found is not None
    lines = []
    for finding, said in found.text().iterrows():
        lines += [f"### {finding}", ""]
        for side, words in said.items():
            lines.append(
                f"- *{side}*: `{words}`" if side == "to see it" else f"- *{side}*: {words}"
            )
        lines.append("")
    lines += [f"{note}\n" for note in found.notes]
    return store.name, "\n".join(lines).rstrip() + "\n"


def all_papers(results: Path, published: str | Path | None) -> dict[str, str]:
    """Return the findings of every paper as a table, by the paper's name."""
    parts = {}
    for name, paper in PAPERS.items():
        theirs = None
        if published and paper.read is not None:
            theirs = read_published(name, _archive(Path(published), name.split("_")[0]))
        parts[name] = in_short(paper, theirs, _ours(paper, results))
    return parts


def _archive(published: Path, name: str) -> Path:
    return next(iter([*published.glob(name), *published.glob(f"*/{name}")]), published / name)


def in_short(paper: Paper, published: pd.DataFrame | None, ours: pd.DataFrame | None) -> str:
    """Return the findings of a paper as a table, and which of them survive."""
    sides = {"ours": ours} if paper.read is None else {"ours": ours, "published": published}
    found = paper.tables[FINDINGS].make(**sides)
    text = found.text()
    printed = [c for c in text if str(c).startswith("as published")][-1]
    shown = [c for c in ("recomputed", "recounted", "ours", "corrected", "survives") if c in text]
    # columns that say nothing, row for row
    empty = (*ABSENT.values(), "not yet run")
    shown = [c for c in shown if not text[c].str.startswith(empty).all()]
    lines = [f"| finding | {' | '.join([printed, *shown])} |", "|---" * (len(shown) + 2) + "|"]
    for finding, said in text[[printed, *shown]].iterrows():
        cells = [str(finding), *said]
        lines.append(f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |")
    return "\n".join([*lines, "", *(f"- {note}" for note in found.notes)]) + "\n"


def _ours(paper: Paper, results: Path) -> pd.DataFrame | None:
    files = [results / f"{study}.parquet" for study in paper.studies]
    frames = [paper.frame_of(Results(file)) for file in files if file.exists()]
    return combine(frames) if frames else None


def protocols() -> str:
    """Return the means of Chen's methods on German-Sex, as published and corrected, as a table."""
    means = {}
    for protocol in ("as_published", "corrected"):
        study = load_study("chen_2022").with_(
            tasks=["german/sex"], models=["lr"], repeats=SPLITS, protocol=protocol
        )
        frame = records_frame(record for trial in plan(study) for record in run_trial(study, trial))
        runs = wide(frame, [*METRICS.values()])
        sizes = runs[[*METRICS.values()]].abs().groupby(runs["mitigator"].astype(str)).mean()
        means[protocol] = sizes
    head = [f"{metric}, {side}" for metric in METRICS for side in ("as published", "corrected")]
    lines = [f"| method | {' | '.join(head)} |", "|---" * (len(head) + 1) + "|"]
    for name, label in METHODS.items():
        cells = [f"{means[p].loc[name, m]:.3f}" for m in METRICS.values() for p in means]
        lines.append(f"| {label} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
