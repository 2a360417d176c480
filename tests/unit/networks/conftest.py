from typing import Any

import numpy as np
import pytest


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch", reason="the extra torch is not installed")


@pytest.fixture
def rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 4))
    return X, (np.abs(X[:, 0]) + 0.3 * rng.normal(size=300) > 0.7).astype(int)
