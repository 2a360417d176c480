"""Freeze what AIF360's scan (MDSS) finds in worlds with and without a planted subgroup.

It is told the direction, gets ten random starts (its default), and every penalty below, of which a
test may pick the one that serves it best.
"""

import logging
import warnings
from multiprocessing import Pool
from typing import Any

warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)

import pandas as pd  # noqa: E402
from aif360.detectors.mdss_detector import bias_scan  # noqa: E402
from planted import WORLDS, make  # noqa: E402
from store import write_json  # noqa: E402

PENALTIES = (1e-17, 1.0, 2.0)
"""The first is its default."""


def search(name: str, seed: int) -> dict[str, Any]:
    world = WORLDS[name]
    columns, hits, planted = make(world, seed)
    frame = pd.DataFrame(columns, columns=[str(j) for j in range(columns.shape[1])])
    answers = []
    for penalty in PENALTIES:
        subset, score = bias_scan(
            frame,
            pd.Series(hits.astype(int)),
            overpredicted=world.inside < world.base,
            penalty=penalty,
        )
        values = {c: sorted(map(int, v)) for c, v in sorted(subset.items())}
        answers.append([values, float(score)])
    sums = [int(columns.sum()), int(hits.sum()), int(planted.sum())]
    return {"seed": seed, "sums": sums, "answers": answers}


def main() -> None:
    content = {}
    with Pool(2) as workers:
        for name, world in WORLDS.items():
            seeds = range(world.first_seed, world.first_seed + world.worlds)
            content[name] = workers.starmap(search, [(name, seed) for seed in seeds])
            print(name, flush=True)
    write_json("aif360_mdss.json", {"penalties": PENALTIES, "worlds": content})


if __name__ == "__main__":
    main()
