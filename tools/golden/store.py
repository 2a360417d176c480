"""How the frozen files are written: plain JSON with every digit, and arrays as npz."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

OUT = Path(__file__).resolve().parents[2] / "tests" / "oracle" / "golden"


def plain(value: Any) -> Any:
    """Turn a NumPy value into JSON; NaN and the infinities become words, for JSON has none."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def digits(values: np.ndarray) -> str:
    """Write an array of one-digit integers as one string, which is small and can be read by eye."""
    return "".join(str(int(value)) for value in values)


def write_json(name: str, content: dict[str, Any]) -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    path = OUT / name
    path.write_text(json.dumps(plain(content), indent=1) + "\n")
    print(f"{path.name}: {path.stat().st_size:,} bytes")


def write_npz(name: str, arrays: dict[str, np.ndarray]) -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    path = OUT / name
    np.savez_compressed(path, **arrays)
    print(f"{path.name}: {path.stat().st_size:,} bytes")
