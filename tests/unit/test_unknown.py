"""Words for unknown are no group, in any language; codes that may mean it are asked about."""

import numpy as np
import pandas as pd
import pytest

from isonomy import audit
from isonomy._unknown import is_unknown, may_be_unknown
from isonomy.data import own_dataset, unknown_notes
from isonomy.mitigators import Reweighing


@pytest.mark.parametrize(
    "word",
    [
        "unbekannt", "Keine Angabe", "k.A.", "weiß nicht", "Inconnu", "non renseigné",
        "desconocido", "NO ESPECIFICADO", "ns/nc", "não informado", "sconosciuto", "onbekend",
        "okänd", "nieznane", "Neuvedeno", "неизвестно", "άγνωστος", "不明", "未知",
        "not_stated", "[unknown]", "prefer not to answer", "Don’t know", ".", "non renseigne\u0301",
    ],
)  # fmt: skip
def test_words_say_that_a_group_is_not_known(word: str) -> None:
    assert is_unknown(word)
    y = np.array([0, 1] * 60)
    sex = np.array(["f", "f", "m", "m", word, word] * 20, dtype=object)
    found = audit(y, y, sensitive_features={"sex": sex}, resamples=100)
    assert any("no known sex" in note for note in found.notes)
    people = pd.DataFrame({"sex": sex, "pay": range(120), "y": y})
    data, _ = own_dataset(people, label="y", sensitive_features=["sex"])
    assert data.known("sex").sum() == 80
    assert unknown_notes(data, ["sex"]) == ["40 rows without sex are left out."]
    model = Reweighing(privileged="m", missing="drop")
    assert model.fit(people[["pay"]], y, sensitive_features=sex).groups_ == ["f", "m"]


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        (["F", "M", "UNK"], ["UNK"]),
        (["EU", "NA", "AS"], ["NA"]),
        (["1", "2", "9"], ["9"]),
        ([1.0, 2.0, 99.0], [99.0]),
        ([0, 1, -1, -9], [-9, -1]),
        ([10**400, 3, -(10**400)], [-(10**400)]),
        ([-1, 1], []),
        ([0, 9], []),
        ([7, 8, 9], []),
        (["F", "M", "X"], []),
        ([True, False], []),
        (["under 9", "9 and over"], []),
    ],
)
def test_codes_are_asked_about_and_stay_groups(values: list[object], codes: list[object]) -> None:
    assert may_be_unknown(values) == codes
    y = np.array([0, 1] * 20 * len(values))
    column = np.empty(len(y), dtype=object)
    column[:] = [value for value in values for _ in range(40)]
    found = audit(y, y, sensitive_features={"code": column}, resamples=100)
    asked = [note for note in found.notes if "that is not known" in note]
    assert len(asked) == bool(codes)
    compared = {rate.group for rate in found.groups if rate.attribute == "code"}
    assert {str(code) for code in codes} <= compared


def test_a_benchmark_asks_about_codes_too() -> None:
    people = pd.DataFrame({"sex": [1, 2, 9] * 40, "pay": range(120), "y": [0, 1] * 60})
    data, _ = own_dataset(people, label="y", sensitive_features=["sex"])
    (note,) = unknown_notes(data, ["sex"])
    assert note.startswith("9 of sex may be a code for a value that is not known")
