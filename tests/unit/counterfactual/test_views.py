"""What is said of one attribute holds for its combinations with another, too."""

from pathlib import Path

import pandas as pd

from isonomy.counterfactual.views import _combinations, _rules_by_attribute, model_table


def test_groups_and_companions_of_combinations() -> None:
    table = pd.DataFrame(
        {"sex": ["f", "m", "f", "m", None], "race": [1, 1, 2, 3, 1], "role": list("whwhw")}
    )
    view = ["sex", "race"]
    companions = {"role": {"m": {"w": "h"}, "f": {"h": "w"}}}
    beside = _rules_by_attribute(companions, view, table)
    groups, rules = _combinations(view, table, {"race": ["1", "2"]}, beside)
    assert groups == [("f", 1), ("m", 1), ("f", 2)]
    assert rules == {
        "role": {("f", 1): {"h": "w"}, ("m", 1): {"w": "h"}, ("f", 2): {"h": "w"}}
    }  # fmt: skip
    every, none = _combinations(view, table, {}, {"sex": {}, "race": {}})
    assert every is None
    assert none == {}


def test_the_column_of_a_label_that_is_cut_is_not_asked_about(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("sex,age,wage\nf,30,10\nm,40,20\n")
    table, _, _ = model_table(str(file), object(), ["sex"], label="wage>15")
    assert list(table.columns) == ["sex", "age"]
