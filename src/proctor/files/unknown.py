"""Keys that no model knows: which of them are probably slips, and which mean something only elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel
from pydantic.alias_generators import to_snake

from proctor.files.explain import Finding, near_key, resolve
from proctor.schema.base import unknown_keys
from proctor.schema.case import EvalCase
from proctor.schema.criterion import BaseCriterion
from proctor.schema.invocation import InvocationEvent
from proctor.schema.session import SessionDetails, SessionInput
from proctor.schema.stated import BEYOND

# Models in which ADK keeps, or ignores, keys that it does not know. In all others such a key makes it refuse the file.
OPEN_IN_ADK = (EvalCase, SessionInput, SessionDetails, BaseCriterion, InvocationEvent)

# Keys of the old format, and of other tools, that mean something to their writer and nothing here.
MEANS_NOTHING = {
    "expected_tool_use": "calls are expected in `intermediate_data.tool_uses`",
    "expected_tool_calls": "calls are expected in `intermediate_data.tool_uses`",
    "reference": "the expected answer is `final_response`",
    "expected_response": "the expected answer is `final_response`",
    "expected_response_contains": "no metric reads it; a rubric can say the same",
    "expected_keywords": "no metric reads it; a rubric can say the same",
    "sub_agent_uses": "calls are expected in `tool_uses`",
    "eval_mode": "Proctor runs the agent; recorded traces are scored from Python, with `proctor.score`",
    "rules": "rules over the calls are `trajectory_rules` in JSON",
    "actual_conversation": "Proctor runs the agent; recorded traces are scored from Python, with `proctor.score`",
}


def unknown_in(model: BaseModel, value: Any) -> Iterator[Finding]:
    """Unknown keys below `model`, which was read from `value`."""
    for path, owner in unknown_keys(model):
        key = str(path[-1])
        there, absent = resolve(path, value)
        if absent:
            continue
        hint = MEANS_NOTHING.get(to_snake(key), "")
        near = "" if hint else near_key(key, _known(owner))
        if near and to_snake(key) != near:
            hint = f"did you mean `{near}`?"
        if not isinstance(owner, OPEN_IN_ADK) and "opening" not in path:
            yield Finding(there, "unknown key; ADK refuses this file", hint, at_key=True)
        elif hint:
            yield Finding(there, "unknown key; nothing reads it", hint, at_key=True)


def _known(owner: BaseModel) -> tuple[str, ...]:
    """The keys that mean something in an object: those of its model, and what a case may state beyond the format."""
    beyond = BEYOND if isinstance(owner, EvalCase | SessionInput) else ()
    return (*type(owner).model_fields, *beyond, *(("tags",) if isinstance(owner, EvalCase) else ()))


def slips_in(case: EvalCase, value: Any) -> list[Finding]:
    """The unknown keys of a case that were probably meant to expect something; a quick look where there are none."""
    if not any(model.model_extra for model in _decisive(case)):
        return []
    return [finding for finding in unknown_in(case, value) if finding.hint]


def _decisive(case: EvalCase) -> Iterator[BaseModel]:
    """The models of a case in which a misspelled key changes the verdict."""
    yield case
    if case.session_input is not None:
        yield case.session_input
    for invocation in (*(case.conversation or ()), *(case.opening or ())):
        yield invocation
        if invocation.intermediate_data is not None:
            yield invocation.intermediate_data
