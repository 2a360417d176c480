"""The ctgan package's TVAE. Runs inside its environment, started by `peers.py`; never imported by us.

The columns come as one array each; those named in the option `discrete` are its discrete columns. Fitting is
on the clock, drawing rows is not.
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from ctgan import TVAE
from timing import cpu_seconds


def main(folder: Path) -> None:
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    spec = json.loads((folder / "job.json").read_text())
    options = spec["options"]
    given = {name: np.load(folder / f"{name}.npy") for name in options["columns"]}
    frame = pd.DataFrame(given)
    np.random.seed(options["seed"])
    torch.manual_seed(options["seed"])

    def fit() -> TVAE:
        model = TVAE(epochs=options["epochs"], enable_gpu=False)
        model.fit(frame, discrete_columns=options["discrete"])
        return model

    seconds, model = cpu_seconds(fit, repeat=1)
    drawn = model.sample(len(frame))
    for name, array in given.items():
        np.save(folder / f"out_{name}.npy", drawn[name].to_numpy().astype(array.dtype))
    (folder / "seconds.json").write_text(json.dumps(seconds))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
