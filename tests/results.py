"""A small result of every kind that has a page; made once per session, for every face's tests."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

import isonomy
from isonomy.benchmark import judge_benchmark
from isonomy.counterfactual import tail
from isonomy.data import make_biased
from isonomy.data.synthetic import BiasedTruth
from isonomy.metrics import JointCounts
from isonomy.mitigators import MITIGATORS, make_mitigator
from isonomy.papers.table import PaperTable, decimals
from isonomy.stats import friedman_nemenyi, scott_knott, win_tie_loss
from isonomy.store import Record
from isonomy.templates import fill_eu_ai_act, fill_four_fifths, fill_lending, fill_ll144
from isonomy.tradeoff import tune

HOSTILE = [
    "<script>window.broken = 1</script>",
    "\"quoted\" & 'single' </title><b>bold</b>",
    "a | pipe, a `tick`, a # and *stars* [x](http://bad.example)",
    "\u202eright to left \u05d0\u05d1\u05d2 \u0627\u0644\u0639\u0631\u0628\u064a\u0629",
    "x" * 300,
    "long words " * 27,
    "",
    "{{ 7 * 7 }}{% raw %}",
    "line\nbreak\ttab",
]
"""Names of groups that a page must survive."""


def _people(n: int, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    sex = rng.choice(["F", "M"], n)
    race = rng.choice(["Asian", "Black", "Other", "White"], n, p=[0.2, 0.25, 0.01, 0.54])
    y = (rng.random(n) < 0.3 + 0.1 * (sex == "M")).astype(int)
    wrong = rng.random(n) < 0.1 + 0.08 * (race == "Black")
    favoured = (sex == "M") & (rng.random(n) < 0.2)
    base = np.where(favoured, 1, np.where(wrong, 1 - y, y))
    return {"sex": sex, "race": race, "y": y, "base": base, "noise": rng.random(n)}


@cache
def audit() -> Any:
    """Return an audit of two attributes and their intersections, with violations and thin groups."""
    p = _people(3000)
    return isonomy.audit(
        p["y"],
        p["base"],
        sensitive_features={"sex": p["sex"], "race": p["race"]},
        score=0.6 * p["base"] + 0.4 * p["noise"],
        privileged={"sex": "M", "race": "White"},
        intersections=True,
        resamples=200,
    )


@cache
def plain_audit() -> Any:
    """Return an audit without scores, as most are."""
    p = _people(3000)
    return isonomy.audit(
        p["y"],
        p["base"],
        sensitive_features={"sex": p["sex"], "race": p["race"]},
        privileged={"sex": "M"},
        resamples=200,
    )


@cache
def selections() -> Any:
    """Return an audit without labels, with scores and strata."""
    p = _people(3000)
    return isonomy.audit_selections(
        p["base"],
        sensitive_features={"race": p["race"]},
        score=0.6 * p["base"] + 0.4 * p["noise"],
        strata={"office": np.where(p["noise"] > 0.5, "north", "south")},
        reference="White",
        resamples=200,
    )


@cache
def over_time() -> Any:
    """Return an audit over fourteen months, in which a gap moves; one month is thin."""
    p = _people(6000)
    month = np.sort(np.random.default_rng(7).integers(0, 14, 6000))
    keep = (month != 4) | (p["noise"] < 0.06)
    said = np.where((p["sex"] == "F") & (month >= 8) & (p["noise"] < 0.5), 0, p["base"])
    return isonomy.audit_over_time(
        p["y"][keep],
        said[keep],
        sensitive_features={"sex": p["sex"][keep], "race": p["race"][keep]},
        when=(np.datetime64("2025-01") + month)[keep],
        privileged={"sex": "M"},
    )


@cache
def steady() -> Any:
    """Return an audit over time of selections without labels, in which nothing moves."""
    p = _people(2000)
    quarter = np.sort(np.random.default_rng(8).choice(["2025-Q1", "2025-Q2", "2025-Q3"], 2000))
    return isonomy.audit_over_time(
        None, p["base"], sensitive_features={"race": p["race"]}, when=quarter, privileged="White"
    )


@cache
def scan() -> Any:
    """Return a scan that finds a conjunction, and has the held-out half confirm it."""
    p = _people(4000)
    denied = (p["sex"] == "F") & (p["race"] == "Black") & (p["noise"] < 0.6)
    return isonomy.scan(
        p["y"],
        np.where(denied, 0, p["base"]),
        sensitive_features={"sex": p["sex"], "race": p["race"]},
        permutations=199,
        confirm=True,
    )


def _applications() -> pd.DataFrame:
    p = _people(3000)
    frame = pd.DataFrame({"sex": p["sex"], "race": p["race"], "approved": p["base"]})
    frame["score"] = (0.6 * p["base"] + 0.4 * p["noise"]).round(3)
    return frame.assign(office=np.where(p["noise"] > 0.5, "north", "south"), repaid=p["y"])


@cache
def ll144() -> Any:
    """Return Local Law 144's tables of people of whom some are of unknown category."""
    people = _applications().replace({"race": {"Other": "Unknown"}})
    return fill_ll144(
        people, sex="sex", race="race", prediction="approved", fields={"tool": "Example 1.0"}
    )


@cache
def four_fifths() -> Any:
    """Return the form of the Uniform Guidelines, within strata."""
    return fill_four_fifths(
        _applications(), prediction="approved", sensitive_features=["sex", "race"], strata="office"
    )


@cache
def lending() -> Any:
    """Return the form of lenders, with scores."""
    return fill_lending(
        _applications(),
        prediction="approved",
        score="score",
        label="repaid",
        sensitive_features="race",
        reference="White",
    )


@cache
def eu_ai_act() -> Any:
    """Return the record of the EU AI Act, from an audit."""
    return fill_eu_ai_act(plain_audit())


@cache
def hostile() -> Any:
    """Return an audit of groups with hostile names."""
    rng = np.random.default_rng(1)
    groups = rng.choice(np.array(HOSTILE, dtype=object), 3000)
    y = rng.integers(0, 2, 3000)
    return isonomy.audit(
        y,
        np.where(rng.random(3000) < 0.8, y, 1 - y),
        sensitive_features={"a</style><script>window.broken = 2</script>": groups},
        privileged=HOSTILE[0],
        resamples=100,
    )


@cache
def many() -> Any:
    """Return an audit of 200 groups."""
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 20_000)
    return isonomy.audit(
        y,
        np.where(rng.random(20_000) < 0.8, y, 1 - y),
        sensitive_features={
            "place": np.char.add("place ", rng.integers(0, 100, 20_000).astype(str)),
            "sex": rng.choice(["F", "M"], 20_000),
        },
        privileged={"sex": "M"},
        intersections=True,
        resamples=100,
    )


@cache
def models() -> Any:
    """Return an audit of five models that are shares of each other."""
    p = _people(2000)

    class Fixed:
        """A model that predicts what it was made of."""

        def __init__(self, labels: np.ndarray) -> None:
            self.labels = labels
            self.classes_ = np.array([0, 1])

        def predict(self, X: Any) -> np.ndarray:
            return self.labels

    X = pd.DataFrame({"noise": p["noise"]})
    noise = np.random.default_rng(5).random((5, len(X)))
    made = {
        name: Fixed(np.where(noise[k] < 0.15 * k, p["y"], p["base"]))
        for k, name in enumerate(
            ["forest", "boosted", "linear", "a model with a rather long name", "deep"]
        )
    }
    return isonomy.audit_models(
        made, X, p["y"], sensitive_features={"sex": p["sex"]}, favorable=1, privileged="M",
        resamples=100, left_out={"<b>lost</b>": "it was not there"},
    )  # fmt: skip


def _records(methods: list[str]) -> list[Record]:
    out = []
    for repeat in range(8):
        p = _people(2000, repeat)
        rng = np.random.default_rng([repeat, 9])
        fixed = np.where(rng.random(2000) < 0.92, p["y"], 1 - p["y"])
        for k, name in enumerate(["unmitigated", *methods]):
            share = 0.0 if k == 0 else 0.15 + 0.8 * ((7 * k) % len(methods)) / len(methods)
            mixed = np.where(rng.random(2000) < share, fixed, p["base"])
            if k % 6 == 5:  # some give their price and no more
                mixed = np.where(rng.random(2000) < 0.5 * share, 1, p["base"])
            joint = JointCounts.from_labels(
                p["y"], p["base"], p["base"] if k == 0 else mixed,
                sensitive_features={"sex": p["sex"], "race": np.where(p["race"] == "White", "White", "other")},
                privileged={"sex": "M", "race": "White"},
            )  # fmt: skip
            out.append(
                Record(
                    "b",
                    "people",
                    "sex",
                    "lr",
                    name,
                    repeat,
                    counts=joint,
                    rows=f"rows {repeat}",
                    seconds=0.1,
                )
            )
    return out


@cache
def benchmark() -> Any:
    """Return a benchmark of every mitigator."""
    methods = [m for m in MITIGATORS if m != "unmitigated"]
    left = Record(
        "b", "people", "sex", "lr", "fair<x>", 0, status="skipped", reason="too many columns"
    )
    return judge_benchmark([*_records(methods), left], resamples=60)


@cache
def tradeoff() -> Any:
    """Return verdicts on two methods."""
    p = _people(2000)
    rng = np.random.default_rng(3)
    made = []
    for name, share in (("reweighing", 0.8), ("suppression", 0.1)):
        other = np.where(rng.random(2000) < share, p["y"], p["base"])
        verdict = isonomy.judge(
            p["y"],
            p["base"],
            other,
            sensitive_features={"sex": p["sex"]},
            privileged="M",
            resamples=50,
        )
        made.append(("sex", name, verdict))
    return made


@cache
def baseline() -> Any:
    """Return the baseline of those verdicts."""
    return tradeoff()[0][2].baseline


@cache
def tuning() -> Any:
    """Return a sweep over one parameter."""
    rng = np.random.default_rng(4)
    X = pd.DataFrame(rng.normal(size=(600, 2)), columns=["a", "b"])
    s = (X["a"] + rng.normal(size=600) > 0).astype(int)
    y = (X["a"] + X["b"] + rng.normal(size=600) > 0).astype(int)
    return tune(
        make_mitigator("fairness_constrained_thresholds", privileged=1),
        {"tolerance": [0.01, 0.1, 0.3]}, X, y, sensitive_features=pd.DataFrame({"s": s}),
    )  # fmt: skip


@cache
def tails() -> Any:
    """Return a report of tails, with levels at three horizons."""
    return [tail(BiasedTruth().score, make_biased(1200).X, "group", resamples=99)]


@cache
def tail_curves() -> Any:
    """Return a report of tails, with curves of levels."""
    return [tail(BiasedTruth().score, make_biased(1200).X, "group", resamples=99, curves=True)]


@cache
def tables() -> Any:
    """Return a paper's table beside its print, and two figures."""
    rows = ["GC1", "GC2", "TM1"]
    data = pd.DataFrame({"DI": [0.2, 0.1, 0.3], "TI": [0.5, -0.5, 0.5]}, rows)
    printed = pd.DataFrame({"DI": ["0.2", "0.4", ""]}, rows)
    wide = pd.DataFrame(
        np.arange(40.0).reshape(2, 20) / 7, ["a", "b"], [f"column {k}" for k in range(20)]
    )
    return [
        PaperTable("table1", "A <table> of a paper", data, 3, printed=printed, write=decimals(1)),
        PaperTable("fig2", "Bars", data, 3, printed=printed, write=decimals(1), drawing="bars"),
        PaperTable("fig3", "Shades", data.corr(), 3, write=decimals(2), drawing="grid"),
        PaperTable("table4", "A wide table", wide, 3, write=decimals(2)),
    ]


def _runs() -> np.ndarray:
    rng = np.random.default_rng(3)
    return rng.normal(size=(15, 1)) + np.linspace(0, 2, 6) + rng.normal(size=(15, 6))


@cache
def ranks() -> Any:
    """Return mean ranks of six methods."""
    return friedman_nemenyi(
        _runs(), labels=["original", "a<b>", "long_name(option=value)", "d", "e", "f"]
    )


@cache
def groups() -> Any:
    """Return groups of six methods."""
    return scott_knott(dict(zip("abcdef", _runs().T, strict=True)))


@cache
def wins() -> Any:
    """Return wins, ties and losses of three methods."""
    runs = np.random.default_rng(6).normal(size=(9, 3, 12)) + np.arange(3)[:, None]
    return win_tie_loss(runs, labels=["new", "old", "older"])


RESULTS: dict[str, Callable[[], Any]] = {
    made.__name__: made
    for made in (
        *(
            audit,
            plain_audit,
            selections,
            scan,
            over_time,
            steady,
            hostile,
            many,
            models,
            benchmark,
        ),
        *(tradeoff, baseline, tuning, tails, tail_curves, tables, ranks, groups, wins),
        *(ll144, four_fifths, lending, eu_ai_act),
    )
}
"""Every kind of page, and what it is made of."""
