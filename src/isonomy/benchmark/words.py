"""A benchmark's judgement in sentences: what to choose, its price, its runner-up."""

from dataclasses import replace

from isonomy.benchmark.change import Change
from isonomy.benchmark.recommend import FEWEST, MethodVerdict, Section
from isonomy.metrics import get_metric

_MOST_GROUPS = 4  # groups that a sentence names


def metric_words(name: str) -> str:
    """Return a metric's name in words."""
    return get_metric(name).name.partition("(")[0].replace("_", " ")


def percent(probability: float) -> str:
    """Return a probability in per cent, cut and not rounded.

    94.6 % is not the 95 % that makes a method worth it.

    Examples
    --------
    >>> percent(0.946)
    '94%'
    """
    return f"{int(100 * probability + 1e-9)}%"


def without_choice(section: Section) -> str:
    """Return in a few words why no method is chosen."""
    if section.repeats < FEWEST:
        return "too few repeats"
    if not section.gap.shown:
        return "no bias shown, nothing to mitigate"
    return "no recommendation" if section.recommendation.nearest is None else "nothing is worth it"


def headline(section: Section) -> str:
    """Return in one line what a section recommends."""
    choice = section.recommendation
    if choice.method is None:
        advice = without_choice(section)
    elif choice.runner_up is None:
        advice = choice.method
    else:
        how = {True: "then", False: "not clearly better than", None: "then, untested,"}
        advice = f"{choice.method}, {how[choice.differ]} {choice.runner_up}"
    return f"{section.attribute}, {section.model}: {advice}"


def sentences(section: Section) -> list[str]:
    """Return what to choose, what it costs, what comes second, and what else changes."""
    choice = section.recommendation
    if choice.method is None and choice.nearest is None:
        return [f"No recommendation: {choice.why}."]
    if choice.method is None:
        near = section.verdict(choice.nearest or "")
        advice = "Keep the original model, or change what it learns from."
        first = f"Nothing is worth it: {choice.why}. {advice}"
        if section.repeats < FEWEST:
            first = f"Nothing is decided: {_too_few(section)}. As yet {choice.why}."
        return [
            first,
            (
                f"Nearest came {near.method}, with a probability of {percent(near.worth)}: "
                f"{_price(section, near)}"
            ),
            *_who_pays(near),
        ]
    best = section.verdict(choice.method)
    luck: tuple[str, ...] = ()
    if choice.performance is not None and choice.bias is not None:
        best = replace(best, performance=choice.performance, bias=choice.bias)
        luck = (
            (
                f"The best of {choice.among} methods is partly the luckiest: these numbers allow for "
                "that, those in the table do not."
            ),
        )
    few = [f"This is not decided yet: {_too_few(section)}."] if section.repeats < FEWEST else []
    need = "It needs" if best.needs_attribute else "It does not need"
    random = ", and its predictions are randomized" if best.randomized else ""
    return [
        f"Choose {best.method}: {_price(section, best)}",
        *few,
        *luck,
        _against_baselines(section, section.verdict(best.method)),
        f"{need} {_by(section)} at prediction{random}.",
        *_who_pays(best),
        *(_alone(name, change) for name, change in best.alone.items() if change.by == change.by),
        *_farthest(section, best),
        *_runner_up(section),
        *(_other(name, change) for name, change in best.others.items() if change.by == change.by),
    ]


def _too_few(section: Section) -> str:
    few = "1 repeat is" if section.repeats == 1 else f"{section.repeats} repeats are"
    return f"{few} too few to say what is worth it; {FEWEST} are the least, 10 or more serve better"


def _by(section: Section) -> str:
    return section.attribute.replace("+", " and ")


def _number(value: float) -> str:
    return f"{value:.3f}"


def _size(change: Change, *, falls: bool) -> str:
    """Write the size of a change and its interval; a fall is written as a positive number."""
    turn = -1.0 if falls else 1.0
    low, high = sorted((turn * change.low, turn * change.high))
    text = _number(turn * change.by + 0.0)
    return text if low != low else f"{text} [{_number(low + 0.0)}, {_number(high + 0.0)}]"


def _price(section: Section, verdict: MethodVerdict) -> str:
    bias, score, line = verdict.bias, verdict.performance, section.baseline
    way = "reduces" if bias.by < 0 else "increases"
    first = (
        f"it {way} the bias by {_by(section)} ({metric_words(line.fairness_metric)}) from "
        f"{_number(bias.before)} to {_number(bias.after)}, by {_size(bias, falls=bias.by < 0)}"
    )
    name = metric_words(line.performance_metric)
    from_to = f"{_number(score.before)} to {_number(score.after)}"
    if score.low <= 0 <= score.high:
        return f"{first}, at no clear price in {name} ({from_to}: {_size(score, falls=False)})."
    way = "gives up" if score.by < 0 else "gains"
    return f"{first}, and {way} {_size(score, falls=score.by < 0)} of {name} ({from_to})."


def _against_baselines(section: Section, verdict: MethodVerdict) -> str:
    blind = verdict.performance.after - verdict.advantage
    first = (
        f"Overwriting predictions blindly down to that bias would leave {_number(blind)} of "
        f"{metric_words(section.baseline.performance_metric)}; the trade-off is {verdict.region} "
        f"(good or win-win with a probability of {percent(verdict.worth)})."
    )
    gap = verdict.above_frontier
    if section.frontier is None:
        return first
    if gap != gap:
        least = float(section.frontier.bias.min())
        return f"{first} Group thresholds on the same model get no further than {_number(least)}."
    if verdict.above_low != verdict.above_low:
        comparison = f"{_number(abs(gap))} {'more' if gap < 0 else 'less'}, untested"
    elif verdict.above_low > 0:
        comparison = f"the method does better, by {_number(gap)}"
    elif verdict.above_high < 0:
        where = f"where {section.attribute} may be used at prediction"
        comparison = f"they do better, by {_number(-gap)}, {where}"
    else:
        comparison = "no clear difference"
    reach = _number(verdict.performance.after - gap)
    return f"{first} Group thresholds on the same model reach {reach} at that bias: {comparison}."


def _runner_up(section: Section) -> list[str]:
    choice = section.recommendation
    if choice.runner_up is None:
        return [f"There is no runner-up: {choice.why}."]
    second = section.verdict(choice.runner_up)
    lines = [f"Runner-up: {second.method}: {_price(section, second)}"]
    if choice.differ is None:
        return [*lines, f"Whether they differ is not known: {choice.why}."]
    if choice.differ:
        lines.append(f"The two differ (p = {choice.p:.2g}, all pairs of methods allowed for).")
    else:
        lines.append(
            f"The two do not clearly differ (p = {choice.p:.2g}): choose the one that is easier "
            "to use."
        )
    more = [name for name in choice.tied if name != choice.runner_up]
    if more:
        lines.append(f"Nor does the first clearly differ from {', '.join(more)}.")
    return [*lines, *_lightest(section)]


def _lightest(section: Section) -> list[str]:
    """Name the quickest of the methods that do not differ and ask for nothing at prediction."""
    choice = section.recommendation
    if choice.method is None or not choice.tied:
        return []
    alike = [section.verdict(name) for name in (choice.method, *choice.tied)]
    light = [v for v in alike if not v.needs_attribute and not v.randomized]
    quickest = min(
        (v for v in light if v.seconds == v.seconds), key=lambda v: v.seconds, default=None
    )
    if quickest is None or quickest.method == choice.method:
        return []
    return [
        (
            f"Of these, {quickest.method} is the quickest that does not need {section.attribute} at "
            "prediction and is not randomized."
        )
    ]


def _who_pays(verdict: MethodVerdict) -> list[str]:
    """Say whose selection rate changes, and which gap closes by taking from the better-off."""
    changes = verdict.pays.of("selection_rate")
    known = [c for c in changes if c.low == c.low]
    if not known:
        return []
    parts = []
    for word in ("rises", "falls"):
        some = sorted((c for c in known if c.word == word), key=lambda c: -abs(c.by))
        named = [f"{c.group} ({c.by:+.3f} [{c.low:+.3f}, {c.high:+.3f}])" for c in some]
        if len(named) > _MOST_GROUPS:
            named[_MOST_GROUPS:] = [f"{len(named) - _MOST_GROUPS} more groups"]
        parts += [f"{word} for {', '.join(named)}"] if named else []
    unclear = sum(c.word == "no clear change" for c in known)
    if unclear and parts:
        parts.append(f"no clear change for {unclear} other{'s' if unclear > 1 else ''}")
    few = len(changes) - len(known)
    left_out = [f"{few} group{'s' if few > 1 else ''} with too few rows to say"] if few else []
    what = (
        f"the selection rate {parts.pop(0)}"
        if parts
        else "no group's selection rate clearly changes"
    )
    said = [f"Who pays: {'; '.join([what, *parts, *left_out])}."]
    said += [f"It levels down: {one}." for one in verdict.pays.levelled[:_MOST_GROUPS]]
    more = len(verdict.pays.levelled) - _MOST_GROUPS
    return [*said, f"It levels down {more} further gaps."] if more > 0 else said


def _alone(attribute: str, change: Change) -> str:
    effect = {"worse": "is worse", "better": "is smaller"}.get(
        change.word, "does not clearly change"
    )
    from_to = f"{_number(change.before)} to {_number(change.after)}"
    return f"By {attribute} alone the bias {effect}, {from_to}."


def _farthest(section: Section, verdict: MethodVerdict) -> list[str]:
    """Say how far apart the two intersections are that lie farthest apart."""
    change = verdict.more.get(f"worst_case_{section.baseline.fairness_metric}")
    if change is None or change.by != change.by:
        return []
    return [
        (
            f"Of the two intersections that lie farthest apart the gap is {_number(change.before)} to "
            f"{_number(change.after)} on average; chance widens it where groups are small."
        )
    ]


def _other(attribute: str, change: Change) -> str:
    effect = {
        "worse": "it makes the bias by it worse,",
        "better": "it also reduces the bias by it,",
    }.get(change.word)
    from_to = f"{_number(change.before)} to {_number(change.after)}"
    if effect is None:
        return f"Nobody asked about {attribute}: no clear change of the bias by it ({from_to})."
    return f"Nobody asked about {attribute}: {effect} {from_to}."
