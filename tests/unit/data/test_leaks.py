"""Columns that give a label or a group away."""

import numpy as np
import pandas as pd

from isonomy.data.leaks import proxy_notes, telling_columns

RNG = np.random.default_rng(3)
N = 1200
Y = RNG.uniform(size=N) < 0.15


def test_what_tells_is_found_whatever_its_form() -> None:
    amount = np.where(Y, RNG.uniform(1, 9, N), 0.0)
    table = pd.DataFrame(
        {
            "flag": Y,
            "code": np.where(Y, 3, 1),
            "word": np.where(Y, "refused", RNG.choice(["granted", "granted later"], N)),
            "amount": amount,
            "when": np.where(Y, amount, np.nan),
            "between": np.where(Y, RNG.uniform(2, 3, N), RNG.choice([1.0, 4.0], N)),
            "nearly": Y ^ (np.arange(N) % 300 == 0),
        }
    )
    assert set(telling_columns(table, Y)) == set(table.columns)


def test_what_does_not_tell_is_left_alone() -> None:
    table = pd.DataFrame(
        {
            "identifier": RNG.permutation(N),
            "name": [f"person {k}" for k in range(N)],
            "constant": 1,
            "empty": np.nan,
            "noise": RNG.normal(size=N),
            "good": Y + RNG.normal(0, 0.4, N),  # right for 90 % of the rows
            "lists": [[1]] * N,
        }
    )
    assert telling_columns(table, Y) == {}
    # 99 % alike: always guessing is as good
    assert telling_columns(pd.DataFrame({"x": RNG.normal(size=N)}), np.arange(N) % 100 == 0) == {}


def test_proxies_of_several_groups() -> None:
    race = RNG.choice(["a", "b", "c"], N)
    town = pd.Series(race).map({"a": "north", "b": "south", "c": "west"})
    table = pd.DataFrame({"race": race, "town": town, "race_a": race == "a"})
    (note,) = proxy_notes(table, ["race"])  # race_a tells a part only
    assert note.startswith("town alone predicts race for 100%")


def test_attributes_that_a_table_does_not_hold_have_no_proxies_in_it() -> None:
    table = pd.DataFrame({"sex": ["f", "m"] * 50, "title": ["Ms", "Mr"] * 50})
    assert len(proxy_notes(table, ["sex", "race"])) == 1
