"""Generated rows: runs of the generators, Table III and Figure 3."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from isonomy._validate import unknown_name
from isonomy.data import encode, load, make_splits
from isonomy.errors import InputError, IsonomyError
from isonomy.generators.base import make_generator
from isonomy.generators.quality import mds_points, quality
from isonomy.papers.monjezi_2025.cases import means_of
from isonomy.papers.monjezi_2025.names import GENERATOR, TASKS, tasks_of
from isonomy.papers.monjezi_2025.transcript import printed, printed_two, two_decimals
from isonomy.papers.table import PaperTable
from isonomy.store.record import Record, wide

if TYPE_CHECKING:
    from isonomy.store.store import Store

LABEL = "label"
POINTS = 150
"""Rows of each kind that Figure 3 shows."""
_QUALITIES = {"FID": "fid", "KL-D": "kl", "LG-D": "detection", "F1 loss": "f1_loss"}
_PICTURED = "compas"
_POINT = r"^mds_(?P<source>[a-z]+)_(?P<axis>[xy])_(?P<number>[0-9]+)$"
_NONE = (
    "The frame must hold {}; it holds none: run isonomy study tables monjezi_2025 --table 3 --run "
    "first."
)


def run_generators(store: "Store", **options: Any) -> int:
    """Fit generators, measure the rows they draw and store the records.

    Parameters
    ----------
    store : Store
        The store of the study; what it already holds is not run again.
    **options
        Options of :func:`generator_records`.

    Returns
    -------
    int
        The number of records added.
    """
    done = store.keys(status="ok")
    added = 0
    with store.writer() as writer:
        for record in generator_records(study=store.name, known=done, **options):
            writer.append([record])
            added += 1
    return added


def generator_records(
    tasks: Sequence[str] | None = None,
    generators: Sequence[str] = ("ctgan", "tvae", "independent"),
    *,
    repeats: int = 1,
    most: int | None = None,
    study: str = "monjezi_2025",
    known: frozenset[str] | set[str] = frozenset(),
    **parameters: Any,
) -> Iterator[Record]:
    """Fit generators to the training rows of tasks and measure the rows they draw.

    Features and label are generated together, as many rows as were learned from; the F1 loss is
    measured on the test rows. On Compas the first repeat keeps points for Figure 3.

    Parameters
    ----------
    tasks : sequence of str, optional
        By the paper's names, such as ``"adult sex"``; by default one for each dataset.
    generators : sequence of str
        Names of :func:`isonomy.generators.make_generator`; ``tvae`` and
        ``ctgan`` need the extra torch.
    repeats : int
        The number of splits.
    most : int, optional
        The most training rows to learn from.
    study : str
        The study that the records name.
    known : set of str
        Keys of records that are not made again.
    **parameters
        Parameters of every generator that has them, such as ``n_epochs=50``.

    Examples
    --------
    >>> [made] = generator_records(["german sex"], ["independent"])
    >>> made.status, sorted(made.metrics)
    ('ok', ['detection', 'f1_loss', 'fid', 'kl'])
    """
    if tasks is None:
        tasks = [*{task.split()[0]: task for task in reversed(TASKS)}.values()][::-1]
    known_parameters = {p for name in generators for p in make_generator(name).get_params()}
    for parameter in parameters:
        if parameter not in known_parameters:
            raise unknown_name("parameter of a generator", parameter, sorted(known_parameters))
    for task, repeat, name in product(tasks, range(repeats), generators):
        dataset, attribute = TASKS[task]
        spec = [study, dataset, attribute, name, repeat, most, sorted(parameters.items())]
        key = hashlib.sha256(json.dumps(spec, default=str).encode()).hexdigest()[:32]
        if key in known:
            continue
        metrics: dict[str, float] = {}
        status, reason = "ok", ""
        try:
            metrics = _measured(task, name, repeat, most, parameters)
        except (IsonomyError, ImportError) as error:
            status, reason = "failed", " ".join(str(error).split())
        which = (study, dataset, attribute, GENERATOR, name, repeat)
        yield Record(*which, metrics, status, reason, key=key)


def _measured(
    task: str, name: str, repeat: int, most: int | None, parameters: dict[str, Any]
) -> dict[str, float]:
    dataset, attribute = TASKS[task]
    data = load(dataset)
    encoded = encode(data, "evt", attribute=attribute)
    split = make_splits(data, repeat + 1, splitter="evt", rows=encoded.rows)[repeat]
    frame = encoded.frame.assign(**{LABEL: encoded.y})
    train, test = (frame.loc[rows].reset_index(drop=True) for rows in (split.train, split.test))
    if most is not None:
        train = train.iloc[:most]
    generator = make_generator(name)
    settings = {k: v for k, v in parameters.items() if k in generator.get_params()}
    if "random_state" in generator.get_params():
        settings["random_state"] = repeat
    generator.set_params(**settings).fit(train)
    drawn = generator.sample(len(train), np.random.default_rng([repeat, len(train)]))
    result = quality(train, drawn, label=LABEL, test=test, favorable=1, random_state=repeat)
    out = {metric: float(value) for metric, value in asdict(result).items()}
    if task.split()[0] == _PICTURED and repeat == 0:
        points = mds_points(train, drawn, n=POINTS, random_state=repeat)
        for source, part in points.groupby("source"):
            for axis in ("x", "y"):
                out |= {f"mds_{source}_{axis}_{i}": float(v) for i, v in enumerate(part[axis])}
    return out


def qualities_of(frame: pd.DataFrame) -> pd.DataFrame | None:
    """Return the quality of generators by (dataset, generator); None where the frame has none."""
    part = frame[((frame["model"] == GENERATOR) & (frame["status"] == "ok")).to_numpy()]
    if not len(part):
        return None
    table = wide(part, [*_QUALITIES.values()])
    names = zip(tasks_of(table), table["dataset"].astype(str), strict=True)
    table["dataset"] = [(task or dataset).split()[0] for task, dataset in names]
    table["generator"] = table["mitigator"]
    out = means_of(table, ["dataset", "generator"], [*_QUALITIES.values()])
    return out.set_axis([*_QUALITIES], axis=1)


def table3(frame: pd.DataFrame) -> PaperTable:
    """Return Table III: how close generated rows come to real ones.

    Needs records of generators: ``isonomy study tables monjezi_2025 --table 3 --run``, or
    :func:`run_generators`.
    """
    data = qualities_of(frame)
    if data is None:
        raise InputError(_NONE.format("records of generators"))
    notes = ["The paper gives no features for FID; ours are ranges of 0 to 1 and 0/1 columns."]
    failed = frame[((frame["model"] == GENERATOR) & (frame["status"] != "ok")).to_numpy()]
    failed = failed[["dataset", "mitigator", "reason"]].astype(str).drop_duplicates()
    for reason, part in failed.groupby("reason", sort=False):
        on = part.groupby("mitigator", sort=False)["dataset"].agg(", ".join)
        where = "; ".join(f"{generator} on {datasets}" for generator, datasets in on.items())
        notes.append(f"Not measured: {where}. {reason}")
    return PaperTable(
        "table3",
        "Quality of generated rows",
        data,
        len(data),
        "generators on datasets",
        tuple(notes),
        printed_two(printed("table3")),
        two_decimals,
    )


def fig3(frame: pd.DataFrame, *, dataset: str = _PICTURED) -> PaperTable:
    """Return Figure 3: real and generated rows in the plane, by multidimensional scaling."""
    part = frame[((frame["model"] == GENERATOR) & (frame["dataset"] == dataset)).to_numpy()]
    words = part["metric"].astype(str).str.extract(_POINT)
    points = part[["mitigator", "repeat", "value"]].join(words).dropna(subset="axis")
    if points.empty:
        raise InputError(_NONE.format(f"points of generators on {dataset}"))
    points = points[points["repeat"] == points["repeat"].min()].astype(
        {"mitigator": str, "number": int}
    )
    data = points.rename(columns={"mitigator": "generator"}).pivot_table(
        index=["generator", "source", "number"], columns="axis", values="value"
    )
    data.columns.name = None
    return PaperTable("fig3", f"Real and generated rows of {dataset}", data, len(data), "points")
