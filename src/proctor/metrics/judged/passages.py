"""The passages of a judge request: each text is separate, so that none can be mistaken for another.

The labels are fixed; names of agents and tools are inside the passages as JSON. Thoughts are left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from proctor.judges.base import Passage
from proctor.metrics.structure.agent_messages import IntermediateText, intermediate_texts
from proctor.schema.format.content import Content, FunctionCall, FunctionResponse, Part, text_of
from proctor.schema.format.invocation import IntermediateData, Invocation, InvocationEvent, InvocationEvents

SAID = "said on the way"
SOURCES = "sources of the answer"
NO_STEPS = "(The agent called no tool and said nothing before its answer.)"
NO_ANSWER = "(The agent gave no answer in words.)"
NO_AGENTS = "(Nothing is known of the agent's instructions and tools.)"


def answer_text(invocation: Invocation, *, thoughts: bool = False, with_steps: bool = False) -> str:
    """Return the text of the final answer; `with_steps` puts the texts between tool calls before it, line by line."""
    earlier = [each.text for each in intermediate_texts(invocation)] if with_steps else []
    return "\n".join(
        text for text in (*earlier, text_of(invocation.final_response, thoughts=thoughts)) if text
    )


def final_answer(text: str, turn: str = "") -> Passage:
    """Return the answer that is judged, or a note that there is none."""
    return Passage(f"{turn}final answer", text if text.strip() else NO_ANSWER)


def user_message(invocation: Invocation, turn: str = "") -> Passage:
    """Return the user's message of a turn; files are only mentioned."""
    return Passage(f"{turn}user message", _message_text(invocation.user_content))


def numbered_passages(label: str, texts: Iterable[str]) -> list[Passage]:
    """Return each text as a passage: `rubric 1`, `rubric 2` …"""
    return [Passage(f"{label} {number}", text) for number, text in enumerate(texts, 1)]


def _message_text(content: Content) -> str:
    files = [part.inline_data or part.file_data for part in content.parts or ()]
    kinds = [f"(a file, not shown here: {file.mime_type or 'of unknown kind'})" for file in files if file]
    return (
        "\n".join(text for text in (text_of(content, thoughts=False), *kinds) if text) or "(nothing in words)"
    )


# --- the agent ---


def agents_of(invocations: Sequence[Invocation], *, instructions: bool = True) -> list[Passage]:
    """Return what is known of each agent that took part: name, `instructions`, tools."""
    descriptions: dict[str, None] = {}
    for invocation in invocations:
        details = invocation.app_details.agent_details if invocation.app_details else {}
        for name, agent in details.items():
            known: dict[str, object] = {"agent": agent.name or name, "tools": agent.tool_declarations}
            if instructions:
                known["instructions"] = agent.instructions
            descriptions[_json(known, indent=2)] = None
    label = "instructions and tools of an agent" if instructions else "tools of an agent"
    return [Passage(label, text) for text in descriptions] or [Passage(label, NO_AGENTS)]


# --- its steps ---


class AgentStep(NamedTuple):
    """One step of the agent before its final answer."""

    label: str
    text: str
    """The text for the judge."""
    said: str = ""
    """The agent's own text, if the step is one."""
    event: int = 0
    """The number of its event, from 0."""

    def passage(self, turn: str = "") -> Passage:
        """Return the step as a passage."""
        return Passage(f"{turn}{self.label}", self.text)


def step_passages(invocation: Invocation) -> list[Passage]:
    """Return the steps before the final answer, in order, or a note that there are none."""
    return [step.passage() for step in steps_of_turn(invocation)] or [Passage("steps", NO_STEPS)]


def steps_of_turn(invocation: Invocation) -> list[AgentStep]:
    """Return the steps of a turn, in order: texts, calls, results, sources, from either form of recorded data.

    The older form has a separate list of texts, so they follow all calls.
    """
    data = invocation.intermediate_data
    if isinstance(data, InvocationEvents):
        final = invocation.final_response
        events = enumerate(event for event in data.invocation_events if event.author.lower() != "user")
        return [step for index, event in events for step in _event_steps(event, index, final)]
    return [*_steps_of_older_form(invocation)] if isinstance(data, IntermediateData) else []


def _steps_of_older_form(invocation: Invocation) -> Iterator[AgentStep]:
    for call, response in invocation.calls_with_responses:
        yield AgentStep("tool call", _call(call))
        if response is not None:
            yield AgentStep("tool result", _result(response))
    for index, each in enumerate(intermediate_texts(invocation), 1):
        yield AgentStep(SAID, str(each), each.text, index)


def _event_steps(event: InvocationEvent, index: int, final: Content | None) -> Iterator[AgentStep]:
    # an event that answers and calls a (long-running) tool has the content of the final response
    is_final = event.content == final
    for part in (event.content and event.content.parts) or ():
        if part.function_call is not None:
            yield AgentStep("tool call", _call(part.function_call, event.author), event=index)
        elif part.function_response is not None:
            yield AgentStep("tool result", _result(part.function_response), event=index)
        elif not is_final and (text := _visible_text(part)):
            yield AgentStep(SAID, str(IntermediateText(event.author, text)), text, index)
    if event.grounding_metadata is not None:
        sources = event.grounding_metadata.model_dump(mode="json", exclude_none=True)
        yield AgentStep(SOURCES, _json({"agent": event.author, **sources}), event=index)


def _visible_text(part: Part) -> str:
    """Return the text of a part; empty if it is a thought or blank."""
    text = "" if part.thought else part.text or ""
    return text if text.strip() else ""


def _call(call: FunctionCall, author: str = "") -> str:
    by = {"agent": author} if author else {}
    return _json({**by, "tool": call.name, "arguments": call.args})


def _result(response: FunctionResponse) -> str:
    return _json({"tool": response.name, "result": response.response})


# --- whole conversations ---


def earlier_turns(before: Sequence[Invocation], *, with_steps: bool) -> list[Passage]:
    """Return the turns before the one that is judged; `with_steps`: with calls and results."""
    return [passage for each in _turns(before, "earlier turn", with_steps=with_steps) for passage in each]


def turns_of(invocations: Sequence[Invocation], *, with_steps: bool = True) -> list[Passage]:
    """Return a conversation from its first turn to its last."""
    return [passage for each in _turns(invocations, "turn", with_steps=with_steps) for passage in each]


def _turns(invocations: Sequence[Invocation], word: str, *, with_steps: bool) -> Iterator[list[Passage]]:
    for number, invocation in enumerate(invocations, 1):
        turn = f"{word} {number}, "
        steps = [step.passage(turn) for step in steps_of_turn(invocation)] if with_steps else []
        yield [user_message(invocation, turn), *steps, final_answer(answer_text(invocation), turn)]


def _json(value: object, *, indent: int | None = None) -> str:
    return json.dumps(_plain(value), ensure_ascii=False, indent=indent, default=str)


def _plain(value: object) -> object:
    """Return JSON values; tool declarations may be objects of a framework's models."""
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    dump = getattr(value, "model_dump", None)
    return dump(mode="json", exclude_none=True) if dump is not None else value
