"""A method's strength is chosen on a part of the training rows, and on nothing else."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from isonomy.errors import InputError
from isonomy.models import metered_fits
from isonomy.study import Method, Study, Trial, keys, run_trial
from isonomy.study.tuning import InnerRows, inner_splits, settled
from isonomy.study.workbench import Workbench

GOALS = ("accuracy", "statistical_parity_difference")
TUNED = Method(
    "prejudice_remover", "prejudice_remover", tune=(("eta", (0.0, 5.0, 50.0)),), goals=GOALS
)
TRIAL = Trial("synthetic(n=1500)", "group", 0)


def study(*methods: Any, **changes: Any) -> Study:
    fields = {"models": ["lr"], "tasks": ["synthetic(n=1500)/group"], **changes}
    return Study("s", methods=methods, **fields)


def workbench() -> Workbench:
    given = study(TUNED)
    return Workbench(given, TRIAL, given.preparation, given.splitter)


def test_inner_rows_are_training_rows_and_every_one_is_judged_once() -> None:
    outer = workbench()
    inner = InnerRows(outer, TUNED, "lr")
    held_out = np.concatenate([rows for _, rows in inner.splits])
    np.testing.assert_array_equal(np.sort(held_out), np.arange(len(outer.y)))
    assert all(not {*train} & {*test} for train, test in inner.splits)
    assert inner.unchanged.n.sum() == len(outer.y)
    for bench, (train, rows) in zip(inner._workbenches, inner.splits, strict=True):
        np.testing.assert_array_equal(bench.ready.train.rows, outer.ready.train.rows[train])
        np.testing.assert_array_equal(bench.ready.test.rows, outer.ready.train.rows[rows])
        assert not {*bench.ready.test.rows} & {*outer.ready.test.rows}


def test_the_choice_does_not_depend_on_the_test_rows() -> None:
    plain, other = workbench(), workbench()
    test = other.ready.test
    other._take(replace(other.ready, test=replace(test, X=-test.X, y=1 - test.y)))
    assert settled(plain, TUNED, "lr") == settled(other, TUNED, "lr")


def test_of_the_values_that_beat_mutation_the_least_biased_is_chosen() -> None:
    outer = workbench()
    inner = InnerRows(outer, TUNED, "lr")
    chosen = settled(outer, TUNED, "lr")
    assert chosen.tune == ()
    gap = {}
    for eta in (0.0, 5.0, 50.0):
        joint = inner.joint({"eta": eta})
        rates = joint.method.n.sum(axis=(0, 2))[:, 1] / joint.method.n.sum(axis=(0, 2, 3))
        gap[eta] = abs(rates[1] - rates[0])
    assert dict(chosen.options)["eta"] == min(gap, key=lambda eta: gap[eta])
    assert gap[50.0] < gap[0.0]


def test_where_no_value_beats_mutation_the_method_stays_as_it_is() -> None:
    useless = Method(
        "reject_option",
        "reject_option(low=0.01, high=0.01)",  # one class for nearly everybody
        tune=(("n_margins", (1, 2)),),
        goals=GOALS,
    )
    assert settled(workbench(), useless, "lr") == replace(useless, tune=())


def test_records_say_what_was_chosen_and_keys_tell_tuned_from_untuned() -> None:
    plain = study("prejudice_remover")
    tuned = study(TUNED)
    assert Study.from_toml(tuned.toml()) == tuned
    assert not keys(plain, TRIAL).keys() & keys(tuned, TRIAL).keys()
    other = replace(TUNED, goals=("accuracy", "equal_opportunity_difference"))
    assert not keys(tuned, TRIAL).keys() & keys(study(other), TRIAL).keys()
    (record,), (again,) = run_trial(tuned, TRIAL), run_trial(tuned, TRIAL)
    assert record.settings.startswith("prejudice_remover(eta=")
    assert (record.settings, record.metrics) == (again.settings, again.metrics)
    eta = record.settings.partition("eta=")[2].rstrip(")")
    (same,) = run_trial(study(f"prejudice_remover(eta={eta})"), TRIAL)
    assert same.metrics == record.metrics
    assert run_trial(plain, TRIAL)[0].settings == ""


@pytest.mark.parametrize("rows", [600, 5_000, 50_000])
def test_large_training_sets_have_one_split_of_bounded_size(rows: int) -> None:
    rng = np.random.default_rng(0)
    y, s = rng.integers(0, 2, rows), rng.integers(0, 2, rows)
    splits = inner_splits(y, s, seed=1)
    assert len(splits) == (3 if rows < 5_000 else 1)
    assert sum(map(len, splits[0])) == min(rows, 20_000)


def test_what_cannot_be_tuned_is_refused() -> None:
    with pytest.raises(InputError, match="must name its goals"):
        replace(TUNED, goals=())
    with pytest.raises(InputError, match="published settings"):
        study(TUNED, protocol="as_published")
    with pytest.raises(InputError, match="parameter of prejudice_remover"):
        replace(TUNED, tune=(("strength", (1, 2)),))


def test_weights_that_no_fit_reads_are_tried_on_one_fit_of_each_fold() -> None:
    weights = (0.5, 0.25, 0.0)
    maat = Method("maat", "maat", tune=(("weight", weights),), goals=GOALS)
    inner = InnerRows(workbench(), maat, "lr")
    with metered_fits() as meter:
        found = [inner.joint({"weight": weight}) for weight in weights]
    assert meter.fits == 2 * len(inner.splits)  # a performance and a fairness model
    for weight, joint in zip(weights, found, strict=True):
        alone = [
            bench.fit_alone(bench.make(maat.with_options({"weight": weight}), "lr")).labels
            for bench in inner._workbenches
        ]
        np.testing.assert_array_equal(joint.n, inner._add_up(alone).n)
