"""Generated rows: runs of the generators, Table III and Figure 3."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from isonomy._validate import unknown_name
from isonomy.data import encode, load, make_splits
from isonomy.errors import InputError, IsonomyError
from isonomy.generators.base import make_generator
from isonomy.generators.quality import mds_points, quality
from isonomy.papers.monjezi_2025 import printed
from isonomy.papers.monjezi_2025.cases import GENERATOR, TASKS, qualities_of
from isonomy.papers.monjezi_2025.printed import printed_two, two_decimals
from isonomy.papers.table import PaperTable
from isonomy.store.record import Record

if TYPE_CHECKING:
    from isonomy.store.store import Store

__all__ = ["fig3", "generator_records", "run_generators", "table3"]

LABEL = "label"
POINTS = 150
"""Rows of each kind that Figure 3 shows."""
_PICTURED = "compas"


def run_generators(store: "Store", **options: Any) -> int:
    """Fit generators, measure what they draw and put the records into a store.

    Parameters
    ----------
    store : Store
        The store of the study; what it holds already is not run again.
    **options
        Of :func:`generator_records`.

    Returns
    -------
    int
        How many records were added.
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

    Features and label are generated together, as many rows as were learnt from; the F1 loss is
    measured on the test rows. On Compas the first repeat keeps points for Figure 3.

    Parameters
    ----------
    tasks : sequence of str, optional
        By the paper's names, such as ``"adult sex"``; by default one for each dataset.
    generators : sequence of str
        Names in ``isonomy.generators.base``; ``tvae`` and ``ctgan`` need the extra torch.
    repeats : int
        Splits.
    most : int, optional
        The most training rows to learn from.
    study : str
        What the records say.
    known : set of str
        Keys of records that need not be made again.
    **parameters
        Of every generator that has them, such as ``n_epochs=50``.

    Examples
    --------
    >>> [made] = generator_records(["german sex"], ["independent"])
    >>> made.status, sorted(made.metrics)
    ('ok', ['detection', 'f1_loss', 'fid', 'kl'])
    """
    if tasks is None:
        first = {task.split()[0]: task for task in reversed(TASKS)}
        tasks = [task for task in TASKS if task in first.values()]
    known_parameters = {p for name in generators for p in make_generator(name).get_params()}
    for parameter in parameters:
        if parameter not in known_parameters:
            raise unknown_name("parameter of a generator", parameter, sorted(known_parameters))
    for task in tasks:
        dataset, attribute = TASKS[task]
        for repeat in range(repeats):
            for name in generators:
                told = [study, dataset, attribute, name, repeat, most, sorted(parameters.items())]
                key = hashlib.sha256(json.dumps(told, default=str).encode()).hexdigest()[:32]
                if key in known:
                    continue
                metrics: dict[str, float] = {}
                reason = ""
                try:
                    metrics = _measured(task, name, repeat, most, parameters)
                except (IsonomyError, ImportError) as error:
                    reason = " ".join(str(error).split())
                yield Record(
                    study,
                    dataset,
                    attribute,
                    GENERATOR,
                    name,
                    repeat,
                    metrics,
                    "failed" if reason else "ok",
                    reason,
                    key=key,
                )


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
    mine = {k: v for k, v in parameters.items() if k in generator.get_params()}
    seed = {"random_state": repeat} if "random_state" in generator.get_params() else {}
    generator.set_params(**mine, **seed).fit(train)
    drawn = generator.sample(len(train), np.random.default_rng([repeat, len(train)]))
    found = quality(train, drawn, label=LABEL, test=test, favorable=1, random_state=repeat)
    out = {key: float(value) for key, value in asdict(found).items()}
    if task.split()[0] == _PICTURED and repeat == 0:
        points = mds_points(train, drawn, n=POINTS, random_state=repeat)
        for source, part in points.groupby("source"):
            for i, (x, y) in enumerate(zip(part["x"], part["y"], strict=True)):
                out |= {f"mds_{source}_x_{i}": float(x), f"mds_{source}_y_{i}": float(y)}
    return out


def table3(frame: pd.DataFrame) -> PaperTable:
    """Give Table III: how near generated rows come to real ones.

    Needs records of generators: ``isonomy.papers.monjezi_2025.tables.run_generators``.
    """
    data = qualities_of(frame)
    if data is None:
        raise InputError(
            "The frame must hold records of generators; it holds none: run "
            "isonomy.papers.monjezi_2025.tables.run_generators(store) first."
        )
    theirs = printed_two(printed.generators())
    return PaperTable(
        "table3",
        "Quality of generated rows",
        data,
        len(data),
        "generators on datasets",
        ("The paper gives no features for FID; ours are ranges of 0 to 1 and 0/1 columns.",),
        theirs,
        two_decimals,
    )


def fig3(frame: pd.DataFrame, *, dataset: str = "compas") -> PaperTable:
    """Give Figure 3: real and generated rows in the plane, by multidimensional scaling."""
    part = frame[
        (frame["model"] == GENERATOR).to_numpy() & (frame["dataset"] == dataset).to_numpy()
    ]
    names = part["metric"].astype(str)
    part = part[names.str.startswith("mds_").to_numpy()]
    if not len(part):
        raise InputError(
            f"The frame must hold points of generators on {dataset}; it holds none: run "
            "isonomy.papers.monjezi_2025.tables.run_generators(store) first."
        )
    words = part["metric"].astype(str).str.split("_", expand=True)
    table = pd.DataFrame(
        {
            "generator": part["mitigator"].astype(str),
            "source": words[1],
            "axis": words[2],
            "number": words[3].astype(int),
            "value": part["value"],
        }
    )
    table = table[(part["repeat"] == part["repeat"].min()).to_numpy()]
    data = table.pivot_table(
        index=["generator", "source", "number"], columns="axis", values="value", observed=True
    )
    data.columns.name = None
    return PaperTable("fig3", f"Real and generated rows of {dataset}", data, len(data), "points")
