"""What a person said the columns of a table are, and the calls and command lines that follow."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from isonomy.audit.labelled import LABEL
from isonomy.errors import InputError
from isonomy.gate import Columns


@dataclass(frozen=True)
class Roles:
    """The part that each column plays.

    Attributes
    ----------
    label, prediction, score : str or None
        Columns; without ``prediction`` the score is cut in two at ``cut``, and without either the
        recorded outcomes are audited themselves.
    label_cut : str
        ``>50000`` where the label is a number to be cut in two.
    sensitive, drop : sequence of str
        Protected columns, and columns not to learn from.
    favorable : sequence of str
    privileged, bins : mapping of attribute to values or cut points
    """

    label: str | None = None
    prediction: str | None = None
    score: str | None = None
    cut: float = 0.5
    label_cut: str = ""
    sensitive: Sequence[str] = ()
    drop: Sequence[str] = ()
    favorable: Sequence[str] = ()
    privileged: Mapping[str, Sequence[str]] = field(default_factory=dict)
    bins: Mapping[str, Sequence[float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("sensitive", "drop", "favorable"):  # JSON has lists
            object.__setattr__(self, name, tuple(getattr(self, name)))
        for name in ("privileged", "bins"):
            held = {a: tuple(v) for a, v in getattr(self, name).items()}
            object.__setattr__(self, name, held)

    @classmethod
    def from_dict(cls, held: Mapping[str, Any]) -> Self:
        """Read what :meth:`to_dict` gave."""
        return cls(**held)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)

    def check(self) -> None:
        """Raise where the columns do not suffice for an audit."""
        if not self.sensitive:
            raise InputError("At least one column must be protected; none is.")
        if not (self.label or self.prediction or self.score):
            raise InputError("One column must be the outcome, the decision or the score; none is.")
        if self.label == LABEL and not self.prediction and not self.score:
            raise InputError(
                f"A table with a column {LABEL} must have a decision or a score beside it to be "
                f"audited; none was named."
            )

    # ------------------------------------------------------------------ what is asked

    @property
    def outcome(self) -> str | None:
        """The label as :func:`isonomy.audit_file` takes it."""
        return None if self.label is None else f"{self.label}{self.label_cut}"

    @property
    def decision(self) -> str | None:
        """The prediction as :func:`isonomy.audit_file` takes it."""
        return self.prediction or (f"{self.score}>={self.cut:g}" if self.score else None)

    @property
    def audited(self) -> dict[str, str | None]:
        """The label and the prediction of the audit; outcomes alone are audited as decisions."""
        if self.decision is None:
            return {"label": None, "prediction": self.outcome}
        return {"label": self.outcome, "prediction": self.decision}

    def groups(self, attributes: Sequence[str] | None = None) -> dict[str, Any]:
        """Return the options on groups that the audit and the benchmark share."""
        chosen = self.sensitive if attributes is None else attributes
        return {
            "sensitive_features": [*chosen],
            "favorable": [*self.favorable] or None,
            "privileged": {a: [*v] for a, v in self.privileged.items() if a in chosen} or None,
            "bins": {a: [*v] for a, v in self.bins.items() if a in chosen},
        }

    def audit_options(self) -> dict[str, Any]:
        """Return the options of :func:`isonomy.audit.labelled.audit_table`."""
        return {**self.audited, "score": self.score, **self.groups()}

    def learned(self, attributes: Sequence[str]) -> dict[str, Any]:
        """Return the options of a benchmark: a model learns from no decision and no score."""
        return {"label": self.outcome, "drop": self.not_learned, **self.groups(attributes)}

    @property
    def not_learned(self) -> list[str]:
        """Columns that a model is not to learn from: those left out, decisions and scores."""
        own = [c for c in (self.prediction, self.score) if c and c != self.label]
        return [*dict.fromkeys((*self.drop, *own))]

    def columns(self, file: str) -> Columns:
        """Return what a policy keeps of the columns."""
        given = {**{k: v for k, v in self.audited.items() if v}, "favorable": tuple(self.favorable)}
        return Columns(
            file=file,
            score=self.score,
            privileged={a: tuple(v) for a, v in self.privileged.items()},
            bins={a: tuple(v) for a, v in self.bins.items()},
            **given,  # type: ignore[arg-type]
        )

    # ------------------------------------------------------------------ as a shell takes it

    def command(self, name: str, file: str, *options: str, attributes: Any = None) -> str:
        """Return the command line that does the same as a page: of audit, check, benchmark, tail.

        Examples
        --------
        >>> roles = Roles(label="paid", prediction="guess", sensitive=["sex, gender"], favorable=["yes"])
        >>> print(roles.command("audit", "people.csv"))
        isonomy audit people.csv --label paid --prediction guess --sensitive '"sex, gender"' --favorable yes
        """
        chosen = [*(self.sensitive if attributes is None else attributes)]
        words = [name, f"./{file}" if file.startswith("-") else file]
        if name in {"audit", "check"}:
            named = {**self.audited, "score": self.score if name == "audit" else None}
            words += [w for k, v in named.items() if v for w in (f"--{k}", v)]
        else:
            words += ["--label", self.outcome] if self.outcome else []
        words += _each("--sensitive", map(quoted, chosen))
        words += _each("--favorable", map(quoted, self.favorable))
        pairs = {a: map(quoted, v) for a, v in self.privileged.items() if a in chosen}
        words += _each("--privileged", (_pair(a, v) for a, v in pairs.items()))
        if name != "tail":
            cuts = {a: (f"{c:g}" for c in v) for a, v in self.bins.items() if a in chosen}
            words += _each("--bins", (_pair(a, v) for a, v in cuts.items()))
        if name in {"benchmark", "tail"}:
            words += _each("--drop", map(quoted, self.not_learned))
        return shlex.join(["isonomy", *words, *options])


def quoted(name: str) -> str:
    """Return a name as an option of several values takes it: in quotes where a comma would split it.

    Examples
    --------
    >>> quoted("race"), quoted("race, self-reported"), quoted("=x")
    ('race', '"race, self-reported"', '"=x"')
    """
    plain = not any(c in name for c in ",=()[]{}\"'") and name == name.strip()
    mark = "'" if '"' in name else '"'
    return name if plain else f"{mark}{name}{mark}"


def _pair(name: str, values: Iterable[str]) -> str:
    return f"{quoted(name)}={','.join(values)}"


def _each(option: str, values: Iterable[str]) -> list[str]:
    return [word for value in values for word in (option, value)]
