"""Accept what an agent did as the expectation of a JSON case; only the differences are written."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from proctor.errors import EvalFileError
from proctor.files.edit.json_edit import JsonEdit
from proctor.files.text.json_tree import JsonNode
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
    final_state: Mapping[str, object] | None = None,
) -> None:
    """Edit the case at `node` so that it expects the `actual` turns, and the expected keys of the actual final state.

    Equal parts keep their bytes: texts are compared as texts, calls by name and arguments. Rubrics, `tool_expectations`
    and similar keys are unchanged.

    Raises:
        EvalFileError: the case has other turns, or its form cannot be edited in place.
    """
    key = key_of_turns(case)
    turns, turn_nodes = getattr(case, key) or [], _items(node, key)
    if len(turn_nodes) != len(turns):
        raise EvalFileError(
            f"{case.eval_id}: this form of a case cannot be edited in place: use `proctor convert` first"
        )
    for index, expected, turn in turns_to_bless(case, actual):
        _Turn(edit, turn_nodes[index], expected, turn).bless()
    _bless_state(edit, node, case, final_state)


def same_text(expected: Invocation, actual: Invocation) -> bool:
    """Whether the agent answered with the expected text."""
    texts = [text_of(turn.final_response, thoughts=False) for turn in (expected, actual)]
    return texts[0] == texts[1]


def same_calls(expected: Invocation, actual: Invocation) -> bool:
    """Whether the agent made exactly the expected calls, in their order."""
    return _call_keys(expected.tool_calls) == _call_keys(actual.tool_calls)


def same_responses(expected: Invocation, actual: Invocation) -> bool:
    """Whether the tools responded as expected; true if the case expects no responses."""
    return not expected.tool_responses or _response_keys(expected.tool_responses) == _response_keys(
        actual.tool_responses
    )


class _Turn:
    """One turn of a case, with what the agent did in it."""

    def __init__(self, edit: JsonEdit, node: JsonNode, expected: Invocation, actual: Invocation) -> None:
        self.edit, self.node = edit, node
        self.expected, self.actual = expected, actual
        self.is_camel = "userContent" in (node.members or {})

    def bless(self) -> None:
        self._bless_calls()
        self._bless_text()

    def _key(self, name: str) -> str:
        """Return the spelling of a field in this turn, or the one to use for a new field."""
        return _key_in(self.node, name) or _SPELLINGS[name][self.is_camel and len(_SPELLINGS[name]) > 1]

    def _bless_text(self) -> None:
        if same_text(self.expected, self.actual):
            return
        text = text_of(self.actual.final_response, thoughts=False)
        key, content = self._key("final_response"), self.node.at(self._key("final_response"))
        text_node = _only_text(content, self.expected.final_response)
        if text_node is not None:
            self.edit.replace(text_node, text)
            return
        role = (self.expected.final_response and self.expected.final_response.role) or "model"
        self.edit.put(
            self.node, key, {"parts": [{"text": text}], "role": role}, after=self._key("user_content")
        )

    @property
    def _uses_key(self) -> str:
        """The key of a new list of calls."""
        return "toolUses" if self.is_camel else "tool_uses"

    def _bless_calls(self) -> None:
        expected, actual = self.expected, self.actual
        if same_calls(expected, actual) and same_responses(expected, actual):
            return
        key = self._key("intermediate_data")
        data = self.node.at(key)
        if isinstance(expected.intermediate_data, InvocationEvents) and data is not None:
            events = _key_in(data, "invocation_events") or "invocation_events"
            self.edit.put(data, events, list(_events(actual, camel=self.is_camel)))
        elif expected.intermediate_data is None or data is None or data.members is None:
            calls = [_call(call) for call in actual.tool_calls]
            self.edit.put(self.node, key, {self._uses_key: calls}, after=self._key("user_content"))
        else:
            self._bless_lists(data, expected.intermediate_data)

    def _bless_lists(self, data: JsonNode, expected: IntermediateData | InvocationEvents) -> None:
        """Edit the older form: equal calls keep their text; of a call with other arguments only these change."""
        uses = _key_in(data, "tool_uses") or self._uses_key
        calls = data.at(uses)
        if calls is None or not calls.items:
            self.edit.put(data, uses, [_call(call) for call in self.actual.tool_calls])
        elif not same_calls(self.expected, self.actual):
            self.edit.replace_items(calls, list(self._call_texts(calls)))
        responses = _key_in(data, "tool_responses")
        if responses and isinstance(expected, IntermediateData) and expected.tool_responses:
            self.edit.put(data, responses, [_response(response) for response in self.actual.tool_responses])

    def _call_texts(self, calls: JsonNode) -> Iterator[str]:
        """Return the text of every actual call; a call that the case already has keeps its text."""
        unused = list(zip(calls.items or [], self.expected.tool_calls, strict=True))
        indent = self.edit.indent_at((calls.items or [calls])[0].start)
        one_line = "\n" not in self.edit.raw(calls)
        for call in self.actual.tool_calls:
            if equal := next((pair for pair in unused if _is_among(pair[1], [call])), None):
                unused.remove(equal)
                yield self.edit.raw(equal[0])
            elif similar := self._similar_call(call, unused):
                unused.remove(similar)
                yield self.edit.raw_with(similar[0], "args", call.args or {})
            else:
                yield self.edit.render(_call(call), indent, one_line=one_line)

    def _similar_call(
        self, call: FunctionCall, unused: Sequence[tuple[JsonNode, FunctionCall]]
    ) -> tuple[JsonNode, FunctionCall] | None:
        """Return the first expected call of the same tool, unless the agent made this call, too."""
        similar = next((pair for pair in unused if pair[1].name == call.name and pair[0].at("args")), None)
        if similar is None or _is_among(similar[1], self.actual.tool_calls):
            return None
        return similar


def _is_among(call: FunctionCall, calls: Sequence[FunctionCall]) -> bool:
    return any(_call_keys([call]) == _call_keys([other]) for other in calls)


def _bless_state(
    edit: JsonEdit, node: JsonNode, case: EvalCase, final_state: Mapping[str, object] | None
) -> None:
    key = _key_in(node, "final_session_state")
    state = node.at(key) if key else None
    if state is None or state.members is None or final_state is None:
        return
    for name, value in new_final_state(case, final_state).items():
        edit.replace(state.members[name], value)


def new_final_state(case: EvalCase, final_state: Mapping[str, object]) -> dict[str, object]:
    """Return the keys of a case's expected final state with their actual values; matchers are kept.

    Raises:
        EvalFileError: the actual state lacks an expected key.
    """
    expected = case.final_session_state or {}
    missing = [name for name in expected if name not in final_state]
    if missing:
        key = field_name(("final_session_state", missing[0]))
        raise EvalFileError(
            f"{case.eval_id}: {key} is expected, but the final session state has no such key: remove it by hand"
        )
    return {
        name: value if isinstance(value, dict) and "$match" in value else final_state[name]
        for name, value in expected.items()
    }


# --- reading the tree --------------------------------------------------------------------------------------------------


def _key_in(node: JsonNode, name: str) -> str | None:
    """Return the spelling of a field in an object; `None` if the object does not have it."""
    return next((key for key in _SPELLINGS[name] if key in (node.members or {})), None)


def _items(node: JsonNode, name: str) -> list[JsonNode]:
    key = _key_in(node, name)
    list_node = node.at(key) if key else None
    return (list_node.items or []) if list_node is not None else []


def _only_text(content: JsonNode | None, expected: Content | None) -> JsonNode | None:
    """Return the node of the only text of a message, which may have other parts; `None` for no text or several."""
    parts = (expected.parts if expected is not None else None) or []
    texts = [index for index, part in enumerate(parts) if part.text and not part.thought]
    if content is None or len(texts) != 1:
        return None
    return content.at("parts", texts[0], "text")


# --- values ------------------------------------------------------------------------------------------------------------


def _call_keys(calls: Sequence[FunctionCall]) -> list[str]:
    return [json.dumps([call.name, call.args or {}], sort_keys=True) for call in calls]


def _response_keys(responses: Sequence[FunctionResponse]) -> list[str]:
    return [json.dumps([each.name, each.response], sort_keys=True, default=str) for each in responses]


def _call(call: FunctionCall) -> dict[str, object]:
    return {"name": call.name, "args": call.args or {}}


def _response(response: FunctionResponse) -> dict[str, object]:
    return {"name": response.name, "response": response.response}


def _events(actual: Invocation, *, camel: bool) -> Iterator[dict[str, object]]:
    """Return the events before the answer in the current form, without the ids and counts of this run."""
    data = actual.intermediate_data
    for event in data.invocation_events if isinstance(data, InvocationEvents) else ():
        content = event.content
        written = content.model_dump(mode="json", exclude_none=True, by_alias=camel) if content else None
        yield {"author": event.author, **({"content": written} if written else {})}


# --- turns to bless ----------------------------------------------------------------------------------------------------


class TurnToBless(NamedTuple):
    """A turn of a case, its position, and what the agent did in it."""

    position: int
    expected: Invocation
    actual: Invocation


def key_of_turns(case: EvalCase) -> str:
    """Return the key of the recorded turns of a case: all turns, or those before a scenario."""
    return "opening" if case.conversation is None else "conversation"


def turns_to_bless(case: EvalCase, actual: Sequence[Invocation]) -> list[TurnToBless]:
    """Return all turns of a recorded case, or the turns of an opening that state an expectation.

    Raises:
        EvalFileError: the number of turns differs, or the case is a scenario without expectations.
    """
    if case.conversation is not None:
        if len(actual) != len(case.conversation):
            raise EvalFileError(
                f"{case.eval_id}: the case has {len(case.conversation)} turns, but the agent answered {len(actual)}"
            )
        return [
            TurnToBless(index, *pair)
            for index, pair in enumerate(zip(case.conversation, actual, strict=True))
        ]
    return _turns_of_scenario(case, actual)


def _turns_of_scenario(case: EvalCase, actual: Sequence[Invocation]) -> list[TurnToBless]:
    """Return the turns of the opening that state an expectation; none of the simulated user's turns can."""
    opening = case.opening or []
    if len(actual) < len(opening):
        raise EvalFileError(
            f"{case.eval_id}: the opening has {len(opening)} turns, but the agent answered {len(actual)}"
        )
    turns = [
        TurnToBless(index, *pair)
        for index, pair in enumerate(zip(opening, actual, strict=False))
        if pair[0].final_response is not None or pair[0].intermediate_data is not None
    ]
    if not (turns or case.final_session_state):
        raise EvalFileError(
            f"{case.eval_id}: a conversation with a simulated user cannot become an expectation. In a scenario only the "
            "final session state, and answers and calls of its opening, can be blessed, and this case states none"
        )
    return turns
