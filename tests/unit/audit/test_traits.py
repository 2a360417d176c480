"""Which traits go with bias, on numbers worked out by hand."""

import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from isonomy.audit.traits import family_of, parameters_of, traits_of


def test_family_and_parameters_are_those_of_the_last_step() -> None:
    model = make_pipeline(StandardScaler(), RandomForestClassifier(max_depth=3))
    assert family_of(model) == "RandomForestClassifier"
    assert parameters_of(model)["max_depth"] == 3
    assert "random_state" not in parameters_of(LogisticRegression())


def test_families_and_numbers() -> None:
    families = ["A"] * 5 + ["B"] * 2 + ["C"]
    parameters = [{"depth": k, "solver": "x" if k < 2 else "y"} for k in range(5)] + [{}] * 3
    bias = [0.1, 0.2, 0.3, 0.4, 0.5, 0.9, 0.7, 0.0]
    found = traits_of("sex", families, parameters, bias, [1 - b for b in bias])
    family = {t.value: t for t in found if t.parameter == "family"}
    assert list(family) == ["B", "A"]  # most bias first; C has one model only
    assert (family["A"].bias, family["A"].models) == (pytest.approx(0.3), 5)
    (depth,) = [t for t in found if t.parameter == "depth"]
    assert (depth.bias_correlation, depth.performance_correlation, depth.models) == (1, -1, 5)
    solver = {t.value: t.bias for t in found if t.parameter == "solver"}
    assert solver == {"y": pytest.approx(0.4), "x": pytest.approx(0.15)}


def test_nothing_is_said_of_few_models() -> None:
    assert traits_of("s", ["A"] * 4, [{"d": k} for k in range(4)], [0.1] * 4, [0.5] * 4) == []
    assert traits_of("s", ["A"] * 6, [{"d": 1}] * 6, [0.1] * 6, [0.5] * 6) == []
