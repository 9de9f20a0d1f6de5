"""Why calls are not what was expected: in words, and as data that reports draw."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import Any, NamedTuple

from proctor.metrics.expectations.actual_calls import Made
from proctor.metrics.expectations.grammar import Fit, read_as
from proctor.metrics.expectations.parse import Expectation, Limit
from proctor.metrics.reason_text import and_more, show_call, show_name, show_value
from proctor.metrics.trajectory.call_equality import ArgumentDifference

__all__ = ["Drawn", "broken_limits", "drawn_once", "explain_calls"]

TOO_MANY = "the calls are not what was expected; there are too many ways to read them to say which is closest"


Place = tuple[int, int]
"""Turn and position of a call, from 0."""


class Drawn(NamedTuple):
    """One step for reports to draw, and the call that it is about, if there is one."""

    step: dict[str, Any]
    place: Place | None


def explain_calls(expectation: Expectation, calls: Sequence[Made]) -> tuple[list[str], list[Drawn]]:
    """The sentences and the steps of the cheapest reading, then those of limits that are broken."""
    sentences: list[str] = []
    drawn: list[Drawn] = []
    broken = broken_limits(expectation, calls)
    over = {_place(one): one for limit, there in broken for one in limit.over(there)}
    if expectation.calls is not None:
        fits = read_as(expectation.calls, calls, others_allowed=expectation.others_allowed)
        if fits is None:
            sentences.append(TOO_MANY)
        else:
            told = (
                fit for fit in fits if fit.cost and not (fit.kind == "extra" and _place(fit.made) in over)
            )
            sentences += [_sentence(fit, several=_several(calls)) for fit in told]
            drawn += [_draw(fit, over) for fit in fits]
    for limit, there in broken:
        sentences.append(_of_limit(limit, there, several=_several(calls)))
        if len(there) < limit.least:
            drawn.append(_draw(Fit("missing", limit.pattern), over))
    drawn += [_draw(Fit("extra", made=one), over) for one in over.values()]
    return and_more(sentences), drawn


def drawn_once(several: Iterable[Drawn]) -> list[dict[str, Any]]:
    """The steps of several expectations as one list: each call in its first place, and wrong where one of them says so."""
    steps: dict[object, dict[str, Any]] = {}
    for number, (step, place) in enumerate(several):
        key: object = number if place is None else place
        if key not in steps or steps[key]["kind"] == "matched":
            steps[key] = step
    return [*steps.values()]


def broken_limits(expectation: Expectation, calls: Sequence[Made]) -> list[tuple[Limit, list[Made]]]:
    """The limits that do not hold, each with the calls that it is about."""
    found = []
    for limit in expectation.limits:
        there = [each for each in calls if limit.pattern.fits(each)]
        if len(there) < limit.least or (limit.most is not None and len(there) > limit.most):
            found.append((limit, there))
    return found


def place(made: Made, *, several: bool) -> str:
    """Where a call stands: `call 2`, or `call 2 of turn 1` where there are several turns."""
    return f"call {made.index + 1} of turn {made.turn + 1}" if several else f"call {made.index + 1}"


def _place(made: Made | None) -> Place | None:
    return None if made is None else (made.turn, made.index)


def _several(calls: Sequence[Made]) -> bool:
    return any(call.turn for call in calls)


def _sentence(fit: Fit, *, several: bool) -> str:
    if fit.made is None:
        return f"`{fit.pattern.tell()}` is missing" if fit.pattern else ""
    where = place(fit.made, several=several)
    if fit.pattern is None:
        return f"{where}, `{show_call(fit.made)}`, is not expected"
    wanted = {**(fit.pattern.args or {}), "(response)": fit.pattern.response}
    told = [_difference(each, getattr(wanted.get(each.name), "tell", str)) for each in fit.differences]
    return f"{where}, `{show_name(fit.made.name)}`: {', '.join(told)}"


def _difference(each: ArgumentDifference, tell: Any) -> str:
    name = "the response" if each.name == "(response)" else show_name(each.name)
    if each.kind == "extra":
        return f"{name} is {show_value(each.actual)}, and not expected"
    if each.kind == "missing":
        return f"{name} is missing, expected {tell()}"
    return f"{name} is {show_value(each.actual)}, expected {tell()}"


def _of_limit(limit: Limit, there: Sequence[Made], *, several: bool) -> str:
    what = limit.pattern.tell()
    if len(there) < limit.least:
        return f"`{what}` was {_times(len(there))}, expected at least {_often(limit.least)}"
    first = there[limit.most or 0]
    where = f"{place(first, several=several)}, `{show_call(first)}`"
    if limit.most == 0:
        return f"{where}, is forbidden"
    return f"{where}, is one too many: `{what}` may be called {_often(limit.most or 0)}, and was {_times(len(there))}"


def _times(number: int) -> str:
    return f"called {_often(number)}" if number else "never called"


def _often(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{number} times")


def _draw(fit: Fit, over: Container[Place | None]) -> Drawn:
    place = _place(fit.made)
    kind = "matched" if fit.kind == "allowed" else fit.kind
    if place in over and kind == "matched":
        kind = "extra"
    made = fit.made and {"index": fit.made.index, "name": fit.made.name, "args": fit.made.args}
    expected = fit.pattern.to_data() if fit.pattern else None
    if fit.kind == "allowed" and fit.made:
        expected = {"name": fit.made.name, "args": fit.made.args}
    data: dict[str, Any] = {"kind": kind, "expected": None if kind == "extra" else expected, "actual": made}
    if fit.differences:
        data["arguments"] = [each.to_data() for each in fit.differences]
    return Drawn(data, place)
