"""Exceptions and warnings of Isonomy.

::

    IsonomyError
    ├── InputError (ValueError)            what was given cannot be used
    │   ├── UnknownName (LookupError)      a name that does not exist, with a did-you-mean
    │   └── UndefinedError                 a quantity that was demanded does not exist for this data
    ├── NotApplicable                      a method that cannot serve this case, with the reason
    ├── DataUnavailable (OSError)          a dataset that could not be fetched, with what to do
    └── MissingExtra (ImportError)         an optional library that is not installed

    IsonomyWarning (UserWarning)
    ├── UndefinedMetricWarning             0 / 0 or an empty group: the value is NaN
    ├── DegenerateOutputWarning            a classifier that predicts one class only
    ├── UnmetConstraintWarning             a limit on a disparity that could not be reached
    ├── DataCaveatWarning                  something a user of this dataset must know
    ├── ThinEvidenceWarning                a gate that a policy opens on too little evidence
    └── VersionChangeWarning               a run continues with other versions of libraries

Every message is one sentence: what must be, what was got, and what to do.
"""

__all__ = [
    "DataCaveatWarning",
    "DataUnavailable",
    "DegenerateOutputWarning",
    "InputError",
    "IsonomyError",
    "IsonomyWarning",
    "MissingExtra",
    "NotApplicable",
    "ThinEvidenceWarning",
    "UndefinedError",
    "UndefinedMetricWarning",
    "UnknownName",
    "UnmetConstraintWarning",
    "VersionChangeWarning",
]


class IsonomyError(Exception):
    """Base of every error that Isonomy raises on purpose."""


class InputError(IsonomyError, ValueError):
    """What was given cannot be used."""


class UnknownName(InputError, LookupError):
    """A name that does not exist where it was looked up."""


class UndefinedError(InputError):
    """A quantity that was demanded does not exist for this data."""


class NotApplicable(IsonomyError):
    """A method that cannot serve this case; the message says why."""


class DataUnavailable(IsonomyError, OSError):
    """A dataset that could not be fetched; the message says what to do."""


class MissingExtra(IsonomyError, ImportError):
    """An optional library that is not installed; the message names the extra."""


class IsonomyWarning(UserWarning):
    """Base of every warning that Isonomy emits."""


class UndefinedMetricWarning(IsonomyWarning):
    """A metric is 0 / 0 or concerns an empty group; its value is NaN."""


class DegenerateOutputWarning(IsonomyWarning):
    """A classifier predicts one class only."""


class UnmetConstraintWarning(IsonomyWarning):
    """A limit on a disparity could not be reached; the nearest was kept."""


class DataCaveatWarning(IsonomyWarning):
    """Something a user of this dataset must know."""


class ThinEvidenceWarning(IsonomyWarning):
    """A policy lets a gap pass for which there is too little evidence."""


class VersionChangeWarning(IsonomyWarning):
    """A run continues with other versions of Python, libraries or loaders than it began with."""
