"""Model cards: real skops takes an audit, fairlearn agrees, and the card's YAML is read back."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from isonomy import Audit, audit
from isonomy.audit.cards import FIELDS, OPEN
from isonomy.errors import InputError, UnknownName
from isonomy.metrics.rates import GROUP_RATES


def people(n: int = 900, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "sex": rng.choice(["F", "M"], n),
            "race": rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1]),
            "y": rng.integers(0, 2, n),
        }
    )
    wrong = rng.random(n) < np.where(frame["sex"] == "F", 0.35, 0.1)
    frame["yhat"] = np.where(wrong, 1 - frame["y"], frame["y"])
    return frame


def audited(frame: pd.DataFrame, *columns: str, **options: Any) -> Audit:
    return audit(frame["y"], frame["yhat"], sensitive_features=frame[[*columns]], **options)


def metric_frame(frame: pd.DataFrame, *columns: str) -> Any:
    fairlearn = pytest.importorskip("fairlearn.metrics")
    from sklearn.metrics import accuracy_score, precision_score

    def base_rate(y: Any, yhat: Any) -> float:
        return float(np.mean(y))

    def false_omission_rate(y: Any, yhat: Any) -> float:
        return float(1 - precision_score(y, yhat, pos_label=0))

    functions = {
        "base_rate": base_rate,
        "selection_rate": fairlearn.selection_rate,
        "true_positive_rate": fairlearn.true_positive_rate,
        "false_positive_rate": fairlearn.false_positive_rate,
        "precision": precision_score,
        "false_omission_rate": false_omission_rate,
        "accuracy": accuracy_score,
    }
    assert set(functions) == set(GROUP_RATES)
    return fairlearn.MetricFrame(
        metrics=functions, y_true=frame["y"], y_pred=frame["yhat"],
        sensitive_features=frame[[*columns]],
    )  # fmt: skip


@pytest.mark.parametrize("columns", [("sex",), ("race",), ("sex", "race")])
def test_as_fairlearns_metric_frame(columns: tuple[str, ...]) -> None:
    frame = people()
    mine, theirs = audited(frame, *columns), metric_frame(frame, *columns)
    for name in ("difference", "ratio", "group_min", "group_max"):
        expected = getattr(theirs, name)()
        found = getattr(mine, name)()
        assert isinstance(found, pd.Series)
        pd.testing.assert_series_equal(
            found.sort_index(), expected.sort_index(), check_dtype=False, check_names=False
        )
    for name in ("difference", "ratio"):
        pd.testing.assert_series_equal(
            getattr(mine, name)("to_overall").sort_index(),
            getattr(theirs, name)(method="to_overall").sort_index(),
            check_dtype=False, check_names=False,
        )  # fmt: skip


def test_one_attribute_of_several_and_unknown_groups() -> None:
    frame = people()
    both = audited(frame, "sex", "race")
    alone = audited(frame, "race")
    pd.testing.assert_series_equal(both.difference(attribute="race"), alone.difference())
    lost = frame.assign(race=frame["race"].where(frame["race"] != "c", None))
    two = audited(lost[lost["race"].notna()], "race")
    pd.testing.assert_series_equal(audited(lost, "race").group_max(), two.group_max())
    with pytest.raises(InputError, match="between_groups"):
        both.difference("between")  # type: ignore[arg-type]


def test_skops_takes_an_audit_unchanged() -> None:
    card = pytest.importorskip("skops.card")
    from sklearn.linear_model import LogisticRegression

    frame = people()
    page = card.Card(LogisticRegression(), template=None)
    page.add_fairlearn_metric_frame(audited(frame, "sex"), table_name="Gaps")
    again = card.Card(LogisticRegression(), template=None)
    again.add_fairlearn_metric_frame(metric_frame(frame, "sex"), table_name="Gaps")

    def cells(text: str) -> list[list[float]]:
        rows = [line.split("|")[1:-1] for line in text.splitlines() if line.startswith("|")]
        order = np.argsort([cell.strip() for cell in rows[0]])
        return [[float(row[k]) for k in order] for row in rows[2:]]

    found = cells(page.render())
    assert len(found) == 4
    np.testing.assert_allclose(found, cells(again.render()), rtol=1e-5)


def test_the_model_index_is_read_back() -> None:
    yaml = pytest.importorskip("yaml")
    result = audited(people(), "sex", "race", privileged={"sex": "M"})
    name, data = 'A "model": v1\n# no', "rows: 2026"
    text = result.to_model_card(model=name, dataset=data)
    _, front, body = text.split("---\n", 2)
    index = yaml.safe_load(front)
    (model,) = index["model-index"]
    (run,) = model["results"]
    assert (model["name"], run["dataset"]["name"]) == (name, data)
    assert run["task"]["type"] == index["tags"][0] == "tabular-classification"
    listed = {(m["type"], m["name"]): m["value"] for m in run["metrics"]}
    accuracy = next(f for f in result.metrics if f.name == "accuracy")
    assert listed["accuracy", accuracy.label] == pytest.approx(accuracy.value, abs=1e-6)
    gap = next(f for f in result.metrics if f.name == "statistical_parity_difference")
    named = f"{gap.label} by sex (unprivileged vs privileged)"
    assert listed["statistical_parity_difference", named] == pytest.approx(gap.value, abs=1e-6)
    assert "\n# no" not in body


HEADINGS = (
    "## Model Details", "## Uses", "### Direct Use", "### Downstream Use", "### Out-of-Scope Use",
    "## Bias, Risks, and Limitations", "### Recommendations",
    "## How to Get Started with the Model", "## Training Details", "### Training Data",
    "## Evaluation", "### Testing Data, Factors & Metrics", "### Results", "#### Summary",
    "## Model Examination", "## Environmental Impact", "## Technical Specifications",
    "## Citation", "## Glossary", "## Model Card Authors", "## Model Card Contact",
)  # fmt: skip


def test_sections_stand_in_the_order_of_hugging_face_and_open_fields_are_marked() -> None:
    text = audited(people(), "sex", privileged="M").to_model_card(
        fields={"Direct Use": "Screening, never the last word."}
    )
    lines = text.splitlines()
    places = [lines.index(heading) for heading in HEADINGS]
    assert places == sorted(places)
    assert text.count(OPEN) == len(FIELDS) - 1 + 1  # one was given, one is a recommendation
    assert "Screening, never the last word." in text
    assert "not a certification" in text
    assert "\nThese gaps lie outside their accepted range:\n\n- TPR" in text or "outside" in text
    with pytest.raises(UnknownName, match="did you mean 'Direct Use'"):
        audited(people(), "sex").to_model_card(fields={"Direct use": "x"})


def test_hostile_names_stay_in_their_cells() -> None:
    frame = people().assign(sex=lambda f: f["sex"].map({"F": "a|b<script>", "M": "[x](y)\n# z"}))
    text = audited(frame, "sex").to_model_card(model="m")
    assert "<script>" not in text
    assert "a\\|b\\<script\\>" in text
    assert "\n# z" not in text
    heads = [line for line in text.splitlines() if line.startswith("| a\\|b")]
    assert all(line.replace("\\|", "").count("|") == 5 for line in heads)


def test_undefined_is_said_and_is_no_number_in_the_index() -> None:
    frame = people(200)
    frame.loc[frame["sex"] == "F", "y"] = 0
    frame["yhat"] = 0
    result = audited(frame, "sex", privileged="M")
    text = result.to_model_card()
    assert "These gaps are undefined here:" in text
    front = text.split("---\n")[1]
    assert "nan" not in front
    undefined = {f.name for f in result.metrics if f.value != f.value}
    assert undefined
    assert not any(f'type: "{name}"' in front for name in undefined)
