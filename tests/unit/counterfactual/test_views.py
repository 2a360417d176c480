"""What is said of one attribute holds for its combinations with another, too."""

import pandas as pd

from isonomy.counterfactual.views import _combinations, _rules_by_attribute


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
