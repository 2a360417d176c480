"""Messages as the command line says them: by its options, where the API has parameters.

A message for both readers holds both, ``favorable= (--favorable)``: here the option is kept. Other
parameters are named by their options, and Python's words for nothing and truth are written as the
grammar of names writes them.
"""

import re

OPTIONS = {
    "sensitive_features": "--sensitive",
    "sample_weight": "--weight",
    "score": "--score",
    "label": "--label",
    "favorable": "--favorable",
    "privileged": "--privileged",
    "models": "--model",
    "methods": "--method",
    "random_state": "--seed",
    "groups": "--group",
    "columns": "--columns",
    "bins": "--bins",
    "drop": "--drop",
    "table": "--table",
    "horizon": "--horizon",
    "resamples": "--resamples",
    "confidence": "--confidence",
    "metrics": "--metric",
}
"""The options of parameters of the API that messages name."""

_BOTH = re.compile(r"\b\w+=(?:'[^']*'|\([^()]*\)|[^\s(]*) \((?:on the command line )?(--[^()]+)\)")
_KEYWORD = re.compile(rf"(?<![\w-])({'|'.join(OPTIONS)})=(?:\.\.\.|(?=[\s.,:;]|$))")
_NAME = re.compile(r"(?<![\w'-])(sensitive_features|sample_weight|random_state)\b")
_COMMA = re.compile(r"did you mean '([^'()]*,[^'()]*)'\?$")
_EQUALS = re.compile(r"(?<=^There is no attribute )('.*'); did you mean '([^'()]*=[^'()]*)'\?$")
_WORDS = re.compile(r"\b(?:True or False|(?:be|got|or) (?:None|True|False))\b")
_NUMPY = re.compile(r"\bnp\.\w+\(([^()]*)\)")


def spoken(message: str) -> str:
    """Return a message with the options of the command line for the parameters of the API.

    Examples
    --------
    >>> spoken("it must be named: pass favorable= (on the command line --favorable).")
    'it must be named: pass --favorable.'
    >>> spoken("cut it in two, label='wage>20' (on the command line --label 'wage>20').")
    "cut it in two, --label 'wage>20'."
    >>> spoken("tune must be True or False or None; got np.int64(1)")
    'tune must be true or false or none; got 1'
    >>> spoken("predict reads the protected attribute; pass sensitive_features=...")
    'predict reads the protected attribute; pass --sensitive'
    >>> print(spoken("There is no column 'Town'; did you mean 'Town, county'?"))
    There is no column 'Town'; did you mean '"Town, county"' (quotes keep its commas)?
    """
    message = _COMMA.sub(r"""did you mean '"\1"' (quotes keep its commas)?""", message)
    message = _EQUALS.sub(r"""\1; did you mean '"\2"' (quotes keep its =)?""", message)
    message = _BOTH.sub(r"\1", message)
    message = _KEYWORD.sub(lambda found: OPTIONS[found[1]], message)
    message = _NAME.sub(lambda found: OPTIONS[found[1]], message)
    message = _NUMPY.sub(r"\1", message)
    return _WORDS.sub(lambda found: found[0].lower(), message)
