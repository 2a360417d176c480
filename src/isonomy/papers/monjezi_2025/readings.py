"""Readings of what the paper leaves open, and how near each comes to the printed Table IV.

The paper does not say how columns became numbers, nor what its extreme value law was fitted to. The
switches here are the plausible answers; every one is measured against the printed tails, so that a
reader sees whether the paper's numbers can be had at all.
"""

import hashlib
import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from isonomy._names import format_name
from isonomy.errors import IsonomyError
from isonomy.models import one_thread
from isonomy.papers.monjezi_2025.laws import FITS
from isonomy.papers.monjezi_2025.names import TASKS
from isonomy.store.record import Record
from isonomy.study.plan import Trial
from isonomy.study.spec import Method, Study, Task
from isonomy.study.tails import SIDES
from isonomy.study.workbench import Workbench

if TYPE_CHECKING:
    from isonomy.store.store import Store

READING = "reading"
"""Takes the place of a method in records about readings: ``reading(encoding=onehot_minmax)``."""

ENCODINGS: Mapping[str, str] = {
    "onehot_minmax": "evt",
    "onehot_standard": "evt(scale=standard)",
    "onehot_unscaled": "evt(scale=none)",
    "onehot_years": "evt(age_bins=false)",
    "codes_minmax": "evt(codes=true)",
    "codes_unscaled": "evt(codes=true, scale=none)",
}
"""Categories one-hot or numbered, features scaled or not, age in decades or in years."""


def reading_records(
    tasks: Sequence[str] | None = None,
    models: Sequence[str] = ("lr", "svm", "rf"),
    encodings: Sequence[str] = tuple(ENCODINGS),
    *,
    repeats: int = 1,
    study: str = "monjezi_2025",
    known: frozenset[str] | set[str] = frozenset(),
) -> Iterator[Record]:
    """Fit the original models under every encoding, and every law to their discrimination.

    Parameters
    ----------
    tasks : sequence of str, optional
        By the paper's names, such as ``"adult sex"``; all by default.
    models : sequence of str
        Models of the study; ``dnn`` needs the extra torch.
    encodings : sequence of str
        Names in ``ENCODINGS``.
    repeats : int
        The number of splits.
    study : str
        The study that the records name.
    known : set of str
        Keys of records that are not made again.

    Examples
    --------
    >>> [made] = reading_records(["german sex"], ["lr"], ["onehot_minmax"])
    >>> made.mitigator, made.metrics["largest_50_threshold_unprivileged"] > 0.02
    ('reading(encoding=onehot_minmax)', True)
    """
    for repeat, task, encoding, model in product(
        range(repeats), TASKS if tasks is None else tasks, encodings, models
    ):
        dataset, attribute = TASKS[task]
        preparation = ENCODINGS[encoding]
        spec = [study, dataset, attribute, model, preparation, repeat, [*FITS], "reading 1"]
        key = hashlib.sha256(json.dumps(spec).encode()).hexdigest()[:32]
        if key in known:
            continue
        metrics: dict[str, float] = {}
        status, reason = "ok", ""
        try:
            metrics = _measured(dataset, attribute, model, preparation, repeat)
        except (IsonomyError, ImportError, ValueError) as error:
            status, reason = "failed", " ".join(str(error).split())
        label = format_name(READING, {"encoding": encoding})
        which = (study, dataset, attribute, model, label, repeat)
        yield Record(*which, metrics, status, reason, key=key, preparation=preparation)


def _measured(
    dataset: str, attribute: str, model: str, preparation: str, repeat: int
) -> dict[str, float]:
    study = Study(
        "readings",
        (Task(dataset, attribute),),
        (model,),
        (Method.of("unmitigated"),),
        recipe="evt",
        weighted=False,
    )
    bench = Workbench(study, Trial(dataset, attribute, repeat), preparation, "evt")
    with one_thread(api=None), warnings.catch_warnings():
        # features that are not scaled are a reading, and solvers stop unconverged there
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted, ready = bench.fitted(model, calibrated=False), bench.ready
    parts = [part for part in (ready.train, ready.validation, ready.test) if part is not None]
    X, s = (np.concatenate([getattr(part, name) for part in parts]) for name in ("X", "s"))
    cd = fitted.predict_proba(ready.flipped(X))[:, 1] - fitted.predict_proba(X)[:, 1]
    out: dict[str, float] = {}
    for side, own in zip(SIDES, (cd[s == 1], cd[s == 0]), strict=True):
        own = np.asarray(own, dtype=np.float64)
        out[f"mean_{side}"] = float(own.mean())
        for name, fit in FITS.items():
            law = asdict(fit(own))
            out |= {f"{name}_{parameter}_{side}": value for parameter, value in law.items()}
    return out


def run_readings(store: "Store", **options: object) -> int:
    """Measure the readings and store the records; what the store holds is not run again.

    Parameters
    ----------
    store : Store
        The store of the study.
    **options
        Options of :func:`reading_records`.
    """
    done = store.keys(status="ok")
    added = 0
    with store.writer() as writer:
        for record in reading_records(study=store.name, known=done, **options):  # type: ignore[arg-type]
            writer.append([record])
            added += 1
    return added
