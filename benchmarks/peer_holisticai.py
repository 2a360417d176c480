"""holisticai's own calls. Runs inside its environment, started by `peers.py`; never imported by us."""

import json
import sys
import warnings
from pathlib import Path

import numpy as np
from holisticai.utils.trade_off_analysers import Fairea
from timing import cpu_seconds


def main(folder: Path) -> None:
    warnings.simplefilter("ignore")
    spec = json.loads((folder / "job.json").read_text())
    data = {path.stem: np.load(path) for path in folder.glob("*.npy")}
    x, y, s = data["x"], data["y"], data["s"]

    def fairea() -> Fairea:
        found = Fairea(fair_metric="sp", acc_metric="acc")
        found.create_baseline(x, y, s == 0, s == 1, data_splits=1, **spec["options"])
        return found

    seconds, found = cpu_seconds(fairea, repeat=spec["repeat"])
    accuracy, bias = found.baseline_metrics()
    np.save(folder / "out_accuracy.npy", accuracy.ravel())
    np.save(folder / "out_bias.npy", bias.ravel())
    (folder / "seconds.json").write_text(json.dumps(seconds))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
