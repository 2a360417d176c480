"""Audits of random small tables, against numbers that pandas computes from the rows alone."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from isonomy import audit

LABELS: tuple[tuple[Any, Any], ...] = (
    (0, 1),
    ("bad", "good"),
    (False, True),
    (-1, 1),
    (2.5, 7.0),
    ("1", "0"),
)
GROUPS: tuple[tuple[Any, ...], ...] = (
    ("a", "b", "c", "d", "e"),
    (0, 1, 2, 3),
    (True, False),
    ("NA", "None", "null", "x y"),
    (1.5, -2.0, 10**18),
    ("[/b]", "ü", "privileged", "a & b"),
)
RATES = ("selection_rate", "base_rate", "true_positive_rate", "false_positive_rate", "accuracy")
ATTRIBUTES = ("a", "b", "c", "d")
GAPS = {
    "statistical_parity_difference": "selection_rate",
    "equal_opportunity_difference": "true_positive_rate",
    "false_positive_rate_difference": "false_positive_rate",
    "accuracy_difference": "accuracy",
}


def rates(rows: pd.DataFrame, by: Any) -> pd.DataFrame:
    """Return the rates of each group and, as ``of_...``, the weight they rest on: sums of pandas."""
    w, good, said = (rows[name].to_numpy() for name in ("w", "good", "said"))
    parts = {
        "selection_rate": (said, 1.0),
        "base_rate": (good, 1.0),
        "true_positive_rate": (good & said, good),
        "false_positive_rate": (~good & said, ~good),
        "accuracy": (good == said, 1.0),
    }
    hits = pd.DataFrame({name: w * hit for name, (hit, _) in parts.items()})
    among = pd.DataFrame({f"of_{name}": w * of for name, (_, of) in parts.items()})
    sums = pd.concat([hits, among], axis=1).groupby(by, sort=False).sum()
    of = sums[[*among]]
    return pd.concat([sums[[*hits]] / of.to_numpy(), of], axis=1)


class Case:
    """A random table drawn from a seed, with four attributes, and what its audit must say."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng([seed, 7])
        n = int(rng.choice([4, 9, 30, 80, 200]))
        bad, good = LABELS[rng.integers(len(LABELS))]
        said = rng.random(n) < rng.choice([0.02, 0.5, 0.9])
        lean = rng.random(n)
        truth = rng.random(n) < 0.2 + 0.6 * lean
        truth[:2], said[:2] = (True, False), (False, True)
        self.rows = pd.DataFrame({"good": truth, "said": said, "w": 1.0})
        self.weight = None
        if rng.random() < 0.3:
            self.weight = rng.choice([0.5, 1.0, 2.5], n)
            self.rows["w"] = self.weight
        label = np.array([bad, good], dtype=object)
        self.form = rng.choice(["list", "array", "series"])
        self.y, self.yhat = (self._dress(label[v.astype(int)]) for v in (truth, said))
        self.favorable = good
        self.sensitive: dict[str, Any] = {}
        self.privileged: dict[str, list[Any]] = {}
        for attribute in ATTRIBUTES:
            names = GROUPS[rng.integers(len(GROUPS))]
            values = np.empty(len(names), dtype=object)
            values[:] = names
            group = np.minimum((lean + rng.random(n)) / 2 * len(names), len(names) - 1).astype(int)
            group[:2] = (0, 1)
            self.rows[attribute] = values[group]
            self.sensitive[attribute] = self._dress(values[group])
            # which of weighted groups have too few rows to be compared is a rule of its own
            if self.weight is not None or rng.random() < 0.5:
                self.privileged[attribute] = [values[group[rng.integers(n)]]]
        self.metrics = rng.choice(list(GAPS), 2, replace=False).tolist()

    def check(self) -> None:
        found = audit(
            self.y,
            self.yhat,
            sensitive_features=self.sensitive,
            sample_weight=self.weight,
            favorable=self.favorable,
            privileged=self.privileged or None,
            metrics=["accuracy", "selection_rate", *self.metrics],
            resamples=100,
        )
        rows = self.rows
        whole = rates(rows, np.zeros(len(rows))).iloc[0]
        told = {(f.attribute, f.name): f.value for f in found.metrics}
        for name in ("accuracy", "selection_rate"):
            assert abs(told[None, name] - whole[name]) < 1e-12, name
        seen = {(r.attribute, r.group, r.name): r.value for r in found.groups}
        for attribute in ATTRIBUTES:
            by_group = rates(rows, rows[attribute])
            groups = [str(group) for group in by_group.index]
            assert {group for a, group, _ in seen if a == attribute} == set(groups)
            values = [[seen[attribute, group, name] for name in RATES] for group in groups]
            np.testing.assert_allclose(values, by_group[[*RATES]], rtol=0, atol=1e-12)
            two = None
            if attribute in self.privileged:
                best = rows[attribute].isin(self.privileged[attribute]).to_numpy()
                two = rates(rows, best)
            for metric in self.metrics:
                value = told[attribute, metric]
                expected = self._gap(GAPS[metric], by_group, two)
                np.testing.assert_allclose(value, expected, rtol=0, atol=1e-12, err_msg=metric)

    @staticmethod
    def _gap(rate: str, by_group: pd.DataFrame, two: pd.DataFrame | None) -> float:
        """Return the gap to the privileged group, or between the most and the least."""
        if two is not None:
            return float(two.loc[False, rate] - two.loc[True, rate])
        known = by_group[by_group[rate].notna()]
        # fewer than 30 rows are listed, and compared only where there is nothing else
        large = known[known[f"of_{rate}"] >= 30]
        some = (large if len(large) > 1 else known)[rate]
        return float(some.max() - some.min()) if len(some) > 1 else np.nan

    def _dress(self, values: Any) -> Any:
        if self.form == "list":
            return values.tolist()
        plain = np.array(values.tolist())
        return plain if self.form == "array" else pd.Series(plain)


@pytest.mark.parametrize("part", range(2))
def test_two_thousand_audits(part: int) -> None:
    for seed in range(part * 250, (part + 1) * 250):
        Case(seed).check()


@pytest.mark.slow
@pytest.mark.parametrize("part", range(100))
def test_a_hundred_thousand_audits(part: int) -> None:
    for seed in range(10_000 + part * 250, 10_000 + (part + 1) * 250):
        Case(seed).check()
