"""Accept what an agent did as the expectation of a case: the case's JSON value, changed only where it differs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from proctor.common.json_values import sorted_json
from proctor.common.safe_text import is_visible
from proctor.errors import EvalFileError
from proctor.files.text.problems import field_name
from proctor.schema.format.case import EvalCase
from proctor.schema.format.content import Content, FunctionCall, FunctionResponse, text_of
from proctor.schema.format.invocation import IntermediateData, Invocation, InvocationEvents, states_silence
from proctor.schema.format.wire_model import to_camel

Object = dict[str, Any]


def bless_case(
    case: EvalCase,
    value: Object,
    actual: Sequence[Invocation],
    final_state: Mapping[str, object] | None = None,
) -> Object:
    """Change the JSON `value` of a case, which is returned, so that it expects the `actual` turns and the keys of the final state.

    Equal parts stay as they are: texts are compared as texts, calls by name and arguments. So do rubrics, `expectations` and
    similar keys.

    Raises:
        EvalFileError: the case has other turns, or its form cannot be edited in place.
    """
    key = "opening" if case.conversation is None else "conversation"
    turns: list[Object] = value.get(key) or []
    if len(turns) != len(getattr(case, key) or []):
        raise EvalFileError(
            f"{case.eval_id}: this form of a case cannot be edited in place: use `proctor convert` first"
        )
    for index, expected, turn in turns_to_bless(case, actual):
        _Turn(turns[index], expected, turn).bless()
    if final_state is not None:
        _bless_state(case, value, final_state)
    return value


def _bless_state(case: EvalCase, value: Object, final_state: Mapping[str, object]) -> None:
    """Set the expected keys of the final state to their actual values; matchers are kept."""
    expected_state = value.get("final_session_state", value.get("finalSessionState")) or {}
    for name, expected in expected_state.items():
        if name not in final_state:
            field = field_name(("final_session_state", name))
            raise EvalFileError(
                f"{case.eval_id}: {field} is expected, but the final session state has no such key: remove it by hand"
            )
        if not (isinstance(expected, dict) and "$match" in expected):
            expected_state[name] = final_state[name]


def same_text(expected: Invocation, actual: Invocation) -> bool:
    """Whether the agent answered with the expected text."""
    texts = [text_of(turn.final_response, thoughts=False) for turn in (expected, actual)]
    return texts[0] == texts[1]


def same_calls(expected: Invocation, actual: Invocation) -> bool:
    """Whether the agent made exactly the expected calls, in their order."""
    return _call_keys(expected.tool_calls) == _call_keys(actual.tool_calls)


def _same_responses(expected: Invocation, actual: Invocation) -> bool:
    """Whether the tools responded as expected; true if the case expects no responses."""
    return not expected.tool_responses or _response_keys(expected.tool_responses) == _response_keys(
        actual.tool_responses
    )


def has_text(turn: Invocation) -> bool:
    """Whether the answer has text that a person sees."""
    return is_visible(text_of(turn.final_response, thoughts=False))


def empty_answer(case: EvalCase, turns: Sequence[Invocation]) -> str:
    """Return why a trial cannot be a reference: a turn without an answer, which any answer would match; empty if it can."""
    for number, (expected, actual) in enumerate(zip(case.conversation or (), turns, strict=False), 1):
        if has_text(actual):
            continue
        if has_text(expected):
            return f"has no answer text in turn {number}, where the case expects one: blessed, the turn would accept any answer"
        if not actual.tool_calls and not states_silence(expected):
            return (
                f"has neither text nor tool call in turn {number}: blessed, the turn would accept any answer; where "
                'silence is expected, state it in the case (one empty text in `final_response`; YAML: `expect: ""`)'
            )
    return ""


class _Turn:
    """The JSON value of one turn of a case, with what the agent did in it."""

    def __init__(self, value: Object, expected: Invocation, actual: Invocation) -> None:
        self.value, self.expected, self.actual = value, expected, actual
        self.is_camel = "userContent" in value

    def bless(self) -> None:
        if not same_text(self.expected, self.actual):
            self._bless_text()
        if not (same_calls(self.expected, self.actual) and _same_responses(self.expected, self.actual)):
            self._bless_calls()

    def _key(self, name: str, owner: Object) -> str:
        """Return the spelling of a field in an object of this turn, or the one to use for a new field."""
        camel = to_camel(name)
        return camel if camel in owner or (self.is_camel and name not in owner) else name

    def _put(self, key: str, item: object) -> None:
        """Set an entry of the turn; a new one follows the user's message."""
        if key in self.value:
            self.value[key] = item
            return
        entries, user_key = list(self.value.items()), self._key("user_content", self.value)
        self.value.clear()
        for name, present in entries:
            self.value[name] = present
            if name == user_key:
                self.value[key] = item

    def _bless_text(self) -> None:
        """Replace the only text of the answer, which may have other parts, or else the whole answer."""
        key, text = (
            self._key("final_response", self.value),
            text_of(self.actual.final_response, thoughts=False),
        )
        expected = self.expected.final_response
        texts = _text_parts(expected)
        content = self.value.get(key)
        if len(texts) == 1 and isinstance(content, dict):
            content["parts"][texts[0]]["text"] = text
            return
        role = (expected and expected.role) or "model"
        self._put(key, {"parts": [{"text": text}], "role": role})

    def _bless_calls(self) -> None:
        key, expected = self._key("intermediate_data", self.value), self.expected.intermediate_data
        data = self.value.get(key)
        if isinstance(expected, InvocationEvents) and isinstance(data, dict):
            data[self._key("invocation_events", data)] = list(_events(self.actual, camel=self.is_camel))
        elif expected is None or not isinstance(data, dict):
            self._put(key, {self._key("tool_uses", {}): list(self._calls([]))})
        else:
            self._bless_lists(data, expected)

    def _bless_lists(self, data: Object, expected: IntermediateData | InvocationEvents) -> None:
        """Change the older form: equal calls stay as they are; of a call with other arguments only these change."""
        uses = self._key("tool_uses", data)
        if not (data.get(uses) and same_calls(self.expected, self.actual)):
            data[uses] = list(self._calls(data.get(uses) or []))
        responses = self._key("tool_responses", data)
        if responses in data and isinstance(expected, IntermediateData) and expected.tool_responses:
            data[responses] = [
                {"name": each.name, "response": each.response} for each in self.actual.tool_responses
            ]

    def _calls(self, present: list[Object]) -> Iterator[Object]:
        """Return the value of every actual call; a call that the case already has keeps its value."""
        unused = list(zip(present, self.expected.tool_calls if present else (), strict=True))
        for call in self.actual.tool_calls:
            if equal := next((pair for pair in unused if _is_among(pair[1], [call])), None):
                unused.remove(equal)
                yield equal[0]
            elif similar := self._similar_call(call, unused):
                unused.remove(similar)
                yield {**similar[0], "args": call.args or {}}
            else:
                yield {"name": call.name, "args": call.args or {}}

    def _similar_call(
        self, call: FunctionCall, unused: Sequence[tuple[Object, FunctionCall]]
    ) -> tuple[Object, FunctionCall] | None:
        """Return the first expected call of the same tool, unless the agent made this call, too."""
        similar = next((pair for pair in unused if pair[1].name == call.name and "args" in pair[0]), None)
        if similar is None or _is_among(similar[1], self.actual.tool_calls):
            return None
        return similar


def _is_among(call: FunctionCall, calls: Sequence[FunctionCall]) -> bool:
    return any(_call_keys([call]) == _call_keys([other]) for other in calls)


def _text_parts(content: Content | None) -> list[int]:
    """Return the positions of the texts of a message, thoughts left out."""
    parts = (content.parts if content is not None else None) or []
    return [index for index, part in enumerate(parts) if part.text and not part.thought]


# --- values ------------------------------------------------------------------------------------------------------------


def _call_keys(calls: Sequence[FunctionCall]) -> list[str]:
    return [sorted_json([call.name, call.args or {}]) for call in calls]


def _response_keys(responses: Sequence[FunctionResponse]) -> list[str]:
    return [sorted_json([each.name, each.response]) for each in responses]


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
