"""Turns in the YAML form, converted to the keys of the format: messages, tool calls and expectations.

A call is text (`name(argument=1)`), `name: {arguments}`, or an object in the long form.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from proctor.common.json_values import Json
from proctor.files.text.problems import Path_, Place, quote
from proctor.files.yaml.call_syntax import NAME, CallError, parse_call
from proctor.files.yaml.nodes import Map, Node, Seq, Word, is_null, map_node
from proctor.files.yaml.object_reader import (
    CALL_KEYS,
    RUBRIC_KEYS,
    RUBRIC_TYPE,
    TURN_KEYS,
    Fields,
    Form,
    kind_of_node,
    known_key,
)
from proctor.schema.format.invocation import Invocation
from proctor.schema.format.rubric import stable_rubric_id

# --- tool calls ---------------------------------------------------------------------------------------------------------


class CallForm(Form):
    """Reads the calls of a turn."""

    def calls(self, items: list[Node], path: Path_) -> list[Node]:
        """Return the calls of a list."""
        return [self._call(item, (*path, index)) for index, item in self.whole_calls(items)]

    def whole_calls(self, items: list[Node]) -> list[tuple[int, Node]]:
        """Return the elements of a list with their indexes; calls that YAML split at their commas are joined."""
        calls: list[tuple[int, Node]] = []
        skip_to = 0
        for index, item in enumerate(items):
            if index < skip_to:
                continue
            skip_to = _end_of_split_call(items, index)
            calls.append((index, self._join(items[index:skip_to]) if skip_to else item))
        return calls

    def _join(self, pieces: list[Node]) -> Node:
        """Return the call that YAML split at its commas: the text of the file from the first piece to the last."""
        first, last = pieces[0], pieces[-1]
        if not (isinstance(first, Word) and isinstance(last, Word)) or first.start < 0:
            return first
        return Word(first.place, self.source.text[first.start : last.end], True, first.start, last.end)

    def _call(self, node: Node, path: Path_) -> Node:
        if isinstance(node, Word):
            return self.call_of_text(node, path)
        if isinstance(node, Map) and len(node.values) == 1:
            name, arguments = next(iter(node.values.items()))
            if known_key(name, CALL_KEYS) is None:
                return self._named_call(name, arguments, node, path)
        if not isinstance(node, Map):
            self.problem(
                node.place,
                path,
                f"expected a tool call, got {kind_of_node(node)}",
                "as in `get_weather(city=Paris)`",
            )
            return node
        entries = self.fields(node, path, CALL_KEYS, "a tool call")
        if not {"name", "function"} & entries.keys():
            self.problem(node.place, path, "the tool's `name` is missing", "as in `get_weather(city=Paris)`")
        return node

    def _named_call(self, name: str, arguments: Node, node: Map, path: Path_) -> Node:
        """Read `get_weather: {city: Paris}`."""
        place = node.keys[name]
        if not NAME.fullmatch(name):
            hint = "YAML splits texts at `: `, and in `[ ]` and `{ }` at commas; put the whole call in quotes"
            self.problem(place, path, f"{quote(name, 40)} is not a tool's name", hint)
        elif not isinstance(arguments, Map):
            message = f"expected the arguments of `{name}` as an object, got {kind_of_node(arguments)}"
            self.problem(
                arguments.place,
                (*path, name),
                message,
                f"as in `{name}: {{city: Paris}}`; without any: `{name}()`",
            )
        return map_node(node.place, [("name", Word(place, name)), ("args", arguments)])

    def call_of_text(self, node: Word, path: Path_) -> Map:
        """Return the call in a text, or an empty object if there is none."""
        try:
            name, arguments = parse_call(node.text)
        except CallError as error:
            self.problem(self._place_in(node, error.offset), path, error.message, error.hint)
            return map_node(node.place, [])
        pairs = ((key, value_node(value, node.place)) for key, value in arguments.items())
        return map_node(node.place, [("name", Word(node.place, name)), ("args", map_node(node.place, pairs))])

    def _place_in(self, node: Word, offset: int) -> Place:
        """Return the position of a character of a text in the file."""
        if node.start < 0:
            return node.place
        return self.source.place(
            node.start + offset_in(self.source.text[node.start : node.end], node.text, offset)
        )


_LISTS = ("calls", "forbidden", "limits", "any_of", "any_order", "in_order")
_CALLS = ("never", "call", "only_after", "implies_later", "no", "before")


class ExpectationForm(CallForm):
    """Reads the calls in `expectations` and `rules` of a case. The metrics report all other errors before a run."""

    def expectations(self, node: Node, path: Path_) -> Node:
        """Return one expectation, or a list of them."""
        if isinstance(node, Seq):
            return Seq(node.place, [self._group(each, (*path, i)) for i, each in enumerate(node.items)])
        return self._group(node, path)

    def rules(self, node: Node, path: Path_) -> Node:
        """Return a list of rules."""
        items = self.items(node, path, "rules")
        return Seq(node.place, [self._rule(each, (*path, index)) for index, each in enumerate(items)])

    def _group(self, node: Node, path: Path_) -> Node:
        if not isinstance(node, Map):
            return node
        result = Map(node.place)
        for key, value in node.values.items():
            is_list = key in _LISTS and isinstance(value, Seq)
            result.put(key, self._list(value, (*path, key)) if is_list else value, node.keys[key])
        return result

    def _list(self, node: Node, path: Path_) -> Node:
        pieces = self.whole_calls(node.items) if isinstance(node, Seq) else []
        return Seq(node.place, [self._item(each, (*path, index)) for index, each in pieces])

    def _item(self, node: Node, path: Path_) -> Node:
        """Return a call, a group of calls, or a list of calls in order."""
        if isinstance(node, Seq):
            return self._list(node, path)
        if isinstance(node, Map) and "tool" not in node.values:
            return self._group(node, path)
        return self._single_call(node, path)

    def _rule(self, node: Node, path: Path_) -> Node:
        if not isinstance(node, Map):
            return node
        result = Map(node.place)
        for key, value in node.values.items():
            result.put(
                key, self._single_call(value, (*path, key)) if key in _CALLS else value, node.keys[key]
            )
        return result

    def _single_call(self, node: Node, path: Path_) -> Node:
        """Return a call, which is a text with arguments, or an object whose `tool` is such a text."""
        if isinstance(node, Word) and "(" in node.text:
            return self._call_in_text(node, path)
        if isinstance(node, Map) and "args" not in node.values:
            tool = node.values.get("tool")
            if isinstance(tool, Word) and "(" in tool.text:
                call = self._call_in_text(tool, (*path, "tool"))
                for key, value in node.values.items():
                    if key != "tool":
                        call.put(key, value, node.keys[key])
                return call
        return node

    def _call_in_text(self, node: Word, path: Path_) -> Map:
        call = self.call_of_text(node, path)
        keys = {"name": "tool", "args": "args"}
        return map_node(node.place, ((keys[key], value) for key, value in call.values.items()))


def _end_of_split_call(items: list[Node], first: int) -> int:
    """Return the end of the pieces of a call that YAML split at its commas; 0 if the call at `first` is whole."""
    for index in range(first, len(items)):
        item = items[index]
        text = item.text if isinstance(item, Word) and item.plain else ""
        if ("(" in text) is not (index == first) or (index == first and ")" in text):
            return 0
        if text.endswith(")"):
            return index + 1
    return 0


def value_node(value: Json, place: Place) -> Node:
    """Return a node for a value that was read from inside a text."""
    if isinstance(value, dict):
        return map_node(place, ((key, value_node(item, place)) for key, item in value.items()))
    if isinstance(value, list):
        return Seq(place, [value_node(item, place) for item in value])
    return Word(place, value) if isinstance(value, str) else Word(place, json.dumps(value), plain=True)


def offset_in(raw: str, text: str, offset: int) -> int:
    """Return the offset in the YAML text `raw` of the character at `offset` of its value `text`.

    Quotes, doubled quotes, escapes, indents and folded lines are skipped; after an escaped line end the result is inexact.
    """
    at = raw.find("\n") + 1 if raw[:1] in {"|", ">"} else int(raw[:1] in {'"', "'"})
    for char in text[:offset]:
        if not char.isspace():
            at = _skip_space(raw, at)
        if raw[:1] == '"' and raw[at : at + 1] == "\\":
            at += {"x": 4, "u": 6, "U": 10}.get(raw[at + 1 : at + 2], 2)
        else:
            at += 2 if raw[0] == "'" and raw[at : at + 2] == "''" else 1
    if not text[offset : offset + 1].isspace():
        at = _skip_space(raw, at)
    return min(at, len(raw))


def _skip_space(raw: str, at: int) -> int:
    while raw[at : at + 1].isspace():
        at += 1
    return at


# --- turns --------------------------------------------------------------------------------------------------------------


_DATA_KEYS = {
    "tools": "tool_uses",
    "tool_responses": "tool_responses",
    "intermediate_responses": "intermediate_responses",
}


class TurnForm(ExpectationForm):
    """Reads turns, and the rubrics of turns and cases."""

    def turn(self, node: Node, path: Path_) -> Map:
        """Return one turn as an Invocation."""
        if not isinstance(node, Map):
            self.problem(
                node.place, path, f"expected a turn, got {kind_of_node(node)}", "a turn is `- ask: …`"
            )
            return Map(node.place)
        before = len(self.problems)
        entries = self.fields(node, path, TURN_KEYS, "a turn")
        return self.invocation(entries, node.place, path, complain=len(self.problems) == before)

    def invocation(self, entries: Fields, place: Place, path: Path_, *, complain: bool) -> Map:
        """Return the Invocation of a turn's entries; `complain` if `ask` is missing and no misspelling explains it."""
        result = Map(place)
        if "user_content" not in entries and complain:
            self.problem(place, path, "`ask` is missing", "what does the user say in this turn?")
        for name in Invocation.model_fields:
            if name == "intermediate_data":
                self._intermediate_data(result, entries, path)
            elif name in entries:
                key, node = entries[name]
                result.put(name, self._turn_value(name, key, node, (*path, key)), node.place)
        self.add_extra(result, entries, path, Invocation)
        return result

    def _turn_value(self, name: str, key: str, node: Node, path: Path_) -> Node:
        if key == "ask":
            return self._message(node, path, "user")
        if key == "expect":
            return self._message(node, path, "model")
        return self.rubrics(node, path) if name == "rubrics" else node

    def _message(self, node: Node, path: Path_, role: str) -> Node:
        """Return a text as a message of one part; an object with `parts` already has the long form."""
        if isinstance(node, Map) and "parts" in node.values:
            return node
        if not isinstance(node, Word):
            self.problem(
                node.place, path, f"expected text, or an object with `parts`, got {kind_of_node(node)}"
            )
        return content(node.text if isinstance(node, Word) else "", node.place, role)

    # --- steps before the answer ---

    def _intermediate_data(self, result: Map, entries: Fields, path: Path_) -> None:
        short = [name for name in _DATA_KEYS if name in entries]
        if "intermediate_data" in entries:
            result.put(
                "intermediate_data", self.whole(entries, "intermediate_data", short, "the calls", path)
            )
        elif short:
            place = entries[short[0]][1].place
            data = ((_DATA_KEYS[name], self._data(name, *entries[name], path)) for name in short)
            result.put("intermediate_data", map_node(place, data))

    def _data(self, name: str, key: str, node: Node, path: Path_) -> Node:
        here = (*path, key)
        if name == "tool_responses":
            return node
        if name == "tools":
            items = self.calls(self.items(node, here, "tool calls"), here)
        else:
            items = [_intermediate_response(item) for item in self.items(node, here, "texts")]
        return Seq(node.place, items)

    # --- rubrics ---

    def rubrics(self, node: Node, path: Path_) -> Node:
        """Return texts, or objects with `text`, as rubrics; other objects already have the long form."""
        if is_null(node):
            return node
        items = self.items(node, path, "rubrics")
        return Seq(node.place, [self._rubric(item, (*path, index)) for index, item in enumerate(items)])

    def _rubric(self, node: Node, path: Path_) -> Node:
        if isinstance(node, Word) and not is_null(node):
            return rubric(node.text, node.place, stable_rubric_id(node.text), [_answer_type(node.place)])
        if not isinstance(node, Map):
            return node
        if "text" in node.values:
            return self._short_rubric(node, path)
        if _FULL_RUBRIC.isdisjoint(node.values):
            self.problem(node.place, path, "`text` is missing", "what must every answer contain or do?")
        return _with_type(node)

    def _short_rubric(self, node: Map, path: Path_) -> Node:
        """Return an object with `text` as a rubric in the long form."""
        entries = self.fields(node, path, RUBRIC_KEYS, "a rubric")
        if "text" not in entries or (text := self.text(entries["text"][1], (*path, "text"))) is None:
            return Map(node.place)
        rubric_id: str | None = stable_rubric_id(text)
        if "rubric_id" in entries:
            rubric_id = self.text(entries["rubric_id"][1], (*path, "id"))
        rest: list[tuple[str, Node]] = [
            (name, entries[name][1]) for name in ("description", "type") if name in entries
        ]
        if "type" not in entries:
            rest.append(_answer_type(node.values["text"].place))
        return rubric(text, node.values["text"].place, rubric_id or "", rest)


def _with_type(node: Map) -> Map:
    """Add the default type to a rubric of the form `criterion`, `points`."""
    if "criterion" not in node.values or node.values.keys() - _WEIGHTED:
        return node  # with an id or a type it already has the long form
    name, value = _answer_type(node.place)
    return replace(node, values={**node.values, name: value}, keys={**node.keys, name: node.place})


_FULL_RUBRIC = frozenset({"rubric_id", "rubricId", "rubric_content", "rubricContent", "criterion"})
"""Keys of a rubric in the long form."""
_WEIGHTED = {"criterion", "points", "description"}


def _answer_type(place: Place) -> tuple[str, Node]:
    return "type", Word(place, RUBRIC_TYPE)


def rubric(text: str, place: Place, rubric_id: str, rest: Sequence[tuple[str, Node]]) -> Map:
    """Return a rubric in the long form."""
    body = map_node(place, [("text_property", Word(place, text))])
    return map_node(place, [("rubric_id", Word(place, rubric_id)), ("rubric_content", body), *rest])


def content(text: str, place: Place, role: str) -> Map:
    """Return a message of one text."""
    part = map_node(place, [("text", Word(place, text))])
    return map_node(place, [("parts", Seq(place, [part])), ("role", Word(place, role))])


def _intermediate_response(node: Node) -> Node:
    """Return an intermediate text without an author as a pair; other values already have the long form."""
    if not isinstance(node, Word) or is_null(node):
        return node
    part = map_node(node.place, [("text", Word(node.place, node.text))])
    return Seq(node.place, [Word(node.place, ""), Seq(node.place, [part])])
