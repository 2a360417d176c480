"""The twelve findings of the forty-model study: as published, recomputed, and from our runs.

``printed/findings.csv`` holds the statements and numbers in print. Each finding is counted by one
function below, on any set of runs: it returns a sentence, and whether the runs show what the
finding says; None where they cannot tell.

References
----------
Biswas and Rajan 2020, Do the Machine Learning Models on a Crowd Sourced Platform Exhibit Bias? An
Empirical Study on Model Fairness, ESEC/FSE.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from isonomy.papers.biswas_2020.models import kernel
from isonomy.papers.biswas_2020.second import totals_by_attribute
from isonomy.papers.biswas_2020.tables import (
    BEFORE,
    METHODS,
    METRICS,
    means,
    printed_text,
    ranks,
    repeats_of,
    single_runs,
    totals,
)
from isonomy.papers.printed import read_printed
from isonomy.papers.table import ABSENT, PaperTable

PRE, IN, POST = ["R", "D"], ["A", "P"], ["E", "C", "O"]
CORRECTED = "biswas_2020_corrected"
_KEPT = 0.01  # a loss of less than a point keeps performance
_NEAR = 0.1  # the paper's "very close" in total bias
_OTHERS = printed_text()["mean ln DI of BM1 to BM8 without BM5"]  # most are not standardised
_UNTESTED = "these runs cannot tell"
_FEWEST = 20  # half of the models: a finding on all of them is not judged on fewer
_FIRST_OF_METHODS = 8  # findings from here on are about methods

Counted = tuple[str, bool | None]


@dataclass(frozen=True)
class Evidence:
    """What the findings are counted on, made of one result frame."""

    frame: pd.DataFrame
    corrected: bool = False

    @cached_property
    def laid(self) -> pd.DataFrame:
        """The nine numbers by (model, mitigator); NaN where a method was not run."""
        laid = means(self.frame)[0]
        models = self.total.index
        every = pd.MultiIndex.from_product(
            [models, [BEFORE, *METHODS.values()]], names=laid.index.names
        )
        return laid.reindex(every)

    @cached_property
    def before(self) -> pd.DataFrame:
        """The nine numbers of the models before mitigation."""
        own = self.laid.index.get_level_values("mitigator") == BEFORE
        return self.laid[own].droplevel("mitigator")

    @cached_property
    def total(self) -> pd.DataFrame:
        """Total bias before and after each method."""
        return totals(self.frame)

    @cached_property
    def mitigated(self) -> pd.DataFrame:
        """Total bias of the models that some method was run on."""
        return self.total.loc[self.letters.index]

    @cached_property
    def letters(self) -> pd.DataFrame:
        """The letters of each model's methods, by rank from 0."""
        place = ranks(self.frame)
        order = np.argsort(place.to_numpy(), axis=1)
        return pd.DataFrame(np.array([*METHODS])[order], index=place.index)

    @cached_property
    def runs(self) -> pd.DataFrame:
        """The single runs before mitigation."""
        runs = single_runs(self.frame)
        return runs[runs["mitigator"] == BEFORE]

    def lost(self, model: str, letter: str, than: str = "") -> tuple[float, float]:
        """Return what a method loses in accuracy and F1 against the model, or another method."""
        one, other = (
            self.laid.loc[(model, METHODS.get(at, BEFORE)), ["Acc", "F1"]] for at in (than, letter)
        )
        accuracy, f1 = (one - other).to_numpy(dtype=float)
        return float(accuracy), float(f1)

    def best(self, stage: list[str]) -> dict[str, str]:
        """Return the models whose best method is of a stage, and which it is."""
        return {str(m): str(best) for m, best in self.letters[0].items() if best in stage}


def _optimised(e: Evidence) -> Counted:
    one, other = e.total["before"]["GC1"], e.total["before"]["GC6"]
    a, b = e.before["Acc"]["GC1"], e.before["Acc"]["GC6"]
    said = f"total bias {one:.2f} by recall (GC1), {other:.2f} by precision (GC6); accuracy {a:.3f} and {b:.3f}"
    return said, bool(one < other)


def _libraries(e: Evidence) -> Counted:
    one, other = e.before["DI"]["HC1"], e.before["DI"]["HC2"]
    # the encodings of the two models have opposite groups as privileged
    return f"ln DI {one:.2f} in HC1, {other:.2f} in HC2", bool(one > 0 > other)


def _standardised(e: Evidence) -> Counted:
    bank = e.before["DI"].filter(like="BM").abs()
    own, others = bank["BM5"], bank.drop("BM5").mean()
    if e.corrected:
        said = (
            f"all are standardised: ln DI {own:.2f} in BM5, {others:.2f} in the mean of the others "
            f"({_OTHERS} in print)"
        )
        return said, bool(others < _OTHERS / 2)
    scaled = bank.reindex(["BM1", "BM3", "BM6"]).mean()
    said = (
        f"ln DI {own:.2f} in BM5, {others:.2f} in the mean of the others, "
        f"{scaled:.2f} in the three others that standardise"
    )
    return said, bool(own < others / 2)


def _dropped(e: Evidence) -> Counted:
    ratio = e.before["CNT"]["AC5"] / e.before["CNT"]["AC6"]
    return f"ln CNT of AC5 is {ratio:.2f} times that of AC6", bool(ratio >= 2)


def _metrics(e: Evidence) -> Counted:
    shares = [
        float((sizes.drop("GC6") > sizes["GC6"]).mean())
        for sizes in (e.total["before"], e.before["CNT"].abs())
    ]
    said = "GC6 is fairer than {:.0%} of the models by total bias, than {:.0%} by CNT".format(
        *shares
    )
    return said, bool(shares[0] - shares[1] >= 0.2)


def _stable(e: Evidence) -> Counted:
    spread = e.runs.groupby("model", observed=True)[[*METRICS]].std().mean()
    if spread.isna().all():
        return "one run of each model: no standard deviation", None
    largest = spread.nlargest(3).index
    shown = ", ".join(f"{metric} {value:.3f}" for metric, value in spread.items())
    return f"mean standard deviations {shown}", bool({*largest} == {"DI", "EOD", "AOD"})


def _attributes(e: Evidence) -> Counted:
    totals = totals_by_attribute(e.frame)
    said = ", ".join(f"{name} {value:.2f}" for name, value in totals.sum().items())
    if not {"german age", "adult sex"} <= {*totals.columns}:
        return f"total bias {said}; no runs of the second attributes", None
    age, sex = totals["german age"], totals["german sex"]
    said = (
        f"total bias {said}; GC1 and GC6 {sex['GC1']:.2f} and {sex['GC6']:.2f} by sex, "
        f"{age['GC1']:.2f} and {age['GC6']:.2f} by age"
    )
    order = sex.rank().corr(age.rank())
    return f"{said}; ranks of the models correlate by {order:.2f}", bool(age.sum() > sex.sum())


def _reweighed(e: Evidence) -> Counted:
    first, second = (e.letters.index[e.letters[rank] == "R"] for rank in (0, 1))
    known = e.total["R"].dropna().index
    falls = (e.total["R"] < e.total["before"])[known]
    said = (
        f"R is best in {len(first)} of {len(e.letters)} models, second in {len(second)}; bias falls "
        f"in {falls.sum()} of {len(known)}"
    )
    if not len(first):
        return said, False
    lost = np.mean([e.lost(str(model), "R") for model in first], axis=0)
    said += f"; where it is best, accuracy falls by {lost[0]:.3f} and F1 by {lost[1]:.3f}"
    # preferable to others: among the first two of the seven more often than any method would be
    ahead = len(first) + len(second) > 2 / len(METHODS) * len(e.letters)
    return said, bool(ahead and falls.mean() > 0.5 and (lost < _KEPT).all())


def _stages(e: Evidence, most: int = 10) -> Counted:
    order = e.mitigated["before"].sort_values(kind="stable").index
    best = e.letters[0].isin(POST)
    least, top = best[order[:most]].sum(), best[order[-most:]].sum()
    helped = (e.mitigated[POST].min(axis=1) < e.mitigated["before"]).mean()
    said = (
        f"post-processing is best in {best.sum()} of {len(best)} models and lowers bias in "
        f"{helped:.0%}; best in {top} of the {most} most biased, in {least} of the {most} least"
    )
    return said, bool(top > most / 2 > least)


def _in_processing(e: Evidence) -> Counted:
    best = e.best(IN)
    if not best:
        return "no in-processing method is best in any model", False
    lost = pd.Series({model: e.lost(model, letter)[0] for model, letter in best.items()})
    count = {letter: [*best.values()].count(letter) for letter in IN}
    said = (
        f"A is best in {count['A']} models, P in {count['P']}; they change accuracy by "
        f"{-lost.max():+.3f} ({lost.idxmax()}) to {-lost.min():+.3f} ({lost.idxmin()})"
    )
    return said, bool(lost.max() >= 0.05 and lost.min() < _KEPT)


def _costly(e: Evidence) -> Counted:
    best = e.best(POST)
    if not best:
        return "no post-processing method is best in any model", False
    lost = pd.DataFrame({m: e.lost(m, letter) for m, letter in best.items()}, index=["Acc", "F1"]).T
    both = (lost > 0).all(axis=1)
    said = (
        f"best in {len(best)} models; both accuracy and F1 fall in {both.sum()}; on average by "
        f"{100 * lost['Acc'].mean():.2f} and {100 * lost['F1'].mean():.2f} points"
    )
    return said, bool(both.all())


def _traded(e: Evidence) -> Counted:
    bias = e.mitigated.to_numpy()
    columns = [e.mitigated.columns.get_indexer(pd.Index(e.letters[rank])) for rank in (0, 1)]
    rows = np.arange(len(bias))
    gap = pd.Series(bias[rows, columns[1]] - bias[rows, columns[0]], e.mitigated.index)
    lost = {str(m): e.lost(str(m), r[1], than=r[0]) for m, r in e.letters.iterrows()}
    equal = [model for model, (accuracy, f1) in lost.items() if accuracy <= 0 and f1 <= 0]
    near = [model for model in equal if gap[model] <= _NEAR]
    post = [model for model in near if e.letters[0][model] in POST]
    said = (
        f"the second best performs as well or better in {len(equal)} of {len(lost)} models, within "
        f"{_NEAR} of total bias in {len(near)} ({', '.join(near) or 'none'}); the best of these is "
        f"a post-processor in {len(post)}"
    )
    return said, bool(len(post) > len(near) / 2) if near else None


_RULES: dict[str, tuple[Callable[[Evidence], Counted], tuple[str, ...], str]] = {
    "1": (_optimised, ("GC1", "GC6"), "GC1 has little bias because it calls nearly everybody good"),
    "2": (
        _libraries,
        ("HC1", "HC2"),
        (
            "the sign is one of coding: code 0 is privileged, which is female in HC1 and male in HC2; "
            "and default is declared the favourable label"
        ),
    ),
    "3": (
        _standardised,
        ("BM1", "BM3", "BM5", "BM6"),
        (
            "three of the other seven standardise too, and trees do not see scales; BM5 is the only "
            "support vector machine, and has no call duration"
        ),
    ),
    "4": (
        _dropped,
        ("AC5", "AC6"),
        (
            "no feature was dropped (its name was misspelt): naming any brought the survey weight in, "
            "which outweighs all else in the distances of CNT; corrected, it is no feature"
        ),
    ),
    "5": (_metrics, ("GC6",), "no slip of the scripts bears on it"),
    "6": (_stable, (), "no slip of the scripts bears on it"),
    "7": (_attributes, ("GC1", "GC6"), "no slip of the scripts bears on it"),
    "8": (
        _reweighed,
        (),
        (
            "the weights reached no fit, but reweighed the test rows: the row R is the model itself, "
            "measured otherwise; corrected, models are trained with the weights"
        ),
    ),
    "9": (
        _stages,
        (),
        (
            "post-processors were fitted on the rows they were measured on, on the model that the "
            "repaired rows had refitted; five Home Credit rows hold other metrics than their headings say"
        ),
    ),
    "10": (
        _in_processing,
        (),
        "adversarial debiasing saw unscaled features for 10 epochs; corrected, they are scaled",
    ),
    "11": (_costly, (), "as finding 9; German's scores were those of the other label"),
    "12": (_traded, (), "as findings 8 and 9"),
}
"""By number: how a finding is counted, the models it needs, and what the correction changes."""

_OF_SOME_MODELS = ("1", "2", "3", "4")
"""Findings on the models that they name; the others are on all forty."""


def _counted(frame: pd.DataFrame | None, study: str) -> dict[str, Counted]:
    """Count every finding on a frame."""
    if frame is None or frame.empty:
        todo = f"not yet run: isonomy study run {study}" if study else ABSENT["recomputed"]
        return dict.fromkeys(_RULES, (todo, None))
    evidence = Evidence(frame, corrected=study == CORRECTED)
    held = {*map(str, evidence.total.index)}
    counted: dict[str, Counted] = {}
    for number, (count, models, _) in _RULES.items():
        missing = sorted({*models} - held)
        if missing:
            counted[number] = (f"no runs of {', '.join(missing)}", None)
        elif int(number) >= _FIRST_OF_METHODS and evidence.letters.empty:
            counted[number] = ("no mitigated runs", None)
        else:
            counted[number] = said, holds = count(evidence)
            if holds is not None and number not in _OF_SOME_MODELS and len(held) < _FEWEST:
                counted[number] = (f"{said} (not judged on {len(held)} of 40 models)", None)
    return counted


def _verdict(recomputed: bool | None, corrected: bool | None) -> str:
    if recomputed is False:
        return "no: the authors' own numbers do not show it"
    if corrected is None:
        return f"open: {_UNTESTED}"
    return "yes" if corrected else "no"


def findings(published: pd.DataFrame | None = None, ours: pd.DataFrame | None = None) -> PaperTable:
    """Make the twelve findings: as published, recomputed, from our runs, and whether they survive.

    Parameters
    ----------
    published : DataFrame, optional
        The authors' files.
    ours : DataFrame, optional
        Our runs, of the study as published, of the corrected one, or of both.
    """
    parts: dict[str, pd.DataFrame | None] = {"biswas_2020": None, CORRECTED: None}
    if ours is not None:
        parts = {name: ours[(ours["study"] == name).to_numpy()] for name in parts}
    sides = {"recomputed": _counted(published, "")}
    sides |= {
        column: _counted(part, study)
        for column, (study, part) in zip(("ours", "corrected"), parts.items(), strict=True)
    }
    printed = read_printed(__file__, "findings")
    rows = {}
    for number, (_, _, correction) in _RULES.items():
        counted = {side: sentences[number] for side, sentences in sides.items()}
        rows[f"{number}. {printed['finding'][number]}"] = {
            "as published": printed["number"][number],
            **{side: f"{said}{_sign(holds)}" for side, (said, holds) in counted.items()},
            "correction": correction,
            "to see it": _command(number),
            "survives": _verdict(counted["recomputed"][1], counted["corrected"][1]),
        }
    frames = [f for f in (published, *parts.values()) if f is not None and len(f)]
    notes = (
        (
            "(holds) and (does not hold) say whether these runs show what the finding says; a finding "
            "survives where the corrected runs show it."
        ),
        *(_repeats(f) for f in frames if f["repeat"].notna().any() and f is not published),
    )
    return PaperTable(
        "findings",
        "The paper's twelve findings",
        pd.DataFrame.from_dict(rows, orient="index"),
        len(_RULES),
        "findings",
        notes,
    )


def _command(number: str) -> str:
    """Return the command that runs what a finding rests on, corrected."""
    models = _RULES[number][1]
    tasks = dict.fromkeys(kernel(model).dataset for model in models)
    words = ["isonomy study run", CORRECTED]
    if models:
        words += ["--task", ",".join(tasks), "--model", ",".join(models)]
    if int(number) < _FIRST_OF_METHODS:
        words += ["--method", BEFORE]
    return " ".join(words)


def _sign(holds: bool | None) -> str:
    return "" if holds is None else " (holds)" if holds else " (does not hold)"


def _repeats(frame: pd.DataFrame) -> str:
    """Return how many models and repeats stand behind a frame."""
    runs = frame[(frame["status"] == "ok").to_numpy()]
    counts = runs.groupby(runs["model"].astype(str))["repeat"].nunique()
    mitigated = ranks(frame).index
    alone = sorted({*counts.index} - {*map(str, mitigated)})
    without = f"; without any method: {', '.join(alone)}" if alone else ""
    return (
        f"{frame['study'].iloc[0]}: {len(counts)} models; repeats: {repeats_of(counts)}{without}."
    )
