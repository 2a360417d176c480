"""Lending: ratios against a named reference, standardized differences, cut-offs."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.stats.contingency import relative_risk

from isonomy.errors import InputError
from isonomy.templates import Document, fill_lending


def loans(rows: int = 600, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    race = rng.choice(["White", "Black", "Asian"], rows, p=[0.6, 0.25, 0.15])
    credit = rng.choice(["good", "bad"], rows)
    score = rng.normal(size=rows) - 0.4 * (race == "Black") + (credit == "good")
    repaid = (score + rng.normal(size=rows) > 0).astype(int)
    return pd.DataFrame(
        {"race": race, "credit": credit, "score": score, "repaid": repaid,
         "approved": (score > 0.3).astype(int)}
    )  # fmt: skip


def fill(frame: pd.DataFrame, **options) -> Document:
    return fill_lending(frame, **{"sensitive_features": "race", "reference": "White", **options})


def test_ratios_are_against_the_reference_and_not_the_highest() -> None:
    frame = pd.DataFrame(
        {"race": ["White"] * 10 + ["Asian"] * 10 + ["Black"] * 10,
         "approved": [1] * 5 + [0] * 5 + [1] * 8 + [0] * 2 + [1] * 4 + [0] * 6}
    )  # fmt: skip
    found = fill(frame, prediction="approved").frames["race"].set_index("group")
    assert found["ratio"].to_dict() == {"Asian": 1.6, "Black": 0.8, "White": 1.0}
    assert found["gap"].round(9).to_dict() == {"Asian": -0.3, "Black": 0.1, "White": 0.0}
    risk = relative_risk(4, 10, 5, 10)
    assert found["ratio"]["Black"] == pytest.approx(risk.relative_risk)


def test_standardized_differences_against_numpy_and_scipy() -> None:
    frame = loans()
    found = fill(frame, score="score").frames["race: score"].set_index("group")
    by = {g: frame.loc[frame["race"] == g, "score"] for g in ("White", "Black", "Asian")}
    for g in ("Black", "Asian"):
        expected = (by[g].mean() - by["White"].mean()) / frame["score"].std()
        assert found["smd"][g] == pytest.approx(expected)
        welch = stats.ttest_ind(by[g], by["White"], equal_var=False)
        assert found["p"][g] == pytest.approx(welch.pvalue)
    assert found["smd"]["White"] == 0
    assert np.isnan(found["p"]["White"])


def sides(document: Document) -> dict[str, str]:
    return {row[0]: row[-1] for row in document.sections[0].tables[0].rows}


def test_a_low_score_and_a_high_price_are_adverse() -> None:
    frame = loans()
    assert sides(fill(frame, score="score"))["Black"] == "adverse"
    price = {"score_means": "price"}
    assert sides(fill(frame, score="score", fields=price))["Black"] == "favorable"
    dear = frame.assign(score=-frame["score"])
    assert sides(fill(dear, score="score", fields=price))["Black"] == "adverse"
    assert sides(fill(frame, score="score"))["White"] == ""
    assert sides(fill(loans(40, 3), score="score"))["Black"].endswith("not significant")


@pytest.mark.parametrize("price", [False, True])
def test_the_ratio_by_cut_off(price: bool) -> None:
    frame = loans()
    fields = {"score_means": "price"} if price else None
    found = fill(frame, score="score", fields=fields).frames["race: cut-offs"]
    for row in found.to_dict("records"):
        best_first = np.sort(frame["score"])[:: 1 if price else -1]
        assert row["cut"] == pytest.approx(best_first[round(row["share"] * len(frame)) - 1])
        best = frame["score"] <= row["cut"] if price else frame["score"] >= row["cut"]
        share = best.groupby(frame["race"]).mean()
        assert row["Black"] == pytest.approx(share["Black"] / share["White"])
    assert found["share"].tolist()[-1] == 1.0
    assert found["Black"].tolist()[-1] == 1.0


def test_residuals_where_there_is_a_label() -> None:
    frame = loans()
    found = fill(frame, score="score", label="repaid").frames["race: score less label"].set_index("group")  # fmt: skip
    less = frame["score"] - frame["repaid"]
    means = less.groupby(frame["race"]).mean()
    assert found["smd"]["Asian"] == pytest.approx((means["Asian"] - means["White"]) / less.std())


def test_strata_and_several_attributes() -> None:
    frame = loans().assign(sex=np.random.default_rng(0).choice(["m", "f"], 600))
    document = fill(
        frame,
        sensitive_features=["race", "sex"],
        reference={"race": "White", "sex": "m"},
        prediction="approved",
        strata="credit",
    )
    assert [s.heading for s in document.sections[:2]] == ["Decisions by race", "Decisions by sex"]
    assert document.sections[0].tables[-1].caption == "Within credit: against White"


def test_files_give_what_the_frame_gives(tmp_path) -> None:
    frame = loans()
    frame.to_parquet(tmp_path / "loans.parquet")
    options = {"prediction": "approved", "score": "score", "label": "repaid", "strata": "credit"}
    here, there = fill(frame, **options), fill(tmp_path / "loans.parquet", **options)
    for name, table in here.frames.items():
        pd.testing.assert_frame_equal(table, there.frames[name])


def test_headlines() -> None:
    frame = loans()
    assert "race: Black against White" in fill(frame, prediction="approved").headline
    assert fill(frame, score="score").headline.startswith("The largest standardized mean difference is -0.")  # fmt: skip
    nobody = fill(frame.assign(approved=frame.index == 0, race=frame["race"].where(frame.index > 0, "unknown")), prediction="approved")  # fmt: skip
    assert "nobody was approved" in nobody.headline


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "decisions or of scores must be named"),
        ({"prediction": "approved", "label": "repaid"}, "name one too: score="),
        ({"prediction": "approved", "reference": "Green"}, "There is no value of race 'Green'"),
        ({"prediction": "approved", "reference": ["White", "Asian"]}, "must be one group"),
        ({"prediction": "approved", "reference": {"sex": "m"}}, "There is no attribute 'sex'"),
        ({"prediction": "approved", "reference": {}}, "not for 'race': pass reference= (--privileged race=VALUE)"),
        ({"score": "credit"}, "'credit' holds text"),
        ({"score": "score", "fields": {"score_means": "prize"}}, "did you mean 'price'"),
        ({"prediction": "approved", "sensitive_features": ["race", "credit"]}, "for each attribute"),
    ],
)  # fmt: skip
def test_bad_input_is_one_sentence(options, words: str) -> None:
    with pytest.raises(InputError) as caught:
        fill(loans(), **options)
    assert words in str(caught.value)


def test_infinite_scores_are_refused() -> None:
    frame = loans()
    frame.loc[0, "score"] = np.inf
    with pytest.raises(InputError, match="1 of 'score' are missing or infinite"):
        fill(frame, score="score")
