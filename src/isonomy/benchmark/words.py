"""A benchmark's judgement in sentences: what to choose, its price, its runner-up."""

from typing import TYPE_CHECKING

from isonomy._names import base_name
from isonomy.benchmark.recommend import Change, MethodVerdict
from isonomy.metrics import get_metric

if TYPE_CHECKING:
    from isonomy.benchmark.judge import Benchmark, Section

__all__ = ["headline", "metric_words", "sentences"]


def metric_words(name: str) -> str:
    """Give a metric's name in words."""
    return base_name(get_metric(name).name).replace("_", " ")


def headline(section: "Section") -> str:
    """Say in one line what a section recommends."""
    choice = section.recommendation
    where = f"{section.attribute}, {section.model}"
    if choice.method is None:
        if choice.nearest is None:
            return f"{where}: no recommendation"
        return f"{where}: nothing is worth it"
    if choice.runner_up is None:
        return f"{where}: {choice.method}"
    how = {True: "then", False: "not to be told from", None: "then, untested,"}[choice.apart]
    return f"{where}: {choice.method}, {how} {choice.runner_up}"


def sentences(found: "Benchmark", section: "Section") -> list[str]:
    """Say what to choose, what it costs, who comes second, and what else changes."""
    choice = section.recommendation
    if choice.method is None:
        if choice.nearest is None:
            return [f"No recommendation: {choice.why}."]
        near = section.verdict(choice.nearest)
        return [
            (
                f"Nothing is worth it: {choice.why}. Keep the original model, or change what it "
                "learns from."
            ),
            (
                f"Nearest came {near.method}, with a probability of {near.worth:.0%}: "
                f"{_price(found, section, near)}"
            ),
        ]
    best = section.verdict(choice.method)
    told = [f"Choose {best.method}: {_price(found, section, best)}"]
    told.append(_against_baselines(found, section, best))
    told.append(_demands(section, best))
    told += _runner_up(found, section)
    told += _others(found, best)
    return [t for t in told if t]


def _number(value: float) -> str:
    return f"{value:.3f}"


def _signed(change: Change, *, less: bool) -> str:
    """Write the size of a change and its interval; ``less`` turns falls positive."""
    turn = -1.0 if less else 1.0
    low, high = sorted((turn * change.low, turn * change.high))
    text = _number(turn * change.by + 0.0)
    return text if low != low else f"{text} [{_number(low + 0.0)}, {_number(high + 0.0)}]"


def _price(found: "Benchmark", section: "Section", verdict: MethodVerdict) -> str:
    bias, score = verdict.bias, verdict.performance
    by = section.attribute.replace("+", " and ")
    way = "lowers" if bias.by < 0 else "raises"
    first = (
        f"it {way} the bias by {by} ({metric_words(found.fairness)}) from {_number(bias.before)} "
        f"to {_number(bias.after)}, by {_signed(bias, less=bias.by < 0)}"
    )
    name = metric_words(found.performance)
    from_to = f"{_number(score.before)} to {_number(score.after)}"
    if score.low <= 0 <= score.high:
        return f"{first}, at no clear price in {name} ({from_to}: {_signed(score, less=False)})."
    if score.by < 0:
        return f"{first}, and gives up {_signed(score, less=True)} of {name} ({from_to})."
    return f"{first}, and gains {_signed(score, less=False)} of {name} ({from_to})."


def _against_baselines(found: "Benchmark", section: "Section", verdict: MethodVerdict) -> str:
    name = metric_words(found.performance)
    blind = verdict.performance.after - verdict.advantage
    told = (
        f"Overwriting predictions blindly down to that bias would leave {_number(blind)} of "
        f"{name}; {_region(verdict)}."
    )
    if section.frontier is None:
        return told
    if verdict.above_frontier != verdict.above_frontier:
        least = float(section.frontier.bias.min())
        return f"{told} Group thresholds on the same model get no further than {_number(least)}."
    reach = verdict.performance.after - verdict.above_frontier
    how = f"Group thresholds on the same model reach {_number(reach)} at that bias"
    if verdict.above_low != verdict.above_low:
        more = "more" if verdict.above_frontier < 0 else "less"
        verdict_word = f"{_number(abs(verdict.above_frontier))} {more}, untested"
    elif verdict.above_low > 0:
        verdict_word = f"the method does better, by {_number(verdict.above_frontier)}"
    elif verdict.above_high < 0:
        verdict_word = (
            f"they do better, by {_number(-verdict.above_frontier)}, where "
            f"{section.attribute} may be used at prediction"
        )
    else:
        verdict_word = "no clear difference"
    return f"{told} {how}: {verdict_word}."


def _region(verdict: MethodVerdict) -> str:
    return f"the trade-off is {verdict.region} (good or win-win with a probability of {verdict.worth:.0%})"


def _demands(section: "Section", verdict: MethodVerdict) -> str:
    by = section.attribute.replace("+", " and ")
    need = "It needs" if verdict.needs_attribute else "It does not need"
    lots = ", and it draws lots" if verdict.randomized else ""
    return f"{need} {by} at prediction{lots}."


def _runner_up(found: "Benchmark", section: "Section") -> list[str]:
    choice = section.recommendation
    if choice.runner_up is None:
        return [f"There is no runner-up: {choice.why}."]
    second = section.verdict(choice.runner_up)
    told = [f"Runner-up: {second.method}: {_price(found, section, second)}"]
    if choice.apart:
        told.append(f"The two can be told apart over the repeats (p = {choice.p:.2g}).")
    elif choice.apart is None:
        told.append(f"Whether they differ is not known: {choice.why}.")
    else:
        told.append(
            f"The two cannot be told apart (p = {choice.p:.2g}): choose by what is easier to live "
            "with."
        )
    more = [name for name in choice.tied if name != choice.runner_up]
    if more and choice.apart is not None:
        told.append(f"Nor can the first be told from {', '.join(more)}.")
    return [*told, *_lightest(section)]


def _lightest(section: "Section") -> list[str]:
    """Name the quickest of the methods not told apart that asks for nothing at prediction."""
    choice = section.recommendation
    if choice.method is None or not choice.tied or choice.apart is None:
        return []
    alike = [section.verdict(name) for name in (choice.method, *choice.tied)]
    light = [v for v in alike if not v.needs_attribute and not v.randomized]
    light = [v for v in light if v.seconds == v.seconds]
    if not light:
        return []
    quickest = min(light, key=lambda v: v.seconds)
    if quickest.method == choice.method:
        return []
    return [
        (
            f"Of these, {quickest.method} is the quickest that neither needs {section.attribute} at "
            "prediction nor draws lots."
        )
    ]


def _others(found: "Benchmark", verdict: MethodVerdict) -> list[str]:
    told = []
    for other in verdict.others:
        change = other.change
        if change.by != change.by:
            continue
        word = {"worse": "It makes the bias", "better": "It also lowers the bias"}.get(other.word)
        if word is None:
            told.append(
                f"Nobody asked about {other.attribute}: no clear change of the bias by it "
                f"({_number(change.before)} to {_number(change.after)})."
            )
            continue
        end = " worse" if other.word == "worse" else ""
        told.append(
            f"Nobody asked about {other.attribute}: {word[0].lower()}{word[1:]} by it{end}, "
            f"{_number(change.before)} to {_number(change.after)}."
        )
    return told
