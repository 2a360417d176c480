"""The pages in order, as a browser without scripts meets them."""

import json
import re
import time
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from isonomy.app import Limits, make_app, read_token
from isonomy.audit import audit_file
from isonomy.errors import InputError
from tests.e2e.command import isonomy
from tests.unit.app.conftest import audited, bring, fields_of, post, secret


def words(text: str) -> str:
    """Return what a page says, in one line."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", text))


def shown_command(text: str) -> str:
    """Return the command line that a page shows."""
    import html

    found = re.search(r'<details class="same".*?<code>(.*?)</code>', text, re.DOTALL)
    assert found is not None
    return html.unescape(found[1])


# ---------------------------------------------------------------------- bring, map, audit


def test_from_a_file_to_its_audit_and_all_its_files(client: Any, people: pd.DataFrame) -> None:
    run = audited(client, people)
    page = client.get(f"{run}/audit")
    assert "Audit of people.csv" in page.text
    assert "Groups are treated differently beyond the accepted limits" in page.text
    for ending in ("html", "json", "md", "policy"):
        answer = client.get(f"{run}/audit/file.{ending}")
        assert answer.status_code == 200
        assert answer.headers["content-disposition"].startswith("attachment; ")
    assert client.get(f"{run}/audit/file.exe").status_code == 404
    page = client.get(f"{run}/audit/file.json").json()
    assert page["schema"] == "isonomy.report/1"
    assert "people.csv" in words(client.get("/").text)


def test_the_page_says_what_the_call_finds(
    client: Any, people: pd.DataFrame, tmp_path: Path
) -> None:
    run = audited(client, people)
    people.to_csv(tmp_path / "people.csv", index=False)
    found = audit_file(
        tmp_path / "people.csv", label="hired", prediction="y_pred", favorable=["1"],
        sensitive_features=["sex", "age"], bins={"age": [32, 50, 64]},
    )  # fmt: skip
    held = json.loads((tmp_path / "runs" / run.split("/")[-1] / "audit.json").read_text())
    for mine, theirs in zip(held["metrics"], found.frame().to_dict("records"), strict=True):
        assert mine["name"] == theirs["name"]
        assert mine["value"] == pytest.approx(theirs["value"], nan_ok=True)
        assert mine["low"] == pytest.approx(theirs["low"], nan_ok=True)


@pytest.mark.parametrize("name", ["people.csv", "people.tsv", "people.parquet"])
def test_the_command_that_is_shown_does_the_same(
    client: Any, people: pd.DataFrame, tmp_path: Path, name: str
) -> None:
    file = tmp_path / name
    if name.endswith("parquet"):
        people.to_parquet(file)
    else:
        people.to_csv(file, index=False, sep="\t" if name.endswith("tsv") else ",")
    run = audited(client, file.read_bytes(), name)
    import shlex

    command = shlex.split(shown_command(client.get(f"{run}/audit").text))
    done = isonomy(*command[1:], "--json", "audit.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    ours = json.loads((tmp_path / "runs" / run.split("/")[-1] / "audit.json").read_text())
    theirs = json.loads((tmp_path / "audit.json").read_text())
    for key in ("metrics", "groups", "comparisons", "counts"):
        assert ours[key] == theirs[key]


def test_the_policy_passes_by_the_command(
    client: Any, people: pd.DataFrame, tmp_path: Path
) -> None:
    run = audited(client, people)
    people.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "isonomy.toml").write_bytes(client.get(f"{run}/audit/file.policy").content)
    assert tomllib.loads((tmp_path / "isonomy.toml").read_text())["data"]["file"] == "people.csv"
    done = isonomy("check", "--policy", "isonomy.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


HOSTILE = {
    "<script>window.broken=1</script>": "a",
    "sex, 'gender\" (self)": "b",
    "'; DROP TABLE people; --": "c",
    "{{ 7 * 7 }}": "d",
    "a>b": "e",
    "\u202eright to left": "f",
    "x" * 250: "g",
    "[bold]=y": "h",
}


def test_hostile_names_are_words_everywhere(
    client: Any, people: pd.DataFrame, tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    groups = ["<img src=x onerror=alert(1)>", "White, not Hispanic", "b"]
    table = people.assign(**{name: rng.choice(groups, len(people)) for name in HOSTILE})
    table = table.drop(columns=["sex", "age"])
    name = '<b>x</b>"; filename=evil.exe\r\n.csv'
    answer = bring(client, table, name)
    run = answer.headers["location"].removesuffix("/columns")
    page = client.get(f"{run}/columns")
    sent = fields_of(page.text)
    for k, column in enumerate(table.columns):
        sent[f"role-{k}"] = "sensitive" if column in HOSTILE else sent[f"role-{k}"]
    assert client.post(f"{run}/columns", data=sent).status_code == 303
    groups_page = client.get(f"{run}/groups")
    assert client.post(f"{run}/groups", data=fields_of(groups_page.text)).status_code == 303
    shown = client.get(f"{run}/audit")
    for text in (page.text, groups_page.text, shown.text, client.get("/").text):
        assert "<script>window" not in text
        assert "<img src=x" not in text
        assert "<b>x</b>" not in text
        assert "49" not in re.findall(r"\{\{ 7 \* 7 \}\}|\b49\b", "")  # templates are not run
    assert "{{ 7 * 7 }}" in shown.text
    held = client.get(f"{run}/audit/file.html").headers["content-disposition"]
    assert re.fullmatch(r'attachment; filename="[A-Za-z0-9._-]+"', held)


def test_the_command_survives_hostile_names(
    client: Any, people: pd.DataFrame, tmp_path: Path
) -> None:
    import shlex

    column = "sex, self-reported (a=b)"
    table = people.rename(columns={"sex": column})
    table[column] = table[column].map({"F": "White, not Hispanic", "M": "O'Brien"})
    run = audited(client, table, "-people.csv")
    sent = fields_of(client.get(f"{run}/groups").text)
    sent["privileged-0"] = "White, not Hispanic"
    assert client.post(f"{run}/groups", data=sent).status_code == 303
    table.to_csv(tmp_path / "-people.csv", index=False)
    command = shlex.split(shown_command(client.get(f"{run}/audit").text))
    done = isonomy(*command[1:], "--json", "audit.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    theirs = json.loads((tmp_path / "audit.json").read_text())
    ours = json.loads((tmp_path / "runs" / run.split("/")[-1] / "audit.json").read_text())
    assert ours["metrics"] == theirs["metrics"]
    assert ours["privileged"] == theirs["privileged"] == {column: ["White, not Hispanic"]}


def test_three_hundred_columns(client: Any, people: pd.DataFrame) -> None:
    more = pd.DataFrame({f"x{k}": np.arange(len(people)) % (k + 2) for k in range(294)})
    run = audited(client, pd.concat([people, more], axis=1))
    assert client.get(f"{run}/columns").text.count("<select") == 300


def test_outcomes_alone_are_audited_as_decisions(client: Any, people: pd.DataFrame) -> None:
    run = audited(client, people.drop(columns="y_pred"))
    assert "Selections in people.csv" in client.get(f"{run}/audit").text
    assert "--prediction hired" in shown_command(client.get(f"{run}/audit").text)
    assert client.get(f"{run}/audit/file.policy").status_code == 200


def test_a_score_is_cut_where_one_says(client: Any, people: pd.DataFrame) -> None:
    score = 1 / (1 + np.exp(-people["merit"]))
    run = audited(client, people.drop(columns="y_pred").assign(probability=score))
    sent = fields_of(client.get(f"{run}/groups").text) | {"cut": "0.7"}
    assert client.post(f"{run}/groups", data=sent).status_code == 303
    shown = shown_command(client.get(f"{run}/audit").text)
    assert "--prediction 'probability>=0.7' --score probability" in shown


def test_a_number_as_outcome_is_cut(client: Any, people: pd.DataFrame) -> None:
    wage = (people["merit"] * 1000).rename("wage")
    table = people.drop(columns=["hired", "y_pred"]).assign(wage=wage)
    run = bring(client, table).headers["location"].removesuffix("/columns")
    sent = fields_of(client.get(f"{run}/columns").text)
    sent["role-4"] = "label"
    assert client.post(f"{run}/columns", data=sent).status_code == 303
    sent = fields_of(client.get(f"{run}/groups").text)
    assert sent["cut-number"] != [""]
    sent["cut-number"] = "abc"
    assert "must be a number" in client.post(f"{run}/groups", data=sent).text
    sent["cut-number"], sent["cut-sign"] = "100", "<="
    assert client.post(f"{run}/groups", data=sent).status_code == 303
    assert "--prediction 'wage<=100'" in shown_command(client.get(f"{run}/audit").text)


@pytest.mark.parametrize(
    ("roles", "sentence"),
    [
        (
            {"role-0": "feature", "role-1": "feature"},
            "At least one column must be protected; none is.",
        ),
        ({"role-4": "feature", "role-5": "feature"}, "One column must be the outcome"),
        ({"role-4": "label", "role-5": "label"}, "Only one column can be the outcome"),
    ],
)
def test_wrong_roles_are_said_in_a_sentence(
    client: Any, people: pd.DataFrame, roles: dict[str, str], sentence: str
) -> None:
    run = bring(client, people).headers["location"].removesuffix("/columns")
    sent = fields_of(client.get(f"{run}/columns").text) | roles
    answer = client.post(f"{run}/columns", data=sent)
    assert answer.status_code == 422
    assert sentence in answer.text


def test_wrong_values_are_said_in_a_sentence(client: Any, people: pd.DataFrame) -> None:
    run = audited(client, people)
    sent = fields_of(client.get(f"{run}/groups").text)
    for change, sentence in (
        ({"bins-1": "25,old"}, "The cut points of &#39;age&#39; must be a number"),
        ({"bins-1": "nan"}, "must be a number"),
        ({"privileged-0": "Female"}, "Female"),
        ({"favorable": "maybe"}, "maybe"),
    ):
        answer = client.post(f"{run}/groups", data=sent | change)
        assert answer.status_code == 422
        assert sentence in answer.text
        assert "--" not in words(re.search(r'<p class="problem".*?</p>', answer.text, re.DOTALL)[0])  # type: ignore[index]


# ---------------------------------------------------------------------- files that do not do


@pytest.mark.parametrize(
    ("name", "body", "sentence"),
    [
        ("people.exe", b"MZ", "must end in"),
        ("people.csv.gz", b"\x1f\x8b", "must end in"),
        ("people.xlsx", b"PK", "must end in"),
        ("model.pkl", b"\x80\x04", "must end in"),
        ("people.csv", b"", "is empty"),
        ("people.csv", b"a,b\n", "header only"),
        ("people.csv", b"a,a\n1,2\n", "&#39;a&#39;"),
        ("people.csv", b"a,b\n1\x00,2\n" + b"x" * 500_000, "must"),
        ("people.parquet", b"PAR1 not really", "cannot be read"),
        ("people.csv", b"a\n" + b"1\n" * 20_001, "at most 20,000 rows; this one has 20,001"),
        ("people.csv", b",".join(b"c%d" % k for k in range(321)) + b"\n", "at most 320 columns"),
        ("people.csv", b"a,b\n" + b"1,2\n" * 1_300_000, "at most 5 MB"),
    ],
)
def test_a_wrong_file_is_refused_in_a_sentence_and_leaves_nothing(
    client: Any, tmp_path: Path, name: str, body: bytes, sentence: str
) -> None:
    answer = bring(client, body, name)
    if name == "people.csv" and b"\x00" in body and answer.status_code == 303:
        return  # read as it stands
    assert answer.status_code in {413, 422}
    assert sentence in answer.text
    assert str(tmp_path) not in answer.text
    assert list((tmp_path / "runs").iterdir()) == []


def test_a_huge_file_is_not_read_whole(make: Any) -> None:
    client = make(limits=Limits(megabytes=1))
    answer = bring(client, b"a,b\n" + b"1,2\n" * 2_000_000)
    assert answer.status_code == 413
    assert "at most 1 MB" in answer.text


def test_a_small_file_that_unfolds_to_a_huge_one_is_refused(make: Any, tmp_path: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    def packed(**columns: pa.Array) -> bytes:
        parquet.write_table(pa.table(columns), tmp_path / "packed.parquet", compression="zstd")
        return (tmp_path / "packed.parquet").read_bytes()

    n = 20_000
    group = pa.array(np.arange(n) % 2)
    word = pa.array(np.zeros(n, dtype=np.int32))
    text = pa.DictionaryArray.from_arrays(word, pa.array(["x" * 100_000]))
    numbers = {f"x{k}": word for k in range(300)}
    client = make(limits=Limits(megabytes=1))
    for columns in ({"group": group, "text": text}, {"group": group, **numbers}):
        content = packed(**columns)
        assert len(content) < 200_000
        answer = bring(client, content, "packed.parquet")
        assert answer.status_code == 422
        assert "must unfold to at most 20 MB" in answer.text
    lists = pa.array([[1, 2]] * n)
    answer = bring(client, packed(group=group, basket=lists), "packed.parquet")
    assert answer.status_code == 422
    assert "basket" in answer.text
    assert "hold lists or records" in answer.text
    assert list((tmp_path / "runs").iterdir()) == []
    assert bring(client, packed(group=group), "packed.parquet").status_code == 303


# ---------------------------------------------------------------------- runs


def test_deleting_removes_every_file(client: Any, people: pd.DataFrame, tmp_path: Path) -> None:
    run = audited(client, people)
    assert len(list((tmp_path / "runs").iterdir())) == 1
    assert post(client, f"{run}/delete").status_code == 303
    assert list((tmp_path / "runs").iterdir()) == []
    assert client.get(f"{run}/audit").status_code == 404


@pytest.mark.parametrize("key", ["..", "%2e%2e", "0" * 16, "../../etc", "abc", "A" * 16])
def test_no_other_folder_is_reached(client: Any, key: str) -> None:
    assert client.get(f"/runs/{key}/audit").status_code in {404, 307}
    assert client.get(f"/runs/{key}/columns").status_code in {404, 307}


def test_other_roles_forget_what_was_found(
    client: Any, people: pd.DataFrame, tmp_path: Path
) -> None:
    run = audited(client, people)
    folder = tmp_path / "runs" / run.split("/")[-1]
    (folder / "benchmark-page.json").write_text("{}")
    sent = fields_of(client.get(f"{run}/columns").text) | {"role-1": "feature"}
    assert client.post(f"{run}/columns", data=sent).status_code == 303
    assert not (folder / "audit.json").exists()
    assert not (folder / "benchmark-page.json").exists()


def test_the_same_roles_forget_nothing(client: Any, people: pd.DataFrame, tmp_path: Path) -> None:
    run = audited(client, people)
    folder = tmp_path / "runs" / run.split("/")[-1]
    (folder / "benchmark-page.json").write_text("{}")
    for step in ("columns", "groups"):
        sent = fields_of(client.get(f"{run}/{step}").text)
        assert client.post(f"{run}/{step}", data=sent).status_code == 303
    assert (folder / "benchmark-page.json").exists()


def test_many_ask_for_the_same_audit_at_once(make: Any, people: pd.DataFrame) -> None:
    from concurrent.futures import ThreadPoolExecutor

    client = make()
    run = audited(client, people)
    sent = fields_of(client.get(f"{run}/groups").text)
    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(client.post, f"{run}/groups", data=sent) for _ in range(24)]
        assert {one.result().status_code for one in asked} == {303}


def test_two_runs_are_compared(client: Any, people: pd.DataFrame) -> None:
    first = audited(client, people, "before.csv")
    fair = people.assign(y_pred=(people["merit"] > 0).astype(int))
    second = audited(client, fair, "after.csv")
    keys = [run.split("/")[-1] for run in (first, second)]
    page = client.get(f"/compare?before={keys[0]}&after={keys[1]}")
    assert page.status_code == 200
    assert "no wider" in page.text
    back = client.get(f"/compare?before={keys[1]}&after={keys[0]}")
    assert re.search(r'class="violated">\s*wider', back.text)
    assert client.get(f"/compare?before={keys[0]}&after={keys[0]}").status_code == 422
    assert client.get("/compare").status_code == 422


def test_the_comparison_by_the_command_is_the_same(
    client: Any, people: pd.DataFrame, tmp_path: Path
) -> None:
    import html
    import shlex

    fair = people.assign(y_pred=(people["merit"] > 0).astype(int))
    keys = []
    for name, table in (("before.csv", fair), ("after.csv", people)):
        keys.append(audited(client, table, name).split("/")[-1])
        table.to_csv(tmp_path / name, index=False)
    page = client.get(f"/compare?before={keys[0]}&after={keys[1]}").text
    assert str(tmp_path) not in page
    first, second = shown_command(page).splitlines()
    policy = html.unescape(re.findall(r"<pre><code>(.*?)</code></pre>", page, re.DOTALL)[-1])
    (tmp_path / "isonomy.toml").write_text(policy)
    assert isonomy(*shlex.split(first)[1:], cwd=tmp_path).returncode == 0
    done = isonomy(*shlex.split(second)[1:], "--json", "check.json", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    outcomes = json.loads((tmp_path / "check.json").read_text())["outcomes"]
    grown = [o for o in outcomes if o["test"] == "no worse"]
    assert len(grown) == page.count('<th scope="row">')
    for outcome in grown:
        assert f"{outcome['value']:+.3f}<small>{outcome['low']:+.3f} to" in page


@pytest.mark.parametrize("values", [[True, False], [1.0, 0.0], ["good", "bad"], ["1", "0"]])
def test_labels_of_any_type(client: Any, people: pd.DataFrame, values: list[Any]) -> None:
    labels = people["hired"].map({1: values[0], 0: values[1]})
    audited(client, people.assign(hired=labels, y_pred=labels))


# ---------------------------------------------------------------------- long work


def wait(client: Any, address: str, *, seconds: float = 120.0) -> str:
    """Wait until work has ended, and return what its page then says."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        text: str = client.get(f"{address}/progress").text
        if "data-over" in text:
            return text
        time.sleep(0.2)
    raise AssertionError(f"not ended: {words(text)}")


QUICK = {"attribute-0": "1", "model": "lr", "performance": "accuracy", "quick": "1", "repeats": "6",
         "fairness": "statistical_parity_difference"}  # fmt: skip


def test_a_benchmark_is_cancelled_and_goes_on(
    make: Any, people: pd.DataFrame, tmp_path: Path
) -> None:
    client = make()
    run = audited(client, people)
    assert post(client, f"{run}/benchmark", QUICK).status_code == 303
    until = time.monotonic() + 120
    while True:
        text = words(client.get(f"{run}/benchmark/progress").text)
        if re.search("[1-5] of 6", text) and "reweighing" in text:  # the methods so far
            break
        assert time.monotonic() < until, text
        time.sleep(0.05)
    assert post(client, f"{run}/benchmark/cancel").status_code == 303
    text = words(wait(client, f"{run}/benchmark"))
    assert re.search(r"Cancelled after [1-5] of 6 splits; what was done is kept", text)
    assert post(client, f"{run}/benchmark", {"again": "1"}).status_code == 303
    held = json.loads((tmp_path / "runs" / run.split("/")[-1] / "benchmark.json").read_text())
    assert held["options"]["repeats"] == 6
    wait(client, f"{run}/benchmark")
    progress = json.loads(
        (tmp_path / "runs" / run.split("/")[-1] / "benchmark-progress.json").read_text()
    )
    assert progress["before"] >= 1  # what was done was not done again
    page = client.get(f"{run}/benchmark")
    assert "Benchmark of people.csv" in page.text
    assert "--model lr --repeats 6 --quick" in shown_command(page.text)
    assert "--drop y_pred" in shown_command(page.text)  # a model must not learn from decisions
    assert client.get(f"{run}/benchmark/file.html").status_code == 200


def test_what_a_stopped_server_left_goes_on(
    make: Any, people: pd.DataFrame, tmp_path: Path
) -> None:
    client = make()
    run = audited(client, people)
    post(client, f"{run}/benchmark", QUICK)
    until = time.monotonic() + 120
    while "1 of 6" not in client.get(f"{run}/benchmark/progress").text:
        assert time.monotonic() < until
        time.sleep(0.05)
    client.__exit__(None, None, None)
    file = tmp_path / "runs" / run.split("/")[-1] / "benchmark.json"
    assert json.loads(file.read_text())["state"] == "running"
    again = make()
    assert "data-over" in wait(again, f"{run}/benchmark")
    assert json.loads(file.read_text())["state"] == "done"
    progress = json.loads(file.with_name("benchmark-progress.json").read_text())
    assert progress["before"] >= 1


def test_a_benchmark_that_cannot_be_says_why(client: Any, people: pd.DataFrame) -> None:
    run = audited(client, people.head(30).assign(age=30, sex=["F", "M"] * 15))
    post(client, f"{run}/benchmark", QUICK)
    text = wait(client, f"{run}/benchmark")
    assert 'role="alert"' in text
    assert "Traceback" not in text


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"model": "sklearn.ensemble.RandomForestClassifier"}, "model"),
        ({"performance": "os.system"}, "metric"),
        ({"repeats": "5"}, "between 6 and 100"),
        ({"repeats": "1e9"}, "between 6 and 100"),
        ({"attribute-0": ""}, "At least one protected column"),
    ],
)
def test_wrong_options_of_a_benchmark(
    client: Any, people: pd.DataFrame, change: dict[str, str], sentence: str
) -> None:
    run = audited(client, people)
    answer = post(client, f"{run}/benchmark", QUICK | change)
    assert answer.status_code == 422
    assert sentence in answer.text


def test_a_declared_model_has_a_tail(make: Any, people: pd.DataFrame, tmp_path: Path) -> None:
    from isonomy.app import Declared

    program = tmp_path / "score.py"
    program.write_text(
        "import csv, sys\nfor row in csv.DictReader(sys.stdin):\n"
        "    print(0.3 + 0.4 * (row['sex'] == 'M') + 0.001 * float(row['hours']))\n"
    )
    import sys

    declared = Declared("program", command=f"{sys.executable} {program}")
    client = make(models={"program": declared})
    run = audited(client, people)
    assert post(client, f"{run}/tail", {"attribute-0": "1", "model": "other"}).status_code == 422
    assert post(client, f"{run}/tail", {"attribute-0": "1", "model": "program"}).status_code == 303
    assert "data-over" in wait(client, f"{run}/tail")
    page = client.get(f"{run}/tail")
    assert "Tail: people.csv" in page.text, words(page.text)
    assert "isonomy tail --command" in shown_command(page.text)


def test_without_models_no_tail_can_be_asked_for(client: Any, people: pd.DataFrame) -> None:
    run = audited(client, people)
    assert "isonomy serve --model" in words(client.get(f"{run}/tail").text)
    assert post(client, f"{run}/tail", {"attribute-0": "1", "model": "x"}).status_code == 422


def test_studies_elsewhere_are_shown(make: Any, tmp_path: Path) -> None:
    from isonomy.study import Study, run

    study = Study("tiny", ["synthetic(n=400)/group"], ["lr"], ["unmitigated"], repeats=2)
    run(study, tmp_path / "out" / "tiny", backend="serial")
    client = make(studies=(str(tmp_path / "out"),))
    text = words(client.get("/studies").text)
    assert "tiny" in text
    assert "2 of 2" in text
    assert client.get("/studies/list").status_code == 200


def test_there_is_no_page_of_studies_where_none_were_named(client: Any) -> None:
    assert client.get("/studies").status_code == 404


# ---------------------------------------------------------------------- starting


def test_another_address_needs_a_token(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="must have a token"):
        make_app(tmp_path, host="0.0.0.0")


def test_a_token_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    token = read_token(tmp_path / "token")
    assert read_token(tmp_path / "token") == token
    assert len(token) >= 40
    assert (tmp_path / "token").stat().st_mode & 0o077 == 0
    (tmp_path / "short").write_text("1234")
    with pytest.raises(InputError, match="at least 20 characters"):
        read_token(tmp_path / "short")


def test_secret_is_of_the_server(client: Any, make: Any) -> None:
    assert secret(client) != secret(make())
