"""The price of changing a row, which optimized pre-processing keeps low."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Costs:
    """What it costs to change a column from one level (row) to another (column)."""

    levels: tuple[Any, ...]
    table: tuple[tuple[float, ...], ...]

    @classmethod
    def ranked(cls, *levels: Any) -> "Costs":
        """Return levels in order, each step between neighbours costing 1."""
        steps = range(1, len(levels))
        return cls.stepped(levels, steps, steps)

    @classmethod
    def stepped(cls, levels: Sequence[Any], down: Sequence[float], up: Sequence[float]) -> "Costs":
        """Return levels in order with the costs of 1, 2, ... steps; further costs as the last."""

        def cost(step: int) -> float:
            costs = up if step > 0 else down
            return 0.0 if step == 0 else costs[min(abs(step), len(costs)) - 1]

        return cls(
            tuple(levels),
            tuple(tuple(cost(j - i) for j in range(len(levels))) for i in range(len(levels))),
        )


@dataclass(frozen=True)
class Distortion:
    """The price of changing a row, as data: one table per column, and one for the label.

    Parameters
    ----------
    columns : mapping of str to Costs
        Tables of the columns that have one.
    label : ((0, up), (down, 0))
        Costs of changing the label; the second row and column are the favourable one.
    other : float, optional
        Cost of any change in a column without a table. When None, numbers cost their difference
        in rank and words cost 2.
    combine : {"sum", "max"}
        How the costs of several changes come together.
    """

    columns: Mapping[str, Costs] = field(default_factory=dict)
    label: tuple[tuple[float, float], tuple[float, float]] = ((0.0, 1.0), (2.0, 0.0))
    other: float | None = None
    combine: str = "sum"


ADULT = Distortion(
    {
        "Age (decade)": Costs.stepped(
            ("10", "20", "30", "40", "50", "60", ">=70"), down=(2, 3), up=(2, 3)
        ),
        "Education Years": Costs.stepped(
            ("<6", "6", "7", "8", "9", "10", "11", "12", ">12"), down=(3,), up=(0, 3)
        ),
    },
    label=((0.0, 0.0), (1.0, 0.0)),
    other=0.0,
    combine="max",
)
"""The studies' costs for the coarse Adult set."""

GERMAN = Distortion(
    {
        "credit_history": Costs.ranked("None/Paid", "Delay", "Other"),
        "employment": Costs.ranked("Unemployed", "1-4 years", "4+ years"),
        "savings": Costs.ranked("Unknown/None", "<500", "500+"),
    },
    label=((0.0, 1.0), (2.0, 0.0)),
    other=2.0,
)
"""The studies' costs for the coarse German set."""

COMPAS = Distortion(
    {
        "age_cat": Costs.ranked("Less than 25", "25 - 45", "Greater than 45"),
        "priors_count": Costs.ranked("0", "1 to 3", "More than 3"),
        "c_charge_degree": Costs(("M", "F"), ((0.0, 2.0), (1.0, 0.0))),
    },
    label=((0.0, 2.0), (2.0, 0.0)),
    other=2.0,
)
"""The studies' costs for the coarse COMPAS set."""
