"""What the Fairea paper prints in its tables 4 to 7, cell by cell."""

import pandas as pd

__all__ = ["ANSWERS", "REGIONS", "table4", "table5", "table6", "table7"]

REGIONS = ("lose-lose", "poor", "inverted", "good", "win-win")

_TABLE4 = """
LFR    19 48 0 20 13    33 38 0 17 13
OP     11 16 14 40 18   20 11 13 36 20
RW     5 14 4 54 23     12 12 3 49 24
PR     1 6 0 85 8       11 0 1 81 7
AD     29 5 12 44 10    55 5 15 17 8
CO_fnr 52 2 15 30 2     52 5 14 26 2
CO_fpr 58 20 7 7 8      66 13 7 6 8
CO_weighted 64 3 21 6 7 64 2 20 6 8
ROC_SPD 19 26 0 45 9    28 25 0 37 9
ROC_AOD 45 16 4 26 9    26 28 3 34 9
ROC_EOD 47 15 4 26 9    43 14 3 31 9
EO     11 6 6 69 8      14 4 7 67 8
Mean   33 16 7 33 10    36 15 7 31 11
"""

_TABLE5 = """
LR 30 20 3 41 6
DT 43 8 12 24 12
SVM 28 18 6 36 13
Adult-Sex 49 17 1 32 1
Adult-Race 43 15 3 37 2
COMPAS-Sex 18 13 10 35 23
COMPAS-Race 26 8 15 34 16
German-Sex 34 27 9 19 12
"""

# p poor, l lose-lose, i inverted, w win-win, else thousandths of an area
_TABLE6 = """
SPD LFR         p p p p p            p p p p           p p p p p
SPD OP          p 2 76 11 l          8 111 w i         0 2 w i l
SPD RW          1 7 195 138 p        29 176 w w        1 29 w w l
SPD CO_fnr      14 19 l l l          l l l l           11 12 l l l
SPD CO_fpr      l l p l 115          l l 0 l           l l p l 63
SPD CO_weighted l l l l l            l l l l           l l l l l
SPD ROC_SPD     6 p 274 273 p        l l 112 43        p p 264 258 p
SPD ROC_AOD     l l 185 185 p        l l l l           l p 172 180 p
SPD ROC_EOD     l l 149 93 p         l l l l           l p 126 108 p
SPD EO          24 67 104 159 38     p l 2 0           21 54 118 166 18
AOD LFR         l l p p p            l l p p           p p p p p
AOD OP          p 28 108 27 l        p l w i           28 41 w i l
AOD RW          41 39 213 153 p      16 l w w          9 26 w w l
AOD CO_fnr      0 66 l l l           l l l l           37 87 l l l
AOD CO_fpr      l l p l 54           l l 0 l           l l l l 38
AOD CO_weighted l l l l l            l l l l           l l l l l
AOD ROC_SPD     l p 281 201 p        l l 140 40        p p 240 215 l
AOD ROC_AOD     p p 229 187 p        l l l l           p 1 204 201 l
AOD ROC_EOD     l l 197 112 p        l l l l           l 3 154 141 l
AOD EO          169 198 111 159 29   l l 3 0           158 87 120 160 10
"""

_TABLE7 = """
SPD PR 42 3 - - -
SPD AD 176 42 l l l
AOD PR 90 11 - - -
AOD AD l l l l l
"""

_WORDS = {"p": "poor", "l": "lose-lose", "i": "inverted", "w": "win-win", "-": "NA"}
_TASKS = ("Adult-Sex", "Adult-Race", "COMPAS-Sex", "COMPAS-Race", "German-Sex")

ANSWERS = {
    "RQ1": "about 50% of the cases have a poor effectiveness: 34% lose-lose, 15% poor trade-off",
    "RQ2": "EO is 71.4% better than CO_fnr on LR Adult-Sex under SPD (0.024 against 0.014); "
    "best on Adult is EO, best on German is CO_fpr",
    "RQ3": "the area first rises and then falls with the parameter: its turning point names the "
    "best value (no number is printed)",
    "RQ4": "mutating into the majority label gives the strictest baseline",
}


def _lines(text: str) -> list[list[str]]:
    return [line.split() for line in text.strip().splitlines()]


def _cell(word: str) -> str:
    return _WORDS[word] if word in _WORDS else f"{int(word) / 1000:.3f}"


def table4() -> pd.DataFrame:
    """Give Table 4: method by (gap, region)."""
    rows = {words[0]: [f"{w}%" for w in words[1:]] for words in _lines(_TABLE4)}
    columns = pd.MultiIndex.from_product([("SPD", "AOD"), REGIONS])
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns)


def table5() -> pd.DataFrame:
    """Give Table 5: model or task by region."""
    rows = {words[0]: [f"{w}%" for w in words[1:]] for words in _lines(_TABLE5)}
    return pd.DataFrame.from_dict(rows, orient="index", columns=pd.Index(REGIONS))


def table6() -> pd.DataFrame:
    """Give Table 6: (gap, method) by (model, task)."""
    lines = _lines(_TABLE6)
    columns = [
        (model, task)
        for model in ("LR", "DT", "SVM")
        for task in _TASKS
        if (model, task) != ("DT", "German-Sex")
    ]
    return pd.DataFrame(
        [[_cell(w) for w in words[2:]] for words in lines],
        index=pd.MultiIndex.from_tuples([(words[0], words[1]) for words in lines]),
        columns=pd.MultiIndex.from_tuples(columns),
    )


def table7() -> pd.DataFrame:
    """Give Table 7: (gap, method) by task."""
    lines = _lines(_TABLE7)
    return pd.DataFrame(
        [[_cell(w) for w in words[2:]] for words in lines],
        index=pd.MultiIndex.from_tuples([(words[0], words[1]) for words in lines]),
        columns=pd.Index(_TASKS),
    )
