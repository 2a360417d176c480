"""Build the package and try it as a user would: `python tools/release_check.py [EXTRA ...]`.

The wheel and the source distribution are built and checked; then the wheel is installed in an empty environment
without any extra, where audit, benchmark and tail must run and everything that needs an extra must
say which. Each light extra (or those that are named) is then added by itself, and what needed it must run.
The packages of the extras come from the registry that pip is configured for.
"""

import hashlib
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
PEOPLE = """
import numpy as np, isonomy
from isonomy import audit
rng = np.random.default_rng(0)
sex, y = rng.choice(["F", "M"], 500), rng.integers(0, 2, 500)
found = audit(y, y, sensitive_features={"sex": sex})
X = np.c_[rng.normal(size=500), sex == "M"]
"""
STUDY = "isonomy.run(isonomy.load_study('demo').with_(tasks=['synthetic/group'], models=['lr'], repeats=1), "
# What needs each extra: a few lines that must run with it, and without it name it.
NEEDS = {
    "excel": "isonomy.audit_file('people.xlsx', label='favorable', prediction='merit>=0.5', sensitive_features='group')",
    "plot": "found.plot()",
    "app": "from isonomy.app import make_app; make_app('runs')",
    "fairlearn": "isonomy.make_mitigator('exponentiated_gradient', isonomy.make_model('lr')).fit(X, y, sensitive_features=sex)",
    "optuna": (
        "made = isonomy.make_mitigator('prejudice_remover', isonomy.make_model('lr'))\n"
        "isonomy.tune(made, {'eta': (0.0, 5.0)}, X, y, sensitive_features=sex, strategy='optuna', budget=3)"
    ),
    "skops": "from isonomy.counterfactual import load_model; load_model('model.skops')",
    "mlflow": (
        "import os, pathlib; os.environ['MLFLOW_TRACKING_URI'] = pathlib.Path('runs').resolve().as_uri()\n"
        "os.environ['MLFLOW_ALLOW_FILE_STORE'] = 'true'\n"
        "from isonomy.gate import log_mlflow; log_mlflow(found)"
    ),
    "dask": STUDY + "'out-dask', backend='dask', workers=1)",
    "ray": STUDY + "'out-ray', backend='ray', workers=1)",
    "boost": "from isonomy.audit import declared_model; declared_model('lightgbm.LGBMClassifier')",
    "torch": "isonomy.make_model('dnn').fit(X, y)",
}
# Frames of another library: nothing of ours asks for them by name.
FRAMES = {
    "polars": "import polars; isonomy.Counts.from_frame(polars.DataFrame({'y': [0, 1], 'p': [0, 1], 's': ['a', 'b']}), label='y', prediction='p', sensitive_features='s')"
}
LIGHT = ("excel", "plot", "app", "fairlearn", "optuna", "skops", "mlflow", "polars", "dask")
COMMANDS = (
    "data export synthetic people.csv",
    "audit people.csv --label favorable --prediction merit>=0.5 --sensitive group --scan --report audit.html",
    "power --gap -0.15 --base-rate 0.3",
    "check people.csv --label favorable --prediction merit>=0.5 --sensitive group --write-policy isonomy.toml",
    "benchmark people.csv --label favorable --sensitive group --method reweighing,reject_option --repeats 6 --backend serial --out bench",
    "tail people.csv --label favorable --sensitive group --callable scores:probability",
    "templates",
    "metrics",
    "mitigators",
    "study list",
)
SCORES = "def probability(rows):\n    return rows['merit'].clip(0, 1) * 0.8 + 0.1 * (rows['group'] == 'privileged')\n"


def call(*words: str | Path, cwd: Path | None = None, fails: bool = False) -> str:
    """Run a program and return what it printed; stop where it ends otherwise than expected."""
    done = subprocess.run([*map(str, words)], cwd=cwd, capture_output=True, text=True, check=False)
    if bool(done.returncode) != fails:
        sys.exit(f"{' '.join(map(str, words))}\n{done.stdout}\n{done.stderr}")
    return done.stdout + done.stderr


def environment(folder: Path, wheel: Path, extra: str = "") -> Path:
    """Make an empty environment with the wheel, and return its Python."""
    call(sys.executable, "-m", "venv", folder)
    python = folder / "bin" / "python"
    call(python, "-m", "pip", "install", "--quiet", f"{wheel}[{extra}]" if extra else wheel)
    return python


def built() -> Path:
    """Build both distributions, check them, and return the wheel."""
    shutil.rmtree(DIST, ignore_errors=True)
    call(sys.executable, "-m", "build", "--outdir", DIST, ROOT)
    files = sorted(DIST.iterdir())
    print(call(sys.executable, "-m", "twine", "check", "--strict", *files).strip())
    for file in files:
        print(
            f"{file.name}  {file.stat().st_size:,} bytes  sha256 {hashlib.sha256(file.read_bytes()).hexdigest()}"
        )
    return next(DIST.glob("*.whl"))


def main() -> None:
    """Build, and try everything."""
    wheel = built()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = set(project["optional-dependencies"])
    unknown = named - set(NEEDS) - set(FRAMES) - {"spark"}  # Spark needs Java
    assert not unknown, f"nothing is tried of the extras {unknown}"
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        (work / "scores.py").write_text(SCORES, encoding="utf-8")
        for name in ("people.xlsx", "model.skops"):  # there, so that only the extra is missing
            (work / name).write_bytes(b"PK")
        python = environment(work / "bare", wheel)
        isonomy = python.with_name("isonomy")
        for command in COMMANDS:
            call(isonomy, *command.split(), cwd=work)
            print(f"without extras  runs  isonomy {command}")
        for extra, code in NEEDS.items():
            said = call(python, "-c", PEOPLE + code, cwd=work, fails=True).strip().splitlines()[-1]
            assert f'pip install "isonomy[{extra}]"' in said, said
            print(f"without extras  says  {said.partition(': ')[2]}")
        for extra in sys.argv[1:] or LIGHT:
            python = environment(work / extra, wheel, extra)
            if extra == "excel":
                write = "import pandas; pandas.read_csv('people.csv').to_excel('people.xlsx', index=False)"
                call(python, "-c", write, cwd=work)
            if extra == "skops":
                write = "from skops import io; from sklearn.linear_model import LogisticRegression as L; io.dump(L().fit([[0], [1]], [0, 1]), 'model.skops')"
                call(python, "-c", write, cwd=work)
            call(python, "-c", PEOPLE + (NEEDS | FRAMES)[extra], cwd=work)
            print(f"isonomy[{extra}]  runs  {(NEEDS | FRAMES)[extra].splitlines()[-1][:80]}")
            shutil.rmtree(work / extra)
    print("The release can be made.")


if __name__ == "__main__":
    main()
