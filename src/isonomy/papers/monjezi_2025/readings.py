"""Readings of what the paper leaves open, and how near each comes to the printed Table IV.

The paper does not say how columns became numbers, nor what its extreme value law was fitted to. The
switches here are the plausible answers; every one is measured against the printed tails, so that a
reader sees whether the paper's numbers can be had at all.
"""

import hashlib
import json
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning

from isonomy._arrays import Floats
from isonomy._names import format_name, parse_name
from isonomy.counterfactual.extremes import LOCATION, ROUNDING
from isonomy.errors import InputError, IsonomyError
from isonomy.models import one_thread
from isonomy.papers.monjezi_2025.cases import MODELS, TASKS, printed, task_of
from isonomy.papers.table import PaperTable, decimals
from isonomy.store.record import Record, wide
from isonomy.study.plan import Trial
from isonomy.study.spec import Method, Study, Task
from isonomy.study.tails import SIDES
from isonomy.study.workbench import Workbench
from isonomy.tails import TailFit, fit_gev, peaks_over_threshold, published_type

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

EXCHANGED = ("german sex", "heart sex", "meps15 sex", "meps16 sex", "student sex")
"""Tasks whose printed group sizes are those of the other sex."""

FEWEST_BLOCKS = 10


@dataclass(frozen=True)
class Law:
    """What Table IV prints of a law; NaN where none can be fitted."""

    location: float
    scale: float = float("nan")
    shape: float = float("nan")
    threshold: float = float("nan")


_NONE = Law(float("nan"))
PARAMETERS = tuple(asdict(_NONE))


def law_of_largest(cd: Floats, k: int) -> Law:
    """Return the extreme value law of the k largest values; the location at least, as a quantile.

    Examples
    --------
    >>> law_of_largest(np.arange(100.0), 50).threshold
    49.0
    """
    if cd.size <= k:
        return _NONE
    top = np.sort(cd)[-k - 1 :]
    quantile = float(np.quantile(top[1:], LOCATION, method="higher"))
    if top[-1] - top[1] <= ROUNDING:
        return Law(quantile, threshold=float(top[0]))
    return _law(peaks_over_threshold(cd, k=k, protocol="as_published"), float(top[0]), quantile)


def law_of_blocks(cd: Floats, size: int) -> Law:
    """Return the extreme value law of the largest values of blocks of rows, in their order."""
    count = cd.size // size
    if count < FEWEST_BLOCKS:
        return _NONE
    largest = cd[: count * size].reshape(count, size).max(axis=1)
    quantile = float(np.quantile(largest, LOCATION, method="higher"))
    if np.ptp(largest) <= ROUNDING:
        return Law(quantile, threshold=float(largest.min()))
    return _law(fit_gev(largest), float(largest.min()), quantile)


def _law(fit: TailFit, threshold: float, quantile: float) -> Law:
    if fit.degenerate or not np.isfinite(fit.location):
        return Law(quantile, threshold=threshold)
    return Law(float(fit.location), float(fit.scale), float(fit.shape), threshold)


def law_of_peaks(cd: Floats, queries: int | None, k: int = 50) -> Law:
    """Return the law of the largest of so many queries that peaks over a threshold imply.

    Without a number of queries the location is the mean of the peaks, which the paper's words
    ("the mean of the extreme value distribution at a threshold") may mean.
    """
    if cd.size <= k or np.ptp(np.sort(cd)[-k:]) <= ROUNDING:
        return _NONE
    fit = peaks_over_threshold(cd, k=k)
    if fit.degenerate:
        return _NONE
    scale, shape, threshold = float(fit.scale), float(fit.shape), float(fit.threshold)
    if queries is None:
        mean = threshold + scale / (1 - shape) if shape < 1 else float("nan")
        return Law(mean, scale, shape, threshold)
    if queries * fit.rate < 1:  # below the threshold the law says nothing
        return _NONE
    location, scale, shape = map(float, fit.maximum(queries))
    return Law(location, scale, shape, threshold)


FITS: Mapping[str, Callable[[Floats], Law]] = {
    "largest_50": lambda cd: law_of_largest(cd, 50),
    "largest_25": lambda cd: law_of_largest(cd, 25),
    "largest_100": lambda cd: law_of_largest(cd, 100),
    "blocks_25": lambda cd: law_of_blocks(cd, 25),
    "blocks_50": lambda cd: law_of_blocks(cd, 50),
    "blocks_365": lambda cd: law_of_blocks(cd, 365),
    "peaks_mean": lambda cd: law_of_peaks(cd, None),
    "peaks_1000": lambda cd: law_of_peaks(cd, 1000),
    "peaks_all": lambda cd: law_of_peaks(cd, len(cd)),
}
"""What the law is fitted to: the k largest values, largest values of blocks, or what peaks imply."""


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


# ---------------------------------------------------------------------- against the print


def tails_by_reading(frame: pd.DataFrame) -> pd.DataFrame:
    """Return every tail as each reading has it, by (encoding, fit, model, task, side).

    Medians over the repeats of location, scale, shape and threshold.
    """
    part = frame[frame["mitigator"].astype(str).str.startswith(f"{READING}(").to_numpy()]
    if not len(part):
        raise InputError(
            "The frame must hold records of readings; it holds none: run isonomy study tables "
            "monjezi_2025 --table readings --run first."
        )
    table = wide(part)
    table["encoding"] = [parse_name(str(name))[1]["encoding"] for name in table["mitigator"]]
    places = zip(table["dataset"].astype(str), table["attributes"].astype(str), strict=True)
    table["task"] = [task_of(*place) for place in places]
    table["model"] = table["model"].astype(str)
    laws = []
    for name, side in product(FITS, SIDES):
        columns = {f"{name}_{field}_{side}": field for field in PARAMETERS}
        own = table[["encoding", "model", "task", f"mean_{side}", *columns]]
        own = own.rename(columns={**columns, f"mean_{side}": "mean"})
        laws.append(own.assign(fit=name, side=side))
    return pd.concat(laws).groupby(["encoding", "fit", "model", "task", "side"]).median()


def distances(frame: pd.DataFrame) -> pd.DataFrame:
    """Return how far each reading is from the print, by (encoding, fit, groups), the nearest first.

    ``groups`` is ``as printed`` (group 1 is the privileged one) or ``by size`` (exchanged in the
    five tasks where the printed sizes are those of the other sex). Columns: tails compared, mean
    distance of the locations, share of them within 0.02, mean distance of the thresholds, share of
    equal types, mean distance of ECD and of ACD.
    """
    ours = tails_by_reading(frame)
    text = printed("table4_groups")[["mu", "tau", "type"]]
    text = text.assign(mu=text["mu"].astype(float), tau=text["tau"].astype(float))
    acd = printed("table4_cases")["ACD"].astype(float)
    rows = []
    for (encoding, fit), part in ours.groupby(level=["encoding", "fit"]):
        part = part.droplevel(["encoding", "fit"])
        for groups in ("as printed", "by size"):
            both = _beside(part, text, exchange=groups == "by size")
            rows.append(
                {"encoding": encoding, "fit": fit, "groups": groups, **_distance(both, acd)}
            )
    table = pd.DataFrame(rows).set_index(["encoding", "fit", "groups"])
    # a reading that fits no law to some tails is compared on fewer: the others come first
    return table.sort_values(["tails", "mu", "ECD"], ascending=[False, True, True], kind="stable")


def _beside(part: pd.DataFrame, text: pd.DataFrame, *, exchange: bool) -> pd.DataFrame:
    """Join our tails of one reading to the printed ones, by (model, task, group)."""
    own = part.reset_index()
    number = own["side"].map({SIDES[0]: 1, SIDES[1]: 2})
    if exchange:
        number = number.mask(own["task"].isin(EXCHANGED), 3 - number)
    own["group"] = number.astype(str)
    own = own.set_index(["model", "task", "group"]).drop(columns="side")
    return own.join(text, how="inner")


def _distance(both: pd.DataFrame, acd: pd.Series) -> dict[str, float]:
    away = (both["location"] - both["mu"]).abs().dropna()
    kinds = both["shape"].map(published_type)
    first, second = (both.xs(group, level="group") for group in ("1", "2"))
    apart = (second["location"] - first["location"]) - (second["mu"] - first["mu"])
    average = (second["mean"] - first["mean"]) - acd.reindex(second.index)
    return {
        "tails": len(away),
        "mu": float(away.mean()),
        "within .02": float((away.round(6) <= 0.02).mean()),
        "tau": float((both["threshold"] - both["tau"]).abs().mean()),
        "same type": float((kinds == both["type"]).mean()),
        "ECD": float(apart.abs().mean()),
        "ACD": float(average.abs().mean()),
    }


def readings(frame: pd.DataFrame, *, most: int = 12) -> PaperTable:
    """Return the readings that come nearest to Table IV, and how near.

    Parameters
    ----------
    frame : DataFrame
        Records of :func:`reading_records`.
    most : int
        How many readings to return; the notes are about all of them.
    """
    every = distances(frame)
    full = every[every["tails"] == every["tails"].max()]
    best, worst = full.iloc[0], full.iloc[-1]
    name = ", ".join(map(str, full.index[0]))
    held = tails_by_reading(frame).index
    models = [m for m in MODELS if m in held.get_level_values("model")]
    text = printed("table4_groups").loc[models, "mu"].astype(float)
    constant = float((text - text.median()).abs().mean())
    notes = [
        (
            f"Nearest: {name}. Its locations are {best['mu']:.3f} from the print on average, "
            f"{best['within .02']:.0%} within 0.02; the farthest reading is {worst['mu']:.3f} away. "
            f"{text.median():.2f}, the median of the print, for every tail would be {constant:.3f}."
        ),
        *_by_switch(full),
        *_by_model(frame, models),
        (
            "ACD depends on the encoding and the groups alone, not on a fit: its distance tells how "
            "much of the rest is due to other models."
        ),
    ]
    if len(full) < len(every):
        notes.append(
            f"{len(every) - len(full)} readings fit no law to some of the tails and are not called "
            "nearest."
        )
    title = "Readings of the paper, by the distance of their locations from Table IV"
    return PaperTable(
        "readings", title, every.head(most), len(every), "readings", tuple(notes), None, decimals(3)
    )


def _by_switch(full: pd.DataFrame) -> list[str]:
    """Return for each switch the least distance that each of its settings allows."""
    notes = []
    for level in full.index.names:
        least = full["mu"].groupby(level=level).min().sort_values()
        told = ", ".join(f"{name} {value:.3f}" for name, value in least.items())
        notes.append(f"The least distance of locations by {level}: {told}.")
    return notes


def _by_model(frame: pd.DataFrame, models: Sequence[str]) -> list[str]:
    told = []
    for model in models:
        own = distances(frame[(frame["model"] == model).to_numpy()])
        own = own[own["tails"] == own["tails"].max()]
        told.append(f"{model} {', '.join(map(str, own.index[0]))} ({own['mu'].iloc[0]:.3f})")
    return [f"Nearest by model: {'; '.join(told)}."]
