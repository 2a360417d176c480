"""The counted claims of Monjezi et al. (2025): as printed, and recounted on any set of results.

``printed/claims.csv`` holds one claim per line: what the text says, and how to count it here
(``count`` names the rule, ``of`` the metric or the types, then methods and models).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from isonomy.papers.printed import read_printed

LIMIT = 0.05
"""A difference of this size or more is discrimination, in the paper's counts."""

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


def sentences(results: Results) -> dict[str, str]:
    """Return every claim of the paper, recounted on these results.

    Examples
    --------
    >>> recounted = sentences(Results(types=pd.Series(["III", "III", "I", "II"])))
    >>> recounted["RQ2 guarantees"], recounted["RQ2 ECD"]
    ('3 of 4 (75%)', 'not yet run')
    """
    said = {}
    for name, claim in claims().iterrows():
        source, count = _RULES[claim["count"]]
        table = getattr(results, source)
        if table is not None:
            said[str(name)] = count(table, claim)
        elif source == "outcomes" and results.mitigated is not None:
            said[str(name)] = _larger(results, claim) if claim["count"] == "worse" else _UNKNOWN
        else:
            said[str(name)] = _NOT_RUN
    return said


# ---------------------------------------------------------------------- RQ1


def _best_values(table: pd.DataFrame, claim: Any) -> str:
    learned = table.drop(index="independent", level="generator", errors="ignore")
    if learned.empty:
        return _NOT_RUN
    kl, fid = learned["KL-D"].sort_values(), learned["FID"].sort_values()
    return (
        f"KL-D as high as {kl.iloc[-1]:.2f} ({' '.join(kl.index[-1][::-1])}), "
        f"FID as low as {fid.iloc[0]:.2f} ({' '.join(fid.index[0][::-1])})"
    )


def _compas(table: pd.DataFrame, claim: Any) -> str:
    if ("compas", "ctgan") not in table.index:
        return _NOT_RUN
    return f"CTGAN has a KL-D of {table['KL-D'][('compas', 'ctgan')]:.2f}"


def _adult(table: pd.DataFrame, claim: Any) -> str:
    rows = [("adult", "ctgan"), ("adult", "tvae")]
    if not set(rows) <= set(table.index):
        return _NOT_RUN
    ctgan, tvae = table.loc[rows].to_numpy(dtype=float)
    smaller_is_better = table.columns.isin(["FID", "F1 loss"])
    better = table.columns[np.where(smaller_is_better, tvae < ctgan, tvae > ctgan)]
    return f"TVAE is better by {len(better)} of 4 ({', '.join(sorted(map(str, better)))})"


# ---------------------------------------------------------------------- RQ2


def _reaches(values: pd.Series) -> pd.Series:
    """Return where a difference reaches the paper's limit, whatever its last bit is."""
    return values.round(6) >= LIMIT


def _share(flags: pd.Series) -> str:
    return f"{_part(flags)} ({flags.mean():.0%})" if len(flags) else _NOT_RUN


def _part(flags: pd.Series) -> str:
    return f"{int(flags.sum())} of {len(flags)}"


def _types(types: pd.Series, claim: Any) -> str:
    return _share(types.isin(claim["of"].split(";")))


def _discrimination(cases: pd.DataFrame, claim: Any) -> str:
    flags = _reaches(cases[claim["of"]].dropna())
    said = f"discrimination in {_share(flags)}"
    if claim["of"] == "ECD":
        located = cases["locations"].dropna()
        count, sizes = int(_reaches(located).sum()), int(_reaches(located.abs()).sum())
        if count != flags.sum() or sizes != count:
            said += f"; {count} by the locations, {sizes} in size"
    return said


def _above(cases: pd.DataFrame, claim: Any) -> str:
    gap = (cases["ECD"] - cases[claim["of"]]).dropna()
    return f"by {LIMIT} or more in {_share(_reaches(gap))}"


def _missed(cases: pd.DataFrame, claim: Any) -> str:
    known = cases[["ECD", "CVaR"]].dropna()
    result = known[_reaches(known["ECD"])]
    beyond = int(_reaches(result["ECD"] - result["CVaR"]).sum())
    silent = int((~_reaches(result["CVaR"])).sum())
    return (
        f"{beyond} of {len(known)} with ECD {LIMIT} or more above CVaR, {silent} with CVaR itself "
        f"below {LIMIT}"
    )


# ---------------------------------------------------------------------- RQ3 and RQ4


def _values(table: pd.DataFrame, claim: Any) -> pd.Series:
    """Return the defined values of a claim's metric, of its methods and models."""
    rows = table.index.get_level_values("method").isin(claim["methods"].split(";"))
    if claim["models"]:
        rows &= table.index.get_level_values("model").isin(claim["models"].split(";"))
    values: pd.Series = table.loc[rows, claim["of"]].dropna()
    return values


def _by_method(values: pd.Series, claim: Any, write: Callable[[pd.Series], str]) -> str:
    parts = {str(method): part for method, part in values.groupby(level="method")}
    written = [f"{m} {write(parts[m])}" for m in claim["methods"].split(";") if m in parts]
    return ", ".join(written) or _NOT_RUN


def _mean(table: pd.DataFrame, claim: Any) -> str:
    return _by_method(_values(table, claim).abs(), claim, lambda sizes: f"{sizes.mean():.3f}")


def _small(table: pd.DataFrame, claim: Any) -> str:
    return _by_method(_values(table, claim).abs().round(6) <= LIMIT, claim, _part)


def _wins(outcomes: pd.DataFrame, claim: Any) -> str:
    return _by_method(_values(outcomes, claim) == "win", claim, _part)


def _kept(outcomes: pd.DataFrame, claim: Any) -> str:
    not_worse = _values(outcomes, claim).isin(["win", "tie"])
    if not len(not_worse):
        return _NOT_RUN
    stealth = not_worse[not_worse.index.get_level_values("method") == "STEALTH"]
    own = f", STEALTH {stealth.mean():.0%}" if len(stealth) else ""
    return f"AOD preserved or improved in {not_worse.mean():.0%} of {len(not_worse)} cases{own}"


def _worse(outcomes: pd.DataFrame, claim: Any) -> str:
    return _increased(_values(outcomes, claim) == "loss", claim)


def _larger(results: Results, claim: Any) -> str:
    """Count ECDs larger than the original's, where only values are known and no outcomes."""
    if results.mitigated is None or results.cases is None:
        return _NOT_RUN
    after = _values(results.mitigated, claim).abs().round(6)
    before = results.cases["locations"].abs().round(6).reindex(after.droplevel("method").index)
    said = _increased(after > before.to_numpy(), claim)
    return (
        said if said == _NOT_RUN else f"{said}; larger than the original's by any amount, no test"
    )


def _increased(flags: pd.Series, claim: Any) -> str:
    if not len(flags):
        return _NOT_RUN
    by_method = _by_method(flags, claim, _part)
    return f"ECD increased in {flags.mean():.0%} of {len(flags)} cases ({by_method})"


_RULES: Mapping[str, tuple[str, Callable[[Any, Any], str]]] = {
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
