"""Trials in an order that serves a stopped study, and keys that change with what matters."""

import subprocess
import sys

import pytest
import sklearn

from isonomy.mitigators import MITIGATORS
from isonomy.networks import NetworkClassifier
from isonomy.study import Source, Study, Trial, keys, plan
from isonomy.study.plan import _settings

TRIAL = Trial("german", "sex", 1)


def study(**changes: object) -> Study:
    fields: dict[str, object] = {
        "name": "s",
        "tasks": ["german/sex", "compas/race"],
        "models": ["lr"],
        "methods": ["unmitigated", "reweighing", "mutation"],
        "repeats": 2,
    }
    return Study(**{**fields, **changes})  # type: ignore[arg-type]


def key_of(given: Study, label: str = "reweighing", trial: Trial = TRIAL) -> str:
    (key,) = [k for k, row in keys(given, trial).items() if row == ("lr", label)]
    return key


def test_first_repeats_come_first() -> None:
    assert [(t.dataset, t.repeat) for t in plan(study())] == [
        ("german", 0),
        ("compas", 0),
        ("german", 1),
        ("compas", 1),
    ]


def test_keys_name_every_row_once() -> None:
    found = keys(study(), TRIAL)
    assert len(found) == len(set(found.values())) == 2 + 11
    assert [*found.values()][:3] == [
        ("lr", "unmitigated"),
        ("lr", "reweighing"),
        ("lr", "mutation(strategy=majority, degree=0)"),
    ]


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "other"},
        {"title": "another"},
        {"repeats": 9},
        {"tasks": ["german/sex"]},
        {"models": ["lr", "nb"]},
        {"methods": ["reweighing"]},
        {"weighted": True},  # what corrected means anyway
    ],
)
def test_what_does_not_matter_is_not_in_the_key(changes: dict[str, object]) -> None:
    assert key_of(study(**changes)) == key_of(study())


@pytest.mark.parametrize(
    "changes",
    [
        {"seed": 1},
        {"protocol": "as_published"},
        {"preparation": "chen"},
        {"splitter": "chen"},
        {"recipe": "chen"},
        {"weighted": False},
        {"methods": [{"label": "reweighing", "mitigator": "disparate_impact_remover"}]},
        {"methods": [{"mitigator": "reweighing", "preparation": "coarse"}]},
        {"methods": [{"mitigator": "reweighing", "splitter": "aif360"}]},
        {"methods": [{"mitigator": "reweighing", "learner": "nb"}]},
    ],
)
def test_what_matters_is_in_the_key(changes: dict[str, object]) -> None:
    assert key_of(study(**changes)) != key_of(study())


def test_repeat_task_and_version_are_in_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    given = study(tasks=["german/sex", "german/age"])
    before = key_of(given)
    assert key_of(given, trial=Trial("german", "sex", 0)) != before
    assert key_of(given, trial=Trial("german", "age", 1)) != before
    monkeypatch.setattr(MITIGATORS["reweighing"], "corrected_version", "other")
    assert key_of(given) != before
    assert key_of(given, "unmitigated") == key_of(study(), "unmitigated")


def test_a_change_of_the_corrected_protocol_leaves_published_runs_valid(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    published = study(protocol="as_published")
    before = key_of(study()), key_of(published)
    monkeypatch.setattr(MITIGATORS["reweighing"], "corrected_version", "2")
    assert key_of(study()) != before[0]
    assert key_of(published) == before[1]


def test_version_of_a_network_is_in_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    def key(model: str) -> str:
        _settings.cache_clear()
        return next(iter(keys(study(models=[model]), TRIAL)))

    before, plain = key("dl"), key("lr")
    monkeypatch.setattr(NetworkClassifier, "version", "another")
    assert key("dl") != before
    assert key("lr") == plain
    _settings.cache_clear()


def test_how_scikit_learn_prints_is_not_in_the_key() -> None:
    _settings.cache_clear()
    before = key_of(study())
    with sklearn.config_context(print_changed_only=False):
        _settings.cache_clear()
        assert key_of(study()) == before


def test_the_scikit_learn_of_the_day_is_in_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    before = key_of(study())
    monkeypatch.setattr("sklearn.__version__", "9.9.1")
    changed = key_of(study())
    assert changed != before
    monkeypatch.setattr("sklearn.__version__", "9.9.2")
    assert key_of(study()) == changed


def test_a_files_content_counts_and_not_its_place(jobs: Source) -> None:
    def key(source: Source) -> str:
        given = Study("s", ["jobs/sex"], ["lr"], ["reweighing"], sources=(source,))
        return next(iter(keys(given, Trial("jobs", "sex", 0))))

    assert key(Source(**{**vars(jobs), "path": "elsewhere.csv"})) == key(jobs)
    assert key(Source(**{**vars(jobs), "sha256": "0"})) != key(jobs)
    assert key(Source(**{**vars(jobs), "privileged": (("sex", ("f",)),)})) != key(jobs)


def test_a_study_imports_the_methods_it_names_and_no_others() -> None:
    program = """
import sys
from isonomy.study import Study, plan
from isonomy.study.trial import run_trial
study = Study("t", ["synthetic(n=200)/group"], ["lr"], ["unmitigated", "reweighing", "mutation"])
run_trial(study, plan(study)[0])
print([name for name in sys.modules if name.startswith("isonomy.mitigators.")])
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "isonomy.mitigators.reweighing" in done.stdout
    assert "isonomy.mitigators.fair_smote" not in done.stdout
    assert "isonomy.mitigators.maat" not in done.stdout
