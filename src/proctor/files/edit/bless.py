"""What an agent did, written into a case as what is expected of it: only what differs, in the place where it stands."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from proctor.errors import EvalFileError
from proctor.files.edit.json_edit import JsonEdit, JsonNode
from proctor.files.text.problems import field_name
from proctor.schema.format.case import EvalCase
from proctor.schema.format.content import Content, FunctionCall, FunctionResponse, text_of
from proctor.schema.format.invocation import IntermediateData, Invocation, InvocationEvents

_SPELLINGS = {
    "conversation": ("conversation",),
    "opening": ("opening",),
    "user_content": ("user_content", "userContent"),
    "final_response": ("final_response", "finalResponse"),
    "intermediate_data": ("intermediate_data", "intermediateData"),
    "tool_uses": ("tool_uses", "toolUses"),
    "tool_responses": ("tool_responses", "toolResponses"),
    "invocation_events": ("invocation_events", "invocationEvents"),
    "final_session_state": ("final_session_state", "finalSessionState"),
}


def bless_case(
    edit: JsonEdit,
    node: JsonNode,
    case: EvalCase,
    actual: Sequence[Invocation],
    final_state: Mapping[str, Any] | None = None,
) -> None:
    """Change the case at `node` so that it expects the `actual` turns, and the keys of its final state as they came out.

    What already says the same stays as it is, byte for byte: texts are compared as texts, calls by name and arguments.
    Rubrics, `tool_expectations` and the like are left alone.

    Raises:
        EvalFileError: the case has other turns, or is written in a form that cannot be changed in place.
    """
    key = key_of_turns(case)
    turns, written = getattr(case, key) or [], _items(node, key)
    if len(written) != len(turns):
        raise EvalFileError(
            f"{case.eval_id}: this form of a case cannot be changed in place: `proctor convert` it first"
        )
    for place, expected, made in stated_turns(case, actual):
        _Turn(edit, written[place], expected, made).bless()
    _bless_state(edit, node, case, final_state)


def same_text(expected: Invocation, actual: Invocation) -> bool:
    """Whether the agent answered with the expected text."""
    texts = [text_of(turn.final_response, thoughts=False) for turn in (expected, actual)]
    return texts[0] == texts[1]


def same_calls(expected: Invocation, actual: Invocation) -> bool:
    """Whether the agent made the expected calls, in their order and no others."""
    return _told(expected.tool_calls) == _told(actual.tool_calls)


def same_answers(expected: Invocation, actual: Invocation) -> bool:
    """Whether the tools answered as stated, if anything is stated."""
    return not expected.tool_responses or _answers(expected.tool_responses) == _answers(actual.tool_responses)


class _Turn:
    """One turn of a case, and what the agent did in it."""

    def __init__(self, edit: JsonEdit, node: JsonNode, expected: Invocation, actual: Invocation) -> None:
        self.edit, self.node = edit, node
        self.expected, self.actual = expected, actual
        self.is_camel = "userContent" in (node.members or {})

    def bless(self) -> None:
        self._bless_calls()
        self._bless_text()

    def _key(self, name: str) -> str:
        """A field as this turn spells it, or would."""
        return _spelled(self.node, name) or _SPELLINGS[name][self.is_camel and len(_SPELLINGS[name]) > 1]

    def _bless_text(self) -> None:
        if same_text(self.expected, self.actual):
            return
        said = text_of(self.actual.final_response, thoughts=False)
        key, content = self._key("final_response"), self.node.at(self._key("final_response"))
        place = _only_text(content, self.expected.final_response)
        if place is not None:
            self.edit.replace(place, said)
            return
        role = (self.expected.final_response and self.expected.final_response.role) or "model"
        self.edit.put(
            self.node, key, {"parts": [{"text": said}], "role": role}, after=self._key("user_content")
        )

    def _bless_calls(self) -> None:
        expected, actual = self.expected, self.actual
        if same_calls(expected, actual) and same_answers(expected, actual):
            return
        key = self._key("intermediate_data")
        data = self.node.at(key)
        if isinstance(expected.intermediate_data, InvocationEvents) and data is not None:
            events = _spelled(data, "invocation_events") or "invocation_events"
            self.edit.put(data, events, list(_events(actual, camel=self.is_camel)))
        elif expected.intermediate_data is None or data is None or data.members is None:
            calls = [_call(call) for call in actual.tool_calls]
            uses = "toolUses" if self.is_camel else "tool_uses"
            self.edit.put(self.node, key, {uses: calls}, after=self._key("user_content"))
        else:
            self._bless_lists(data, expected.intermediate_data)

    def _bless_lists(self, data: JsonNode, expected: IntermediateData | InvocationEvents) -> None:
        """The older form: calls that are as before keep their text; of one with other arguments only these change."""
        uses = _spelled(data, "tool_uses") or ("toolUses" if self.is_camel else "tool_uses")
        place = data.at(uses)
        if place is None or not place.items:
            self.edit.put(data, uses, [_call(call) for call in self.actual.tool_calls])
        elif not same_calls(self.expected, self.actual):
            self.edit.replace_items(place, list(self._calls(place)))
        answers = _spelled(data, "tool_responses")
        if answers and isinstance(expected, IntermediateData) and expected.tool_responses:
            self.edit.put(data, answers, [_response(answer) for answer in self.actual.tool_responses])

    def _calls(self, place: JsonNode) -> Iterator[str]:
        """The text of every call that was made, taken from the old ones where one fits."""
        left = list(zip(place.items or [], self.expected.tool_calls, strict=True))
        indent = self.edit.indent_at((place.items or [place])[0].start)
        for made in self.actual.tool_calls:
            told = _told([made])
            found = next((pair for pair in left if _told([pair[1]]) == told), None)
            if found is not None:
                left.remove(found)
                yield self.edit.raw(found[0])
                continue
            near = next((pair for pair in left if pair[1].name == made.name and pair[0].at("args")), None)
            if near is not None and not _is_made_later(near[1], self.actual.tool_calls):
                left.remove(near)
                yield self.edit.raw_with(near[0], "args", made.args or {})
            else:
                one_line = "\n" not in self.edit.raw(place)
                yield self.edit.render(_call(made), indent, one_line=one_line)


def _is_made_later(call: FunctionCall, made: Sequence[FunctionCall]) -> bool:
    return any(_told([call]) == _told([one]) for one in made)


def _bless_state(
    edit: JsonEdit, node: JsonNode, case: EvalCase, final_state: Mapping[str, Any] | None
) -> None:
    key = _spelled(node, "final_session_state")
    place = node.at(key) if key else None
    if place is None or place.members is None or final_state is None:
        return
    for name, value in state_that_came(case, final_state).items():
        edit.replace(place.members[name], value)


def state_that_came(case: EvalCase, final_state: Mapping[str, Any]) -> dict[str, Any]:
    """The stated keys of a case's final state with the values that they ended with; matchers, written by hand, stay.

    Raises:
        EvalFileError: a stated key is not there at all.
    """
    stated = case.final_session_state or {}
    gone = [name for name in stated if name not in final_state]
    if gone:
        where = field_name(("final_session_state", gone[0]))
        raise EvalFileError(
            f"{case.eval_id}: {where} is expected, and the session has no such key at its end: take it out by hand"
        )
    return {
        name: value if isinstance(value, dict) and "$match" in value else final_state[name]
        for name, value in stated.items()
    }


# --- reading the tree --------------------------------------------------------------------------------------------------


def _spelled(node: JsonNode, name: str) -> str | None:
    """The key by which an object has a field; `None` where it has not."""
    return next((key for key in _SPELLINGS[name] if key in (node.members or {})), None)


def _items(node: JsonNode, name: str) -> list[JsonNode]:
    key = _spelled(node, name)
    place = node.at(key) if key else None
    return (place.items or []) if place is not None else []


def _only_text(content: JsonNode | None, expected: Content | None) -> JsonNode | None:
    """Where the one text of a message stands, whatever other parts it has; `None` where it has none, or several."""
    parts = (expected.parts if expected is not None else None) or []
    texts = [index for index, part in enumerate(parts) if part.text and not part.thought]
    if content is None or len(texts) != 1:
        return None
    return content.at("parts", texts[0], "text")


# --- values ------------------------------------------------------------------------------------------------------------


def _told(calls: Sequence[FunctionCall]) -> list[str]:
    return [json.dumps([call.name, call.args or {}], sort_keys=True) for call in calls]


def _answers(answers: Sequence[FunctionResponse]) -> list[str]:
    return [json.dumps([answer.name, answer.response], sort_keys=True, default=str) for answer in answers]


def _call(call: FunctionCall) -> dict[str, Any]:
    return {"name": call.name, "args": call.args or {}}


def _response(answer: FunctionResponse) -> dict[str, Any]:
    return {"name": answer.name, "response": answer.response}


def _events(actual: Invocation, *, camel: bool) -> Iterator[dict[str, Any]]:
    """What was done before the answer, in the format's current form, without ids and counts of this one run."""
    data = actual.intermediate_data
    for event in data.invocation_events if isinstance(data, InvocationEvents) else ():
        content = event.content
        written = content.model_dump(mode="json", exclude_none=True, by_alias=camel) if content else None
        yield {"author": event.author, **({"content": written} if written else {})}


# --- The turns of a case that state what the agent is expected to do: those that what it did can be written into ------


class StatedTurn(NamedTuple):
    """A turn, where it stands, and what the agent did in it."""

    place: int
    expected: Invocation
    actual: Invocation


def key_of_turns(case: EvalCase) -> str:
    """Return the key of a case that holds what is recorded of it: all turns, or those before a scenario."""
    return "opening" if case.conversation is None else "conversation"


def stated_turns(case: EvalCase, actual: Sequence[Invocation]) -> list[StatedTurn]:
    """Return the turns with what the agent did in them: all of a recorded case; of an opening those that state something.

    Raises:
        EvalFileError: the agent answered another number of turns, or the case is a scenario that states nothing.
    """
    if case.conversation is not None:
        if len(actual) != len(case.conversation):
            raise EvalFileError(
                f"{case.eval_id}: the case has {len(case.conversation)} turns and the agent answered {len(actual)} of them"
            )
        return [
            StatedTurn(place, *pair) for place, pair in enumerate(zip(case.conversation, actual, strict=True))
        ]
    opening = case.opening or []
    if len(actual) < len(opening):
        raise EvalFileError(
            f"{case.eval_id}: the opening has {len(opening)} turns and the agent answered {len(actual)} of them"
        )
    found = [
        StatedTurn(place, *pair)
        for place, pair in enumerate(zip(opening, actual, strict=False))
        if pair[0].final_response is not None or pair[0].intermediate_data is not None
    ]
    if not (found or case.final_session_state):
        raise EvalFileError(
            f"{case.eval_id}: what the agent did in a played conversation is nothing to expect; of a scenario only a final "
            "session state, and answers and calls in its opening, can be blessed, and it states none"
        )
    return found
