"""Fairea's figures 4 to 6 as functions of a result frame."""

import numpy as np
import pandas as pd

from isonomy._names import base_name, parse_name
from isonomy.papers.fairea_2021.cases import GAPS, METRICS, MODELS, SWEEPS, TASKS, assess, usable
from isonomy.papers.judge import TASK, Curves, curves_of
from isonomy.papers.table import PaperTable
from isonomy.tradeoff.regions import Rule, region_names


def _swept(frame: pd.DataFrame, task: str, rule: Rule) -> pd.DataFrame:
    dataset, attribute = TASKS[task]
    judged = assess(frame, rule=rule)
    judged = judged[(judged["dataset"] == dataset) & (judged["attributes"] == attribute)]
    sweeps = {name for name, _ in SWEEPS.values()}
    parts = [parse_name(n) if base_name(n) in sweeps else (n, {}) for n in judged["mitigator"]]
    judged = judged.assign(method="", parameter=np.nan)
    for label, (mitigator, parameter) in SWEEPS.items():
        chosen = [name == mitigator and parameter in values for name, values in parts]
        judged.loc[chosen, "method"] = label
        judged.loc[chosen, "parameter"] = [
            float(values[parameter]) for ok, (_, values) in zip(chosen, parts, strict=True) if ok
        ]
    swept: pd.DataFrame = judged[judged["method"] != ""]
    # in the paper's order: PR, then AD
    swept = swept.assign(order=swept["method"].map([*SWEEPS].index))
    return swept.sort_values(["order", "gap", "parameter"])


def _line(curves: Curves, row: int, **labels: str) -> pd.DataFrame:
    """Return one baseline as a frame: degree, accuracy, gaps."""
    values = {gap: curves.values[metric][row] for gap, metric in GAPS.items()}
    accuracy = curves.values["accuracy"][row]
    return pd.DataFrame({"degree": curves.degrees, "accuracy": accuracy} | values).assign(**labels)


def fig4(frame: pd.DataFrame, *, task: str = "Adult-Sex", rule: Rule = "paper") -> PaperTable:
    """Make Figure 4: accuracy and bias at each parameter of PR and AD, and their baselines."""
    judged = _swept(frame, task, rule)
    wide_ = judged.pivot(index=["method", "parameter"], columns="gap", values="bias")  # noqa: PD010
    points = judged.drop_duplicates(["method", "parameter"]).set_index(["method", "parameter"])
    data = wide_.reindex(columns=[*GAPS]).assign(accuracy=points["accuracy"]).reset_index()
    data.insert(0, "curve", "parameter")
    parts = [data.rename(columns={"parameter": "at"})]
    curves, _ = usable(frame)
    for label, (mitigator, _) in SWEEPS.items():
        for i, (dataset, attribute, model) in enumerate(curves.tasks):
            if (dataset, attribute) == TASKS[task] and model.startswith(mitigator):
                line = _line(curves, i, curve="baseline", method=label)
                parts.append(line.rename(columns={"degree": "at"}))
    data = pd.concat(parts, ignore_index=True)[["method", "curve", "at", "accuracy", *GAPS]]
    return PaperTable(
        "fig4",
        f"Accuracy and bias at each parameter on {task}, and the baseline by degree",
        data.sort_values(["method", "curve", "at"], ignore_index=True),
        int(judged["runs"].sum() // len(GAPS)),
        "runs",
    )


def fig5(frame: pd.DataFrame, *, task: str = "Adult-Sex", rule: Rule = "paper") -> PaperTable:
    """Make Figure 5: the area at each parameter of PR and AD, with its turning points."""
    judged = _swept(frame, task, rule)
    keys = ["method", "parameter"]
    rows = judged.drop_duplicates(keys).set_index(keys)[["accuracy", "runs"]]
    for gap in GAPS:
        of_gap = judged[judged["gap"] == gap].set_index(keys)
        rows[gap] = of_gap["bias"]
        rows[f"area {gap}"] = (
            of_gap["area"].astype(object).where(of_gap["region"] == "good", of_gap["region"])
        )
    data = rows.drop(columns="runs").reset_index()
    return PaperTable(
        "fig5",
        f"Accuracy, bias and area (else the region) at each parameter on {task}",
        data,
        int(rows["runs"].sum()),
        "runs",
        (*turning_points(data), *_repeated(data)),
    )


def turning_points(data: pd.DataFrame) -> list[str]:
    """Return, for each method and gap of Figure 5, where the area is largest and whether it turns."""
    notes = []
    for method in data["method"].unique():
        of_method = data[data["method"] == method]
        values = of_method["parameter"].to_numpy()
        span = f"({len(values)} values from {values[0]:g} to {values[-1]:g})"
        for gap in GAPS:
            numbers = pd.to_numeric(of_method[f"area {gap}"], errors="coerce")
            sizes = numbers.fillna(0.0).to_numpy(dtype=np.float64)
            if not sizes.any():
                notes.append(f"{method} under {gap}: no value {span} gives a good trade-off.")
                continue
            best = int(sizes.argmax())
            turn = "a turning point" if 0 < best < sizes.size - 1 else "the end of the range"
            steps = np.sign(np.diff(sizes))
            steps = steps[steps != 0]
            dips = int(((steps[:-1] < 0) & (steps[1:] > 0)).sum())
            times = "once" if dips == 1 else f"{dips} times"
            shape = f"; the area also falls and rises again {times}" if dips else ""
            notes.append(
                f"{method} under {gap}: largest area {sizes[best]:.3f} at {values[best]:g} {span}, "
                f"{turn}{shape}."
            )
    return notes


def _repeated(data: pd.DataFrame) -> list[str]:
    """Return a note on the parameters whose runs gave exactly the same means."""
    notes = []
    for (method, *_), part in data.groupby(["method", "accuracy", *GAPS], sort=False):
        if len(part) > 1:
            same = ", ".join(f"{value:g}" for value in part["parameter"])
            notes.append(f"{method}: the runs at {same} are identical.")
    return notes


def fig6(frame: pd.DataFrame, *, task: str = "Adult-Sex") -> PaperTable:
    """Make Figure 6: the baselines of three mutation strategies, by model."""
    parts = []
    for strategy in ("majority", "random", "minority"):
        curves = curves_of(frame, METRICS, strategy=strategy)
        for i, (dataset, attribute, model) in enumerate(curves.tasks):
            if (dataset, attribute) == TASKS[task] and model in MODELS.values():
                parts.append(_line(curves, i, model=model, strategy=strategy))
    columns = ["model", "strategy", "degree", "accuracy", *GAPS]
    data = pd.concat([pd.DataFrame(columns=columns), *parts], ignore_index=True)
    below, points = strictness(frame, task)
    notes = (
        f"{below} of {points} points of the other strategies lie on or below the majority's line.",
    )
    return PaperTable(
        "fig6",
        f"Baselines of three mutation strategies on {task}",
        data,
        len(data),
        "points of baselines",
        notes if len(data) else (),
    )


def strictness(frame: pd.DataFrame, task: str | None = None) -> tuple[int, int]:
    """Count the points of weaker strategies that the majority's baseline does not let through."""
    curves, _ = usable(frame)
    below = points = 0
    for strategy in ("random", "minority"):
        other = curves_of(frame, METRICS, strategy=strategy)
        for i, key in enumerate(other.tasks):
            if key not in curves.tasks or (task and key[:2] != TASKS[task]):
                continue
            for gap in GAPS.values():
                # degree 0 is the same model for every strategy
                table = pd.DataFrame({m: other.values[m][i, 1:] for m in ("accuracy", gap)})
                table[list(TASK)] = pd.DataFrame([key] * len(table), index=table.index)
                codes, sizes = curves.place(table, "accuracy", gap, rule="paper")
                words = region_names(codes)
                above = (words == "win-win") | ((words == "good") & (sizes > 0))
                # both rules call a constant prediction below the whole line win-win: it is not
                floor = curves.values["accuracy"][curves.tasks.index(key)].min()
                above &= table["accuracy"].to_numpy() >= floor
                below, points = below + int((~above).sum()), points + len(table)
    return below, points
