"""One piece of long work in a process of its own: ``python -m isonomy.app.job FOLDER KIND``.

It reads one line of JSON on its input, and stops when the input ends: the server has closed it, or
is gone. What was done until then is in the run's folder, and the next process goes on from there.
"""

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from isonomy._files import write_text
from isonomy.app.runs import Run
from isonomy.errors import InputError, IsonomyError
from isonomy.report import summarize
from isonomy.store.writer import locked

NICE = 10
"""How far the work stands back behind whoever looks at pages."""
_GRACE = 5.0
"""Seconds to end orderly once the input has ended."""
_HANDOVER = 30.0
"""Seconds to wait for an earlier process of the same work to end."""


def benchmark_job(run: Run, options: Mapping[str, Any], told: Mapping[str, Any]) -> Any:
    """Benchmark every method on the run's table; the study is a store in the run's folder."""
    from isonomy.benchmark import benchmark

    roles = run.roles
    assert roles is not None
    held: dict[str, Any] = {"begun": time.time(), "notes": []}

    def note(notes: Sequence[str]) -> None:
        held["notes"] = [*held["notes"], *notes]
        run.write("benchmark-progress.json", held)

    def count(done: int, total: int) -> None:
        held.setdefault("before", done)
        held.update(done=done, total=total, at=time.time())
        run.write("benchmark-progress.json", held)

    workers = int(told["workers"])
    return benchmark(
        run.data,
        **roles.learned(options["attributes"]),
        models=options["model"],
        quick=options["quick"],
        repeats=options["repeats"],
        performance=options["performance"],
        fairness=options["fairness"],
        backend="serial" if workers == 1 else "loky",
        workers=workers,
        folder=study_folder(run, options),
        progress=count,
        announce=note,
    )


def study_folder(run: Run, options: Mapping[str, Any]) -> Path:
    """Return where a benchmark's study is: methods are aimed at its two metrics."""
    return run.folder / f"benchmark-{options['performance']}-{options['fairness']}"


def tail_job(run: Run, options: Mapping[str, Any], told: Mapping[str, Any]) -> Any:
    """Test the tail of a model that whoever started the server declared."""
    from isonomy.counterfactual import CommandModel, load_model, model_table, tail_reports

    roles, declared = run.roles, told["model"]
    assert roles is not None
    run.write("tail-progress.json", {"begun": time.time()})
    if declared["command"] is not None:
        model: Any = CommandModel(declared["command"])
    else:
        model = load_model(declared["file"], trust=declared["trust"])
    chosen = roles.groups(options["attributes"])
    table, favorable, known = model_table(
        str(run.data),
        model,
        chosen["sensitive_features"],
        label=roles.outcome,
        drop=roles.not_learned,
        favorable=chosen["favorable"],
    )
    cut = set(roles.bins)
    named = {a: v for a, v in (chosen["privileged"] or {}).items() if a not in cut}
    return tail_reports(
        model,
        table,
        chosen["sensitive_features"],
        favorable=favorable,
        privileged={**known, **named},
    )


JOBS = {"benchmark": benchmark_job, "tail": tail_job}


def work(folder: Path, kind: str, told: Mapping[str, Any]) -> int:
    """Do the work and leave its page, or the sentence that says why not, in the folder."""
    run = Run(folder)
    held = run.read(f"{kind}.json")
    try:
        with _alone(folder / f"{kind}.lock"):
            result = JOBS[kind](run, held["options"], told)
            page = summarize(result, title=run.name, command=held["options"].get("command"))
    except IsonomyError as error:
        write_text(folder / f"{kind}-error.txt", str(error))
        return 2
    if getattr(result, "interrupted", False):
        return 130
    run.set_page(kind, page)
    return 0


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Wait until an earlier process of the same work has ended."""
    until = time.monotonic() + _HANDOVER
    while True:
        holding = locked(path)
        try:
            holding.__enter__()
        except InputError:
            if time.monotonic() > until:
                raise
            time.sleep(0.2)
            continue
        try:
            yield
        finally:
            holding.__exit__(None, None, None)
        return


def _end_with_the_input() -> None:
    """Interrupt the work when the input ends; kill it with its workers if it does not stop."""
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(_GRACE)
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


def main() -> None:
    """Run one job."""
    folder, kind = sys.argv[1:]
    told = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_the_input, daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(NICE)
    try:
        code = work(Path(folder), kind, told)
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)


if __name__ == "__main__":
    main()
