"""Every applicable method on one's own data, in one call: plan, run what is missing, judge."""

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from isonomy._validate import given_as
from isonomy.benchmark.cases import share_tested
from isonomy.benchmark.eliminate import Place, beaten, is_costly, looks, without
from isonomy.benchmark.judge import Benchmark, check_judging, judge_benchmark
from isonomy.benchmark.plan import more_splits, plan_benchmark
from isonomy.benchmark.recommend import MethodVerdict, Section
from isonomy.errors import InputError
from isonomy.metrics import get_metric
from isonomy.store import Record, Store
from isonomy.study import plan, records_of, run
from isonomy.study.run import pending


def benchmark(
    data: Any,
    *,
    sensitive_features: str | Sequence[str],
    label: str | None = None,
    favorable: Any = None,
    privileged: Any = None,
    bins: Mapping[str, Sequence[float]] | None = None,
    drop: Sequence[str] = (),
    table: str | None = None,
    models: Any = "lr",
    methods: str | Sequence[str] = "all",
    performance: str = "accuracy",
    fairness: str = "statistical_parity_difference",
    tune: bool | None = None,
    max_loss: float | None = None,
    sure: float = 0.95,
    quick: bool = False,
    keep_all: bool = False,
    repeats: int = 10,
    resamples: int = 500,
    confidence: float = 0.95,
    random_state: int = 0,
    backend: str = "loky",
    workers: int | None = None,
    scheduler: str | None = None,
    time_limit: float | None = None,
    retry: bool = False,
    folder: str | os.PathLike[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
    announce: Callable[[Sequence[str]], None] | None = None,
) -> Benchmark:
    """Run every applicable mitigation method on the same splits and say which to choose.

    Each method is judged against two baselines: what blind mutation of predictions buys, and what
    group thresholds on the same model reach.

    Parameters
    ----------
    data : str, path, frame or Dataset
        A dataset's name (``isonomy data list``), a CSV, Parquet or Excel file, a pandas or polars frame,
        or a :class:`isonomy.Dataset`.
    sensitive_features : str or sequence of str
        The protected attributes to mitigate, each by itself; ``"sex+race"`` mitigates two
        together, and the groups are their intersections.
    label, favorable, privileged, bins, drop, table, models, methods, quick, tune, repeats, random_state
        See :func:`isonomy.benchmark.plan_benchmark`.
    performance, fairness, max_loss, sure, resamples, confidence
        See :func:`isonomy.benchmark.judge_benchmark`.
    backend, workers, scheduler, time_limit
        Where the splits run, see :func:`isonomy.study.run`.
    keep_all : bool
        Whether to run costly methods on all splits even where others are shown to be better
        after a few; by default such a method is dropped, with the reason. The best method is
        dropped in at most 5 % of benchmarks.
    retry : bool
        Whether to run again what failed or took too long.
    folder : path, optional
        Where the runs are stored: the same call with the same folder goes on from there, after
        Ctrl-C too. Without it they go to a temporary folder and are lost afterwards.
    progress : callable, optional
        Called with (done, total), the number of splits: at the start and after every split.
    announce : callable, optional
        Called before the first fit with what was noted of the data and the plan: columns that give
        the label away, proxies, the group compared with. The result has these notes, too.

    Returns
    -------
    Benchmark

    Examples
    --------
    >>> import isonomy
    >>> result = isonomy.benchmark(
    ...     "synthetic(n=600)", sensitive_features="group", methods=["reweighing"],
    ...     repeats=3, resamples=100, backend="serial",
    ... )
    >>> result.frame()["method"].tolist()
    ['reweighing']
    """
    check_judging(performance, fairness, resamples, confidence, sure)
    metrics = {"performance": get_metric(performance).name, "fairness": get_metric(fairness).name}
    judge: dict[str, Any] = {
        **metrics,
        "resamples": resamples,
        "confidence": confidence,
        "sure": sure,
        "max_loss": max_loss,
        "random_state": random_state,
    }
    with ExitStack() as stack:
        try:
            place = Path(folder or stack.enter_context(tempfile.TemporaryDirectory()))
        except TypeError:
            raise InputError(f"folder must be a path; got {given_as(folder)}.") from None
        planned = plan_benchmark(
            data,
            sensitive_features=sensitive_features,
            label=label,
            favorable=favorable,
            privileged=privileged,
            bins=bins,
            drop=drop,
            table=table,
            models=models,
            methods=methods,
            quick=quick,
            **metrics,
            tune=tune,
            repeats=repeats,
            random_state=random_state,
            folder=place,
        )
        if announce is not None:
            announce(planned.notes)
        study, again = planned.study, ("failed", "timeout") if retry else ()
        store = Store.create(place / "store", study.name, study.toml())
        total = len(plan(study))
        report = progress or (lambda done, total: None)
        where: dict[str, Any] = {
            "backend": backend,
            "workers": workers,
            "scheduler": scheduler,
            "time_limit": time_limit,
            "retry": again,
        }
        costly = any(is_costly(method.label) for method in study.methods)
        stages = looks(repeats) if costly and not keep_all else ()
        dropped: dict[Place, MethodVerdict] = {}
        done, interrupted = -1, False
        for splits in (*stages, repeats):
            stage = without(study.with_(repeats=splits), dropped)
            missing = len(pending(stage, store, retry=again))
            before = len(plan(stage)) - missing
            if (missing or splits == repeats) and before > done:
                report(before, total)
            outcome = run(
                stage,
                store,
                **where,
                progress=lambda now, before=before: report(before + now.done, total),  # type: ignore[misc]
            )
            done, interrupted = before + outcome.done, outcome.interrupted
            records = records_of(stage, store)
            if interrupted or splits == repeats:
                break
            dropped |= _beaten(records, len(stages), judge)
        alone = more_splits(planned)
        if alone is not None:
            if not interrupted:
                interrupted = run(alone, store, **where).interrupted
                with store.writer() as writer:
                    writer.declare(stage.toml())  # what the store is of, whatever was run last
            records += records_of(alone, store)
    notes = list(planned.notes)
    if interrupted:
        notes.append(f"Stopped: {done} of {total} splits are done; the same command goes on.")
    if not any(r.status == "ok" for r in records):
        if interrupted:
            raise KeyboardInterrupt(notes[-1])
        why = next((r.reason for r in records if r.reason), "nothing has been run yet")
        raise InputError(f"No run went well, so there is nothing to judge: {why}")
    result = judge_benchmark(records, **judge)
    sections = tuple(replace(s, verdicts=(*s.verdicts, *_of(dropped, s))) for s in result.sections)
    return replace(
        result,
        sections=sections,
        notes=(*result.notes, *notes),
        interrupted=interrupted,
    )


def _beaten(
    records: list[Record], looks: int, judge: Mapping[str, Any]
) -> dict[Place, MethodVerdict]:
    """Return the costly methods that are not worth a further split, by attribute and model."""
    costly = {r.mitigator for r in records if r.status == "ok" and is_costly(r.mitigator)}
    if not costly:
        return {}
    choose = {name: judge[name] for name in ("sure", "max_loss")}
    share = share_tested(records[0].splitter)
    return {
        (section.attribute, section.model, method.verdict.method): method.as_verdict()
        for section in judge_benchmark(records, more=(), **judge).sections
        for method in beaten(section, costly, looks=looks, test_share=share, **choose)
    }


def _of(dropped: Mapping[Place, MethodVerdict], section: Section) -> list[MethodVerdict]:
    where = section.attribute, section.model
    return [verdict for (*place, _), verdict in dropped.items() if tuple(place) == where]
