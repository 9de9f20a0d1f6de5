"""Why calls do not meet an expectation: sentences, and steps that reports draw."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from typing import NamedTuple

from proctor.common.inline_code import code_mark
from proctor.metrics.expectations.call_patterns import ActualCall
from proctor.metrics.expectations.grammar import AlignedCall, read_as
from proctor.metrics.expectations.parse import Expectation, Limit
from proctor.metrics.reason_text import and_more, show_call, show_name, show_value
from proctor.metrics.trajectory.call_matching import ArgumentDifference

TOO_MANY = "the calls are not as expected; there are too many ways to align them to find the closest"


Place = tuple[int, int]
"""Turn and position of a call, from 0."""


class Drawn(NamedTuple):
    """One step that reports draw, and the position of its call."""

    step: dict[str, object]
    place: Place | None


def explain_calls(expectation: Expectation, calls: Sequence[ActualCall]) -> tuple[list[str], list[Drawn]]:
    """Return the sentences and steps of the cheapest alignment, then those of broken limits."""
    several = any(call.turn for call in calls)
    broken = broken_limits(expectation, calls)
    over = {_place(call): call for limit, matches in broken for call in limit.over(matches)}
    sentences, steps = _explain_alignment(expectation, calls, over, several=several)
    for limit, matches in broken:
        sentences.append(_limit_sentence(limit, matches, several=several))
        if len(matches) < limit.least:
            steps.append(_draw(AlignedCall("missing", limit.pattern), over))
    steps += [_draw(AlignedCall("extra", made=call), over) for call in over.values()]
    return and_more(sentences), steps


def _explain_alignment(
    expectation: Expectation, calls: Sequence[ActualCall], over: Container[Place | None], *, several: bool
) -> tuple[list[str], list[Drawn]]:
    if expectation.calls is None:
        return [], []
    fits = read_as(expectation.calls, calls, others_allowed=expectation.others_allowed)
    if fits is None:
        return [TOO_MANY], []
    wrong = [fit for fit in fits if fit.cost and not (fit.kind == "extra" and _place(fit.made) in over)]
    return [_sentence(fit, several=several) for fit in wrong], [_draw(fit, over) for fit in fits]


def merge_steps(several: Iterable[Drawn]) -> list[dict[str, object]]:
    """Merge the steps of several expectations: each call once, and marked wrong if one of them marks it so."""
    steps: dict[object, dict[str, object]] = {}
    for number, (step, place) in enumerate(several):
        key: object = number if place is None else place
        if key not in steps or steps[key]["kind"] == "matched":
            steps[key] = step
    return [*steps.values()]


def broken_limits(
    expectation: Expectation, calls: Sequence[ActualCall]
) -> list[tuple[Limit, list[ActualCall]]]:
    """Return the limits that do not hold, each with the matching calls."""
    broken = []
    for limit in expectation.limits:
        matches = [each for each in calls if limit.pattern.fits(each)]
        if len(matches) < limit.least or (limit.most is not None and len(matches) > limit.most):
            broken.append((limit, matches))
    return broken


def place(call: ActualCall, *, several: bool) -> str:
    """Return the position of a call: `call 2`, or `call 2 of turn 1` if there are several turns."""
    return f"call {call.index + 1} of turn {call.turn + 1}" if several else f"call {call.index + 1}"


def _place(call: ActualCall | None) -> Place | None:
    return None if call is None else (call.turn, call.index)


def _sentence(fit: AlignedCall, *, several: bool) -> str:
    if fit.made is None:
        return f"{code_mark(fit.pattern.describe())} is missing" if fit.pattern else ""
    where = place(fit.made, several=several)
    if fit.pattern is None:
        return f"{where}, {code_mark(show_call(fit.made))}, is not expected"
    expected = {**(fit.pattern.args or {}), "(response)": fit.pattern.response}
    differences = [
        _difference(each, getattr(expected.get(each.name), "describe", str)) for each in fit.differences
    ]
    return f"{where}, {code_mark(show_name(fit.made.name))}: {', '.join(differences)}"


def _difference(each: ArgumentDifference, describe: Callable[[], str]) -> str:
    name = "the response" if each.name == "(response)" else show_name(each.name)
    if each.kind == "extra":
        return f"{name} is {show_value(each.actual)}, which is not expected"
    if each.kind == "missing":
        return f"{name} is missing, expected {describe()}"
    return f"{name} is {show_value(each.actual)}, expected {describe()}"


def _limit_sentence(limit: Limit, matches: Sequence[ActualCall], *, several: bool) -> str:
    what = code_mark(limit.pattern.describe())
    if len(matches) < limit.least:
        return f"{what} was {_times(len(matches))}, expected at least {_times_text(limit.least)}"
    first = matches[limit.most or 0]
    where = f"{place(first, several=several)}, {code_mark(show_call(first))}"
    if limit.most == 0:
        return f"{where}, is forbidden"
    return f"{where}, exceeds the limit: {what} may be called {_times_text(limit.most or 0)}, and was {_times(len(matches))}"


def _times(number: int) -> str:
    return f"called {_times_text(number)}" if number else "never called"


def _times_text(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{number} times")


def _draw(fit: AlignedCall, over: Container[Place | None]) -> Drawn:
    kind = _drawn_kind(fit, over)
    call = {"name": fit.made.name, "args": fit.made.args} if fit.made else None
    expected = fit.pattern.to_data() if fit.pattern else call if fit.kind == "allowed" else None
    data: dict[str, object] = {
        "kind": kind,
        "expected": None if kind == "extra" else expected,
        "actual": {"index": fit.made.index, **call} if fit.made and call else None,
    }
    if fit.differences:
        data["arguments"] = [each.to_data() for each in fit.differences]
    return Drawn(data, _place(fit.made))


def _drawn_kind(fit: AlignedCall, over: Container[Place | None]) -> str:
    if fit.kind not in ("allowed", "matched"):
        return fit.kind
    return "extra" if _place(fit.made) in over else "matched"
