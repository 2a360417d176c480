"""What the 17-method study costs: all CPU, and the part of it inside the learners' fits.

    python benchmarks/run.py study          all eight tasks, one repeat: about 6 minutes of CPU
    python benchmarks/study.py german compas [--repeats N]    some tasks, printed only

Nothing but the fits is unavoidable, so the ratio of the two says what our own code adds; the
hours are those of 50 repeats, extrapolated from the repeats that were run.
"""

import argparse
import time

from table import Row, under, within

__all__ = ["TITLE", "rows"]

TITLE = "Part 7: the 17-method study, one repeat extrapolated to 50"
HOURS = 6
RATIO = 1.3
REPEATS = 50


def rows(
    tasks: list[str] | None = None,
    repeats: int = 1,
    *,
    study: str = "chen_2022",
    all_repeats: int = REPEATS,
    hours: float | None = HOURS,
) -> list[Row]:
    from isonomy.papers import load_study
    from isonomy.study import plan, run_trial

    whole = load_study(study)
    part = whole.with_(repeats=repeats, **({"tasks": tasks} if tasks else {}))
    spent: dict[str, list[float]] = {}
    broken = 0
    for trial in plan(part):
        started = time.process_time()
        records = run_trial(part, trial)
        total = time.process_time() - started
        broken += sum(r.status != "ok" for r in records)
        cost = spent.setdefault(str(trial.task), [0.0, 0.0])
        cost[0] += total
        cost[1] += sum(r.fit_cpu for r in records)
    out = [
        within(f"one trial of {task}", "its fits", cpu / repeats, fits / repeats)
        for task, (cpu, fits) in spent.items()
    ]
    cpu, fits = (sum(cost[i] for cost in spent.values()) for i in (0, 1))
    note = f"{', '.join(part.models)}; {len(part.methods)} methods; {broken} rows not ok"
    complete = len(part.tasks) == len(whole.tasks)
    out.append(
        within(
            f"{len(spent)} tasks, {repeats} repeat(s)",
            "their fits",
            cpu,
            fits,
            RATIO if complete else None,
            note,
        )
    )
    out.append(
        under(
            f"{len(spent)} tasks, {all_repeats} repeats",
            "-",
            cpu * all_repeats / repeats / 60,
            None,
            hours * 60 if complete and hours else None,
            "CPU min",
            f"extrapolated from {repeats}",
        )
    )
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tasks", nargs="*", help="datasets or tasks; all when none is named")
    parser.add_argument("--repeats", type=int, default=1)
    asked = parser.parse_args()
    for row in rows(asked.tasks, asked.repeats):
        print(" | ".join(row.cells()))


if __name__ == "__main__":
    main()
