"""The counted claims of Monjezi et al. (2025): as printed, and recounted on any set of results.

``printed/claims.csv`` holds one claim per line: what the text says, how to count it here
(``count`` names the rule, ``of`` the metric or the types, then methods and models), and what it
``expects``: a share, which results show that come within ten points of it, or the method that is
best.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from isonomy.papers.printed import read_printed

LIMIT = 0.05
"""A difference of this size or more is discrimination, in the paper's counts."""

NEAR = 0.1
"""A share within ten points of the paper's is called the same."""

_NOT_RUN = "not yet run"
_UNKNOWN = "cannot be decided without several runs of each case"


@dataclass(frozen=True)
class Results:
    """What the claims are counted on; undefined numbers are NaN, a table that is missing is None.

    Attributes
    ----------
    cases : DataFrame, optional
        By (model, task): ACD, CVaR, ECD and ``locations``, the difference of the two locations.
    types : Series, optional
        ``I``, ``II`` or ``III`` for every tail that was fitted.
    mitigated : DataFrame, optional
        By (method, model, task): the sizes of AOD, EOD and ECD.
    outcomes : DataFrame, optional
        By (method, model, task): ``win``, ``tie`` or ``loss`` of AOD, EOD and ECD against the
        original model.
    generators : DataFrame, optional
        By (dataset, generator): FID, KL-D, LG-D and F1 loss.
    """

    cases: pd.DataFrame | None = None
    types: pd.Series | None = None
    mitigated: pd.DataFrame | None = None
    outcomes: pd.DataFrame | None = None
    generators: pd.DataFrame | None = None


def claims() -> pd.DataFrame:
    """Return the claims as printed, with the rules for counting them."""
    return read_printed(__file__, "claims")


class Answer(NamedTuple):
    """A claim counted on some results: a sentence, the share it is about, and the best methods."""

    said: str
    share: float | None = None
    best: tuple[str, ...] = ()

    def holds(self, expects: str) -> bool | None:
        """Return whether this is what the paper says; None where it was not or cannot be counted."""
        try:
            wanted = float(expects)
        except ValueError:
            return expects in self.best if self.best else None
        return None if self.share is None else abs(self.share - wanted) <= NEAR


_ABSENT = Answer(_NOT_RUN)


def answers(results: Results) -> dict[str, Answer]:
    """Return every claim of the paper, recounted on these results.

    Examples
    --------
    >>> recounted = answers(Results(types=pd.Series(["III", "III", "I", "II"])))
    >>> recounted["RQ2 guarantees"].said, recounted["RQ2 guarantees"].holds("0.95")
    ('3 of 4 (75%)', False)
    >>> recounted["RQ2 ECD"].said
    'not yet run'
    """
    out = {}
    for name, claim in claims().iterrows():
        source, count = _RULES[claim["count"]]
        table = getattr(results, source)
        if table is not None:
            out[str(name)] = count(table, claim)
        elif source == "outcomes" and results.mitigated is not None:
            worse = claim["count"] == "worse"
            out[str(name)] = _larger(results, claim) if worse else Answer(_UNKNOWN)
        else:
            out[str(name)] = _ABSENT
    return out


# ---------------------------------------------------------------------- RQ1


def _best_values(table: pd.DataFrame, claim: Any) -> Answer:
    learned = table.drop(index="independent", level="generator", errors="ignore")
    if learned.empty:
        return _ABSENT
    kl, fid = learned["KL-D"].sort_values(), learned["FID"].sort_values()
    said = (
        f"KL-D as high as {kl.iloc[-1]:.2f} ({' '.join(kl.index[-1][::-1])}), "
        f"FID as low as {fid.iloc[0]:.2f} ({' '.join(fid.index[0][::-1])})"
    )
    return Answer(said, float(kl.iloc[-1]))


def _compas(table: pd.DataFrame, claim: Any) -> Answer:
    if ("compas", "ctgan") not in table.index:
        return _ABSENT
    kl = float(table["KL-D"][("compas", "ctgan")])
    return Answer(f"CTGAN has a KL-D of {kl:.2f}", kl)


def _adult(table: pd.DataFrame, claim: Any) -> Answer:
    rows = [("adult", "ctgan"), ("adult", "tvae")]
    if not set(rows) <= set(table.index):
        return _ABSENT
    ctgan, tvae = table.loc[rows].to_numpy(dtype=float)
    smaller_is_better = table.columns.isin(["FID", "F1 loss"])
    better = table.columns[np.where(smaller_is_better, tvae < ctgan, tvae > ctgan)]
    said = f"TVAE is better by {len(better)} of 4 ({', '.join(sorted(map(str, better)))})"
    return Answer(said, len(better) / 4)


# ---------------------------------------------------------------------- RQ2


def _reaches(values: pd.Series) -> pd.Series:
    """Return where a difference reaches the paper's limit, whatever its last bit is."""
    return values.round(6) >= LIMIT


def _share(flags: pd.Series, before: str = "", after: str = "") -> Answer:
    if not len(flags):
        return _ABSENT
    share = float(flags.mean())
    return Answer(f"{before}{_part(flags)} ({share:.0%}){after}", share)


def _part(flags: pd.Series) -> str:
    return f"{int(flags.sum())} of {len(flags)}"


def _types(types: pd.Series, claim: Any) -> Answer:
    return _share(types.isin(claim["of"].split(";")))


def _discrimination(cases: pd.DataFrame, claim: Any) -> Answer:
    flags = _reaches(cases[claim["of"]].dropna())
    after = ""
    if claim["of"] == "ECD":
        located = cases["locations"].dropna()
        count, sizes = int(_reaches(located).sum()), int(_reaches(located.abs()).sum())
        if count != flags.sum() or sizes != count:
            after = f"; {count} by the locations, {sizes} in size"
    return _share(flags, "discrimination in ", after)


def _above(cases: pd.DataFrame, claim: Any) -> Answer:
    gap = (cases["ECD"] - cases[claim["of"]]).dropna()
    return _share(_reaches(gap), f"by {LIMIT} or more in ")


def _missed(cases: pd.DataFrame, claim: Any) -> Answer:
    known = cases[["ECD", "CVaR"]].dropna()
    result = known[_reaches(known["ECD"])]
    beyond = int(_reaches(result["ECD"] - result["CVaR"]).sum())
    silent = int((~_reaches(result["CVaR"])).sum())
    said = (
        f"{beyond} of {len(known)} with ECD {LIMIT} or more above CVaR, {silent} with CVaR itself "
        f"below {LIMIT}"
    )
    return Answer(said, beyond / len(known)) if len(known) else _ABSENT


# ---------------------------------------------------------------------- RQ3 and RQ4


def _values(table: pd.DataFrame, claim: Any) -> pd.Series:
    """Return the defined values of a claim's metric, of its methods and models."""
    rows = table.index.get_level_values("method").isin(claim["methods"].split(";"))
    if claim["models"]:
        rows &= table.index.get_level_values("model").isin(claim["models"].split(";"))
    values: pd.Series = table.loc[rows, claim["of"]].dropna()
    return values


def _by_method(
    values: pd.Series, claim: Any, write: Callable[[pd.Series], str], *, low: bool = False
) -> Answer:
    """Write each method's values, and name those whose mean is highest, or lowest."""
    parts = {str(method): part for method, part in values.groupby(level="method")}
    shown = [m for m in claim["methods"].split(";") if m in parts]
    if not shown:
        return _ABSENT
    said = ", ".join(f"{m} {write(parts[m])}" for m in shown)
    means = {m: round(float(parts[m].mean()), 9) for m in shown}
    first = min(means.values()) if low else max(means.values())
    # one method alone is not the best of several
    best = tuple(m for m in shown if means[m] == first) if len(shown) > 1 else ()
    return Answer(said, float(values.mean()), best)


def _mean(table: pd.DataFrame, claim: Any) -> Answer:
    sizes = _values(table, claim).abs()
    return _by_method(sizes, claim, lambda part: f"{part.mean():.3f}", low=True)


def _small(table: pd.DataFrame, claim: Any) -> Answer:
    return _by_method(_values(table, claim).abs().round(6) <= LIMIT, claim, _part)


def _wins(outcomes: pd.DataFrame, claim: Any) -> Answer:
    return _by_method(_values(outcomes, claim) == "win", claim, _part)


def _kept(outcomes: pd.DataFrame, claim: Any) -> Answer:
    not_worse = _values(outcomes, claim).isin(["win", "tie"])
    if not len(not_worse):
        return _ABSENT
    stealth = not_worse[not_worse.index.get_level_values("method") == "STEALTH"]
    own = f", STEALTH {stealth.mean():.0%}" if len(stealth) else ""
    share = float(not_worse.mean())
    said = f"AOD preserved or improved in {share:.0%} of {len(not_worse)} cases{own}"
    return Answer(said, share)


def _worse(outcomes: pd.DataFrame, claim: Any) -> Answer:
    return _increased(_values(outcomes, claim) == "loss", claim)


def _larger(results: Results, claim: Any) -> Answer:
    """Count ECDs larger than the original's, where only values are known and no outcomes."""
    if results.mitigated is None or results.cases is None:
        return _ABSENT
    after = _values(results.mitigated, claim).abs().round(6)
    before = results.cases["locations"].abs().round(6).reindex(after.droplevel("method").index)
    answer = _increased(after > before.to_numpy(), claim)
    if answer is _ABSENT:
        return answer
    # no test: what the paper counts cannot be told from these numbers
    return Answer(f"{answer.said}; larger than the original's by any amount, no test")


def _increased(flags: pd.Series, claim: Any) -> Answer:
    by_method = _by_method(flags, claim, _part, low=True)
    if by_method is _ABSENT:
        return _ABSENT
    share = float(flags.mean())
    said = f"ECD increased in {share:.0%} of {len(flags)} cases ({by_method.said})"
    return Answer(said, share, by_method.best)


_RULES: Mapping[str, tuple[str, Callable[[Any, Any], Answer]]] = {
    "best_values": ("generators", _best_values),
    "compas": ("generators", _compas),
    "adult": ("generators", _adult),
    "types": ("types", _types),
    "discrimination": ("cases", _discrimination),
    "above": ("cases", _above),
    "missed": ("cases", _missed),
    "mean": ("mitigated", _mean),
    "small": ("mitigated", _small),
    "wins": ("outcomes", _wins),
    "kept": ("outcomes", _kept),
    "worse": ("outcomes", _worse),
}
"""What each rule counts on, a field of Results, and the function that counts."""
