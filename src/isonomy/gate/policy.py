"""A policy: which gaps are accepted, at which confidence, until when, and what thin evidence does."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, Self, get_args

from isonomy._toml import check_entries, read_toml, written
from isonomy._validate import (
    as_names,
    check_choice,
    check_least,
    check_share,
    check_types,
    match_values,
    unknown_name,
)
from isonomy.audit import FEWEST_ROWS
from isonomy.audit.judge import thresholds
from isonomy.errors import InputError
from isonomy.metrics import get_metric

FILE = "isonomy.toml"
"""What a policy's file is called where none is named; a pyproject.toml has it in ``TABLE``."""
TABLE = "tool.isonomy"

Thin = Literal["fail", "warn", "pass"]

COMMENTS = {
    "attributes": "the protected attributes",
    "confidence": "of every verdict, and of all violated ranges together",
    "fewest_rows": "a gap between rates of fewer rows than this is too little evidence",
    "thin_evidence": "what too little evidence does: fail, warn or pass",
    "single_groups": "judge every group against the privileged one, too",
    "expires": "from the next day on the gate is closed until the policy is reviewed",
    "metrics": "accepted ranges; a number t accepts -t to t, or, of a ratio, t to 1/t",
    "data": "the file, and what its columns are",
    "exceptions": "violations that are accepted for now",
    "earlier": "the gaps must be no wider than in this earlier audit (isonomy audit --json)",
}


@dataclass(frozen=True)
class Columns:
    """The file to check, and what its columns are: the arguments of :func:`isonomy.audit_file`."""

    file: str | None = None
    table: str | None = None
    label: str = "y_true"
    prediction: str = "y_pred"
    score: str | None = None
    weight: str | None = None
    favorable: Sequence[Any] = ()
    privileged: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    bins: Mapping[str, Sequence[float]] = field(default_factory=dict)
    strata: Sequence[str] = ()

    def __post_init__(self) -> None:
        check_types(self)
        _store(self, favorable=_several(self.favorable), strata=_several(self.strata))
        for name, example in (("privileged", '{sex = "m"}'), ("bins", "{age = [25, 60]}")):
            given = getattr(self, name)
            if not isinstance(given, Mapping):
                raise InputError(
                    f"{name} must be a table by attribute, {name} = {example}; got {given!r}."
                )
            _store(self, **{name: {str(a): _several(v) for a, v in given.items()}})


@dataclass(frozen=True)
class Accepted:
    """A violation that is accepted until a date, and why; ``group`` limits it to a single group."""

    metric: str
    attribute: str
    reason: str
    expires: dt.date
    group: str | None = None

    def __post_init__(self) -> None:
        check_types(self)
        if not self.reason.strip():
            raise InputError("An accepted exception must have a reason; it is empty.")
        _store(self, metric=get_metric(self.metric).name, expires=_date("expires", self.expires))


@dataclass(frozen=True)
class Earlier:
    """An earlier audit that gaps are compared with: its JSON file, and how much worse is no worse.

    By default the gate closes where gaps are *shown* to have become wider. With
    ``thin_evidence="fail"`` it opens only where they are shown to be wider by no more than
    ``margin``.
    """

    audit: str
    margin: float = 0.0
    thin_evidence: Thin = "warn"

    def __post_init__(self) -> None:
        check_types(self)
        check_least("margin", self.margin, 0.0)
        check_choice("way to treat thin evidence", self.thin_evidence, get_args(Thin))


@dataclass(frozen=True, kw_only=True)
class Policy:
    """What a gate accepts.

    Parameters
    ----------
    attributes : str or sequence of str
        The protected attributes.
    metrics : mapping of name to number or pair
        The accepted range of each group metric: ``t`` accepts differences in [-t, t] and ratios in
        [t, 1/t]; a pair (low, high) sets both ends.
    confidence : float
        Of every verdict by itself; and no violation is said of a fair model more often than this
        leaves, whatever the number of metrics and groups. Gaps that are compared with an earlier
        audit are a second family: with both, twice as often.
    fewest_rows : int
        A gap between rates of which one rests on fewer rows is too little evidence; at least 30.
    thin_evidence : {"fail", "warn", "pass"}
        What too little evidence does: close the gate, open it with a warning, or open it.
    single_groups : bool
        Whether every group is judged against the privileged one too, where there are several.
    intersections : bool
        Whether the intersections of all attributes are judged too.
    expires : date, optional
        The last day on which the policy can be used.
    exceptions : sequence of Accepted
        Violations that are accepted until a date.
    earlier : Earlier, optional
        An earlier audit that gaps must not be wider than.
    data : Columns
        The file to check, and what its columns are.
    path : path, optional
        Where the policy was read; files that it names lie beside it.

    Examples
    --------
    >>> policy = Policy(attributes="sex", metrics={"spd": 0.1, "disparate_impact": 0.8})
    >>> policy.metrics["disparate_impact"]
    (0.8, 1.25)
    >>> import tomllib
    >>> Policy.from_dict(tomllib.loads(policy.to_toml())) == policy
    True
    """

    attributes: tuple[str, ...]
    metrics: Mapping[str, tuple[float, float]]
    confidence: float = 0.95
    fewest_rows: int = FEWEST_ROWS
    thin_evidence: Thin = "fail"
    single_groups: bool = True
    intersections: bool = False
    expires: dt.date | None = None
    exceptions: tuple[Accepted, ...] = ()
    earlier: Earlier | None = None
    data: Columns = field(default_factory=Columns)
    path: Path | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        check_types(self)
        names = _several(self.attributes)
        if not names or not all(isinstance(a, str) for a in names):
            raise InputError(
                f'A policy must name its protected attributes, attributes = ["sex"]; got {names!r}.'
            )
        if not isinstance(self.metrics, Mapping) or not self.metrics:
            raise InputError(
                "A policy must have a table [metrics] with the range that it accepts of each, such "
                f"as statistical_parity_difference = 0.1; got {self.metrics!r}."
            )
        chosen = [get_metric(m) for m in self.metrics]
        ranges = thresholds(self.metrics, chosen)
        check_share("confidence", self.confidence)
        check_least("fewest_rows", self.fewest_rows, FEWEST_ROWS)
        check_choice("way to treat thin evidence", self.thin_evidence, get_args(Thin))
        expires = None if self.expires is None else _date("expires", self.expires)
        _store(self, attributes=names, metrics=ranges, expires=expires)
        _store(self, exceptions=tuple(self.exceptions))
        for one in self.exceptions:
            match_values(one.metric, list(ranges), what="metric of the policy")
            match_values(one.attribute, [*names, " & ".join(names)], what="attribute of the policy")
        for name, part in (("privileged", self.data.privileged), ("bins", self.data.bins)):
            for attribute in part:
                if attribute not in names:
                    raise unknown_name(f"attribute of the policy ({name})", attribute, names)

    # ------------------------------------------------------------------ reading

    @classmethod
    def from_dict(cls, entries: Mapping[str, Any], *, path: Path | None = None) -> Self:
        """Make a policy of the entries of its file; an entry that does not exist is refused."""
        for name, value in entries.items():
            if name in {"data", "earlier"} and not isinstance(value, Mapping):
                raise InputError(f"{name} must be a table [{name}] of a policy; got {value!r}.")
        given = dict(entries)
        if "path" in given:
            raise unknown_name("entry of a policy", "path", [f.name for f in fields(cls)][:-1])
        check_entries("policy", entries, cls, needed=("attributes", "metrics"))
        exceptions = given.pop("exceptions", ())
        for kind, name, needed in ((Columns, "data", ()), (Earlier, "earlier", ("audit",))):
            if name in given:
                check_entries(f"policy's [{name}]", given[name], kind, needed=needed)
                given[name] = kind(**given[name])
        for one in exceptions:
            if not isinstance(one, Mapping):
                raise InputError(
                    f"An exception must be a table [[exceptions]] of a policy; got {one!r}."
                )
            must = ("metric", "attribute", "reason", "expires")
            check_entries("policy's [[exceptions]]", one, Accepted, needed=must)
        return cls(**given, exceptions=tuple(Accepted(**one) for one in exceptions), path=path)

    @classmethod
    def read(cls, path: str | Path | None = None) -> Self:
        """Read a policy: an ``isonomy.toml``, or ``[tool.isonomy]`` of a pyproject.toml.

        Parameters
        ----------
        path : path, optional
            The file, or the folder that holds one of the two; by default the current folder.
        """
        place = Path("." if path is None else path)
        if place.is_dir():
            found = [p for p in (place / FILE, place / "pyproject.toml") if _holds_policy(p)]
            if not found:
                raise InputError(
                    f"There must be a policy: {FILE}, or [{TABLE}] in a pyproject.toml; "
                    f"{'this folder' if path is None else repr(str(path))} has neither: write one "
                    f"with isonomy check FILE --write-policy {FILE}."
                )
            place = found[0]
        elif not place.exists():
            near = sorted(str(p) for p in place.parent.glob("*.toml"))
            raise unknown_name("policy", str(place), near)
        entries = read_toml(place)
        if place.name == "pyproject.toml":
            if not _holds_policy(place):
                raise InputError(f"{str(place)!r} must have a table [{TABLE}]; it has none.")
            entries = entries["tool"]["isonomy"]
        return cls.from_dict(entries, path=place)

    # ------------------------------------------------------------------ writing

    def to_dict(self, *, whole: bool = False) -> dict[str, Any]:
        """Return the entries of the policy's file; empty and, unless ``whole``, usual ones are left out."""
        out = _entries(self, whole=whole)
        out["metrics"] = {name: list(ends) for name, ends in self.metrics.items()}
        for name, part in (("data", self.data), ("earlier", self.earlier)):
            if part is not None and (held := _entries(part)):
                out[name] = held
            else:
                out.pop(name, None)
        if self.exceptions:
            out["exceptions"] = [_entries(one) for one in self.exceptions]
        return out

    def to_toml(self, *, comments: bool = False) -> str:
        """Return the policy as the text of its file, which :meth:`read` reads back unchanged."""
        entries = self.to_dict(whole=comments)
        names = ("metrics", "data", "earlier", "exceptions")
        tables = {name: entries.pop(name) for name in names if name in entries}
        return written(entries, tables, COMMENTS if comments else None)

    # ------------------------------------------------------------------ what it says

    @property
    def name(self) -> str:
        """How the policy is called in messages: its file, or just that."""
        return "The policy" if self.path is None else f"The policy {str(self.path)!r}"

    def check_date(self, today: dt.date) -> None:
        """Raise where the policy has expired."""
        if self.expires is not None and today > self.expires:
            raise InputError(
                f"{self.name} expired on {self.expires}; review it and set a new date (expires)."
            )

    def beside(self, file: str) -> Path:
        """Return the path of a file that the policy names: relative ones lie beside the policy."""
        return Path(file) if self.path is None else self.path.parent / file

    def in_force(self, today: dt.date) -> tuple[list[Accepted], list[Accepted]]:
        """Return the accepted exceptions that hold on a day, and those that have expired."""
        held = [one for one in self.exceptions if today <= one.expires]
        return held, [one for one in self.exceptions if today > one.expires]


def _store(owner: Any, **values: Any) -> None:
    for name, value in values.items():
        object.__setattr__(owner, name, value)


def _several(values: Any) -> tuple[Any, ...]:
    """Return one value or several as a tuple."""
    single = isinstance(values, str) or not isinstance(values, Sequence)
    return (values,) if single else tuple(as_names(values))


def _date(name: str, given: Any) -> dt.date:
    if isinstance(given, str):
        try:
            return dt.date.fromisoformat(given)
        except ValueError:
            pass
    if isinstance(given, dt.datetime) or not isinstance(given, dt.date):
        raise InputError(f"{name} must be a date, {name} = 2027-01-31; got {given!r}.")
    return given


def _entries(part: Any, *, whole: bool = False) -> dict[str, Any]:
    """Return the fields of a dataclass that are set and, unless ``whole``, not what they usually are."""
    out = {}
    for one in fields(part):
        value = getattr(part, one.name)
        empty = value is None or (isinstance(value, tuple | Mapping) and not value)
        if one.name == "path" or empty or (value == one.default and not whole):
            continue
        if isinstance(value, Mapping):
            value = {k: list(v) for k, v in value.items()}
        out[one.name] = list(value) if isinstance(value, tuple) else value
    return out


def _holds_policy(path: Path) -> bool:
    if not path.is_file():
        return False
    if path.name != "pyproject.toml":
        return True
    tool = read_toml(path).get("tool")
    return isinstance(tool, Mapping) and isinstance(tool.get("isonomy"), Mapping)
