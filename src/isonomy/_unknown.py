"""Values of a protected attribute that say it is not known: words, in any of many languages, and codes.

Words say so for certain: their rows are listed, counted, and compared with no group. ``NA`` and
``null`` are not among them: they may be the code of a group, and files keep them as words. Codes
such as 9 or ``UNK`` may mean anything; their rows are a group, and a note asks.
"""

from collections.abc import Iterable
from typing import Any
from unicodedata import normalize

import numpy as np
import pandas as pd

from isonomy._validate import listed

_TEXT = """
unknown|not known|missing|undetermined|not determined|unspecified|not specified|not stated
not reported|unreported|not recorded|not available|not applicable|not provided|not given
not answered|not asked|not disclosed|undisclosed|not declared|undeclared|no answer
no response|non response|no data|no information|refused|declined|declined to answer
declined to state|decline to answer|decline to state|prefer not to say|prefer not to answer
prefer not to disclose|prefer not to state|i prefer not to say|i prefer not to answer
choose not to disclose|chose not to disclose|rather not say|don't know|dont know|do not know
i do not wish to answer|withheld|n/a|nan|unbekannt|nicht bekannt|keine angabe|keine angaben
ohne angabe|nicht angegeben|k.a.|k. a.|k.a|weiß nicht|weiss nicht|onbekend|niet bekend
geen opgave|okänd|okänt|uppgift saknas|ej angivet|ukendt|uoplyst|ukjent|uoppgitt|tuntematon
ei tiedossa|inconnu|inconnue|non connu|non renseigné|non renseignée|non précisé|non précisée
non communiqué|non déclaré|non spécifié|ne sait pas|sans réponse|sans objet|desconocido
desconocida|no conocido|no especificado|no especificada|no informado|no declarado|no consta
no sabe|no contesta|ns/nc|sin dato|sin datos|sin información|sin especificar|sin respuesta
se ignora|desconhecido|desconhecida|não informado|não informada|não especificado
não declarado|não sabe|sem informação|ignorado|ignorada|sconosciuto|sconosciuta|non noto
non nota|non specificato|non specificata|non dichiarato|non disponibile|non indicato
desconegut|desconeguda|necunoscut|necunoscută|nespecificat|nieznany|nieznana|nieznane
brak danych|nie podano|neznámý|neznámá|neznámé|neuvedeno|nezjištěno|neznámy|neznáma
neuvedené|ismeretlen|nincs adat|neznano|neznan|nepoznato|nepoznat|άγνωστο|άγνωστος|άγνωστη
bilinmiyor|belirtilmemiş|неизвестно|неизвестен|неизвестна|неизвестный|не указано|не указан
нет данных|невідомо|не вказано|未知|不明|不詳|不详|未填写|無回答|未回答|回答なし|알 수 없음|미상|모름|무응답|غير معروف
غير محدد|לא ידוע|không rõ|không biết|tidak diketahui
"""
_WORDS = frozenset(word.casefold() for line in _TEXT.split("\n") for word in line.split("|"))
_BLANK = frozenset({"", "?", "-", "--", "–", "—", ".", "..", "...", "??", "???"})
_CODES = frozenset({"u", "unk", "unkn", "dk", "nk", "n.d.", "n.a.", "na", "null", "none", "nil"})
_NINES = (9, 99, 999, 9999)


def is_missing(value: Any) -> bool:
    """Return whether an engine gave a value that is not known."""
    return value is None or value is pd.NaT or (isinstance(value, float) and np.isnan(value))


def is_unknown(value: Any) -> bool:
    """Return whether a value of a protected attribute says that it is not known.

    Examples
    --------
    >>> is_unknown("Unknown "), is_unknown("(missing)"), is_unknown("Other"), is_unknown("NA")
    (True, True, False, False)
    >>> is_unknown("unbekannt"), is_unknown("Non renseigné"), is_unknown("NOT_STATED")
    (True, True, True)
    """
    if not isinstance(value, str):
        return is_missing(value)
    word = " ".join(normalize("NFC", value).casefold().replace("_", " ").replace("’", "'").split())
    return word in _BLANK or word in _WORDS or word.strip("()[]<>{}*.! ") in _WORDS


def is_unknown_group(group: tuple[Any, ...]) -> bool:
    """Return whether some attribute of a group is not known."""
    return any(is_unknown(value) for value in group)


def may_be_unknown(values: Iterable[Any]) -> list[Any]:
    """Return the values that are often codes for unknown: UNK, NA, 9 after 1 and 2, -1 below 0.

    Examples
    --------
    >>> may_be_unknown(["F", "M", "U"]), may_be_unknown([1, 2, 9]), may_be_unknown([0, 1, -9])
    (['U'], [9], [-9])
    >>> may_be_unknown([-1, 1]), may_be_unknown(range(1, 10)), may_be_unknown(["A", "B", "O"])
    ([], [], [])
    """
    values = [v for v in values if not is_unknown(v)]
    found = [v for v in values if isinstance(v, str) and v.casefold().strip() in _CODES]
    numbers = {number: v for v in values if (number := _whole(v)) is not None}
    natural = sorted(n for n in numbers if n >= 0 and n not in _NINES)
    if len(natural) > 1:  # of two values, such as -1 and 1, each is a group
        odd = (n for n in numbers if n < 0 or (n in _NINES and n > natural[-1] + 1))
        found += [numbers[n] for n in sorted(odd)]
    return found


def code_notes(attribute: str, values: Iterable[Any]) -> list[str]:
    """Ask about values of a protected attribute that may be codes for unknown.

    Examples
    --------
    >>> code_notes("sex", [1, 2, 9])
    ['9 of sex may be a code for a value that is not known; here it is a group like any other: if \
it is none, leave these cells empty.']
    """
    codes = may_be_unknown(values)
    if not codes:
        return []
    one = len(codes) == 1
    are, is_a = ("it is", "a group") if one else ("they are", "groups")
    if_so = "it is none, leave these cells" if one else "they are none, leave their cells"
    note = (
        f"{listed(codes)} of {attribute} may be {'a code' if one else 'codes'} for a value that is "
        f"not known; here {are} {is_a} like any other: if {if_so} empty."
    )
    return [note]


def _whole(value: Any) -> int | None:
    """Return a whole number, also one written as a word (``"9"``)."""
    if isinstance(value, bool | np.bool_):
        return None
    if isinstance(value, int | np.integer):  # it may be beyond any float
        return int(value)
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return int(number) if np.isfinite(number) and number.is_integer() else None
