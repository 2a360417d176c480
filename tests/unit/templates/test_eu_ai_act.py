"""The record for the EU AI Act: what an audit fills, and what stays open."""

import hashlib
from datetime import date

import numpy as np
import pandas as pd
import pytest

from isonomy import __version__
from isonomy.audit import audit_file, audit_selections
from isonomy.errors import InputError
from isonomy.templates import TEMPLATES, Document, fill_eu_ai_act


@pytest.fixture
def rows() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    sex = rng.choice(["F", "M"], 800)
    y = rng.integers(0, 2, 800)
    p = np.where(rng.random(800) < 0.8, y, 1 - y)
    return pd.DataFrame({"sex": sex, "y": y, "p": np.where((sex == "F") & (rng.random(800) < 0.4), 0, p)})  # fmt: skip


OPTIONS = {"label": "y", "prediction": "p", "sensitive_features": "sex", "privileged": "M", "resamples": 200}  # fmt: skip


def text_of(document: Document) -> str:
    return str(list(document.to_dict()["sections"]))


def test_what_the_audit_says_is_in_the_record(rows: pd.DataFrame, tmp_path) -> None:
    path = tmp_path / "rows.csv"
    rows.to_csv(path, index=False)
    document = fill_eu_ai_act(path, **OPTIONS, today=date(2026, 11, 18))
    found = audit_file(path, **OPTIONS)
    words = text_of(document)
    gaps = document.sections[2].tables[0].rows
    assert [row[3].value for row in gaps] == [
        pytest.approx(f.value) for f in found.metrics if f.attribute
    ]
    assert "violated" in {row[-1] for row in gaps}
    assert hashlib.sha256(path.read_bytes()).hexdigest() in words
    for said in ("2026-11-18", f"Isonomy {__version__}", "800 rows", "Article 10(2)(f)", "Annex IV 2(g)"):  # fmt: skip
        assert said in words
    assert document.headline.startswith(f"{len(found.violated())} of {len(found.judged())} judged")
    pd.testing.assert_frame_equal(document.frames["findings"], found.frame())


def test_a_frame_and_a_made_audit_give_the_same(rows: pd.DataFrame, tmp_path) -> None:
    path = tmp_path / "rows.parquet"
    rows.to_parquet(path)
    whole = fill_eu_ai_act(rows, **OPTIONS)
    made = fill_eu_ai_act(audit_file(path, **OPTIONS))
    assert whole.sections[1:] == made.sections[1:]


def test_what_only_people_know_stays_open(rows: pd.DataFrame) -> None:
    document = fill_eu_ai_act(rows, **OPTIONS, fields={"signed_by": "A. Smith"})
    names = {f.name for f in document.open_fields}
    assert names == {f.name for f in TEMPLATES["eu-ai-act"].fields} - {"signed_by"}
    assert "not a certification" in document.disclaimer


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"prediction": None}, "name prediction="),
        ({"bins": {"sex": [1]}}, "sex"),
        ({"prediction": "q"}, "There is no column 'q'"),
        ({"fields": {"test_date": "2999-01-01"}}, "must not lie in the future"),
    ],
)
def test_bad_input_is_one_sentence(rows: pd.DataFrame, options, words: str) -> None:
    with pytest.raises(InputError, match=words):
        fill_eu_ai_act(rows, **OPTIONS | options)


def test_without_labels_it_says_what_it_cannot_fill(rows: pd.DataFrame, tmp_path) -> None:
    rows.drop(columns="y").to_csv(tmp_path / "rows.csv", index=False)
    options = {"prediction": "p", "sensitive_features": "sex", "privileged": "M", "resamples": 200}
    document = fill_eu_ai_act(tmp_path / "rows.csv", **options)
    made = audit_selections(
        rows["p"], sensitive_features=rows[["sex"]], reference="M", resamples=200
    )
    again = fill_eu_ai_act(made)
    assert document.sections[1:] == again.sections[1:]
    words = text_of(document)
    assert "accuracy and robustness cannot be computed" in words
    assert "rates of errors by group cannot be given" in words
    assert "accuracy" in {f.name for f in document.open_fields}
    ratios = document.sections[2].tables[-1].rows
    assert [row[-1] for row in ratios] == [v or "" for v in made.ratios["verdict"]]
    filled = fill_eu_ai_act(made, fields={"accuracy": "AUC 0.81 on the labelled sample of 2025"})
    assert "accuracy" not in {f.name for f in filled.open_fields}
