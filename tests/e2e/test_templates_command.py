"""``isonomy templates`` and ``isonomy audit FILE --template NAME``, as a person meets them."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.e2e.command import isonomy

TEMPLATES = ("ll144", "four_fifths", "lending", "eu_ai_act")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "gender": rng.choice(["F", "M", ""], 900, p=[0.45, 0.45, 0.1]),
            "race": rng.choice(["White", "Black", "Asian", "Hispanic", "Other"], 900),
            "team": rng.choice(["x", "y"], 900),
            "score": rng.random(900).round(3),
        }
    )
    frame["hired"] = (frame["score"] > 0.6).astype(int)
    frame["good"] = (frame["score"] + rng.normal(0, 0.3, 900) > 0.5).astype(int)
    frame.to_csv(tmp_path / "people.csv", index=False)
    return tmp_path / "people.csv"


LL144 = ("--template", "ll144", "--prediction", "hired", "--sensitive", "gender,race", "--category", "race.Other=Unknown")  # fmt: skip
CALLS = {
    "ll144": (*LL144, "--score", "score", "--field", "tool=Sieve, 2.1"),
    "four_fifths": ("--template", "four-fifths", "--prediction", "hired", "--sensitive", "gender,race", "--strata", "team"),
    "lending": ("--template", "lending", "--prediction", "hired", "--score", "score", "--label", "good", "--sensitive", "race", "--privileged", "race=White"),
    "eu_ai_act": ("--template", "eu-ai-act", "--prediction", "hired", "--label", "good", "--sensitive", "gender", "--privileged", "gender=M", "--resamples", "200"),
}  # fmt: skip


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_form_on_the_screen_in_json_and_on_a_page(file: Path, name: str) -> None:
    done = isonomy("audit", str(file), *CALLS[name], "--json", "out.json", "--report", "out.html", "--report", "out.md", cwd=file.parent)  # fmt: skip
    assert done.returncode == 0, done.stderr
    words = " ".join(done.stdout.split())
    assert "not legal advice" in words
    assert "to be filled in" in words
    data = json.loads((file.parent / "out.json").read_text())
    assert data["kind"] == name
    assert data["headline"] in words
    assert any(f["open"] for f in data["fields"])
    page = (file.parent / "out.html").read_text()
    assert "not legal advice" in page
    assert "to be filled in by a person" in page
    assert f"isonomy audit {file}" in page
    assert "not legal advice" in (file.parent / "out.md").read_text()


def test_the_law_is_followed_on_the_screen(file: Path) -> None:
    words = " ".join(isonomy("audit", str(file), *LL144).stdout.split())
    frame = pd.read_csv(file)
    unknown = (frame["gender"].isna() | frame["race"].eq("Other")).sum()
    assert (
        f"Note: The AEDT was also used to assess {unknown} individuals with an unknown sex or "
        f"race/ethnicity category. Data on those individuals was not included in the calculations above."
    ) in words
    assert "sets no threshold" in words


def test_templates_are_listed_and_explained() -> None:
    listed = isonomy("templates").stdout
    assert all(name in listed for name in TEMPLATES)
    assert "audit_date" in isonomy("templates", "ll144").stdout
    data = json.loads(isonomy("templates", "lending", "--json", "-").stdout)
    assert data["templates"][0]["name"] == "lending"
    assert isonomy("templates", "lending", "--quiet").stdout == ""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--template", "ll145"), "There is no template 'll145'; did you mean 'll144'?"),
        (("--field", "a=b"), "--field and --category are for a template"),
        ((*LL144, "--strata", "team"), "--strata is not used by the template ll144; leave it out"),
        ((*LL144, "--field", "tool"), "--field must be NAME=TEXT; got 'tool'"),
        ((*LL144, "--field", "audit_date=2999-01-01"), "must not lie in the future"),
        ((*LL144, "--threshold", "difference=0.1"), "--threshold must be ratio=NUMBER here"),
        (LL144[:-2], "--category race.Other=CATEGORY"),
        (LL144[:4], "needs a column of sex (--sensitive sex=COLUMN) and a column of race"),
        (("--template", "ll144", "--sensitive", "gender,race"), "outcomes or of scores must be named"),
        (("--template", "lending", "--sensitive", "race", "--prediction", "hired"), "needs the group to compare with"),
        (("--template", "eu_ai_act", "--sensitive", "race"), "The record is filled from an audit; name"),
    ],
)  # fmt: skip
def test_bad_input_is_one_sentence(file: Path, arguments: tuple[str, ...], words: str) -> None:
    done = isonomy("audit", str(file), *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
