"""One line of a benchmark table, and how it is judged."""

from dataclasses import dataclass

__all__ = ["Row", "faster", "under", "within"]


@dataclass(frozen=True)
class Row:
    """A measured line: what was done, what both sides took, and the floor it is held to.

    `floor` is None for a line that informs and promises nothing.
    """

    job: str
    peer_name: str
    ours: float
    peer: float | None
    reached: float
    floor: float | None
    at_least: bool = True
    unit: str = "s"
    note: str = ""

    @property
    def ok(self) -> bool | None:
        """Whether the floor is reached; None where there is none."""
        if self.floor is None:
            return None
        return self.reached >= self.floor if self.at_least else self.reached <= self.floor

    def cells(self) -> list[str]:
        """Give the line as text: job, peer, ours, peer's, ratio, floor, reached, note."""
        sign = "≥" if self.at_least else "≤"
        ratio = _ratio(self.reached) if self.unit == "s" else _amount(self.reached, self.unit)
        floor = "-"
        if self.floor is not None:
            shown = f"{self.floor:,g}×" if self.unit == "s" else f"{self.floor:,g} {self.unit}"
            floor = f"{sign} {shown}"
        verdict = {True: "yes", False: "NO", None: "-"}[self.ok]
        return [
            self.job,
            self.peer_name,
            _amount(self.ours, self.unit),
            "-" if self.peer is None else _amount(self.peer, self.unit),
            ratio,
            floor,
            verdict,
            self.note,
        ]


def faster(
    job: str, peer_name: str, ours: float, peer: float, floor: float | None = None, note: str = ""
) -> Row:
    """Ours must be at least `floor` times faster than the peer."""
    return Row(job, peer_name, ours, peer, peer / ours, floor, note=note)


def within(
    job: str, peer_name: str, ours: float, peer: float, limit: float | None = None, note: str = ""
) -> Row:
    """Ours may take at most `limit` times what the peer takes."""
    return Row(job, peer_name, ours, peer, ours / peer, limit, at_least=False, note=note)


def under(
    job: str,
    peer_name: str,
    ours: float,
    peer: float | None,
    limit: float | None,
    unit: str,
    note: str = "",
) -> Row:
    """Ours must stay at or below an amount, such as megabytes."""
    return Row(job, peer_name, ours, peer, ours, limit, at_least=False, unit=unit, note=note)


def _amount(value: float, unit: str) -> str:
    if unit != "s":
        return f"{value:,.0f} {unit}"
    if value < 1e-3:
        return f"{value * 1e6:.0f} µs"
    if value < 1:
        return f"{value * 1e3:.3g} ms"
    return f"{value:.2f} s"


def _ratio(value: float) -> str:
    return f"{value:,.0f}×" if value >= 100 else f"{value:.3g}×"
