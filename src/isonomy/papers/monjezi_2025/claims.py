"""The counted claims of Monjezi et al. (2025): as printed, and as sentences of any set of results."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

__all__ = ["AVERAGE", "PUBLISHED", "Results", "TAIL", "sentences"]

AVERAGE = ("EG", "STEALTH", "MAAT", "Fair-SMOTE")
"""The methods that look at averages, in the order in which the paper's text names them."""

TAIL = ("ECD-Fair", "MiniMax")
"""The methods that look at the tail."""

LIMIT = 0.05
_UNKNOWN = "cannot be told without several runs of each case"


@dataclass(frozen=True)
class Results:
    """What the claims are counted on; numbers, undefined as NaN, None where there are none.

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


PUBLISHED: dict[str, str] = {
    "RQ1 best values": "KL-D as high as 0.98, FID as low as 0.008",
    "RQ1 Compas": "CTGAN stands out with a KL-D of 0.98",
    "RQ1 Adult": "TVAE is better by all four metrics",
    "RQ2 type III": "62 of 80 (78%)",
    "RQ2 type I": "14 of 80 (18%)",
    "RQ2 guarantees": "76 of 80 (95%)",
    "RQ2 ECD": "discrimination in 19 of 40 cases (48%)",
    "RQ2 ACD": "discrimination in 10 of 40 cases (25%)",
    "RQ2 ECD above ACD": "significantly in 13 of 40 cases (33%); 25% in the introduction",
    "RQ2 CVaR": "18 of 40 cases of discrimination against the unprivileged missed by CVaR",
    "RQ3 AOD wins": "EG 19, STEALTH 14, MAAT 6, Fair-SMOTE 4 of 40",
    "RQ3 mean AOD": "EG 0.03, STEALTH 0.07, MAAT 0.07, Fair-SMOTE 0.08",
    "RQ3 AOD at most .05": "EG 32, STEALTH 22, MAAT 22, Fair-SMOTE 9 of 40",
    "RQ3 ECD wins": "EG 15, STEALTH 31, MAAT 12, Fair-SMOTE 9 of 40",
    "RQ3 mean ECD": "EG 0.20, STEALTH 0.04, MAAT 0.08, Fair-SMOTE 0.12",
    "RQ3 ECD at most .05": "EG 11, STEALTH 32, MAAT 15, Fair-SMOTE 9 of 40",
    "RQ3 average kept": "AOD preserved or improved in 63% of cases, STEALTH 65%",
    "RQ3 tail worse": "ECD increased in 35% of cases, STEALTH 10%",
    "RQ4 ECD wins": "ECD-Fair 18, MiniMax 10, STEALTH 16 of 20",
    "RQ4 AOD wins": "ECD-Fair 9, MiniMax 5, STEALTH 8 of 20",
    "RQ4 EOD wins": "ECD-Fair 10, MiniMax 7, STEALTH 6 of 20",
    "RQ4 mean AOD": "ECD-Fair 0.04",
    "RQ4 mean ECD": "ECD-Fair 0.03",
    "RQ4 AOD at most .05": "ECD-Fair 15 of 20",
    "RQ4 ECD at most .05": "ECD-Fair 18 of 20",
    "RQ4 tail worse": "ECD-Fair 0, MiniMax 30% (abstract), STEALTH 2 of 20",
}
"""What the text says, by claim."""


def sentences(results: Results) -> dict[str, str]:
    """Say every claim of the paper with the numbers of these results.

    Examples
    --------
    >>> told = sentences(Results(types=pd.Series(["III", "III", "I", "II"])))
    >>> told["RQ2 guarantees"], told["RQ2 ECD"]
    ('3 of 4 (75%)', 'not yet run')
    """
    made: dict[str, Callable[[Results], str]] = {
        "RQ1 best values": _best_values,
        "RQ1 Compas": _compas,
        "RQ1 Adult": _adult,
        "RQ2 type III": lambda r: _types(r, "III"),
        "RQ2 type I": lambda r: _types(r, "I"),
        "RQ2 guarantees": lambda r: _types(r, "I", "III"),
        "RQ2 ECD": _ecd,
        "RQ2 ACD": _acd,
        "RQ2 ECD above ACD": _above_acd,
        "RQ2 CVaR": _missed,
        "RQ3 AOD wins": lambda r: _wins(r, "AOD", AVERAGE),
        "RQ3 mean AOD": lambda r: _mean(r, "AOD", AVERAGE),
        "RQ3 AOD at most .05": lambda r: _small(r, "AOD", AVERAGE),
        "RQ3 ECD wins": lambda r: _wins(r, "ECD", AVERAGE),
        "RQ3 mean ECD": lambda r: _mean(r, "ECD", AVERAGE),
        "RQ3 ECD at most .05": lambda r: _small(r, "ECD", AVERAGE),
        "RQ3 average kept": _kept,
        "RQ3 tail worse": lambda r: _worse(r, AVERAGE),
        "RQ4 ECD wins": lambda r: _wins(r, "ECD", (*TAIL, "STEALTH"), ("dnn", "lr")),
        "RQ4 AOD wins": lambda r: _wins(r, "AOD", (*TAIL, "STEALTH"), ("dnn", "lr")),
        "RQ4 EOD wins": lambda r: _wins(r, "EOD", (*TAIL, "STEALTH"), ("dnn", "lr")),
        "RQ4 mean AOD": lambda r: _mean(r, "AOD", TAIL),
        "RQ4 mean ECD": lambda r: _mean(r, "ECD", TAIL),
        "RQ4 AOD at most .05": lambda r: _small(r, "AOD", TAIL),
        "RQ4 ECD at most .05": lambda r: _small(r, "ECD", TAIL),
        "RQ4 tail worse": lambda r: _worse(r, (*TAIL, "STEALTH"), ("dnn", "lr")),
    }
    return {claim: make(results) for claim, make in made.items()}


_NOT_RUN = "not yet run"


def _share(part: int, of: int) -> str:
    return f"{part} of {of} ({part / of:.0%})" if of else _NOT_RUN


def _reaches(values: pd.Series) -> pd.Series:
    """Say where a difference reaches the paper's limit; printed decimals must not part by a bit."""
    return values.round(6) >= LIMIT


def _best_values(r: Results) -> str:
    if r.generators is None:
        return _NOT_RUN
    made = r.generators.drop(index="independent", level="generator", errors="ignore")
    if made.empty:
        return _NOT_RUN
    kl, fid = made["KL-D"].sort_values(), made["FID"].sort_values()
    return (
        f"KL-D as high as {kl.iloc[-1]:.2f} ({' '.join(kl.index[-1][::-1])}), "
        f"FID as low as {fid.iloc[0]:.2f} ({' '.join(fid.index[0][::-1])})"
    )


def _compas(r: Results) -> str:
    if r.generators is None or ("compas", "ctgan") not in r.generators.index:
        return _NOT_RUN
    return f"CTGAN has a KL-D of {r.generators['KL-D'][('compas', 'ctgan')]:.2f}"


def _adult(r: Results) -> str:
    wanted = [("adult", "ctgan"), ("adult", "tvae")]
    if r.generators is None or not set(wanted) <= set(r.generators.index):
        return _NOT_RUN
    ctgan, tvae = r.generators.loc[wanted].to_numpy(dtype=float)
    small = [name in ("FID", "F1 loss") for name in r.generators.columns]
    won = np.where(small, tvae < ctgan, tvae > ctgan)
    better = [str(name) for name in r.generators.columns[won]]
    return f"TVAE is better by {len(better)} of 4 ({', '.join(sorted(better))})"


def _types(r: Results, *kinds: str) -> str:
    if r.types is None:
        return _NOT_RUN
    return _share(int(r.types.isin(kinds).sum()), len(r.types))


def _ecd(r: Results) -> str:
    if r.cases is None:
        return _NOT_RUN
    column, located = r.cases["ECD"].dropna(), r.cases["locations"].dropna()
    said = f"discrimination in {_share(int(_reaches(column).sum()), len(column))}"
    count, sizes = int(_reaches(located).sum()), int(_reaches(located.abs()).sum())
    if count != int(_reaches(column).sum()) or sizes != count:
        said += f"; {count} by the locations, {sizes} in size"
    return said


def _acd(r: Results) -> str:
    if r.cases is None:
        return _NOT_RUN
    column = r.cases["ACD"].dropna()
    return f"discrimination in {_share(int(_reaches(column).sum()), len(column))}"


def _above_acd(r: Results) -> str:
    if r.cases is None:
        return _NOT_RUN
    gap = (r.cases["ECD"] - r.cases["ACD"]).dropna()
    return f"by {LIMIT} or more in {_share(int(_reaches(gap).sum()), len(gap))}"


def _missed(r: Results) -> str:
    if r.cases is None:
        return _NOT_RUN
    known = r.cases[["ECD", "CVaR"]].dropna()
    found = known[_reaches(known["ECD"])]
    beyond = int(_reaches(found["ECD"] - found["CVaR"]).sum())
    silent = int((~_reaches(found["CVaR"])).sum())
    return (
        f"{beyond} of {len(known)} with ECD {LIMIT} or more above CVaR, {silent} with CVaR itself "
        f"below {LIMIT}"
    )


def _of(frame: pd.DataFrame | None, method: str, models: Sequence[str] | None) -> pd.DataFrame:
    if frame is None or method not in frame.index.get_level_values("method"):
        return pd.DataFrame(columns=["AOD", "EOD", "ECD"])
    keep = frame.index.get_level_values("method") == method
    if models is not None:
        keep &= frame.index.get_level_values("model").isin(models)
    return frame[keep].droplevel("method")


def _each(methods: Sequence[str], say: Callable[[str], str]) -> str:
    told = [f"{method} {said}" for method in methods if (said := say(method))]
    return ", ".join(told) if told else _NOT_RUN


def _mean(r: Results, metric: str, methods: Sequence[str]) -> str:
    def say(method: str) -> str:
        values = _of(r.mitigated, method, None)[metric].dropna().abs()
        return f"{values.mean():.3f}" if len(values) else ""

    return _each(methods, say)


def _small(r: Results, metric: str, methods: Sequence[str]) -> str:
    def say(method: str) -> str:
        values = _of(r.mitigated, method, None)[metric].dropna().abs()
        return f"{int((values.round(6) <= LIMIT).sum())} of {len(values)}" if len(values) else ""

    return _each(methods, say)


def _wins(
    r: Results, metric: str, methods: Sequence[str], models: Sequence[str] | None = None
) -> str:
    if r.outcomes is None:
        return _UNKNOWN if r.mitigated is not None else _NOT_RUN

    def say(method: str) -> str:
        words = _of(r.outcomes, method, models)[metric].dropna()
        return f"{int((words == 'win').sum())} of {len(words)}" if len(words) else ""

    return _each(methods, say)


def _kept(r: Results) -> str:
    if r.outcomes is None:
        return _UNKNOWN if r.mitigated is not None else _NOT_RUN
    words = pd.concat([_of(r.outcomes, method, None)["AOD"].dropna() for method in AVERAGE])
    kept = words.isin(["win", "tie"])
    stealth = _of(r.outcomes, "STEALTH", None)["AOD"].dropna().isin(["win", "tie"])
    if not len(kept):
        return _NOT_RUN
    own = f", STEALTH {stealth.mean():.0%}" if len(stealth) else ""
    return f"AOD preserved or improved in {kept.mean():.0%} of {len(kept)} cases{own}"


def _worse(r: Results, methods: Sequence[str], models: Sequence[str] | None = None) -> str:
    """Count losses in ECD, or, where only values are known, sizes above the original's."""
    if r.outcomes is not None:
        words = {m: _of(r.outcomes, m, models)["ECD"].dropna() == "loss" for m in methods}
        told = {m: w for m, w in words.items() if len(w)}
        return _counted(told, "") if told else _NOT_RUN
    if r.mitigated is None or r.cases is None:
        return _NOT_RUN
    before = r.cases["locations"].abs().round(6)
    more = {}
    for method in methods:
        after = _of(r.mitigated, method, models)["ECD"].dropna().abs().round(6)
        if len(after):
            more[method] = after > before.reindex(after.index)
    if not more:
        return _NOT_RUN
    return _counted(more, "; larger than the original's by any amount, no test")


def _counted(flags: dict[str, pd.Series], ending: str) -> str:
    every = pd.concat([*flags.values()])
    each = ", ".join(f"{m} {int(f.sum())} of {len(f)}" for m, f in flags.items())
    return f"ECD increased in {every.mean():.0%} of {len(every)} cases ({each}){ending}"
