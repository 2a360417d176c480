"""A study is frozen, says what is wrong with it, and survives its file."""

from pathlib import Path

import pytest

from isonomy.errors import DataUnavailable, InputError, UnknownName
from isonomy.papers import load_study, study_names
from isonomy.study import Method, Source, Study, Task

WHOLE = """
name = "whole"
title = 'a title with "quotes"'
protocol = "as_published"
preparation = "chen"
splitter = "chen"
recipe = "chen"
repeats = 4
seed = 7
weighted = true
models = ["lr", "rf"]
tasks = ["german/sex", "german/sex+age"]

[[method]]
mitigator = "unmitigated"

[[method]]
label = "op"
mitigator = "optimized_preprocessing(epsilon=0.1)"
preparation = "coarse(scale=standard)"
splitter = "aif360"
tasks = ["german/sex"]
models = ["lr"]
options = { distortion = "@dataset", clist = [0.99, 1.99], dlist = [0.1, 0.0] }

[[method]]
mitigator = "fairway"
learner = "lr"

[[method]]
mitigator = "mutation(strategy=minority, repetitions=9)"
"""


def simple(**changes: object) -> Study:
    fields: dict[str, object] = {
        "name": "s",
        "tasks": ["german/sex"],
        "models": ["lr"],
        "methods": ["reweighing"],
    }
    return Study(**{**fields, **changes})  # type: ignore[arg-type]


def test_every_entry_of_a_file_arrives() -> None:
    study = Study.from_toml(WHOLE)
    assert (study.name, study.repeats, study.seed, study.weighted) == ("whole", 4, 7, True)
    assert study.title == 'a title with "quotes"'
    assert study.tasks == (Task("german", "sex"), Task("german", "sex+age"))
    op = study.methods[1]
    assert (op.label, op.preparation, op.splitter) == ("op", "coarse(scale=standard)", "aif360")
    assert op.tasks == (Task("german", "sex"),)
    assert op.options == (
        ("distortion", "@dataset"),
        ("clist", (0.99, 1.99)),
        ("dlist", (0.1, 0.0)),
    )
    assert study.methods[2].learner == "lr"


def test_a_study_survives_its_file_and_is_hashable(tmp_path: Path, jobs: Source) -> None:
    study = Study.from_toml(WHOLE).with_(sources=[jobs], tasks=["german/sex", "jobs/origin"])
    path = tmp_path / "study.toml"
    path.write_text(study.toml(), encoding="utf-8")
    again = Study.from_toml(path)
    assert again == study
    assert hash(again) == hash(study)
    assert again.sources[0].load().privileged == {"sex": ("m",), "origin": ("a",)}


def test_rows_obey_the_models_and_tasks_of_a_method() -> None:
    study = Study.from_toml(WHOLE)
    first, second = ([(m, x.label) for m, x in study.rows(t)] for t in study.tasks)
    assert first.count(("lr", "op")) == 1
    assert ("rf", "op") not in first
    assert "op" not in [label for _, label in second]
    assert ("rf", "fairway") in second


def test_rows_obey_the_models_of_a_dataset() -> None:
    study = simple(
        tasks=["german/sex", "bank/age"], models=["lr", "nb"], models_of={"german": ["nb"]}
    )
    by_task = [{model for model, _ in study.rows(task)} for task in study.tasks]
    assert by_task == [{"nb"}, {"lr", "nb"}]
    assert Study.from_toml(study.toml()) == study


def test_a_method_switched_off_serves_as_a_model_only_to_what_names_it() -> None:
    off = "prejudice_remover(eta=0)"
    one = {"mitigator": "prejudice_remover(eta=1)", "models": [off]}
    study = simple(models=["lr", off], methods=["unmitigated", one])
    rows = [(m, x.label) for m, x in study.rows(study.tasks[0])]
    assert rows == [("lr", "unmitigated"), (off, "prejudice_remover(eta=1)")]
    with pytest.raises(InputError, match="must bring its own"):
        simple(models=["reweighing"])


def test_a_baseline_has_a_name_for_each_degree() -> None:
    labels = Method.of("mutation(strategy=majority)").labels
    assert len(labels) == 11
    assert labels[0] == "mutation(strategy=majority, degree=0)"
    assert labels[3] == "mutation(strategy=majority, degree=0.3)"
    assert labels[10] == "mutation(strategy=majority, degree=1)"


def test_with_takes_names_of_this_study() -> None:
    chen = load_study("chen_2022")
    small = chen.with_(tasks=["german"], methods=["optimized_preprocessing", "mutation"])
    assert [str(t) for t in small.tasks] == ["german/sex", "german/age"]
    assert [m.mitigator for m in small.methods] == [
        "optimized_preprocessing",
        "optimized_preprocessing(epsilon=0.1)",
        "mutation(strategy=majority, repetitions=50, weights=gaps)",
    ]
    assert all(m.preparation == "coarse" for m in small.methods[:2])
    with pytest.raises(UnknownName, match="did you mean 'german/"):
        chen.with_(tasks=["germany"])
    with pytest.raises(UnknownName, match="did you mean 'repeats'"):
        chen.with_(repeat=3)


def test_a_version_need_not_be_written_where_the_study_has_one() -> None:
    tails = load_study("monjezi_2025")
    for written in ("bank", "bank/age", "bank(version=full)", "bank(version=full)/age"):
        assert tails.with_(tasks=[written]).tasks == (Task("bank(version=full)", "age"),)
    assert len(tails.with_(tasks=["meps"]).tasks) == 2
    assert tails.with_(tasks=["bank(version=additional)/age"]).tasks[0].dataset.endswith("nal)")
    both = tails.with_(tasks=["bank/age", Task("bank", "age")])
    assert len(both.tasks) == 2
    assert both.with_(tasks=["bank"]).tasks == (Task("bank", "age"),)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"tasks": []}, "must have tasks"),
        ({"tasks": ["german"]}, "written dataset/attribute"),
        ({"tasks": ["germn/sex"]}, "did you mean 'german'"),
        ({"models": ["lr2"]}, "did you mean 'lr'"),
        ({"methods": ["reweighting"]}, "did you mean 'reweighing'"),
        ({"methods": ["reject_option(metrik=spd)"]}, "did you mean 'metric'"),
        ({"methods": ["mutation(strategi=majority)"]}, "did you mean 'strategy'"),
        ({"methods": ["reweighing", "reweighing"]}, "is listed twice"),
        ({"methods": [{"label": "x"}]}, "must have the entry .mitigator."),
        ({"methods": [{"mitigator": "reweighing", "modles": []}]}, "did you mean 'models'"),
        ({"protocol": "correct"}, "did you mean 'corrected'"),
        ({"preparation": "chan"}, "did you mean 'chen'"),
        ({"splitter": "hold"}, "did you mean 'holdout'"),
        ({"recipe": "chan"}, "did you mean 'chen'"),
        ({"repeats": 0}, "at least 1"),
        ({"models_of": {"germn": ["lr"]}}, "did you mean 'german'"),
        ({"models_of": {"german": ["lr2"]}}, "did you mean 'lr'"),
    ],
)
def test_a_wrong_study_is_one_sentence(changes: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        simple(**changes)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("name = ", "valid TOML"),
        ('name = "x"', "must have the entry 'tasks'"),
        (WHOLE.replace("seed = 7", "sed = 7"), "did you mean 'seed'"),
    ],
)
def test_a_wrong_file_is_one_sentence(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Study.from_toml(text)


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="There is no file"):
        Study.from_toml(tmp_path / "none.toml")


def test_a_source_finds_its_file_beside_the_study(tmp_path: Path, jobs: Source) -> None:
    (tmp_path / "mine.csv").write_bytes(Path(jobs.path).read_bytes())
    (tmp_path / "study.toml").write_text(
        """
        name = "mine"
        models = ["lr"]
        tasks = ["mine/sex"]
        [[method]]
        mitigator = "reweighing"
        [[source]]
        path = "mine.csv"
        label = "hired"
        favorable = "yes"
        sensitive_features = ["sex"]
        privileged = { sex = "m" }
        """,
        encoding="utf-8",
    )
    source = Study.from_toml(tmp_path / "study.toml").sources[0]
    assert (source.name, source.sha256) == ("mine", jobs.sha256)
    assert len(source.load()) == 400


def test_the_guides_file_is_a_study(tmp_path: Path) -> None:
    guide = Path(__file__).parents[3] / "docs" / "guide" / "5-studies.md"
    text = guide.read_text(encoding="utf-8").split("```toml")[1].split("```")[0]
    (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
    (tmp_path / "jobs.csv").write_text(
        "applicant,sex,origin,hired\n1,m,a,yes\n2,f,b,no\n3,f,c,yes\n4,m,c,no\n", encoding="utf-8"
    )
    study = Study.from_toml(tmp_path / "mine.toml")
    assert [m.label for m in study.methods][:3] == ["unmitigated", "reweighing", "pr-weak"]
    assert study.sources[0].load().X.columns.tolist() == ["sex", "origin"]


def test_a_source_that_has_changed_is_refused(tmp_path: Path, jobs: Source) -> None:
    path = tmp_path / "jobs.csv"
    path.write_bytes(Path(jobs.path).read_bytes() + b"m,a,1.0,3,north,1.0,yes\n")
    with pytest.raises(DataUnavailable, match="content has changed"):
        Source(**{**vars(jobs), "path": str(path)}).load()


@pytest.mark.parametrize("name", study_names())
def test_the_packaged_studies_survive_their_files(name: str) -> None:
    study = load_study(name)
    assert study.name == name
    assert Study.from_toml(study.toml()) == study


def test_an_unknown_study_is_one_sentence() -> None:
    with pytest.raises(UnknownName, match="did you mean 'chen_2022'"):
        load_study("chen_2023")


def test_a_method_with_lists_among_its_options_can_be_hashed() -> None:
    one = Method("op", "optimized_preprocessing", options={"clist": [1.0, 2.0]})  # type: ignore[arg-type]
    assert one.options == (("clist", (1.0, 2.0)),)
    assert hash(one) == hash(Method("op", "optimized_preprocessing", options=one.options))


@pytest.mark.parametrize("name", ["../../x", "a/b", "a\\b", "", "..", "a\x1b[31m"])
def test_a_name_is_the_name_of_a_folder(name: str) -> None:
    with pytest.raises(InputError, match="must be the name of a folder"):
        Study(name, ["synthetic(n=400)/group"], ["nb"], ["unmitigated"])
