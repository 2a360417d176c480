"""Every group beside the best and the reference, by hand and by printed tables."""

import numpy as np
import pandas as pd
import pytest

from isonomy.audit.ratios import ratio_tables
from isonomy.audit.stratified import stratified_table
from isonomy.metrics import Counts
from isonomy.stats import fisher_exact, koopman_interval

FOUR_FIFTHS = (0.8, 1.25)


def table(groups: dict[str, tuple[int, int]], reference: str | None = None) -> pd.DataFrame:
    n = np.array([[[rows - hits, 0], [0, hits]] for rows, hits in groups.values()], dtype=float)
    given = {"g": (reference,)} if reference else {}
    counts = Counts(n, ("g",), tuple((g,) for g in groups), (0, 1), (1,), given)
    return ratio_tables([("g", counts)], FOUR_FIFTHS, 0.95)


# The examples of 6 RCNY 5-300 ff.: applicants, selected, and the printed rate and ratio
SEX = {"Male": (1390, 667, 48, 1.00), "Female": (1181, 555, 47, 0.979)}
RACE = {
    "Hispanic or Latino": (408, 204, 50, 0.97),
    "White": (797, 412, 52, 1.00),
    "Black or African American": (390, 170, 44, 0.84),
    "Native Hawaiian or Pacific Islander": (119, 52, 44, 0.85),
    "Asian": (616, 302, 49, 0.95),
    "Native American or Alaska Native": (41, 18, 44, 0.85),
    "Two or More Races": (213, 96, 45, 0.87),
}
BOTH = {
    "Hispanic M": (205, 90, 43.9, 0.841),
    "Hispanic F": (190, 82, 43.2, 0.827),
    "White M": (412, 215, 52.2, 1.000),
    "Black M": (226, 95, 42.0, 0.806),
    "NHPI M": (87, 37, 42.5, 0.815),
    "Asian M": (321, 167, 52.0, 0.997),
    "Native M": (24, 11, 45.8, 0.878),
    "Two M": (115, 52, 45.2, 0.866),
    "White F": (385, 197, 51.2, 0.981),
    "Black F": (164, 75, 45.7, 0.876),
    "NHPI F": (32, 15, 46.9, 0.898),
    "Asian F": (295, 135, 45.8, 0.877),
    "Native F": (17, 7, 41.2, 0.789),
    "Two F": (98, 44, 44.9, 0.860),
}


@pytest.mark.parametrize("printed", [SEX, RACE, BOTH], ids=["sex", "race", "intersections"])
def test_the_rules_own_examples_to_the_printed_digit(
    printed: dict[str, tuple[int, int, float, float]],
) -> None:
    found = table({g: row[:2] for g, row in printed.items()}).set_index("group")
    for group, (rows, selected, rate, ratio) in printed.items():
        row = found.loc[group]
        assert (row["rows"], row["selected"]) == (rows, selected)
        assert round(100 * row["rate"], len(str(rate).partition(".")[2])) == rate
        digits = 3 if printed is BOTH or group == "Female" else 2
        assert round(row["ratio"], digits) == ratio


def test_numbers_of_a_pair_by_hand() -> None:
    found = table({"Black": (80, 24), "White": (100, 48)}, reference="White")
    black = found[(found["group"] == "Black") & (found["against"] == "reference")].iloc[0]
    assert black["ratio"] == pytest.approx(0.3 / 0.48)
    assert black["shortfall"] == pytest.approx(80 * 0.48 - 24)
    assert black["shortfall_combined"] == pytest.approx(80 * 72 / 180 - 24)
    assert black["to_threshold"] == 7  # 31 of 80 are more than 0.8 of 48 %
    assert black["z"] == pytest.approx(-8 / np.sqrt(80 * 100 * 72 * 108 / (180**2 * 179)))
    assert black["odds_ratio"] == pytest.approx(24 * 52 / (56 * 48))
    assert black["fisher_mid_p"] == pytest.approx(fisher_exact(24, 80, 48, 100, mid=True))
    pair = koopman_interval(24, 80, 48, 100)
    assert (black["koopman_low"], black["koopman_high"]) == pytest.approx(pair)
    assert (black["two_more_ratio"], black["two_more_significance"]) == ("stays", "stays")
    white = found[(found["group"] == "White") & (found["against"] == "reference")].iloc[0]
    assert white["ratio"] == 1
    assert np.isnan(white["z"])
    assert white["verdict"] is None


def test_the_best_is_judged_by_limits_that_know_it_was_chosen() -> None:
    """Ten groups of one rate: the pair's interval is nearer to the ratio than that of all."""
    rng = np.random.default_rng(0)
    found = table({f"g{k}": (300, int(rng.binomial(300, 0.5))) for k in range(10)})
    others = found[found["ratio"] < 1]
    assert (others["high"] > others["koopman_high"].clip(upper=1) - 1e-9).all()
    assert (others["high"] <= 1).all()
    assert (others["low"] < others["koopman_low"]).all()
    assert not (found["verdict"] == "violated").any()
    alike = found.loc[found["ratio"].idxmax()]
    assert alike["low"] < 1  # nor is the one that looks best sure to be it
    assert alike["high"] == 1


def test_few_rows_and_unknown_groups_are_listed_and_not_compared() -> None:
    found = table({"a": (100, 60), "b": (100, 20), "few": (5, 5), "(missing)": (50, 50)}).set_index(
        "group"
    )
    assert found["other"].unique().tolist() == ["a"]
    assert found.loc["b", "verdict"] == "violated"
    assert found.loc["few", "verdict"] == "insufficient evidence"
    assert "5 rows" in found.loc["few", "reason"]
    assert found.loc["(missing)", "verdict"] is None
    assert np.isnan(found.loc["(missing)", "ratio"])
    assert found.loc["(missing)", "rate"] == 1


def test_nobody_selected_is_undefined_and_not_fair() -> None:
    found = table({"a": (100, 0), "b": (100, 0)})
    assert set(found["verdict"]) == {"insufficient evidence"} | {
        v for v in found["verdict"] if v == "undefined"
    }
    assert np.isnan(found["z"]).all()


def test_strata_are_compared_with_the_reference() -> None:
    cells = {
        ("w", "x"): (100, 80),
        ("w", "y"): (400, 40),
        ("m", "x"): (400, 280),
        ("m", "y"): (100, 5),
    }
    n = np.array([[[r - h, 0], [0, h]] for r, h in cells.values()], dtype=float)
    counts = Counts(n, ("sex", "job"), tuple(cells), (0, 1), (1,), {"sex": ("m",)})
    (row,) = stratified_table(counts, "sex", ["job"], 0.95).to_dict("records")
    assert (row["group"], row["other"], row["strata_used"]) == ("w", "m", 2)
    assert row["ratio"] == pytest.approx(0.24 / 0.57)
    assert row["ratio_within"] == pytest.approx(72 / 60)
    assert row["reason"] is None


@pytest.mark.parametrize("rows", [100, 200, 300])
def test_four_fifths_exactly_is_no_flag(rows: int) -> None:
    """36 % / 45 % is below 0.8 in floating point, and four fifths in the world."""
    row = (
        table({"a": (rows, 36 * rows // 100), "b": (rows, 45 * rows // 100)})
        .set_index("group")
        .loc["a"]
    )
    assert (row["ratio"], row["two_more_ratio"], row["to_threshold"]) == (0.8, "no flag", 0.0)
