"""The two forms of a scoring function, recognised by the names of its parameters."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from proctor.errors import CriterionError, did_you_mean

__all__ = ["SIGNATURES", "Signature", "read_adk_signature", "read_signature"]

SIGNATURES = (
    "(eval_metric, actual_invocations, expected_invocations, conversation_scenario): the whole conversation, as in ADK",
    "(actual_invocation, expected_invocation, criterion): one turn at a time; `actual` and `expected` are short for them",
)

WHOLE = {
    "eval_metric": "eval_metric",
    "actual_invocations": "actual",
    "expected_invocations": "expected",
    "conversation_scenario": "scenario",
}
TURN = {
    "actual_invocation": "actual",
    "actual": "actual",
    "expected_invocation": "expected",
    "expected": "expected",
}
EITHER = {"criterion": "criterion"}


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters of a scoring function."""

    whole: bool
    """True: called once with all invocations; False: once per turn."""
    parameters: Mapping[str, str]
    """Parameter -> the value it gets: `actual`, `expected`, `criterion`, `eval_metric` or `scenario`."""
    needs_expected: bool
    """True if it cannot work without an expected invocation."""

    def arguments(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the keyword arguments of a call, selected from `values`."""
        return {parameter: values[value] for parameter, value in self.parameters.items()}


def read_signature(name: str, function: Callable[..., Any]) -> Signature:
    """Return the form of `function`, the scoring function of the metric `name`.

    A function may omit parameters, have them in any order and with a leading underscore; others need a default.

    Raises:
        CriterionError: it has neither form; the message shows both.
    """
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError) as error:
        raise _misfit(name, f"its parameters cannot be inspected ({error})") from error
    found: dict[str, str] = {}
    for parameter in parameters:
        if parameter.kind in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD}:
            continue
        if parameter.kind is not parameter.POSITIONAL_ONLY and _plain(parameter) in {
            **WHOLE,
            **TURN,
            **EITHER,
        }:
            found[parameter.name] = _plain(parameter)
        elif parameter.default is parameter.empty:
            if parameter.kind is parameter.POSITIONAL_ONLY:
                raise _misfit(
                    name,
                    f"its parameter {parameter.name!r} is positional-only (before `/`), but all are passed by name",
                )
            hint = did_you_mean(_plain(parameter), [*WHOLE, *TURN, *EITHER])
            raise _misfit(name, f"unknown parameter {parameter.name!r}.{hint}")
    return _decide(name, found, [each for each in parameters if each.name in found])


def read_adk_signature(function: Callable[..., Any]) -> Signature | None:
    """Return the form of a function that google-adk calls: four parameters by position, with any names.

    `None` if it does not accept four by position and by name, or needs more.
    """
    parameters = list(inspect.signature(function).parameters.values())
    first, others = parameters[: len(WHOLE)], parameters[len(WHOLE) :]
    if len(first) < len(WHOLE) or any(each.kind is not each.POSITIONAL_OR_KEYWORD for each in first):
        return None
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    if any(each.default is each.empty and each.kind not in variable for each in others):
        return None
    values = zip((each.name for each in first), WHOLE.values(), strict=True)
    return Signature(whole=True, parameters=dict(values), needs_expected=False)


def _plain(parameter: inspect.Parameter) -> str:
    return parameter.name.lstrip("_")


def _decide(name: str, found: Mapping[str, str], parameters: list[inspect.Parameter]) -> Signature:
    whole = [each for each in found.values() if each in WHOLE]
    turn = [each for each in found.values() if each in TURN]
    if whole and turn:
        raise _misfit(name, f"it mixes both forms ({', '.join(whole)} with {', '.join(turn)})")
    known = {**(WHOLE if whole else TURN), **EITHER}
    if "actual" not in {known[each] for each in found.values()}:
        raise _misfit(name, "it takes no actual invocation")
    needs = any(known[_plain(each)] == "expected" and not _may_be_none(each) for each in parameters)
    return Signature(bool(whole), {each: known[key] for each, key in found.items()}, needs and not whole)


def _may_be_none(parameter: inspect.Parameter) -> bool:
    annotation = str(parameter.annotation)
    return parameter.default is not parameter.empty or "None" in annotation or "Optional" in annotation


def _misfit(name: str, what: str) -> CriterionError:
    forms = "\n".join(f"  {each}" for each in SIGNATURES)
    return CriterionError(
        f"The custom metric {name!r} cannot be called: {what}\nIts function may have these parameters\n{forms}"
    )
