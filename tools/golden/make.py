"""Make every frozen oracle file: `python tools/golden/make.py [metrics] [mitigators] [meta_fair] ...`.

Each script runs in an environment of its own with pinned versions, made on first use beside this
file.
"""

import os
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
SCRIPTS = {
    "metrics": "aif360",
    "mitigators": "aif360",
    "mdss": "aif360",
    "meta_fair": "aif360-mfc",
    "holisticai_fairea": "holisticai",
    "sdmetrics_quality": "sdmetrics",
}


def environment(name: str) -> Path:
    """Return the python of the pinned environment `name`, made first if it is not there."""
    folder = HERE / f".env-{name}"
    pins = HERE / f"{name}.txt"
    python = folder / "bin" / "python"
    stamp = folder / ".installed"
    if not stamp.exists() or stamp.read_text() != pins.read_text():
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "-r", pins], check=True)
        stamp.write_text(pins.read_text())
    return python


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in SCRIPTS]
    if unknown:
        print(f"Unknown: {', '.join(unknown)}. Choose from {', '.join(SCRIPTS)}.", file=sys.stderr)
        return 2
    for name in names or SCRIPTS:
        python = environment(SCRIPTS[name])
        # PrejudiceRemover starts `python` by name: it must be the one of this environment.
        env = {
            **os.environ,
            "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}",
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        subprocess.run([python, HERE / f"{name}.py"], check=True, env=env)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
