"""Why calls are not what was expected: in words, and as data that reports draw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from proctor.metrics.expectations.grammar import Fit, read_as
from proctor.metrics.expectations.made import Made
from proctor.metrics.expectations.reading import Expectation, Limit
from proctor.metrics.matching import ArgumentDifference
from proctor.metrics.wording import and_more, show_call, show_name, show_value

__all__ = ["broken_limits", "explain_calls"]

TOO_MANY = "the calls are not what was expected; there are too many ways to read them to say which is closest"


def explain_calls(expectation: Expectation, calls: Sequence[Made]) -> tuple[list[str], list[dict[str, Any]]]:
    """The sentences and the steps of the cheapest reading, then those of limits that are broken."""
    sentences: list[str] = []
    steps: list[dict[str, Any]] = []
    if expectation.calls is not None:
        fits = read_as(expectation.calls, calls, others_allowed=expectation.others_allowed)
        if fits is None:
            sentences.append(TOO_MANY)
        else:
            sentences += [_sentence(fit, several=_several(calls)) for fit in fits if fit.cost]
            steps += [_step(fit) for fit in fits]
    for limit, calls_there in broken_limits(expectation, calls):
        sentences.append(_of_limit(limit, calls_there, several=_several(calls)))
        told = {(step["actual"] or {}).get("place") for step in steps if step["kind"] == "extra"}
        over = calls_there[limit.most :] if limit.most is not None else []
        steps += [_step(Fit("extra", made=one)) for one in over if (one.turn, one.index) not in told]
        if len(calls_there) < limit.least:
            steps.append(_step(Fit("missing", limit.pattern)))
    for step in steps:
        if step["actual"]:
            step["actual"].pop("place")
    return and_more(sentences), steps


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


def _step(fit: Fit) -> dict[str, Any]:
    kind = "matched" if fit.kind == "allowed" else fit.kind
    made = fit.made and {
        "place": (fit.made.turn, fit.made.index),
        "index": fit.made.index,
        "name": fit.made.name,
        "args": fit.made.args,
    }
    expected = fit.pattern.to_data() if fit.pattern else None
    if fit.kind == "allowed" and fit.made:
        expected = {"name": fit.made.name, "args": fit.made.args}
    data: dict[str, Any] = {"kind": kind, "expected": expected, "actual": made}
    if fit.differences:
        data["arguments"] = [each.to_data() for each in fit.differences]
    return data
