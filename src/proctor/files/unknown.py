"""Keys that no model knows: which of them are probably slips, and which mean something only elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel
from pydantic.alias_generators import to_snake

from proctor.files.explain import Finding, near_key, resolve
from proctor.schema.base import to_camel, unknown_keys
from proctor.schema.case import EvalCase
from proctor.schema.content import Content, FunctionCall
from proctor.schema.criterion import BaseCriterion
from proctor.schema.invocation import IntermediateData, Invocation, InvocationEvent
from proctor.schema.persona import UserBehavior, UserPersona
from proctor.schema.scenario import ConversationScenario
from proctor.schema.session import SessionDetails, SessionInput
from proctor.schema.stated import BEYOND

# Models in which ADK keeps, or ignores, keys that it does not know. In all others such a key makes it refuse the file.
OPEN_IN_ADK = (
    EvalCase, SessionInput, SessionDetails, BaseCriterion, InvocationEvent, UserPersona, UserBehavior,
)  # fmt: skip

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

_CALLS = "calls are expected in `intermediate_data.tool_uses`"
_ANSWER = "the expected answer is `final_response`"
_END = "the state at the end is expected in `final_session_state`"
_START = "the state in which a case starts is `session_input.state`"
_ARGUMENTS = "the arguments of a call are `args`"

# Words of the YAML form and of other tools, by the object in which people write them.
_MEANT_THERE: tuple[tuple[type[BaseModel], dict[str, str]], ...] = (
    (
        EvalCase,
        {
            **dict.fromkeys(("final_state", "expected_state", "expected_final_state", "end_state"), _END),
            **dict.fromkeys(("state", "initial_state", "session_state", "initial_session"), _START),
        },
    ),
    (
        Invocation,
        {
            **dict.fromkeys(("tool_uses", "tools", "tool_calls", "expected_tools"), _CALLS),
            **dict.fromkeys(("expect", "expected", "answer", "response", "expected_output"), _ANSWER),
        },
    ),
    (
        IntermediateData,
        {
            **dict.fromkeys(("tools", "tool_calls", "calls", "expected_tools"), "calls are `tool_uses`"),
            **dict.fromkeys(("events", "invocation_event"), "events are `invocation_events`"),
        },
    ),
    (
        FunctionCall,
        {
            **dict.fromkeys(("params", "parameters", "input", "inputs", "kwargs"), _ARGUMENTS),
            **dict.fromkeys(("tool", "function_name"), "the tool of a call is `name`"),
        },
    ),
    (Content, {"text": 'a text is `"parts": [{"text": "…"}]`'}),
    (ConversationScenario, {"persona": "the persona is `user_persona`"}),
)


def unknown_in(model: BaseModel, value: Any) -> Iterator[Finding]:
    """Unknown keys below `model`, which was read from `value`."""
    for path, owner in unknown_keys(model):
        key = str(path[-1])
        there, absent = resolve(path, value)
        if absent:
            continue
        hint = _meant_there(owner, key)
        near = "" if hint else near_key(key, _known(owner))
        if near and key not in {near, to_camel(near)}:
            hint = f"did you mean `{near}`?"
        if not isinstance(owner, OPEN_IN_ADK) and "opening" not in path:
            yield Finding(there, "unknown key; ADK refuses this file", hint, at_key=True)
        elif hint:
            yield Finding(there, "unknown key; nothing reads it", hint, at_key=True)


def _meant_there(owner: BaseModel, key: str) -> str:
    name = to_snake(key)
    there = (words[name] for model, words in _MEANT_THERE if isinstance(owner, model) and name in words)
    return MEANS_NOTHING.get(name) or next(there, "")


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
