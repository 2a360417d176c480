"""Run one trial: every model and method of one split, each thing done once."""

import os
import platform
import time
import warnings
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from isonomy._arrays import Floats
from isonomy.errors import IsonomyWarning, MissingExtra, NotApplicable
from isonomy.models import FitMeter, make_model, metered_fits, one_thread
from isonomy.networks import is_network
from isonomy.store.record import Record
from isonomy.study.ahead import fit_ahead
from isonomy.study.collect import as_lines, collected_warnings
from isonomy.study.isolation import describe
from isonomy.study.measure import (
    measure_counts,
    measure_mutation,
    measure_rows,
    tested,
    why_undefined,
)
from isonomy.study.plan import Trial, keys, recipe_of
from isonomy.study.spec import WORKBENCHES, Method, Study
from isonomy.study.tails import run_with_tails
from isonomy.study.tuning import settled
from isonomy.study.workbench import Outputs, Workbench

MOST_NEIGHBOURS = 30_000
"""The most test rows whose neighbours are searched, for consistency: the work grows as the square."""


def run_trial(study: Study, trial: Trial, only: Collection[str] | None = None) -> list[Record]:
    """Run the models and methods of a trial and measure what comes out.

    Pure: the same study and trial give the same records (but for time and host), whatever else is
    run beside them, and however many threads the machine has: sums of several threads round
    differently, and a solver that stops early stops elsewhere, so a trial uses one. A method that
    does not apply is skipped and one that raises has failed, with the reason; the others continue.

    Parameters
    ----------
    study : Study
        What is run.
    trial : Trial
        Which split of which task.
    only : collection of str, optional
        The keys (see :func:`isonomy.study.keys`) that are still missing; all when None.

    Returns
    -------
    list of Record
        One per (model, method), and one per (model, degree) of a mutation baseline.

    Examples
    --------
    >>> study = Study(
    ...     "demo", ["synthetic(n=400)/group"], ["lr"], ["unmitigated", "reweighing", "mutation"]
    ... )
    >>> records = run_trial(study, Trial("synthetic(n=400)", "group", 0))
    >>> [r.mitigator for r in records][:3]
    ['unmitigated', 'reweighing', 'mutation(strategy=majority, degree=0)']
    >>> records[0].metrics["accuracy"] > 0.5, records[0].counts.n.sum()
    (True, np.float64(120.0))
    """
    blank = blank_records(study, trial)
    wanted = {key: record for key, record in blank.items() if only is None or key in only}
    with (
        one_thread(api=None),
        warnings.catch_warnings(),
        metered_fits() as meter,
    ):
        # the studies' learners stop unconverged by design; what methods warn of is in their records
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", IsonomyWarning)
        run = _Run(study, trial, wanted, meter)
        done = [result for part in run.parts() for result in part]
        return run.measured(done)


def blank_records(study: Study, trial: Trial) -> dict[str, Record]:
    """Return a record without results for every key of a trial."""
    ways = {
        (model, label): study.preparation_of(method, model)
        for model, method in study.rows(trial.task)
        for label in method.labels
    }
    return {
        key: Record(
            study=study.name,
            dataset=trial.dataset,
            attributes=trial.attributes,
            model=model,
            mitigator=label,
            repeat=trial.repeat,
            key=key,
            preparation=ways[model, label][0],
            splitter=ways[model, label][1],
        )
        for key, (model, label) in keys(study, trial).items()
    }


@dataclass
class _Result:
    """A record in the making."""

    record: Record
    workbench: Workbench | None = None
    outputs: Outputs | None = None
    tails: dict[str, float] = field(default_factory=dict)


class _Run:
    """One trial under way."""

    def __init__(
        self, study: Study, trial: Trial, wanted: Mapping[str, Record], meter: FitMeter
    ) -> None:
        self.study, self.trial, self.meter = study, trial, meter
        host = platform.node() or os.name
        self.blank = {(r.model, r.mitigator): replace(r, host=host) for r in wanted.values()}
        self.workbenches: dict[tuple[str, str], Workbench | Exception] = {}
        self.mark = self._clock()

    def _clock(self) -> tuple[float, float, float]:
        return time.perf_counter(), time.process_time(), self.meter.cpu

    def _spent(self) -> Floats:
        """Return the time since this was last asked."""
        now, before = self._clock(), self.mark
        self.mark = now
        return np.subtract(now, before)

    def _charge(self, results: list[_Result], more: Floats | float = 0.0) -> None:
        """Charge the time since the last charge, and more, evenly to some records."""
        wall, cpu, fit = ((self._spent() + more) / max(len(results), 1)).tolist()
        for result in results:
            record = result.record
            result.record = replace(
                record,
                seconds=record.seconds + wall,
                cpu=record.cpu + cpu,
                fit_cpu=record.fit_cpu + fit,
            )

    def parts(self) -> Iterator[list[_Result]]:
        """Run method by method, and for each model by model: transforms are kept until then."""
        rows = [
            (model, method, labels)
            for model, method in self.study.rows(self.trial.task)
            if (labels := [label for label in method.labels if (model, label) in self.blank])
        ]
        asked = [] if self.study.tails else fit_ahead(self._benches(rows))
        share = self._spent() / len(asked) if asked else 0.0
        for model, method, labels in rows:
            try:
                if method.is_baseline:
                    part = self._mutated(model, method, labels)
                else:
                    part = [self._mitigated(model, method)]
            except Exception as error:
                status, reason = "failed", describe(error)
                # our own sentence says it all; what is not installed here did not break
                if isinstance(error, NotApplicable | MissingExtra):
                    status = "skipped"
                    reason = " ".join(str(error).split()) or reason
                part = [
                    _Result(replace(self.blank[model, label], status=status, reason=reason))
                    for label in labels
                ]
            self._charge(part[:1], share * asked.count((model, method)))
            yield part

    def _benches(
        self, rows: list[tuple[str, Method, list[str]]]
    ) -> Iterator[tuple[Workbench, Method, str]]:
        """Yield the workbench of each method that runs with a network."""
        for model, method, _ in rows:
            with suppress(Exception):  # told when the method runs
                if is_network(make_model(model, recipe_of(self.study, model))):
                    yield self._workbench(method, model), method, model

    def _workbench(self, method: Method, model: str) -> Workbench:
        key = self.study.preparation_of(method, model)
        if key not in self.workbenches:
            try:
                kind = WORKBENCHES[self.study.workbench]
                self.workbenches[key] = kind(self.study, self.trial, *key)
            except Exception as error:
                self.workbenches[key] = error
        workbench = self.workbenches[key]
        if isinstance(workbench, Exception):
            raise workbench
        return workbench

    def _mitigated(self, model: str, method: Method) -> _Result:
        workbench = self._workbench(method, model)
        base = workbench.base(model)
        method = settled(workbench, method, model)
        with collected_warnings() as collected:
            outputs, tails = (
                run_with_tails(workbench, method, model)
                if self.study.tails
                else (workbench.run(method, model), {})
            )
        record = replace(
            self.blank[model, method.label],
            rows=workbench.rows,
            settings=method.settings,
            warnings=as_lines(collected),
            counts=workbench.count(base.labels, outputs.labels),
        )
        return _Result(record, workbench, outputs, tails)

    def _mutated(self, model: str, method: Method, labels: list[str]) -> list[_Result]:
        workbench, how = self._workbench(method, model), method.mutation
        base = workbench.base(model)
        survey = workbench.ready.test.weight if how["weights"] == "gaps" else None
        joint = workbench.count(base.labels, base.labels, weight=survey)
        counts = tested(joint, self.trial.attributes)
        strategy = how["strategy"]
        label = {"majority": workbench.majority, "minority": 1 - workbench.majority}.get(
            strategy, strategy
        )
        means = measure_mutation(
            counts.map_cells(lambda cells: cells[None]),
            label=label,
            repetitions=int(how["repetitions"]),
            seeds=[(self.study.seed, self.trial.repeat, self.trial.dataset, model, strategy)],
            weighted_gaps=survey is not None,
        )
        part = []
        for i, name in enumerate(method.labels):
            if name not in labels:
                continue
            record = replace(
                self.blank[model, name],
                rows=workbench.rows,
                metrics={metric: float(v[i, 0]) for metric, v in means.items()},
                # the original model is degree 0; from its counts all degrees can be drawn again
                counts=joint if i == 0 else None,
            )
            part.append(_Result(record))
        return part

    def measured(self, done: list[_Result]) -> list[Record]:
        """Compute all metrics of all records; the cost is divided evenly."""
        open_ = [result for result in done if result.outputs is not None]
        if self.study.counts_only:
            open_ = []
        joint = [r.record.counts for r in open_ if r.record.counts is not None]
        of_counts = measure_counts(joint, self.trial.attributes)
        for result, metrics in zip(open_, of_counts, strict=True):
            workbench, outputs, counts = result.workbench, result.outputs, result.record.counts
            assert workbench is not None
            assert outputs is not None
            assert counts is not None
            near = workbench.near() if 5 <= len(workbench.y_test) <= MOST_NEIGHBOURS else None
            metrics |= measure_rows(
                workbench.y_test, outputs.labels, outputs.scores, near, workbench.w_test
            )
            metrics |= outputs.measured
            reason = why_undefined(metrics, counts, self.trial.attributes)
            metrics |= result.tails
            result.record = replace(result.record, metrics=metrics, reason=reason)
        self._charge(done)
        return [result.record for result in done]
