"""Models that are not Python objects yet: files, commands, functions named in words."""

import importlib
import io
import pickle
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from isonomy._validate import in_one_line, is_real, listed, optional
from isonomy.errors import InputError, IsonomyError

PICKLES = (".pkl", ".pickle", ".joblib", ".jl")


class CommandModel:
    """Any program as a model: rows as CSV on its standard input, one score per line back.

    Parameters
    ----------
    command : str or list of str
        The program and its arguments; text is split as a shell would, but no shell runs it.
    timeout : float, optional
        Seconds after which a call is given up.

    Examples
    --------
    >>> import sys
    >>> text = "import sys; sys.stdin.readline(); print(sys.stdin.read())"
    >>> model = CommandModel([sys.executable, "-c", text])
    >>> model(pd.DataFrame({"p": [0.25, 0.5]})).tolist()
    [0.25, 0.5]
    """

    def __init__(self, command: str | list[str], *, timeout: float | None = None) -> None:
        try:
            self.words = shlex.split(command) if isinstance(command, str) else list(command)
        except ValueError as error:
            raise InputError(f"The command {command!r} cannot be read: {error}.") from None
        if not self.words:
            raise InputError("A command must name a program; got nothing.")
        self.timeout = timeout
        self.__name__ = Path(self.words[0]).name

    def __call__(self, X: Any) -> NDArray[np.float64]:
        """Score rows by running the program once."""
        frame = X if isinstance(X, pd.DataFrame) else pd.DataFrame(X)
        text = io.StringIO()
        frame.to_csv(text, index=False)
        shown = repr(shlex.join(self.words))
        try:
            done = subprocess.run(
                self.words,
                input=text.getvalue(),
                capture_output=True,
                text=True,
                check=False,
                timeout=self.timeout,
            )
        except FileNotFoundError:
            raise InputError(f"The program of {shown} must exist; it was not found.") from None
        except PermissionError:
            raise InputError(f"The program of {shown} must be executable; it is not.") from None
        except subprocess.TimeoutExpired:
            raise InputError(
                f"The command {shown} must answer within {self.timeout:g} seconds; it did not."
            ) from None
        if done.returncode:
            why = done.stderr.strip().splitlines()
            raise InputError(
                f"The command {shown} must end with exit code 0; it ended with {done.returncode}"
                f"{': ' + why[-1] if why else ''}."
            )
        return self._scores(done.stdout.split("\n"), len(frame), shown)

    def _scores(self, lines: list[str], rows: int, shown: str) -> NDArray[np.float64]:
        lines = [line.strip() for line in lines if line.strip()]
        if len(lines) == rows + 1 and not is_real(lines[0]):
            lines = lines[1:]  # a header
        if len(lines) != rows:
            raise InputError(
                f"The command {shown} must print one score per row; it got {rows:,} rows and "
                f"printed {len(lines):,} lines."
            )
        bad = [line for line in lines if not is_real(line)]
        if bad:
            raise InputError(f"The command {shown} must print numbers; it printed {bad[0]!r}.")
        return np.array([float(line) for line in lines])


def load_function(name: str) -> Callable[[Any], Any]:
    """Import a function written ``module:function``; the current folder is looked in too.

    Examples
    --------
    >>> load_function("math:sqrt")(4)
    2.0
    """
    module, colon, attribute = name.partition(":")
    if not colon or not module or not attribute:
        raise InputError(f"A function must be written module:function; got {name!r}.")
    here = str(Path.cwd())
    added = here not in sys.path
    if added:
        sys.path.insert(0, here)
    try:
        result = getattr(importlib.import_module(module), attribute)
    except ModuleNotFoundError as error:
        raise InputError(f"The module of {name!r} must be importable; {error}.") from None
    except AttributeError:
        raise InputError(f"The module {module!r} must have {attribute!r}; it has not.") from None
    finally:
        if added and here in sys.path:
            sys.path.remove(here)
    if not callable(result) and not hasattr(result, "predict_proba"):
        raise InputError(f"{name!r} must be a function or a model; it is neither.")
    return result  # type: ignore[no-any-return]


def load_model(path: str | Path, *, trust: bool = False) -> Any:
    """Load a model from a pickle, joblib or skops file.

    Parameters
    ----------
    path : path
        A file ending in ``.pkl``, ``.pickle``, ``.joblib`` or ``.skops``.
    trust : bool, default False
        Whether to open a file that can run code when it is opened: a pickle always can, a skops
        file only through types that skops does not know.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"A model file must exist to be loaded; there is none at {str(path)!r}.")
    suffix = path.suffix.lower()
    if suffix not in (*PICKLES, ".skops"):
        raise InputError(
            f"A model file must end in {', '.join(PICKLES)} or .skops; got {path.name!r}: use "
            f"--command or --callable for anything else."
        )
    if not trust and suffix in PICKLES:
        raise InputError(
            f"{path.name!r} is a pickle, which can run any code when it is opened; pass "
            f"trust=True (--trust) if you made it or trust who did."
        )
    try:
        if suffix == ".skops":
            return _load_skops(path, trust)
        if suffix in {".joblib", ".jl"}:
            import joblib

            return joblib.load(path)
        with path.open("rb") as stream:
            return pickle.load(stream)
    except IsonomyError:
        raise
    except Exception as error:
        raise InputError(
            f"The model in {path.name!r} cannot be loaded: {in_one_line(error)}"
        ) from error


def load_models(
    folder: str | Path, *, trust: bool = False
) -> tuple[dict[str, Any], dict[str, str]]:
    """Load every model of a folder; a file that fails is left out, with its reason.

    Declared models (``.toml``) and hidden files are passed over.

    Parameters
    ----------
    folder : path
    trust : bool, default False
        As in :func:`load_model`.

    Returns
    -------
    models, left_out : dict
        Models and reasons, by file name; without its ending where that is clear.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(f"A folder of models must exist; there is none at {str(folder)!r}.")
    files = sorted(f for f in folder.iterdir() if f.is_file() and not f.name.startswith("."))
    if not files:
        raise InputError(f"A folder of models must hold files; {str(folder)!r} is empty.")
    files = [f for f in files if f.suffix.lower() != ".toml"]
    stems = [f.stem for f in files]
    models: dict[str, Any] = {}
    left_out: dict[str, str] = {}
    for file in files:
        name = file.stem if stems.count(file.stem) == 1 else file.name
        try:
            models[name] = load_model(file, trust=trust)
        except IsonomyError as error:
            left_out[name] = str(error)
    return models, left_out


def _load_skops(path: Path, trust: bool) -> Any:
    io_ = optional("skops.io", extra="skops", purpose="Loading a .skops file")
    strange = io_.get_untrusted_types(file=path)
    if strange and not trust:
        raise InputError(
            f"{path.name!r} holds types that skops does not know ({listed(strange)}), which "
            f"can run code; pass trust=True (--trust) if you trust who made it."
        )
    return io_.load(path, trusted=strange)
