"""Peers in their own pinned environments, made on demand under `.peers/`.

A peer's call runs in a subprocess of its environment, on the same arrays (passed as npy files), and is
timed there by the same clock as ours. fairlearn and scikit-learn run in our own environment.
"""

import json
import os
import subprocess
import sys
import tempfile
import venv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["environment", "measure", "one_thread"]

HERE = Path(__file__).resolve().parent
GOLDEN = HERE.parent / "tools" / "golden"
PINS = {
    "holisticai": HERE.parent / "tools" / "golden" / "holisticai.txt",
    "aif360": GOLDEN / "aif360.txt",
    "aif360-in": HERE / "aif360-in.txt",
    "aif360-mfc": GOLDEN / "aif360-mfc.txt",
    "ctgan": HERE / "ctgan.txt",
}
SCRIPTS = {
    "holisticai": HERE / "peer_holisticai.py",
    "aif360": HERE / "peer_aif360.py",
    "aif360-in": HERE / "peer_in_processing.py",
    "aif360-mfc": HERE / "peer_in_processing.py",
    "ctgan": HERE / "peer_ctgan.py",
}


def one_thread() -> dict[str, str]:
    """Give the environment variables under which every side runs: one BLAS thread."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    return {**os.environ, **dict.fromkeys(names, "1")}


def environment(name: str) -> Path:
    """Return the python of a peer's environment, made first if it is not there."""
    folder = HERE / ".peers" / name
    pins = PINS[name].read_text()
    stamp = folder / ".installed"
    python = folder / "bin" / "python"
    if not stamp.exists() or stamp.read_text() != pins:
        print(f"making the environment of {name} ...", file=sys.stderr, flush=True)
        venv.create(folder, with_pip=True, clear=True)
        command = [python, "-m", "pip", "install", "--quiet", "-r", PINS[name]]
        subprocess.run(command, check=True)
        stamp.write_text(pins)
    return python


def measure(
    peer: str,
    job: str,
    arrays: Mapping[str, np.ndarray],
    *,
    repeat: int = 3,
    **options: Any,
) -> tuple[float, dict[str, np.ndarray]]:
    """Time one job of a peer; return CPU seconds and the arrays it gave back."""
    python = environment(peer)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for name, array in arrays.items():
            np.save(folder / f"{name}.npy", array, allow_pickle=False)
        (folder / "job.json").write_text(
            json.dumps({"job": job, "repeat": repeat, "options": options})
        )
        env = {**one_thread(), "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}"}
        done = subprocess.run(
            [python, SCRIPTS[peer], folder], env=env, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise RuntimeError(f"{peer} could not do {job}:\n{done.stderr[-2000:]}")
        seconds = json.loads((folder / "seconds.json").read_text())
        given = {path.stem.removeprefix("out_"): np.load(path) for path in folder.glob("out_*.npy")}
    return float(seconds), given
