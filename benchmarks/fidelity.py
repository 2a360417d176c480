"""Our seeds against the same published ones of Chen et al. (2023), method by method.

    python benchmarks/fidelity.py [--methods rw dir ...] [--tasks german_sex ...] [--seeds 50]

Runs every registered method of the study on the shipped tasks with logistic regression under
``protocol="as_published"`` and compares with the authors' own files beside the repository
(``../shared/published/chen/Results``). What was run is kept in ``out/fidelity`` as the eight
counts (group, label, prediction) per seed, so that a second run only adds what is missing. The
table goes to ``benchmarks/fidelity.md``.

The runs are trials of the study ``chen_2022`` (``isonomy.study.run_trial``), limited to what is
missing.
"""

import argparse
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from isonomy.mitigators import MITIGATORS
from isonomy.papers import PAPERS, load_study
from isonomy.papers.cells import cause_of
from isonomy.stats import holm, wilcoxon
from isonomy.study import keys, plan, run_trial
from isonomy.study.measure import tested

ROOT = Path(__file__).resolve().parents[1]
PUBLISHED = ROOT.parent / "shared" / "published" / "chen" / "Results"
STORE = ROOT / "out" / "fidelity" / "runs.jsonl"
REPORT = ROOT / "benchmarks" / "fidelity.md"

TASKS = ("adult_sex", "adult_race", "compas_sex", "compas_race", "german_sex", "german_age")
# The study's file prefix -> our name; a method that is not on the shelf yet is left out.
METHODS = {
    "default": "unmitigated",
    "op": "optimized_preprocessing",
    "lfr": "learning_fair_representations",
    "rw": "reweighing",
    "dir": "disparate_impact_remover",
    "pr": "prejudice_remover(eta=25)",
    "ad": "adversarial_debiasing",
    "mfc1": "meta_fair_classifier(constraint=fdr)",
    "mfc2": "meta_fair_classifier(constraint=sr)",
    "roc1": "reject_option(metric=spd)",
    "roc2": "reject_option(metric=aod)",
    "roc3": "reject_option(metric=eod)",
    "ceo1": "calibrated_equalized_odds(cost=fnr)",
    "ceo2": "calibrated_equalized_odds(cost=fpr)",
    "ceo3": "calibrated_equalized_odds(cost=weighted)",
    "eo": "equalized_odds",
    "fairway": "fairway",
    "fairsmote": "fair_smote",
    # With another learner than logistic regression: method:learner.
    "fairsmote:svm": "fair_smote",
    "fairsmote:rf": "fair_smote(keep_flip=False)",
}
METRICS = [
    "accuracy",
    "recall1",
    "recall0",
    "recall_macro",
    "precision1",
    "precision0",
    "precision_macro",
    "f1score1",
    "f1score0",
    "f1score_macro",
    "mcc",
    "spd",
    "aod",
    "eod",
    "erd",
]
FEWEST_SEEDS = 8
LEVEL = 0.01
LEARNER = "legacy, one stream"  # a new name here makes every stored run an old one


def name_of(spec: str) -> str:
    return spec.partition("(")[0]


def learner_of(method: str) -> str:
    return method.partition(":")[2] or "lr"


# ---- running ------------------------------------------------------------------------------------


def run_all(methods: dict[str, str], tasks: list[str], seeds: int) -> None:
    """Run what is not in the store yet, one seed of one task at a time."""
    done = {key for key, _ in stored()}
    STORE.parent.mkdir(parents=True, exist_ok=True)
    wanted = [task.replace("_", "/") for task in reversed(tasks)]  # small first
    study = load_study("chen_2022").with_(tasks=wanted, repeats=seeds)
    with STORE.open("a", encoding="utf-8") as store:
        for trial in plan(study):
            task = str(trial.task).replace("/", "_")
            todo = {
                (learner_of(m), label_of(spec)): key
                for m, spec in methods.items()
                if (key := key_of(m, spec, task, trial.repeat)) not in done
            }
            only = [key for key, row in keys(study, trial).items() if row in todo]
            for record in run_trial(study, trial, only):
                if record.counts is None:
                    print(f"{trial} {record.mitigator}: {record.status}, {record.reason}")
                    continue
                cells = tested(record.counts, trial.attributes).by_privilege().n
                line = {
                    "key": todo[record.model, record.mitigator],
                    "counts": cells.astype(int).ravel().tolist(),
                    "cpu": round(record.cpu, 4),
                }
                store.write(json.dumps(line) + "\n")
            store.flush()
            if only and trial.repeat % 10 == 0:
                print(trial, flush=True)


def label_of(spec: str) -> str:
    """Give the study's name of a method: Fair-SMOTE has one for both of its variants."""
    return "fair_smote" if name_of(spec) == "fair_smote" else spec


def key_of(method: str, spec: str, task: str, seed: int) -> str:
    """Name a run; a new version of the method makes a new name."""
    version = MITIGATORS[name_of(spec)].version_of("as_published")
    return f"{method}|{spec}|v{version}|{LEARNER}|{task}|{seed}"


def stored() -> Iterator[tuple[str, list[int]]]:
    if STORE.exists():
        for line in STORE.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            yield record["key"], record["counts"]


# ---- comparing ----------------------------------------------------------------------------------


def fifteen(counts: np.ndarray) -> np.ndarray:
    """Give the study's 15 metrics from (..., group, label, prediction); 0 / 0 counts as 0."""
    n = counts.reshape(*counts.shape[:-1], 2, 2, 2).astype(float)

    def ratio(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.divide(a, b, out=np.zeros_like(a), where=b > 0)

    both = n.sum(axis=-3)
    recall = [ratio(both[..., c, c], both[..., c, :].sum(-1)) for c in (1, 0)]
    precision = [ratio(both[..., c, c], both[..., :, c].sum(-1)) for c in (1, 0)]
    f1 = [
        ratio(2 * both[..., c, c], both[..., c, :].sum(-1) + both[..., :, c].sum(-1))
        for c in (1, 0)
    ]
    tp, tn, fp, fn = (both[..., a, b] for a, b in ((1, 1), (0, 0), (0, 1), (1, 0)))
    root = np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    rate = n[..., 1].sum(-1) / n.sum((-1, -2))
    tpr, fpr = n[..., 1, 1] / n[..., 1, :].sum(-1), n[..., 0, 1] / n[..., 0, :].sum(-1)
    wrong = (n[..., 0, 1] + n[..., 1, 0]) / n.sum((-1, -2))
    spd, d_tpr, d_fpr, erd = (np.abs(v[..., 0] - v[..., 1]) for v in (rate, tpr, fpr, wrong))
    rows = [(tp + tn) / n.sum((-1, -2, -3))]
    for pair in (recall, precision, f1):
        rows += [pair[0], pair[1], (pair[0] + pair[1]) / 2]
    rows += [ratio(tp * tn - fp * fn, root), spd, (d_tpr + d_fpr) / 2, d_tpr, erd]
    return np.stack(rows, axis=-1)


def published(method: str, task: str) -> np.ndarray | None:
    """Read the authors' 50 values of 15 metrics, as an array (50, 15)."""
    path = PUBLISHED / f"{method.partition(':')[0]}_{learner_of(method)}_{task}.txt"
    if not path.is_file():
        return None
    lines = [line.split() for line in path.read_text(encoding="utf-8").splitlines()]
    assert [line[0] for line in lines] == METRICS, path
    return np.array([line[1:51] for line in lines], dtype=float).T


def compare(methods: dict[str, str], tasks: list[str], seeds: int) -> list[dict[str, Any]]:
    """Set our seeds beside the published ones, one row per method, task and metric."""
    runs = dict(stored())
    rows = []
    for m, spec in methods.items():
        for task in tasks:
            theirs = published(m, task)
            keys = [key_of(m, spec, task, seed) for seed in range(seeds)]
            keys = keys[: next((i for i, key in enumerate(keys) if key not in runs), seeds)]
            if theirs is None or len(keys) < min(FEWEST_SEEDS, seeds):
                continue
            counts = np.array([runs[key] for key in keys])
            ours = fifteen(counts)
            # The files hold six digits: a difference beyond them is none. Only seeds that both have.
            first = theirs[: len(ours)]
            away = np.where(np.abs(ours - first) < 2e-6, 0.0, ours - first)
            ps = wilcoxon(away.T, method="exact").pvalue
            same = (np.abs(ours - first) < 2e-6).all(axis=1)
            off = np.rint(np.abs(ours - first)[:, 0] * counts.sum(axis=1))
            for j, metric in enumerate(METRICS):
                a, b = ours[:, j], first[:, j]
                rows.append(
                    {
                        "method": m,
                        "task": task,
                        "metric": metric,
                        "ours": a.mean(),
                        "theirs": b.mean(),
                        "difference": a.mean() - b.mean(),
                        "paired": np.abs(a - b).mean(),
                        "seeds": len(a),
                        "exact": same.mean(),
                        "rows": f"{off.mean():.1f} / {off.max():.0f}",
                        "each": " ".join(f"{n:.0f}" for n in off),
                        "p": ps[j],
                    }
                )
    if rows:
        adjusted = holm(np.array([row["p"] for row in rows]))
        for row, value in zip(rows, adjusted, strict=True):
            row["holm"] = value
    return rows


# ---- writing ------------------------------------------------------------------------------------


def share(rows: list[dict[str, Any]], test: Any) -> str:
    return f"{100 * np.mean([test(row) for row in rows]):.0f} %" if rows else "-"


def report(rows: list[dict[str, Any]], seeds: int) -> str:
    """Write the tables."""
    lines = [
        "# Fidelity: our seeds against the published ones",
        "",
        "Written by `benchmarks/fidelity.py` (part of `make slow`); do not edit by hand.",
        "",
        (
            f'Chen et al. (2023), logistic regression where nothing else is said, at most {seeds} seeds (see below), `protocol="as_published"`, '
            "against the authors' per-run results. A cell is a method, a task and one of 15 metrics. "
            "*Equal seeds*: share of seeds whose 15 metrics all equal the published ones to six "
            "digits. *Paired*: mean absolute difference seed by seed (both use the same rows; for OP "
            "the draws differ). Means are over the seeds that we ran, on both sides. *Rejected*: Wilcoxon's "
            "signed ranks of the paired differences, two-sided, Holm over the whole table, 1 %."
        ),
        "",
        "| method | cells | equal seeds | paired | within 0.005 | within 0.02 | not rejected |",
        "|---|---|---|---|---|---|---|",
    ]
    for m in [*dict.fromkeys(row["method"] for row in rows), "all"]:
        mine = [row for row in rows if m in (row["method"], "all")]
        lines.append(
            f"| {m} | {len(mine)} | {100 * np.mean([r['exact'] for r in mine]):.0f} % "
            f"| {np.mean([r['paired'] for r in mine]):.4f} "
            f"| {share(mine, lambda r: abs(r['difference']) <= 0.005)} "
            f"| {share(mine, lambda r: abs(r['difference']) <= 0.02)} "
            f"| {share(mine, lambda r: r['holm'] >= LEVEL)} |"
        )
    tasks = [task for task in TASKS if any(row["task"] == task for row in rows)]
    for title, field, form in (
        ("Seeds run by us:", "seeds", "{}"),
        ("Equal seeds by task:", "exact", "{:.0%}"),
        (
            (
                "Test rows by which the number of right predictions differs, mean over the seeds / "
                "largest (of 13,567 on Adult, 1,851 on COMPAS, 300 on German):"
            ),
            "rows",
            "{}",
        ),
    ):
        lines += ["", title, "", f"| method | {' | '.join(tasks)} |", f"|---|{'---|' * len(tasks)}"]
        for m in dict.fromkeys(row["method"] for row in rows):
            found = {row["task"]: form.format(row[field]) for row in rows if row["method"] == m}
            lines.append(f"| {m} | {' | '.join(found.get(task, '-') for task in tasks)} |")
    lines += why()
    rejected = [row for row in rows if row["holm"] < LEVEL]
    lines += ["", f"## Rejected cells ({len(rejected)} of {len(rows)})", ""]
    if rejected:
        lines += [
            "| method | task | metric | ours | published | difference | p (Holm) | cause |",
            "|---|---|---|---|---|---|---|---|",
        ]
    for r in rejected:
        place = r["task"].partition("_")[0], learner_of(r["method"]), METHODS[r["method"]]
        cause = cause_of(PAPERS["chen_2022"].causes, *place) or "not known"
        lines.append(
            f"| {r['method']} | {r['task']} | {r['metric']} | {r['ours']:.4f} "
            f"| {r['theirs']:.4f} | {r['difference']:+.4f} | {r['holm']:.1e} | {cause} |"
        )
    lines += ["", "## All cells", "", "| method | task | " + " | ".join(METRICS) + " |"]
    lines += ["|---|---|" + "---|" * len(METRICS)]
    for m, task in dict.fromkeys((row["method"], row["task"]) for row in rows):
        cells = [r for r in rows if (r["method"], r["task"]) == (m, task)]
        lines.append(
            f"| {m} | {task} | " + " | ".join(f"{r['difference']:+.4f}" for r in cells) + " |"
        )
    lines += ["", "## Differing test rows, seed by seed", ""]
    lines.append(
        "How many more or fewer test rows are predicted rightly than published, seeds 0 to "
        f"{seeds - 1}, where the logistic solver stops before it has converged (Adult, COMPAS)."
    )
    lines += ["", "| method | task | rows by seed |", "|---|---|---|"]
    for m, task in dict.fromkeys((row["method"], row["task"]) for row in rows):
        if task.startswith(("adult", "compas")):
            each = next(r["each"] for r in rows if (r["method"], r["task"]) == (m, task))
            lines.append(f"| {m} | {task} | {each} |")
    return "\n".join(lines) + "\n"


def why() -> list[str]:
    """Give the causes of unequal seeds, as the papers' folders have them."""
    lines = ["", "## Why seeds are not equal", ""]
    lines.append("The first line that covers a run is its cause; *inferred* is what was not tried.")
    for name in ("chen_2022", "fairea_2021"):
        lines += ["", f"{PAPERS[name].reference.partition(',')[0]} ({name}):", ""]
        for cause in PAPERS[name].causes:
            about = [cause.mitigator or "any method", *cause.models, *cause.datasets]
            lines.append(f"- {', '.join(about)}: {cause.words}.")
    return lines


def kept_parts() -> str:
    """Give the parts that ``isonomy study compare --markdown`` wrote into the report."""
    old = REPORT.read_text(encoding="utf-8") if REPORT.exists() else ""
    part = r"<!-- study (\S+) -->.*?<!-- end of study \1 -->"
    return "".join(f"\n{found.group(0)}\n" for found in re.finditer(part, old, flags=re.DOTALL))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--methods", nargs="*", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--tasks", nargs="*", choices=list(TASKS), default=list(TASKS))
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--no-run", action="store_true", help="only compare what is stored")
    asked = parser.parse_args()
    methods = {m: METHODS[m] for m in asked.methods if name_of(METHODS[m]) in MITIGATORS}
    if not asked.no_run:
        run_all(methods, asked.tasks, asked.seeds)
    rows = compare(methods, asked.tasks, asked.seeds)
    text = report(rows, asked.seeds)
    if set(asked.tasks) == set(TASKS) and asked.seeds == 50 and asked.methods == list(METHODS):
        REPORT.write_text(text + kept_parts(), encoding="utf-8")
        print(f"wrote {REPORT.relative_to(ROOT)}")
    print(text.split("## All cells", maxsplit=1)[0])


if __name__ == "__main__":
    main()
