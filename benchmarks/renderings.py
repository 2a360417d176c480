"""The software-engineering methods done row by row, as their repositories do them, in our own words.

Straight loops over plain arrays without any frame in them: what the procedure costs by its nature, not what
a slow library adds. Each takes fitted models where it needs one, so that no fit is on the clock.
"""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.neighbors import NearestNeighbors
from sklearn.tree import DecisionTreeRegressor

__all__ = ["agree", "cluster", "flash", "generate", "situations"]


def generate(X: np.ndarray, y: np.ndarray, s: np.ndarray, categorical: set[int]) -> np.ndarray:
    """Fair-SMOTE's synthetic rows: one query and one row of values at a time."""
    cells = [X[(y == c) & (s == g)] for c in (0, 1) for g in (0, 1)]
    most = max(len(cell) for cell in cells)
    made = []
    for cell in cells:
        index = NearestNeighbors(n_neighbors=5).fit(cell)
        for _ in range(most - len(cell)):
            parent = cell[random.randrange(len(cell))]
            _, one, two = index.kneighbors(parent[None], 3, return_distance=False)[0]
            first, second = cell[one], cell[two]
            row = []
            for j, value in enumerate(parent):
                if j in categorical:
                    row.append(random.choice((value, first[j], second[j])))
                else:
                    row.append(abs(value + 0.8 * (first[j] - second[j])))
            made.append(row)
    return np.array(made)


def situations(model: Any, X: np.ndarray, column: int) -> np.ndarray:
    """Ask a fitted model about each row and about the row with the protected value flipped."""
    keep = []
    for row in X:
        usual = model.predict(row[None])[0]
        moved = row.copy()
        moved[column] = 1 - moved[column]
        keep.append(model.predict(moved[None])[0] == usual)
    return np.array(keep)


def agree(models: list[Any], X: np.ndarray) -> np.ndarray:
    """Fairway's removal: ask the models of all groups about each row."""
    keep = []
    for row in X:
        labels = [model.predict(row[None])[0] for model in models]
        keep.append(all(label == labels[0] for label in labels))
    return np.array(keep)


def flash(objective: Callable[[tuple[int, int, int, int]], float]) -> int:
    """FLASH over the 12,000 settings of a logistic regression; gives the evaluations it took."""

    def setting(index: int) -> tuple[int, int, int, int]:
        return (
            index // 400 + 1,
            index % 400 // 200 + 1,
            index % 200 // 100 + 1,
            index % 100 + 10,
        )

    first = random.sample(range(12_000), 20)
    known = [setting(i) for i in first]
    values = [objective(config) for config in known]
    taken = set(first)
    rest = [setting(i) for i in range(12_000) if i not in taken]
    life = 20
    while len(known) < 200 and life > 0:
        tree = DecisionTreeRegressor().fit(known, values)
        candidate = random.choice(rest)
        rest.remove(candidate)
        if tree.predict([candidate])[0] < np.median(values):
            known.append(candidate)
            values.append(objective(candidate))
        else:
            life -= 1
    return len(known)


def cluster(X: np.ndarray, rng: np.random.Generator) -> list[list[int]]:
    """STEALTH's halving with local poles, one distance at a time."""
    low = X.min(axis=0)
    table = (X - low) / (X.max(axis=0) - low + 1e-31)
    enough = int(np.sqrt(len(X)))

    def distance(i: int, j: int) -> float:
        return round(float(np.abs(table[i] - table[j]).sum()) * 2**36) / 2**36

    def split(node: list[int]) -> list[list[int]]:
        if len(node) < enough:
            return [node]
        pivot = node[int(rng.integers(len(node)))]
        left = max(node, key=lambda i: distance(pivot, i))
        right = max(node, key=lambda i: distance(left, i))
        c = distance(left, right)
        place = {}
        for i in node:
            a, b = distance(i, right), distance(i, left)
            place[i] = (a**2 + c**2 - b**2) / (2 * c + 1e-31)
        order = sorted(node, key=place.__getitem__)
        half = len(node) // 2
        return [*split(order[:half]), *split(order[half:])]

    return split(list(range(len(X))))
